"""A mesh that loses its vertices one place at a time: the work behind `collapse.simplify` and `levels.make_levels`.

A place is a position in all poses, but for rounding; the vertices there move together, so that what is joined stays
so: both sides of a seam of the texture, and surfaces that meet. Where places are, and what a step costs, is `poses`'
matter. The lists are Python's own: each step looks at a handful of triangles, and for so few numpy is slower.

Letters in shapes: F poses, V vertices, P places, T triangles.

A step also moves the texture on the surface. On each triangle the texture coordinate is a linear function of the place.
A vertex that goes to another takes the functions of its triangles along; what they say of the other's place differs
from the coordinate that it has by how far the texture slips there (Hoppe 1999, New quadric metric for simplifying
meshes with appearance attributes). Where a picture is mirrored along a line, as on most chests and faces, no seam
tells, and this alone keeps the line.

Letters in shapes: V vertices, T triangles.
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
from .poses import ASKEW, ManyPoses, OnePose, Poses, find_places, find_quadrics

__all__ = ["ASKEW", "GONE", "Mesh"]

Key = tuple[int, int, int, int]  # tears, cost, place, its target: the smallest goes first

SHORT, SHORT_CURVE = 1e-4, 1e-3  # cost of the way squared; on flat ground, and along borders, near ones go first
SLIPPED = 0.1  # of how far the texture slips, squared, against how far the surface moves
EQUAL = 1e-13  # costs are counted in steps of it: those of mirror images differ in the last digits
SOLID, TEARS = 0, 1
GONE = math.inf  # the error of a step that tears
Doubles = NDArray[np.float64]
THIN = 0.05  # height of a triangle by its longest edge, below which it says nothing of its surroundings
ROWS, COLUMNS = np.triu_indices(5)


class Mesh:
    """The mesh as it is after some steps, and the steps: (vertex, its target, error), the first to go first.

    Args:
        points: (V, 3), or (F, V, 3) of a mesh that moves.
        traits: (V, n), what says which of several vertices at a place are alike.
        corners: triangles (T, 3); of those that are at less than three places nothing is drawn.
        fixed: (V,), vertices that stay with all that are at their places; None: none.
        parts: (T,), which part each triangle belongs to, from 0; `shrink` leaves something of each. None: one part.
        reach: how far apart vertices may be at one place, where that is more than `poses.NEAR`.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        traits: NDArray[np.float64],
        corners: NDArray[np.int64],
        fixed: NDArray[np.bool_] | None = None,
        parts: NDArray[np.int64] | None = None,
        reach: float = 0.0,
    ) -> None:
        spots, place_of = find_places(points if points.ndim == 3 else points[None], reach)
        self.solid = np.flatnonzero(are_solid(place_of[corners]))  # which of the triangles there are to draw
        corners = corners[self.solid]
        copies = _repeats(place_of[corners])
        self.poses, self.size = _poses(spots, place_of, corners[~copies])
        self.corners: list[list[int]] = corners.tolist()
        self.copies: list[bool] = copies.tolist()
        self.traits: list[list[float]] = traits.tolist()
        self.place_of: list[int] = place_of.tolist()
        count = spots.shape[1]
        self.members: list[list[int]] = [[] for _ in range(count)]
        for vertex, place in enumerate(self.place_of):
            self.members[place].append(vertex)
        self.around: list[set[int]] = [set() for _ in range(count)]
        for number, corner in enumerate(self.corners):
            for vertex in corner:
                self.around[self.place_of[vertex]].add(number)
        self.alive, self.touched, self.fixed = [True] * count, [False] * count, [False] * count
        for place in [] if fixed is None else place_of[fixed].tolist():
            self.fixed[place] = True
        self.texture: Texture | None = None
        self.lowest = 0  # no place below is alive
        self.left = len(self.corners)  # triangles
        own = np.zeros(self.left, np.int64) if parts is None else parts[self.solid]
        self.part_of: list[int] = own.tolist()
        self.left_of: list[int] = np.bincount(own).tolist()  # each part
        self.steps: list[tuple[int, int, float]] = []
        self.heap: list[Key] = []
        self.waiting: set[int] = set()  # places that could not go without a tear when they were last asked

    # -- taking places away

    def run(self) -> None:
        """Take away all vertices; the last one's target is itself."""
        self.start()
        while self.heap:
            key = heapq.heappop(self.heap)
            place = key[2]
            if not self.around[place]:
                continue
            now = self._still(key)
            if now > key:
                heapq.heappush(self.heap, now)
            else:
                self._collapse(place, now[3], tears=now[0] == TEARS)
        for place in [place for place, alive in enumerate(self.alive) if alive]:
            kept, *others = self.members[place]
            self.steps += [(vertex, kept, GONE) for vertex in others]
            self.steps.append((kept, kept, GONE))

    def start(self) -> None:
        """Take away what no triangle uses, and line up the others."""
        for place in range(len(self.alive)):
            if self.around[place]:
                self._drop_idle(place)
            else:
                self._drop(place)
        free = [place for place in range(len(self.alive)) if self.around[place] and not self.fixed[place]]
        self.heap = [self._best(place) for place in free]
        heapq.heapify(self.heap)

    def shrink(self, count: int) -> None:
        """Take away places until `count` triangles are left, or none can go without a tear."""
        while self.heap and self.left > count:
            key = heapq.heappop(self.heap)
            place = key[2]
            if not self.around[place]:
                continue
            now = self._still(key)
            if now[0] == TEARS or self._empties(place, now[3]):
                self.waiting.add(place)
            elif now > key:
                heapq.heappush(self.heap, now)
            else:
                self._collapse(place, now[3], tears=False)

    def drawn(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the triangles that are left, (n, 3), and which of all they were, (n,)."""
        numbers = sorted(set().union(*self.around))
        corners = np.array([self.corners[number] for number in numbers], np.int64).reshape(-1, 3)
        return corners, self.solid[np.array(numbers, np.int64)]

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
        targets = list(counts)
        found = self.poses.costs(place, targets, short)
        if self.texture is not None:
            slips = (self._slip(target, sides) for target in targets)
            found = [cost + SLIPPED * slip for cost, slip in zip(found, slips, strict=True)]
        costs = [(round(cost / EQUAL), target) for cost, target in zip(found, targets, strict=True)]
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

    def _slip(self, target: int, sides: dict[int, set[int]]) -> float:
        """Return how far the texture slips where it does most, as a square, when a place goes to a target."""
        assert self.texture is not None
        place_of, slip = self.place_of, self.texture.slip
        ends = ((vertex, other) for vertex, side in sides.items() for other in side if place_of[other] == target)
        return max((slip(vertex, other) for vertex, other in ends), default=0.0)

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

    def _empties(self, place: int, target: int) -> bool:
        """Tell whether a step would leave nothing of a part."""
        going = [self.part_of[number] for number in self.around[place] & self.around[target]]
        return any(self.left_of[part] <= going.count(part) for part in set(going))

    def _folds(self, place: int, target: int) -> bool:
        """Tell whether a triangle that stays would turn too far."""
        place_of, triangles = self.place_of, []
        for number in self.around[place]:
            a, b, c = (place_of[vertex] for vertex in self.corners[number])
            if target not in {a, b, c}:
                triangles.append((a, b, c))
        return self.poses.folds(place, target, triangles)

    # -- taking it

    def _collapse(self, place: int, target: int, *, tears: bool) -> None:
        """Move the vertices of a place to those of a neighbour."""
        _, sides = self._ring(place)
        error = GONE if tears else math.sqrt(self.poses.deviation(place, target))
        moved = {}
        for vertex in self.members[place]:
            near = sorted(other for other in sides.get(vertex, ()) if self.place_of[other] == target)
            moved[vertex] = self._nearest(vertex, near or self.members[target])
            self.steps.append((vertex, moved[vertex], error))
            if self.texture is not None:
                self.texture.add(moved[vertex], vertex)
        ring: set[int] = set()
        for number in self.around[place]:
            corner = self.corners[number]
            ring.update(self.place_of[vertex] for vertex in corner)
            if any(self.place_of[vertex] == target for vertex in corner):
                self.left -= 1
                self.left_of[self.part_of[number]] -= 1
                for vertex in corner:
                    if self.place_of[vertex] != place:
                        self.around[self.place_of[vertex]].discard(number)
            else:
                self.corners[number] = [moved.get(vertex, vertex) for vertex in corner]
                self.around[target].add(number)
        self.alive[place] = False
        self.around[place] = set()
        self.poses.add(target, place)
        self._after(ring - {place}, error)

    def _after(self, ring: Iterable[int], error: float) -> None:
        """Mark places around a step as changed, and drop those that have no triangle any more."""
        for place in sorted(ring):
            self.touched[place] = True
            if not self.around[place]:
                self._drop(place, error)
            elif place in self.waiting:
                self.waiting.remove(place)
                heapq.heappush(self.heap, self._best(place))

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


def _square(a: list[float], b: list[float]) -> float:
    """Return the square of the distance of two points."""
    total = 0.0
    for x, y in zip(a, b, strict=True):  # not `sum`, which newer Pythons do in another way
        total += (x - y) * (x - y)
    return total


def _poses(spots: NDArray[np.float64], place_of: NDArray[np.int64], corners: NDArray[np.int64]) -> tuple[Poses, float]:
    """Return the poses of places (F, P, 3), as shares of their diagonal, and that; of triangles (T, 3) of vertices."""
    points = spots.reshape(-1, 3)
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    size = float(steady.lengths(high - low)) or 1.0
    spots = (spots - (low + high) / 2) / size
    quadrics = find_quadrics(spots, place_of, corners)
    return (ManyPoses(spots, quadrics) if len(spots) > 1 else OnePose(spots[0], quadrics[0])), size


def _repeats(triangles: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which triangles (T, 3) have the corners of an earlier one: the back of a cloth, mostly."""
    repeated = np.ones(len(triangles), np.bool_)
    if len(triangles):
        repeated[np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]] = False
    return repeated


