"""Vertex-animated models as mesh objects with shape keys, and tags as empties; and back."""
