"""Imports of vertex-animated models. Options are declared here.

`BuildSettings` has the same names and defaults; a test keeps them in step. What does the work is imported when it is
first needed: everyone who starts Blender waits for this module.
"""

from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, IntProperty

from ...blender.compat import Context
from ...formats import SKIN_FILES
from ..bases import CANCELLED, FINISHED, draw_group, settings_from
from .operators import DressOptions, ImportFiles
from .showing import open_collection, select, show_empty

if TYPE_CHECKING:
    from pathlib import Path

    from ...blender.vertex.build import Built
    from ...game.store import GameFile
    from ...reporting import Summary


class ImportVertexModel(DressOptions, ImportFiles):
    """Options and work of an import operator of the vertex family."""

    relative_keys: BoolProperty(
        name="Relative Keys",
        description="One curve per frame instead of one for all: slower, but keys can be mixed",
        default=False,
    )
    frame_rate: IntProperty(
        name="FPS (0: Keep)",
        description="Frames per second of the scene; 0 leaves it as it is",
        default=0,
        min=0,
        max=240,
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
        from ..player.transfer import are_parts

        self.of_player = bool(self.directory) and self.row.skins == SKIN_FILES and are_parts(self.paths())
        self.whole_player = self.of_player
        return super().invoke(context, event)

    def one_by_one(self, paths: "list[Path]") -> bool:
        """Tell whether so many were chosen that they come one by one; parts of players come together."""
        return not self.whole_player and super().one_by_one(paths)

    def draw(self, context: Context) -> None:
        """Show in groups the options that do something to models of the format."""
        kind = self.row.vertex
        if self.of_player:
            self.layout.prop(self, "whole_player")
        welded, keyed = (("weld",), ("relative_keys",)) if kind.meshes else ((), ())
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", *welded, "side_by_side"))
        if kind.several_frames:
            timing = (*keyed, "fit_range", "replace_range", "frame_rate")
            draw_group(self.layout, self, "idtech_time", "Animation", timing)
        if kind.meshes:
            self.draw_dress()

    def import_files(self, context: Context) -> Any:
        """Import the files; what can't be read is reported, and leaves nothing behind."""
        from ...blender.vertex.build import BuildSettings
        from ...tasks.import_.dressing import Dressing
        from ...tasks.import_.games import user_disk
        from ...tasks.import_.vertex import import_file

        if self.whole_player:
            from ..player.transfer import import_players

            return import_players(self, context)
        settings, dressing = settings_from(self, BuildSettings), settings_from(self, Dressing)

        def import_one(file: "GameFile") -> "tuple[Built, Summary]":
            return import_file(file, settings, context.scene, open_collection(context), dressing)

        done = self.import_each(map(user_disk().file, self.paths()), import_one)
        longest = max((built.num_frames for built in done), default=1)
        if settings.fit_range and longest > 1:
            context.scene.frame_end = longest - 1
        blocks = [block for built in done for block in (*built.surfaces, *built.tags)]
        select(context, blocks)
        if done and not blocks:
            show_empty(context, done[-1].collection)
        return FINISHED if done else CANCELLED


class WeldOption:
    """The option of formats that split a vertex where its texture coordinate or normal jumps."""

    weld: BoolProperty(
        name="Weld Seams",
        description="Make one vertex of those that lie together in every frame; export splits them again",
        default=True,
    )
