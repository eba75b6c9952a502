"""What the extension adds to Blender, and how it goes again."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..blender.compat import Context
from ..formats import ROWS
from . import character, frames, levels, menus, moved, notes, preferences, rigging, roots, skins, translations, trial
from .animations import operators as animations
from .animations import panel as animations_panel
from .animations import shown, ticks
from .check import found
from .check import operators as check
from .check import panel as findings
from .export import overwriting
from .import_ import archives, batch, model_list
from .operators import operators_of
from .panel import again, header, model, surfaces, tags
from .panel import main as panel
from .player import choosing, making, play, transfer

PLAYERS = (transfer, play, choosing, making, character)
IMPORTS = (model_list, batch, archives)
EDITING = (frames, rigging, skins, check, roots, levels, trial, overwriting)
ON_PANELS = (again, found, findings, model, shown, animations, animations_panel, tags, surfaces, header)
MODULES = (preferences, *IMPORTS, *EDITING, *PLAYERS, menus, *ON_PANELS)
# The parent comes before its children, which stand in this order.
PANELS = (panel, findings, model, animations_panel, skins, tags, surfaces, rigging, header)
OF_MODEL = (model, skins, tags, surfaces, header)  # panels of models, and of players' parts
PRESETS = str(Path(__file__).parents[1])  # where the folder `presets` lies

_classes: list[type] = []
_commands: list[Any] = []


def _run_command(argv: list[str]) -> int:
    from . import cli

    return cli.main(argv)


def _menus() -> list[tuple[Any, Callable[[Any, Context], None]]]:
    """Return Blender's menus that get entries, and what draws these."""
    types: Any = bpy.types
    return [
        (types.TOPBAR_MT_file_import, menus.draw_import),
        (types.TOPBAR_MT_file_export, menus.draw_export),
        (types.MESH_MT_shape_key_context_menu, frames.draw_menu),
        (types.MATERIAL_MT_context_menu, skins.draw_menu),
        (types.VIEW3D_MT_object, menus.draw_object),
        (types.OUTLINER_MT_collection, levels.draw_collection_menu),
        (types.VIEW3D_MT_pose, animations.draw_menu),
    ]


def register() -> None:
    """Register preferences, operators, drop handlers, menus and the command `blender -c idtech`."""
    _classes.extend(ticks.CLASSES)  # exports hold some of them
    for row in ROWS:
        _classes.extend(operators_of(row))
    for module in MODULES:
        _classes.extend(module.CLASSES)
    for module in PANELS:
        _classes.extend(module.PANELS)
    for module in (panel, *OF_MODEL):
        _classes.extend(module.PARTS)
    for cls in _classes:
        bpy.utils.register_class(cls)
    translations.register(preferences.PACKAGE)
    found.attach()
    panel.attach()
    notes.attach()
    bpy.utils.register_preset_path(PRESETS)
    for menu, draw in _menus():
        menu.append(draw)
    frames.watch()
    rigging.watch()
    moved.watch()
    shown.watch()
    register_command: Any = bpy.utils.register_cli_command  # the stubs say that it returns nothing
    _commands.append(register_command("idtech", _run_command))
    atexit.register(unregister)  # Blender as a module does not call it, and crashes at its end on 4.2 and 4.5


def unregister() -> None:
    """Undo `register`. A class or command that stayed would crash some Blenders at exit."""
    atexit.unregister(unregister)
    choosing.forget()
    trial.unwatch()
    shown.unwatch()
    moved.unwatch()
    rigging.unwatch()
    frames.unwatch()
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    for menu, draw in reversed(_menus()):
        menu.remove(draw)
    notes.detach()
    panel.detach()
    found.detach()
    bpy.utils.unregister_preset_path(PRESETS)
    translations.unregister()
    while _classes:
        bpy.utils.unregister_class(_classes.pop())
