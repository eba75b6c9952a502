"""What a character's collection knows of its files: what they are called in their game, and its texts as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

import bpy

from ...assets.player import PACK
from ...blender.compat import Block
from ...blender.player.build import store_files, stored_files
from ...blender.provenance import CHARACTER, FILE, MODEL_ID, PART
from ...blender.roots import LEVEL, is_root
from ...game.character.files import BODY, CharacterFiles
from ...game.character.kinds import home_of
from ...game.character.places import path_in
from ...game.store import GameFile, Store, split_at_archive
from ...model.limits.games import GAMES, UNKNOWN


@dataclass(eq=False)
class Record:
    """The paths in the game of a character's files, "" for none."""

    game: str  # a key of `limits.games.GAMES`
    file: str  # that names it
    skin: str  # by its name
    scale: float  # of a game unit in the scene
    name: str = ""  # what it is called
    models: dict[str, str] = field(default_factory=dict)  # by BODY and kinds of pieces
    skins: dict[str, str] = field(default_factory=dict)  # what these wear
    sums: dict[str, str] = field(default_factory=dict)  # of the models' files: CRC-32 in hexadecimal
    group: str = ""  # the text whose tables have the rows
    texts: dict[str, bytes] = field(default_factory=dict)  # skins among them


def names_in_game(files: CharacterFiles, wanted: Iterable[GameFile]) -> dict[GameFile, str]:
    """Return what a character's files are called in their game; "" for one that lies in none."""
    games = games_of(files)
    return {file: path_in(games, file) for file in wanted}


def games_of(files: CharacterFiles) -> list[Store]:
    """Return the game that a character is of, and those that the user has named."""
    home = home_of(files.file)
    return [] if home is None else [home, *files.file.layer.elsewhere]


def remember(collection: bpy.types.Collection, files: CharacterFiles, scale: float) -> None:
    """Note on a character's collection what it came from."""
    models = {piece.kind: piece.file for piece in files.pieces}
    skins = {piece.kind: piece.skin for piece in files.pieces if piece.skin is not None}
    if files.body is not None:
        models[BODY] = files.body
    if files.skin is not None:
        skins[BODY] = files.skin
    called = names_in_game(files, [*files.texts, *models.values(), *skins.values()])
    record = Record(files.game, called.get(files.file, ""), files.skin_name, scale, files.name)
    record.models = {kind: called[file] for kind, file in models.items()}
    record.skins = {kind: called[file] for kind, file in skins.items()}
    record.sums = {kind: f"{crc32(file.read()):08x}" for kind, file in models.items()}
    group = next((file for file in files.texts if file != files.file), None)
    record.group = "" if group is None else called[group]
    facts = asdict(record)
    del facts["texts"]
    collection[CHARACTER] = json.dumps(facts)
    store_files(collection, {called[file]: file.read() for file in (*files.texts, *skins.values()) if called[file]})


def recall(collection: Any) -> Record | None:
    """Return what a character's collection knows, checked: a .blend can come from a stranger; None for no character."""
    try:
        found = json.loads(str(collection.get(CHARACTER, "")))
        record = Record(str(found["game"]), str(found["file"]), str(found["skin"]), float(found["scale"]))
        for key in ("models", "skins", "sums"):
            getattr(record, key).update((str(kind), str(path)) for kind, path in found[key].items())
        record.group, record.name = str(found["group"]), str(found.get("name", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not 1e-6 <= record.scale <= 1e6:
        return None
    record.texts = stored_files(collection)
    return record


@dataclass(eq=False)
class CharacterFound:
    """A character in the scene."""

    collection: Any
    record: Record
    body: Any  # the collection of its body
    rig: Block
    pieces: dict[str, Block]  # the roots of what hangs on it, by kinds

    @property
    def name(self) -> str:
        """Return what it is called, as its file or its folder is."""
        return (
            self.record.name
            or PurePath(self.record.file or str(self.collection.get(FILE, ""))).stem
            or str(self.collection.name)
        )


def find(collection: Any) -> CharacterFound | None:
    """Return the character that a collection holds; None if it holds none, or its body is gone."""
    record = recall(collection)
    if record is None:
        return None
    homes = [each for each in collection.children_recursive if each.get(MODEL_ID)]
    found = ((home, block) for home in homes for block in home.objects if block.type == "ARMATURE")
    body = next((pair for pair in found if pair[1].data.get(MODEL_ID) == pair[0].get(MODEL_ID)), None)
    if body is None:
        return None
    roots = [block for block in collection.all_objects if is_root(block) and LEVEL not in block]
    return CharacterFound(collection, record, *body, {str(root[PART]): root for root in reversed(roots)})


def character_target(collection: Any) -> Path | None:
    """Return where to write a character: its game's folder, or a new archive beside its own; None for none."""
    record, place = recall(collection), collection.get(FILE)
    if record is None:
        return None
    name = record.name or PurePath(record.file).stem or str(collection.name)
    if not isinstance(place, str) or not record.file:
        return Path(bpy.data.filepath).parent / f"z_{name}{PACK}"
    at = split_at_archive(Path(place), os.path.isfile)
    if at is not None:
        return Path(at[0]).parent / f"z_{name}{PACK}"
    return Path(place).parents[len(PurePath(record.file).parts) - 1]


def character_game(collection: Any) -> str:
    """Return the game that a character is of, a key of `limits.games.GAMES`."""
    record = recall(collection)
    return record.game if record is not None and record.game in GAMES else UNKNOWN
