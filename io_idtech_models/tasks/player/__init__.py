"""Whole players: which one a path means, in and out of the scene, and what they play."""
