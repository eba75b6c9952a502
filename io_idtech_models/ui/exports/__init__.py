"""What exports propose before anything is asked."""
