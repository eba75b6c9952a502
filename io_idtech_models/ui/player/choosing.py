"""A choice of the players of a game or an archive, by their icons.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...blender.compat import Context
from ...reporting import ModelError
from ..bases import CANCELLED, Operator, may
from ..import_.archives import lack_of_games

Item = tuple[str, str, str, int, int]
# Blender keeps neither the strings of an enum that is made when asked for nor the pictures: they must outlive the menu.
_items: list[Item] = []
_pictures: list[Any] = []


def list_items(_operator: Any, _context: Context | None) -> list[Item]:
    """Return the players that were listed last."""
    return _items


def prepare(source: str) -> list[Item]:
    """List the players of an archive or a folder, or ("") of the games of the preferences; raises ModelError."""
    from ...tasks.player.files import players_from

    forget()
    found = players_from(source)
    for nth, files in enumerate(found):
        place = next(iter(files.parts.values())).base.place
        icon = next(iter(files.icons.values()), None)
        _items.append((place, files.name, ", ".join(files.skins) or "no skin", _picture(nth, icon), nth))
    return _items


def forget() -> None:
    """Free what was listed."""
    import bpy.utils.previews

    _items.clear()
    while _pictures:
        bpy.utils.previews.remove(_pictures.pop())


def _picture(nth: int, icon: Any) -> int:
    """Return the number of a picture for menus; 0 where there is none to show."""
    import bpy.utils.previews

    from ...blender.shading.images import load_image

    if icon is None or bpy.app.background:
        return 0
    before = set(bpy.data.images)
    image: Any = load_image(icon)
    if image is None:
        return 0
    if not _pictures:
        _pictures.append(bpy.utils.previews.new())
    preview = _pictures[0].new(str(nth))
    preview.image_size = image.size
    preview.image_pixels_float = image.pixels[:]
    if image not in before:
        bpy.data.images.remove(image)
    return int(preview.icon_id)


class IMPORT_SCENE_OT_idtech_choose_player(Operator):  # type: ignore[misc]
    """Import a player of a game or an archive, chosen by its icon."""

    bl_idname = "import_scene.idtech_choose_player"
    bl_label = "Import Quake III Player from Game"
    bl_description = "Choose a player of the games that the preferences of this extension name, and import it"
    bl_options = {"REGISTER", "UNDO"}

    source: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # an archive or a folder; "": the preferences' games
    given: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # options of the import, as JSON
    player: EnumProperty(name="Player", description="Which player to import", items=list_items, options={"SKIP_SAVE"})

    def invoke(self, context: Context, event: Any) -> Any:
        """Show them."""
        try:
            prepare(self.source)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return context.window_manager.invoke_props_dialog(self, width=320)

    def draw(self, context: Context) -> None:
        """Show the icons, and the name of the one that is chosen."""
        self.layout.template_icon_view(self, "player", show_labels=True, scale=7.0)
        self.layout.prop(self, "player", text="")

    def execute(self, context: Context) -> Any:
        """Import the chosen one."""
        options = json.loads(self.given) if self.given else {}
        operators: Any = bpy.ops.import_scene
        if self.source and Path(self.source).is_file():  # of an archive what lies in it
            name = next(item[1] for item in _items if item[0] == self.player)
            return operators.idtech_player(filepath=self.source, player=name, **options)
        return operators.idtech_player(filepath=str(Path(self.player)), as_game=True, **options)


class IMPORT_SCENE_OT_idtech_player_of_game(Operator):  # type: ignore[misc]
    """Ask which player of a game to import; where no game is known the menu says so, as it does of models."""

    bl_idname = "import_scene.idtech_player_of_game"
    bl_label = "Import Quake III Player from Game"
    bl_description = "Choose a player of the games that the preferences of this extension name, and import it"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where the preferences name a game."""
        return may(cls, lack_of_games())

    def execute(self, context: Context) -> Any:
        """Show the players."""
        operators: Any = bpy.ops.import_scene
        return operators.idtech_choose_player("INVOKE_DEFAULT")


CLASSES = (IMPORT_SCENE_OT_idtech_choose_player, IMPORT_SCENE_OT_idtech_player_of_game)


def draw_menu(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_player_of_game.bl_idname, text="Quake III Player from Game...")
