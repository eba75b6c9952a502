"""Import and export operators: one pair per row of FORMATS, made from one base per family. Options are declared here.

`BuildSettings` and `GatherSettings` have the same names and defaults; a test keeps them in step. What does the work is
imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from .. import formats
from ..blender.compat import RELATIVE_PATHS, Context
from ..errors import ModelError
from ..formats import Format
from ..model.limits import GAMES
from ..model.words import joined

if TYPE_CHECKING:
    from ..blender.vertex import Built
    from .tasks import Summary

FINISHED, CANCELLED = {"FINISHED"}, {"CANCELLED"}
SETTING_NAMES = {
    "import": ("scale", "weld", "relative_keys", "fit_range", "frame_rate"),
    "export": ("frames", "frame_start", "frame_end", "frame_step", "scale", "normals", "keep_suffixes"),
}


# The stubs say that the helpers' `invoke` returns nothing. As Any they also stand for the operator that the classes
# below become part of.
Importing: Any = ImportHelper
Exporting: Any = ExportHelper


class ImportVertexModel(Importing):  # type: ignore[misc]
    """Options and work of an import operator of the vertex family."""

    format_name = ""
    bl_options: Any = {"REGISTER", "UNDO", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to read", maxlen=1024, subtype="FILE_PATH", options=RELATIVE_PATHS
    )
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | RELATIVE_PATHS)
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0
    )
    weld: BoolProperty(
        name="Weld Seams",
        description="Make one vertex of those that lie together in every frame; export splits them again",
        default=True,
    )
    relative_keys: BoolProperty(
        name="Relative Keys",
        description="One curve per frame instead of one for all: slower, but keys can be mixed",
        default=False,
    )
    fit_range: BoolProperty(
        name="Fit Frame Range", description="Let the scene play from the model's first frame to its last", default=True
    )
    frame_rate: IntProperty(
        name="Frame Rate", description="Frames per second of the scene; 0 leaves it as it is", default=0, min=0, max=240
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, or for dropped files the options alone."""
        return self.invoke_popup(context)

    def draw(self, context: Context) -> None:
        """Show the options in two groups."""
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld"))
        draw_group(self.layout, self, "idtech_time", "Animation", ("relative_keys", "fit_range", "frame_rate"))

    def execute(self, context: Context) -> Any:
        """Import the files; what can't be read is said, and leaves nothing behind."""
        from ..blender.vertex import BuildSettings
        from .tasks import import_file

        settings = BuildSettings(**{name: getattr(self, name) for name in SETTING_NAMES["import"]})
        done: list[Built] = []
        summaries: list[tuple[str, Summary]] = []
        failed: list[str] = []
        for path in self.paths():
            try:
                built, summary = import_file(path, settings, context.scene, open_collection(context))
            except ModelError as error:
                failed.append(f"{path.name}: {error}")
            else:
                done.append(built)
                summaries.append((path.name, summary))
        if settings.fit_range and done:
            context.scene.frame_end = max(built.num_frames for built in done) - 1
        select(context, [block for built in done for block in (*built.surfaces, *built.tags)])
        self.say(summaries, failed)
        return FINISHED if done else CANCELLED

    def paths(self) -> list[Path]:
        """Return the files to read: those that were dropped or marked in the file browser, or the one that is named."""
        folder = Path(bpy.path.abspath(self.directory))
        marked = [folder / file.name for file in self.files if file.name]
        return marked or [Path(bpy.path.abspath(self.filepath))]

    def say(self, summaries: "list[tuple[str, Summary]]", failed: list[str]) -> None:
        """Report one summary of all files: as an error if one failed, as a warning if something was odd."""
        texts = [f"{name}: {summary}" for name, summary in summaries]
        if failed:
            self.report({"ERROR"}, "\n".join([*failed, *texts]))
        elif texts:
            kind = "WARNING" if any(summary.warnings for _, summary in summaries) else "INFO"
            self.report({kind}, "\n".join(texts))


