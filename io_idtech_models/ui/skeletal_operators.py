"""Import and export operators of skeletal models and their animations; see `operators`. Options are declared here."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .. import formats
from ..blender.compat import Context
from ..blender.window import selected
from ..formats import AnimationFormat, SkeletalFormat
from ..reporting import ModelError
from .bases import (
    CANCELLED,
    FINISHED,
    ExportFile,
    ExportModel,
    ImportFiles,
    draw_group,
    file_handler,
    file_of,
    games_option,
    make_operator,
    open_collection,
    option_property,
    say_done,
    select,
    settings_from,
)

WEIGHT_NAMES = ("most_weights", "least_weight", "orphan_bone")


class _Import(ImportFiles):
    """What both kinds of import share."""

    frame_rate: BoolProperty(
        name="Frame Rate", description="Let the scene play at the animation's frames per second", default=True
    )


class CompanionOption:
    """The option of models whose bones lie in another file."""

    animation: StringProperty(
        name="Bones From",
        description="The file that has the bones; empty: the one beside the model, else the one of the game",
        subtype="FILE_PATH",
    )


class TableOption:
    """The option of animations that a table takes apart."""

    table: StringProperty(
        name="Table", description="The .aninc that says which frames are which animation; empty: the one beside",
        subtype="FILE_PATH",
    )  # fmt: skip


def bind_option(row: SkeletalFormat) -> Any:
    """Return the property that says in which pose the meshes of a format are bound."""
    declare: Any = EnumProperty  # the stubs say that it returns nothing
    fit = ("FIT", "Best Fit", "The pose in which the weights of all vertices agree best: they move most as in the game")
    frame = ("FRAME", "Frame", "A frame of the animation")
    own = () if row.bind_pose_missing else (("FILE", "File", "The pose in the file"),)
    description = "The pose in which the meshes are bound to the bones; it shows in edit mode"
    items = (*own, fit, frame)
    return declare(name="Bind Pose", description=description, items=items, default=items[0][0])


class ImportSkeletalModel(_Import):
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
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld", "animation", *pose))
        draw_group(self.layout, self, "idtech_time", "Animation", ("animations", "fit_range", "frame_rate"))

    def execute(self, context: Context) -> Any:
        """Import the files; what can't be read is said, and leaves nothing behind."""
        from ..blender.skeletal.build import SkeletalSettings
        from ..game.store import Disk
        from ..tasks.skeletal_imports import ImportSettings, import_skeletal

        settings, disk = settings_from(self, SkeletalSettings), Disk()
        summaries: list[tuple[str, Any]] = []
        failed: list[str] = []
        made: list[Any] = []
        paths, bones = self.sorted_paths()
        if bones and not paths:  # dropped without a model
            return self.import_animations(context, bones)
        own = file_of(disk, getattr(self, "animation", "")) or next(map(disk.file, bones), None)
        wanted = settings_from(self, ImportSettings, animation=own)
        for file in map(disk.file, paths):
            try:
                posed, summary = import_skeletal(file, settings, wanted, context, open_collection(context))
            except ModelError as error:
                failed.append(f"{file.name}: {error}")
                continue
            made += [posed.armature, *posed.meshes, *posed.tags]
            summaries.append((file.name, summary))
        select(context, made)
        say_done(self, summaries, failed)
        return FINISHED if made else CANCELLED

    def sorted_paths(self) -> tuple[list[Path], list[Path]]:
        """Return the files to read, and those among them that are companions: dropped together with a model."""
        row = formats.by_name(self.format_name)
        suffixes = [suffix for other in row.companions for suffix in formats.by_name(other).suffixes]
        paths = self.paths()
        bones = [path for path in paths if path.suffix.lower() in suffixes]
        return [path for path in paths if path not in bones], bones

    def import_animations(self, context: Context, paths: list[Path]) -> Any:
        """Hand files that hold no model to the operator for animations."""
        row = formats.by_name(self.format_name)
        operator = getattr(bpy.ops.import_anim, f"idtech_{row.animation}")
        files = [{"name": path.name} for path in paths]
        return operator(directory=str(paths[0].parent), files=files, scale=self.scale)


