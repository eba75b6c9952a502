"""Import and export operators of vertex-animated models. Options are declared here.

`BuildSettings` and `GatherSettings` have the same names and defaults; a test keeps them in step. What does the work is
imported when it is first needed: everyone who starts Blender waits for this module.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..blender.compat import Context
from ..formats import SKIN_FILES, Row
from .animations.ticks import TickedAnimations
from .bases import (
    CANCELLED,
    FINISHED,
    DressOptions,
    ExportModel,
    ImportFiles,
    SkinOption,
    draw_group,
    file_handler,
    games_option,
    make_operator,
    option_property,
    settings_from,
)
from .imports.placing import open_collection, select, show_bare

if TYPE_CHECKING:
    from pathlib import Path

    from ..blender.vertex.build import Built
    from ..game.store import GameFile
    from ..tasks.vertex import Summary


class ImportVertexModel(DressOptions, ImportFiles):
    """Options and work of an import operator of the vertex family."""

    relative_keys: BoolProperty(
        name="Relative Keys",
        description="One curve per frame instead of one for all: slower, but keys can be mixed",
        default=False,
    )
    frame_rate: IntProperty(
        name="Frame Rate", description="Frames per second of the scene; 0 leaves it as it is", default=0, min=0, max=240
    )

    of_player: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # what was dropped is a part of one
    whole_player: BoolProperty(
        name="Whole Player",
        description="Import the whole player that the file is a part of, put together, with its animations",
        default=False,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, or for dropped files the options alone: a player's part brings all of it."""
        self.of_player = bool(self.directory) and self.row.skins == SKIN_FILES and self._is_of_player()
        self.whole_player = self.of_player
        return super().invoke(context, event)

    def _is_of_player(self) -> bool:
        """Tell whether the files are parts of whole players."""
        from ..tasks.games import user_disk
        from ..tasks.player.files import is_part

        disk = user_disk()
        return all(is_part(disk.file(path)) for path in self.paths())

    def one_by_one(self, paths: "list[Path]") -> bool:
        """Tell whether so many were chosen that they come one by one; parts of players come together."""
        return not self.whole_player and super().one_by_one(paths)

    def draw(self, context: Context) -> None:
        """Show the options in two groups."""
        if self.of_player:
            self.layout.prop(self, "whole_player")
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld", "side_by_side"))
        draw_group(
            self.layout, self, "idtech_time", "Animation", ("relative_keys", "fit_range", "replace_range", "frame_rate")
        )
        self.draw_dress()

    def import_files(self, context: Context) -> Any:
        """Import the files; what can't be read is reported, and leaves nothing behind."""
        from ..blender.vertex.build import BuildSettings
        from ..tasks.dressing import Dressing
        from ..tasks.games import user_disk
        from ..tasks.vertex import import_file

        if self.whole_player:
            from .player.transfer import bring_players

            return bring_players(self, context)
        settings, dressing = settings_from(self, BuildSettings), settings_from(self, Dressing)

        def bring_one(file: "GameFile") -> "tuple[Built, Summary]":
            return import_file(file, settings, context.scene, open_collection(context), dressing)

        done = self.bring(map(user_disk().file, self.paths()), bring_one)
        longest = max((built.num_frames for built in done), default=1)
        if settings.fit_range and longest > 1:
            context.scene.frame_end = longest - 1
        blocks = [block for built in done for block in (*built.surfaces, *built.tags)]
        select(context, blocks)
        if done and not blocks:
            show_bare(context, done[-1].collection)
        return FINISHED if done else CANCELLED


class WeldOption:
    """The option of formats that split a vertex where its texture coordinate or normal jumps."""

    weld: BoolProperty(
        name="Weld Seams",
        description="Make one vertex of those that lie together in every frame; export splits them again",
        default=True,
    )


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
        from ..tasks.animations.find import animations_of

        self.fill_ticks(animations_of(context))
        return super().invoke(context, event)

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        self.draw_objects()
        ranged: tuple[str, ...] = ("frame_start", "frame_end", "frame_step") if self.frames == "RANGE" else ()
        body = draw_group(self.layout, self, "idtech_frames", "Animation", ("frames", *ranged))
        if body is not None and self.frames == "ACTIONS":
            self.draw_ticks(body)
        own = tuple(option.name for option in self.row.options)
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "normals", "keep_suffixes", *own, "skin"))
        made: tuple[str, ...] = ("percentages",) if getattr(self, "levels", "") == "MAKE" else ()
        if self.row.level_files:
            draw_group(self.layout, self, "idtech_levels", "Levels of Detail", ("levels", *made))

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is reported, and the file is as it was."""
        from ..blender.vertex.frame_plan import GatherSettings
        from ..tasks.selection import choose
        from ..tasks.vertex import export_file, left_out

        asked = self.asked()
        hidden: list[str] = []

        def write() -> "list[tuple[Path, Summary]]":
            actions = self.asked_actions() if self.frames == "ACTIONS" else self.actions
            settings = settings_from(self, GatherSettings, actions=actions)
            chosen = choose(context, self.what, self.collection)
            hidden.extend(left_out(chosen))
            whole, of_scene = replace(asked, levels=self.shares()), getattr(self, "levels", "") == "SCENE"
            summary = export_file(whole, self.row, chosen, context, settings, of_scene)
            self.remember(chosen)
            return [(asked.target, summary)]

        return self.deliver(write, hidden)

    def shares(self) -> list[float]:
        """Return the shares of the model's triangles that levels are made with now; raises LimitError."""
        from ..model.lod.levels import shares_of

        return shares_of(self.percentages) if getattr(self, "levels", "") == "MAKE" else []


def import_operator(row: Row) -> type:
    """Return the import operator of a format."""
    bases = (WeldOption, ImportVertexModel) if row.uv_splits_vertices else (ImportVertexModel,)
    properties: dict[str, Any] = {}
    if row.frame_rate:
        description = f"Frames per second of the scene, {row.frame_rate} in the games; 0 leaves it as it is"
        rate: Any = IntProperty
        properties["frame_rate"] = rate(
            name="Frame Rate", description=description, default=row.frame_rate, min=0, max=240
        )
    return make_operator(row, "import", bases, properties)


def export_operator(row: Row) -> type:
    """Return the export operator of a format."""
    properties = {option.name: option_property(option) for option in row.options}
    properties["game"] = games_option(row.games)
    bases: tuple[type, ...] = (SkinOption, ExportVertexModel) if row.skins == SKIN_FILES else (ExportVertexModel,)
    bases = (LevelsOption, *bases) if row.level_files else bases
    return make_operator(row, "export", bases, properties)


def operators(row: Row) -> tuple[type, ...]:
    """Return the operators of a format, and what lets its files be dropped."""
    return import_operator(row), export_operator(row), file_handler(row)
