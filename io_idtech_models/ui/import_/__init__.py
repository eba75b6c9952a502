"""Import operators, models of games and archives, and where what is imported goes."""
