"""Normals as the engines make them of an LWO, which holds none; and triangles of polygons with more corners.

A polygon's normal is that of its first and last edge. A corner's is the sum of the normals of all polygons at its point
that stand at an angle of at most the smoothing angle of its own polygon's surface, and are in its smoothing group;
without such an angle its polygon's (`lwGetPolyNormals`, `lwGetVertNormals`, dhewm3's `Model_lwo.cpp`). Areas don't
count. So points that polygons share are smooth, and hard edges take an angle, or two points at one place. picomodel has
the same code, but does not use what it makes: q3map2 smooths all that lies at one place in a surface.

Letters in shapes: P points, N polygons, C corners of all polygons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from .numbers import Ints

Doubles = NDArray[np.float64]
MOST_PAIRS = 1 << 19  # of polygons that are compared at once
MOST_AT_A_POINT = 256  # polygons: of more, angles are not looked at
MOST_CORNERS = 16  # of a polygon with a dent, to be cut with care


@dataclass(frozen=True, eq=False)
class Faces:
    """Polygons, and how they are smoothed."""

    counts: Ints  # (N,)
    corners: Ints  # (C,) points
    angles: Doubles  # (N,) smoothing angle, radians
    groups: Ints  # (N,) smoothing group

    @property
    def starts(self) -> Ints:
        """Return the first corner of each polygon, (N,)."""
        return np.cumsum(self.counts) - self.counts

    @property
    def owners(self) -> Ints:
        """Return which polygon each corner is of, (C,)."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


def face_normals(points: NDArray[Any], faces: Faces) -> Doubles:
    """Return the unit normals of polygons, (N, 3), of points (P, 3); 0 where there is none."""
    found = np.zeros((len(faces.counts), 3))
    usable = np.flatnonzero(faces.counts >= 3)
    first = faces.starts[usable]
    a, b, last = (
        points[faces.corners[where]].astype(np.float64)
        for where in (first, first + 1, first + faces.counts[usable] - 1)
    )
    found[usable] = _unit(steady.crossed(b - a, last - a))
    return found


