"""File > Import > id Tech, and its like of exports: formats by the engines whose they are, models before motions.

And Object > id Tech, the one place there for all that is done with a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ..blender.compat import Context
from ..formats import ROWS
from ..formats.format import ENGINES
from . import character, rigging, skins
from .animations import operators as animations
from .import_ import archives
from .player import choosing, transfer


def entries(way: str, engine: str) -> Iterator[tuple[str, str]]:
    """Yield an engine's operators of a `way`, import or export, and their labels: those of models, then of the rest."""
    yield from _of_models(way, engine, lies_beside=False)
    yield from entries_apart(way, engine)


def _of_models(way: str, engine: str, *, lies_beside: bool) -> Iterator[tuple[str, str]]:
    own = [row for row in ROWS if row.engine == engine and row.has_model and row.lies_beside == lies_beside]
    yield from ((f"{way}_scene.idtech_{row.name}", row.label) for row in own)


def entries_apart(way: str, engine: str) -> Iterator[tuple[str, str]]:
    """Yield those of files that hold no model that could be seen: animations, and tags."""
    yield from _of_models(way, engine, lies_beside=True)
    for row in [row for row in ROWS if row.engine == engine]:
        kind = f"{way}_anim"
        if hasattr(bpy.types, f"{kind.upper()}_OT_idtech_{row.name}"):
            label = row.label.replace(" (", " Animation (") if row.has_model else row.label
            yield f"{kind}.idtech_{row.name}", label


def _draw_formats(menu: Any, way: str, *, apart: bool) -> None:
    """Draw operators under a heading for each engine: those of models, or of what is no model, which are `apart`."""
    for engine in ENGINES:
        found = list(entries_apart(way, engine) if apart else _of_models(way, engine, lies_beside=False))
        if found:
            menu.layout.label(text=engine)
        for name, label in found:
            menu.layout.operator(name, text=label)


class TOPBAR_MT_idtech_import_apart(bpy.types.Menu):
    """What can be imported of files that hold no model: most lie beside one."""

    bl_idname = "TOPBAR_MT_idtech_import_apart"
    bl_label = "Animations and Tags"

    def draw(self, context: Context) -> None:
        """Show the formats."""
        _draw_formats(self, "import", apart=True)


class TOPBAR_MT_idtech_export_apart(bpy.types.Menu):
    """What can be written without the model."""

    bl_idname = "TOPBAR_MT_idtech_export_apart"
    bl_label = "Animations and Tags"

    def draw(self, context: Context) -> None:
        """Show the formats."""
        _draw_formats(self, "export", apart=True)


class TOPBAR_MT_idtech_import(bpy.types.Menu):
    """What can be imported."""

    bl_idname = "TOPBAR_MT_idtech_import"
    bl_label = "id Tech"

    def draw(self, context: Context) -> None:
        """Show formats, whole players, and games."""
        layout: Any = self.layout
        _draw_formats(self, "import", apart=False)
        layout.separator()
        layout.menu(TOPBAR_MT_idtech_import_apart.bl_idname)
        layout.separator()
        transfer.draw_import(self, context)
        choosing.draw_menu(self, context)
        character.draw_import(self, context)
        layout.separator()
        archives.draw_menu(self, context)


class TOPBAR_MT_idtech_export(bpy.types.Menu):
    """What can be written."""

    bl_idname = "TOPBAR_MT_idtech_export"
    bl_label = "id Tech"

    def draw(self, context: Context) -> None:
        """Show formats, and whole players."""
        layout: Any = self.layout
        _draw_formats(self, "export", apart=False)
        layout.separator()
        layout.menu(TOPBAR_MT_idtech_export_apart.bl_idname)
        layout.separator()
        transfer.draw_export(self, context)
        character.draw_export(self, context)
        character.draw_declaration(self, context)


class VIEW3D_MT_idtech(bpy.types.Menu):
    """What is done with models in the 3D view."""

    bl_idname = "VIEW3D_MT_idtech"
    bl_label = "id Tech"

    def draw(self, context: Context) -> None:
        """Show all of it: for games first, then what the model wears and plays, and what is made of it."""
        layout: Any = self.layout
        layout.operator("object.idtech_export_again")
        layout.operator("object.idtech_check_game")
        layout.operator("idtech.try_in_game")
        skins.draw_menu(self, context)
        layout.separator()
        layout.operator("object.idtech_play")
        animations.draw_entry(self, context)
        layout.separator()
        layout.operator("object.idtech_add_tag")
        layout.operator("object.idtech_make_root")
        layout.operator("object.idtech_make_levels")
        layout.separator()
        rigging.draw_menu(self, context)
        layout.separator()
        layout.operator("object.idtech_make_player", text="Make Quake III Player")
        layout.operator("object.idtech_make_quake2_player", text="Make Quake II Player")


CLASSES = (
    TOPBAR_MT_idtech_import_apart,
    TOPBAR_MT_idtech_export_apart,
    TOPBAR_MT_idtech_import,
    TOPBAR_MT_idtech_export,
    VIEW3D_MT_idtech,
)


def draw_import(self: Any, context: Context) -> None:
    """Add the menu to File > Import."""
    self.layout.menu(TOPBAR_MT_idtech_import.bl_idname)


def draw_export(self: Any, context: Context) -> None:
    """Add the menu to File > Export."""
    self.layout.menu(TOPBAR_MT_idtech_export.bl_idname)


def draw_object(self: Any, context: Context) -> None:
    """Add the menu to the 3D view's Object menu."""
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_idtech.bl_idname)
