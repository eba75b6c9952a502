"""Operators for levels of detail."""
