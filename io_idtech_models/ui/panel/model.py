"""What the active model is: its format, game and file, and how much it has of what the game limits."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender.compat import Context
from ...formats import Row
from ...model.limits.games import GAMES
from ...tasks.sidebar.counts import counts_shown
from ...tasks.sidebar.last_export import choose_game, game_of
from ...tasks.sidebar.subject import Subject, subject_of
from ..bases import CANCELLED, FINISHED
from . import state
from .main import Child, Panel

Operator: Any = bpy.types.Operator  # the stubs want other sets than Blender does
KINDS = {
    "frames": "Frames",
    "joints": "Joints",
    "surfaces": "Surfaces",
    "meshes": "Meshes",
    "tags": "Tags",
    "vertices": "Vertices",
    "triangles": "Triangles",
}
NO_GAME = "format"  # whose limits are the format's own
OF_SURFACE = "vertices"  # from here on a count is that of the largest surface


def game_shown(subject: Subject) -> str:
    """Return the game whose limits are shown: that of the last export, or which was chosen, else none."""
    row = subject.row
    game = "" if row is None else game_of(subject.holder, row.name)
    return game if row is not None and game in row.games else NO_GAME


def exact_counts(context: Context, subject: Subject) -> dict[str, int]:
    """Return what the last check counted; nothing of another model, or where Blender holds something else now."""
    found = state.checked(context)
    if found.model != state.key_of(subject) or found.shown != str(counts_shown(subject)):
        return {}
    return {entry.name: entry.count for entry in found.counts}


class OBJECT_OT_idtech_choose_game(Operator):  # type: ignore[misc]
    """Choose the game that a model is made for: exports and checks of it begin with that."""

    bl_idname = "object.idtech_choose_game"
    bl_label = "Game"
    bl_description = "Choose the game that this model is made for: exports and checks of it begin with that"
    bl_options = {"REGISTER", "UNDO"}

    game: StringProperty(name="Game", description="The game's key: quake3, doom3, ...")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where a model came from a file."""
        subject = subject_of(context)
        lack = "The model came from no file" if subject is None or subject.row is None else ""
        if subject is not None and subject.holder.library is not None:
            lack = "The model belongs to another .blend"
        if lack:
            cls.poll_message_set(lack)
        return not lack

    def execute(self, context: Context) -> set[str]:
        """Note it on the model."""
        subject = subject_of(context)
        if subject is None or subject.row is None or self.game not in subject.row.games:
            self.report({"ERROR"}, f"'{self.game}' reads no such model")
            return CANCELLED
        choose_game(subject.holder, subject.row.name, self.game)
        return FINISHED


class IDTECH_MT_games(bpy.types.Menu):
    """The games that read the active model's format."""

    bl_idname = "IDTECH_MT_games"
    bl_label = "Game"

    def draw(self, context: Context) -> None:
        """List them."""
        subject = subject_of(context)
        layout: Any = self.layout
        for game in () if subject is None or subject.row is None else subject.row.games:
            label = GAMES[game].choice or GAMES[game].label
            layout.operator(OBJECT_OT_idtech_choose_game.bl_idname, text=label).game = game


class OBJECT_OT_idtech_copy_path(Operator):  # type: ignore[misc]
    """Copy the path of the file that the active model came from."""

    bl_idname = "object.idtech_copy_path"
    bl_label = "Copy Path"
    bl_description = "Copy the path of the file that the model came from"
    bl_options = {"INTERNAL"}

    path: StringProperty(name="Path", description="The file that the model came from")

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """Return the path itself: the panel has room for its end alone."""
        return str(properties.path)

    def execute(self, context: Context) -> set[str]:
        """Put it on the clipboard."""
        context.window_manager.clipboard = self.path
        return FINISHED


class VIEW3D_PT_idtech_model(Child, Panel):  # type: ignore[misc]
    """What the model is, and how much of what the game takes it has."""

    bl_idname = "VIEW3D_PT_idtech_model"
    bl_label = "Model"

    def draw(self, context: Context) -> None:
        """Show format, game and file, and counts as bars."""
        subject = subject_of(context)
        if subject is None:
            return
        layout: Any = self.layout
        column = layout.column(align=True)
        if subject.row is not None:
            _pair(column, "Format", subject.row.label)
            split = column.split(factor=0.3)
            split.label(text="Game")
            game = game_shown(subject)
            split.menu(IDTECH_MT_games.bl_idname, text="No Game" if game == NO_GAME else GAMES[game].label)
        _draw_file(column, subject.place)
        exact = exact_counts(context, subject)
        _draw_counts(layout, exact or counts_shown(subject), subject.row, game_shown(subject))
        layout.label(text="As the file will have them" if exact else "As Blender has them: seams not yet split")


def _draw_file(column: Any, place: str) -> None:
    if not place:
        column.label(text="Came from no file", icon="INFO")
        return
    path = PurePath(place)
    split = column.split(factor=0.3)
    split.label(text="File")
    row = split.row(align=True)
    row.label(text=f"{path.parent.name}/{path.name}", translate=False)
    row.operator(OBJECT_OT_idtech_copy_path.bl_idname, text="", icon="COPYDOWN", emboss=False).path = place


def _pair(column: Any, label: str, text: str) -> None:
    split = column.split(factor=0.3)
    split.label(text=label)
    split.label(text=text, translate=False)


def _draw_counts(layout: Any, counts: dict[str, int], row: Row | None, game: str) -> None:
    limits = None if row is None else GAMES[game].formats.get(row.name)
    column = layout.column()
    several = counts.get("surfaces", counts.get("meshes", 0)) > 1
    for kind, label in KINDS.items():
        if kind not in counts or (kind == "tags" and row is not None and not row.tags):
            continue
        if kind == OF_SURFACE and several:
            column.label(text="Of the largest surface")
        count, limit = counts[kind], getattr(limits, kind, None)
        split = column.split(factor=0.3)
        split.label(text=label)
        if limit is None:
            split.label(text=f"{count:,}", translate=False)
            continue
        split.alert = count > limit
        split.progress(factor=min(1.0, count / max(limit, 1)), text=f"{count:,} / {limit:,}", translate=False)


CLASSES = (OBJECT_OT_idtech_choose_game, OBJECT_OT_idtech_copy_path, IDTECH_MT_games, VIEW3D_PT_idtech_model)
