"""The games that the user has told us of, in the preferences of the extension, and which models they and archives hold.

The command line knows nothing of these: what it does is told by its arguments alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ... import formats
from ...blender.compat import Context
from ...formats import Format
from ...game.families import BASES
from ...game.folders import TOP_FOLDERS, Disk, Game
from ...game.listing import ANY_DEPTH, Found, models_in
from ...game.store import ARCHIVES, Store
from ...model.wording import listed, plural
from ...reporting import LimitError, ModelError, collected_warnings, joined

PACKAGE = __package__.rsplit(".", 2)[0]  # bl_ext.REPOSITORY.io_idtech_models where it is installed
UNNAMED = "Game"
AS_ARCHIVES = "AUTO"  # the family of a game whose archives tell it


def preferences() -> Any:
    """Return the preferences of the extension; None where it is imported without being installed."""
    context: Context = bpy.context
    addon = context.preferences.addons.get(PACKAGE)
    return None if addon is None else addon.preferences


def own_name(game: Any) -> str:
    """Return what a game of the preferences is called: by its user, or as its folder is, or the one around `baseq3`."""
    folder = Path(game.folder)
    spelt = folder.parent.name if folder.name.lower() in BASES else folder.name
    return str(game.name.strip() or spelt or UNNAMED)


def names_of(games: Sequence[Any]) -> list[str]:
    """Return what games of the preferences are called, no two alike: menus and scripts tell them apart by it."""
    found: list[str] = []
    for name in map(own_name, games):
        spelt = (name, *(f"{name} {number}" for number in range(2, len(found) + 2)))
        found.append(next(each for each in spelt if each not in found))
    return found


def configured() -> list[Game]:
    """Return the games of the preferences that are switched on and there, the first first; a mod is above its game."""
    return [game for game, _ in configured_entries()]


def configured_entries() -> list[tuple[Game, Any]]:
    """Return the games that are switched on and there, and each one's entry in the preferences."""
    own = preferences()
    games = [] if own is None else list(own.games)
    found = []
    for each, name in zip(games, names_of(games), strict=True):
        folders = tuple(place for place in (each.mod, each.folder) if place and is_folder(place))
        if each.enabled and folders:
            found.append((Game(name, folders, "" if each.family == AS_ARCHIVES else each.family), each))
    return found


def is_folder(place: str) -> bool:
    """Tell whether a folder is at a path."""
    return os.path.isdir(place)  # noqa: PTH112 - Path's own raises where a name is too long


def is_file(place: str) -> bool:
    """Tell whether a file is at a path."""
    return os.path.isfile(place)  # noqa: PTH113 - as above


def user_disk() -> Disk:
    """Return what an operator reads files from: it knows the games of the preferences."""
    return _shared[-1] if _shared else Disk(configured())


_shared: list[Disk] = []  # of operators that read together


def sharing_disk() -> Callable[[], AbstractContextManager[None]]:
    """Return a context in which operators read from one disk, which lists each folder once; to be entered often."""
    disk = user_disk()

    @contextmanager
    def sharing() -> Iterator[None]:
        _shared.append(disk)
        try:
            yield
        finally:
            _shared.pop()

    return sharing


def fault_of(place: str) -> str:
    """Return why a folder can't be a game's, or ""."""
    try:
        names = [name.lower() for name in os.listdir(place)]  # noqa: PTH208 - names, not paths
    except OSError:
        return f"there is no folder '{place}'"
    if any(name in TOP_FOLDERS or name.endswith((*ARCHIVES, ".pk3dir")) for name in names):
        return ""
    return "no archive and no 'models' lies in it: name the folder that has them, such as 'baseq3'"


def kinds_in(space: str) -> dict[str, str]:
    """Return the formats' names by lower-case suffix of what the operators of a space import: `scene` or `anim`."""
    rows = [row for row in formats.ROWS if (row.has_model if space == "scene" else _moves(row))]
    return {suffix: row.name for row in rows for suffix in row.suffixes}


def _moves(row: Format) -> bool:
    return row.has_motions


@dataclass
class Models:
    """Models of archives or of a game, in order of their paths, and what there is to say of them."""

    place: str  # what a sentence calls where they lie
    found: list[Found]
    notes: list[str] = field(default_factory=list)


def in_archives(
    paths: Sequence[Path], kinds: Mapping[str, str], patterns: Sequence[str] = (), noun: str = "model"
) -> Models:
    """Return the models of archives; `kinds` are formats' names by lower-case suffix, `patterns` say which, else all.

    `noun` is what a sentence calls them.

    Raises:
        ModelError: one can't be read, or holds no model, or a pattern fits none.
    """
    disk = user_disk()
    stores: list[Store] = []
    notes = []
    for path in paths:
        archive = disk.archive(disk.file(path))
        try:
            refused = archive.directory().refused
        except ModelError as error:
            raise LimitError(f"{path.name}: {error}") from error
        if refused:
            notes.append(f"{path.name}: {plural(len(refused), 'file')} left out, no game can reach such names")
        stores.append(archive.folder())
    names = listed([path.name for path in paths])
    return Models(names, _chosen(f"{names} has no {noun}", stores, kinds, patterns), notes)


def in_game(game: Game, kinds: Mapping[str, str], patterns: Sequence[str] = ()) -> Models:
    """Return the models that a game sees, of those of one name the strongest; see `in_archives`."""
    with collected_warnings() as warnings:
        store = user_disk().game(game)
        try:
            found = _chosen(f"'{game.name}' has no model", [store], kinds, patterns)
        except ModelError as error:
            raise LimitError(joined([str(error), *warnings])) from error
    return Models(f"'{game.name}'", found, warnings)


def game_called(name: str) -> Game:
    """Return the game that the preferences call so, the first one for ""; raises LimitError."""
    found = next((game for game in configured() if name in {"", game.name}), None)
    if found is None:
        shown = f" '{name}'" if name else ""
        raise LimitError(f"the preferences name no game{shown} whose folder is there")
    return found


def models_of(name: str, patterns: Sequence[str] = ()) -> Models:
    """Return models of the game that the preferences call so; raises ModelError."""
    return in_game(game_called(name), kinds_in("scene"), patterns)


def _chosen(lack: str, stores: Sequence[Store], kinds: Mapping[str, str], patterns: Sequence[str]) -> list[Found]:
    """Return the models that patterns mean, each once: what one matches may be a folder. `lack` says that none fits."""
    found: dict[Found, None] = {}
    for pattern in patterns or [ANY_DEPTH]:
        wanted = (pattern, f"{pattern}/{ANY_DEPTH}") if patterns else (pattern,)
        here = [each for store in stores for part in wanted for each in models_in(store, kinds, part)]
        if not here:
            raise LimitError(f"{lack} '{pattern}'" if patterns else f"{lack}s")
        found.update(dict.fromkeys(here))
    return sorted(found, key=lambda each: f"{each.folder}/{each.file.name}".lower())
