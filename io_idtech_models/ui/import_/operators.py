"""What import operators of all formats share: which files are read, what models wear, and what is reported.

What does the work is imported when it is first needed: everyone who starts Blender waits for these modules.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty

from ...blender.compat import PATH_OPTIONS, Context
from ...blender.scene import room_for_others
from ...formats import Format
from ...reporting import ModelError
from ..bases import Importing, SharedOptions, draw_group, given_options
from ..reports import report_done
from ..translations import CONTEXT
from . import batch
from .model_list import choose_of_archives, is_archive
from .showing import import_and_show

if TYPE_CHECKING:
    from ...game.folders import Disk
    from ...game.store import GameFile
    from ...reporting import Summary


Made = TypeVar("Made")


class ImportFiles(SharedOptions, Importing):  # type: ignore[misc]
    """Options of every import, and which files it reads."""

    row: Format
    bl_options: Any = {"REGISTER", "UNDO", "PRESET"}

    filepath: StringProperty(
        name="File Path", description="The file to read", maxlen=1024, subtype="FILE_PATH", options=PATH_OPTIONS
    )
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | PATH_OPTIONS)
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})

    interactive: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # someone is there to be asked

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, or for dropped files the options alone."""
        self.interactive = True
        return self.invoke_popup(context)

    def execute(self, context: Context) -> Any:
        """Import the files; of archives ask which of their models."""
        packs = [path for path in self.paths() if is_archive(path)]
        if packs:
            return choose_of_archives(self, packs)
        if self.one_by_one(self.paths()):
            return self.in_batch()
        with room_for_others(context.scene, self.replace_range):
            return import_and_show(context, self.side_by_side, lambda: self.import_files(context))

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

    def import_each(
        self, files: "Iterable[GameFile]", import_one: "Callable[[GameFile], tuple[Made, Summary]]"
    ) -> list[Made]:
        """Import files one by one, and report; what can't be read leaves nothing behind. Returns what was made."""
        made, summaries, failed = [], [], []
        for file in files:
            try:
                one, summary = import_one(file)
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
        translation_context=CONTEXT,
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


def file_of(disk: "Disk", given: str) -> "GameFile | None":
    """Return the file that an option names, or None."""
    return disk.file(Path(bpy.path.abspath(given))) if given else None
