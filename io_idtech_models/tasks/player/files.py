"""Where players lie: which one a path means, and where one is written to.

Games would find levels of detail beside a player that is saved, also such as are not written with it.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

from ... import formats
from ...assets.levels import level_name
from ...assets.player import PACK, write_player
from ...blender.linked import is_linked
from ...blender.player.build import stored_files
from ...blender.player.parts import PlayerFound
from ...blender.provenance import FILE
from ...game.folders import Disk, led
from ...game.player.files import PlayerFiles, named_by, player_in, player_of, players_in
from ...game.player.weapons import WeaponFiles, weapons_of
from ...game.skin import SUFFIX as SKIN
from ...game.skin import skins_of
from ...game.store import ARCHIVES, GameFile, Store, name_parts, plain_path, split_at_archive, split_name
from ...model.limits.games import MOST_LEVELS
from ...reporting import LimitError, ModelError, listed
from ..export.advice import of_other_pictures, of_turned_pictures
from ..import_.games import configured, user_disk
from ..skins import skin_worn_by
from .exports import SavedPlayer, player_name
from .home import say_elsewhere
from .icons import icons_of
from .mod import Mod, moved
from .tables import KINDS

log = logging.getLogger(__name__)

ROW = formats.by_name("md3")
NOTES = "idtech_written_texts"  # on a player's collection: see `Notes`
MODEL = "lower.md3"  # by which a player's folder is known
_written: dict[str, dict[str, tuple[int, bool]]] = {}  # by folders: see `Notes`
MOST_SHOWN = 20  # names in a message: all that a game has itself
ANEW = "Make Levels (50, 25) of the player's export makes it anew"


def players_at(path: Path, disk: Disk, name: str = "", as_game: bool = False) -> PlayerFiles:
    """Return the player that a path means: a file of its folder, that folder, or an archive or game with a `name`.

    What is named is read from there, and where the game takes others the player's `missing` says so; `as_game`: all
    is as the game sees it.

    Raises:
        ModelError: there is none, or there are several and no name says which.
    """
    file = disk.file(path)
    if file.is_file() and not path.name.lower().endswith(ARCHIVES):
        found = player_of(file) if as_game else named_by(file)
        if found is None:
            raise LimitError("no player lies there: its folder has lower.md3, upper.md3 and head.md3")
        return found
    store = disk.store(path)
    own = player_in(store)
    if own is not None and (not name or own.name.lower() == name.lower()):
        return own
    every = players_in(led(store))
    inside = _of_archive(path, every, disk)
    is_there = not name or any(each.name.lower() == name.lower() for each in inside)
    return _of_several(inside if is_there else every, name)


def _of_archive(path: Path, players: list[PlayerFiles], disk: Disk) -> list[PlayerFiles]:
    """Return those of a game's players that have a part in an archive that is named; all where there is none."""
    if not path.name.lower().endswith(ARCHIVES):
        return players
    inside = str(disk.store(path).place) + os.sep
    own = [each for each in players if any(part.base.place.startswith(inside) for part in each.parts.values())]
    return own or players


def weapon_of(player: PlayerFiles, name: str) -> WeaponFiles:
    """Return a weapon of a player's game; raises LimitError if there is none of that name."""
    there = weapons_of(next(iter(player.parts.values())).base)
    found = next((weapon for weapon in there if weapon.name.lower() == name.lower()), None)
    if found is None:
        names = listed([weapon.name for weapon in there], MOST_SHOWN) if there else "it has none"
        raise LimitError(f"the game has no weapon '{name}': {names}")
    return found


def players_from(source: str) -> list[PlayerFiles]:
    """Return the players of an archive or a folder, or ("") of all games of the preferences.

    Raises:
        LimitError: there is none.
    """
    disk = user_disk()
    if source:
        stores = [led(disk.store(Path(source)))]
    else:
        stores = [disk.game(game) for game in configured()]
        if not stores:
            raise LimitError("name a game's folder in the preferences of id Tech Models first")
    found = [player for store in stores for player in players_in(store)]
    found = _of_archive(Path(source), found, disk) if source else found
    if not found:
        raise LimitError("no player lies there: a game has them in models/players")
    return found


