"""Which normals an edited surface has: the source's while nothing near them moved, else the source's turned along.

Blender shows normals of its own making in every frame but the base. So a vertex keeps its source's normal, in the
source's code, in each frame in which it and the corners of its faces lie where the source has them. Where one linear
map moved a whole part of the surface the normals follow that (`affine`); elsewhere the source's normal is turned by the
rotation that fits the vertex's surroundings best (Kabsch's method over the edges and the area-scaled normals of all
faces at that position), which carries smoothing groups and hand-made normals along; but in the base, whose normals a
modeller sees as they are, what is shown there counts. Where faces were turned over, so are the normals of their
vertices.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reporting import plural
from .. import steady
from ..source import CodedSource, SurfaceSource, unsigned
from ..vertex import ModelSource, Surface, VertexModel
from . import affine

log = logging.getLogger(__name__)

Codes = NDArray[Any]
Known = Callable[[], NDArray[np.float32]]
SHOWN = math.cos(math.radians(0.5))  # of the angle by which Blender's own rounding may be off
AT_ONCE = 200_000  # vertices of how many frames are looked at together
CODED = 1.0  # positions are whole codes: half a code, and as much again of what that makes a map err
NEAR_SHOWN = math.cos(math.radians(10.0))  # of what a map of the surroundings makes of a normal, and Blender shows


@dataclass(eq=False)
class SourceView:
    """The source as a surface of the edited model sees it: one source element for each of its own."""

    known: NDArray[np.bool_]  # (V,) has a source vertex
    normals: Codes  # (F, V) unsigned; of unknown vertices: 0
    triangles: NDArray[np.int32]  # (T, 3) those of the source, by its own numbers


@dataclass(eq=False)
class CodedView(SourceView):
    """The same of a source whose positions are codes, too."""

    codes: Codes  # (F, V, 4), X, Y, Z and normal; of unknown vertices: 0

    @property
    def positions(self) -> Codes:
        """Return the codes of positions, (F, V, 3)."""
        return self.codes[..., :3]

    def moved(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell which of the vertices coded in `codes` (F, V, 4) lie elsewhere than the source's, (F, V)."""
        # One number for the four of a vertex: its low three quarters are the position. Axis by axis is twice as slow,
        # 6 % more of all that encoding a model takes (401 frames of 555 vertices); `any` along the axes thirty times.
        whole = f"<u{4 * codes.itemsize}"
        position = np.array((1 << 24 * codes.itemsize) - 1, whole)
        moved: NDArray[np.bool_] = ((codes.view(whole) ^ self.codes.view(whole))[..., 0] & position) != 0
        return moved


class NormalCoding(NamedTuple):
    """How a format codes normals: `decode(codes) -> (n, 3)`, `encode(normals (n, 3), hint (n,)) -> codes`."""

    decode: Callable[[Codes], NDArray[np.float32]]
    encode: Callable[[NDArray[Any], Codes | None], Codes]
    size: int  # codes from this on mean nothing


def filled_frames(model: VertexModel) -> NDArray[np.int64]:
    """Return the source frame that each frame starts from, (F,): its own, else that of the frame before it."""
    return filled(model.frames_from())


def filled(frames: NDArray[Any]) -> NDArray[np.int64]:
    """Return source frames (F,) with those before them in the places of -1."""
    places = np.maximum.accumulate(np.where(frames >= 0, np.arange(len(frames)), -1))
    found = frames[frames >= 0]
    return np.where(places >= 0, frames[places], found[0] if len(found) else 0)


Parts = list[tuple[SurfaceSource, NDArray[Any], NDArray[Any]]]


def _source_parts(surface: Surface, source: ModelSource) -> tuple[NDArray[np.bool_], Parts]:
    """Return which of a surface's vertices have a source vertex, (V,), and of which surfaces of the source they are."""
    numbers = np.zeros(0, np.int32) if surface.source_vertices is None else surface.source_vertices
    known, parts = np.zeros(len(numbers), np.bool_), source.vertex_parts(numbers)
    for _, places, _ in parts:
        known[places] = True
    return known, parts


