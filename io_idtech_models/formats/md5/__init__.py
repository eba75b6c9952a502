"""MD5: meshes, animations and scales of joints, all text."""
