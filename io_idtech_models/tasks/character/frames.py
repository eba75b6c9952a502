"""Characters whose body is a model of frames: a player of Quake II, and the gun that shows its frames."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import bpy

from ...assets.load import load
from ...blender.compat import Context
from ...blender.player.assembly import PartBuilt, stand_with
from ...blender.shading.materials import worn_by
from ...blender.vertex.build import BuildSettings, Built
from ...formats import VERTEX, by_name, by_suffix
from ...game.character.files import CharacterFiles, Piece
from ...game.dress import NONE, SkinDecl
from ...game.search import SearchPath
from ...game.store import GameFile
from ...model.clips import Clip
from ...model.vertex import VertexModel
from ...reporting import Summary
from ..import_.dressing import Dressing, materials_for, rate_of
from ..import_.vertex import import_file

log = logging.getLogger(__name__)


def import_body(
    files: CharacterFiles,
    body: GameFile,
    settings: BuildSettings,
    dressing: Dressing,
    context: Context,
    into: bpy.types.Collection,
) -> tuple[Built, Summary]:
    """Return the body in the scene, in its skin, with the animations that its game has in its frames.

    Raises:
        ModelError: the file can't be read.
    """
    loaded = load(body, wanted=VERTEX)
    model = loaded.model
    rows = [row for motion in files.motions if motion.file == body for row in motion.rows if isinstance(row, Clip)]
    model.animations = played(model, rows)
    if model.num_frames < max((row.last + 1 for row in rows), default=0):
        log.warning(
            "%s: %d frames, of which the game plays %d, the first in place of the others: animations are named as its "
            "frames are", body.name, model.num_frames, rows[-1].last + 1,
        )  # fmt: skip
    rate = next((row.frame_rate for row in rows), 0.0)
    settings = replace(settings, frame_rate=round(rate))
    asked = bool(dressing.skin)
    worn = replace(dressing, skin="" if asked else NONE)
    decl = files.decl if asked or not _shows_own(body, model) else None
    dress = materials_for(body, by_suffix(body) or by_name("md2"), worn, rate_of(context.scene), skin=decl)
    return import_file(loaded, settings, context.scene, into, worn, dress)


def skin_of(body: Built) -> str:
    """Return the skin that a body shows, which its own file may name; "" for none."""
    slots = (slot for block in body.surfaces for slot in block.material_slots)
    material = next((slot.material for slot in slots), None)
    return "" if material is None else PurePosixPath(worn_by(material).replace("\\", "/")).stem


def played(model: VertexModel, rows: Sequence[Clip]) -> list[Clip]:
    """Return which runs of a model's frames are which animation: as the game has it, if the model has all its frames.

    What frames are behind those of the game are animations by their names.
    """
    count = max((row.last + 1 for row in rows), default=0)
    if not rows or model.num_frames < count:
        return list(model.animations)
    return [*rows, *(clip for clip in model.animations if clip.first >= count)]


def _shows_own(body: GameFile, model: VertexModel) -> bool:
    """Tell whether a picture is there that the model's own file names."""
    search = SearchPath(body)
    shaders = [shader for surface in model.surfaces for shader in surface.shaders]
    return any(search.find_image(shader) is not None for shader in shaders if shader)


def import_in_step(
    piece: Piece,
    settings: BuildSettings,
    dressing: Dressing,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
    body: Built,
) -> PartBuilt:
    """Return a model in the scene that stands where the body stands and shows its frames; warnings name the file."""
    worn = replace(dressing, skin=NONE)
    row = by_suffix(piece.file) or by_name("md2")
    decl: SkinDecl | None = piece.decl
    dress = materials_for(piece.file, row, worn, rate_of(scene), skin=decl)
    loaded = load(piece.file, wanted=VERTEX)
    loaded.model.animations = []
    built, summary = import_file(loaded, replace(settings, fit_range=False), scene, into, worn, dress)
    for text in summary.warnings:
        log.warning("%s: %s", piece.file.name, text)
    if built.num_frames != body.num_frames:
        text = "%s has %d frames, the body %d: the game shows the first in place of those that it lacks"
        log.warning(text, piece.file.name, built.num_frames, body.num_frames)
    return stand_with(built, piece.kind, body)
