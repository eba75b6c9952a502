import bpy

op = bpy.context.active_operator

op.game = "ioquake3"
