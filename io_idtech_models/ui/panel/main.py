"""The panel "id Tech" in the sidebar of the 3D view. What it holds are its children, each a module here.

Blender draws panels whenever the mouse moves over them: they show what lies ready, and work nothing out.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...blender.compat import Context

PANEL = "VIEW3D_PT_idtech"
KINDS = frozenset(("MESH", "ARMATURE", "EMPTY"))
Panel: Any = bpy.types.Panel  # the stubs want other sets than Blender does


class InSidebar:
    """What the panel and its children share."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "id Tech"


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
        """Name the model; what there is to say of it is in the folded parts."""
        active = context.view_layer.objects.active
        layout: Any = self.layout
        layout.label(text=active.name, icon="OBJECT_DATA")


CLASSES: tuple[type, ...] = (VIEW3D_PT_idtech,)
