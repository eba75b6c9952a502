"""Pictures that lie in a model's own file: palettes, numbers and colours."""
