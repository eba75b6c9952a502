"""The operators that import and export characters.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.

A declaration of Doom 3 is exported, too: new animations of a model, and what tells the game of them.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty

from ..blender.compat import PATH_OPTIONS, Context
from ..blender.scene import room_for_others
from ..formats import by_name
from ..game.character import ENDS, MESHES
from ..game.character.doom3 import SUFFIX
from ..game.store import ARCHIVES
from ..model.limits.games import NO_GAME
from ..reporting import ModelError
from .bases import (
    CANCELLED,
    FINISHED,
    Exporting,
    Operator,
    draw_group,
    file_filter,
    games_option,
    given_options,
    keep_noted,
    settings_from,
    takes_drops,
)
from .export.operators import ExportFile
from .export.overwriting import asks_first
from .import_.operators import DressOptions, ImportFiles
from .import_.showing import import_and_show, open_collection, select
from .import_.vertex import WeldOption
from .reports import listening, report_done, report_failed, showing_progress

LABEL = "Character"
NOT_PLAYERS = frozenset(("filepath", "character"))  # options that the import of Quake III's players calls otherwise
DROPPED = (".char", ".def")  # .cfg is taken by what players are dropped on, and models are by their own formats


class IMPORT_SCENE_OT_idtech_character(DressOptions, WeldOption, ImportFiles, Operator):  # type: ignore[misc]
    """Import a character: its body with bones and animations, dressed, its head and gear on tags."""

    bl_idname = "import_scene.idtech_character"
    bl_label = "Import Character"
    bl_description = (
        "Import a character with animations, head and gear: a .char, a .def, a wolfanim.cfg, a character.cfg, a"
        " player's tris.md2, or an archive"
    )
    row = by_name("mdm")

    filter_glob: file_filter((*ENDS, *MESHES, *ARCHIVES))
    character: StringProperty(
        name="Character",
        description="Which character, by name (medic, axis/medic, monster_imp), where a file or an archive has several",
        options={"SKIP_SAVE"},
    )
    weapon: StringProperty(
        name="Weapon",
        description=(
            "The weapon to hold, by its name (mp40, of a player of Quake II w_bfg) or its path in the game;"
            " empty: the character's own, if any, none: none"
        ),
        options={"SKIP_SAVE"},
    )
    animations: BoolProperty(
        name="Animations",
        description="Bring all animations of the character's group along: an action is made when one is first played",
        default=True,
    )
    make_all: BoolProperty(
        name="Make All", description="Make the actions of all animations now, for scripts and exports that need them"
    )
    animation: StringProperty(
        name="Animation",
        description="The animation to show at first, by its name; empty: one that stands",
        options={"SKIP_SAVE"},
    )
    as_shown: BoolProperty(
        name="As the Game Shows It",
        description="As large as the game shows all of it, and there (offset, modelScale, playerscale): on a root whose"
        " size and place no file gets; off: as its files are",
        default=True,
    )
    remaster: BoolProperty(
        name="Remaster",
        description="Of a player of Quake II: the model with bones that the remaster shows in place of tris.md2",
        default=False,
    )

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_character", "Character", ("character", "weapon", "remaster"))
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "as_shown", "weld", "side_by_side"))
        draw_group(
            self.layout,
            self,
            "idtech_time",
            "Animation",
            ("animations", "make_all", "animation", "fit_range", "replace_range"),
        )
        self.draw_dress()

    def execute(self, context: Context) -> Any:
        """Import the characters of the chosen files."""
        return import_and_show(context, self.side_by_side, lambda: _import_all(self, context))


def _import_all(operator: Any, context: Context) -> set[str]:
    """Import the characters of an operator's files, as its options say, and report."""
    from ..tasks.character.imports import CharacterOptions, character_at, import_character, is_player
    from ..tasks.import_.dressing import Dressing
    from ..tasks.import_.games import user_disk

    disk = user_disk()
    done: list[tuple[str, Any]] = []
    failed: list[str] = []
    made: list[Any] = []
    options, dressing = settings_from(operator, CharacterOptions), settings_from(operator, Dressing)
    for path in operator.paths():
        try:
            files = character_at(path, disk, operator.character, operator.skin)
            with room_for_others(context.scene, operator.replace_range):
                built, summary = import_character(files, options, dressing, context, open_collection(context))
        except ModelError as error:
            came, wrong = _import_player(operator, path)
            done += came
            if not came:
                failed += wrong if is_player(path, disk, operator.character) else [f"{path.name}: {error}"]
            continue
        done.append((files.name, summary))
        made += built.objects
    if made:
        select(context, made)
    report_done(operator, done, failed)
    return FINISHED if done else CANCELLED


def _import_player(operator: Any, path: Path) -> tuple[list[tuple[str, Any]], list[str]]:
    """Import a player of Quake III by the operator that knows more of such; returns what came of it, and what failed.

    Of what is none nothing comes: the operator itself looks whether it is one.
    """
    operators: Any = bpy.ops.import_scene
    call = operators.idtech_player
    known = call.get_rna_type().properties.keys()
    given = {name: value for name, value in given_options(operator, NOT_PLAYERS).items() if name in known}
    with listening() as (came, wrong):
        call("EXEC_DEFAULT", filepath=str(path), player=operator.character, **given)
    return came, wrong


