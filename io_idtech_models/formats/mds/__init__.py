"""MDS: the players of Return to Castle Wolfenstein."""
