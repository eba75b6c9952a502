"""What helps while models are edited."""
