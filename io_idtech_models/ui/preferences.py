"""The preferences of the extension: the folders of games, in which imports look for what models name.

What of them is used, and how, is `tasks.games`'.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ..blender.compat import Context
from ..game.families import FAMILIES
from .bases import CANCELLED, FINISHED, Operator, may
from .translations import say

# As in `tasks.games`, which brings more along than whoever starts Blender should wait for.
PACKAGE = __package__.rpartition(".")[0]
AS_ARCHIVES = "AUTO"
FOLDERS = ("folder", "mod")
PLACES = (*FOLDERS, "executable")
AddonPreferences: Any = bpy.types.AddonPreferences
PropertyGroup: Any = bpy.types.PropertyGroup
UIList: Any = bpy.types.UIList


def own(context: Context) -> Any:
    """Return the preferences; None where the package is imported without being installed."""
    addon = context.preferences.addons.get(PACKAGE)
    return None if addon is None else addon.preferences


def make_whole(game: Any) -> None:
    """Make a game's paths absolute while the .blend is open that they may count from: preferences belong to none.

    It is called when they are drawn, which follows every change: no group may have properties with callbacks, for
    Blender 4.2 crashes at the end of a process that has had one.
    """
    for option in PLACES:
        place = getattr(game, option)
        if place.startswith("//"):
            setattr(game, option, bpy.path.abspath(place))


def _families() -> list[tuple[str, str, str]]:
    as_archives = (AS_ARCHIVES, "As Its Archives Tell", "By the suffix of the archives in its folder")
    known = [(key, rules.label, f"Archives: {', '.join(rules.archives)}") for key, rules in FAMILIES.items()]
    return [as_archives, *known]


class IDTECH_PG_game(PropertyGroup):  # type: ignore[misc]
    """A game that the user has told us of."""

    name: StringProperty(name="Name", description="What the dialog and scripts call it; empty: as its folder is called")
    folder: StringProperty(
        name="Folder",
        description="The folder that holds models/ or archives, such as baseq3, main, base or baseq2",
        subtype="DIR_PATH",
    )
    mod: StringProperty(
        name="Mod",
        description="The folder of a mod of the game, whose files come before the game's; may be empty",
        subtype="DIR_PATH",
    )
    family: EnumProperty(
        name="Engine", description="By whose rules one of several files of a name counts", items=_families()
    )
    executable: StringProperty(
        name="Executable",
        description="The program that Try in Game runs; nothing else is ever run; empty: none",
        subtype="FILE_PATH",
    )
    arguments: StringProperty(
        name="Arguments",
        description="What the program is told, with {base} {game} {mod} {home} {map} {script}; empty: the usual",
    )
    map: StringProperty(name="Map", description="The map that Try in Game starts; empty: a plain room of its own")
    enabled: BoolProperty(name="Use", description="Look for files in this game", default=True)


class IDTECH_UL_games(UIList):  # type: ignore[misc]
    """Games: whether they are used, their names, and which folders are not there."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any) -> None:
        """Draw a game's row."""
        from ..tasks.import_.games import is_folder, own_name

        row = layout.row()
        row.prop(item, "enabled", text="")
        row.prop(item, "name", text="", emboss=False, placeholder=own_name(item))
        lost = [place for place in (item.folder, item.mod) if place and not is_folder(place)]
        if lost or not item.folder:
            row.label(text="not there" if lost else "no folder", icon="ERROR")