def view_source(model: VertexModel, surface: Surface, source: ModelSource) -> SourceView | None:
    """Gather the source's codes of normals for a surface's vertices and frames; None if no vertex has a source."""
    known, parts = _source_parts(surface, source)
    if not parts:
        return None
    frames = filled_frames(model)
    gathered = [(places, part.normal_codes(frames, own)) for part, places, own in parts]
    normals = np.zeros((len(frames), len(known)), np.result_type(*(codes.dtype for _, codes in gathered)))
    for places, codes in gathered:
        normals[:, places] = codes
    return SourceView(known, normals, source.triangles)


def view_codes(model: VertexModel, surface: Surface, source: ModelSource) -> CodedView | None:
    """Gather the codes of a source of `CodedSource`s; the source's own array for a surface that is one of it, whole."""
    known, parts = _source_parts(surface, source)
    if not parts:
        return None
    frames, coded = filled_frames(model), [_codes_of(part) for part, _, _ in parts]
    codes, own = coded[0], parts[0][2]
    whole = len(own) == len(known) == codes.shape[1] and np.array_equal(own, np.arange(len(own)))
    if not (whole and np.array_equal(frames, np.arange(source.num_frames))):
        codes = np.zeros((len(frames), len(known), 4), codes.dtype)
        for (_, places, indices), stored in zip(parts, coded, strict=True):
            codes[:, places] = stored[frames[:, None], indices]
    return CodedView(known, unsigned(codes)[..., 3], source.triangles, codes)


def _codes_of(source: SurfaceSource) -> Codes:
    assert isinstance(source, CodedSource)
    return source.codes


