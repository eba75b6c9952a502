"""Surfaces of an MDC: positions and normals to base frames and steps away from them, the source's where they hold.

Normals are in base frames MD3's codes, in compressed ones a number of 256 directions, and `DELTA_NORMAL`. The
directions (RtCW's `anorms256.h`) are a formula: rings of 32 - 4k directions at an angle of 11.25k degrees from the
equator, for k = 0 to 7 downwards, then for k = 1 to 7 upwards. Neither pole is among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import Motion, NormalCoding, SourceView, filled_frames, settle_normals, view_source
from ...model.source import DELTA_NORMAL, DeltaSource, Facts, SurfaceSource
from ...model.vertex import ModelSource, Surface, VertexModel
from ..common.normals import CHUNK, decode_latlong, encode_latlong
from ..common.quake3 import SCALE
from .base_frames import MIDDLE, STEP, BaseFrame, Moving, Planner, steps_to
from .file import MOST_REPEATED, MOST_SHARED, MOST_TIMES, SHOWN_SIZE, STEPS_SIZE, MdcSurface

RINGS = (*(-k for k in range(8)), *range(1, 8))
RING_STEP = 11.25  # degrees
COUNT = 256
BASE_SCALE, STEP_SCALE = np.full((1, 3), SCALE, np.float32), np.full((1, 3), STEP, np.float32)
SLACK = 1e-4  # units that positions may be off what a map makes of them: single precision
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
Tables = tuple[NDArray[np.int16], NDArray[np.int16]]


@cache
def direction_table() -> NDArray[np.float32]:
    """Return the 256 directions, (256, 3)."""
    turns = [(RING_STEP * k, 360 * j / n) for k in RINGS for n in [32 - 4 * abs(k)] for j in range(n)]
    cosines, sines = steady.cosines_and_sines(np.deg2rad(np.array(turns)))
    level = cosines[:, 0]
    table = np.stack((level * cosines[:, 1], level * sines[:, 1], sines[:, 0]), axis=1).astype(np.float32)
    table.setflags(write=False)
    return table


def decode_normals(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vectors of codes (...,), shape (..., 3)."""
    of_steps = codes >= DELTA_NORMAL
    if of_steps.all():
        return direction_table().take(codes - DELTA_NORMAL, axis=0)
    found = decode_latlong(np.where(of_steps, 0, codes))
    found[of_steps] = direction_table()[codes[of_steps] - DELTA_NORMAL]
    return found


def encode_normals(normals: NDArray[Any], hint: NDArray[Any] | None = None) -> NDArray[np.uint32]:
    """Return codes (n,) of normals (n, 3): those of a compressed frame where the `hint` (n,) is such a one.

    The hint is kept where it still decodes to the normal.
    """
    codes = np.zeros(len(normals), np.uint32)
    of_steps = np.zeros(len(normals), np.bool_) if hint is None else hint >= DELTA_NORMAL
    rest = np.flatnonzero(~of_steps)
    known = None if hint is None else hint[rest].astype(np.uint16)
    codes[rest] = encode_latlong(normals[rest], known)
    codes[of_steps] = nearest_directions(normals[of_steps]) + np.uint32(DELTA_NORMAL)
    return codes


def nearest_directions(normals: NDArray[Any]) -> NDArray[np.uint32]:
    """Return which direction (n,) is nearest to each of the normals (n, 3): the largest product, the first of equals.

    The game's own encoder (`R_MDC_GetAnorm`) looks for the ring first, and is up to two degrees worse.
    """
    vectors, found = np.nan_to_num(np.asarray(normals, np.float32)), np.empty(len(normals), np.uint32)
    for start in range(0, len(vectors), CHUNK):
        found[start : start + CHUNK] = steady.largest_products(vectors[start : start + CHUNK], direction_table())
    return found


