"""ASE: static models of Doom 3 and of map compilers, as 3ds Max writes them in text."""
