"""The sidebar of the 3D view: what the active model is, and what can be done with it."""