def as_kind(codes: NDArray[Any], steps: bool) -> NDArray[np.uint32]:
    """Return codes (n,) as those of compressed frames (`steps`), or of base frames; those that are, as they are."""
    found = codes.astype(np.uint32)
    other = (found >= DELTA_NORMAL) != steps
    if other.any():
        vectors = decode_normals(found[other])
        if steps:
            found[other] = nearest_directions(vectors) + np.uint32(DELTA_NORMAL)
        else:
            found[other] = encode_latlong(vectors)
    return found


CODING = NormalCoding(decode_normals, encode_normals, DELTA_NORMAL + COUNT)


def source_of(surface: MdcSurface, name: str, uvs: Floats, shaders: list[str], facts: Facts) -> DeltaSource:
    """Return what a file says of a surface, with what it shows of names and texture coordinates (V, 2)."""
    codes = surface.bases, surface.steps, surface.base_frames, surface.comp_frames
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    return DeltaSource(name, triangles, uvs, shaders, *codes, BASE_SCALE, STEP_SCALE, MIDDLE, facts=facts)


def fits_source(surface: SurfaceSource) -> bool:
    """Tell whether a source's codes are such as a file's: a .blend can come from a stranger."""
    if not isinstance(surface, DeltaSource):
        return False
    arrays = (surface.bases, np.int16), (surface.deltas, np.uint8)
    tables = (surface.base_frames, np.int16), (surface.delta_frames, np.int16)
    scales = np.array_equal(surface.scale, BASE_SCALE) and np.array_equal(surface.delta_scale, STEP_SCALE)
    return scales and surface.middle == MIDDLE and all(array.dtype == dtype for array, dtype in arrays + tables)


