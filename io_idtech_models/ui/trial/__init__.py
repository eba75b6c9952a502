"""Trying the active model in its game."""
