"""Make Rig from Frames, and Remove Rig: operators, and their part of the sidebar."""