class ImportSkeletalAnimation(_Import):
    """Options and work of an import operator of animations."""

    def draw(self, context: Context) -> None:
        """Show the options."""
        draw_group(self.layout, self, "idtech_time", "Animation", ("scale", "table", "fit_range", "frame_rate"))

    def execute(self, context: Context) -> Any:
        """Bring the files onto the active armature, or onto one that is made of the first."""
        from ..blender.skeletal.build import SkeletalSettings
        from ..game.store import Disk
        from ..tasks.skeletal_imports import import_animation

        settings, disk = settings_from(self, SkeletalSettings), Disk()
        rig = active_rig(context)
        files, into = [disk.file(path) for path in self.paths()], open_collection(context)
        table = file_of(disk, getattr(self, "table", ""))
        rig, made, summary, failed = import_animation(files, rig, settings, context, into, table)
        if made:
            select(context, [rig])
        say_done(self, [("", summary)], failed)
        return FINISHED if made else CANCELLED


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
        name="Bone for Unweighted", description="What vertices without weights are bound to; empty: they are an error"
    )


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
        own = [option.name for option in formats.by_name(self.format_name).options]
        draw_group(
            self.layout, self, "idtech_mesh", "Mesh", ("scale", *WEIGHT_NAMES, "normals", *own, "write_animation")
        )

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is said, and the file is as it was."""
        from ..blender.skeletal.rig_scene import SkeletalGatherSettings
        from ..tasks.selection import choose
        from ..tasks.skeletal_exports import ModelExport, export_skeletal

        settings, more = settings_from(self, SkeletalGatherSettings), settings_from(self, ModelExport)
        asked, row = self.asked(), formats.by_name(self.format_name)
        try:
            chosen = choose(context, self.what, self.collection)
            summary = export_skeletal(asked, row, chosen, context, settings, more)
        except ModelError as error:
            self.report({"ERROR"}, f"{asked.target.name}: {error}")
            return CANCELLED
        say_done(self, [(asked.target.name, summary)])
        return FINISHED


class ExportSkeletalAnimation(JointOptions, WeightOptions, ExportFile):
    """Options and work of an export operator of animations.

    Weights count for bounds alone: where nothing is said they are those with which the model was exported last.
    """

    what: EnumProperty(
        name="Export",
        description="Which animations to write; several go into the folder, each under its name",
        items=(
            ("ACTIVE", "Active Action", "The action that the armature plays"),
            ("CHOSEN", "Chosen Actions", "Actions that are named"),
            ("ALL", "All Actions", "Every action that the armature plays or keeps, or that fits it and is no other's"),
            ("NLA", "NLA Strips", "Every strip that is not muted, as it plays alone"),
            ("SCENE", "Scene Range", "What the scene shows: constraints, drivers and parents count"),
        ),
        default="ACTIVE",
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
        name="Frame Rate",
        description="Frames per second; 0: the action's, else the scene's",
        default=0.0,
        min=0.0,
        max=240.0,
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the action's name."""
        rig = active_rig(context)
        if rig is not None:
            action = None if rig.animation_data is None else rig.animation_data.action
            self.propose(rig.name if action is None else action.name)
            for name, value in self.weights(rig, {}).items():
                setattr(self, name, value)
        return super().invoke(context, event)

    def weights(self, rig: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Return the limits of weights: those `given`, else those that the armature remembers, else the usual ones."""
        from ..blender.skeletal.torso import remembered_weights

        return vars(remembered_weights(rig)) | given

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        which = ("what", "actions") if self.what == "CHOSEN" else ("what",)
        draw_group(self.layout, self, "idtech_objects", "Animations", (*which, "game"))
        draw_group(self.layout, self, "idtech_bones", "Joints", ("scale", "deform_only", "add_origin", "keep_suffixes"))
        bounds = ("recompute_bounds", *WEIGHT_NAMES)
        draw_group(self.layout, self, "idtech_time", "Frames", ("frame_rate", "loop", *bounds))

    def execute(self, context: Context) -> Any:
        """Write the files; what hinders one is said, and all files are as they were."""
        from ..blender.skeletal.rig_scene import SkeletalGatherSettings
        from ..tasks.selection import Choice
        from ..tasks.skeletal_exports import AnimationExport, export_animations

        wanted = settings_from(self, AnimationExport)
        asked, row = self.asked(), formats.by_name(self.format_name)
        rig = active_rig(context)
        if rig is None:
            self.report({"ERROR"}, f"{asked.target.name}: no armature is active")
            return CANCELLED
        given = {name: getattr(self, name) for name in WEIGHT_NAMES if self.properties.is_property_set(name)}
        settings = settings_from(self, SkeletalGatherSettings, **self.weights(rig, given))
        try:
            done = export_animations(asked, row, Choice([rig]), context, settings, wanted)
        except ModelError as error:
            self.report({"ERROR"}, f"{asked.target.name}: {error}")
            return CANCELLED
        say_done(self, [(file.name, summary) for file, summary in done])
        return FINISHED


def active_rig(context: Context) -> Any:
    """Return the armature that is active, or that deforms the active mesh; else the only one that is selected."""
    active = context.view_layer.objects.active
    if active is not None and active.type == "ARMATURE":
        return active
    if active is not None:
        rigs = [m.object for m in active.modifiers if m.type == "ARMATURE" and m.object is not None]
        if rigs:
            return rigs[0]
    rigs = [block for block in selected(context) if block.type == "ARMATURE"]
    return rigs[0] if len(rigs) == 1 else None


def skeletal_operators(row: SkeletalFormat | AnimationFormat) -> tuple[type, ...]:
    """Return the import operator, the export operator, and the drop handler of a format.

    Files that lie with models are dropped with them: one handler takes both.
    """
    game = {"game": games_option(row.games)}
    if isinstance(row, AnimationFormat):
        bases: tuple[type, ...] = (
            (TableOption, ImportSkeletalAnimation) if row.joins_clips else (ImportSkeletalAnimation,)
        )
        operators = (
            make_operator(row, "import", bases, {}), make_operator(row, "export", (ExportSkeletalAnimation,), game),
        )  # fmt: skip
        with_model = any(row.name in model.companions for model in formats.SKELETAL)
        return operators if with_model else (*operators, file_handler(row))
    bases = (CompanionOption, ImportSkeletalModel) if row.companions else (ImportSkeletalModel,)
    importer = make_operator(row, "import", bases, {"bind": bind_option(row)})
    more = [base for base, wanted in ((NormalsOption, row.normals), (FramesOption, row.companions)) if wanted]
    own = {option.name: option_property(option) for option in row.options}
    exporter = make_operator(row, "export", (*more, ExportSkeletalModel), game | own)
    return importer, exporter, file_handler(row)
