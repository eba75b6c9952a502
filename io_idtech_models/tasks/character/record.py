"""What a character's collection knows of its files: what they are called in their game, and its texts as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

import bpy

from ...blender.compat import Block
from ...blender.player.build import store_files, stored_files
from ...blender.provenance import CHARACTER, FILE, MODEL_ID, PART
from ...blender.roots import LEVEL, follows, is_root, is_tag, root_of
from ...blender.scene import materials_of, objects_in
from ...blender.shading.materials import worn_by
from ...blender.skeletal.kept_frames import kept_files
from ...formats import VERTEX, by_suffix
from ...game.character.files import BODY, CharacterFiles
from ...game.character.kinds import character_of, home_of, kind_named
from ...game.store import GameFile, Store, path_in, split_at_archive
from ...model.limits.games import GAMES, NO_GAME
from ...reporting import ModelError

PACK = ".pk3"  # how archives end of a game that is not known


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
    # Files of frames, by BODY and kinds of pieces: what actions of theirs are called.
    motions: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    # Places of what belongs to it, but is not known by heart: also of pieces that no skin could leave out.
    besides: dict[str, str] = field(default_factory=dict)
    declared: tuple[str, str] = ("", "")  # the model that its body is, and its mesh, where its game declares these
    declarations: list[str] = field(default_factory=list)  # those of the texts that are made of its game's ones


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
    called = names_in_game(files, [files.file, *files.texts, *models.values(), *skins.values()])
    record = Record(files.game, called.get(files.file, ""), files.skin_name, scale, files.name)
    record.models = {kind: called[file] for kind, file in models.items()}
    record.skins = {kind: called[file] for kind, file in skins.items()}
    record.sums = {kind: f"{crc32(file.read()):08x}" for kind, file in models.items()}
    group = next((file for file in files.texts if file != files.file), None)
    record.group = "" if group is None else called[group]
    texts = {called[file]: file.read() for file in (*files.texts, *skins.values()) if called[file]}
    kind = kind_named(files.file.name)
    if kind is not None and kind.declared is not None:
        own = kind.declared(files, worn_in(collection, files))
        record.declared, record.declarations = files.declared, list(own)
        texts |= own
    written = {called[file] for file in models.values() if not _is_text(file)}
    _remember_besides(record, files, written | {*texts}, _kept_in(collection))
    if kind is not None and kind.with_skin is not None:
        _remember_named_skin(record, files, written | {*texts})
    skinned = {} if kind is None else kind.places
    apart = [file for piece, file in models.items() if _is_text(file) or (piece != BODY and piece not in skinned)]
    record.besides |= {called[file]: file.place for file in apart if called[file]}
    facts = asdict(record)
    del facts["texts"]
    collection[CHARACTER] = json.dumps(facts)
    store_files(collection, texts)


def _remember_besides(record: Record, files: CharacterFiles, known: set[str], kept: Mapping[str, bool]) -> None:
    """Note where files lie that belong to a character, but for those that are `known`.

    Also of those that armatures keep, which may be deleted: what is not in the scene stays as it was.
    """
    by_kind = {BODY: [motion for motion in files.motions if motion.file != files.body]}
    by_kind |= {piece.kind: [*piece.motions] for piece in files.pieces}
    frames = list(dict.fromkeys(motion.file for motions in by_kind.values() for motion in motions))
    called = names_in_game(files, [*frames, *files.besides])
    for file, path in called.items():
        if path and path not in known:
            record.besides[path] = file.place
    apart = [file for file in frames if called[file] and called[file] not in kept]
    record.sums |= {called[file]: f"{crc32(file.read()):08x}" for file in apart}
    for kind, motions in by_kind.items():
        own = [motion for motion in motions if called[motion.file] and kept.get(called[motion.file], True)]
        found = {called[each.file]: list(each.names or (each.file.stem,)) for each in own}
        record.motions |= {kind: found} if found else {}


def _remember_named_skin(record: Record, files: CharacterFiles, known: set[str]) -> None:
    """Note where the skin lies that a character's file names, and what that attaches, where another one is worn."""
    try:
        named = character_of(files.file, "", files.name)
    except ModelError:
        return
    if named.skin is None or named.skin == files.skin:
        return
    pieces = [file for piece in named.pieces for file in (piece.file, piece.skin) if file is not None]
    for file, path in names_in_game(files, [named.skin, *pieces]).items():
        if path and path not in known:
            record.besides.setdefault(path, file.place)


def _kept_in(collection: Any) -> dict[str, bool]:
    """Return which files of frames armatures keep, by their paths in the game: whether each is an animation."""
    rigs = (block for block in objects_in(collection) if block.type == "ARMATURE")
    return {file.game_name: file.is_animation for rig in rigs for file in kept_files(rig)}


def _is_text(file: GameFile) -> bool:
    """Tell whether a file's format is text, in which the same can be said in other letters."""
    row = by_suffix(file)
    return row is not None and row.is_text


