"""What both families of models ask of a mesh: its arrays, its faces as triangles, its edited normals."""
