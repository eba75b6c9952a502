import bpy

op = bpy.context.active_operator

op.plain_materials = True
