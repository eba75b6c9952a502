"""A model's frames to an armature with weights, actions, and what these don't say; and back to plain frames."""
