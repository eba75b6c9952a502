"""What the panel "id Tech" shows, and what its buttons do."""
