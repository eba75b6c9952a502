"""Characters of Enemy Territory: operators and menus."""
