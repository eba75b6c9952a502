import bpy

op = bpy.context.active_operator

op.game = "darkplaces"
op.levels = "NONE"
