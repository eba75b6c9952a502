"""From an edited model back to what a file holds: vertices, normals, names, roots."""
