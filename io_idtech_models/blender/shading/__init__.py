"""What surfaces look like: pictures, and materials made of a game's textures in layers."""
