"""The files of a player, written into a folder or an archive."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from ..game.store import name_parts, split_at_archive
from ..reporting import LimitError, ModelError, reason
from .packs import write_members
from .paks import write_pak
from .storage import Target, holds, write_files

PLAYERS = ("models", "players")
PACK = ".pk3"
PAK, ZIPS = ".pak", (PACK, ".pkz", ".pk2")  # of the kinds of archives those that can be written
PK4 = ".pk4"  # Doom 3's


def write_player(
    target: Target,
    name: str,
    files: Mapping[str, bytes],
    besides: Mapping[str, bytes] | None = None,
    home: tuple[str, ...] = PLAYERS,
) -> None:
    """Write a player's files, by their names in its folder: all of them or, if one can't be, none.

    `besides` are others, by their paths in the game, which an archive takes along.

    `target` is the player's folder, made if it is not there; or an archive, there or not, in which the files lie in
    the folder NAME of `home`, or in the folder that `target` leads to (`mod.pk3/models/players/x`). What is there in
    another case is replaced, what has these bytes already not touched, and whatever else is there stays as it is.

    Raises:
        ModelError: something can't be written: all that was there is as it was.
    """
    odd = next((each for each in files if not each or "/".join(name_parts(each)) != each), None)
    if odd is not None:
        raise LimitError(f"'{odd}' can't be the name of a player's file")
    found = split_at_archive(target, lambda path: not os.path.isdir(path))  # noqa: PTH112 - a path's parts, as strings
    if found is None:
        _write_folder(target, files)
        return
    place, inner = found
    kinds = (PACK,) if home == PLAYERS else (PAK, *ZIPS)
    if not place.lower().endswith(kinds):
        raise LimitError(f"can't write '{place}': of archives only {', '.join(kinds)} can be written")
    folders = "/".join(inner or (*home, name))
    whole = {f"{folders}/{each}": data for each, data in files.items()} | dict(besides or {})
    if place.lower().endswith(PAK):
        write_pak(Target(place), whole)
    else:
        write_members(Target(place), whole)


def write_into_game(target: Target, files: Mapping[str, bytes]) -> None:
    """Write files by their paths in a game, below its folder or into an archive: see `write_player`."""
    found = split_at_archive(target, lambda path: not os.path.isdir(path))  # noqa: PTH112 - a path's parts, as strings
    if found is None:
        _write_folder(target, files)
    elif found[0].lower().endswith(PAK) and not found[1]:
        write_pak(Target(found[0]), files)
    elif found[0].lower().endswith((*ZIPS, PK4)) and not found[1]:
        write_members(Target(found[0]), files)
    else:
        kinds = ", ".join((PAK, *ZIPS, PK4))
        raise LimitError(f"can't write '{found[0]}': of archives only {kinds} can be written, as a whole")


def _write_folder(folder: Target, files: Mapping[str, bytes]) -> None:
    made = []
    changed = []
    try:
        for name, data in files.items():
            path = _spelt(folder, name)
            for place in (*reversed(path.parents),):
                if not place.exists():
                    place.mkdir()
                    made.append(place)
            if not holds(path, data):
                changed.append((path, data))
        write_files(changed)
    except BaseException as error:
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        if isinstance(error, OSError):
            raise ModelError(f"can't write into '{folder}': {reason(error)}") from error
        raise


def _spelt(folder: Target, name: str) -> Target:
    """Return where a file is, as it is called there if that differs in case alone."""
    for part in name.split("/"):
        exact = folder / part
        same = (
            []
            if exact.exists() or not folder.is_dir()
            else sorted(each for each in folder.iterdir() if each.name.lower() == part.lower())
        )
        folder = same[0] if same else exact
    return folder
