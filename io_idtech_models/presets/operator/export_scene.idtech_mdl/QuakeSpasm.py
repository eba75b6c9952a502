import bpy

op = bpy.context.active_operator

op.game = "quakespasm"
