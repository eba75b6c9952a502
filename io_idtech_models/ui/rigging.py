"""Make Rig from Frames, and Remove Rig.

In a window the skeleton is looked for beside Blender, which shows how far that is and hears Esc; a script waits for it.
What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from contextlib import ExitStack
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..blender.compat import Context
from ..reporting import ModelError
from .bases import CANCELLED, FINISHED, Operator, may
from .import_.showing import select
from .panel.main import Child, Panel
from .reports import report_done, showing_progress
from .translations import say

RUNNING = {"RUNNING_MODAL"}
LOOK = 0.05  # seconds between two looks at the work
TURN, FRAME = "TURN", "FRAME"


class OBJECT_OT_idtech_make_rig(Operator):  # type: ignore[misc]
    """Put an armature behind the frames of the active object's model."""

    bl_idname = "object.idtech_make_rig"
    bl_label = "Make Rig from Frames"
    bl_description = (
        "Find bones, weights and poses in the frames of this model; what bones can't say stays in its shape keys, "
        "so that it looks and exports as before"
    )
    bl_options = {"REGISTER", "UNDO"}

    bones: IntProperty(
        name="Bones",
        description="How many at most; 0: as many as it takes",
        default=0,
        min=0,
        max=256,
        options={"SKIP_SAVE"},
    )
    detail: FloatProperty(
        name="Detail",
        description="How closely bones follow the frames, where their number is not given; 2: twice as closely",
        default=1.0,
        min=0.1,
        max=10.0,
    )
    joints: EnumProperty(
        name="Joints",
        description="What bones do where the frames pull them apart",
        items=(
            ("KEEP", "Keep Frames", "A bone leaves its joint where its part of the mesh does"),
            (TURN, "Turn Only", "Bones turn about their joints and nothing else; the shape keys hold the rest"),
        ),
    )
    rest: EnumProperty(
        name="Rest",
        description="The pose that bones rest in",
        items=(
            ("AUTO", "Automatic", "That of the frame from which bones reach all others best"),
            (FRAME, "This Frame", "That of the frame that shows now"),
        ),
        options={"SKIP_SAVE"},
    )
    symmetric: BoolProperty(
        name="Symmetric",
        description="Joints that nearly are the other side's mirror image are made so, and both sides hang alike",
        default=True,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where an object is active."""
        return may(cls, "" if context.view_layer.objects.active is not None else say("No object is active"))

    def draw(self, context: Context) -> None:
        """Show the options."""
        self.layout.use_property_split = True
        for name in ("bones", "detail", "joints", "rest", "symmetric"):
            row = self.layout.row()
            row.enabled = name != "detail" or not self.bones
            row.prop(self, name)

    def invoke(self, context: Context, event: Any) -> Any:
        """Begin, in a window, so that it goes on living."""
        return self.execute(context) if bpy.app.background or context.window is None else self.begin(context)

    def begin(self, context: Context) -> Any:
        """Begin to look for the skeleton."""
        from ..tasks.rigging import Solving, read

        try:
            self.work = Solving(read(context, self.settings(), self.rest == FRAME))
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        manager: Any = context.window_manager
        self.open = ExitStack()
        self.open.callback(self.work.end)
        timer = manager.event_timer_add(LOOK, window=context.window)
        self.open.callback(manager.event_timer_remove, timer)
        manager.progress_begin(0, 100)
        self.open.callback(manager.progress_end)
        if context.workspace is not None:
            self.open.callback(context.workspace.status_text_set, None)
        manager.modal_handler_add(self)
        self.work.start()
        return RUNNING

    def modal(self, context: Context, event: Any) -> Any:
        """Show how far it is; end with Esc, or make the armature when its bones are found."""
        if event.type == "ESC":
            self.open.close()
            self.report({"WARNING"}, "ended by Esc: no rig was made")
            return CANCELLED
        if event.type != "TIMER":
            return RUNNING
        if self.work.is_alive():
            percent = round(100 * self.work.part)
            context.window_manager.progress_update(percent)
            if context.workspace is not None:
                context.workspace.status_text_set(f"{self.bl_label}: {percent} %  (Esc)")
            return RUNNING
        self.open.close()
        return self.made(context, lambda tasks: tasks.finish(context, self.work.framed, self.work.result()))

    def cancel(self, context: Context) -> None:
        """Leave nothing running: the window is closed, or another .blend is opened."""
        self.open.close()

    def execute(self, context: Context) -> set[str]:
        """Do all of it at once."""
        with showing_progress(context, self.bl_label):
            return self.made(context, lambda tasks: tasks.make(context, self.settings(), self.rest == FRAME))

    def settings(self) -> Any:
        """Return what is asked for."""
        from ..model.rigging.rig import RigSettings

        return RigSettings(self.bones, self.detail, self.joints == TURN, symmetric=self.symmetric)

    def made(self, context: Context, make: Any) -> set[str]:
        """Select the armature that `make` makes, and say what it is; what hinders it is reported."""
        from ..tasks import rigging

        try:
            block, summary = make(rigging)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        select(context, [block])
        report_done(self, [("", summary)])
        return FINISHED


class OfRig:
    """What is done with a rig that was made of frames; `do` does it, and says what it did."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls: Any, context: Context) -> bool:
        """Offer it where such an armature, or what it moves, is active."""
        from ..tasks.rigging import rig_meant

        there = rig_meant(context) is not None
        return may(cls, "" if there else say("The active object has no rig that was made of frames"))

    def do(self, tasks: Any, context: Context) -> Any:
        """Do it with the module of tasks; returns a summary, raises ModelError."""
        raise NotImplementedError

    def execute(self: Any, context: Context) -> set[str]:
        """Do it; what hinders it is reported."""
        from ..tasks import rigging

        try:
            with showing_progress(context, self.bl_label):
                summary = self.do(rigging, context)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        report_done(self, [("", summary)])
        return FINISHED


class OBJECT_OT_idtech_remove_rig(OfRig, Operator):  # type: ignore[misc]
    """Let a model's shape keys show its frames by themselves again, as they were posed."""

    bl_idname = "object.idtech_remove_rig"
    bl_label = "Remove Rig"
    bl_description = "Remove the armature that was made of this model's frames; the shape keys get what was posed"

    def do(self, tasks: Any, context: Context) -> Any:
        """Remove it."""
        return tasks.remove(context)


class OBJECT_OT_idtech_hang_on_rig(OfRig, Operator):  # type: ignore[misc]
    """Let a rig that was made of another model's frames pose the selected meshes."""

    bl_idname = "object.idtech_hang_on_rig"
    bl_label = "Hang on Rig"
    bl_description = (
        "Let the active rig pose the other selected meshes: each point with the weights of the nearest place of the "
        "model that the rig was made of, where it rests"
    )

    def do(self, tasks: Any, context: Context) -> Any:
        """Hang them on it."""
        return tasks.hang_selected(context)


def _on_save(*_ignored: Any) -> None:
    """Bring actions of rigs together that hold the same poses, which nobody can in a .blend that links them."""
    if len(bpy.data.armatures):
        from ..blender.rig_settling import settle_all

        settle_all()


def watch() -> None:
    """Begin to look after rigs."""
    bpy.app.handlers.save_pre.append(bpy.app.handlers.persistent(_on_save))


def unwatch() -> None:
    """End it."""
    bpy.app.handlers.save_pre.remove(_on_save)


CLASSES = (OBJECT_OT_idtech_make_rig, OBJECT_OT_idtech_hang_on_rig, OBJECT_OT_idtech_remove_rig)


def draw_menu(self: Any, context: Context) -> None:
    """Add the operators to the menu of objects."""
    for cls in CLASSES:
        self.layout.operator(cls.bl_idname)


class VIEW3D_PT_idtech_rig(Child, Panel):  # type: ignore[misc]
    """The rig of a model that has frames."""

    bl_idname = "VIEW3D_PT_idtech_rig"
    bl_label = "Rig"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where a model with frames is active, by whichever of its objects, or a rig that was made of some."""
        from ..tasks.rigging import frames_meant, rig_meant

        return frames_meant(context) or rig_meant(context) is not None

    def draw(self, context: Context) -> None:
        """Name the armature, and offer what can be done."""
        from ..tasks.rigging import rig_meant

        layout: Any = self.layout
        rig = rig_meant(context)
        if rig is None:
            layout.operator(OBJECT_OT_idtech_make_rig.bl_idname, icon="ARMATURE_DATA")
            return
        split = layout.split(factor=0.3)
        labels, values = split.column(), split.column()
        labels.label(text="Armature")
        values.label(text=rig.name, translate=False)
        labels.label(text="Bones")
        values.label(text=str(len(rig.data.bones)), translate=False)
        layout.operator(OBJECT_OT_idtech_hang_on_rig.bl_idname, icon="MOD_ARMATURE")
        layout.operator(OBJECT_OT_idtech_remove_rig.bl_idname, icon="X")


PANELS = (VIEW3D_PT_idtech_rig,)