class EXPORT_SCENE_OT_idtech_character(ExportFile, Operator):  # type: ignore[misc]
    """Write a whole character: its models, skins, files of frames, and the texts that name them."""

    bl_idname = "export_scene.idtech_character"
    bl_label = "Export Character"
    bl_description = "Write the character of the active object below its game's folder or into an archive"
    row = by_name("mdm")
    filename_ext = ""
    check_extension = None

    filter_glob: file_filter((*ARCHIVES, *ENDS))
    filepath: StringProperty(
        name="File Path",
        description="The game's folder, or an archive (.pk3, .pk4, .pak, .pkz)",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    collection: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    game: games_option(row.games)
    edited_only: BoolProperty(
        name="Edited Files Only", description="Leave out the files that are as they were: the game has these"
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the game's folder, and the options of the last export."""
        from ..tasks.character.exports import chosen_character, is_player
        from ..tasks.character.record import character_game, character_target
        from ..tasks.export.last_export import begin, last_target

        if not self.collection and is_player(context):
            operators: Any = bpy.ops.export_scene
            operators.idtech_player("INVOKE_DEFAULT")
            return CANCELLED
        try:
            character = chosen_character(context, self.collection)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        target = character_target(character.collection)
        self.filepath = last_target(character.collection, there=True) or str(target or "")
        begin(self, character.collection, "character")
        if not self.properties.is_property_set("game"):
            game = character_game(character.collection)
            self.game = game if game in self.row.games else NO_GAME
        self.interactive = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Show the options."""
        draw_group(self.layout, self, "idtech_character", "Character", ("game", "edited_only"))

    def execute(self, context: Context) -> Any:
        """Write the character; what hinders it leaves every file as it was."""
        from ..tasks.character.exports import CharacterSave, chosen_character, is_player, save_character
        from ..tasks.character.saved import write
        from ..tasks.export.last_export import remember, unusual

        target = Path(bpy.path.abspath(self.filepath))
        if asks_first(self, [target]):
            return CANCELLED
        if not self.collection and is_player(context):
            return _export_player(self, target)
        try:
            character = chosen_character(context, self.collection)
            saved, summary = save_character(character, settings_from(self, CharacterSave), context)
            summary.warnings += write(saved, target)
            summary.facts = saved.facts  # of declarations those that went along
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        remember(character.collection, "character", unusual(self), str(target))
        keep_noted(self)
        report_done(self, [(saved.name, summary)])
        return FINISHED


def _export_player(operator: Any, target: Path) -> set[str]:
    """Export a player of Quake III by the operator that knows more of such, and say what came of it."""
    operators: Any = bpy.ops.export_scene
    call = operators.idtech_player
    given = {"game": operator.game} if operator.game in by_name("md3").games else {}
    try:
        with listening() as (done, failed):
            call("EXEC_DEFAULT", filepath=str(target), **given)
    except RuntimeError as error:
        report_failed(operator, error)
        return CANCELLED
    report_done(operator, done, failed)
    if operator.edited_only:
        said = "a player of Quake III is written whole: Edited Files Only is for characters of the other games"
        operator.report({"WARNING"}, said)
    return FINISHED


class IO_FH_idtech_character(bpy.types.FileHandler):
    """Lets characters be dropped on a window."""

    bl_idname = "IO_FH_idtech_character"
    bl_label = LABEL
    bl_import_operator = "import_scene.idtech_character"
    bl_export_operator = "export_scene.idtech_character"
    bl_file_extensions = ";".join(DROPPED)

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Take what is dropped where objects show."""
        return takes_drops(context)


def draw_import(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_character.bl_idname, text="Character (.char, .def, .cfg)")


def draw_export(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(EXPORT_SCENE_OT_idtech_character.bl_idname, text="Character (folder, archive)")


class EXPORT_SCENE_OT_idtech_declaration(Exporting, Operator):  # type: ignore[misc]
    """Write new animations of a model of Doom 3, and a declaration that tells the game of them."""

    bl_idname = "export_scene.idtech_declaration"
    bl_label = "Export Declaration"
    bl_description = (
        "Write new animations of the active armature, and a declaration of a model of Doom 3 that inherits the old one"
        " and has them"
    )
    bl_options = {"REGISTER", "PRESET"}
    filename_ext = SUFFIX

    filter_glob: file_filter((SUFFIX,))
    filepath: StringProperty(
        name="File Path",
        description="The file of declarations, in the folder def of the game: a new one, or one that has the model",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    model: StringProperty(
        name="Model", description="What the new model is called; empty: as the file", options={"SKIP_SAVE"}
    )
    inherits: StringProperty(
        name="Inherits",
        description="The model that the new one goes on from; empty: the one that it was imported as",
        options={"SKIP_SAVE"},
    )
    actions: StringProperty(
        name="Actions",
        description="Actions to write, by name: dance, sit; empty: all that the old model has not",
        options={"SKIP_SAVE"},
    )
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_declaration", "Declaration", ("model", "inherits"))
        draw_group(self.layout, self, "idtech_time", "Animation", ("actions", "scale"))

    def execute(self, context: Context) -> Any:
        """Write all files; what hinders it leaves every file as it was."""
        from ..tasks.character.declare import DeclareOptions, declare

        target = Path(bpy.path.abspath(self.filepath))
        try:
            with showing_progress(context, target.name):
                summary = declare(target, settings_from(self, DeclareOptions), context, self.scale)
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        report_done(self, [(target.name, summary)])
        return FINISHED


def draw_declaration(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(EXPORT_SCENE_OT_idtech_declaration.bl_idname, text="Doom 3 Declaration (.def)")


CLASSES = (
    IMPORT_SCENE_OT_idtech_character,
    EXPORT_SCENE_OT_idtech_character,
    IO_FH_idtech_character,
    EXPORT_SCENE_OT_idtech_declaration,
)
