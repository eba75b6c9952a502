"""Where the places of a mesh are, and what a step away from one of them costs: in one pose, or in many at once.

Two classes answer the same questions. `OnePose` has Python's own floats, because a step looks at a handful of
triangles, and for so few numpy is slower. `ManyPoses` has arrays, with all poses of a place side by side; a step costs
what it costs in the pose in which it shows most, and folds a triangle over if it does so in any.

The cost is the quadric of the planes of the triangles around a place (Garland and Heckbert 1997), ten numbers and the
weight, with planes upright on borders and seams. Lengths are shares of the mesh's diagonal.

Letters in shapes: F poses, V vertices, P places, T triangles, n targets of a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..arrays import places_of

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
Point = tuple[float, float, float]
Corners = tuple[int, int, int]  # the places of a triangle

NEAR = 1e-5  # vertices so close are at one place: where weights put them differs in the last digits
ASKEW = (0.6123, 0.5417, 0.5759)  # a direction of length 1 to sort by, across no plane that modellers use
BORDER_WEIGHT = 10.0  # of the planes upright on borders and seams, against those of the triangles
STEEPEST = 0.2  # cosine of the angle by which a triangle may turn
FLAT = 1e-24  # squared area (of the squared diagonal) of a triangle that faces nowhere


class Poses(Protocol):
    """What a mesh asks of the places of its vertices."""

    def costs(self, place: int, targets: Sequence[int], short: float) -> list[float]:
        """Return what it costs to move a place to each target: the deviation, and `short` times the way squared."""

    def deviation(self, place: int, target: int) -> float:
        """Return the mean square of the distances from a target to the planes of a place."""

    def folds(self, place: int, target: int, triangles: Sequence[Corners]) -> bool:
        """Tell whether one of some triangles, that stay, would turn too far."""

    def add(self, target: int, place: int) -> None:
        """Let a target stand for a place that went there."""


class OnePose:
    """The places of a mesh that stands still."""

    def __init__(self, spots: Doubles, quadrics: Doubles) -> None:
        self.spots: list[Point] = [(x, y, z) for x, y, z in spots.tolist()]  # of (P, 3)
        self.quadrics: list[list[float]] = quadrics.tolist()  # of (P, 11)

    def costs(self, place: int, targets: Sequence[int], short: float) -> list[float]:
        """Return what it costs to move a place to each target."""
        x, y, z = self.spots[place]
        found = []
        for target in targets:
            u, v, w = self.spots[target]
            way = (u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2
            found.append(self.deviation(place, target) + short * way)
        return found

    def deviation(self, place: int, target: int) -> float:
        """Return the mean square of the distances from a target to the planes of a place."""
        xx, xy, xz, xw, yy, yz, yw, zz, zw, ww, weight = self.quadrics[place]
        x, y, z = self.spots[target]
        total = x * (xx * x + 2 * (xy * y + xz * z + xw)) + y * (yy * y + 2 * (yz * z + yw))
        total += z * (zz * z + 2 * zw) + ww
        return max(total, 0.0) / weight if weight else 0.0

    def folds(self, place: int, target: int, triangles: Sequence[Corners]) -> bool:
        """Tell whether one of some triangles, that stay, would turn too far."""
        spots = self.spots
        for a, b, c in triangles:
            before = _normal(spots[a], spots[b], spots[c])
            u, v, w = (spots[target if corner == place else corner] for corner in (a, b, c))
            after = _normal(u, v, w)
            square = _dot(before, before)
            if square <= FLAT:
                continue
            if _dot(before, after) <= STEEPEST * math.sqrt(square * _dot(after, after)):
                return True
        return False

    def add(self, target: int, place: int) -> None:
        """Let a target stand for a place that went there."""
        pair = zip(self.quadrics[target], self.quadrics[place], strict=True)
        self.quadrics[target] = [a + b for a, b in pair]


class ManyPoses:
    """The places of a mesh that moves."""

    def __init__(self, spots: Doubles, quadrics: Doubles) -> None:
        self.spots = np.ascontiguousarray(spots.transpose(1, 2, 0))  # (P, 3, F) of (F, P, 3)
        self.quadrics = np.ascontiguousarray(quadrics.transpose(1, 2, 0))  # (P, 11, F) of (F, P, 11)

    def costs(self, place: int, targets: Sequence[int], short: float) -> list[float]:
        """Return what it costs to move a place to each target, in the pose in which it costs most."""
        there = self.spots[targets]  # (n, 3, F)
        x, y, z = there.transpose(1, 0, 2) - self.spots[place][:, None]
        costs = self._deviations(place, there) + short * (x * x + y * y + z * z)
        found: list[float] = costs.max(axis=1).tolist()
        return found

    def deviation(self, place: int, target: int) -> float:
        """Return the mean square of the distances from a target to the planes of a place, in the worst pose."""
        return float(self._deviations(place, self.spots[target][None]).max())

    def _deviations(self, place: int, there: Doubles) -> Doubles:
        xx, xy, xz, xw, yy, yz, yw, zz, zw, ww, weight = self.quadrics[place]
        x, y, z = there.transpose(1, 0, 2)
        total = x * (xx * x + 2 * (xy * y + xz * z + xw)) + y * (yy * y + 2 * (yz * z + yw))
        total += z * (zz * z + 2 * zw) + ww
        return np.asarray(np.maximum(total, 0.0) / np.where(weight > 0.0, weight, np.inf))

    def folds(self, place: int, target: int, triangles: Sequence[Corners]) -> bool:
        """Tell whether one of some triangles, that stay, would turn too far in some pose."""
        if not triangles:
            return False
        corners = np.array(triangles)
        before = self._normals(corners)
        after = self._normals(np.where(corners == place, target, corners))
        squares = _products(before, before)
        turned = _products(before, after) <= STEEPEST * np.sqrt(squares * _products(after, after))
        return bool((turned & (squares > FLAT)).any())

    def _normals(self, corners: Indices) -> tuple[Doubles, Doubles, Doubles]:
        """Return the normals of triangles (T, 3), twice their area long, as three components (T, F)."""
        a, b, c = (self.spots[corners[:, k]] for k in range(3))
        ux, uy, uz = (b - a).transpose(1, 0, 2)
        vx, vy, vz = (c - a).transpose(1, 0, 2)
        return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx

    def add(self, target: int, place: int) -> None:
        """Let a target stand for a place that went there."""
        self.quadrics[target] += self.quadrics[place]


def _products(a: Sequence[Doubles], b: Sequence[Doubles]) -> Doubles:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _normal(a: Point, b: Point, c: Point) -> Point:
    """Return a triangle's normal, twice its area long."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


