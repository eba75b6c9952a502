"""Edits of one frame that others take over."""