@dataclass(eq=False)
class Coded:
    """A surface on its way into a file: at first the source's codes, in the end those of the file."""

    moving: Moving
    origins: NDArray[np.int64]  # (F,) the source's frame that each one was or follows
    bases: NDArray[np.int16]  # (B, V, 4); of the source, as the others: of new vertices anything
    steps: NDArray[np.uint8]  # (C, V, 4)
    tables: Tables  # (F,) each, of the source as many as that has frames; none without a source
    normals: NDArray[np.uint32]  # (F, V) codes of either kind, that are wanted
    same_normals: bool  # these are the source's
    changed: Mask  # (F,) positions may differ from the source's

    def keep(self) -> None:
        """Keep the source's frames and tables."""
        if not self.same_normals:
            self.bases, self.steps = self.bases.copy(), self.steps.copy()
            self._set_normals()

    def code(self, tables: Tables, bases: list[BaseFrame], index: int) -> None:
        """Code all frames, with such tables (F,) and base frames: this is the surface `index` of these."""
        moving, (_, old), steps = self.moving, self.tables, self.steps
        written, self.tables = self.bases, tables
        self.bases = np.zeros((len(bases), moving.moved.shape[1], 4), np.int16)
        for number, base in enumerate(bases):
            if base.origin >= 0:
                self.bases[number, :, 3] = written[base.origin, :, 3]
            self.bases[number, :, :3] = base.places[index]
        stepped = np.flatnonzero(tables[1] >= 0)
        self.steps = np.zeros((len(stepped), moving.moved.shape[1], 4), np.uint8)
        for number, frame in enumerate(stepped.tolist()):
            was, moved = int(old[self.origins[frame]]) if len(old) else -1, moving.moved[frame]
            if was >= 0:
                self.steps[number] = steps[was]
            if moved.any():
                places = self.bases[tables[0][frame], moved, :3]
                self.steps[number, moved, :3] = steps_to(moving.positions[frame, moved], places)
        self._set_normals()

    def _set_normals(self) -> None:
        for frame, (base, step) in enumerate(zip(*(table.tolist() for table in self.tables), strict=True)):
            if step >= 0:
                self.steps[step, :, 3] = as_kind(self.normals[frame], steps=True) - np.uint32(DELTA_NORMAL)
            else:
                self.bases[base, :, 3] = as_kind(self.normals[frame], steps=False).astype("<u2").view("<i2")

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return base frames, steps and the two tables, as a file has them."""
        return self.bases, self.steps, *self.tables

    def decoded(self, frames: NDArray[np.int64]) -> Floats:
        """Return where the vertices of some frames (n,) are, as codes say, (n, V, 3)."""
        triangles, uvs = np.zeros((0, 3), np.int32), np.zeros((0, 2), np.float32)
        codes = self.bases, self.steps, *self.tables
        return DeltaSource("", triangles, uvs, [], *codes, BASE_SCALE, STEP_SCALE, MIDDLE).decoded_positions(frames)


def code_surfaces(model: VertexModel, source: ModelSource | None) -> list[Coded]:
    """Return the codes of a model's surfaces; those whose sources share their tables go on to do so, with new ones.

    Raises:
        LimitError: a position that the format can't hold.
    """
    coded = [_coded(model, surface, source) for surface in model.surfaces]
    keys = [b"".join(table.tobytes() for table in surface.tables) for surface in coded]
    first = next((key for key in keys if key), b"")
    shown = model.num_frames * sum(surface.num_vertices for surface in model.surfaces) * SHOWN_SIZE
    groups: dict[bytes, list[Coded]] = {}
    for key, surface in zip(keys, coded, strict=True):
        groups.setdefault(key or first, []).append(surface)
    for members in groups.values():
        _code_together(members, model.frames_from(), shown > MOST_REPEATED)
    return coded


def _code_together(members: list[Coded], frames: NDArray[np.int64], is_large: bool) -> None:
    """Code surfaces that share their tables; `frames` (F,) are those of the source that each one was, or -1.

    As many frames share a base frame as reading takes, in a model that `is_large` fewer.
    """
    known = next((member for member in members if len(member.tables[0])), None)
    if known is None:
        frames, tables = np.full(len(frames), -1), members[0].tables
    else:
        tables = known.tables
        whole = np.array_equal(frames, np.arange(len(tables[0])))
        if whole and not any(member.changed.any() for member in members):
            for member in members:
                member.keep()
            return
        for member in members:
            if not len(member.tables[0]):
                member.tables = tables
                member.steps = np.zeros((len(known.steps), *member.steps.shape[1:]), np.uint8)
                member.moving.bases = member.bases = np.zeros((len(known.bases), *member.bases.shape[1:]), np.int16)
    found = Planner([member.moving for member in members], frames, *tables).plan()
    shown, stepped = len({id(base) for base in found.of_frame}), sum(found.stepped)
    shared, stored = (len(frames) - shown - stepped) * SHOWN_SIZE, shown * SHOWN_SIZE + stepped * STEPS_SIZE
    if len(frames) > MOST_SHARED * (shown + stepped) or (is_large and shared > MOST_TIMES * stored):
        found = found.apart(MOST_TIMES)
    base_frames, comp_frames, bases = found.tables()
    for index, member in enumerate(members):
        member.code((base_frames, comp_frames), bases, index)


def _coded(model: VertexModel, surface: Surface, source: ModelSource | None) -> Coded:
    """Return a surface with what its source, if it has one, says of it."""
    positions = surface.positions
    count, origins = surface.num_vertices, filled_frames(model)
    moved = np.ones(positions.shape[:2], np.bool_)
    view = None if source is None else view_source(model, surface, source)
    if source is not None and not count and surface.source_index >= 0:  # what it has none of is there in its tables
        view = SourceView(np.zeros(0, np.bool_), np.zeros(moved.shape, np.uint32), source.triangles)
    if source is None or view is None:
        nothing: Tables = np.zeros(0, np.int16), np.zeros(0, np.int16)
        bases, steps = np.zeros((0, count, 4), np.int16), np.zeros((0, count, 4), np.uint8)
        normals = settle_normals(surface, np.zeros(moved.shape, np.uint32), None, CODING, None)
        moving = Moving(surface.name, positions, moved, bases)
        return Coded(moving, origins, bases, steps, nothing, normals, False, np.ones(len(moved), np.bool_))
    before, found = _gathered(surface, source, origins)
    moving = Moving(surface.name, positions, moved, found.bases)
    shifted, kept = np.zeros(moved.shape, np.bool_), model.frames_from() >= 0
    moved[kept] = ~found.known
    if not np.array_equal(before, positions):
        shifted = (before != positions).any(axis=2) & view.known
        suspects = shifted & found.known & kept[:, None]
        recoded = _recoded(found, origins, positions, moving.places, suspects)
        shifted &= ~suspects | recoded
        moved[kept] |= recoded[kept]
    motion = Motion(shifted, before, positions, SLACK)
    normals = settle_normals(surface, np.empty_like(view.normals), view, CODING, motion)
    same, tables = normals is view.normals, (found.base_frames, found.delta_frames)
    return Coded(moving, origins, found.bases, found.deltas, tables, normals, same, np.asarray(moved.any(axis=1)))


@dataclass(eq=False)
class Known:
    """What a source says of a surface's vertices, of those that share its tables."""

    known: Mask  # (V,)
    bases: NDArray[np.int16]  # (B, V, 4)
    deltas: NDArray[np.uint8]  # (C, V, 4)
    base_frames: NDArray[np.int16]  # (F of the source,)
    delta_frames: NDArray[np.int16]  # (F of the source,)


