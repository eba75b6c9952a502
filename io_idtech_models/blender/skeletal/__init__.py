"""Skeletal models as armatures with skinned meshes and actions; and back."""
