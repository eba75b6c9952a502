"""A surface that loses its vertices one place at a time: the work behind `collapse.simplify`.

A place is a position, but for rounding; the vertices there move together. Lengths are shares of the surface's
diagonal, so that thresholds mean the same for all sizes. The lists and floats are Python's own: each step looks at a
handful of triangles, and for so few numpy is slower.

Letters in shapes: V vertices, P places, T triangles.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..source import are_solid

Point = tuple[float, float, float]
Key = tuple[int, int, int, int]  # tears, cost, place, its target: the smallest goes first

NEAR = 1e-5  # vertices so close are at one place: where weights put them differs in the last digits
ASKEW = (0.6123, 0.5417, 0.5759)  # a direction of length 1 to sort by, across no plane that modellers use
BORDER_WEIGHT = 10.0  # of the planes upright on borders and seams, against those of the triangles
SHORT, SHORT_CURVE = 1e-4, 1e-3  # cost of the way squared; on flat ground, and along borders, near ones go first
STEEPEST = 0.2  # cosine of the angle by which a triangle may turn
FLAT = 1e-24  # squared area (of the squared diagonal) of a triangle that faces nowhere
EQUAL = 1e-13  # costs are counted in steps of it: those of mirror images differ in the last digits
SOLID, TEARS = 0, 1
GONE = math.inf  # the error of a step that tears


class Mesh:
    """The surface as it is after some steps, and the steps: (vertex, its target, error), the first to go first."""

    def __init__(self, points: NDArray[np.float64], traits: NDArray[np.float64], corners: NDArray[np.int64]) -> None:
        spots, place_of = _places(points)
        low, high = (spots.min(axis=0), spots.max(axis=0)) if len(spots) else (np.zeros(3), np.zeros(3))
        self.size = float(steady.lengths(high - low)) or 1.0
        spots = (spots - (low + high) / 2) / self.size
        solid = are_solid(place_of[corners])
        self.corners = corners[solid].tolist()
        copies = _repeats(place_of[corners[solid]])
        self.copies: list[bool] = copies.tolist()
        self.spots: list[Point] = [(x, y, z) for x, y, z in spots.tolist()]
        self.traits: list[list[float]] = traits.tolist()
        self.place_of: list[int] = place_of.tolist()
        self.quadrics: list[list[float]] = _quadrics(spots, place_of, corners[solid], copies).tolist()
        self.members: list[list[int]] = [[] for _ in spots]
        for vertex, place in enumerate(self.place_of):
            self.members[place].append(vertex)
        self.around: list[set[int]] = [set() for _ in spots]
        for number, corner in enumerate(self.corners):
            for vertex in corner:
                self.around[self.place_of[vertex]].add(number)
        self.alive = [True] * len(spots)
        self.touched = [False] * len(spots)
        self.lowest = 0  # no place below is alive
        self.steps: list[tuple[int, int, float]] = []

    def run(self) -> None:
        """Take away all vertices; the last one's target is itself."""
        for place in range(len(self.spots)):
            if self.around[place]:
                self._drop_idle(place)
            else:
                self._drop(place)
        heap = [self._best(place) for place in range(len(self.spots)) if self.around[place]]
        heapq.heapify(heap)
        while heap:
            key = heapq.heappop(heap)
            place = key[2]
            if not (self.alive[place] and self.around[place]):
                continue
            now = self._still(key)
            if now > key:
                heapq.heappush(heap, now)
            else:
                self._collapse(place, now[3], tears=now[0] == TEARS)
        for place in [place for place, alive in enumerate(self.alive) if alive]:
            kept, *others = self.members[place]
            self.steps += [(vertex, kept, GONE) for vertex in others]
            self.steps.append((kept, kept, GONE))

    # -- what a step would cost

    def _still(self, key: Key) -> Key:
        """Return the best step of a place now, of which the best was once a key."""
        tears, _, place, target = key
        if tears == SOLID and not self.touched[place] and self.alive[target]:
            counts, sides = self._ring(place)
            if target in counts and self._holds(place, target, counts, sides):
                return key
        return self._best(place)

    def _best(self, place: int) -> Key:
        """Return the cheapest step of a place that holds, or else the cheapest that tears."""
        self.touched[place] = False
        counts, sides = self._ring(place)
        on_curve = any(count != 2 for count in counts.values())
        short = SHORT_CURVE if on_curve else SHORT
        x, y, z = self.spots[place]
        costs = []
        for target in counts:
            u, v, w = self.spots[target]
            way = (u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2
            costs.append((round((self._deviation(place, target) + short * way) / EQUAL), target))
        costs.sort()
        for cost, target in costs:
            if self._holds(place, target, counts, sides):
                return SOLID, cost, place, target
        return TEARS, costs[0][0], place, costs[0][1]

    def _ring(self, place: int) -> tuple[dict[int, int], dict[int, set[int]]]:
        """Return how many triangles each neighbour shares with a place, and the neighbours of each vertex there."""
        counts: dict[int, int] = {}
        sides: dict[int, set[int]] = {}
        place_of, copies = self.place_of, self.copies
        for number in self.around[place]:
            corner = self.corners[number]
            own = next(vertex for vertex in corner if place_of[vertex] == place)
            side = sides.setdefault(own, set())
            for vertex in corner:
                if vertex != own:
                    other = place_of[vertex]
                    counts[other] = counts.get(other, 0) + (not copies[number])
                    side.add(vertex)
        return counts, sides

    def _deviation(self, place: int, target: int) -> float:
        """Return the mean square of the distances from a target to the planes of a place."""
        xx, xy, xz, xw, yy, yz, yw, zz, zw, ww, weight = self.quadrics[place]
        x, y, z = self.spots[target]
        total = x * (xx * x + 2 * (xy * y + xz * z + xw)) + y * (yy * y + 2 * (yz * z + yw))
        total += z * (zz * z + 2 * zw) + ww
        return max(total, 0.0) / weight if weight else 0.0

    def _holds(self, place: int, target: int, counts: dict[int, int], sides: dict[int, set[int]]) -> bool:
        """Tell whether a step keeps borders, seams, and what is joined to what, and folds nothing over."""
        curve = [other for other, count in counts.items() if count != 2]
        if curve and (len(curve) != 2 or target not in curve):
            return False
        place_of = self.place_of
        for side in sides.values():
            if sum(place_of[vertex] == target for vertex in side) != 1:
                return False
        around = self.around
        common = [o for o in counts if o != target and not around[o].isdisjoint(around[target])]
        if len(common) != counts[target]:
            return False
        if len(common) == 2:  # two triangles that would lie on each other
            shared = around[common[0]] & around[common[1]]
            if not (shared.isdisjoint(around[place]) or shared.isdisjoint(around[target])):
                return False
        return not self._folds(place, target)

    def _folds(self, place: int, target: int) -> bool:
        """Tell whether a triangle that stays would turn too far."""
        spots, place_of = self.spots, self.place_of
        for number in self.around[place]:
            a, b, c = (place_of[vertex] for vertex in self.corners[number])
            if target in {a, b, c}:
                continue
            before = _normal(spots[a], spots[b], spots[c])
            a, b, c = (target if corner == place else corner for corner in (a, b, c))
            after = _normal(spots[a], spots[b], spots[c])
            square = _dot(before, before)
            if square <= FLAT:
                continue
            if _dot(before, after) <= STEEPEST * math.sqrt(square * _dot(after, after)):
                return True
        return False

    # -- taking it

    def _collapse(self, place: int, target: int, *, tears: bool) -> None:
        """Move the vertices of a place to those of a neighbour."""
        _, sides = self._ring(place)
        error = GONE if tears else math.sqrt(self._deviation(place, target))
        moved = {}
        for vertex in self.members[place]:
            near = sorted(other for other in sides.get(vertex, ()) if self.place_of[other] == target)
            moved[vertex] = self._nearest(vertex, near or self.members[target])
            self.steps.append((vertex, moved[vertex], error))
        ring: set[int] = set()
        for number in self.around[place]:
            corner = self.corners[number]
            ring.update(self.place_of[vertex] for vertex in corner)
            if any(self.place_of[vertex] == target for vertex in corner):
                for vertex in corner:
                    if self.place_of[vertex] != place:
                        self.around[self.place_of[vertex]].discard(number)
            else:
                self.corners[number] = [moved.get(vertex, vertex) for vertex in corner]
                self.around[target].add(number)
        self.alive[place] = False
        self.around[place] = set()
        self.quadrics[target] = [a + b for a, b in zip(self.quadrics[target], self.quadrics[place], strict=True)]
        self._after(ring - {place}, error)

    def _after(self, ring: Iterable[int], error: float) -> None:
        """Mark places around a step as changed, and drop those that have no triangle any more."""
        for place in sorted(ring):
            self.touched[place] = True
            if not self.around[place]:
                self._drop(place, error)

    def _nearest(self, vertex: int, others: list[int]) -> int:
        """Return the one of other vertices that looks most like a vertex."""
        if len(others) == 1:
            return others[0]
        own = self.traits[vertex]
        return min(others, key=lambda other: (round(_square(own, self.traits[other]) / EQUAL), other))

    def _drop_idle(self, place: int) -> None:
        """Take away the vertices of a place that no triangle uses, where others are used."""
        used = sorted(self._ring(place)[1])
        idle = sorted(set(self.members[place]).difference(used))
        self.steps += [(vertex, self._nearest(vertex, used), 0.0) for vertex in idle]
        self.members[place] = used

    def _drop(self, place: int, error: float = 0.0) -> None:
        """Take away a place that no triangle uses, unless it is the last."""
        self.alive[place] = False
        while self.lowest < len(self.alive) and not self.alive[self.lowest]:
            self.lowest += 1
        if self.lowest == len(self.alive):
            self.alive[place], self.lowest = True, place
            return
        target = self.members[self.lowest][0]
        self.steps += [(vertex, target, error) for vertex in self.members[place]]


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _square(a: list[float], b: list[float]) -> float:
    """Return the square of the distance of two points."""
    total = 0.0
    for x, y in zip(a, b, strict=True):  # not `sum`, which newer Pythons do in another way
        total += (x - y) * (x - y)
    return total


def _normal(a: Point, b: Point, c: Point) -> Point:
    """Return a triangle's normal, twice its area long."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


def _places(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different positions (P, 3), but for rounding, and the place of each vertex (V,)."""
    if not len(points):
        return points, np.zeros(0, np.int64)
    # Adding 0 makes -0 the same as 0.
    spots, inverse = np.unique(points + 0.0, axis=0, return_inverse=True)
    reach = NEAR * float(steady.lengths(np.ptp(spots, axis=0)))
    along = steady.dots(spots, np.array(ASKEW))
    order = np.argsort(along, kind="stable")
    lowest, pairs, ahead = np.arange(len(spots)), [], 1
    while (close := np.flatnonzero(along[order[ahead:]] - along[order[:-ahead]] <= reach)).size:
        pair = order[close], order[close + ahead]
        near = steady.lengths(spots[pair[0]] - spots[pair[1]]) <= reach
        pairs.append(np.stack(pair)[:, near])
        ahead += 1
    joined = np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1)
    while (lowest[joined[0]] != lowest[joined[1]]).any():
        low = lowest[joined].min(axis=0)
        for ends in joined:
            np.minimum.at(lowest, ends, low)
    kept, numbers = np.unique(lowest, return_inverse=True)
    return spots[kept], numbers[inverse.reshape(-1)].astype(np.int64)