def _of_several(players: list[PlayerFiles], name: str) -> PlayerFiles:
    own = [player for player in players if not name or player.name.lower() == name.lower()]
    found = own[0] if len(own) == 1 else None
    if found is not None:
        return found
    if not players:
        raise LimitError("no player lies there: a game has them in models/players")
    names = listed([player.name for player in players], MOST_SHOWN)
    raise LimitError(f"no player is called '{name}': {names}" if name else f"say which player: {names}")


def proposed_target(player: PlayerFound) -> Path:
    """Return where to write a player: its folder; a new archive beside those that it came from; or beside the .blend.

    Games look into archives first, the last by name before others: a folder would not be seen.
    """
    import bpy

    name = player_name(player)
    found = source_of(player)
    if found is None:
        return Path(bpy.data.filepath).parent / name
    at = split_at_archive(found, os.path.isfile)
    if at is None and found.is_dir():
        return found
    depth = len(inside(player).split("/"))
    place = Path(at[0]).parent if at is not None else found.parents[depth - 1]
    return place / f"z_{name}{PACK}"


def write(saved: SavedPlayer, target: Path, player: PlayerFound, name: str = "") -> None:
    """Write a player's files, with its icons, into a folder or a .pk3, all or none; what else is there stays.

    A player that came from an archive goes into one where its files were, or those of another `name` are. What its game
    lacks goes along into an archive.

    Raises:
        ModelError: a file can't be written; all are as they were.
    """
    packed, folder = target.name.lower().endswith(PACK), inside(player)
    files, besides = dict(saved.files), {}
    skins = {each: data for each, data in files.items() if each.lower().endswith(SKIN)}
    mod = mod_of(player, saved)
    if packed or name:
        mod.fill(skins)
        old, folder = folder, f"{folder.rpartition('/')[0]}/{name}" if name else folder
        if name:
            moved(skins, mod, old, folder)
            files = {each: _with_path(each, data, old, folder) for each, data in files.items()}
        files, besides = files | skins, mod.files
    else:
        for text in (*of_other_pictures(saved.meshes, ROW), *of_turned_pictures(saved.meshes, ROW)):
            log.warning("%s", text)
        if lost := sorted(mod.painted(skins)):
            log.warning("painted or made here, and in no file: a .pk3 takes them along, or save them: %s", listed(lost))
    place = source_of(player)
    source = None if place is None else player_in(user_disk().store(place))
    goes_to = user_disk().store(target / folder if packed else target)
    files |= icons_of(player, source, files, saved.skin, goes_to, renamed=bool(name))
    if packed and place is not None and source is None:
        text = "the player's folder is not there any more, and what lay beside its models, pictures say, left out: '%s'"
        log.warning(text, place)
    for text in stale(files, places_of(target, folder, place, user_disk())):
        log.warning("%s", text)
    if packed:
        write_player(target / folder, saved.name, files, besides)
        return
    if name and target.name.lower() != name:
        say_elsewhere(target.name, folder)
    _write_folder(saved, target, player, files | _inside(besides, folder))