def worn_in(collection: Any, files: CharacterFiles) -> set[str]:
    """Return the materials that a character wears, or that its skins know."""
    meshes = (block for block in objects_in(collection) if block.type == "MESH")
    found = set(map(worn_by, materials_of(meshes)))
    decls = [files.decl, *(piece.decl for piece in files.pieces)]
    return found | {name for decl in decls if decl is not None for pair in decl.pairs for name in pair}


def recall(collection: Any) -> Record | None:
    """Return what a character's collection knows, checked: a .blend can come from a stranger; None for no character."""
    try:
        found = json.loads(str(collection.get(CHARACTER, "")))
        record = Record(str(found["game"]), str(found["file"]), str(found["skin"]), float(found["scale"]))
        for key in ("models", "skins", "sums"):
            getattr(record, key).update((str(kind), str(path)) for kind, path in found[key].items())
        record.group, record.name = str(found["group"]), str(found.get("name", ""))
        record.besides = {str(path): str(place) for path, place in found.get("besides", {}).items()}
        record.motions = {
            str(kind): {str(path): [*map(str, called)] for path, called in own.items()}
            for kind, own in found.get("motions", {}).items()
        }
        record.declarations = [str(path) for path in found.get("declarations", ())]
        model, mesh = found.get("declared", ("", ""))
        record.declared = str(model), str(mesh)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not 1e-6 <= record.scale <= 1e6:
        return None
    record.texts = stored_files(collection)
    return record


def is_of_frames(record: Record) -> bool:
    """Tell whether a character's body is a model of frames, without bones."""
    row = by_suffix(PurePath(record.models.get(BODY, "")))
    return row is not None and row.family is VERTEX


@dataclass(eq=False)
class CharacterFound:
    """A character in the scene."""

    collection: Any
    record: Record
    body: Any  # the collection of its body
    rig: Block  # the armature; of a body of frames the first of its meshes
    root: Block | None  # on which all of it hangs
    pieces: dict[str, Block]  # the roots of what hangs on it, by kinds
    copies: list[Block] = field(default_factory=list)  # armatures of others that were duplicated into its collections

    @property
    def name(self) -> str:
        """Return what it is called, as its file or its folder is."""
        return (
            self.record.name
            or PurePath(self.record.file or str(self.collection.get(FILE, ""))).stem
            or str(self.collection.name)
        )


def find(collection: Any, active: Block | None = None) -> CharacterFound | None:
    """Return the character that a collection holds; None if it holds none, or its body is gone.

    Of several, which Blender's Duplicate Objects leaves in the same collections, it is that of the `active` object, or
    the first.
    """
    record = recall(collection)
    if record is None:
        return None
    homes = [each for each in collection.children_recursive if each.get(MODEL_ID)]
    wanted = "MESH" if is_of_frames(record) else "ARMATURE"
    found = ((home, block) for home in homes for block in home.objects if block.type == wanted)
    own = ((home, block) for home, block in found if block.data.get(MODEL_ID) == home.get(MODEL_ID))
    kinds = {*record.models} - {BODY}
    carried = ((*pair, root_of(pair[1])) for pair in own)
    bodies = [each for each in carried if each[2] is None or str(each[2][PART]) not in kinds]
    if not bodies:
        return None
    several = bodies if wanted == "ARMATURE" else bodies[:1]
    body = next((each for each in several if active is not None and _is_of(active, each[1])), bodies[0])
    copies = [rig for home, rig, _ in several if home == body[0] and rig != body[1]]
    every = [block for block in objects_in(collection) if is_root(block) and LEVEL not in block and block != body[2]]
    strange = {root_of(rig) for rig in copies}
    roots = [r for r in every if r not in strange and _carries(r) and not any(follows(r, rig) for rig in copies)]
    return CharacterFound(collection, record, *body, {str(root[PART]): root for root in reversed(roots)}, copies)


def _is_of(block: Block, rig: Block) -> bool:
    """Tell whether an object is an armature, or follows it, or carries it."""
    return block == rig or follows(block, rig) or block == root_of(rig)


def _carries(root: Block) -> bool:
    """Tell whether anything of a model hangs on a root still: who deletes a part may leave it behind."""
    own = (block for block in root.children_recursive if root_of(block) == root)
    return any(block.type != "EMPTY" or is_tag(block) for block in own)


def character_target(collection: Any) -> Path | None:
    """Return where to write a character: its game's folder, or a new archive beside its own; None for none."""
    record, place = recall(collection), collection.get(FILE)
    if record is None:
        return None
    name = record.name or PurePath(record.file).stem or str(collection.name)
    kind = kind_named(record.file)
    pack = f"z_{name}{PACK if kind is None else kind.pack}"
    if not isinstance(place, str) or not record.file:
        return Path(bpy.data.filepath).parent / pack
    at = split_at_archive(Path(place), os.path.isfile)
    if at is not None:
        return Path(at[0]).parent / pack
    return Path(place).parents[len(PurePath(record.file).parts) - 1]


def character_game(collection: Any) -> str:
    """Return the game that a character is of, a key of `limits.games.GAMES`."""
    record = recall(collection)
    return record.game if record is not None and record.game in GAMES else NO_GAME
