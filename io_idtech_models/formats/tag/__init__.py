"""The tags of a model alone, for Enemy Territory's server."""
