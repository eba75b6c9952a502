"""A player of Quake III and its kin, as the game's folder has it: which files, which animations. No codec of models."""
