"""A model of the scene, shown in its game: which files that takes, and the game that runs meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy

from .. import formats
from ..assets.belongings import Belongings, belongings, place_in_game
from ..assets.export_request import ExportRequest
from ..assets.packs import is_member
from ..assets.trial import Outcome, Program, Settings, Trial
from ..blender.compat import Block, Context
from ..blender.player.parts import PlayerFound, find_player
from ..blender.provenance import FILE, SKIN, unit_of
from ..blender.vertex.frame_plan import GatherSettings
from ..blender.window import object_mode
from ..game.folders import Disk
from ..game.search import game_name
from ..game.skin import SUFFIX as SKIN_SUFFIX
from ..game.store import GameFile
from ..game.trial.subject import PARTS, SHOWN
from ..reporting import LimitError, Summary, collected_warnings, listed
from .export.last_export import NONE_ACTIVE
from .export.left_out import left_out
from .export.selection import Choice, choose, part_of
from .export.skin_files import skin_file
from .export.vertex import gathered
from .import_.games import configured_entries, user_disk
from .player.exports import SaveOptions, save_player
from .player.files import mod_of, stale
from .player.mod import Mod
from .player.tables import KINDS

OWN = "idtech-try.md3"  # what a model is called that came from no file

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wish:
    """What the user asks for."""

    game: str = ""  # as the preferences call it; "" the first that can be started
    map: str = ""  # "" what the preferences say of the game
    skin: str = ""  # of a player; "" the one that it wears
    scale: float | None = None  # size of a game unit in the scene; None: as the model was imported
    settings: Settings = field(default_factory=Settings)

    def unit(self, blocks: Iterable[Block]) -> float:
        """Return the size of a game unit for objects."""
        return unit_of(*blocks) if self.scale is None else self.scale


@dataclass
class Running:
    """A game that runs, and what there was to say of the model before it did."""

    trial: Trial
    label: str
    warnings: list[str]

    def wait(self) -> Outcome:
        """Wait until the game ends."""
        try:
            return self.trial.wait()
        finally:
            self.trial.close()

    def is_over(self) -> bool:
        """Tell whether the game has ended."""
        return not self.trial.is_running()

    def finish(self) -> Summary:
        """Return what came of a game that has ended, or ends now, in words; its folder is gone then."""
        try:
            self.trial.stop()
            return self.summary(self.trial.outcome())
        finally:
            self.trial.close()

    def summary(self, outcome: Outcome) -> Summary:
        """Return what came of it, in words."""
        name = self.trial.program.game.name
        return Summary(f"{self.label} in '{name}': {outcome.seconds:.0f} seconds", self.warnings + outcome.complaints)


def programs() -> list[Program]:
    """Return the games of the preferences that can be started: those with an executable."""
    entries = [(game, each) for game, each in configured_entries() if each.executable]
    return [Program(game, each.executable, each.arguments, each.map) for game, each in entries]


def program_called(name: str) -> Program:
    """Return the game that the preferences call so, the first one for ""; raises LimitError if it can't be started."""
    found = next((each for each in programs() if name in {"", each.game.name}), None)
    if found is None:
        shown = f"the game '{name}' has no executable that the preferences name" if name else ""
        raise LimitError(shown or "no game of the preferences has an executable")
    return found


def start(context: Context, wish: Wish) -> Running:
    """Start a game that shows the model of the active object as the scene has it; nothing in the .blend changes.

    Raises:
        ModelError: the game can't be started, or can't show such a model; the sentence says why.
    """
    program = program_called(wish.game)
    with collected_warnings() as warnings:
        found = gather(context, program, wish)
    return launch(found, program, wish, warnings)


def launch(found: Belongings, program: Program, wish: Wish, warnings: Sequence[str] = ()) -> Running:
    """Start a game that shows a model of which all files are known; raises ModelError."""
    program = replace(program, map=wish.map or program.map)
    trial = Trial(found.files, found.subject, program, wish.settings, found.about)
    return Running(trial, found.subject.label, list(warnings))


