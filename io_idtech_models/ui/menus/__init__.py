"""What the extension adds to Blender's menus."""
