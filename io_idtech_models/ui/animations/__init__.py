"""The list of a model's animations: what it shows, and the operators behind it."""