def _gathered(surface: Surface, source: ModelSource, origins: NDArray[np.int64]) -> tuple[Floats, Known]:
    """Return where the source has a surface's vertices in its frames `origins` (F,), (F, V, 3), and their codes."""
    count = surface.num_vertices
    numbers = np.zeros(0, np.int32) if surface.source_vertices is None else surface.source_vertices
    parts = [part for part in source.vertex_parts(numbers) if isinstance(part[0], DeltaSource)]
    own = source.surfaces[surface.source_index] if surface.source_index >= 0 else parts[0][0]
    if count and not any(part[0] is own for part in parts):
        own = parts[0][0]
    assert isinstance(own, DeltaSource)  # see `fits_source`
    part, places, indices = parts[0] if parts else (own, np.zeros(0, np.int64), np.zeros(0, np.int64))
    if part is own and len(places) == count == own.num_vertices and np.array_equal(indices, np.arange(count)):
        whole = slice(None) if np.array_equal(origins, np.arange(own.num_frames)) else origins
        known = Known(np.ones(count, np.bool_), own.bases, own.deltas, own.base_frames, own.delta_frames)
        return own.decoded_positions(whole), known
    before = np.zeros((len(origins), count, 3), np.float32)
    bases = np.zeros((len(own.bases), count, 4), np.int16)
    found = Known(
        np.zeros(count, np.bool_), bases, np.zeros((len(own.deltas), count, 4), np.uint8),
        own.base_frames, own.delta_frames,
    )  # fmt: skip
    for part, places, indices in parts:
        before[:, places] = part.decoded_positions(origins, indices)
        assert isinstance(part, DeltaSource)
        if _share_tables(part, own):
            found.known[places] = True
            found.bases[:, places], found.deltas[:, places] = part.bases[:, indices], part.deltas[:, indices]
    return before, found


def _share_tables(one: DeltaSource, other: DeltaSource) -> bool:
    """Tell whether two sources have one pair of tables, and as many frames of either kind."""
    tables = (one.base_frames, other.base_frames), (one.delta_frames, other.delta_frames)
    counts = len(one.bases) == len(other.bases) and len(one.deltas) == len(other.deltas)
    return counts and all(np.array_equal(*pair) for pair in tables)


def _recoded(found: Known, origins: NDArray[np.int64], positions: Floats, places: Floats, suspects: Mask) -> Mask:
    """Tell which of the `suspects` (F, V) would get other codes than the source's frames `origins` (F,) have."""
    moved = np.zeros(suspects.shape, np.bool_)
    for frame in np.flatnonzero(suspects.any(axis=1)).tolist():
        which, origin = suspects[frame], origins[frame]
        base, step = found.bases[found.base_frames[origin], which, :3], found.delta_frames[origin]
        if step < 0:
            moved[frame, which] = (places[frame, which] != base).any(axis=1)
        else:
            written = found.deltas[step, which, :3]
            moved[frame, which] = (steps_to(positions[frame, which], base) != written).any(axis=1)
    return moved