def gather(context: Context, program: Program, wish: Wish) -> Belongings:
    """Return the files that show the active object's model: those of the scene above those that they came from.

    Of a player these are all parts that are in the scene. Warnings say what is left out.

    Raises:
        ModelError: the model can't be written, or no game shows it.
    """
    disk = user_disk()
    player = find_player(context.view_layer.objects.active)
    if player is not None:
        return _gather_player(player, context, program, wish)
    chosen = choose(context, "AUTO")
    file = _source(chosen, disk)
    if file.suffix.lower() not in SHOWN:
        raise LimitError(f"'{game_name(file)}': only {', '.join(SHOWN)} can be tried in a game")
    edited, skins = dict[str, bytes](), dict[str, bytes]()
    dressed, others = list[Block](), list[Block]()  # meshes that a skin dresses, and those whose files name shaders
    with object_mode(context):
        for name, part in _parts(context, chosen, file, disk):
            edited[name] = _model_bytes(name, part, file, context, wish)
            own = _skin_bytes(name, part, file, wish.skin or _worn(chosen))
            (dressed if own else others).extend(_meshes(part))
            skins |= own
    folder = place_in_game(file).rpartition("/")[0]
    drawn = _drawn(Mod(file, folder, dressed), skins) | _drawn(Mod(file, "", others), {})
    found = belongings(file, disk.game(program.game), wish.skin or _worn(chosen), edited | skins)
    found.replace(drawn)
    return found


def _gather_player(player: PlayerFound, context: Context, program: Program, wish: Wish) -> Belongings:
    """Return the files of a whole player as a save would write them, above those that it came from."""
    disk = user_disk()
    bodies = [part_of(context, player.parts[kind]) for kind in PARTS if kind in player.parts]
    if not bodies:
        raise LimitError("the player has no part that a game knows")
    unit = wish.unit(block for body in bodies for block in body.blocks)
    saved, summary = save_player(player, SaveOptions(scale=unit), context)
    for warning in summary.warnings:
        log.warning("%s", warning)
    skins = {name: data for name, data in saved.files.items() if name.lower().endswith(SKIN_SUFFIX)}
    drawn = _drawn(mod_of(player, saved), skins)
    worn = player.kept(SKIN)
    file = _source(bodies[0], disk)
    for warning in stale(saved.files, [file.folder]):
        log.warning("%s", warning)
    held, in_hand = dict[GameFile, bytes](), list[Block]()
    for each, part in _held(player, context, disk):
        with object_mode(context):
            held[each] = _model_bytes(each.name, part, each, context, wish)
        in_hand += _meshes(part)
    drawn |= _drawn(Mod(next(iter(held), file), "", in_hand), {})
    found = belongings(file, disk.game(program.game), wish.skin or worn, saved.files | skins, held)
    found.replace(drawn)
    return found


def _drawn(mod: Mod, skins: dict[str, bytes]) -> dict[str, bytes]:
    """Return pictures and scripts that the .blend has alone, by their paths in the game; skins name them so."""
    mod.draw(skins)
    odd = [path for path in mod.files if not is_member(path)]
    if odd:
        log.warning("pictures that no game can find by these names, rename the materials: %s", listed(odd))
    return {path: data for path, data in mod.files.items() if path not in odd}


def _meshes(part: Choice) -> list[Block]:
    return [block for block in part.blocks if block.type == "MESH"]


def _held(player: PlayerFound, context: Context, disk: Disk) -> Iterator[tuple[GameFile, Choice]]:
    """Yield the models that a player holds, with their files: a weapon, and what stands on that."""
    for root in (root for kind, root in player.parts.items() if kind not in KINDS):
        part = part_of(context, root)
        file = _source(part, disk)
        if file.suffix.lower() in SHOWN and part.blocks:
            yield file, part


