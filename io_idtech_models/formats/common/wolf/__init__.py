"""What the skeletal formats of the Wolfensteins have in common: MDM with MDX, and MDS, which is both in one file."""
