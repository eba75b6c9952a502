"""Import and export operators of whole players.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...blender.compat import PATH_OPTIONS, Context
from ...blender.provenance import FILE
from ...blender.scene import room_for_others
from ...formats import SPLIT_OPTION, by_name
from ...game.store import ARCHIVES
from ...model.limits.games import OF_PLAYERS, game_of_player
from ...reporting import ModelError, collected_warnings
from ..bases import (
    CANCELLED,
    FINISHED,
    Operator,
    draw_group,
    file_filter,
    games_option,
    given_options,
    keep_noted,
    option_property,
    settings_from,
    takes_drops,
)
from ..export.operators import ExportFile
from ..export.overwriting import asks_first
from ..import_.operators import DressOptions, ImportFiles
from ..import_.showing import import_and_show, open_collection, select
from ..reports import report_done

if TYPE_CHECKING:
    from ...game.player.files import PlayerFiles

LABEL = "Quake III Player"
FILES = (".md3", ".skin", ".cfg")  # of a player's folder


class IMPORT_SCENE_OT_idtech_player(DressOptions, ImportFiles, Operator):  # type: ignore[misc]
    """Import a whole player: its parts on one another's tags, dressed, with its animations by name."""

    bl_idname = "import_scene.idtech_player"
    bl_label = "Import Player"
    bl_description = "Import a whole player: pick any file of its folder, or an archive that holds players"
    row = by_name("md3")

    filter_glob: file_filter((*FILES, ".tga", ".jpg", ".png", *ARCHIVES))
    player: StringProperty(
        name="Player",
        description="Which player, by name, where an archive or a folder of a game holds several",
        options={"SKIP_SAVE"},
    )
    weapon: StringProperty(
        name="Weapon",
        description="The weapon to hold (machinegun, rocketl, ...), by its folder's name; empty: none",
        options={"SKIP_SAVE"},
    )
    as_game: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # a game was named, and none of its archives
    levels: BoolProperty(name="Levels of Detail", description="Bring the coarser models along, hidden", default=True)
    legs: StringProperty(name="Legs", description="The animation to show at first (LEGS_RUN, ...); empty: all frames")
    torso: StringProperty(name="Torso", description="The same of the torso (TORSO_ATTACK, ...)")
    frame_rate: IntProperty(
        name="FPS (0: Keep)",
        description="Frames per second of the scene; 0 leaves it as it is",
        default=0,
        min=0,
        max=240,
    )

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_player", "Player", ("player", "weapon", "levels"))
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld", "side_by_side"))
        draw_group(
            self.layout, self, "idtech_time", "Animation", ("legs", "torso", "fit_range", "replace_range", "frame_rate")
        )
        self.draw_dress()

    def execute(self, context: Context) -> Any:
        """Import the players that the chosen files belong to, each once; of an archive with several ask which."""
        paths = self.paths()
        if self.interactive and not self.player and len(paths) == 1 and _has_several(paths[0]):
            given = json.dumps(given_options(self, {"filepath", "player"}))
            operators: Any = bpy.ops.import_scene
            operators.idtech_choose_player("INVOKE_DEFAULT", source=str(paths[0]), given=given)
            return CANCELLED
        return import_and_show(context, self.side_by_side, lambda: import_players(self, context))


def _has_several(path: Path) -> bool:
    """Tell whether an archive holds more than one player."""
    from ...tasks.player.files import players_from

    try:
        return path.name.lower().endswith(ARCHIVES) and len(players_from(str(path))) > 1
    except ModelError:
        return False


def are_parts(paths: Iterable[Path]) -> bool:
    """Tell whether files are parts of whole players."""
    from ...game.player.files import is_of_whole
    from ...tasks.import_.games import user_disk

    disk = user_disk()
    return all(is_of_whole(disk.file(path)) for path in paths)


def import_players(operator: Any, context: Context) -> set[str]:
    """Import the players that an operator's files belong to, each once, as its options say; and report."""
    from ...tasks.import_.games import user_disk
    from ...tasks.player.files import players_at

    disk = user_disk()
    found: dict[str, PlayerFiles] = {}
    failed = []
    for path in operator.paths():
        try:
            as_game = getattr(operator, "as_game", False)
            player = players_at(path, disk, getattr(operator, "player", ""), as_game)
            found.setdefault(player.folder.place, player)
        except ModelError as error:
            failed.append(f"{path.name or path}: {error}")
    done = []
    for player in found.values():
        try:
            with room_for_others(context.scene, operator.replace_range):
                done.append((player.name, _import_player(operator, player, context)))
        except ModelError as error:
            failed.append(f"{player.name}: {error}")
    report_done(operator, done, failed)
    return FINISHED if done else CANCELLED


def _import_player(operator: Any, player: "PlayerFiles", context: Context) -> Any:
    """Import a player; returns what there is to say of it."""
    from ...blender.vertex.build import BuildSettings
    from ...tasks.import_.dressing import Dressing
    from ...tasks.player.files import weapon_of
    from ...tasks.player.imports import PlayerImport, PlayerOptions

    settings, dressing = settings_from(operator, BuildSettings), settings_from(operator, Dressing)
    name = getattr(operator, "weapon", "")
    weapon = weapon_of(player, name) if name.lower() not in {"", "none"} else None  # as characters are asked for
    wanted = PlayerImport(player, settings, dressing, settings_from(operator, PlayerOptions), context.scene, weapon)
    built, summary = wanted.run(open_collection(context))
    blocks = (block for part in built.parts.values() for block in (part.root, *part.built.surfaces, *part.built.tags))
    select(context, list(blocks))
    return summary


