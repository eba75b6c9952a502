"""Other programs' formats through Blender, and pictures of the scene."""
