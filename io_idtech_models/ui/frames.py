"""Frame operators: they change the frames of a whole model, all its surfaces and tags at once.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.

The frame that is seen is the frame that is edited: the active shape key follows the scene, and the scene the key.
Nothing happens while an animation plays, or something renders, or an export looks at frames.
"""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..blender.compat import Context
from ..blender.scene import is_showing
from ..blender.window import mode_of, object_mode, selected
from ..reporting import ModelError
from . import preferences
from .animations import shown
from .bases import CANCELLED, FINISHED, Operator, may
from .translations import say

_owner = object()  # of the message bus' subscription
_followed = dict[int, int]()  # the active keys of objects, by `session_uid`, as they were put there
_chosen = dict[int, float]()  # the evaluation times at which users chose others
_app: Any = bpy.app  # the stubs do not know what its functions return


class FrameOperator:
    """What frame operators share: they work on the model of the active object, at its present frame."""

    bl_options = {"REGISTER", "UNDO"}
    report: Any
    inserts: bool

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there is an object that nobody edits; who poses a rig made of frames wants more of them."""
        lack = "" if mode_of(context) in {"OBJECT", "POSE"} else say("Only in object mode")
        return may(cls, lack if context.view_layer.objects.active is not None else say("No object is active"))

    def execute(self, context: Context) -> set[str]:
        """Change the frames of the active object's model, also of what is hidden of it."""
        from ..tasks.frames import edit

        try:
            with object_mode(context):  # which another object may not be in
                done = edit(context, self.inserts)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        shown.refresh(context)  # Blender tells of changed actions, and these may have none
        self.report({"INFO"}, done)
        return FINISHED


class OBJECT_OT_idtech_insert_frame(FrameOperator, Operator):  # type: ignore[misc]
    """Insert a copy of the present frame behind it, in all surfaces and tags of the model."""

    bl_idname = "object.idtech_insert_frame"
    bl_label = "Insert Frame"
    bl_description = "Insert a copy of the present frame behind it, in all surfaces and tags of the model"
    inserts = True


class OBJECT_OT_idtech_delete_frame(FrameOperator, Operator):  # type: ignore[misc]
    """Delete the present frame from all surfaces and tags of the model."""

    bl_idname = "object.idtech_delete_frame"
    bl_label = "Delete Frame"
    bl_description = "Delete the present frame from all surfaces and tags of the model"
    inserts = False


