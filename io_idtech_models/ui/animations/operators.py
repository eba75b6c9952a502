"""Operators on the animations of the active object's model, for the list in the sidebar and for scripts.

An animation is named as its action is, or as files name it; without a name the one that plays is meant. What does the
work is imported when it is first needed: everyone who starts Blender waits for this module.

A player's legs and torso play different animations at once: Preview Torso shows how that looks in the game.
"""

from collections import Counter
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import active_rig, mode_of, set_mode
from ...reporting import LimitError, ModelError, collected_warnings
from ..bases import CANCELLED, FINISHED, Operator, may
from ..translations import say, tip
from . import shown

NAME = "The animation, as the list or its action names it; empty: the one that plays"


class AnimationOperator:
    """What these operators share: they change the animations of the active object's model."""

    bl_options = {"REGISTER", "UNDO"}
    needs = ""  # which of `shown.CHANGES` it makes of an animation that is there
    moves_frames = False  # of models that have such
    gives_name = False  # which another animation may have
    report: Any
    name: str
    span: tuple[int, int]  # the frames of the scene that are chosen

    @classmethod
    def description(cls: Any, context: Context, properties: Any) -> str:
        """Return what it does, and why not with this animation."""
        lack = shown.lack_of(context, cls.needs, properties.name) if cls.needs else ""
        return f"{tip(cls.bl_description)}{'. ' if lack else ''}{lack}"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there is an object."""
        return may(cls, "" if context.view_layer.objects.active is not None else say("No object is active"))

    def execute(self, context: Context) -> set[str]:
        """Change the animations, out of edit mode; the list shows them as they are then."""
        from ...blender.held_actions import release
        from ...tasks.animations.find import need_animations
        from ...tasks.animations.vertex import fill_gaps

        mode = mode_of(context)
        release()  # of what was appended
        try:
            if mode == "EDIT":
                set_mode(context, "OBJECT")
            if self.moves_frames:
                fill_gaps(context)
            animations, self.span = need_animations(context), scene_range(context.scene)
            before = called(animations) if self.gives_name else Counter()
            with animations.markers_at_home(), collected_warnings() as warnings:
                self.change(animations, context)
            after = called(animations) if self.gives_name else Counter()
            twins = [name for name, count in after.items() if count > max(1, before[name])]
            warnings += [f"'{name}' is the name of several animations: games find the first" for name in twins]
            if warnings:
                self.report({"WARNING"}, "; ".join(warnings))
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        finally:
            if mode == "EDIT":
                set_mode(context, mode)
            shown.refresh(context)
        return FINISHED

    def change(self, animations: Any, context: Context) -> None:
        """Do what the operator is for; raises ModelError."""
        raise NotImplementedError

    def row_to_edit(self, animations: Any) -> Any:
        """Return the animation, which no copy of the model has any more; raises LimitError where it can't be edited."""
        row = animations.find(self.name)
        animations.demand(self.needs, row)
        place = [each.key for each in animations.rows()].index(row.key)
        animations.stand_alone()
        return animations.rows()[place]


class OBJECT_OT_idtech_animation_play(AnimationOperator, Operator):  # type: ignore[misc]
    """Let the active object's model play an animation."""

    bl_idname = "object.idtech_animation_play"
    bl_label = "Play This Animation"
    bl_description = "Let the active object's model play the animation, and the scene show it from first to last frame"

    name: StringProperty(
        name="Name", description="The animation, as the list or its action names it", default="", options={"SKIP_SAVE"}
    )

    def change(self, animations: Any, context: Context) -> None:
        """Play."""
        animations.play(animations.find(self.name), context.scene)


class OBJECT_OT_idtech_animation_make(AnimationOperator, Operator):  # type: ignore[misc]
    """Make the actions of animations that are listed, and were not played yet."""

    bl_idname = "object.idtech_animation_make"
    bl_label = "Make All Animations"
    bl_description = "Make the actions of all animations in the list that have none yet, which else their playing makes"

    name: StringProperty(
        name="Name", description="The animation, as the list names it; empty: all", options={"SKIP_SAVE"}
    )

    def change(self, animations: Any, context: Context) -> None:
        """Make them, and say how many."""
        from ...reporting import plural

        wanted = [animations.find(self.name)] if self.name else animations.rows()
        count, failed = animations.make(wanted, context.scene)
        if failed and not count:
            raise LimitError("; ".join(failed))
        self.report({"WARNING" if failed else "INFO"}, "; ".join([f"{plural(count, 'action')} made", *failed]))


