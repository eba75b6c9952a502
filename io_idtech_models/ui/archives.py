"""Models of games and their archives: the operators for scripts, the dialog that lists them, and dropped archives.

A dialog's list is made once, when it opens, or when another game is chosen. What is chosen goes to the import operators
of its formats, all of one format at once.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from .. import formats
from ..blender.compat import Context
from ..blender.window import selected
from ..formats import Row
from ..game.store import ARCHIVES
from ..model.wording import plural
from ..reporting import ModelError
from .bases import (
    CANCELLED,
    FINISHED,
    ImportFiles,
    SharedOptions,
    draw_group,
    file_filter,
    listening,
    say_done,
    select,
    takes_drops,
)

if TYPE_CHECKING:
    from ..tasks.games import Models

Operator: Any = bpy.types.Operator  # the stubs want other sets than Blender does
PropertyGroup: Any = bpy.types.PropertyGroup
UIList: Any = bpy.types.UIList
Item = tuple[str, str, str]  # identifier, label, description
SHARED = ("scale", "fit_range")  # options of all imports
ROWS_SHOWN, WIDTH = 16, 760
MOST_NOTES = 3
# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, str] = {}
# What the dialog that is about to open will list: properties hold no such thing, and whoever opens it reports why not.
_waiting: "list[Models]" = []


def is_archive(path: Path) -> bool:
    """Tell whether a file is an archive, as its name says."""
    return path.name.lower().endswith(ARCHIVES) and os.path.isfile(path)  # noqa: PTH113 - Path's raises for long names


def kinds_in(space: str) -> dict[str, str]:
    """Return the formats' names by lower-case suffix of what the operators of a space bring: `scene` or `anim`."""
    rows = [row for row in formats.ROWS if (row.has_model if space == "scene" else _moves(row))]
    return {suffix: row.name for row in rows for suffix in row.suffixes}


def _moves(row: Row) -> bool:
    return row.has_motions or not row.has_model


def hand_over(operator: Any, archives: Sequence[Path]) -> set[str]:
    """Show the dialog for archives that were chosen in a format's own import; a script is told what to write."""
    name = archives[0].name
    if len(archives) < len(operator.paths()):
        operator.report({"ERROR"}, f"{name}: an archive can't be imported along with other files")
    elif not operator.interactive:
        text = f"it is an archive: name a file in it, '{name}/models/...', or use import_scene.idtech_archive"
        operator.report({"ERROR"}, f"{name}: {text}")
    else:
        space = operator.bl_idname.partition("_OT_")[0].rpartition("_")[2].lower()
        ask_of_archives(operator, archives, space, operator.row.name)
    return CANCELLED


def ask_of_archives(operator: Any, archives: Sequence[Path], space: str = "scene", kind: str = "") -> set[str]:
    """Show the dialog that lists what lies in archives; the options that were given go to imports of a format."""
    from ..tasks.games import in_archives

    try:
        models = in_archives(archives, kinds_in(space))
    except ModelError as error:
        operator.report({"ERROR"}, str(error))
        return CANCELLED
    return _ask(models, space=space, kind=kind, **_given(operator))


def _given(operator: Any) -> dict[str, Any]:
    """Return the options of an import that were set, for the dialog: those of all imports, and all together."""
    options = (prop.identifier for prop in operator.properties.bl_rna.properties if not prop.is_hidden)
    chosen = {name: getattr(operator, name) for name in options if operator.properties.is_property_set(name)}
    chosen = {name: value for name, value in chosen.items() if name not in {"filepath", "models", "game"}}
    return {"options": json.dumps(chosen), **{name: chosen[name] for name in SHARED if name in chosen}}


def _ask(models: "Models", **given: Any) -> set[str]:
    _waiting[:] = [models]
    dialog: Any = bpy.ops.import_scene
    dialog.idtech_choose_models("INVOKE_DEFAULT", **given)
    return CANCELLED  # nothing has been done yet that could be undone


def bring(operator: Any, context: Context, files: Iterable[tuple[str, str]], space: str = "scene") -> set[str]:
    """Import files, each a format's name and a path, by the operators of their formats, and report all at once."""
    by_kind: dict[str, list[str]] = {}
    for kind, place in files:
        by_kind.setdefault(kind, []).append(place)
    ends, blocks, scene = [], [], context.scene
    with listening() as (done, failed):
        for kind, places in by_kind.items():
            before = scene.frame_end
            call = getattr(getattr(bpy.ops, f"import_{space}"), f"idtech_{kind}")
            if call(files=[{"name": place} for place in places], **_options_for(operator, kind)) == FINISHED:
                blocks += selected(context)
            ends += [scene.frame_end] if scene.frame_end != before else []
    if ends:
        scene.frame_end = max(ends)  # each has made room for its own
    select(context, blocks)
    say_done(operator, done, failed)
    return FINISHED if done else CANCELLED


