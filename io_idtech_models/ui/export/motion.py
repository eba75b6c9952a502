"""Exports of motions, and what those of skeletal models share. Options are declared here.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...blender.compat import Context
from ...blender.provenance import FILE, owns_file, unit_of
from ...blender.scene import objects_in
from ...blender.window import active_rig
from ...reporting import LimitError, listed
from ..animations.ticks import TickedAnimations
from ..bases import draw_group, settings_from
from .operators import ExportFile
from .proposals import carrier_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...reporting import Summary

WEIGHT_NAMES = ("most_weights", "least_weight", "orphan_bone")


class JointOptions:
    """Which bones are written, and how."""

    deform_only: BoolProperty(
        name="Deform Bones Only", description="Leave out bones that deform nothing: controls and helpers", default=True
    )
    add_origin: BoolProperty(
        name="Add Origin Joint",
        description="Hang several roots on a joint 'origin': Doom 3 takes animations with one",
        default=False,
    )


class WeightOptions:
    """Which weights new and changed vertices are written with."""

    most_weights: IntProperty(
        name="Most Weights",
        description="Of a new or changed vertex the largest this many are written; 0 writes all",
        default=4,
        min=0,
        max=64,
    )
    least_weight: FloatProperty(
        name="Least Weight",
        description="Smaller weights of new or changed vertices are left out",
        default=0.05,
        min=0.0,
        max=1.0,
    )
    orphan_bone: StringProperty(
        name="Default Bone",
        description="What vertices without weights are bound to; empty: an error, but in IQM the first joint",
    )


class ExportSkeletalAnimation(TickedAnimations, JointOptions, WeightOptions, ExportFile):
    """Options and work of an export operator of animations.

    Weights count for bounds alone: where none are given they are those with which the model was exported last.
    """

    collection: StringProperty(name="Collection", options={"HIDDEN", "SKIP_SAVE"})
    what: EnumProperty(
        name="Export",
        description="Which animations to write; several go into the folder, each under its name",
        items=(
            ("AUTO", "Automatic", "The action that plays, or the scene's range where more than that moves the bones"),
            ("ACTIVE", "Active Action", "The action that the armature plays"),
            ("CHOSEN", "Chosen Actions", "Actions that are named"),
            ("ALL", "All Actions", "Every action that the armature plays or keeps, or that fits it and is no other's"),
            ("NLA", "NLA Strips", "Every strip that is not muted, as it plays alone"),
            ("SCENE", "Scene Range", "What the scene shows: constraints, drivers and parents count"),
        ),
        default="AUTO",
    )
    actions: StringProperty(name="Actions", description="Names of chosen actions, with commas between")
    loop: BoolProperty(
        name="Repeat First Frame",
        description="End with the first frame once more, as games expect of loops",
        default=False,
    )
    recompute_bounds: BoolProperty(
        name="Recompute Bounds",
        description="Bounds of the deformed meshes in every frame, also where the file's would do",
        default=False,
    )
    frame_rate: FloatProperty(
        name="FPS (0: Own)",
        description="Frames per second; 0: the action's, else the scene's",
        default=0.0,
        min=0.0,
        max=240.0,
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the action's name, and the animations to tick."""
        rig = active_rig(context)
        if rig is not None:
            action = None if rig.animation_data is None else rig.animation_data.action
            file = rig.data.get(FILE)
            place = file if isinstance(file, str) else ""
            own = "" if action is None else str(action.get(FILE, ""))
            last = own if own and owns_file(action) else ""
            self.propose(rig.name if action is None else action.name, own or place, last)
            self.propose_game(place)
            if place and not self.properties.is_property_set("scale"):
                self.scale = unit_of(rig)
            self.carrier = carrier_of([rig])
            for name, value in self.weights(rig, {}).items():
                setattr(self, name, value)
            self.fill_ticks_of(rig)
        return super().invoke(context, event)

    def weights(self, rig: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Return the limits of weights: those `given`, else those that the armature remembers, else the usual ones."""
        from ...blender.skeletal.torso import remembered_weights

        return vars(remembered_weights(rig)) | given

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        body = draw_group(self.layout, self, "idtech_objects", "Animations", ("game", "what"))
        if body is not None and self.what == "CHOSEN":
            self.draw_ticks(body)
        self.draw_space()
        draw_group(self.layout, self, "idtech_bones", "Joints", ("scale", "deform_only", "add_origin", "keep_suffixes"))
        bounds = ("recompute_bounds", *WEIGHT_NAMES)
        own = [option.name for option in self.row.options]
        draw_group(self.layout, self, "idtech_time", "Frames", ("frame_rate", "loop", *bounds, *own))

    def execute(self, context: Context) -> Any:
        """Write the files; what hinders one is reported, and all files are as they were."""
        from ...blender.skeletal.rig_scene import SkeletalGatherSettings
        from ...tasks.export.motion import AnimationExport, export_animations
        from ...tasks.export.selection import Choice

        asked, rig = self.asked(), None if self.collection else active_rig(context)
        given = {name: getattr(self, name) for name in WEIGHT_NAMES if self.properties.is_property_set(name)}

        def write() -> "list[tuple[Path, Summary]]":
            own = rig_in(self.collection) if self.collection else rig
            if own is None:
                raise LimitError("no armature is active")
            actions = self.asked_actions() if self.what == "CHOSEN" else self.actions
            wanted = settings_from(self, AnimationExport, actions=actions)
            settings = settings_from(self, SkeletalGatherSettings, **self.weights(own, given))
            return export_animations(asked, self.row, Choice([own]), context, settings, wanted)

        return self.export_files(write)

    def writes_several(self) -> bool:
        """Tell whether animations go into the folder under names of their own."""
        one = {"AUTO", "ACTIVE", "SCENE", "REST", *(("CHOSEN", "NLA") if self.row.motion.joins_clips else ())}
        return self.what not in one and not self.row.has_model


def rig_in(name: str) -> Any:
    """Return the armature in a collection, as Blender's collection exporters name it.

    Raises:
        LimitError: it holds none, or several.
    """
    collection = bpy.data.collections.get(name)
    inside: Any = [] if collection is None else objects_in(collection)
    rigs = [block for block in inside if block.type == "ARMATURE"]
    if len(rigs) != 1:
        found = listed([rig.name for rig in rigs]) if rigs else "none"
        raise LimitError(f"collection '{name}' has to hold one armature to export its animations, it holds {found}")
    return rigs[0]
