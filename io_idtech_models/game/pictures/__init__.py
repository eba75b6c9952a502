"""Pictures that are read without Blender."""