def _source(chosen: Choice, disk: Disk) -> GameFile:
    """Return the file that a choice came from, there or not; of one that came from none a file beside the .blend."""
    holders: list[Any] = [*([] if chosen.collection is None else [chosen.collection]), *chosen.blocks]
    holders += [block.data for block in chosen.blocks if block.data is not None]
    place = next((holder[FILE] for holder in holders if isinstance(holder.get(FILE), str)), None)
    if place is not None:
        return disk.file(Path(place))
    return disk.file((Path(bpy.data.filepath).parent if bpy.data.filepath else Path(bpy.app.tempdir)) / OWN)


def _parts(context: Context, chosen: Choice, file: GameFile, disk: Disk) -> Iterator[tuple[str, Choice]]:
    """Yield the models of the scene that came from a file's folder, the chosen one first, with their files' names."""
    yield file.name, chosen
    seen = {file.name.lower()}
    for collection in context.scene.collection.children_recursive:
        place = collection.get(FILE)
        other = disk.file(Path(place)) if isinstance(place, str) and collection != chosen.collection else None
        if other is None or other.suffix.lower() not in SHOWN or other.folder != file.folder:
            continue
        part = choose(context, "COLLECTION", collection.name)
        if other.name.lower() in seen:
            log.warning("'%s' came from '%s' too: it is left out", collection.name, other.name)
        elif part.blocks:
            seen.add(other.name.lower())
            yield other.name, part
        elif part.hidden:
            log.warning("'%s' is hidden: the game shows its file", collection.name)


def _model_bytes(name: str, part: Choice, file: GameFile, context: Context, wish: Wish) -> bytes:
    row = formats.by_suffix(GameFile(file.layer, name))
    assert row is not None, "what is shown has a row"
    written = gathered(ExportRequest(Path(name)), row, part, context, GatherSettings(scale=wish.unit(part.blocks)))
    for note in (*written.notes, *left_out(part)):
        log.warning("%s: %s", name, note)
    return written.data


def _worn(chosen: Choice) -> str:
    """Return the skin that a model wears, "" for none."""
    found = None if chosen.collection is None else chosen.collection.get(SKIN)
    return found if isinstance(found, str) else ""


def _skin_bytes(name: str, part: Choice, file: GameFile, skin: str) -> dict[str, bytes]:
    """Return the file of a skin as a player's part wears it, which knows surfaces and materials that are new."""
    stem = GameFile(file.layer, name).stem
    meshes = _meshes(part)
    if stem.lower() not in PARTS or _worn(part).lower() != skin.lower() or not skin or not meshes:
        return {}
    names = {each.lower(): each for each in file.folder.names()}
    own = names.get(f"{stem}_{skin}{SKIN_SUFFIX}".lower(), f"{stem}_{skin}{SKIN_SUFFIX}")
    return {own: skin_file(meshes, Path(file.beside(own).place))[0]}


NO_PROGRAM = "No game of the preferences has an executable: see Edit > Preferences > Add-ons > id Tech Models"


def lack(context: Context) -> str:
    """Return why the active model can't be tried, as far as that is known at once, or ""."""
    if context.view_layer.objects.active is None:
        return NONE_ACTIVE
    if not programs():
        return NO_PROGRAM
    return ""


def names() -> list[str]:
    """Return what the preferences call the games that can be started."""
    return [each.game.name for each in programs()]


_running: list[Running] = []


def current() -> Running | None:
    """Return the game that runs."""
    return _running[0] if _running else None


def watch(running: Running) -> None:
    """Remember a game that runs while its user goes on in Blender; raises LimitError if there is one."""
    if _running:
        running.trial.close()
        raise LimitError(
            f"{listed([_running[0].label])} is being tried: end that game first, with Esc in Blender's window"
        )
    _running.append(running)


def forget() -> None:
    """End the game that runs, if one does."""
    while _running:
        _running.pop().trial.close()


def take() -> Running | None:
    """Return the game that runs, which is forgotten then."""
    return _running.pop() if _running else None


def background() -> bool:
    """Tell whether nobody sees a window: who calls waits then."""
    return bool(bpy.app.background)
