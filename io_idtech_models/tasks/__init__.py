"""What operators and the command line inside Blender do, without a class of bpy.types."""