@dataclass(eq=False)
class Motion:
    """Which vertices lie elsewhere than the source's, and where all of them lay and lie, in any one unit."""

    moved: NDArray[np.bool_]  # (F, V)
    before: NDArray[Any]  # (F, V, 3)
    after: NDArray[Any]  # (F, V, 3)
    slack: float = CODED  # how far positions may be off what a map makes of them
    _wholes: dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]] = field(default_factory=dict, init=False)

    def whole_map(self, frame: int, triangles: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the linear map (1, 3, 3) that moved all of a surface's triangles (T, 3) in a frame, and if one did.

        The triangles are the same in all frames; those that follow are looked at with it, for one by one takes longer.
        """
        if frame not in self._wholes:
            moved = np.flatnonzero(self.moved.any(axis=1))
            more = moved[moved > frame][: AT_ONCE // max(self.moved.shape[1], 1)]
            frames = np.concatenate(([frame], more))
            maps, found = affine.whole_maps(self.before[frames], self.after[frames], triangles, self.slack)
            self._wholes = {each: (maps[i : i + 1], found[i : i + 1]) for i, each in enumerate(frames.tolist())}
        return self._wholes[frame]


def settle_codes(
    surface: Surface, codes: Codes, view: CodedView | None, coding: NormalCoding, motion: Motion | None = None
) -> Codes:
    """Return the codes (F, V, 4) of a surface's vertices, whose positions are coded in `codes` (F, V, 4), with normals.

    Where nothing differs from the source that is the source's own array; else `codes`, completed in place. `motion`
    says what moved where codes alone don't, because their unit differs from frame to frame or axis to axis.
    """
    normals, moves = unsigned(codes)[..., 3], motion
    if view is not None and motion is None:
        moves = Motion(view.moved(codes), view.positions, codes[..., :3])
    settled = settle_normals(surface, normals, view, coding, moves)
    if view is not None and settled is view.normals:
        if motion is None:
            return view.codes
        normals[:] = settled
    return codes


def settle_normals(
    surface: Surface, normals: Codes, view: SourceView | None, coding: NormalCoding, motion: Motion | None
) -> Codes:
    """Return the codes (F, V) of a surface's normals: the source's array where none differs, else `normals`, filled.

    A vertex with neither a source nor a normal of its own gets a smooth one. `motion` says what moved since the source;
    there is one where there is a `view` of that.
    """
    fresh = _fresh(surface, view)
    if view is not None and motion is not None:
        turns = _turns(surface, motion, view, coding, ~fresh)
        first = next(turns, None)
        if first is None and not fresh.any():
            return view.normals
        normals[:] = view.normals
        for frame, vertices, turned in turns if first is None else chain([first], turns):
            normals[frame, vertices] = coding.encode(turned, view.normals[frame, vertices])
    if fresh.any():
        own = _own_normals(surface, fresh)
        found = coding.encode(own.reshape(-1, 3), None).reshape(own.shape[:2])
        kept = _still_shown(surface, own, view, fresh, lambda: coding.decode(normals[:, fresh]))
        normals[:, fresh] = np.where(kept, normals[:, fresh], found)
    return normals


def _fresh(surface: Surface, view: SourceView | None) -> NDArray[np.bool_]:
    """Tell which vertices (V,) have normals of their own, rather than their source's."""
    fresh = np.ones(surface.num_vertices, np.bool_) if view is None else ~view.known
    return fresh if surface.own_normals is None else fresh | surface.own_normals


def _own_normals(surface: Surface, fresh: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the normals (F, n, 3) of vertices that have some of their own, those that are `fresh` (V,)."""
    own: NDArray[np.float32] = np.zeros((len(surface.positions), int(fresh.sum()), 3), np.float32)
    if surface.normals is not None:
        own = surface.normals[:, fresh]
    untold = np.asarray(~own.any(axis=2))
    if untold.any():  # of a surface, or of a part of one, whose source was dropped
        own = np.where(untold[..., None], smooth_normals(surface.positions, surface.triangles)[:, fresh], own)
    return own


def _still_shown(
    surface: Surface, own: NDArray[np.float32], view: SourceView | None, fresh: NDArray[np.bool_], known: Known
) -> NDArray[np.bool_]:
    """Tell of which vertices that are `fresh` (V,) the source's normals are what their `own` show, (F, n).

    `known` gives the source's (F, n, 3), turned along. They are that as far as Blender can show them.
    """
    if view is None or surface.as_shown or not view.known[fresh].any():
        return np.zeros(own.shape[:2], np.bool_)
    normals = known()
    sizes = steady.lengths(normals) * steady.lengths(own)
    return np.asarray(view.known[fresh] & (steady.dots(normals, own) >= SHOWN * sizes))


def plain_normals(model: VertexModel, surface: Surface, coding: NormalCoding | None) -> Surface:
    """Return a surface with plain normals instead of its source's codes, of which `coding` says what they mean.

    For a file of another format: nothing of the source is a hint to that. Of several of the source's vertices that
    became one each has its normal, and that one their mean.
    """
    plain = replace(surface, source_index=-1, source_vertices=None, source_triangles=None, corner_sources=None)
    if surface.stored_normals is not None or model.source is None or coding is None:
        return plain
    apart, vertices = _apart(surface)
    found = _source_normals(model, apart, coding)
    if found is not None:
        whole = len(vertices) == surface.num_vertices
        plain.normals = found if whole else mean_normals(found, vertices, surface.num_vertices)
    return plain


def _apart(surface: Surface) -> tuple[Surface, NDArray[np.int64]]:
    """Return a surface with a vertex for each of the source's that one of its own is, and which that was, (V,)."""
    corners, numbers = surface.corner_sources, surface.source_vertices
    every = np.arange(surface.num_vertices)
    if corners is None or numbers is None:
        return surface, every
    of_corners = surface.triangles.astype(np.int64)
    own = np.where(corners >= 0, corners, numbers[of_corners])  # what is new is as its vertex
    size = int(max(own.max(initial=-1), numbers.max(initial=-1))) + 2
    keys = of_corners * size + own + 1
    bare = np.setdiff1d(every, of_corners)  # without a triangle
    found, places = np.unique(np.concatenate((keys.ravel(), bare * size + numbers[bare] + 1)), return_inverse=True)
    vertices = found // size
    if len(found) == surface.num_vertices:
        return surface, every
    triangles = places[: keys.size].reshape(-1, 3).astype(np.int32)
    return replace(
        surface,
        stored_positions=surface.positions[:, vertices],
        triangles=triangles,
        source_vertices=(found % size - 1).astype(np.int32),
        own_normals=None if surface.own_normals is None else surface.own_normals[vertices],
        base=None if surface.base is None else surface.base.of(vertices),
    ), vertices


def _source_normals(model: VertexModel, surface: Surface, coding: NormalCoding) -> NDArray[np.float32] | None:
    """Return the normals (F, V, 3) that a surface has by its source's codes; None if it has none of these."""
    source, numbers = model.source, surface.source_vertices
    view = None if source is None else view_source(model, surface, source)
    if view is None or source is None or numbers is None:
        return None
    if int(view.normals.max(initial=0)) >= coding.size:  # a .blend can come from a stranger
        log.warning("the facts of the source of '%s' are damaged: written without them", model.name)
        return None
    before = np.zeros(surface.positions.shape, np.float32)
    for part, places, indices in source.vertex_parts(numbers):
        before[:, places] = part.decoded_positions(filled_frames(model), indices)
    size = np.maximum(np.abs(before), 1.0) * 1e-5
    moved = (np.abs(surface.positions - before) > size).any(axis=2)
    motion = Motion(moved, before, surface.positions, float(size.max(initial=0.0)))
    found, fresh = coding.decode(view.normals), _fresh(surface, view)
    for frame, vertices, turned in _turns(surface, motion, view, coding, ~fresh):
        found[frame, vertices] = _directions(turned)
    if fresh.any():
        own = _own_normals(surface, fresh)
        kept = _still_shown(surface, own, view, fresh, lambda: found[:, fresh])
        found[:, fresh] = np.where(kept[..., None], found[:, fresh], own)
    return found


def _directions(vectors: NDArray[Any]) -> NDArray[Any]:
    """Return vectors (..., 3) at unit length; up where there is none."""
    lengths = steady.lengths(vectors)[..., None]
    return np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1.0), np.array([0.0, 0.0, 1.0], np.float32))


