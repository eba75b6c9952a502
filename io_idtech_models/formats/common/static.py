"""What static models have in common: one frame, normals that need no table, positions that need no grid.

Positions are codes of 64 bits in a fine step, normals three numbers of 21 bits in one code: millionths.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits import affine
from ...model.edits.normals import Motion, NormalCoding, filled_frames, settle_codes, view_codes
from ...model.source import CodedSource, split_by_part
from ...model.vertex import ModelSource, Surface, VertexModel
from ...reporting import LimitError, listed, plural
from .quake3 import vertex_each
from .records import warn_damaged

log = logging.getLogger(__name__)

MILLION = 1e6
SHADE = 0.6 / 255  # colours are no others that are nearer: Blender has 255 steps of each
NEAR = np.float32(1e-6)  # of a coordinate: float32's own rounding
BITS, HALF = 21, 1 << 20
SAME = 1.0 - 1e-10  # of the cosine between a normal and one in millionths


@dataclass(frozen=True)
class Scale:
    """How a format codes positions: so many steps to a unit; `label` is its name, `largest` the most."""

    label: str
    steps: float
    largest: float


def one_frame(model: VertexModel, label: str) -> VertexModel:
    """Return a model as a static format holds it: a frame, no tags, one material for a surface; itself if it is so.

    What is left out is said; `label` is the format's name.
    """
    lost = [plural(len(model.tags), "tag")] if model.tags else []
    lost += [f"{plural(model.num_frames - 1, 'frame')} after the first"] if model.num_frames > 1 else []
    several = skins_left_out(label, model)
    for text in several:
        log.warning(text)
    if lost:
        log.warning("%s holds one frame, and no tags: left out: %s", label, " and ".join(lost))
    if not lost and not several and all(surface.uvs.ndim == 2 for surface in model.surfaces):
        return model
    shaped = vertex_each(model)
    frames = None if shaped.frame_sources is None else shaped.frame_sources[:1]
    surfaces = [_first_frame(surface) for surface in shaped.surfaces]
    names = shaped.frame_names[:1]
    return replace(shaped, frame_names=names, surfaces=surfaces, tags=[], frame_sources=frames, animations=[])


def skins_left_out(label: str, model: VertexModel) -> list[str]:
    """Return that a format holds one material of a surface, where a model's have more, in a sentence."""
    several = list(dict.fromkeys(surface.name for surface in model.surfaces if len(surface.shaders) > 1))
    return [f"{label} holds one material of a surface: others are left out of {listed(several)}"] if several else []


def _first_frame(surface: Surface) -> Surface:
    base = surface.base if surface.base is not None and surface.base.frame == 0 else None
    first = slice(0, 1)
    return replace(
        surface,
        stored_positions=surface.some_positions(first),
        stored_normals=surface.some_normals(first),
        shaders=surface.shaders[:1],
        base=base,
    )


def own_source(model: VertexModel, format_name: str) -> ModelSource | None:
    """Return a model's source if it is one of a static format, whose codes have 64 bits; else None.

    A .blend can come from a stranger: one of that format, but of other codes, is damaged, which is said.
    """
    source = model.source_of(format_name)
    if source is None or all(isinstance(s, CodedSource) and s.codes.dtype == np.int64 for s in source.surfaces):
        return source
    warn_damaged(model.name)
    return None


def say_strangers(model: VertexModel, source: ModelSource) -> None:
    """Say which surfaces of a model are other files': what lies around them there is not in this one."""
    others = list(dict.fromkeys(s.name for s in model.surfaces if s.source_index in source.strangers))
    if others:
        text = "surfaces of other files are written anew, without what games don't read of these: %s"
        log.warning(text, listed(others))


def settle(model: VertexModel, surface: Surface, source: ModelSource | None, scale: Scale) -> NDArray[np.int64]:
    """Return the codes (V, 4) of a surface's vertices: those of a source of such where they still say the same.

    Raises:
        LimitError: a position or texture coordinate that is no number, or too large; the sentence names the surface.
    """
    positions = surface.positions
    refuse_far(surface, scale, "a vertex", positions)
    refuse_far(surface, scale, "a texture coordinate", surface.uvs)
    codes = np.zeros((*positions.shape[:2], 4), np.int64)
    codes[..., :3] = np.rint(positions.astype(np.float64) * scale.steps)
    view = None if source is None else view_codes(model, surface, source)
    motion = None
    if view is not None and source is not None and surface.source_vertices is not None:
        before = np.zeros(positions.shape, np.float32)
        for part, places, own in source.vertex_parts(surface.source_vertices):
            before[:, places] = part.decoded_positions(filled_frames(model), own)
        near = (np.abs(positions - before) <= NEAR * np.maximum(np.abs(before), 1)).all(axis=2)
        unmoved = view.known & near
        codes[unmoved, :3] = view.positions[unmoved]
        motion = Motion(view.known & ~unmoved, before, positions, affine.rounding(before))
    found: NDArray[np.int64] = settle_codes(surface, codes, view, CODING, motion)[0]
    return found


def show_further(surface: Surface, uv_name: str, further: Mapping[str, NDArray[np.float32]]) -> None:
    """Give a surface of a file its sets of texture coordinates beside the drawn one, which is called `uv_name`."""
    surface.uv_name, surface.shown_uvs = uv_name, tuple(further)
    surface.further_uvs = {name: corners.copy() for name, corners in further.items()}