class IdtechPreferences(AddonPreferences):  # type: ignore[misc]
    """The preferences of the extension."""

    bl_idname = PACKAGE

    games: CollectionProperty(type=IDTECH_PG_game)
    active: IntProperty()
    follow_frame: BoolProperty(
        name="Edit the Frame That Is Shown",
        description="The active shape key follows the frame of the scene, and the scene a key that is chosen",
        default=True,
    )

    def draw(self, context: Context) -> None:
        """Show the list of games, and the active one's folders."""
        layout = self.layout
        layout.label(
            text="Game Folders: where models find what they name, and File > Import > id Tech > From Game looks"
        )
        row = layout.row()
        row.template_list("IDTECH_UL_games", "", self, "games", self, "active", rows=4)
        column = row.column(align=True)
        column.operator(PREFERENCES_OT_idtech_game_add.bl_idname, text="", icon="ADD")
        column.operator(PREFERENCES_OT_idtech_game_remove.bl_idname, text="", icon="REMOVE")
        column.separator()
        for way, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
            column.operator(PREFERENCES_OT_idtech_game_move.bl_idname, text="", icon=icon).way = way
        if 0 <= self.active < len(self.games):
            self._draw_game(layout, self.games[self.active])
        layout.separator()
        layout.prop(self, "follow_frame")

    def _draw_game(self, layout: Any, game: Any) -> None:
        from ..tasks.import_.games import fault_of, is_file, own_name

        make_whole(game)
        column = layout.column()
        column.use_property_split = True
        column.prop(game, "name", placeholder=own_name(game))
        for option in (*FOLDERS, "family"):
            column.prop(game, option)
            place = getattr(game, option) if option in FOLDERS else ""
            fault = fault_of(place) if place else ""
            if fault:
                column.label(text=fault, icon="ERROR", translate=False)
        column.separator()
        for option in ("executable", "arguments", "map"):
            column.prop(game, option)
            if option == "executable" and game.executable and not is_file(game.executable):
                fault = say("there is no program '{place}'", place=game.executable)
                column.label(text=fault, icon="ERROR", translate=False)


class GamesOperator:
    """What operators on the list of games share."""

    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer them where the extension has preferences."""
        return may(cls, "" if own(context) is not None else say("The extension is not enabled in the preferences"))


class PREFERENCES_OT_idtech_game_add(GamesOperator, Operator):  # type: ignore[misc]
    """Add a game."""

    bl_idname = "preferences.idtech_game_add"
    bl_label = "Add Game"
    bl_description = "Add a game to the list"

    def execute(self, context: Context) -> set[str]:
        """Add it at the end, and make it the active one."""
        mine = own(context)
        mine.games.add()
        mine.active = len(mine.games) - 1
        context.preferences.is_dirty = True
        return FINISHED


class PREFERENCES_OT_idtech_game_remove(GamesOperator, Operator):  # type: ignore[misc]
    """Remove a game."""

    bl_idname = "preferences.idtech_game_remove"
    bl_label = "Remove Game"
    bl_description = "Take the active game off the list; its files stay"

    def execute(self, context: Context) -> set[str]:
        """Remove the active game."""
        mine = own(context)
        if not 0 <= mine.active < len(mine.games):
            return CANCELLED
        mine.games.remove(mine.active)
        mine.active = max(0, min(mine.active, len(mine.games) - 1))
        context.preferences.is_dirty = True
        return FINISHED


class PREFERENCES_OT_idtech_game_move(GamesOperator, Operator):  # type: ignore[misc]
    """Move a game in the list."""

    bl_idname = "preferences.idtech_game_move"
    bl_label = "Move Game"
    bl_description = "Move the active game in the list: what several games have is taken from the first"

    way: EnumProperty(name="Way", description="Where to", items=(("UP", "Up", ""), ("DOWN", "Down", "")))

    def execute(self, context: Context) -> set[str]:
        """Move the active game by one place."""
        mine = own(context)
        there = mine.active + (1 if self.way == "DOWN" else -1)
        if not (0 <= mine.active < len(mine.games) and 0 <= there < len(mine.games)):
            return CANCELLED
        mine.games.move(mine.active, there)
        mine.active = there
        context.preferences.is_dirty = True
        return FINISHED


CLASSES = (
    IDTECH_PG_game,
    IDTECH_UL_games,
    IdtechPreferences,
    PREFERENCES_OT_idtech_game_add,
    PREFERENCES_OT_idtech_game_remove,
    PREFERENCES_OT_idtech_game_move,
)
