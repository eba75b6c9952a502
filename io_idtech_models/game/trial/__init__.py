"""Trying a model in its game: what the engine is told, on the command line and in scripts, and what its log says."""