class Texture:
    """What the texture coordinates around each vertex say, of U and of V, as quadrics.

    Args:
        points: (V, 3), in one pose.
        uvs: (V, 2).
        corners: triangles (T, 3).
    """

    def __init__(self, points: Doubles, uvs: Doubles, corners: NDArray[np.int64]) -> None:
        a, b, c = (points[corners[:, k]] for k in range(3))
        normals = steady.crossed(b - a, c - a)
        doubled = steady.lengths(normals)
        longest = np.maximum.reduce([steady.lengths(end) for end in (b - a, c - b, a - c)])
        good = doubled > THIN * longest * longest
        size = _size(uvs[corners], doubled, good)
        # What changes along the triangle for each way off its first corner: gradients of U and V.
        along = np.where(good, doubled * doubled, 1.0)[:, None]
        terms = np.zeros((len(corners), 31))
        for side in range(2):
            value = uvs[corners, side] * size
            rise = (value[:, 1] - value[:, 0])[:, None], (value[:, 2] - value[:, 0])[:, None]
            slope = (rise[0] * steady.crossed(c - a, normals) + rise[1] * steady.crossed(normals, b - a)) / along
            start = value[:, 0] - steady.dots(slope, a)
            row = np.column_stack((slope, start, np.full(len(corners), -1.0)))
            terms[:, 15 * side : 15 * side + 15] = row[:, ROWS] * row[:, COLUMNS]
        terms[:, 30] = 1.0
        terms *= np.where(good, doubled, 0.0)[:, None]
        every = corners.T.reshape(-1)
        sums = [np.bincount(every, np.tile(term, 3), len(points)) for term in terms.T]
        self.quadrics: list[list[float]] = np.stack(sums, axis=1).tolist()
        self.points: list[Any] = np.concatenate((points, uvs * size), axis=1).tolist()

    def slip(self, vertex: int, target: int) -> float:
        """Return the mean square of how far the texture slips around a vertex that goes to a target."""
        quadric = self.quadrics[vertex]
        weight = quadric[30]
        if not weight:
            return 0.0
        x, y, z, u, v = self.points[target]
        total = 0.0
        for first, value in ((0, u), (15, v)):
            xx, xy, xz, xw, xs, yy, yz, yw, ys, zz, zw, zs, ww, ws, ss = quadric[first : first + 15]
            total += x * (xx * x + 2 * (xy * y + xz * z + xw + xs * value))
            total += y * (yy * y + 2 * (yz * z + yw + ys * value))
            total += z * (zz * z + 2 * (zw + zs * value)) + ww + value * (2 * ws + ss * value)
        return max(total, 0.0) / weight

    def add(self, target: int, vertex: int) -> None:
        """Let a target stand for a vertex that went there."""
        pair = zip(self.quadrics[target], self.quadrics[vertex], strict=True)
        self.quadrics[target] = [a + b for a, b in pair]


def _size(uvs: Doubles, doubled: Doubles, good: NDArray[np.bool_]) -> float:
    """Return the length of the texture's side on the surface, by the areas of triangles (T, 3, 2) on both."""
    right, up = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    shown = np.abs(right[:, 0] * up[:, 1] - right[:, 1] * up[:, 0])
    total = float(shown[good].sum())
    return float(np.sqrt(float(doubled[good].sum()) / total)) if total > 0.0 else 0.0
