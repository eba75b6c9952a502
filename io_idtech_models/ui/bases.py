"""What import and export operators of all formats share: options, the choice of files and objects, how they are made.

What does the work is imported when it is first needed: everyone who starts Blender waits for these modules.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, poll_file_object_drop

from .. import formats
from ..blender.compat import RELATIVE_PATHS, Context
from ..blender.scene import room_for_others
from ..formats import Option, Row
from ..game.store import ARCHIVES
from ..model.limits.folders import UNKNOWN
from ..model.limits.games import GAMES
from ..model.wording import joined
from ..reporting import ModelError
from .exports.given import given_options
from .exports.overwriting import asks_first, targets_of
from .exports.proposals import carrier_of, file_of_choice, proposed_game, proposed_stem, remember_game
from .imports import batch
from .imports.showing import arrive
from .reports import report_done, showing_progress
from .translations.window import CONTEXT

if TYPE_CHECKING:
    from ..game.folders import Disk
    from ..game.store import GameFile
    from ..tasks.vertex import Summary

Settings = TypeVar("Settings")
Made = TypeVar("Made")
FINISHED, CANCELLED = {"FINISHED"}, {"CANCELLED"}
# The stubs say that the helpers' `invoke` returns nothing. As Any they also stand for the operator that the classes
# below become part of.
Importing: Any = ImportHelper
Exporting: Any = ExportHelper


class SharedOptions:
    """What every import asks."""

    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0
    )
    fit_range: BoolProperty(
        name="Fit Frame Range",
        description="Let the scene play from the first frame to the last; what is animated already keeps its frames",
        default=True,
    )
    side_by_side: BoolProperty(
        name="Side by Side",
        description="Let several models stand beside one another, each on a root of its own; files do not change by it",
        default=False,
    )
    replace_range: BoolProperty(
        name="Replace Range",
        description="Let the scene play what is imported alone, not what is animated already",
        default=False,
    )


class ImportFiles(SharedOptions, Importing):  # type: ignore[misc]
    """Options of every import, and which files it reads."""

    row: Row
    bl_options: Any = {"REGISTER", "UNDO", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to read", maxlen=1024, subtype="FILE_PATH", options=RELATIVE_PATHS
    )
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | RELATIVE_PATHS)
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})

    interactive: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # someone is there to be asked

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, or for dropped files the options alone."""
        self.interactive = True
        return self.invoke_popup(context)

    def execute(self, context: Context) -> Any:
        """Import the files; of archives ask which of their models."""
        from . import archives  # which needs this module

        packs = [path for path in self.paths() if archives.is_archive(path)]
        if packs:
            return archives.hand_over(self, packs)
        if self.one_by_one(self.paths()):
            return self.in_batch()
        with room_for_others(context.scene, self.replace_range):
            return arrive(context, self.side_by_side, lambda: self.import_files(context))

    def one_by_one(self, paths: list[Path]) -> bool:
        """Tell whether so many models were chosen in a window that they come one by one."""
        return batch.is_worth_it(self, len(paths))

    def in_batch(self) -> set[str]:
        """Import the files one after another, with the options that were given."""
        call = getattr(bpy.ops.import_scene, f"idtech_{self.row.name}")
        options = given_options(self, {"filepath", "side_by_side"})
        return batch.start([(call, str(path), options) for path in self.paths()], self.side_by_side)

    def paths(self) -> list[Path]:
        """Return the files to read: those that were dropped or marked in the file browser, or the one that is named."""
        folder = Path(bpy.path.abspath(self.directory))
        marked = [folder / file.name for file in self.files if file.name]
        return marked or [Path(bpy.path.abspath(self.filepath))]

    def bring(self, files: "Iterable[GameFile]", bring_one: "Callable[[GameFile], tuple[Made, Summary]]") -> list[Made]:
        """Import files one by one, and report; what can't be read leaves nothing behind. Returns what was made."""
        made, summaries, failed = [], [], []
        for file in files:
            try:
                one, summary = bring_one(file)
            except ModelError as error:
                failed.append(f"{file.name}: {error}")
            else:
                made.append(one)
                summaries.append((file.name, summary))
        report_done(self, summaries, failed)
        return made


class DressOptions:
    """What imported models look like."""

    skin: StringProperty(
        name="Skin",
        description="The skin to wear (default, red, ...); empty: the usual one; none: the shaders in the model's file",
    )
    plain_materials: BoolProperty(
        name="Plain Materials",
        description="One picture for each material, without layers: what glTF, FBX and OBJ can hold",
        default=False,
    )
    moving_textures: BoolProperty(
        name="Moving Textures",
        description="Let textures move in the scene that do in the game",
        default=False,
    )

    def draw_dress(self) -> None:
        """Show the options."""
        draw_group(self.layout, self, "idtech_dress", "Materials", ("skin", "plain_materials", "moving_textures"))  # type: ignore[attr-defined]