class OBJECT_OT_idtech_animation_add(AnimationOperator, Operator):  # type: ignore[misc]
    """Make an animation of frames of the active object's model."""

    gives_name = True
    bl_idname = "object.idtech_animation_add"
    bl_label = "Add Animation"
    bl_description = "Make an animation of frames that are there: of the model, or of the action that plays"

    name: StringProperty(
        name="Name", description="What files call the animation; empty: one that they can hold", options={"SKIP_SAVE"}
    )
    first: IntProperty(
        name="First", description="Its first frame, as the list counts", default=-1, min=-1, options={"SKIP_SAVE"}
    )
    last: IntProperty(
        name="Last", description="Its last frame, as the list counts", default=-1, min=-1, options={"SKIP_SAVE"}
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask for name and frames: the selected markers' or the scene's."""
        from ...tasks.animations.find import animations_of

        found = animations_of(context)
        if found is not None:
            self.first, self.last = found.default_range(*scene_range(context.scene))
            self.name = found.default_name()
        return context.window_manager.invoke_props_dialog(self)

    def change(self, animations: Any, context: Context) -> None:
        """Add it, and play it."""
        animations.demand_own()
        animations.stand_alone()
        first, last = animations.default_range(*self.span)
        first, last = (first if self.first < 0 else self.first), (last if self.last < 0 else self.last)
        key = animations.add(self.name.strip() or animations.default_name(), first, last)
        animations.play(animations.find(key), context.scene)


class OBJECT_OT_idtech_animation_remove(AnimationOperator, Operator):  # type: ignore[misc]
    """Remove an animation of the active object's model."""

    needs = "REMOVE"
    moves_frames = True
    bl_idname = "object.idtech_animation_remove"
    bl_label = "Remove Animation"
    bl_description = "Remove the animation, and the frames of the model that no other animation shows"

    name: StringProperty(name="Name", description=NAME, options={"SKIP_SAVE"})

    def change(self, animations: Any, context: Context) -> None:
        """Remove it, and play what takes its place."""
        row = self.row_to_edit(animations)
        rows = animations.rows()
        place, shown_row = [each.key for each in rows].index(row.key), animations.playing_row(rows)
        played = shown_row is not None and shown_row.key == row.key
        animations.remove(row)
        rest = animations.rows()
        if played and rest:
            animations.play(rest[min(place, len(rest) - 1)], context.scene)


class OBJECT_OT_idtech_animation_duplicate(AnimationOperator, Operator):  # type: ignore[misc]
    """Make a copy of an animation, with frames of its own."""

    needs = "DUPLICATE"
    moves_frames = True
    gives_name = True
    bl_idname = "object.idtech_animation_duplicate"
    bl_label = "Duplicate Animation"
    bl_description = "Make a copy of the animation behind it, with frames of its own"

    name: StringProperty(name="Name", description=NAME, options={"SKIP_SAVE"})
    copy: StringProperty(
        name="Copy", description="What the copy is called; empty: as the original, and _copy", options={"SKIP_SAVE"}
    )

    def change(self, animations: Any, context: Context) -> None:
        """Copy it, and play the copy."""
        row = self.row_to_edit(animations)
        key = animations.duplicate(row, self.copy.strip())
        animations.play(animations.find(key), context.scene)


class OBJECT_OT_idtech_animation_move(AnimationOperator, Operator):  # type: ignore[misc]
    """Move an animation up or down in the order of the file."""

    needs = "MOVE"
    moves_frames = True
    bl_idname = "object.idtech_animation_move"
    bl_label = "Move Animation"
    bl_description = "Move the animation up or down in the order of the file, a model's frames with it"

    name: StringProperty(name="Name", description=NAME, options={"SKIP_SAVE"})
    direction: EnumProperty(
        name="Direction",
        description="Where to",
        items=(("UP", "Up", "Before the one above"), ("DOWN", "Down", "Behind the one below")),
    )

    def change(self, animations: Any, context: Context) -> None:
        """Move it."""
        row = self.row_to_edit(animations)
        animations.move(row, -1 if self.direction == "UP" else 1)


class OBJECT_OT_idtech_animation_rename(AnimationOperator, Operator):  # type: ignore[misc]
    """Rename an animation, and what is named after it."""

    needs = "RENAME"
    gives_name = True
    bl_idname = "object.idtech_animation_rename"
    bl_label = "Rename Animation"
    bl_description = "Rename the animation, and the frames and the marker that are named after it"

    name: StringProperty(name="Name", description=NAME, options={"SKIP_SAVE"})
    to: StringProperty(name="New Name", description="What files are to call it", options={"SKIP_SAVE"})
    asked: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask for the name."""
        from ...tasks.animations.find import need_animations

        try:
            self.to = need_animations(context).find(self.name).name
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        """Show the new name alone."""
        self.layout.prop(self, "to")

    def change(self, animations: Any, context: Context) -> None:
        """Rename it."""
        row = self.row_to_edit(animations)
        if self.to.strip() and self.to.strip() != row.name:
            animations.rename(row, self.to.strip())


def called(animations: Any) -> Counter[str]:
    """Return how many animations of a model have each name, in lower case: games know no other."""
    return Counter(row.name.lower() for row in animations.rows() if not row.whole)


def scene_range(scene: Any) -> tuple[int, int]:
    """Return the frames of the scene that a user has chosen: by selected markers, the preview range, or the scene's."""
    marked = [marker.frame for marker in scene.timeline_markers if marker.select]
    if len(marked) > 1:
        return min(marked), max(marked)
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


class OBJECT_OT_idtech_preview_torso(Operator):  # type: ignore[misc]
    """Make an action that shows what Enemy Territory makes of two: one on the legs, one on the torso, which aims."""

    bl_idname = "object.idtech_preview_torso"
    bl_label = "Preview Torso"
    bl_description = "Make an action of two as Enemy Territory mixes them on legs and torso; it is never exported"
    bl_options = {"REGISTER", "UNDO"}

    legs: StringProperty(name="Legs", description="The action, or the row, that the legs play", options={"SKIP_SAVE"})
    torso: StringProperty(
        name="Torso", description="The action, or the row, that the torso plays", options={"SKIP_SAVE"}
    )
    pitch: FloatProperty(name="Pitch", description="Where the player aims, degrees down", soft_min=-90, soft_max=90)
    yaw: FloatProperty(name="Yaw", description="Where the player aims, degrees to the left", soft_min=-90, soft_max=90)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on armatures that know their bones' torso weights."""
        from ...blender.skeletal.torso import gather_traits

        rig = active_rig(context)
        weighted = rig is not None and gather_traits(list(rig.data.bones)) is not None
        return may(cls, "" if weighted else say("No armature whose bones have torso weights is active"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask which actions; the one that plays now is the torso's."""
        rig = active_rig(context)
        action = None if rig.animation_data is None else rig.animation_data.action
        if action is not None:
            self.legs, self.torso = self.legs or action.name, self.torso or action.name
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        """Show the options."""
        self.layout.use_property_split = True
        listing = shown.listing(context)
        rows: tuple[Any, str] = (bpy.data, "actions") if listing is None or not listing.unmade else (listing, "rows")
        for name in ("legs", "torso"):
            self.layout.prop_search(self, name, *rows)
        for name in ("pitch", "yaw"):
            self.layout.prop(self, name)

    def execute(self, context: Context) -> set[str]:
        """Make the action, and let the armature play it."""
        from ...tasks.animations.torso import preview_torso

        try:
            with collected_warnings() as warnings:
                action = preview_torso(active_rig(context), self.legs, self.torso, self.pitch, self.yaw, context)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        self.report({"WARNING" if warnings else "INFO"}, "; ".join([f"'{action.name}' plays", *warnings]))
        return FINISHED


def draw_entry(self: Any, context: Context) -> None:
    """Add the operator to a menu, where the armature has torso weights."""
    if OBJECT_OT_idtech_preview_torso.poll(context):
        self.layout.operator(OBJECT_OT_idtech_preview_torso.bl_idname)


def draw_menu(self: Any, context: Context) -> None:
    """Add the operator to the menu of poses."""
    if OBJECT_OT_idtech_preview_torso.poll(context):
        self.layout.separator()
        draw_entry(self, context)


CLASSES = (
    OBJECT_OT_idtech_animation_play,
    OBJECT_OT_idtech_animation_make,
    OBJECT_OT_idtech_animation_add,
    OBJECT_OT_idtech_animation_remove,
    OBJECT_OT_idtech_animation_duplicate,
    OBJECT_OT_idtech_animation_move,
    OBJECT_OT_idtech_animation_rename,
    OBJECT_OT_idtech_preview_torso,
)
