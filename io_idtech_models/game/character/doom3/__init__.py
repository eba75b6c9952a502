"""Characters of Doom 3, Quake 4 and their kin: declarations of `def/*.def`, and which files they mean."""

SUFFIX = ".def"  # of the files that declare models and entities
FOLDER = "def"  # of a game, in which these lie
