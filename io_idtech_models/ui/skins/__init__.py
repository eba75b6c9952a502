"""Skins: operators, menus, and a part of the panel."""