def find_places(points: Doubles, reach: float = 0.0) -> tuple[Doubles, Indices]:
    """Return the different places (F, P, 3) of vertices (F, V, 3), and the place of each vertex (V,).

    Vertices are at one place that are so in all poses, but for rounding, or for `reach`. Places are in the order of
    the first pose's coordinates.
    """
    points = points + 0.0  # -0 becomes 0
    if not points.shape[1]:
        return points, np.zeros(0, np.int64)
    spots, inverse = _exact_places(points)
    reach = max(reach, NEAR * float(steady.lengths(np.ptp(spots.reshape(-1, 3), axis=0))))
    along = _ways_along(spots)
    order = np.argsort(along, kind="stable")
    lowest, pairs, ahead = np.arange(spots.shape[1]), [], 1
    while (close := np.flatnonzero(along[order[ahead:]] - along[order[:-ahead]] <= reach)).size:
        pairs.append(_near(spots, np.stack((order[close], order[close + ahead])), reach))
        ahead += 1
    joined = np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1)
    while (lowest[joined[0]] != lowest[joined[1]]).any():
        low = lowest[joined].min(axis=0)
        for ends in joined:
            np.minimum.at(lowest, ends, low)
    kept, numbers = np.unique(lowest, return_inverse=True)
    return spots[:, kept], numbers.reshape(-1)[inverse].astype(np.int64)


