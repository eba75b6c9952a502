"""What the window says, in other languages than English."""
