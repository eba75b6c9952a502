"""What export operators of all formats share: which objects and games they mean, how they write and report.

What does the work is imported when it is first needed: everyone who starts Blender waits for these modules.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...blender.compat import PATH_OPTIONS, Context
from ...formats import Format
from ...reporting import ModelError, joined
from ..bases import CANCELLED, FINISHED, Exporting, draw_group, keep_noted
from ..reports import report_done, showing_progress
from .overwriting import asks_first, targets_of
from .proposals import carrier_of, file_of_choice, proposed_game, proposed_stem, remember_game

if TYPE_CHECKING:
    from ...reporting import Summary


class ExportFile(Exporting):  # type: ignore[misc]
    """Options of every export."""

    row: Format
    bl_options: Any = {"REGISTER", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to write", maxlen=1024, subtype="FILE_PATH", options=PATH_OPTIONS
    )
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )
    keep_suffixes: BoolProperty(
        name="Keep .001 in Names",
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
        from ...assets.export_request import ExportRequest

        options = {option.name: getattr(self, option.name) for option in self.row.options}
        skin, materials = getattr(self, "skin", ""), getattr(self, "write_materials", False)
        file = Path(bpy.path.abspath(self.filepath))
        return ExportRequest(file, self.game, options, skin=skin, materials=materials)

    def export_files(
        self, write: "Callable[[], Iterable[tuple[Path, Summary]]]", besides: Sequence[str] = ()
    ) -> set[str]:
        """Write files, and report; what hinders one is reported with what else there is to say, and writes none.

        Who is there is asked first, if a file is the one that the model came from.
        """
        if asks_first(self, targets_of(self)):
            return CANCELLED
        try:
            with showing_progress(bpy.context, Path(self.filepath).name):
                done = list(write())
        except ModelError as error:
            text = joined([str(error), *besides])
            self.report({"ERROR"}, f"{Path(bpy.path.abspath(self.filepath)).name}: {text}")
            return CANCELLED
        remember_game(self.row, self.game)
        for file, summary in done:
            if file.suffix.lower() not in self.row.suffixes:
                known = f"{self.row.suffixes[0]}, by which games know {self.row.name.upper()}"
                summary.warnings.append(f"'{file.name}' does not end in {known}")
        keep_noted(self)
        report_done(self, [(file.name, summary) for file, summary in done])
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

    def propose(self, stem: str, file: str = "", last: str = "") -> None:
        """Put the file that was written `last`, or else a name beside the model's `file`, into the file browser.

        Or beside the .blend. Not where the call said one; what Blender offers may be of another model's export.
        """
        if self.properties.is_property_set("filepath"):
            return
        if last and Path(last).suffix.lower() in self.row.suffixes:
            self.filepath = last
            return
        beside = Path(file) if file and Path(file).parent.is_dir() else Path(bpy.data.filepath)
        self.filepath = str(beside.parent / (stem + self.filename_ext))


class SkinOption:
    """The option of exports of models that wear skins."""

    skin: StringProperty(
        name="Write Skin",
        description="Write NAME_SKIN.skin beside the model, too: what its surfaces wear, SKIN called so; empty: none",
        options={"SKIP_SAVE"},
    )


class MaterialsOption:
    """The option of exports of models whose games have texts of materials."""

    write_materials: BoolProperty(
        name="Write .mtr",
        description="Write NAME.mtr beside the model, too: materials that the game does not have, with their pictures",
        default=False,
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
        from ...tasks.export.last_export import begin, holder_of, last_target

        try:
            chosen = self.choose(context)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        holder, file = holder_of(chosen), file_of_choice(chosen)
        begin(self, holder, self.row.name)
        self.propose(proposed_stem(chosen), file, last_target(holder, there=True))
        self.propose_game(file)
        self.carrier = carrier_of(chosen.whole)
        return super().invoke(context, event)

    def choose(self, context: Context) -> Any:
        """Return the objects that are meant, a `Choice`; raises LimitError."""
        from ...tasks.export.selection import choose

        return choose(context, self.what, self.collection)

    def remember(self, chosen: Any) -> None:
        """Note on a model that was written how it was."""
        from ...tasks.export.last_export import holder_of, remember, unusual

        remember(holder_of(chosen), self.row.name, unusual(self), str(Path(bpy.path.abspath(self.filepath))))

    def draw_objects(self) -> None:
        """Show whose limits to keep, and which objects to write where Blender's collection exporter has not said."""
        options = ("game",) if self.collection else ("what", "game")
        draw_group(self.layout, self, "idtech_objects", "Objects", options)
        self.draw_space()