class EXPORT_SCENE_OT_idtech_player(ExportFile, Operator):  # type: ignore[misc]
    """Write a whole player: models with their levels of detail, skins, and the table of animations."""

    bl_idname = "export_scene.idtech_player"
    bl_label = "Export Player"
    bl_description = "Write the player of the active object into a folder or a .pk3, which keeps all else that it has"
    row = by_name("md3")
    filename_ext = ""
    check_extension = None

    filter_glob: file_filter((".pk3", *FILES))
    filepath: StringProperty(
        name="File Path",
        description="The player's folder, or a .pk3",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    collection: StringProperty(name="Collection", options={"HIDDEN", "SKIP_SAVE"})
    game: games_option(row.games, OF_PLAYERS)
    normals: EnumProperty(
        name="Normals",
        description="Which normals to write",
        items=(
            ("SOURCE", "Source", "Those of the file where nothing was changed, else those that Blender shows"),
            ("SHOWN", "As Shown", "Those that Blender shows, everywhere"),
            ("SMOOTH", "Smooth", "Made anew, smooth over all faces"),
        ),
        default="SOURCE",
    )
    percentages: StringProperty(
        name="Make Levels",
        description="Percentages of the triangles (50, 25) of levels made anew; empty: those in the scene",
    )
    player: StringProperty(
        name="Name",
        description="What the player is called, whose folder is written; empty: as it came",
        options={"SKIP_SAVE"},
    )
    new_skin: StringProperty(
        name="New Skin",
        description="Write what all parts wear now as a skin of this name, and leave the one that was worn as it was",
        options={"SKIP_SAVE"},
    )
    split_surfaces: option_property(SPLIT_OPTION)
    triangles: IntProperty(
        name="Most Triangles",
        description="How many triangles the parts have together, of each the same share; 0: all that there are",
        default=0,
        min=0,
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the player's folder, and the options of its last export."""
        from ...tasks.export.last_export import begin, last_target
        from ...tasks.player.exports import chosen_player
        from ...tasks.player.files import proposed_target

        try:
            player = chosen_player(context, self.collection)
            target = str(proposed_target(player))
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        holder = player.holder
        self.filepath = last_target(holder, there=True) or target
        begin(self, holder, "player")
        _propose_game(self, holder)
        self.interactive = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Show the options."""
        draw_group(self.layout, self, "idtech_player", "Player", ("player", "new_skin", "game"))
        options = ("split_surfaces", "triangles", "percentages", "scale", "normals", "keep_suffixes")
        draw_group(self.layout, self, "idtech_mesh", "Mesh", options)

    def execute(self, context: Context) -> Any:
        """Write the player; what hinders it leaves every file as it was."""
        from ...model.lod.levels import shares_of
        from ...tasks.export.last_export import remember, unusual
        from ...tasks.player.exports import SaveOptions, chosen_player, save_player
        from ...tasks.player.files import write
        from ...tasks.player.making_pictures import plain_name

        target = Path(bpy.path.abspath(self.filepath))
        if asks_first(self, [target]):
            return CANCELLED
        try:
            player = chosen_player(context, self.collection)
            _propose_game(self, player.holder)  # for scripts, which show no dialog
            shares = tuple(shares_of(self.percentages)) if self.percentages.strip() else ()
            saved, summary = save_player(player, settings_from(self, SaveOptions, shares=shares), context)
            with collected_warnings() as warnings:
                name = plain_name(self.player)
                write(saved, target, player, name)
            summary.warnings += warnings
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        remember(player.holder, "player", unusual(self), str(target))
        keep_noted(self)
        report_done(self, [(name or saved.name, summary)])
        return FINISHED


def _propose_game(operator: Any, holder: Any) -> None:
    """Choose the game whose folder a player came from, unless one was given."""
    if not operator.properties.is_property_set("game"):
        operator.game = game_of_player(Path(str(holder.get(FILE, ""))).parts)


class IO_FH_idtech_player(bpy.types.FileHandler):
    """Lets a player's texts be dropped on a window, and players be exported from collections."""

    bl_idname = "IO_FH_idtech_player"
    bl_label = LABEL
    bl_import_operator = "import_scene.idtech_player"
    bl_export_operator = "export_scene.idtech_player"
    bl_file_extensions = ".skin;.cfg"

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Take what is dropped where objects show."""
        return takes_drops(context)


CLASSES = (IMPORT_SCENE_OT_idtech_player, EXPORT_SCENE_OT_idtech_player, IO_FH_idtech_player)


def draw_import(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_player.bl_idname, text="Quake III Player (.md3, .pk3)")


def draw_export(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(EXPORT_SCENE_OT_idtech_player.bl_idname, text="Quake III Player (folder, .pk3)")
