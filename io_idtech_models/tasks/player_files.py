"""Where players lie: which one a path means, and where one is written to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from ..assets.storage import write_files
from ..blender.player.parts import PlayerFound
from ..blender.provenance import FILE
from ..game.player.files import PlayerFiles, player_in, player_of, players_in
from ..game.search import game_folder
from ..game.store import ARCHIVES, Disk, GameFile, Store, split_at_archive
from ..model.wording import listed
from ..reporting import LimitError
from .player_exports import SavedPlayer, player_name


def players_at(path: Path, disk: Disk, name: str = "") -> PlayerFiles:
    """Return the player that a path means: a file of its folder, that folder, or an archive or game with a `name`.

    Raises:
        ModelError: there is none, or there are several and no name says which.
    """
    file = disk.file(path)
    if file.is_file() and not path.name.lower().endswith(ARCHIVES):
        found = player_of(file)
        if found is None:
            raise LimitError("no player lies there: its folder has lower.md3, upper.md3 and head.md3")
        return found
    store = disk.store(path)
    own = player_in(store)
    if own is not None and (not name or own.name.lower() == name.lower()):
        return own
    return _of_several(players_in(store.around), name)


@dataclass(frozen=True)
class WeaponFiles:
    """The models of a weapon: what is held, and what hangs on it."""

    base: GameFile
    barrel: GameFile | None
    flash: GameFile | None


def weapon_of(player: PlayerFiles, name: str) -> WeaponFiles:
    """Return a weapon of a player's game (CG_RegisterWeapon: models/weapons2/W/W.md3, W_barrel.md3, W_flash.md3).

    Raises:
        LimitError: there is none of that name.
    """
    game = game_folder(next(iter(player.parts.values())).base)
    places = () if game is None else game.below(("models", "weapons2", name))
    found = {stem: _first(places, f"{stem}.md3") for stem in (name, f"{name}_barrel", f"{name}_flash")}
    base = found[name]
    if base is None:
        there = [] if game is None else [each for place in game.below(("models", "weapons2")) for each in place.names()]
        raise LimitError(
            f"the game has no weapon '{name}': {listed(sorted(set(there)), 20) if there else 'it has none'}"
        )
    return WeaponFiles(base, found[f"{name}_barrel"], found[f"{name}_flash"])


def _first(places: Iterable[Store], name: str) -> GameFile | None:
    return next((file for place in places if (file := place.find_first((), [name])) is not None), None)


def _of_several(players: list[PlayerFiles], name: str) -> PlayerFiles:
    own = [player for player in players if not name or player.name.lower() == name.lower()]
    found = own[0] if len(own) == 1 else None
    if found is not None:
        return found
    if not players:
        raise LimitError("no player lies there: a game has them in models/players")
    names = listed([player.name for player in players], 20)
    raise LimitError(f"no player is called '{name}': {names}" if name else f"say which player: {names}")


def proposed_target(player: PlayerFound) -> Path:
    """Return where to write a player: its folder, or the archive that it came from; else a folder beside the .blend."""
    import bpy

    found = None if player.collection is None else player.collection.get(FILE)
    if isinstance(found, str):
        at = split_at_archive(Path(found), os.path.isfile)
        return Path(at[0]) if at is not None else Path(found)
    return Path(bpy.data.filepath).parent / player_name(player)


def write(saved: SavedPlayer, target: Path, player: PlayerFound) -> list[str]:
    """Write a player's files into a folder, all or none; what is there already stays as it is. Returns warnings.

    Raises:
        ModelError: a file can't be written; all are as they were.
    """
    if not target.exists():
        target.mkdir(parents=True)
    there = {name.lower(): name for name in os.listdir(target)}  # noqa: PTH208 - names, not paths
    wanted = [(target / there.get(name.lower(), name), data) for name, data in saved.files.items()]
    write_files([(path, data) for path, data in wanted if not is_same(path, data)])
    return []


def is_same(path: Path, data: bytes) -> bool:
    """Tell whether a file has just these bytes."""
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def inside(player: PlayerFound) -> str:
    """Return where in a game a player's folder is."""
    found = None if player.collection is None else player.collection.get(FILE)
    parts = PurePath(found).parts if isinstance(found, str) else ()
    lowered = [part.lower() for part in parts]
    if "models" in lowered:
        return "/".join(parts[len(lowered) - 1 - lowered[::-1].index("models") :])
    return f"models/players/{player_name(player)}"
