"""The games that the user has told us of, in the preferences of the extension, and the disk that operators read from.

The command line knows nothing of these: what it does is told by its arguments alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...blender.compat import Context
from ...game.families import BASES
from ...game.folders import TOP_FOLDERS, Disk, Game
from ...game.store import ARCHIVES

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
