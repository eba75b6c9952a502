"""Characters of Wolfenstein: Enemy Territory: their texts, and which files they mean."""
