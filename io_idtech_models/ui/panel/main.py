"""The panel "id Tech" in the sidebar of the 3D view. What it holds are its children, each a module here.

Blender draws panels whenever the mouse moves over them: they show what lies ready, and work nothing out.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ...blender.compat import Context
from ...blender.provenance import SKIN
from ...model.limits.games import GAMES, NO_GAME
from ...tasks.export.last_export import game_shown
from ...tasks.export.subject import Subject, WholePlayer, subject_of, subject_shown
from ..translations import CONTEXT

PANEL, PART_PANEL = "VIEW3D_PT_idtech", "VIEW3D_PT_idtech_part"
GAMES_MENU, SKINS_MENU = "IDTECH_MT_games", "IDTECH_MT_skins"
Panel: Any = bpy.types.Panel  # the stubs want other sets than Blender does


class InSidebar:
    """What the panel and its children share."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "id Tech"
    bl_translation_context = CONTEXT


class Child(InSidebar):
    """A folded part of the panel."""

    bl_parent_id = PANEL
    bl_options: Any = {"DEFAULT_CLOSED"}


class OfModel(Child):
    """A part of the panel that is about one model: that of a player's part stands a level below."""

    in_part = False

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where a model is active that it applies to."""
        subject = subject_shown(context)
        return subject is not None and (subject.player is not None) == cls.in_part and cls.applies(subject)

    @classmethod
    def applies(cls, subject: Subject) -> bool:
        """Tell whether there is something to show of a model."""
        return True


def on_both_levels(drawing: type, name: str) -> tuple[Any, Any]:
    """Return a panel that draws so for a model, and one for a player's part, below that."""
    own = type(f"VIEW3D_PT_idtech_{name}", (drawing, Panel), {"bl_idname": f"VIEW3D_PT_idtech_{name}"})
    called = f"VIEW3D_PT_idtech_part_{name}"
    below = {"bl_idname": called, "bl_parent_id": PART_PANEL, "in_part": True}
    return own, type(called, (drawing, Panel), below)


class VIEW3D_PT_idtech(InSidebar, Panel):  # type: ignore[misc]
    """The model that the active object belongs to."""

    bl_idname = PANEL
    bl_label = "id Tech"

    def draw(self, context: Context) -> None:
        """Name the model, and offer what is done with it most; all else is in the folded parts."""
        subject = subject_shown(context)
        layout: Any = self.layout
        if subject is None:
            layout.label(text="Select a model, or import one:")
            layout.menu("TOPBAR_MT_idtech_import", text="Import", icon="IMPORT")
            return
        if subject.player is not None:
            _draw_player(layout, subject, subject.player)
        else:
            if subject.character is not None:
                from ...blender import names

                layout.label(text=names.file_name_of(subject.character.home), icon="USER", translate=False)
            icon = "OBJECT_DATA" if subject.home is None else "OUTLINER_COLLECTION"
            layout.label(text=subject.holder.name, icon=icon, translate=False)
        column = layout.column(align=True)
        if subject.player is not None:
            column.operator("object.idtech_play", icon="PLAY")
        elif subject.character is not None and subject.rig is not None:
            from ...blender.skeletal.torso import has_traits

            if has_traits(subject.rig.data.bones):  # a game's that mixes two animations
                column.operator("object.idtech_preview_torso", icon="PLAY")
        column.operator("object.idtech_export_again", icon="EXPORT")
        row = subject.row
        if row is None or not row.has_model:
            column.operator("object.idtech_check_game", icon="CHECKMARK")
            return
        column.operator_context = "EXEC_DEFAULT"
        checks = column.operator("object.idtech_check_game", icon="CHECKMARK")
        checks.target = f"{row.name}:{game_shown(subject)}"


def _draw_player(layout: Any, subject: Subject, player: WholePlayer) -> None:
    """Show who a player is, which game he is of, what he wears, and what his legs and torso do."""
    from ...blender import names
    from ...tasks.panel.player import playing

    layout.label(text=names.file_name_of(player.holder), icon="USER", translate=False)
    split = layout.split(factor=0.3)
    labels, values = split.column(), split.column()
    labels.label(text="Game")
    draw_game(values, subject)
    labels.label(text="Skin", text_ctxt=CONTEXT)
    draw_skin(values, "" if player.home is None else str(player.home.get(SKIN, "")))
    for label, name in playing(player):
        labels.label(text=label, text_ctxt=CONTEXT)
        if name:
            values.label(text=name, translate=False)
        else:
            values.label(text="All Frames")


def draw_game(layout: Any, subject: Subject) -> None:
    """Show the game that a model is for, as a menu of those that read it."""
    game = game_shown(subject)
    layout.menu(GAMES_MENU, text="No Game" if game == NO_GAME else GAMES[game].label)


def draw_skin(layout: Any, worn: str) -> None:
    """Show the skin that a model wears, "" for none, as a menu of those that it may wear."""
    if worn:
        layout.menu(SKINS_MENU, text=worn, translate=False)
    else:
        layout.menu(SKINS_MENU, text="No Skin")


class VIEW3D_PT_idtech_part(Child, Panel):  # type: ignore[misc]
    """The part of a player that is active."""

    bl_idname = PART_PANEL
    bl_label = "Part"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where a player is active."""
        subject = subject_shown(context)
        return subject is not None and subject.player is not None

    def draw(self, context: Context) -> None:
        """Offer the parts; what is below is of the one that is active."""
        from ...blender.roots import root_of

        subject = subject_shown(context)
        if subject is None or subject.player is None:
            return
        layout: Any = self.layout
        row, own = layout.row(align=True), root_of(subject.active, by_weights=False)
        for kind, root in subject.player.parts.items():
            part = row.operator("object.idtech_select_part", text=kind, depress=root == own, translate=False)
            part.name = root.name


PANELS: tuple[type, ...] = (VIEW3D_PT_idtech,)
PARTS: tuple[type, ...] = (VIEW3D_PT_idtech_part,)  # behind what is of the whole player


ACTIVE_PART = "idtech_part"
CLICKS = "A click selects it, a double click renames it"  # Blender's tooltip of a list shows the name alone


def _active_part(_manager: Any) -> int:
    """Return which object of the active model's collection is the active one, for lists of these; -1 for none."""
    context: Context = bpy.context
    subject = subject_of(context)
    return -1 if subject is None or subject.home is None else int(subject.home.objects.find(subject.active.name))


def _choose_part(_manager: Any, index: int) -> None:
    """Select the object that was clicked in a list."""
    context: Context = bpy.context
    subject = subject_of(context)
    if subject is not None and subject.home is not None and 0 <= index < len(subject.home.objects):
        select: Any = bpy.ops.object
        if select.idtech_select_part.poll():
            select.idtech_select_part("EXEC_DEFAULT", True, name=subject.home.objects[index].name)


def attach() -> None:
    """Give the window manager its place for it."""
    number: Any = IntProperty
    parts = number(name=CLICKS, description="The active object", get=_active_part, set=_choose_part, min=-1)
    setattr(bpy.types.WindowManager, ACTIVE_PART, parts)


def detach() -> None:
    """Undo `attach`."""
    delattr(bpy.types.WindowManager, ACTIVE_PART)
