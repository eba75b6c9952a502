"""Players of XreaL and Unvanquished: `models/players/NAME` with a `character.cfg`, one body, and its animations."""

NAME = "character.cfg"  # the file that makes a folder a player's