def _exact_places(points: Doubles) -> tuple[Doubles, Indices]:
    """Return the different places (F, P, 3) of vertices, and the place of each (V,)."""
    classes = places_of(points.view(np.int64))
    firsts = np.unique(classes, return_index=True)[1]
    order = np.lexsort((firsts, *points[0, firsts].T[::-1]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return points[:, firsts[order]], rank[classes]


def _ways_along(spots: Doubles) -> Doubles:
    """Return a number for each place (P,): those of places that are near each other in all poses differ by no more.

    Poses weigh differently, so that what meets in one does not look near because of another.
    """
    weights = 1.0 - 0.5 * np.arange(len(spots)) / len(spots)
    total = np.zeros(spots.shape[1])
    for weight, pose in zip(weights.tolist(), spots, strict=True):
        total += weight * steady.dots(pose, np.array(ASKEW))
    return np.asarray(total / sum(weights.tolist()))


def _near(spots: Doubles, pairs: Indices, reach: float) -> Indices:
    """Return those of pairs of places (2, n) that are near in all poses."""
    for pose in spots:
        if not pairs.size:
            break
        pairs = pairs[:, steady.lengths(pose[pairs[0]] - pose[pairs[1]]) <= reach]
    return pairs


def find_quadrics(spots: Doubles, place_of: Indices, corners: Indices) -> Doubles:
    """Return for each pose and place the sum of its planes' squares, ten numbers, and of their weights, (F, P, 11).

    `corners` (T, 3) are vertices.
    """
    places = place_of[corners]
    curves, faces = _curves(places, corners)
    rows = np.concatenate((*places.T, *curves.T)).astype(np.int64)
    result = np.zeros((len(spots), spots.shape[1], 11))
    for pose, found in zip(spots, result, strict=True):
        a, b, c = (pose[places[:, k]] for k in range(3))
        normals = steady.crossed(b - a, c - a)
        areas = steady.lengths(normals)
        units = normals / np.where(areas > 0.0, areas, 1.0)[:, None]
        planes = _squares(units, -(units * a).sum(axis=1), areas)
        starts, ends = pose[curves[:, 0]], pose[curves[:, 1]]
        upright = steady.crossed(ends - starts, units[faces])
        lengths = steady.lengths(upright)
        upright = upright / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        walls = _squares(upright, -(upright * starts).sum(axis=1), BORDER_WEIGHT * lengths**2)
        terms = np.concatenate((planes, planes, planes, walls, walls))
        for column in range(11):  # in the order of the rows: `bincount` adds one after another
            found[:, column] = np.bincount(rows, terms[:, column], spots.shape[1])
    return result


def _squares(normals: Doubles, offsets: Doubles, weights: Doubles) -> Doubles:
    """Return the weighted squares of planes, (n, 11)."""
    plane = np.concatenate((normals, offsets[:, None]), axis=1)
    rows, columns = np.triu_indices(4)
    squares = np.concatenate((plane[:, rows] * plane[:, columns], np.ones((len(plane), 1))), axis=1)
    return np.asarray(squares * weights[:, None])


def _curves(places: NDArray[Any], corners: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges of borders and seams as places (n, 2), once for each triangle there (n,).

    A border's edge belongs to one triangle or to more than two; a seam's to two that use different vertices.
    """
    ends = np.stack((places, np.roll(places, -1, axis=1)), axis=2).reshape(-1, 2)
    used = np.stack((corners, np.roll(corners, -1, axis=1)), axis=2).reshape(-1, 2)
    turned = ends[:, 0] > ends[:, 1]
    ends[turned], used[turned] = ends[turned, ::-1], used[turned, ::-1]
    faces = np.repeat(np.arange(len(places)), 3)
    same, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)[1:]
    sides = np.unique(np.concatenate((same.reshape(-1, 1), used), axis=1), axis=0)
    pairs = np.bincount(sides[:, 0], minlength=len(counts))
    curved = ((counts != 2) | (pairs > 1))[same.reshape(-1)]
    return ends[curved], faces[curved]