def _options_for(operator: Any, kind: str) -> Mapping[str, Any]:
    """Return the options of the import of a format: all that were given to its own, else what all imports have."""
    own = json.loads(operator.options or "{}") if operator.kind == kind else {}
    return {**own, **{name: getattr(operator, name) for name in SHARED}}


class ModelChoice(SharedOptions):
    """What operators share that import models of archives or games."""

    kind, options = "", ""  # the format whose import was asked, and what it was given

    def import_matching(self: Any, context: Context, models: "Models") -> set[str]:
        """Import models, and say what there is to say of where they lie."""
        for note in models.notes:
            self.report({"WARNING"}, note)
        return bring(self, context, [(each.kind, each.file.place) for each in models.found])

    def patterns(self: Any) -> list[str]:
        """Return which models a script asks for; raises LimitError if it does not say."""
        from ..reporting import LimitError

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
        from ..tasks.games import in_archives

        if self.interactive and not self.models:
            return ask_of_archives(self, self.paths())
        try:
            models = in_archives(self.paths(), kinds_in("scene"), self.patterns())
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return self.import_matching(context, models)


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
        from ..tasks.games import preferences

        own = preferences()
        there = own is not None and any(each.enabled and (each.folder or each.mod) for each in own.games)
        if not there:
            cls.poll_message_set("name a game's folder in the preferences of id Tech Models first")
        return there

    def draw(self, context: Context) -> None:
        """Show the options that all imports have."""
        draw_group(self.layout, self, "idtech_archive", "Models", SHARED)

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the models of the first game; another can be chosen there."""
        try:
            models = models_of(self.game)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return _ask(models, from_game=True, **_given(self))

    def execute(self, context: Context) -> Any:
        """Import the models that are named."""
        try:
            models = models_of(self.game, self.patterns())
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        return self.import_matching(context, models)


def models_of(name: str, patterns: Sequence[str] = ()) -> "Models":
    """Return models of the game that the preferences call so, the first one for ""; raises ModelError."""
    from ..reporting import LimitError
    from ..tasks.games import configured, in_game

    games = configured()
    game = next((game for game in games if not name or game.name == name), None)
    if game is None:
        raise LimitError(f"the preferences name no game '{name}' whose folder is there" if name else "no game is there")
    return in_game(game, kinds_in("scene"), patterns)


class IDTECH_PG_model(PropertyGroup):  # type: ignore[misc]
    """A model in the dialog's list; its `name` is the path in the game or archive."""

    place: StringProperty()
    kind: StringProperty()
    chosen: BoolProperty(name="Import", description="Import this model")


