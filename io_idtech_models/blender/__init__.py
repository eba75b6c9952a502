"""Models to Blender data and back. Knows no file format."""
