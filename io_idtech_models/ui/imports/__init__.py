"""Where what is imported goes, and what is seen of it."""
