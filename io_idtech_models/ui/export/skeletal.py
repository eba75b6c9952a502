"""Exports of models that skeletons move. Options are declared here.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import active_rig
from ..animations.ticks import TickedAnimations
from ..bases import draw_group, settings_from
from .motion import WEIGHT_NAMES, JointOptions, WeightOptions
from .operators import ExportModel

if TYPE_CHECKING:
    from ...reporting import Summary

CHOSEN = "CHOSEN"  # of `motions`: those that `actions` names


class NormalsOption:
    """The option of formats that store normals."""

    normals: EnumProperty(
        name="Normals",
        description="Which normals to write",
        items=(
            ("SOURCE", "Source", "Those of the imported file where nothing about them changed, else as shown"),
            ("SHOWN", "As Shown", "Those that Blender shows"),
        ),
        default="SOURCE",
    )


class FramesOption:
    """The option of models whose bones lie in another file."""

    write_animation: BoolProperty(
        name="Bones and Action",
        description="Write the file with the bones, too: the action that the armature plays, or else its rest",
        default=False,
    )


class AnimationsOption(TickedAnimations):
    """The option of models whose animations lie in files of their own."""

    write_animations: BoolProperty(
        name="Animations",
        description="Write the animations, too, into the model's folder, each into a file of its name",
        default=False,
    )
    actions: StringProperty(name="Actions", description="Names of animations, with commas between; empty: all")

    def writes_several(self) -> bool:
        """Tell whether animations go into the folder under names of their own."""
        return bool(self.write_animations)


class ExportSkeletalModel(JointOptions, WeightOptions, ExportModel):
    """Options and work of an export operator of skeletal models."""

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the model's animations to tick."""
        shown = super().invoke(context, event)
        rig = active_rig(context)
        if rig is not None and isinstance(self, TickedAnimations):
            self.fill_ticks_of(rig, all_named=isinstance(self, MotionsOption))
        return shown

    def choose(self, context: Context) -> Any:
        """Return the objects that are meant, a `Choice`; raises LimitError."""
        from ...tasks.export.selection import choose_with_bones

        return choose_with_bones(context, self.what, self.collection)

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        self.draw_objects()
        if hasattr(self, "write_animations"):
            body = draw_group(self.layout, self, "idtech_time", "Animation", ("write_animations",))
            if body is not None and self.write_animations:
                self.draw_ticks(body)
        if hasattr(self, "motions"):
            body = draw_group(self.layout, self, "idtech_time", "Animation", ("motions",))
            if body is not None and self.motions == CHOSEN:
                self.draw_ticks(body)
        draw_group(self.layout, self, "idtech_bones", "Joints", ("deform_only", "add_origin", "keep_suffixes"))
        own = [option.name for option in self.row.options]
        draw_group(
            self.layout,
            self,
            "idtech_mesh",
            "Mesh",
            ("scale", *WEIGHT_NAMES, "normals", *own, "write_animation", "skin", "write_materials"),
        )

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is reported, and the file is as it was."""
        from ...blender.skeletal.rig_scene import SkeletalGatherSettings
        from ...tasks.export.skeletal import ModelExport, export_skeletal

        settings, asked = settings_from(self, SkeletalGatherSettings), self.asked()

        def write() -> "list[tuple[Path, Summary]]":
            ticked = getattr(self, "write_animations", False) or getattr(self, "motions", "") == CHOSEN
            actions = self.asked_actions() if ticked else ""
            more = settings_from(self, ModelExport, actions=actions)
            chosen = self.choose(context)
            summary = export_skeletal(asked, self.row, chosen, context, settings, more)
            self.remember(chosen)
            return [(asked.target, summary)]

        return self.export_files(write)


class MotionsOption(TickedAnimations):
    """The option of models whose files hold motions, too."""

    motions: EnumProperty(
        name="Animations",
        description="Which animations to write into the file; an armature without any is written as it rests",
        items=(
            ("ALL", "All Actions", "Every action that the armature plays or keeps, or that fits it and is no other's"),
            ("AUTO", "Automatic", "The action that plays, or the scene's range where more than that moves the bones"),
            ("ACTIVE", "Active Action", "The action that the armature plays"),
            (CHOSEN, "Chosen Actions", "Actions that are named"),
            ("NLA", "NLA Strips", "Every strip that is not muted, as it plays alone"),
            ("SCENE", "Scene Range", "What the scene shows: constraints, drivers and parents count"),
            ("REST", "Rest", "One frame, the rest pose"),
        ),
        default="ALL",
    )
    actions: StringProperty(name="Actions", description="Names of chosen actions, with commas between")
