"""What a skeleton is looked for in: points that move, and which of them hang together.

Letters in shapes: F frames, V vertices, P points, E edges, T triangles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError
from ..arrays import LARGEST
from ..vertex import Surface

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

COARSEST = 1 / 255  # step of a grid, as a part of the size: of formats that have a byte for each axis
SOME = 2000  # edges and points that tell whether a frame is torn, and which frames differ
STRETCHED, SHRUNK, SCATTERED = 2.5, 0.3, 1.6  # of the usual: what torn meshes have more of, or less
REACH = 12  # points behind each along the curve that are looked at for a neighbour of another piece
BRIDGES = 4  # of a piece to others
CURVE_BITS = 16  # of a place along an axis
# What puts two empty bits behind each bit of a number: by how far a copy is moved, and what stays of both.
SPREADING = (
    (32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)  # fmt: skip


@dataclass(eq=False)
class MovingPoints:
    """Points in all frames, at a size of about 1 about the origin."""

    places: Doubles  # (F, P, 3)
    edges: Indices  # (E, 2) of the mesh, and bridges between its pieces
    torn: NDArray[np.bool_]  # (F,)
    of_vertex: Indices  # (V,)
    centre: Doubles  # (3,) of the model's space
    size: float  # in the model's units
    step: float  # of the grid that places lie on, as a part of the size; 0 if there is none

    @property
    def whole(self) -> Indices:
        """Return the frames that are not torn."""
        return np.flatnonzero(~self.torn)


def moving_points(positions: NDArray[np.float32], triangles: NDArray[np.int32]) -> MovingPoints:
    """Return the points of vertices (F, V, 3) and triangles (T, 3): vertices that lie together in all frames are one.

    Raises:
        LimitError: there is no vertex, or a place that no mesh can have.
    """
    if not positions.shape[1]:
        raise LimitError("there is no vertex to hang on a bone")
    if not (np.abs(positions) < LARGEST).all():
        raise LimitError("some vertices lie nowhere (not a number) or too far out: mend these frames first")
    rows = np.ascontiguousarray(positions.transpose(1, 0, 2) + np.float32(0)).reshape(positions.shape[1], -1)
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    first, of_vertex = np.unique(whole, return_index=True, return_inverse=True)[1:]
    places = positions[:, np.sort(first)].astype(np.float64)
    of_vertex = np.argsort(np.argsort(first))[of_vertex.ravel()]
    size = float(np.median(np.linalg.norm(np.ptp(places, axis=1), axis=1))) or 1.0
    centre = np.median(places, axis=(0, 1))
    places = (places - centre) / size
    corners = of_vertex[triangles]
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    torn = torn_frames(places, edges)
    calm = places[np.flatnonzero(~torn)[0]]
    return MovingPoints(places, with_bridges(calm, edges), torn, of_vertex, centre, size, grid_step(places))


def points_of(surfaces: Sequence[Surface], num_frames: int) -> tuple[NDArray[np.float32], NDArray[np.int32], Indices]:
    """Return all vertices (F, V, 3) and triangles (T, 3) of surfaces, and where each surface begins, (S + 1)."""
    starts = np.cumsum([0, *(surface.num_vertices for surface in surfaces)])
    none = np.zeros((num_frames, 0, 3), np.float32), np.zeros((0, 3), np.int32)
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=False)]
    positions = np.concatenate([none[0], *(surface.positions for surface in surfaces)], axis=1)
    return positions, np.concatenate([none[1], *triangles]).astype(np.int32), starts


def grid_step(places: Doubles) -> float:
    """Return the step of the grid on which places (F, P, 3) lie, as files hold them in whole numbers.

    That is the least way between two of them along an axis, in the median of some frames; 0 or nearly so without one.
    """
    some = places[:: max(1, len(places) // 20)]
    ways = np.diff(np.sort(some, axis=1), axis=1)
    least = np.where(ways > 1e-7, ways, np.inf).min(axis=1, initial=np.inf)
    found = np.median(least)
    return min(float(found), COARSEST) if np.isfinite(found) else 0.0


def torn_frames(places: Doubles, edges: Indices) -> NDArray[np.bool_]:
    """Tell in which frames (F,) a mesh has come apart, or has been folded up, or hidden far away; never in all."""
    some = edges[:: max(1, len(edges) // SOME)]
    few = places[:, :: max(1, places.shape[1] // SOME)]
    spread = np.linalg.norm(few - few.mean(axis=1, keepdims=True), axis=2).mean(axis=1)
    torn = spread > SCATTERED * np.median(spread)
    if len(some):
        lengths = np.linalg.norm(places[:, some[:, 0]] - places[:, some[:, 1]], axis=2)
        usual = np.median(lengths, axis=0)
        stretch = lengths / np.maximum(usual, max(0.05 * float(np.median(usual)), 1e-9))
        torn |= np.quantile(stretch, 0.97, axis=1) > STRETCHED
        torn |= np.median(lengths, axis=1) < SHRUNK * np.median(usual)
    return np.zeros(len(places), np.bool_) if torn.all() else torn


def differing_frames(places: Doubles, count: int) -> Indices:
    """Return so many frames that differ most from one another, in order: each the farthest from those before it."""
    flat = places[:, :: max(1, places.shape[1] // 150)].reshape(len(places), -1)
    chosen = [0]
    far = ((flat - flat[0]) ** 2).sum(axis=1)
    while len(chosen) < min(count, len(places)):
        chosen.append(int(far.argmax()))
        far = np.minimum(far, ((flat - flat[chosen[-1]]) ** 2).sum(axis=1))
    return np.unique(chosen)


def pieces_of(count: int, edges: Indices) -> Indices:
    """Return for each of so many points the lowest one that it hangs together with, (P,)."""
    lowest = np.arange(count)
    while True:
        found = lowest.copy()
        np.minimum.at(found, edges[:, 0], lowest[edges[:, 1]])
        np.minimum.at(found, edges[:, 1], lowest[edges[:, 0]])
        found = found[found]
        if np.array_equal(found, lowest):
            return lowest
        lowest = found


def with_bridges(places: Doubles, edges: Indices) -> Indices:
    """Return edges with the shortest bridges that make one of all pieces of the mesh: bones grow along them.

    Points are sorted along three shifted curves that fill space (Morton 1966), where those that are near follow one
    another; what is found there is nearly the nearest, in time that grows as the points do.
    """
    while True:
        piece = pieces_of(len(places), edges)
        if not piece.any():
            return edges
        pairs = np.concatenate(list(_near_pairs(places, piece)))
        lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
        pairs = pairs[np.argsort(lengths, kind="stable")]
        ends = np.concatenate([pairs, pairs[:, ::-1]])  # each piece chooses among all of its own
        own = piece[ends[:, 0]]
        ranked = np.argsort(own * (len(pairs) + 1) + np.tile(np.arange(len(pairs)), 2), kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(own[ranked]) != 0])
        places_in = np.arange(len(ranked)) - np.repeat(starts, np.diff(np.r_[starts, len(ranked)]))
        chosen = ends[ranked[places_in < BRIDGES]]
        edges = np.unique(np.sort(np.concatenate([edges, chosen]), axis=1), axis=0)


def _near_pairs(places: Doubles, piece: Indices) -> Iterator[Indices]:
    """Yield pairs (n, 2) of points of different pieces that follow one another along curves, one at least."""
    low, span = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-12)
    for shift in (0.0, 0.31, 0.73):
        cells = ((places - low) / span * 0.5 + shift * 0.5) * (2**CURVE_BITS - 1)
        order = np.argsort(_interleaved(cells.astype(np.uint64)), kind="stable")
        for reach in range(1, min(REACH, len(order) - 1) + 1):
            pairs = np.stack([order[:-reach], order[reach:]], axis=1)
            yield pairs[piece[pairs[:, 0]] != piece[pairs[:, 1]]]


def _interleaved(cells: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the numbers whose bits are those of three coordinates (n, 3) in turn."""
    spread = cells
    for shift, mask in SPREADING:
        spread = (spread | (spread << np.uint64(shift))) & np.uint64(mask)
    mixed: NDArray[np.uint64] = spread[:, 0] | (spread[:, 1] << np.uint64(1)) | (spread[:, 2] << np.uint64(2))
    return mixed
