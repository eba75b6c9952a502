"""Whole players: operators and menus."""
