"""What surrounds a model in a game folder. No bpy, no formats."""
