"""German: a module for each subject, each a table from what stands in the source to what the window shows."""