def known_further(
    surface: Surface, source: ModelSource, of_part: Callable[[int], Mapping[str, NDArray[np.float32]]]
) -> dict[str, NDArray[np.float32]]:
    """Return further texture coordinates of corners (T, 3, 2) as the source has them, by name; NaN of new triangles.

    `of_part` gives those of a surface of the source, by its index.
    """
    found: dict[str, NDArray[np.float32]] = {}
    numbers = surface.source_triangles
    for index, places, own in [] if numbers is None else split_by_part(numbers, source.first_triangles):
        sets = of_part(index)
        turn = _turn(surface, source, index, places, own) if sets else np.zeros((0, 3, 1), np.int64)
        for name, corners in sets.items():
            if name not in found:
                found[name] = np.full((len(surface.triangles), 3, 2), np.nan, np.float32)
            found[name][places] = np.take_along_axis(corners[own], turn, axis=1)
    return found


def _turn(
    surface: Surface, source: ModelSource, index: int, places: NDArray[Any], own: NDArray[Any]
) -> NDArray[np.int64]:
    """Return which corner (n, 3, 1) of the source's triangles `own` (n,) those at `places` (n,) have.

    By their vertices: faces are turned over, too.
    """
    same = np.zeros((len(places), 3, 3), np.int64)  # corner, of the source
    if surface.source_vertices is not None:
        mine = surface.source_vertices[surface.triangles[places]]
        theirs = source.surfaces[index].triangles[own] + int(source.first_vertices[index])
        same[mine[:, :, None] == theirs[:, None, :]] = 2
    found: NDArray[np.int64] = (same + np.eye(3, dtype=np.int64)[:: -1 if surface.mirrored else 1]).argmax(axis=2)
    return found[..., None]


def settle_further(
    surface: Surface, known: Mapping[str, NDArray[np.float32]], scale: Scale
) -> dict[str, NDArray[np.float32]]:
    """Return the further texture coordinates (T, 3, 2) that a surface is written with, by name.

    What nobody was shown stays as the source has it (`known`, see `known_further`); triangles that are new there have
    the drawn ones. Where several corners were shown as one, which still shows what one of them had, all stay.

    Raises:
        LimitError: one is no number, or too large, or they are of other triangles; the sentence names the surface.
    """
    found = dict(surface.further_uvs)
    if any(corners.shape != (len(surface.triangles), 3, 2) for corners in found.values()):
        raise LimitError(f"'{surface.name}' has other triangles than its further texture coordinates")
    shown = np.zeros((0, 3), np.int32) if surface.shown_corners is None else surface.shown_corners
    for name in found.keys() & known.keys() if shown.size else ():
        same = (known[name] == found[name]).all(axis=2)
        unedited = np.bincount(shown.ravel() + 1, same.ravel()) > 0
        unedited[0] = True
        stay = unedited[shown + 1][..., None] & ~np.isnan(known[name])
        found[name] = np.where(stay, known[name], found[name])
    for name, corners in known.items():
        if name not in found and name not in surface.shown_uvs and name != surface.uv_name:
            found[name] = np.where(np.isnan(corners), surface.corner_uvs, corners)
    refuse_far(surface, scale, "a texture coordinate", *found.values())
    return found


def refuse_far(surface: Surface, scale: Scale, what: str, *values: NDArray[Any]) -> None:
    """Raise a LimitError that names a surface of which some values are no number, or too large."""
    largest = scale.largest
    if not all((np.abs(each) <= largest).all() for each in values):
        text = f"'{surface.name}' has {what} that is no number, or beyond {largest:g}, which {scale.label} holds"
        raise LimitError(text)


def encode_normals(normals: NDArray[Any], hint: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """Return the codes (n,) of normals (n, 3) of any length; inverse of `decode_normals`.

    A `hint` (n,) is returned where it still decodes to the normal. A vector of length 0 becomes straight up.
    """
    vectors = np.nan_to_num(np.asarray(normals, np.float64))
    lengths = steady.lengths(vectors)
    usable = lengths > 1e-20
    exact = np.abs(lengths - 1.0) < 2e-6  # in millionths already
    unit = vectors / np.where(usable & ~exact, lengths, 1.0)[:, None]
    unit = np.where(usable[:, None], unit, (0.0, 0.0, 1.0))
    steps = (np.rint(unit * MILLION).astype(np.int64) + HALF).astype(np.uint64)
    codes: NDArray[np.uint64] = steps[:, 0] | steps[:, 1] << np.uint64(BITS) | steps[:, 2] << np.uint64(2 * BITS)
    if hint is not None:
        known = decode_normals(hint).astype(np.float64)
        sizes = np.maximum(steady.lengths(known) * steady.lengths(unit), 1e-20)
        codes = np.where(steady.dots(known, unit) >= SAME * sizes, hint.astype(np.uint64), codes)
    return codes


def decode_normals(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vectors of codes (...,), shape (..., 3)."""
    whole = codes.astype(np.uint64)
    mask = np.uint64((1 << BITS) - 1)
    steps = [(whole >> np.uint64(shift * BITS) & mask).astype(np.float64) - HALF for shift in range(3)]
    vectors: NDArray[np.float32] = (np.stack(steps, axis=-1) / MILLION).astype(np.float32)
    return vectors


CODING = NormalCoding(decode_normals, encode_normals, 1 << 63)


def is_whole(surface: Surface, triangles: NDArray[Any], source: ModelSource) -> bool:
    """Tell whether a surface has the vertices and `triangles` (T, 3) of the source's that it was, in their order."""
    if surface.source_vertices is None or surface.source_triangles is None:
        return False
    own_vertices, own_triangles = source.numbers(surface.source_index)
    return (
        np.array_equal(surface.source_vertices, own_vertices)
        and np.array_equal(surface.source_triangles, own_triangles)
        and np.array_equal(surface.triangles, triangles)
    )