class IDTECH_UL_models(UIList):  # type: ignore[misc]
    """Models of archives: what is chosen, name, folder, and kind or archive."""

    def draw_item(self, _context: Any, layout: Any, data: Any, item: Any, _icon: Any, _active: Any) -> None:
        """Draw a model's row."""
        folder, _, name = item.name.rpartition("/")
        row = layout.row(align=True)
        row.prop(item, "chosen", text="")
        split = row.split(factor=0.4)
        split.label(text=name, translate=False)
        split = split.split(factor=0.7)
        split.label(text=folder, translate=False)
        split.label(text=_holder(item) if data.several else item.kind.upper(), translate=False)

    def draw_filter(self, _context: Context, _layout: Any) -> None:
        """Draw nothing: the dialog has the field to search in."""

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Tell which models have all words that are searched for in their paths."""
        if not data.search.strip():
            return [], []
        shown = self.bitflag_filter_item
        return [shown * fits for fits in _fitting(getattr(data, name), data.search)], []


def _holder(item: Any) -> str:
    """Return the name of the archive, or game folder, that a model lies in."""
    return Path(item.place[: -len(item.name)]).name


def _fitting(items: Iterable[Any], search: str) -> list[bool]:
    words = search.lower().split()
    return [all(word in path for word in words) for path in (item.name.lower() for item in items)]


def _mark_shown(self: Any, _context: Context) -> None:
    """Choose, or leave out, all models that the list shows."""
    for item, fits in zip(self.found, _fitting(self.found, self.search), strict=True):
        if fits:
            item.chosen = self.all_shown


def _games(_operator: Any, _context: Context | None) -> list[Item]:
    from ..tasks.games import configured

    names = [_kept.setdefault(game.name, game.name) for game in configured()]
    return [(name, name, "") for name in names]


def _other_game(self: Any, _context: Context) -> None:
    """List the models of another game."""
    try:
        fill(self, models_of(self.game))
    except ModelError as error:
        self.found.clear()
        self.notes = str(error)


def fill(dialog: Any, models: "Models") -> None:
    """Make the list of a dialog."""
    dialog.found.clear()
    holders = set()
    for each in models.found:
        item = dialog.found.add()
        item.name = f"{each.folder}/{each.file.name}" if each.folder else each.file.name
        item.place, item.kind = each.file.place, each.kind
        holders.add(item.place[: -len(item.name)])
    dialog.several, dialog.notes = len(holders) > 1, "\n".join(models.notes)
    dialog.index = 0 if len(models.found) == 1 else -1


class IMPORT_SCENE_OT_idtech_choose_models(ModelChoice, Operator):  # type: ignore[misc]
    """The dialog that lists models of archives or of a game."""

    bl_idname = "import_scene.idtech_choose_models"
    bl_label = "Import Models"
    bl_description = "Choose which models of a game to import"
    bl_options = {"UNDO", "INTERNAL"}  # to adjust it afterwards would show the list again

    found: CollectionProperty(type=IDTECH_PG_model, options={"HIDDEN", "SKIP_SAVE"})
    index: IntProperty(default=-1, options={"HIDDEN", "SKIP_SAVE"})
    several: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # there are several archives to tell apart
    notes: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    space: StringProperty(default="scene", options={"HIDDEN", "SKIP_SAVE"})
    kind: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    options: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    from_game: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})
    game: EnumProperty(
        name="Game", description="Whose models to list", items=_games, update=_other_game, options={"SKIP_SAVE"}
    )
    search: StringProperty(
        name="Search",
        description="Show models with all these words in their paths",
        options={"TEXTEDIT_UPDATE", "SKIP_SAVE"},
    )
    all_shown: BoolProperty(
        name="All Shown", description="Choose all models that the list shows", update=_mark_shown, options={"SKIP_SAVE"}
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the list that waits."""
        if not _waiting:
            return CANCELLED
        fill(self, _waiting.pop())
        manager = context.window_manager
        return manager.invoke_props_dialog(self, width=WIDTH, title=self.bl_label, confirm_text="Import")

    def check(self, context: Context) -> bool:
        """Draw the dialog anew when something in it has changed."""
        return True

    def draw(self, context: Context) -> None:
        """Show the list, with what narrows it above, and what was chosen below."""
        layout = self.layout
        if self.from_game:
            layout.prop(self, "game")
        layout.prop(self, "search", text="", icon="VIEWZOOM")
        layout.template_list("IDTECH_UL_models", "", self, "found", self, "index", rows=ROWS_SHOWN, maxrows=ROWS_SHOWN)
        row = layout.row()
        row.prop(self, "all_shown")
        row.label(text=f"{plural(len(self.found), 'model')}, {len(self.chosen())} chosen")
        for note in self.notes.splitlines()[:MOST_NOTES]:
            layout.label(text=note, icon="ERROR", translate=False)
        draw_group(layout, self, "idtech_archive", "Options", SHARED)

    def chosen(self) -> list[Any]:
        """Return the models with a tick, or without any the one whose row is active."""
        ticked = [item for item in self.found if item.chosen]
        return ticked or ([self.found[self.index]] if 0 <= self.index < len(self.found) else [])

    def execute(self, context: Context) -> Any:
        """Import what is chosen."""
        chosen = [(item.kind, item.place) for item in self.chosen()]
        if not chosen:
            self.report({"ERROR"}, "no model is chosen")
            return CANCELLED
        return bring(self, context, chosen, self.space)


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
    IDTECH_PG_model,
    IDTECH_UL_models,
    IMPORT_SCENE_OT_idtech_archive,
    IMPORT_SCENE_OT_idtech_game,
    IMPORT_SCENE_OT_idtech_choose_models,
    IO_FH_idtech_archive,
)


def draw_menu(self: Any, context: Context) -> None:
    """Add archives and games to the menu of imports."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_archive.bl_idname, text="Game Archive (.pk3, .pk4, .pak)")
    self.layout.operator(IMPORT_SCENE_OT_idtech_game.bl_idname, text="From Game...")
