"""The dialog that lists models of archives or of a game, and what is done with those that are chosen.

The list is made once, when the dialog opens, or when another game is chosen in it. What is chosen goes to the import
operators of its formats, all of one format at once.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import selected
from ...game.store import ARCHIVES
from ...reporting import ModelError
from ..bases import CANCELLED, FINISHED, Operator, SharedOptions, draw_group, given_options
from ..reports import listening, report_done
from ..translations import say
from . import batch
from .showing import import_and_show, select

if TYPE_CHECKING:
    from ...tasks.import_.archives import Models

PropertyGroup: Any = bpy.types.PropertyGroup
UIList: Any = bpy.types.UIList
Item = tuple[str, str, str]  # identifier, label, description
SHARED = ("scale", "side_by_side", "fit_range", "replace_range")  # options of all imports
NOUNS = {"scene": "model", "anim": "animation"}  # what the operators of a space import
TITLES = {"scene": "Models of {place}", "anim": "Animations of {place}"}
COUNTS = {"scene": "Models: {count}, chosen: {chosen}", "anim": "Animations: {count}, chosen: {chosen}"}
ROWS_SHOWN, WIDTH = 16, 760
MOST_NOTES = 3
KEEP = "KEEP"
PARTS = frozenset(("lower.md3", "upper.md3", "head.md3"))
Wanted = tuple[str, bool]  # a format's name, and whether the players are meant whose parts were chosen
# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, str] = {}
# What the dialog that is about to open will list: properties hold no such thing, and whoever opens it reports why not.
_waiting: "list[Models]" = []


def ask(models: "Models", **given: Any) -> set[str]:
    """Show the dialog; `given` are its options."""
    _waiting[:] = [models]
    dialog: Any = bpy.ops.import_scene
    dialog.idtech_choose_models("INVOKE_DEFAULT", **given)
    return CANCELLED  # nothing has been done yet that could be undone


def is_archive(path: Path) -> bool:
    """Tell whether a file is an archive, as its name says."""
    return path.name.lower().endswith(ARCHIVES) and os.path.isfile(path)  # noqa: PTH113 - Path's raises for long names


def choose_of_archives(operator: Any, archives: Sequence[Path]) -> set[str]:
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
    from ...tasks.import_.archives import in_archives, kinds_in

    try:
        models = in_archives(archives, kinds_in(space), noun=NOUNS[space])
    except ModelError as error:
        operator.report({"ERROR"}, str(error))
        return CANCELLED
    return ask(models, space=space, kind=kind, **options_for_dialog(operator))


def options_for_dialog(operator: Any) -> dict[str, Any]:
    """Return the options of an import that were set, for the dialog: those of all imports, and all together."""
    chosen = given_options(operator, {"filepath", "models", "game"})
    return {"options": json.dumps(chosen), **{name: chosen[name] for name in SHARED if name in chosen}}


def import_listed(operator: Any, context: Context, files: Iterable[tuple[str, str]], space: str = "scene") -> set[str]:
    """Import files, each a format's name and a path, by the operators of their formats, and report all at once."""
    by_kind: dict[Wanted, list[str]] = {}
    for wanted, place in _with_players(operator, files):
        by_kind.setdefault(wanted, []).append(place)
    many = batch.is_worth_it(operator, sum(map(len, by_kind.values())))
    if many and space == "scene":
        calls = []
        for wanted, places in by_kind.items():
            call, options = getattr(bpy.ops.import_scene, f"idtech_{wanted[0]}"), _options_for(operator, wanted)
            calls += [(call, place, options) for place in places]
        return batch.start(calls, operator.side_by_side)
    with listening() as (done, failed):
        result = import_and_show(
            context, operator.side_by_side, lambda: _import_kinds(operator, context, by_kind, space)
        )
    report_done(operator, done, failed)
    return result


def _with_players(operator: Any, files: Iterable[tuple[str, str]]) -> Iterator[tuple[Wanted, str]]:
    """Yield what to import, and where it lies: of a whole player one of the parts that were chosen stands for all."""
    from ...game.player.files import is_of_whole
    from ...tasks.import_.games import user_disk

    folders: set[PurePath] = set()
    for kind, place in files:
        asked = getattr(operator, "whole_player", False) and _may_be_part(place)
        whole = asked and is_of_whole(user_disk().file(Path(place)))
        folder = PurePath(place).parent
        if not whole or folder not in folders:
            yield (kind, whole), place
        folders |= {folder} if whole else set()


def _may_be_part(path: str) -> bool:
    """Tell whether a file is called as parts of players are."""
    return PurePath(path).name.lower() in PARTS


