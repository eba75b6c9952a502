"""What moves the vertices of skinned meshes."""