def _repeats(triangles: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which triangles (T, 3) have the corners of an earlier one: the back of a cloth, mostly."""
    repeated = np.ones(len(triangles), np.bool_)
    if len(triangles):
        repeated[np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]] = False
    return repeated


def _quadrics(
    spots: NDArray[np.float64], place_of: NDArray[np.int64], corners: NDArray[np.int64], copies: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each place the sum of its planes' squares, ten numbers, and of their weights, (P, 11)."""
    corners = corners[~copies]
    result = np.zeros((len(spots), 11))
    if not len(corners):
        return result
    places = place_of[corners]
    a, b, c = (spots[places[:, k]] for k in range(3))
    normals = steady.crossed(b - a, c - a)
    areas = steady.lengths(normals)
    units = normals / np.where(areas > 0.0, areas, 1.0)[:, None]
    terms = _squares(units, -(units * a).sum(axis=1), areas)
    for k in range(3):
        np.add.at(result, places[:, k], terms)
    curves, faces = _curves(places, corners)
    starts, ends = spots[curves[:, 0]], spots[curves[:, 1]]
    upright = steady.crossed(ends - starts, units[faces])
    lengths = steady.lengths(upright)
    upright = upright / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    terms = _squares(upright, -(upright * starts).sum(axis=1), BORDER_WEIGHT * lengths**2)
    for k in range(2):
        np.add.at(result, curves[:, k], terms)
    return result


def _squares(normals: NDArray[Any], offsets: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weighted squares of planes, (n, 11)."""
    plane = np.concatenate((normals, offsets[:, None]), axis=1)
    rows, columns = np.triu_indices(4)
    squares = np.concatenate((plane[:, rows] * plane[:, columns], np.ones((len(plane), 1))), axis=1)
    return np.asarray(squares * weights[:, None])


def _curves(places: NDArray[np.int64], corners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
