"""Whole characters out of the scene: body, parts, skins, files of frames and texts; what was not edited as it was."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

import bpy
import numpy as np
from mathutils import Matrix

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.player import write_into_game
from ...blender.compat import Block, Context
from ...blender.player.parts import all_shown, find_player
from ...blender.provenance import FILE, SKIN, model_of
from ...blender.skeletal.rig_scene import RigScene, SkeletalGatherSettings, rig_scene
from ...blender.space.hanging import in_space
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.window import object_mode
from ...formats import Format
from ...game.character.files import BODY
from ...game.character.kinds import kind_named
from ...game.skin import SUFFIX as SKIN_SUFFIX
from ...model.wording import listed, plural
from ...reporting import LimitError, Summary, collected_warnings
from ..export.selection import left_out, part_of
from ..export.skeletal import model_file, whole_model
from ..export.skin_files import skin_of, skin_worn
from ..export.vertex import gathered, kept_format
from .motions import MotionsSaved, save_motions
from .record import CharacterFound, find

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CharacterSave:
    """What of a character is written; the export operator declares the same options."""

    game: str = "format"
    edited_only: bool = False


@dataclass(eq=False)
class SavedCharacter:
    """The files of a character, by their paths in its game."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)  # which of them are others than they were


def chosen_character(context: Context, collection_name: str = "") -> CharacterFound:
    """Return the character of the active object, of what is selected, or the scene's only one.

    Raises:
        LimitError: there is none, or there are several.
    """
    every = [found for found in map(find, bpy.data.collections) if found is not None]
    if collection_name:
        own = [found for found in every if found.collection.name == collection_name]
    else:
        active = context.view_layer.objects.active
        chosen = [b for b in context.scene.objects if b.select_get(view_layer=context.view_layer)]
        shown = [found for found in every if found.rig.name in context.scene.objects]
        own = _holding(every, [active]) or _holding(every, chosen) or shown
    if len(own) == 1:
        return own[0]
    if not own:
        raise LimitError("there is no character: import one first (File > Import > id Tech > Character)")
    called = listed([found.collection.name for found in own])
    raise LimitError(f"there are {len(own)} characters, make an object of one active: {called}")


def is_player(context: Context) -> bool:
    """Tell whether the active object is part of a player of Quake III, and of no character."""
    active = context.view_layer.objects.active
    every = [found for found in map(find, bpy.data.collections) if found is not None]
    return active is not None and not _holding(every, [active]) and find_player(active) is not None


def _holding(every: Iterable[CharacterFound], blocks: Iterable[Block | None]) -> list[CharacterFound]:
    listed_ = [block for block in blocks if block is not None]
    return [found for found in every if any(found.collection.all_objects.get(b.name) == b for b in listed_)]


def save_character(
    character: CharacterFound, options: CharacterSave, context: Context
) -> tuple[SavedCharacter, Summary]:
    """Return the files of a character, as the scene shows it; what has not been edited as it was.

    Raises:
        ModelError: a file can't be written.
    """
    with collected_warnings() as warnings, object_mode(context):
        saving = _Saving(character, options, context)
        saving.body()
        for kind in character.record.models:
            if kind != BODY:
                saving.piece(kind)
        saving.strays()
        saving.texts()
        saved = saving.saved
    if options.edited_only:
        saved.files = {path: saved.files[path] for path in saved.edited}
        if not saved.files:
            raise LimitError(f"nothing of '{saved.name}' was edited: there is no file to write")
    edited = listed([PurePath(path).name for path in saved.edited], 20) if saved.edited else "nothing"
    facts = f"{plural(len(saved.files), 'file')}, edited: {edited}"
    return saved, Summary(facts, list(dict.fromkeys(warnings)))


