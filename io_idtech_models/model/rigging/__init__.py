"""A skeleton, weights and poses from a mesh that has nothing but frames; without Blender."""
