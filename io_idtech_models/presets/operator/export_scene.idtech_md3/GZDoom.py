import bpy

op = bpy.context.active_operator

op.game = "gzdoom"
op.levels = "NONE"