def _import_kinds(operator: Any, context: Context, by_kind: Mapping[Wanted, list[str]], space: str) -> set[str]:
    """Import paths by formats, and select all that came."""
    ends, blocks, scene = [], [], context.scene
    result = CANCELLED
    for wanted, places in by_kind.items():
        before = scene.frame_end
        call = getattr(getattr(bpy.ops, f"import_{space}"), f"idtech_{wanted[0]}")
        if call(files=[{"name": place} for place in places], **_options_for(operator, wanted)) == FINISHED:
            blocks += selected(context)
            result = FINISHED
        ends += [scene.frame_end] if scene.frame_end != before else []
    if ends:
        scene.frame_end = max(ends)  # each has made room for its own
    select(context, blocks)
    return result


def _options_for(operator: Any, wanted: Wanted) -> Mapping[str, Any]:
    """Return the options of the import of a format: all that were given to its own, else what all imports have."""
    kind, whole = wanted
    own = json.loads(operator.options or "{}") if operator.kind == kind else {}
    together = {"side_by_side": False}  # of all formats, when they are there
    together |= {"whole_player": True} if whole else {}
    return {**own, **{name: getattr(operator, name) for name in SHARED}, **together}


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
    """Choose, or leave out, all models that the list shows: the property is no more than a pair of buttons."""
    if self.mark == KEEP:
        return
    for item, fits in zip(self.found, _fitting(self.found, self.search), strict=True):
        if fits:
            item.chosen = self.mark == "ALL"
    self.mark = KEEP


def _games(_operator: Any, _context: Context | None) -> list[Item]:
    from ...tasks.import_.games import configured

    names = [_kept.setdefault(game.name, game.name) for game in configured()]
    return [(name, name, "") for name in names]


def _other_game(self: Any, _context: Context) -> None:
    """List the models of another game."""
    from ...tasks.import_.archives import models_of

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


class IMPORT_SCENE_OT_idtech_choose_models(SharedOptions, Operator):  # type: ignore[misc]
    """The dialog that lists models of archives or of a game."""

    bl_idname = "import_scene.idtech_choose_models"
    bl_label = "Import Models"
    bl_description = "Choose which models of a game to import"
    bl_options = {"UNDO", "INTERNAL"}  # to adjust it afterwards would show the list again

    found: CollectionProperty(type=IDTECH_PG_model, options={"HIDDEN", "SKIP_SAVE"})
    index: IntProperty(
        name="Model",
        description="What is ticked is imported, or else this",
        default=-1,
        options={"HIDDEN", "SKIP_SAVE"},
    )
    several: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # there are several archives to tell apart
    notes: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    space: StringProperty(default="scene", options={"HIDDEN", "SKIP_SAVE"})
    kind: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    options: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    interactive: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # someone is there to be asked
    from_game: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})
    game: EnumProperty(
        name="Game", description="Whose models to list", items=_games, update=_other_game, options={"SKIP_SAVE"}
    )
    search: StringProperty(
        name="Search",
        description="Show models with all these words in their paths",
        options={"TEXTEDIT_UPDATE", "SKIP_SAVE"},
    )
    whole_player: BoolProperty(
        name="Whole Player",
        description="Import the whole player that the file is a part of, put together, with its animations",
        default=True,
        options={"SKIP_SAVE"},
    )
    mark: EnumProperty(
        name="Mark",
        items=(
            (KEEP, "Keep", ""),
            ("ALL", "All Shown", "Choose all models that the list shows"),
            ("NONE", "None Shown", "Choose none of the models that the list shows"),
        ),
        update=_mark_shown,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the list that waits."""
        if not _waiting:
            return CANCELLED
        self.interactive = True
        models = _waiting.pop()
        fill(self, models)
        title = say("Models of a Game") if self.from_game else say(TITLES[self.space], place=models.place)
        return context.window_manager.invoke_props_dialog(self, width=WIDTH, title=title, confirm_text="Import")

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
        counts = say(COUNTS[self.space], count=len(self.found), chosen=len(self.chosen()))
        row.label(text=counts, translate=False)
        for mark in ("ALL", "NONE"):
            row.prop_enum(self, "mark", mark)
        for note in self.notes.splitlines()[:MOST_NOTES]:
            layout.label(text=note, icon="ERROR", translate=False)
        if any(_may_be_part(item.name) for item in self.chosen()):
            layout.prop(self, "whole_player")
        draw_group(layout, self, "idtech_archive", "Options", SHARED)

    def chosen(self) -> list[Any]:
        """Return the models with a tick, or without any the one whose row is active."""
        ticked = [item for item in self.found if item.chosen]
        return ticked or ([self.found[self.index]] if 0 <= self.index < len(self.found) else [])

    def execute(self, context: Context) -> Any:
        """Import what is chosen."""
        chosen = [(item.kind, item.place) for item in self.chosen()]
        if not chosen:
            self.report({"ERROR"}, f"no {NOUNS[self.space]} is chosen")
            return CANCELLED
        return import_listed(self, context, chosen, self.space)


CLASSES = (IDTECH_PG_model, IDTECH_UL_models, IMPORT_SCENE_OT_idtech_choose_models)
