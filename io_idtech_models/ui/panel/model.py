"""What the active model is: its format, game and file, and how much it has of what the game limits."""

from pathlib import PurePath
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender.compat import Context
from ...blender.linked import is_linked
from ...formats import Format
from ...model.limits.games import GAMES
from ...tasks.export.last_export import choose_game, game_shown
from ...tasks.export.subject import Subject, counts_shown, subject_of
from ..bases import CANCELLED, FINISHED, Operator, may
from ..check.found import checked, key_of, state_of
from ..translations import CONTEXT, say
from .main import GAMES_MENU, OfModel, draw_game, on_both_levels

KINDS = {
    "frames": "Frames",
    "joints": "Joints",
    "surfaces": "Surfaces",
    "meshes": "Meshes",
    "tags": "Tags",
    "vertices": "Vertices",
    "triangles": "Triangles",
}
OF_SURFACE = "vertices"  # from here on a count is that of the largest surface


def exact_counts(context: Context, subject: Subject, shown: dict[str, int]) -> dict[str, int]:
    """Return what the last check counted; nothing of another model, or where Blender holds something else now."""
    found = checked(context)
    if not found.counts or found.model != key_of(subject) or found.shown != state_of(subject, shown):
        return {}
    return {entry.name: entry.count for entry in found.counts}


class OBJECT_OT_idtech_choose_game(Operator):  # type: ignore[misc]
    """Choose the game that a model is made for: exports and checks of it begin with that."""

    bl_idname = "object.idtech_choose_game"
    bl_label = "Game"
    bl_description = "Choose the game that this model is made for: exports and checks of it begin with that"
    bl_options = {"REGISTER", "UNDO"}

    game: StringProperty(name="Game", description="The game's key: quake3, doom3, ...", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where a model came from a file."""
        subject = subject_of(context)
        lack = say("The model came from no file") if subject is None or subject.row is None else ""
        if subject is not None and is_linked((subject.player or subject).holder):
            lack = say("The model belongs to another .blend")
        return may(cls, lack)

    def execute(self, context: Context) -> set[str]:
        """Note it on the model."""
        subject = subject_of(context)
        if subject is None or subject.row is None or self.game not in subject.row.games:
            self.report({"ERROR"}, f"'{self.game}' reads no such model")
            return CANCELLED
        choose_game(subject, self.game)
        return FINISHED


class IDTECH_MT_games(bpy.types.Menu):
    """The games that read the active model's format."""

    bl_idname = GAMES_MENU
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

    path: StringProperty(name="Path", description="The file that the model came from", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """Return the path itself: the panel has room for its end alone."""
        return str(properties.path)

    def execute(self, context: Context) -> set[str]:
        """Put it on the clipboard."""
        context.window_manager.clipboard = self.path
        return FINISHED


class ModelPanel(OfModel):
    """What the model is, and how much of what the game takes it has."""

    bl_label = "Model"

    def draw(self: Any, context: Context) -> None:
        """Show format, game and file, and counts as bars."""
        subject = subject_of(context)
        if subject is None:
            return
        layout: Any = self.layout
        split = layout.split(factor=0.3)
        labels, values = split.column(), split.column()
        game, shown = game_shown(subject), counts_shown(subject)
        if subject.row is not None:
            labels.label(text="Format")
            values.label(text=subject.row.label, translate=False)
        if subject.row is not None and subject.player is None:
            labels.label(text="Game")
            draw_game(values, subject)
        labels.label(text="File")
        if subject.place:
            row = values.row(align=True)
            row.label(text="/".join(PurePath(subject.place).parts[-2:]), translate=False)
            row.operator(OBJECT_OT_idtech_copy_path.bl_idname, text="", icon="COPYDOWN").path = subject.place
        else:
            values.label(text="None")
        exact = exact_counts(context, subject, shown)
        _draw_counts(labels, values, exact or shown, subject.row, game)
        layout.label(text="As the last check counted them" if exact else "Seams may add vertices")


def _draw_counts(labels: Any, values: Any, counts: dict[str, int], row: Format | None, game: str) -> None:
    """Show counts, as bars where the game has a limit."""
    limits = None if row is None else GAMES[game].formats.get(row.name)
    several = counts.get("surfaces", counts.get("meshes", 0)) > 1
    for kind, label in KINDS.items():
        if kind not in counts or (kind == "tags" and row is not None and not row.tags):
            continue
        if kind == OF_SURFACE and several:
            labels.label(text="")
            values.label(text="Of the largest surface")
        count, limit = counts[kind], getattr(limits, kind, None)
        labels.label(text=label, text_ctxt=CONTEXT)
        if limit is None:
            values.label(text=f"{count:,}", translate=False)
            continue
        where = values
        if count > limit:
            where = values.row()
            where.alert = True
        where.progress(factor=min(1.0, count / max(limit, 1)), text=f"{count:,} / {limit:,}", translate=False)


VIEW3D_PT_idtech_model, VIEW3D_PT_idtech_part_model = on_both_levels(ModelPanel, "model")
CLASSES = (OBJECT_OT_idtech_choose_game, OBJECT_OT_idtech_copy_path, IDTECH_MT_games)
PANELS = (VIEW3D_PT_idtech_model,)
PARTS = (VIEW3D_PT_idtech_part_model,)
