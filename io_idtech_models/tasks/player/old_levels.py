"""Levels of detail that games would find beside a player that is saved, and that are not written with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ... import formats
from ...assets.levels import level_name
from ...game.folders import Disk
from ...game.store import GameFile, Store, name_parts, split_at_archive, split_name
from ...model.limits.games import MOST_LEVELS
from ...reporting import ModelError
from .tables import KINDS

ROW = formats.by_name("md3")
ANEW = "Make Levels (50, 25) of the player's export makes it anew"


def stale(files: Mapping[str, bytes], places: list[Store]) -> Iterator[str]:
    """Yield what is to be said of levels that lie in a player's folder while their models change.

    `files` are written, by their names; `places` are the folder as games see it that has what is not written.
    """
    written = {name.lower() for name in files}
    for name, data in files.items():
        stem, suffix = split_name(name)
        if stem.lower() not in KINDS:  # what is called so is a part's model
            continue
        for number in range(1, MOST_LEVELS + 1):
            wanted = level_name(stem, number) + suffix
            found = [] if wanted.lower() in written else [_changing(name, data, wanted, place) for place in places]
            left = next((file for file in found if file is not None), None)
            if left is not None:
                yield _said(left, name, data)


def places_of(target: Path, inside: str, source: Path | None, disk: Disk) -> list[Store]:
    """Return the folder of a player as games see it where it is written, and where it came from.

    `target` is a folder, or an archive in which it lies in the folder `inside`, there or not.
    """
    folders = name_parts(inside)
    at = split_at_archive(target, lambda path: not os.path.isdir(path))  # noqa: PTH112 - as `write_player` asks
    found: list[Store] = []
    if at is None:
        found.append(disk.store(target).around)
    else:
        place = Path(at[0])
        found += disk.whole(disk.folder(place.parent)).below(folders)
        found += disk.store(place).below(folders) if place.is_file() else []
    if source is not None and (at is not None or _ends_in(target, folders)):
        found.append(disk.store(source).around)
    return found


def _ends_in(target: Path, folders: list[str]) -> bool:
    return [part.lower() for part in target.parts[-len(folders) :]] == [name.lower() for name in folders]


def _changing(name: str, data: bytes, level: str, place: Store) -> GameFile | None:
    """Return the level of a model's file that is there while that changes; None if there is none, or no change."""
    found = place.find_first((), [level])
    model = None if found is None else place.find_first((), [name])
    try:
        return None if model is not None and model.read() == data else found
    except ModelError:  # which then is no longer what it was
        return found


def _said(level: GameFile, name: str, data: bytes) -> str:
    at = split_at_archive(Path(level.place), os.path.isfile)
    where = "there" if at is None else f"in '{Path(at[0]).name}'"
    try:
        own, wanted = (ROW.load(each, "").num_frames for each in (level.read(), data))
    except ModelError:
        own = wanted = 0
    if own != wanted:
        counts = f"has {own} frames, '{name}' {wanted}"
        return (
            f"'{level.name}' lies {where} from before and {counts}: games ask both for the same, and may crash; {ANEW}"
        )
    return f"'{level.name}' lies {where} from before, and games show that from afar: {ANEW}"
