"""Operators, menus, drop handlers and the command line inside Blender: thin."""
