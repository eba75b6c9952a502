"""Frames of models whose frames are shape keys: operators on them, and the key that follows the frame."""
