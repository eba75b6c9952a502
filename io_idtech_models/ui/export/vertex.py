"""Exports of vertex-animated models. Options are declared here.

`GatherSettings` has the same names and defaults; a test keeps them in step. What does the work is
imported when it is first needed: everyone who starts Blender waits for this module.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bpy.props import EnumProperty, IntProperty, StringProperty

from ...blender.compat import Context
from ..animations.ticks import TickedAnimations
from ..bases import draw_group, settings_from
from .operators import ExportModel

if TYPE_CHECKING:
    from pathlib import Path

    from ...reporting import Summary


class LevelsOption:
    """The options of formats whose games read levels of detail from files beside a model's."""

    levels: EnumProperty(
        name="Levels of Detail",
        description="What to write as NAME_1, NAME_2 beside the model, which games draw from afar",
        items=(
            ("SCENE", "In the Scene", "Those that 'Make Levels of Detail' made of the model, as they are now"),
            ("MAKE", "Make Now", "The model as it is written, with fewer triangles"),
            ("NONE", "None", "Nothing: files that are there stay as they are"),
        ),
        default="SCENE",
    )
    percentages: StringProperty(
        name="Percentages", description="How many of the model's triangles each level keeps", default="50, 25"
    )


class ExportVertexModel(TickedAnimations, ExportModel):
    """Options and work of an export operator of the vertex family."""

    frames: EnumProperty(
        name="Frames",
        description="Which frames to write",
        items=(
            ("AUTO", "Automatic", "The keys of a model that has them, the scene's range if something moves, else one"),
            ("KEYS", "Model's Keys", "One frame per shape key, in their order"),
            ("ACTIONS", "Actions", "Named actions one after another, their frames numbered as games expect"),
            ("MARKERS", "Markers", "Every marker of the timeline begins an animation, which lasts up to the next"),
            ("SCENE", "Scene Range", "Every frame of the scene's range, as the timeline shows it"),
            ("RANGE", "Range", "The frames from start to end"),
            ("CURRENT", "Current Frame", "One frame: what the scene shows now"),
        ),
        default="AUTO",
    )
    frame_start: IntProperty(name="Start", description="First frame of the range", default=0)
    frame_end: IntProperty(name="End", description="Last frame of the range", default=0)
    frame_step: IntProperty(name="Step", description="Write every n-th frame", default=1, min=1)
    actions: StringProperty(
        name="Actions", description="Names with commas between, in the order of the file; empty: all of the model's own"
    )
    normals: EnumProperty(
        name="Normals",
        description="Where normals come from",
        items=(
            ("SOURCE", "Source", "The file's where nothing changed, turned along where vertices moved, else as shown"),
            ("SHOWN", "As Shown", "What Blender shows in every frame"),
            ("SMOOTH", "Smooth", "Averaged over the faces at a position, as if no edge were sharp"),
        ),
        default="SOURCE",
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the model's animations to tick."""
        self.fill_ticks(context)
        return super().invoke(context, event)

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        self.draw_objects()
        ranged: tuple[str, ...] = ("frame_start", "frame_end", "frame_step") if self.frames == "RANGE" else ()
        body = draw_group(self.layout, self, "idtech_frames", "Animation", ("frames", *ranged))
        if body is not None and self.frames == "ACTIONS":
            self.draw_ticks(body)
        own = tuple(option.name for option in self.row.options)
        normals = ("normals",) if self.row.vertex.meshes else ()
        shown = ("scale", *normals, "keep_suffixes", *own, "skin", "write_materials")
        draw_group(self.layout, self, "idtech_mesh", "Mesh", shown)
        made: tuple[str, ...] = ("percentages",) if getattr(self, "levels", "") == "MAKE" else ()
        if self.row.vertex.level_files:
            draw_group(self.layout, self, "idtech_levels", "Levels of Detail", ("levels", *made))

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is reported, and the file is as it was."""
        from ...blender.vertex.frame_plan import GatherSettings
        from ...tasks.export.left_out import left_out
        from ...tasks.export.vertex import export_file

        asked = self.asked()
        said_if_it_fails: list[str] = []

        def write() -> "list[tuple[Path, Summary]]":
            actions = self.asked_actions() if self.frames == "ACTIONS" else self.actions
            settings = settings_from(self, GatherSettings, actions=actions)
            chosen = self.choose(context)
            said_if_it_fails.extend(left_out(chosen))
            whole, of_scene = replace(asked, levels=self.shares()), getattr(self, "levels", "") == "SCENE"
            summary = export_file(whole, self.row, chosen, context, settings, of_scene)
            self.remember(chosen)
            return [(asked.target, summary)]

        return self.export_files(write, said_if_it_fails)

    def shares(self) -> list[float]:
        """Return the shares of the model's triangles that levels are made with now; raises LimitError."""
        if getattr(self, "levels", "") != "MAKE":
            return []
        from ...model.lod.levels import shares_of

        return shares_of(self.percentages)
