import bpy

op = bpy.context.active_operator

op.moving_textures = True