def corner_normals(points: NDArray[Any], faces: Faces) -> Doubles:
    """Return the normals of all corners, (C, 3), of length 1 or 0."""
    flat = face_normals(points, faces)
    owners = faces.owners
    found = flat[owners]
    order = np.argsort(faces.corners, kind="stable")
    starts = np.flatnonzero(np.diff(faces.corners[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    for size in np.unique(sizes).tolist():
        if size < 2:
            continue
        places = starts[sizes == size][:, None] + np.arange(size)
        step = max(1, MOST_PAIRS // min(size, MOST_AT_A_POINT) ** 2)
        for begin in range(0, len(places), step):
            corners = order[places[begin : begin + step]]  # (n, size)
            found[corners] = _sums(flat, faces, owners[corners])
    return _unit(found)


def _sums(flat: Doubles, faces: Faces, polygons: Ints) -> Doubles:
    """Return the sums of normals (n, k, 3) at points, at each of which some polygons (n, k) meet."""
    own = flat[polygons]
    groups, angles = faces.groups[polygons], faces.angles[polygons].astype(np.float32)
    if polygons.shape[1] > MOST_AT_A_POINT:
        smooth = (angles > 0) & (groups == groups[:, :1])
        total = (own * smooth[..., None]).sum(axis=1, keepdims=True)
        return np.where(smooth[..., None], total, own)
    slopes = steady.dots(own[:, :, None], own[:, None]).astype(np.float32).astype(np.float64)
    heights = np.sqrt(np.maximum(1.0 - slopes * slopes, 0.0))
    between = steady.angles_of(heights, slopes).astype(np.float32)
    between[slopes >= 1.0] = 0.0
    joined = (between <= angles[:, :, None]) & (angles[:, :, None] > 0) & (groups[:, :, None] == groups[:, None])
    joined &= polygons[:, :, None] != polygons[:, None]
    total = own.copy()
    for other in range(polygons.shape[1]):  # in the engines' order
        total += joined[:, :, other, None] * own[:, other, None]
    return total


def _unit(vectors: Doubles) -> Doubles:
    lengths = steady.lengths(vectors)[..., None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def triangles_of(points: NDArray[Any], faces: Faces, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the triangles of some polygons (n,): corners (T, 3) in the polygon's order, and polygons (T,), in order.

    One with a dent is cut ear by ear, if it has no more than 16 corners; else from its first corner.
    """
    parts, owners = [], []
    for count in np.unique(faces.counts[chosen]).tolist():
        if count < 3:
            continue
        some = chosen[faces.counts[chosen] == count]
        corners = faces.starts[some][:, None] + np.arange(count)
        cut = _cut(points[faces.corners[corners]].astype(np.float64)) if count > 3 else None
        local = np.broadcast_to(np.arange(3), (len(some), 1, 3)) if cut is None else cut
        parts.append(np.take_along_axis(corners, local.reshape(len(some), -1), axis=1).reshape(-1, 3))
        owners.append(np.repeat(some, local.shape[1]))
    if not parts:
        return np.zeros((0, 3), np.int64), np.zeros(0, np.int64)
    joined, of = np.concatenate(parts), np.concatenate(owners)
    order = np.argsort(of, kind="stable")
    return joined[order], of[order]


def _cut(places: Doubles) -> Ints:
    """Return the triangles (n, k - 2, 3), by corners, of polygons with corners (n, k, 3)."""
    count = places.shape[1]
    fans = np.stack((np.zeros(count - 2, np.int64), np.arange(1, count - 1), np.arange(2, count)), axis=1)
    found = np.broadcast_to(fans, (len(places), count - 2, 3)).copy()
    if count <= MOST_CORNERS:
        sides = steady.crossed(places[:, fans[:, 1]] - places[:, :1], places[:, fans[:, 2]] - places[:, :1])
        dented = np.flatnonzero((steady.dots(sides, _area_normals(places)[:, None]) <= 0).any(axis=1))
        if len(dented):
            found[dented] = _ears(places[dented])
    return found


def _area_normals(places: Doubles) -> Doubles:
    """Return the normals of polygons by all their edges (n, 3), which a dent does not turn over (Newell)."""
    return np.asarray(steady.crossed(places, np.roll(places, -1, axis=1)).sum(axis=1))


def _ears(places: Doubles) -> Ints:
    """Return the triangles (n, k - 2, 3) that cutting an ear after the other makes of polygons (n, k, 3)."""
    number, count = places.shape[:2]
    up = _area_normals(places - places[:, :1])
    left = np.broadcast_to(np.arange(count), (number, count)).copy()
    rows = np.arange(number)
    found = np.zeros((number, count - 2, 3), np.int64)
    for step in range(count - 3):
        before, after = np.roll(left, 1, axis=1), np.roll(left, -1, axis=1)
        a, b, c = (np.take_along_axis(places, each[..., None], axis=1) for each in (before, left, after))
        ear = _side(a, b, c, up) > 0
        inside = np.zeros(ear.shape, np.bool_)
        for other in range(left.shape[1]):
            point, which = b[:, other, None], left[:, other, None]
            apart = (which != before) & (which != left) & (which != after)
            sides = [_side(p, q, point, up) for p, q in ((a, b), (b, c), (c, a))]
            inside |= apart & (np.minimum(np.minimum(*sides[:2]), sides[2]) >= 0)
        best = np.where(ear & ~inside, 2, np.where(ear, 1, 0)).argmax(axis=1)
        found[:, step] = np.stack([each[rows, best] for each in (before, left, after)], axis=1)
        kept = np.arange(left.shape[1])[None] != best[:, None]
        left = left[kept].reshape(number, -1)
    found[:, -1] = left
    return found


def _side(a: Doubles, b: Doubles, c: Doubles, up: Doubles) -> Doubles:
    """Return on which side of lines from a to b points c lie, (n, k); more than 0: on the left, seen from above."""
    return steady.dots(steady.crossed(b - a, c - a), up[:, None])
