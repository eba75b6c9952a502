"""Models of games and their archives: operators for scripts and menus, and archives that are dropped or chosen.

Where nothing says which models, the dialog asks: see `model_list`.
"""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ...blender.compat import Context
from ...game.store import ARCHIVES
from ...reporting import LimitError, ModelError
from ..bases import CANCELLED, Operator, SharedOptions, draw_group, file_filter, may, takes_drops
from ..translations import say
from .model_list import SHARED, ask, ask_of_archives, import_listed, options_for_dialog
from .operators import ImportFiles

if TYPE_CHECKING:
    from ...tasks.import_.archives import Models


class ModelChoice(SharedOptions):
    """What operators share that import models of archives or games."""

    kind, options = "", ""  # the format whose import was asked, and what it was given

    def import_matching(self: Any, context: Context, models: "Models") -> set[str]:
        """Import models, and say what there is to say of where they lie."""
        for note in models.notes:
            self.report({"WARNING"}, note)
        return import_listed(self, context, [(each.kind, each.file.place) for each in models.found])

    def patterns(self: Any) -> list[str]:
        """Return which models a script asks for; raises LimitError if it does not say."""
        found = [part.strip() for part in self.models.split(",") if part.strip()]
        if not found:
            raise LimitError("say which models: models='models/weapons2/*', or models='**' for all")
        return found


def models_option() -> Any:
    """Return the property that says which models a script wants."""
    declare: Any = StringProperty  # the stubs say that it returns nothing
    return declare(
        name="Models",
        description="Names, folders or patterns in it (models/weapons2/*), with commas between; ** is all",
        options={"HIDDEN", "SKIP_SAVE"},
    )


class IMPORT_SCENE_OT_idtech_archive(ModelChoice, ImportFiles, Operator):  # type: ignore[misc]
    """Import models of a game's archive."""

    bl_idname = "import_scene.idtech_archive"
    bl_label = "Import Game Archive"
    bl_description = "Choose models of a game's archive, and import them"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: file_filter(ARCHIVES)
    models: models_option()

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, or of a dropped archive its models."""
        self.interactive = True
        if self.properties.is_property_set("filepath") or self.files:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Show the options that all imports have."""
        draw_group(self.layout, self, "idtech_archive", "Models", SHARED)

    def execute(self, context: Context) -> Any:
        """Import the models that are named, or ask which."""
        from ...tasks.import_.archives import in_archives, kinds_in

        if self.interactive and not self.models:
            return ask_of_archives(self, self.paths())
        try:
            models = in_archives(self.paths(), kinds_in("scene"), self.patterns())
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return self.import_matching(context, models)


def lack_of_games() -> str:
    """Return why nothing can be imported of games: the preferences name none; or ""."""
    from ...tasks.import_.games import preferences

    own = preferences()
    there = own is not None and any(each.enabled and (each.folder or each.mod) for each in own.games)
    return "" if there else say("Name a game's folder in the preferences of id Tech Models first")


class IMPORT_SCENE_OT_idtech_game(ModelChoice, Operator):  # type: ignore[misc]
    """Import models of a game whose folder the preferences name."""

    bl_idname = "import_scene.idtech_game"
    bl_label = "Import from Game"
    bl_description = "Choose models of a game whose folder the preferences of this extension name, and import them"
    bl_options = {"REGISTER", "UNDO"}

    game: StringProperty(
        name="Game", description="Its name in the preferences; empty: the first", options={"HIDDEN", "SKIP_SAVE"}
    )
    models: models_option()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where the preferences name a game."""
        return may(cls, lack_of_games())

    def draw(self, context: Context) -> None:
        """Show the options that all imports have."""
        draw_group(self.layout, self, "idtech_archive", "Models", SHARED)

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the models of the first game; another can be chosen there."""
        from ...tasks.import_.archives import game_called, models_of

        try:
            game = game_called(self.game)
            return ask(models_of(game.name), from_game=True, game=game.name, **options_for_dialog(self))
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED

    def execute(self, context: Context) -> Any:
        """Import the models that are named."""
        from ...tasks.import_.archives import models_of

        try:
            models = models_of(self.game, self.patterns())
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return self.import_matching(context, models)


class IO_FH_idtech_archive(bpy.types.FileHandler):
    """What lets archives be dropped; a .zip is Blender's own to take, for it may be an extension."""

    bl_idname = "IO_FH_idtech_archive"
    bl_label = "Game Archive"
    bl_import_operator = IMPORT_SCENE_OT_idtech_archive.bl_idname
    bl_file_extensions = ";".join(suffix for suffix in ARCHIVES if suffix != ".zip")

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Take archives where objects show."""
        return takes_drops(context)


CLASSES = (
    IMPORT_SCENE_OT_idtech_archive,
    IMPORT_SCENE_OT_idtech_game,
    IO_FH_idtech_archive,
)


def draw_menu(self: Any, context: Context) -> None:
    """Add archives and games to the menu of imports."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_archive.bl_idname, text="Game Archive (.pk3, .pk4, .pak)")
    self.layout.operator(IMPORT_SCENE_OT_idtech_game.bl_idname, text="From Game...")
