"""What the last check found, as a list: a click selects the object."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import mode_of
from ...model.limits.games import NO_GAME
from ...tasks.export.subject import subject_of
from ..bases import CANCELLED, FINISHED, Operator, may
from ..import_.showing import deselect
from ..panel.main import Child, Panel
from ..translations import say
from .found import checked, key_of

List: Any = bpy.types.UIList


class OBJECT_OT_idtech_select_part(Operator):  # type: ignore[misc]
    """Select an object, or a bone, and look at it if asked."""

    bl_idname = "object.idtech_select_part"
    bl_label = "Select Part"
    bl_description = "Select this alone, and make it active"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="The object to select", options={"SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="The bone of it to make active; empty: none", options={"SKIP_SAVE"})
    jump: BoolProperty(name="View", description="Let the 3D view show it, too", default=False)
    text: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """Return the whole finding, where that is what the button shows."""
        if properties.text:
            return str(properties.text)
        return "Select this, and let the view show it" if properties.jump else cls.bl_description

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it in object and pose mode."""
        return may(cls, "" if mode_of(context) in {"OBJECT", "POSE"} else say("Only in object or pose mode"))

    def execute(self, context: Context) -> set[str]:
        """Select it."""
        block = context.view_layer.objects.get(self.name)
        if block is None or not block.visible_get(view_layer=context.view_layer):
            self.report({"WARNING"}, f"'{self.name}' {_why_unseen(context, block)}")
            return CANCELLED
        if mode_of(context) == "OBJECT":
            deselect(context)
            block.select_set(True, view_layer=context.view_layer)
            context.view_layer.objects.active = block
        if self.bone and block.type == "ARMATURE" and self.bone in block.data.bones:
            block.data.bones.active = block.data.bones[self.bone]
        views: Any = bpy.ops.view3d
        if self.jump and views.view_selected.poll():
            views.view_selected()
        return FINISHED


def _why_unseen(context: Context, block: Any) -> str:
    """Return what is said of an object that can't be selected."""
    if block is None:
        return "is not in this view layer"
    view = context.space_data
    if getattr(view, "local_view", None) is not None and not block.local_view_get(view):
        return "is outside the local view: leave that first (View > Local View)"
    return "is hidden: show it in the Outliner first"


class IDTECH_UL_findings(List):  # type: ignore[misc]
    """Findings, errors and warnings."""

    bl_idname = "IDTECH_UL_findings"

    def draw_item(self, _context: Context, layout: Any, _data: Any, item: Any, _icon: int, _active: Any) -> None:
        """Show one: its sentence selects the object."""
        row = layout.row()
        row.alignment = "LEFT"
        sign = "CANCEL" if item.severe else "ERROR"
        if not item.name:
            row.label(text=item.text, icon=sign, translate=False)
            return
        chosen = row.operator(
            OBJECT_OT_idtech_select_part.bl_idname, text=item.text, icon=sign, emboss=False, translate=False
        )
        chosen.name, chosen.text = item.name, item.text


class VIEW3D_PT_idtech_findings(Child, Panel):  # type: ignore[misc]
    """What the last check of this model found."""

    bl_idname = "VIEW3D_PT_idtech_findings"
    bl_label = "Findings"
    bl_options: Any = set()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it for the model that was checked last."""
        subject = subject_of(context)
        found = checked(context)
        return subject is not None and bool(found.target) and found.model == key_of(subject)

    def draw(self, context: Context) -> None:
        """List them."""
        found, layout = checked(context), self.layout
        if not found.findings:
            if found.target.partition(":")[2] == NO_GAME:
                layout.label(text="The format held it at the last check", icon="CHECKMARK")
            else:
                layout.label(text="The game took it at the last check", icon="CHECKMARK")
            return
        layout.template_list(IDTECH_UL_findings.bl_idname, "", found, "findings", found, "index", rows=3)


CLASSES = (OBJECT_OT_idtech_select_part, IDTECH_UL_findings)
PANELS = (VIEW3D_PT_idtech_findings,)