def mean_normals(normals: NDArray[np.float32], group: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Return the mean directions (F, count, 3) of the vertices of each group, of unit length."""
    sums = np.zeros((count, len(normals), 3), np.float32)
    np.add.at(sums, group, normals.transpose(1, 0, 2))
    return np.ascontiguousarray(_directions(sums).transpose(1, 0, 2), np.float32)


def turned_over(surface: Surface, view: SourceView) -> NDArray[np.bool_]:
    """Tell of which vertices (V,) all faces that the source has are turned over; see `affine.turned_over`."""
    numbers, faces = surface.source_vertices, surface.source_triangles
    if numbers is None or faces is None or not (faces >= 0).any():
        return np.full(surface.num_vertices, surface.mirrored)
    return affine.turned_over(surface.triangles, numbers, faces, view.triangles)


def _turns(
    surface: Surface, motion: Motion, view: SourceView, coding: NormalCoding, wanted: NDArray[np.bool_]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
    """Yield frames, and of each the vertices (n,) whose normals go another way than the source's, and that (n, 3).

    Of those that are `wanted` (V,): the others have normals of their own.
    """
    if not wanted.any():
        return
    sides = turned_over(surface, view)
    for frame in np.flatnonzero(motion.moved.any(axis=1) | sides.any()).tolist():
        moved = affine.beside(view.known & motion.moved[frame], surface.triangles)
        if not moved[view.known].all():
            rows = np.column_stack((motion.before[frame], motion.after[frame]))
            moved = affine.with_twins(moved & view.known, affine.places_of(rows), coding.decode(view.normals[frame]))
        vertices = np.flatnonzero((moved | sides) & view.known & wanted)
        if len(vertices):
            normals = coding.decode(view.normals[frame, vertices])
            normals[sides[vertices]] *= -1.0
            yield frame, vertices, _turned(surface, motion, view, frame, vertices, normals)


def _turned(
    surface: Surface,
    motion: Motion,
    view: SourceView,
    frame: int,
    vertices: NDArray[np.int64],
    normals: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return normals (n, 3) of vertices (n,) that go along with what moved around these in a frame."""
    before, after = motion.before[frame], motion.after[frame]
    usable = surface.triangles[view.known[surface.triangles].all(axis=1)]
    linear = surface.placed[frame if len(surface.placed) > 1 else 0] if surface.placed is not None else None
    if linear is not None and affine.is_moved_by(linear, before[usable], after[usable], motion.slack):
        return steady.applied(steady.cofactors(linear), normals)  # of a plane the points alone would not say it
    whole = motion.whole_map(frame, usable)
    maps, found = affine.linear_maps_at(before, after, usable, vertices, motion.slack, whole)
    maps = steady.cofactors(maps)
    is_alone = len(motion.moved) == 1
    if found.all() and not is_alone:
        return steady.applied(maps, normals)
    used = np.unique(usable)
    mirrored = surface.mirrored or affine.mirrors(before[used], after[used])
    if surface.base is None or surface.base.frame != frame or mirrored:
        maps[~found] = _ring_maps(before, after, usable, vertices[~found], mirrored)
        return steady.applied(maps, normals)
    turned, shown = steady.applied(maps, normals), surface.base.normals[vertices]
    as_shown = ~found
    if is_alone:  # of several frames Blender shows the normals of one, and all are to go the same way
        as_shown |= steady.dots(turned, shown) < NEAR_SHOWN * steady.lengths(turned) * steady.lengths(shown)
    turned[as_shown] = shown[as_shown]
    return turned


def _ring_maps(
    before: Codes, after: Codes, triangles: NDArray[Any], vertices: NDArray[np.int64], mirrored: bool
) -> NDArray[np.float64]:
    """Return what takes the normals of some vertices (n,) along with their surroundings, (n, 3, 3)."""
    maps = ring_rotations(before, after, triangles, vertices, mirrored)
    if mirrored:  # a reflection turns the faces over, and with them what their normals follow
        maps[..., 1:] *= -1.0
    return maps


def ring_rotations(
    before: Codes, after: Codes, triangles: NDArray[Any], vertices: NDArray[Any], mirrored: bool = False
) -> NDArray[np.float64]:
    """Return for each of `vertices` (n,) the rotation (n, 3, 3) that best maps its one-ring from before to after.

    `before`, `after`: (V, 3) positions, in any one unit. The ring is made of all `triangles` (T, 3) with a corner where
    the vertex lies before. A ring that says nothing (no area, no faces) gives the identity. `mirrored`: the positions
    were reflected; the rotation is then the one that follows a reflection along X.
    """
    places = affine.places_of(before)
    wanted, ring_of = np.unique(places[vertices], return_inverse=True)
    rings = np.full(int(places.max()) + 1, -1)
    rings[wanted] = np.arange(len(wanted))
    corner_rings = rings[places[triangles]]
    near = (corner_rings >= 0).any(axis=1)
    triangles, corner_rings = triangles[near], corner_rings[near]
    old = before[triangles].astype(np.float64)
    new = after[triangles].astype(np.float64)
    if mirrored:
        old[..., 0] *= -1
    spread = _corner_covariances(old, new)
    used = corner_rings >= 0
    sums = np.zeros((len(wanted), 9))
    for i, component in enumerate(spread.reshape(len(triangles), 3, 9)[used].T):
        sums[:, i] = np.bincount(corner_rings[used], component, len(wanted))
    rotations: NDArray[np.float64] = _best_rotations(sums.reshape(-1, 3, 3))[ring_of.reshape(-1)]
    return rotations


def _corner_covariances(old: NDArray[np.float64], new: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for corners of triangles (T, 3, 3) the covariances (T, 3, 3, 3) of their two edges and face normal."""
    total = np.zeros((len(old), 3, 3, 3))
    for step in (1, 2):
        edges = (np.roll(old, -step, axis=1) - old, np.roll(new, -step, axis=1) - new)
        total += edges[0][..., :, None] * edges[1][..., None, :]
    faces = [steady.crossed(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]) for p in (old, new)]
    # A normal scaled by the root of its area weighs as much as an edge.
    scaled = [f / np.sqrt(np.maximum(steady.lengths(f), 1e-12))[:, None] for f in faces]
    total += (scaled[0][:, :, None] * scaled[1][:, None, :])[:, None]
    return total


def _best_rotations(covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the proper rotations (n, 3, 3) that maximise trace(R C) (Kabsch 1976); identity for an empty C."""
    left, strength, right = steady.singular_values(covariances)
    right[steady.determinants(left) * steady.determinants(right) < 0, :, 2] *= -1.0
    rotations = steady.products(right, np.swapaxes(left, 1, 2))
    # With fewer than two independent directions any turn about the one that is left fits: leave the normal alone.
    vague = strength[:, 1] <= 1e-9 * np.maximum(strength[:, 0], 1e-30)
    rotations[vague] = np.eye(3)
    return rotations


def facing_out(surface: Surface, normals: NDArray[np.float32], which: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return a surface's normals (F, V, 3) without those of some vertices (V,) that point into it; says so."""
    if not which.any():
        return normals
    found, count = without_backs(normals, surface.positions, surface.triangles, which)
    if count:
        said = "'%s': normals of %s point into the mesh in some frames as shown: smoothed there"
        log.warning(said, surface.name, plural(count, "vertex", "vertices"))
    return found


def without_backs(
    normals: NDArray[np.float32], positions: NDArray[np.float32], triangles: NDArray[Any], vertices: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], int]:
    """Return normals (F, V, 3) of which none of some `vertices` (V,) points into the surface of `triangles` (T, 3).

    Such a one, more than 90 degrees from the smooth normal, becomes that, unless it is so in the first frame, too: then
    it was meant. Also returns how many vertices that concerns in some frame.
    """
    smooth = smooth_normals(positions, triangles)
    back = (steady.dots(normals, smooth) < 0) & vertices
    back &= ~back[:1]
    return np.where(back[..., None], smooth, normals), int(back.any(axis=0).sum())


def smoothed(model: VertexModel) -> VertexModel:
    """Return a model with smooth normals, whatever it had: see `smooth_normals`."""
    surfaces = [
        replace(
            surface,
            stored_normals=smooth_normals(surface.positions, surface.triangles),
            own_normals=np.ones(surface.num_vertices, np.bool_),
        )
        for surface in model.surfaces
    ]
    return replace(model, surfaces=surfaces)


def smooth_normals(positions: NDArray[np.float32], triangles: NDArray[Any]) -> NDArray[np.float32]:
    """Return the normals (F, V, 3) of a wholly smooth surface: face normals summed by area over equal positions.

    `positions` (F, V, 3), `triangles` (T, 3). Vertices count as one where they share a position in the first frame.
    """
    if not positions.size:
        return np.zeros(positions.shape, np.float32)
    place = np.unique(positions[0], axis=0, return_inverse=True)[1].reshape(-1)
    corners = place[triangles].ravel()
    result = np.empty(positions.shape, np.float32)
    for frame, points in zip(result, positions.astype(np.float64), strict=True):
        a, b, c = (points[triangles[:, i]] for i in range(3))
        faces = np.repeat(steady.crossed(b - a, c - a), 3, axis=0)
        sums = np.stack([np.bincount(corners, faces[:, i], int(place.max()) + 1) for i in range(3)], axis=1)
        frame[:] = _directions(sums)[place]
    return result
