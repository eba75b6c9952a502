"""What the extension adds to Blender, and how it goes again."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.compat import Context
from ..formats import ALL, ANIMATIONS, FORMATS, SKELETAL
from . import check, frames, skins, torso
from .bases import file_handler, space_of
from .operators import export_operator, import_operator
from .skeletal_operators import skeletal_operators

_classes: list[type] = []
_commands: list[Any] = []


def _entries() -> list[tuple[str, str, str]]:
    """Return what the menus list: the operators' space, the format's name, and its label."""
    return [(space_of(row), row.name, row.label) for row in ALL]


def _import_menu(self: Any, context: Context) -> None:
    for space, name, label in _entries():
        self.layout.operator(f"import_{space}.idtech_{name}", text=label)


def _export_menu(self: Any, context: Context) -> None:
    for space, name, label in _entries():
        self.layout.operator(f"export_{space}.idtech_{name}", text=label)


def _run_command(argv: list[str]) -> int:
    from . import cli

    return cli.main(argv)


def register() -> None:
    """Register operators, drop handlers, menus and the command `blender -c idtech`."""
    for row in FORMATS:
        _classes.extend((import_operator(row), export_operator(row), file_handler(row)))
    for model in SKELETAL:
        _classes.extend(skeletal_operators(model))
    for animation in ANIMATIONS:
        _classes.extend(skeletal_operators(animation))
    _classes.extend((*frames.CLASSES, *skins.CLASSES, *torso.CLASSES, *check.CLASSES))
    for cls in _classes:
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(_import_menu)
    bpy.types.TOPBAR_MT_file_export.append(_export_menu)
    bpy.types.MESH_MT_shape_key_context_menu.append(frames.draw_menu)
    bpy.types.MATERIAL_MT_context_menu.append(skins.draw_menu)
    bpy.types.VIEW3D_MT_object.append(skins.draw_object_menu)
    bpy.types.VIEW3D_MT_object.append(torso.draw_menu)
    bpy.types.VIEW3D_MT_object.append(check.draw_menu)
    bpy.types.VIEW3D_MT_pose.append(torso.draw_menu)
    register_command: Any = bpy.utils.register_cli_command  # the stubs say that it returns nothing
    _commands.append(register_command("idtech", _run_command))


def unregister() -> None:
    """Undo `register`. A class or command that stayed would crash some Blenders at exit."""
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    bpy.types.VIEW3D_MT_pose.remove(torso.draw_menu)
    bpy.types.VIEW3D_MT_object.remove(check.draw_menu)
    bpy.types.VIEW3D_MT_object.remove(torso.draw_menu)
    bpy.types.VIEW3D_MT_object.remove(skins.draw_object_menu)
    bpy.types.MATERIAL_MT_context_menu.remove(skins.draw_menu)
    bpy.types.MESH_MT_shape_key_context_menu.remove(frames.draw_menu)
    bpy.types.TOPBAR_MT_file_export.remove(_export_menu)
    bpy.types.TOPBAR_MT_file_import.remove(_import_menu)
    while _classes:
        bpy.utils.unregister_class(_classes.pop())
