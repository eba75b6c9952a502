"""A player in the scene: its parts on one another's tags, and its animations by name."""
