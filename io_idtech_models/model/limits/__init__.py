"""What games take."""