class _Saving:
    """A character on its way into files."""

    def __init__(self, character: CharacterFound, options: CharacterSave, context: Context) -> None:
        self.character, self.record, self.context = character, character.record, context
        self.game = options.game
        self.saved = SavedCharacter(character.name)
        self.motions = MotionsSaved()
        self.taken: set[Any] = set()  # what is written

    def game_for(self, row: Format) -> str:
        """Return the game whose limits a format's files keep: none where it does not read such."""
        return self.game if self.game in row.games else "format"

    def put(self, path: str, data: bytes, is_source: bool) -> None:
        """Write a file, and note whether it was edited."""
        if not path:
            return
        self.saved.files[path] = data
        if not is_source and path not in self.saved.edited:
            self.saved.edited.append(path)

    def model(self, kind: str, data: bytes) -> None:
        """Write a model."""
        self.put(self.record.models[kind], data, self.record.sums.get(kind) == f"{crc32(data):08x}")

    def body(self) -> None:
        """Write the body, its skin, and the files of frames."""
        path = self.record.models.get(BODY, "")
        row = formats.by_suffix(PurePath(path or str(self.character.body.get(FILE, ""))))
        if row is None or not (row.skeletal.companions or row.has_motions):
            raise LimitError(f"'{self.character.name}' can't be written as a whole yet: export its models one by one")
        rig, settings = self.character.rig, SkeletalGatherSettings(scale=self.record.scale, normals="SOURCE")
        export = rig_scene(self.context.scene, self.context.view_layer, settings, rig)
        own = [b for b in self.character.body.all_objects if b.type in ("MESH", "EMPTY", "ARMATURE")]
        mine = [block for block in own if not _is_foreign(block, rig)]
        layer = self.context.view_layer
        with all_shown(layer, mine), _at_origin(rig, layer), in_space(settings.space, mine, layer) as note:
            blocks = whole_model(mine, self.context)
            written = model_file(ExportRequest(Path(PurePath(path).name), self.game_for(row)), row, export, blocks)
            self._motions(export, written.model)
        self._say(path, [*written.notes, *([note] if note else [])])
        self.model(BODY, written.data)
        self.taken |= set(blocks)
        self._skin(BODY, self.character.body, [block for block in blocks if block.type == "MESH"], {})

    def _motions(self, export: RigScene, model: Any) -> None:
        self.motions = save_motions(export, model, self.game_for(formats.by_name("mdx")))
        self.saved.files |= {path: data for path, data in self.motions.files.items() if path}
        self.saved.edited += [path for path in self.motions.edited if path]

    def piece(self, kind: str) -> None:
        """Write what hangs on a tag, and what it wears."""
        path = self.record.models[kind]
        root = self.character.pieces.get(kind)
        if root is None:
            log.warning("%s is not in the scene: its file and its line in the skin stay as they were", kind)
            return
        chosen = part_of(self.context, root)
        whole = replace(chosen, blocks=chosen.whole, hidden=[])
        row = kept_format(formats.by_suffix(PurePath(path)) or formats.by_name("md3"), chosen.collection)
        settings = GatherSettings(frames="KEYS", scale=self.record.scale)
        with all_shown(self.context.view_layer, whole.blocks):
            asked = ExportRequest(Path(PurePath(path).name), self.game_for(row))
            written = gathered(asked, row, whole, self.context, settings)
        self._say(path, [*written.notes, *left_out(whole)])
        self.model(kind, written.data)
        self.taken |= set(whole.blocks) | {root}
        self._skin(kind, chosen.collection, [b for b in whole.blocks if b.type == "MESH"], written.pieces)

    def _say(self, path: str, texts: Iterable[str]) -> None:
        for text in texts:
            log.warning("%s: %s", PurePath(path).name, text)

    def _skin(self, kind: str, home: Any, meshes: list[Block], pieces: Any) -> None:
        """Write the skin of a part, as its surfaces wear it."""
        path = self.record.skins.get(kind, "")
        old = self.record.texts.get(path)
        model = PurePath(self.record.models.get(kind, "")).stem
        known = PurePath(path).stem.removeprefix(f"{model}_")
        worn = known if home is None else str(home.get(SKIN, known))
        if path and worn and worn != known and kind == BODY:
            self._other_skin(path, worn, meshes, pieces)
        elif old is not None:
            data = skin_of(meshes, old, pieces)[0]
            self.put(path, data, data == old)

    def _other_skin(self, path: str, worn: str, meshes: list[Block], pieces: Any) -> None:
        """Let a character wear another skin: its file names that, and the skin that it wore stays."""
        kind, record = kind_named(self.record.file), self.record
        found = skin_worn(meshes[0]) if meshes else None
        other = str(PurePath(path).with_name(f"{PurePath(record.models[BODY]).stem}_{worn}{SKIN_SUFFIX}"))
        other = other.replace(os.sep, "/")
        old = None if found is None else found.read()
        data = skin_of(meshes, old, pieces)[0]
        self.put(other, data, data == old)
        if kind is None or kind.with_skin is None:
            log.warning("'%s' is worn: who plays the character chooses it in the game", worn)
            return
        if record.file in record.texts:
            self.put(record.file, kind.with_skin(record.texts[record.file], worn), is_source=False)

    def strays(self) -> None:
        """Name what lies in the character's collection, or hangs on it, and goes into none of its files."""
        unknown = [kind for kind in self.character.pieces if kind not in self.record.models]
        if unknown:
            log.warning("no part of the character's own files, left out: %s", listed(unknown))
        known = {self.character.pieces[kind] for kind in unknown}
        own = [b for b in self.character.collection.all_objects if b.type == "MESH" and b not in self.taken]
        loose = [b.name for b in own if not model_of(b) and not any(_is_below(b, root) for root in known)]
        if loose:
            log.warning("left out, they hang on no part of the character: %s", listed(loose))

    def texts(self) -> None:
        """Write the texts, with what rows of tables say by now."""
        record = self.record
        for path, data in record.texts.items():
            self.saved.files.setdefault(path, data)
        if not self.motions.rows:
            return
        kind = kind_named(record.file)
        if kind is None or kind.with_rows is None:
            raise LimitError("rows of this game's tables can't be written: let them have their names and frames")
        for path, data in kind.with_rows(record.texts, record.group, self.motions.rows).items():
            self.put(path, data, data == record.texts[path])


@contextmanager
def _at_origin(rig: Block, view_layer: Any) -> Iterator[None]:
    """Let an armature stand at the world's origin meanwhile, wherever in the scene its character stands."""
    before = rig.matrix_basis.copy()
    if np.array_equal(np.array(rig.matrix_world), np.eye(4)):
        yield
        return
    try:
        rig.matrix_world = Matrix()
        view_layer.update()
        yield
    finally:
        rig.matrix_basis = before
        view_layer.update()


def _is_foreign(block: Block, rig: Block) -> bool:
    """Tell whether an object in a body's collection hangs on a tag of its own: a model by itself."""
    above = block.parent
    while above is not None and above != rig:
        if above.type == "EMPTY":
            return True
        above = above.parent
    return False


def _is_below(block: Block, root: Block) -> bool:
    above: Block | None = block
    while above is not None and above != root:
        above = above.parent
    return above is not None


def write(saved: SavedCharacter, target: Path) -> None:
    """Write a character's files below a game's folder, or into a .pk3, all or none; what else is there stays.

    Raises:
        ModelError: a file can't be written; all are as they were.
    """
    write_into_game(target, saved.files)
