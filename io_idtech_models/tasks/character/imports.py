"""Characters into the scene: a body with its bones, dressed, and its head and gear on its tags."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy

from ...blender import names
from ...blender.compat import Block, Context
from ...blender.player.assembly import PartBuilt, hang, make_root
from ...blender.provenance import FILE
from ...blender.scene import undone_on_failure
from ...blender.skeletal.build import Posed, SkeletalSettings
from ...blender.vertex.build import BuildSettings
from ...formats import by_name, by_suffix
from ...game.character.files import BODY, CharacterFiles, Piece
from ...game.character.kinds import characters_in, place_of
from ...game.dress import NONE
from ...game.folders import Disk
from ...game.store import ARCHIVES, GameFile
from ...model.wording import listed, plural
from ...reporting import LimitError, ModelError, Summary, collected_warnings
from ..import_.dressing import Dressing, materials_for, rate_of
from ..import_.skeletal import FIT, ImportSettings, import_skeletal
from ..import_.vertex import import_file

log = logging.getLogger(__name__)


@dataclass(eq=False)
class CharacterBuilt:
    """A character in the scene: its body, and what hangs on that, by kind."""

    collection: bpy.types.Collection
    body: Posed
    parts: dict[str, PartBuilt] = field(default_factory=dict)

    @property
    def objects(self) -> list[Block]:
        """Return all of its objects, the armature first."""
        blocks = [self.body.armature, *self.body.meshes, *self.body.tags]
        for part in self.parts.values():
            blocks += [part.root, *part.built.surfaces, *part.built.tags]
        return blocks


@dataclass(frozen=True)
class CharacterOptions:
    """What of a character to bring along; the import operator declares the same options."""

    animations: bool = True  # all of its group; else bones alone
    scale: float = 1.0
    weld: bool = True
    fit_range: bool = True


def file_at(path: Path, disk: Disk, wanted: str = "") -> GameFile:
    """Return the character's file that a path means: itself, or of an archive the only one, or the `wanted`.

    Raises:
        LimitError: there is none, or there are several.
    """
    if not path.name.lower().endswith(ARCHIVES):
        return disk.file(path)
    every = characters_in(disk.store(path))
    shown = {place_of(file): file for file in every}
    key = wanted.lower().removesuffix(".char")
    fitting = [file for name, file in shown.items() if not key or f"/{name.lower()}".endswith(f"/{key}")]
    if len(fitting) == 1:
        return fitting[0]
    if not every:
        raise LimitError("there is no character in it")
    lack = "there are several characters, say which" if fitting else f"no character '{wanted}'"
    raise LimitError(f"{lack}: {listed(list(shown))}")


def import_character(
    files: CharacterFiles,
    options: CharacterOptions,
    dressing: Dressing,
    context: Context,
    into: bpy.types.Collection,
) -> tuple[CharacterBuilt, Summary]:
    """Bring a character into the scene: what there is of it, and a warning for what is missing.

    Raises:
        ModelError: its body is missing or can't be read; the .blend is as it was.
    """
    if files.body is None:
        raise LimitError("; ".join(files.missing) or "it has no body")
    with collected_warnings() as warnings, undone_on_failure():
        warnings.extend(files.missing)
        collection = bpy.data.collections.new(names.fit(files.name))
        names.remember(collection, files.name)
        collection[FILE] = files.file.place
        body, said = _import_body(files, files.body, options, dressing, context, collection)
        warnings.extend(said.warnings)
        character = CharacterBuilt(collection, body)
        for piece in files.pieces:
            try:
                character.parts[piece.kind] = _import_piece(piece, options, dressing, context.scene, collection)
            except ModelError as error:
                log.warning("%s: %s: %s is missing", piece.file.name, error, piece.kind)
        _hang_all(character, files.pieces)
        into.children.link(collection)
    facts = f"{said.facts}, {plural(len(character.parts), 'part')} on tags, skin {files.skin_name or NONE}"
    facts += "" if files.scale == 1.0 else f", which the game shows {files.scale:g} times as large"
    return character, Summary(facts, list(dict.fromkeys(warnings)))


def _import_body(
    files: CharacterFiles,
    body: GameFile,
    options: CharacterOptions,
    dressing: Dressing,
    context: Context,
    into: bpy.types.Collection,
) -> tuple[Posed, Summary]:
    """Return the body in the scene, in its skin, with the bones of the first file of frames that has them."""
    settings = SkeletalSettings(options.scale, options.weld, options.fit_range)
    worn = replace(dressing, skin=files.skin_name if files.skin is not None else NONE)
    known = [motion.file for motion in files.motions if motion.file != body]
    rows = {motion.file: motion.rows for motion in files.motions}
    chosen = tuple(known[1:]) if options.animations else ()
    wanted = ImportSettings(options.animations, chosen, next(iter(known), None), rows, FIT, dressing=worn)
    try:
        return import_skeletal(body, settings, wanted, context, into)
    except ModelError as error:
        if wanted.animation is None:
            raise
        log.warning("%s: the body has other bones, or none", error)
        return import_skeletal(body, settings, ImportSettings(bind=FIT, dressing=worn), context, into)


def _import_piece(
    piece: Piece, options: CharacterOptions, dressing: Dressing, scene: bpy.types.Scene, into: bpy.types.Collection
) -> PartBuilt:
    """Return a part's model in the scene, dressed, on a root of its own; its warnings name the file."""
    own = "" if piece.skin is None else piece.skin.stem
    worn = replace(dressing, skin=own.removeprefix(f"{piece.file.stem}_") or NONE)
    dress = materials_for(piece.file, by_suffix(piece.file) or by_name("md3"), worn, rate_of(scene), skin=piece.skin)
    settings = BuildSettings(scale=options.scale, weld=options.weld, fit_range=False)
    built, summary = import_file(piece.file, settings, scene, into, worn, dress)
    for text in summary.warnings:
        log.warning("%s: %s", piece.file.name, text)
    return make_root(built, piece.kind)


def _hang_all(character: CharacterBuilt, pieces: Iterable[Piece]) -> None:
    """Hang parts on the tags of body and other parts, as games do; where one is missing, near it, and say so."""
    body = {names.file_name_of(tag).lower(): tag for tag in character.body.tags}
    tags = {BODY: body} | {kind: part.tags for kind, part in character.parts.items()}
    rig = character.body.armature
    for piece in pieces:
        part = character.parts.get(piece.kind)
        if part is None:
            continue
        tag = tags.get(piece.on, {}).get(piece.tag)
        if tag is not None:
            hang(part.root, tag, rig)
            continue
        near = None if piece.on == BODY else body.get(piece.near)
        where = f"the body's {piece.near}" if near is not None else "the body's origin"
        log.warning("no %s of the %s to hang %s on: it stands at %s", piece.tag, piece.on, piece.kind, where)
        if near is not None:
            hang(part.root, near, rig)
        else:
            part.root.parent = rig