class ExportFile(Exporting):  # type: ignore[misc]
    """Options of every export."""

    row: Row
    bl_options: Any = {"REGISTER", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to write", maxlen=1024, subtype="FILE_PATH", options=RELATIVE_PATHS
    )
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0
    )
    keep_suffixes: BoolProperty(
        name="Number Suffixes",
        description="Write names as they are, with the numbers (.001) that Blender puts behind them",
        default=False,
    )

    space: EnumProperty(
        name="Space",
        description="Whose origin and axes the file has, where the model hangs on another's tag, or on a root",
        items=(
            ("AUTO", "Automatic", "The model's own, if it was imported or has a root; else the world's"),
            ("OWN", "Model's Own", "As its root, or the tag that it hangs on, sees it: nothing that carries it counts"),
            ("WORLD", "World", "As it stands in the scene, with the motion of all that carries it"),
        ),
        default="AUTO",
    )
    carrier: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # what the model hangs on, for the dialog to show
    interactive: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # someone is there to be asked

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser."""
        self.interactive = True
        return super().invoke(context, event)

    def asked(self) -> Any:
        """Return what is to be written, with the options that are the format's own."""
        from ..assets.asked import Asked

        options = {option.name: getattr(self, option.name) for option in self.row.options}
        skin = getattr(self, "skin", "")
        return Asked(Path(bpy.path.abspath(self.filepath)), self.game, options, skin=skin)

    def deliver(self, write: "Callable[[], Iterable[tuple[Path, Summary]]]", besides: Sequence[str] = ()) -> set[str]:
        """Write files, and report; what hinders one is reported with what else there is to say, and writes none.

        Who is there is asked first, if a file is the one that the model came from.
        """
        if asks_first(self, targets_of(self)):
            return CANCELLED
        try:
            with showing_progress(bpy.context, Path(self.filepath).name):
                done = [(file.name, summary) for file, summary in write()]
        except ModelError as error:
            text = joined([str(error), *besides])
            self.report({"ERROR"}, f"{Path(bpy.path.abspath(self.filepath)).name}: {text}")
            return CANCELLED
        remember_game(self.row, self.game)
        report_done(self, done)
        return FINISHED

    def draw_space(self) -> None:
        """Show in whose space the model is written, where it hangs on something."""
        if self.carrier:
            draw_group(self.layout, self, "idtech_space", "Space", ("space",))
            row: Any = self.layout.row()
            row.label(text="Hangs on:")
            row.label(text=self.carrier, translate=False)

    def propose_game(self, file: str) -> None:
        """Choose the game that a model from a `file` is for, unless it was given."""
        if not self.properties.is_property_set("game"):
            self.game = proposed_game(self.row, file)

    def propose(self, stem: str, file: str = "") -> None:
        """Put a file's name beside the model's `file`, or else beside the .blend, into the file browser without one."""
        if not self.filepath:
            beside = Path(file) if file and Path(file).parent.is_dir() else Path(bpy.data.filepath)
            self.filepath = str(beside.parent / (stem + self.filename_ext))


class SkinOption:
    """The option of exports of models that wear skins."""

    skin: StringProperty(
        name="Write Skin",
        description="Write NAME_SKIN.skin beside the model, too: what its surfaces wear, SKIN called so; empty: none",
    )


