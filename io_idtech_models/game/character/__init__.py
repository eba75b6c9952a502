"""Characters of Wolfenstein: Enemy Territory: their texts, and which files they mean."""

SUFFIX = ".char"  # of the file that names all that a character is made of
