"""What is read: files into the scene, what they wear, and the games that they are looked for in."""
