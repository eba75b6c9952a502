"""Imports of models that skeletons move. Options are declared here.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...blender.compat import Context
from ..bases import CANCELLED, FINISHED, draw_group, settings_from
from ..reports import listening, report_done
from .motion import ImportPosed
from .operators import DressOptions, file_of
from .showing import open_collection, select

if TYPE_CHECKING:
    from ...game.store import GameFile
    from ...reporting import Summary


class CompanionOption:
    """The option of models whose bones lie in another file."""

    animation: StringProperty(
        name="Bones From",
        description="The file that has the bones; empty: the one beside the model, else the one of the game",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"},
    )


class ImportSkeletalModel(DressOptions, ImportPosed):
    """Options and work of an import operator of skeletal models."""

    weld: BoolProperty(
        name="Weld Seams",
        description="Make one vertex of those that have the same weights; export splits them again",
        default=True,
    )
    animations: BoolProperty(
        name="Animations", description="Load the animations in the same folder whose joints match", default=True
    )
    bind_frame: IntProperty(name="Frame", description="The frame of the bind pose", default=0, min=0)

    def draw(self, context: Context) -> None:
        """Show the options in two groups."""
        pose = ("bind", "bind_frame") if self.bind == "FRAME" else ("bind",)
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld", "side_by_side", "animation", *pose))
        draw_group(
            self.layout, self, "idtech_time", "Animation", ("animations", "fit_range", "replace_range", "frame_rate")
        )
        self.draw_dress()

    def import_files(self, context: Context) -> Any:
        """Import the files; what can't be read is reported, and leaves nothing behind."""
        from ...blender.skeletal.build import SkeletalSettings
        from ...tasks.import_.dressing import Dressing
        from ...tasks.import_.games import user_disk
        from ...tasks.import_.skeletal import ImportSettings, import_skeletal

        settings, disk = settings_from(self, SkeletalSettings), user_disk()
        paths, motions = self.sorted_paths()
        if motions and not paths:  # dropped without a model
            return self.import_animations(context, motions)
        bones = map(disk.file, motions if self.row.skeletal.companions else ())
        own = file_of(disk, getattr(self, "animation", "")) or next(bones, None)
        wanted = settings_from(self, ImportSettings, animation=own, dressing=settings_from(self, Dressing))
        if not self.row.skeletal.companions:
            wanted = replace(wanted, chosen=tuple(map(disk.file, motions)))

        def import_one(file: "GameFile") -> "tuple[list[Any], Summary]":
            posed, summary = import_skeletal(file, settings, wanted, context, open_collection(context))
            return [posed.armature, *posed.meshes, *posed.tags], summary

        made = self.import_each(map(disk.file, paths), import_one)
        select(context, [block for blocks in made for block in blocks])
        return FINISHED if made else CANCELLED

    def one_by_one(self, paths: list[Path]) -> bool:
        """Tell whether so many were chosen that they come one by one; motions come with their model."""
        return not self.sorted_paths()[1] and super().one_by_one(paths)

    def sorted_paths(self) -> tuple[list[Path], list[Path]]:
        """Return the models to read, and the motions: dropped or chosen together with them."""
        suffixes = [suffix for other in self.row.skeletal.dropped_with for suffix in other.suffixes]
        paths = self.paths()
        bones = [path for path in paths if path.suffix.lower() in suffixes]
        return [path for path in paths if path not in bones], bones

    def import_animations(self, context: Context, paths: list[Path]) -> Any:
        """Hand files that hold no model to the operator for animations."""
        motion = self.row.skeletal.animation or self.row
        operator = getattr(bpy.ops.import_anim, f"idtech_{motion.name}")
        files = [{"name": path.name} for path in paths]
        with listening() as (done, failed):
            result = operator(directory=str(paths[0].parent), files=files, scale=self.scale)
        report_done(self, done, failed)
        return result
