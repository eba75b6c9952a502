"""A rigged character taken apart into the models of a player."""
