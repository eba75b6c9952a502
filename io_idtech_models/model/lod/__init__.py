"""Levels of detail by collapsing vertices."""
