import bpy

op = bpy.context.active_operator

op.game = "doom3"
op.loop = True
