"""Would a game take the model: the operator, what it found, and where that is listed."""
