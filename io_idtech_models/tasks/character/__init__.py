"""Characters of Enemy Territory into the scene."""
