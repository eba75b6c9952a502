import bpy

op = bpy.context.active_operator

op.game = "quake3map"
op.frames = "CURRENT"
op.levels = "NONE"
