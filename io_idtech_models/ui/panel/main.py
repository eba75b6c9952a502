"""The panel "id Tech" in the sidebar of the 3D view. What it holds are its children, each a module here.

Blender draws panels whenever the mouse moves over them: they show what lies ready, and work nothing out.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ...blender.compat import Context
from ...tasks.export.last_export import game_shown
from ...tasks.export.subject import subject_of
from ..translations import CONTEXT

PANEL = "VIEW3D_PT_idtech"
KINDS = frozenset(("MESH", "ARMATURE", "EMPTY"))
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
    bl_options = {"DEFAULT_CLOSED"}


class VIEW3D_PT_idtech(InSidebar, Panel):  # type: ignore[misc]
    """The model that the active object belongs to."""

    bl_idname = PANEL
    bl_label = "id Tech"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where a model, or what may become one, is active."""
        active = context.view_layer.objects.active
        return active is not None and active.type in KINDS

    def draw(self, context: Context) -> None:
        """Name the model, and offer what is done with it most; all else is in the folded parts."""
        subject = subject_of(context)
        if subject is None:
            return
        layout: Any = self.layout
        of_file = subject.home is not None
        holder = subject.holder
        layout.label(text=holder.name, icon="OUTLINER_COLLECTION" if of_file else "OBJECT_DATA", translate=False)
        column = layout.column(align=True)
        column.operator("object.idtech_export_again", icon="EXPORT")
        row = subject.row
        if row is None or not row.has_model:
            column.operator("object.idtech_check_game", icon="CHECKMARK")
            return
        column.operator_context = "EXEC_DEFAULT"
        checks = column.operator("object.idtech_check_game", icon="CHECKMARK")
        checks.target = f"{row.name}:{game_shown(subject)}"


CLASSES: tuple[type, ...] = (VIEW3D_PT_idtech,)


ACTIVE_PART = "idtech_part"


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
    parts = number(name="Part", description="The active object", get=_active_part, set=_choose_part, min=-1)
    setattr(bpy.types.WindowManager, ACTIVE_PART, parts)


def detach() -> None:
    """Undo `attach`."""
    delattr(bpy.types.WindowManager, ACTIVE_PART)