class ExportModel(ExportFile):
    """Options of an export of a model, and which objects it means."""

    collection: StringProperty(name="Collection", options={"HIDDEN", "SKIP_SAVE"})
    what: EnumProperty(
        name="Export",
        description="Which objects to write",
        items=(
            ("AUTO", "Model", "The active object's imported model, else what is selected, and hangs on it"),
            ("COLLECTION", "Collection", "The collection of the active object's model, else the active collection"),
            ("SELECTION", "Selection", "Selected objects"),
            ("VISIBLE", "Visible", "Everything that is visible"),
            ("SCENE", "Scene", "Everything in the scene"),
        ),
        default="AUTO",
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the model's name, and the options of its last export."""
        from ..tasks.selection import choose
        from ..tasks.sidebar.last_export import begin, holder_of

        chosen = choose(context, self.what)
        begin(self, holder_of(chosen), self.row.name)
        file = file_of_choice(chosen)
        self.propose(proposed_stem(chosen), file)
        self.propose_game(file)
        self.carrier = carrier_of(chosen.whole)
        return super().invoke(context, event)

    def remember(self, chosen: Any) -> None:
        """Note on a model that was written how it was."""
        from ..tasks.sidebar.last_export import holder_of, remember, unusual

        remember(holder_of(chosen), self.row.name, unusual(self), str(Path(bpy.path.abspath(self.filepath))))

    def draw_objects(self) -> None:
        """Show whose limits to keep, and which objects to write where Blender's collection exporter has not said."""
        options = ("game",) if self.collection else ("what", "game")
        draw_group(self.layout, self, "idtech_objects", "Objects", options)
        self.draw_space()


def settings_from(operator: Any, settings: type[Settings], **others: Any) -> Settings:
    """Return settings, a dataclass, as an operator's options of the same names say; what it lacks keeps its default."""
    declared = (field.name for field in fields(cast(Any, settings)) if field.name not in others)
    return settings(**{name: getattr(operator, name) for name in declared if hasattr(operator, name)}, **others)


def draw_group(layout: bpy.types.UILayout, data: Any, name: str, label: str, options: Iterable[str]) -> Any:
    """Draw those of some options that the operator has, under a heading that folds; returns the place for more."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    header, body = layout.panel(name)
    header.label(text=label, text_ctxt=CONTEXT)
    if body is not None:
        for option in options:
            if hasattr(data, option):
                body.prop(data, option)
    return body


def games_option(games: tuple[str, ...], usual: str = UNKNOWN) -> Any:
    """Return the property that says whose limits to keep: of `games`, keys of `limits.games.GAMES`."""
    declare: Any = EnumProperty  # the stubs say that it returns nothing
    return declare(
        name="Game",
        description="Whose limits to keep: what the game would refuse is not written",
        items=tuple((key, GAMES[key].choice or GAMES[key].label, f"Limits of {GAMES[key].label}") for key in games),
        default=usual,
        options={"SKIP_SAVE"},  # the next model may be another game's
    )


def option_property(option: Option) -> Any:
    """Return the property of a format's own option."""
    if isinstance(option.default, bool):
        return BoolProperty(name=option.label, description=option.description, default=option.default)
    return IntProperty(
        name=option.label, description=option.description, default=option.default, min=0, max=option.most
    )


def suffixes_of(row: Row) -> list[str]:
    """Return how the files end that an import takes: those of a format, and of what lies with its models."""
    others = [formats.by_name(name) for name in row.dropped_with]
    return [suffix for each in (row, *others) for suffix in each.suffixes]


def file_of(disk: "Disk", given: str) -> "GameFile | None":
    """Return the file that an option names, or None."""
    return disk.file(Path(bpy.path.abspath(given))) if given else None


def file_filter(suffixes: Iterable[str]) -> Any:
    """Return the property that tells the file browser which files to show."""
    declare: Any = StringProperty  # the stubs say that it returns nothing
    return declare(default=";".join(f"*{suffix}" for suffix in suffixes), options={"HIDDEN"})


def space_of(row: Row) -> str:
    """Return where a format's operators live: `import_scene` and its like, `import_anim` for animations."""
    return "scene" if row.has_model else "anim"


def make_operator(row: Row, way: str, bases: tuple[type, ...], properties: dict[str, Any], space: str = "") -> type:
    """Return a format's operator for a `way`, import or export, of base classes and further properties."""
    label = f"{way.capitalize()} {row.label}"
    shown = (*suffixes_of(row), *ARCHIVES) if way == "import" else row.suffixes
    members = {
        "__doc__": label,
        "__annotations__": {"filter_glob": file_filter(shown)} | properties,
        "bl_idname": f"{way}_{space or space_of(row)}.idtech_{row.name}",
        "bl_label": label,
        "row": row,
        "filename_ext": row.suffixes[0],
    }
    return type("Operator", (*bases, bpy.types.Operator), members)


def takes_drops(context: Context) -> bool:
    """Tell whether files may be dropped here: where objects show, and where there is no area to ask."""
    poll: Any = poll_file_object_drop  # the stubs say that it returns nothing
    return context.area is None or bool(poll(context))


def motion_handler(row: Row) -> type:
    """Return what lets the animations of a collection's armature be exported to a format; no file is dropped on it."""

    class Handler(bpy.types.FileHandler):
        bl_idname = f"IO_FH_idtech_{row.name}_animations"
        bl_label = row.label if not row.has_model else f"{row.label} Animations"
        bl_export_operator = f"export_anim.idtech_{row.name}"
        bl_file_extensions = ";".join(row.suffixes)

    return Handler


def file_handler(row: Row) -> type:
    """Return what lets files of a format be dropped on a window, and collections be exported to it."""
    space = space_of(row)

    class Handler(bpy.types.FileHandler):
        bl_idname = f"IO_FH_idtech_{row.name}"
        bl_label = row.label
        bl_import_operator = f"import_{space}.idtech_{row.name}"
        bl_export_operator = f"export_{space}.idtech_{row.name}" if space == "scene" else ""  # see `motion_handler`
        bl_file_extensions = ";".join(suffixes_of(row))

        @classmethod
        def poll_drop(cls, context: Context) -> bool:
            return takes_drops(context)

    return Handler