def _inside(besides: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """Return files by their paths in a folder of the game; others, which only an archive takes, are named."""
    below = f"{folder}/"
    others = sorted(path for path in besides if not path.startswith(below))
    if others:
        log.warning("not below '%s', only a .pk3 takes them along: %s", folder, listed(others))
    return {path.removeprefix(below): data for path, data in besides.items() if path not in others}


def _write_folder(saved: SavedPlayer, target: Path, player: PlayerFound, files: dict[str, bytes]) -> None:
    """Write a player's files into a folder; in that which it came from texts may have been edited since."""
    place, home = source_of(player), player.collection
    if place is None or home is None or is_linked(home) or plain_path(place) != plain_path(target):
        write_player(target, saved.name, files)
        return
    texts, noted = stored_files(home), _notes_of(home, target)
    worn = {_worn_file(player, kind, files).lower() for kind in player.parts}
    worn |= {f"{kind}_{saved.skin}{SKIN}".lower() for kind in player.parts if saved.skin}
    _leave_edited(files, texts, user_disk().store(target), worn, noted)
    write_player(target, saved.name, files)
    noted |= {name: (crc32(data), name.lower() in worn) for name, data in files.items() if name in texts}
    _written[plain_path(target)] = noted
    home[NOTES] = json.dumps(noted)


Notes = dict[str, tuple[int, bool]]  # of texts that exports wrote: checksums, and whether it was what the part wore


def _notes_of(home: Any, target: Path) -> Notes:
    """Return what exports wrote of a player's texts in a folder: in this session, which no undo changes, or before."""
    try:
        found = json.loads(home.get(NOTES, "{}"))
        before = {str(name): (int(crc), bool(worn)) for name, (crc, worn) in found.items()}
    except (ValueError, TypeError, AttributeError):
        before = {}
    return before | _written.get(plain_path(target), {})


def _worn_file(player: PlayerFound, kind: str, files: Mapping[str, bytes]) -> str:
    return f"{kind}_{skin_worn_by(player, kind, skins_of(kind, files))}{SKIN}"


def _leave_edited(
    files: dict[str, bytes], kept: Mapping[str, bytes], folder: Store, worn: Container[str], noted: Notes
) -> None:
    """Leave skins that nobody wears, nor edited in Blender, as they lie in the folder that a player came from.

    `kept` are its texts as it came, `noted` what exports wrote. What somebody else edited is said: a skin that is worn
    is as it is worn, and a table goes with the frames of the models.
    """
    left, anew = [], []
    for name in [name for name in kept if name in files and folder.is_file(name)]:
        data = folder.read(name)
        crc, was_worn = noted.get(name, (-1, False))
        is_ours = data == kept[name] or crc32(data) == crc
        if data == files[name] or (is_ours and not was_worn):
            continue
        if name.lower().endswith(SKIN) and name.lower() not in worn and files[name] == kept[name]:
            del files[name]
            left += [] if is_ours else [name]
        elif not is_ours:
            anew.append(name)
    if left:
        text = "edited in the folder since the import, and left as they are (Show Skin takes them up): %s"
        log.warning(text, listed(left))
    if anew:
        log.warning("edited in the folder since the import, and written over as they are in Blender: %s", listed(anew))


def mod_of(player: PlayerFound, saved: SavedPlayer) -> Mod:
    """Return what is to find the pictures and scripts that a player needs."""
    place = source_of(player)
    model = None if place is None else user_disk().file(place / MODEL)
    return Mod(model, inside(player), saved.meshes, saved.skin)


def _with_path(name: str, data: bytes, old: str, new: str) -> bytes:
    """Return a table of animations that names another folder where it names the player's."""
    if not name.lower().endswith(".cfg"):
        return data
    return re.sub(re.escape(old.encode()) + rb"(?=/)", lambda _: new.encode(), data, flags=re.IGNORECASE)


def source_of(player: PlayerFound) -> Path | None:
    """Return the folder that a player came from; None of one that came from none."""
    found = player.kept(FILE)
    return Path(found) if found else None


def inside(player: PlayerFound) -> str:
    """Return where in a game a player's folder is."""
    parts = PurePath(player.kept(FILE)).parts
    lowered = [part.lower() for part in parts]
    if "models" in lowered:
        return "/".join(parts[len(lowered) - 1 - lowered[::-1].index("models") :])
    return f"models/players/{player_name(player)}"


def stale(files: Mapping[str, bytes], places: list[Store]) -> Iterator[str]:
    """Yield what is to be said of levels that lie in a player's folder while their models change.

    `files` are written, by their names; `places` are the folder as games see it that has what is not written.
    """
    written = {name.lower() for name in files}
    models = (name for name in files if split_name(name)[0].lower() in KINDS)  # what is called so is a part's model
    for name in models:
        (stem, suffix), data = split_name(name), files[name]
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
        found += disk.whole(disk.folder(Path(at[0]).parent)).below(folders)
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