class OnFrames:
    """What operators share that change positions in other frames than the present one."""

    bl_options = {"REGISTER", "UNDO"}
    report: Any
    selected_only: BoolProperty(
        name="Selected Vertices", description="Only vertices that are selected in edit mode", default=True
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on meshes with frames."""
        from ..blender.vertex.shape_keys import frame_blocks

        active = context.view_layer.objects.active
        framed = active is not None and active.type == "MESH" and bool(frame_blocks(active.data.shape_keys))
        return may(cls, "" if framed else say("No mesh whose shape keys are frames is active"))

    def execute(self, context: Context) -> set[str]:
        """Change the frames, out of edit mode."""
        active = context.view_layer.objects.active
        editing = active.mode == "EDIT"
        together = [block for block in context.view_layer.objects if block.mode == "EDIT"] if editing else []
        try:
            with object_mode(context):
                text = self.change(context, list(dict.fromkeys([active, *together])), editing)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        self.report({"INFO"}, text)
        return FINISHED

    def change(self, context: Context, edited: list[Any], editing: bool) -> str:
        """Do what the operator is for, on the active object and those edited along; returns what was done.

        Raises ModelError.
        """
        raise NotImplementedError


class OBJECT_OT_idtech_hold_still(OnFrames, Operator):  # type: ignore[misc]
    """Let vertices stand in all other frames where they stand in the present one."""

    bl_idname = "object.idtech_hold_still"
    bl_label = "Hold Still in Other Frames"
    bl_description = "Let vertices stand in all other frames where they stand in the present one"

    def change(self, context: Context, edited: list[Any], editing: bool) -> str:
        """Copy positions of the present frame into the others."""
        from ..tasks.frames import hold_still

        return f"vertices that now hold still: {hold_still(edited, self.selected_only)}"


class OBJECT_OT_idtech_apply_change(OnFrames, Operator):  # type: ignore[misc]
    """Move vertices in other frames as they were moved in the present one."""

    bl_idname = "object.idtech_apply_change"
    bl_label = "Apply Change to Frames"
    bl_description = "Move vertices in other frames as far as they were moved in the present one"

    frames: EnumProperty(
        name="Frames",
        description="The frames that change, too",
        items=(
            ("ANIMATION", "Animation", "Those of the animation that the present frame is part of"),
            ("ALL", "All", "Those of the whole model"),
            ("RANGE", "Range", "From a frame of the model to another"),
        ),
    )
    first: IntProperty(name="First", description="First frame of the range, as the model counts", default=0, min=0)
    last: IntProperty(name="Last", description="Last frame of the range, as the model counts", default=0, min=0)
    falloff: EnumProperty(
        name="Falloff",
        description="How much of the change frames get, from the present one to the first and the last",
        items=(
            ("CONSTANT", "Constant", "All of it"),
            ("LINEAR", "Linear", "Less and less, none at the ends"),
            ("SMOOTH", "Smooth", "Less and less with a soft beginning and end, none at the ends"),
        ),
    )
    all_surfaces: BoolProperty(
        name="All Surfaces", description="What was moved of all surfaces of the model, not of the active one alone"
    )

    def draw(self, context: Context) -> None:
        """Show the range where it is wanted."""
        shown = ("frames", *(("first", "last") if self.frames == "RANGE" else ()), "falloff")
        for name in (*shown, "selected_only", "all_surfaces"):
            self.layout.prop(self, name)

    def change(self, context: Context, edited: list[Any], editing: bool) -> str:
        """Apply what was moved in the present frame."""
        from ..tasks.frames import Change, apply

        wanted = Change(self.frames, self.first, self.last, self.falloff, self.selected_only, self.all_surfaces)
        return apply(context, edited, wanted, editing)


CLASSES = (
    OBJECT_OT_idtech_insert_frame,
    OBJECT_OT_idtech_delete_frame,
    OBJECT_OT_idtech_hold_still,
    OBJECT_OT_idtech_apply_change,
)


def draw_menu(self: Any, context: Context) -> None:
    """Add the frame operators to the menu beside the list of shape keys."""
    self.layout.separator()
    for cls in CLASSES:
        self.layout.operator(cls.bl_idname)


def _is_wanted(context: Context) -> bool:
    """Tell whether the user wants it."""
    own = preferences.own(context)
    return own is None or bool(own.follow_frame)


def _is_quiet(context: Context) -> bool:
    """Tell whether nothing else runs through frames."""
    screens = [window.screen for window in context.window_manager.windows]
    is_playing = any(screen.is_animation_playing for screen in screens)
    return not (is_showing() or is_playing or _app.is_job_running("RENDER"))


def _objects(context: Context) -> list[Any]:
    """Return what may be edited next: what is active or selected, and what lies with the active object.

    That are the surfaces of one model. What becomes active later is looked at then.
    """
    active = context.view_layer.objects.active
    if active is None:
        return []
    root = context.scene.collection
    beside = [block for home in active.users_collection if home != root for block in home.objects]
    return list(dict.fromkeys([active, *beside, *selected(context)]))


def _views() -> Iterator[Any]:
    """Yield the context as it is in each window: where Blender tells of something, it may not be that of the user's."""
    context: Any = bpy.context
    seen = [context.view_layer]
    yield context
    for window in context.window_manager.windows:
        if window.view_layer not in seen:
            seen.append(window.view_layer)
            with context.temp_override(window=window, scene=window.scene, view_layer=window.view_layer):
                yield bpy.context


def _on_frame(scene: bpy.types.Scene, _depsgraph: Any = None) -> None:
    """Let keys follow the frame that the scene shows now."""
    for context in _views():
        if context.scene == scene:
            _follow_in(context)


def _follow(*_ignored: Any) -> None:
    """Let keys follow the frame that shows, of what may be edited next."""
    for context in _views():
        _follow_in(context)


def _follow_in(context: Any) -> None:
    if not _is_quiet(context):
        return
    blocks = [block for block in _objects(context) if getattr(block.data, "shape_keys", None) is not None]
    if not blocks:
        return
    from ..blender.vertex.shown_keys import follow

    _followed.update(follow(blocks, _is_wanted(context), _chosen))


def _on_state(*_ignored: Any) -> None:
    """Let keys follow what was opened, or undo brought back, and again when Blender may be asked what that shows."""
    _follow()
    if not (_app.background or _app.timers.is_registered(_follow_evaluated)):
        _app.timers.register(_follow_evaluated, first_interval=0.0)


def _follow_evaluated() -> None:
    """Let keys follow once the time of keys is that of the scene's frame: undo brings back one that may be older."""
    for context in _views():
        context.view_layer.update()
        _follow_in(context)


def _on_key() -> None:
    """Show the key that was chosen in the list, and let it be sculpted."""
    for context in _views():
        _show_key(context, context.view_layer.objects.active)


def _show_key(context: Any, active: Any) -> None:
    from ..blender.roots import time_of
    from ..blender.vertex.shape_keys import take_strokes
    from ..blender.vertex.shown_keys import frame_that_shows, has_frames

    if not has_frames(active) or not _is_quiet(context):
        return
    take_strokes(active)
    if not _is_wanted(context) or _followed.get(active.session_uid) == active.active_shape_key_index:
        return  # Blender tells of those that followed, too
    _followed[active.session_uid] = active.active_shape_key_index
    frame = frame_that_shows(active, context.scene)
    if frame is not None and frame != context.scene.frame_current:
        context.scene.frame_set(frame)
        if not _app.background:  # Blender kept the step for undo before we were told: with the frame of the other key
            bpy.ops.ed.undo_push(message="Active Shape Key")
    _chosen[active.session_uid] = time_of(active.data.shape_keys)


def _on_load(*_ignored: Any) -> None:
    """Begin anew with a file that was opened: another frame of it may show than the one whose key is active."""
    _listen()
    _on_state()


def _listen() -> None:
    """Be told when a key is chosen, or an object: Blender forgets who listens with every file."""
    bpy.msgbus.clear_by_owner(_owner)
    _followed.clear()
    _chosen.clear()
    key: Any = (bpy.types.Object, "active_shape_key_index")
    bpy.msgbus.subscribe_rna(key=key, owner=_owner, args=(), notify=_on_key)
    active: Any = (bpy.types.LayerObjects, "active")  # also of what an import brought
    bpy.msgbus.subscribe_rna(key=active, owner=_owner, args=(), notify=_follow)


# When another frame may show: nothing is told while an animation plays, and undo brings back the key of another frame.
OCCASIONS = {
    "frame_change_post": _on_frame,
    "animation_playback_post": _follow,
    "undo_post": _on_state,
    "redo_post": _on_state,
    "load_post": _on_load,
}


def watch() -> None:
    """Begin to follow."""
    for name, handler in OCCASIONS.items():
        getattr(_app.handlers, name).append(_app.handlers.persistent(handler))  # it stays when a .blend is opened
    _listen()


def unwatch() -> None:
    """End it."""
    bpy.msgbus.clear_by_owner(_owner)
    if _app.timers.is_registered(_follow_evaluated):
        _app.timers.unregister(_follow_evaluated)
    for name, handler in OCCASIONS.items():
        getattr(_app.handlers, name).remove(handler)
