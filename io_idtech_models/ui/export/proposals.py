"""What an export dialog begins with: the file that the model came from, its name, and what it hangs on."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

import bpy

from ...blender.provenance import FILE
from ...formats import Format
from ...model.limits.games import game_for

_last: dict[str, str] = {}  # the game that a format was exported for last, by the format's name


def remember_game(row: Format, game: str) -> None:
    """Note for which game a format was exported."""
    _last[row.name] = game


def proposed_game(row: Format, file: str) -> str:
    """Return the game whose limits to keep of a model that came from `file`, or "": see `game_for`; else the last."""
    place = PurePath(file or bpy.data.filepath)
    found = game_for(row.name, place.parts[:-1])
    by_folder = found != game_for(row.name, ())
    return found if by_folder else _last.get(row.name, found)


def file_stem(collection: bpy.types.Collection) -> str:
    """Return what to call a model's file: as it was, while its collection still has the name that import gave it."""
    from ...blender import names
    from ...game.folders import Disk
    from ...game.search import model_name

    file = collection.get(FILE)
    if isinstance(file, str) and names.stem_of(collection.name) == names.fit(model_name(Disk().file(Path(file)))):
        return Path(file).stem
    return str(collection.name)


def file_of_choice(chosen: Any) -> str:
    """Return which file a choice came from, or ""."""
    blocks = [block if block.data is None else block.data for block in chosen.blocks]
    holders = [*([] if chosen.collection is None else [chosen.collection]), *blocks]
    return next((file for file in (holder.get(FILE) for holder in holders) if isinstance(file, str)), "")


def proposed_stem(chosen: Any) -> str:
    """Return what to call the file of a choice: as its model's file, or else as the .blend."""
    if chosen.collection is not None:
        return file_stem(chosen.collection)
    own = Path(file_of_choice(chosen)).stem
    return own or Path(bpy.data.filepath).stem or "untitled"


def carrier_of(blocks: list[Any]) -> str:
    """Return the name of what a model hangs on, all of its objects given: a root, or another model's tag; or ""."""
    from ...blender.hanging import find_hanging
    from ...blender.roots import root_of

    hanging = find_hanging(blocks)
    roots = {root.name for root in map(root_of, blocks) if root is not None}
    return min(roots, default="" if hanging is None else hanging.carrier.name)
