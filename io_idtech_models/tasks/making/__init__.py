"""Things made of what is in the scene: players of Quake III of rigged characters."""
