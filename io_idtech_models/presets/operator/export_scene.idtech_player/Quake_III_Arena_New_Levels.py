import bpy

op = bpy.context.active_operator

op.game = "quake3"
op.percentages = "50, 25"
