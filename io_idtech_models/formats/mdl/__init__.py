"""The codec of MDL, Quake's models."""
