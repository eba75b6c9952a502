"""Import and export operators of models that skeletons move. Options are declared here.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from .. import formats
from ..blender.compat import Context
from ..formats import SKIN_FILES, Row
from . import motion_operators
from .bases import (
    CANCELLED,
    FINISHED,
    DressOptions,
    ExportModel,
    SkinOption,
    draw_group,
    file_handler,
    file_of,
    games_option,
    make_operator,
    motion_handler,
    option_property,
    settings_from,
)
from .imports.placing import open_collection, select
from .motion_operators import WEIGHT_NAMES, ImportPosed, JointOptions, WeightOptions

if TYPE_CHECKING:
    from ..game.store import GameFile
    from ..tasks.vertex import Summary


class CompanionOption:
    """The option of models whose bones lie in another file."""

    animation: StringProperty(
        name="Bones From",
        description="The file that has the bones; empty: the one beside the model, else the one of the game",
        subtype="FILE_PATH",
    )


def bind_option(row: Row) -> Any:
    """Return the property that says in which pose the meshes of a format are bound."""
    declare: Any = EnumProperty  # the stubs say that it returns nothing
    fit = ("FIT", "Best Fit", "The pose in which the weights of all vertices agree best: they move most as in the game")
    frame = ("FRAME", "Frame", "A frame of the animation")
    own = () if row.bind_pose_missing else (("FILE", "File", "The pose in the file"),)
    description = "The pose in which the meshes are bound to the bones; it shows in edit mode"
    items = (*own, fit, frame)
    return declare(name="Bind Pose", description=description, items=items, default=items[0][0])


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
        from ..blender.skeletal.build import SkeletalSettings
        from ..tasks.dressing import Dressing
        from ..tasks.games import user_disk
        from ..tasks.skeletal_imports import ImportSettings, import_skeletal

        settings, disk = settings_from(self, SkeletalSettings), user_disk()
        paths, motions = self.sorted_paths()
        if motions and not paths:  # dropped without a model
            return self.import_animations(context, motions)
        bones = map(disk.file, motions if self.row.companions else ())
        own = file_of(disk, getattr(self, "animation", "")) or next(bones, None)
        wanted = settings_from(self, ImportSettings, animation=own, dressing=settings_from(self, Dressing))
        if not self.row.companions:
            wanted = replace(wanted, chosen=tuple(map(disk.file, motions)))

        def bring_one(file: "GameFile") -> "tuple[list[Any], Summary]":
            posed, summary = import_skeletal(file, settings, wanted, context, open_collection(context))
            return [posed.armature, *posed.meshes, *posed.tags], summary

        made = self.bring(map(disk.file, paths), bring_one)
        select(context, [block for blocks in made for block in blocks])
        return FINISHED if made else CANCELLED

    def one_by_one(self, paths: list[Path]) -> bool:
        """Tell whether so many were chosen that they come one by one; motions come with their model."""
        return not self.sorted_paths()[1] and super().one_by_one(paths)

    def sorted_paths(self) -> tuple[list[Path], list[Path]]:
        """Return the models to read, and the motions: dropped or chosen together with them."""
        suffixes = [suffix for other in self.row.dropped_with for suffix in formats.by_name(other).suffixes]
        paths = self.paths()
        bones = [path for path in paths if path.suffix.lower() in suffixes]
        return [path for path in paths if path not in bones], bones

    def import_animations(self, context: Context, paths: list[Path]) -> Any:
        """Hand files that hold no model to the operator for animations."""
        operator = getattr(bpy.ops.import_anim, f"idtech_{self.row.animation}")
        files = [{"name": path.name} for path in paths]
        return operator(directory=str(paths[0].parent), files=files, scale=self.scale)


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


class ExportSkeletalModel(JointOptions, WeightOptions, ExportModel):
    """Options and work of an export operator of skeletal models."""

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        self.draw_objects()
        draw_group(self.layout, self, "idtech_bones", "Joints", ("deform_only", "add_origin", "keep_suffixes"))
        own = [option.name for option in self.row.options]
        draw_group(
            self.layout,
            self,
            "idtech_mesh",
            "Mesh",
            ("scale", *WEIGHT_NAMES, "normals", *own, "write_animation", "motions", "skin"),
        )

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is reported, and the file is as it was."""
        from ..blender.skeletal.rig_scene import SkeletalGatherSettings
        from ..tasks.selection import choose
        from ..tasks.skeletal_exports import ModelExport, export_skeletal

        settings, more = settings_from(self, SkeletalGatherSettings), settings_from(self, ModelExport)
        asked = self.asked()

        def write() -> "list[tuple[Path, Summary]]":
            chosen = choose(context, self.what, self.collection)
            summary = export_skeletal(asked, self.row, chosen, context, settings, more)
            self.remember(chosen)
            return [(asked.target, summary)]

        return self.deliver(write)


class MotionsOption:
    """The option of models whose files hold motions, too."""

    motions: EnumProperty(
        name="Animations",
        description="Which animations to write into the file; an armature without any is written as it rests",
        items=(
            ("ALL", "All Actions", "Every action that the armature plays or keeps, or that fits it and is no other's"),
            ("AUTO", "Automatic", "The action that plays, or the scene's range where more than that moves the bones"),
            ("ACTIVE", "Active Action", "The action that the armature plays"),
            ("NLA", "NLA Strips", "Every strip that is not muted, as it plays alone"),
            ("SCENE", "Scene Range", "What the scene shows: constraints, drivers and parents count"),
            ("REST", "Rest", "One frame, the rest pose"),
        ),
        default="ALL",
    )


def operators(row: Row) -> tuple[type, ...]:
    """Return the operators of a format, and what lets its files be dropped."""
    bases = (CompanionOption, ImportSkeletalModel) if row.companions else (ImportSkeletalModel,)
    importer = make_operator(row, "import", bases, {"bind": bind_option(row)})
    skins = row.skins == SKIN_FILES
    options: list[tuple[type, Any]] = [(NormalsOption, row.normals), (FramesOption, row.companions)]
    options += [(SkinOption, skins), (MotionsOption, row.has_motions)]
    own = {option.name: option_property(option) for option in row.options} | {"game": games_option(row.games)}
    exporter = make_operator(row, "export", (*(o for o, wanted in options if wanted), ExportSkeletalModel), own)
    motions = [motion_operators.import_operator(row)] if row.has_motions else []
    motions += [motion_operators.export_operator(row), motion_handler(row)] if row.apart else []
    return importer, exporter, file_handler(row), *motions