class ExportVertexModel(Exporting):  # type: ignore[misc]
    """Options and work of an export operator of the vertex family."""

    format_name = ""
    bl_options: Any = {"REGISTER", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to write", maxlen=1024, subtype="FILE_PATH", options=RELATIVE_PATHS
    )
    collection: StringProperty(name="Collection", options={"HIDDEN", "SKIP_SAVE"})
    what: EnumProperty(
        name="Export",
        description="Which objects to write",
        items=(
            ("AUTO", "Model", "The imported model that the active object belongs to, else the selection"),
            ("COLLECTION", "Collection", "The collection of the active object's model, else the active collection"),
            ("SELECTION", "Selection", "Selected objects"),
            ("VISIBLE", "Visible", "Everything that is visible"),
            ("SCENE", "Scene", "Everything in the scene"),
        ),
        default="AUTO",
    )
    frames: EnumProperty(
        name="Frames",
        description="Which frames to write",
        items=(
            ("AUTO", "Automatic", "The keys of a model that has them, the scene's range if something moves, else one"),
            ("KEYS", "Model's Keys", "One frame per shape key, in their order"),
            ("SCENE", "Scene Range", "Every frame of the scene's range, as the timeline shows it"),
            ("RANGE", "Range", "The frames from start to end"),
            ("CURRENT", "Current Frame", "One frame: what the scene shows now"),
        ),
        default="AUTO",
    )
    frame_start: IntProperty(name="Start", description="First frame of the range", default=0)
    frame_end: IntProperty(name="End", description="Last frame of the range", default=0)
    frame_step: IntProperty(name="Step", description="Write every n-th frame", default=1, min=1)
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0
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
    keep_suffixes: BoolProperty(
        name="Keep Number Suffixes",
        description="Write names as they are, with the numbers (.001) that Blender puts behind them",
        default=False,
    )
    game: EnumProperty(
        name="Game",
        description="Whose limits to keep: what the game would refuse is not written",
        items=tuple((key, game.label, f"Limits of {game.label}") for key, game in GAMES.items()),
        default="format",
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the model's name."""
        from .choice import choose

        if not self.filepath:
            chosen = choose(context, self.what).collection
            stem = chosen.name if chosen is not None else Path(bpy.data.filepath).stem or "untitled"
            self.filepath = str(Path(bpy.data.filepath).parent / (stem + self.filename_ext))
        return super().invoke(context, event)

    def draw(self, context: Context) -> None:
        """Show the options in groups; which objects only where Blender's collection exporter has not said."""
        if not self.collection:
            draw_group(self.layout, self, "idtech_objects", "Objects", ("what", "game"))
        else:
            draw_group(self.layout, self, "idtech_objects", "Objects", ("game",))
        ranged = ("frame_start", "frame_end", "frame_step") if self.frames == "RANGE" else ()
        draw_group(self.layout, self, "idtech_frames", "Animation", ("frames", *ranged))
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "normals", "keep_suffixes"))

    def execute(self, context: Context) -> Any:
        """Write the file; what hinders it is said, and the file is as it was."""
        from ..blender.plan import GatherSettings
        from .choice import choose
        from .tasks import export_file, left_out

        settings = GatherSettings(**{name: getattr(self, name) for name in SETTING_NAMES["export"]})
        path = Path(bpy.path.abspath(self.filepath))
        row = formats.by_name(self.format_name)
        hidden: list[str] = []
        try:
            chosen = choose(context, self.what, self.collection)
            hidden = left_out(chosen)
            summary = export_file(path, row, chosen, context, settings, self.game)
        except ModelError as error:
            self.report({"ERROR"}, f"{path.name}: {joined([str(error), *hidden])}")
            return CANCELLED
        self.report({"WARNING" if summary.warnings else "INFO"}, f"{path.name}: {summary}")
        return FINISHED


def open_collection(context: Context) -> bpy.types.Collection:
    """Return where imported collections go: the active collection, or the scene's if that can't be changed."""
    active: bpy.types.Collection | None = context.collection
    if active is None or active.library is not None or active.override_library is not None:
        active = context.scene.collection
    assert active is not None
    return active


def select(context: Context, blocks: list[bpy.types.Object]) -> None:
    """Select objects, and make the first active, as far as the view layer shows them."""
    context.view_layer.update()  # it has not seen what was linked just now
    present = set(context.view_layer.objects)
    shown = [block for block in blocks if block in present]
    if context.mode != "OBJECT" or not shown:
        return
    for block in context.selected_objects:
        block.select_set(False)
    for block in shown:
        block.select_set(True)
    context.view_layer.objects.active = shown[0]


def draw_group(layout: bpy.types.UILayout, data: Any, name: str, label: str, options: tuple[str, ...]) -> None:
    """Draw options under a heading that folds."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    header, body = layout.panel(name)
    header.label(text=label)
    if body is not None:
        for option in options:
            body.prop(data, option)


def _glob(row: Format) -> str:
    return ";".join(f"*{suffix}" for suffix in row.suffixes)


def import_operator(row: Format) -> type:
    """Return the import operator of a format."""

    class Operator(ImportVertexModel, bpy.types.Operator):
        __doc__ = f"Import {row.label}"
        bl_idname = f"import_scene.idtech_{row.name}"
        bl_label = f"Import {row.label}"
        format_name = row.name
        filename_ext = row.suffixes[0]
        filter_glob: StringProperty(default=_glob(row), options={"HIDDEN"})

    return Operator


def export_operator(row: Format) -> type:
    """Return the export operator of a format."""

    class Operator(ExportVertexModel, bpy.types.Operator):
        __doc__ = f"Export {row.label}"
        bl_idname = f"export_scene.idtech_{row.name}"
        bl_label = f"Export {row.label}"
        format_name = row.name
        filename_ext = row.suffixes[0]
        filter_glob: StringProperty(default=_glob(row), options={"HIDDEN"})

    return Operator


def file_handler(row: Format) -> type:
    """Return what lets files of a format be dropped on a window, and collections be exported to it."""

    class Handler(bpy.types.FileHandler):
        bl_idname = f"IO_FH_idtech_{row.name}"
        bl_label = row.label
        bl_import_operator = f"import_scene.idtech_{row.name}"
        bl_export_operator = f"export_scene.idtech_{row.name}"
        bl_file_extensions = ";".join(row.suffixes)

        @classmethod
        def poll_drop(cls, context: Context) -> bool:
            return context.area is None or context.area.type in {"VIEW_3D", "OUTLINER"}

    return Handler
