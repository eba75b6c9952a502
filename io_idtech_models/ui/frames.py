"""Frame operators: they change the frames of a whole model, all its surfaces and tags at once."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from ..blender import frames
from ..errors import ModelError
from .choice import choose

FINISHED, CANCELLED = {"FINISHED"}, {"CANCELLED"}


class FrameOperator:
    """What frame operators share: they work on the model of the active object, at its present frame."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Offer it where there is an object, outside edit mode."""
        return context.mode == "OBJECT" and context.view_layer.objects.active is not None

    def model_of(self, context: bpy.types.Context) -> frames.FrameModel:
        """Return the frames of the active object's model; raises ModelError."""
        chosen = choose(context, "AUTO")
        return frames.model_frames(chosen.blocks, chosen.collection, context.scene)


class OBJECT_OT_idtech_insert_frame(FrameOperator, bpy.types.Operator):
    """Insert a copy of the present frame behind it, in all surfaces and tags of the model"""  # noqa: D400 - a tooltip

    bl_idname = "object.idtech_insert_frame"
    bl_label = "Insert Frame"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Insert."""
        try:
            model = self.model_of(context)
            frames.insert(model, model.current)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        context.scene.frame_set(context.scene.frame_current + 1)
        return FINISHED


class OBJECT_OT_idtech_delete_frame(FrameOperator, bpy.types.Operator):
    """Delete the present frame from all surfaces and tags of the model"""  # noqa: D400 - a tooltip

    bl_idname = "object.idtech_delete_frame"
    bl_label = "Delete Frame"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Delete."""
        try:
            model = self.model_of(context)
            frames.delete(model, model.current)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return FINISHED


class OBJECT_OT_idtech_hold_still(bpy.types.Operator):
    """Let vertices stand in all other frames where they stand in the present one"""  # noqa: D400 - a tooltip

    bl_idname = "object.idtech_hold_still"
    bl_label = "Hold Still in Other Frames"
    bl_options = {"REGISTER", "UNDO"}

    selected_only: BoolProperty(
        name="Selected Vertices", description="Only vertices that are selected in edit mode", default=True
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Offer it on meshes with frames."""
        active = context.view_layer.objects.active
        return active is not None and active.type == "MESH" and active.data.shape_keys is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Copy positions of the present frame into the others."""
        active = context.view_layer.objects.active
        editing = active.mode == "EDIT"
        if editing:
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            count = frames.hold_still(active, context.scene, self.selected_only)
        finally:
            if editing:
                bpy.ops.object.mode_set(mode="EDIT")
        self.report({"INFO"}, f"{count} vertices hold still in all frames")
        return FINISHED


CLASSES = (OBJECT_OT_idtech_insert_frame, OBJECT_OT_idtech_delete_frame, OBJECT_OT_idtech_hold_still)


def draw_menu(self: Any, context: bpy.types.Context) -> None:
    """Add the frame operators to the menu beside the list of shape keys."""
    self.layout.separator()
    for cls in CLASSES:
        self.layout.operator(cls.bl_idname)
