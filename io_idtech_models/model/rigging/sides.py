"""Left and right: the plane of symmetry of a body at rest, and which bones are each other's mirror image.

Letters in shapes: P points, B bones.

A pose is seldom its own mirror image: a player at rest holds a gun. So what counts beside where bones lie is how far
they are along the body from its trunk, which no pose changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fit import PointSkin
from .joints import loads_of, meeting, middles_of, upward

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

SOME, SOME_FRAMES = 150, 60  # points that tell where the middle is, and frames
TRIED = np.linspace(-0.06, 0.06, 13)  # of the size, about the place where it is looked for: where the middle may be
ALIKE = 0.2  # of the size: how far a bone may be from its partner's mirror image
LESS = 0.3  # what it counts that bones lie elsewhere where ways along the body are alike, and the other way round
SIZES = 0.03  # what it counts that bones are of different sizes, for each time that e goes into one
ALONE = 0.05  # what it costs to be one's own mirror image
ASIDE = 0.02  # of the size: nearer each other bones are on no two sides
MIDDLE = 0.06  # of the size: farther from the middle a bone is not its own mirror image
LIMB = 0.05  # of all points: what hangs on a limb at least
EVEN = 0.03  # of the size: how far joints may be moved to be each other's mirror image
# Times as wide as deep is a body that stands, surely; of what one that lies, or stands, is off across Y, what one that
# looks along Y is off across X at most.
WIDER, SIDEWAYS = 2.3, (0.82, 0.9)


@dataclass(frozen=True)
class Plane:
    """A plane of symmetry, across an axis: Y of what looks along X, as the games' models do, X of what looks along -Y.

    So do models that were made in Blender.
    """

    axis: int  # 1: Y, 0: X
    at: float  # where along it

    def image(self, places: Doubles) -> Doubles:
        """Return mirror images of places (..., 3)."""
        found = places.copy()
        found[..., self.axis] = 2 * self.at - found[..., self.axis]
        return found

    def aside(self, places: Doubles) -> Doubles:
        """Return how far to the left places (..., 3) are, (...)."""
        return np.asarray(places[..., self.axis] - self.at)

    def forward(self, places: Doubles) -> Doubles:
        """Return how far in front places (..., 3) are, (...)."""
        return np.asarray(places[..., 0] if self.axis else -places[..., 1])

    def off(self, places: Doubles) -> float:
        """Return how far places (n, 3) are from their mirror images, in the mean."""
        return float(np.linalg.norm(self.image(places)[:, None] - places[None], axis=2).min(axis=1).mean())


@dataclass(eq=False)
class Sides:
    """The plane of symmetry, and each bone's partner."""

    plane: Plane
    partners: Indices  # (B,) the bone on the other side; itself in the middle; -1: none
    even: bool  # joints are made each other's mirror image

    @property
    def others(self) -> Indices:
        """Return each bone's partner, (B,): itself where it has none."""
        return np.where(self.partners < 0, np.arange(len(self.partners)), self.partners)

    def of(self, order: list[int]) -> Sides:
        """Return the same of bones in another order."""
        place = np.argsort(order)
        partners = self.partners[order]
        return Sides(self.plane, np.where(partners < 0, -1, place[partners]), self.even)

    def without(self, bone: int) -> Sides:
        """Return the same but for a bone and its partner, which are none."""
        partners = self.partners.copy()
        partners[[bone, partners[bone]]] = -1
        return Sides(self.plane, partners, self.even)

    def in_middle(self, bone: int) -> bool:
        """Tell whether a bone is its own mirror image, and is to be."""
        return self.even and bool(self.partners[bone] == bone)

    def paired(self, bone: int) -> bool:
        """Tell whether a bone is on one side, and has a partner on the other."""
        return bool(self.partners[bone] not in (-1, bone))

    def on_plane(self, place: Doubles) -> Doubles:
        """Return a place (3,) brought onto the plane."""
        return np.asarray((place + self.plane.image(place)) / 2)

    def evened(self, places: Doubles) -> Doubles:
        """Return places of bones (B, 3), those of partners each other's mirror image where they nearly were."""
        if not self.even:
            return places
        other = self.plane.image(places[self.others])
        near = (np.linalg.norm(other - places, axis=1) < EVEN) & (self.partners >= 0)
        return np.where(near[:, None], (places + other) / 2, places)


def mirror_axis(places: Doubles) -> int:
    """Return across which axis places (F, P, 3) are their own mirror image, nearly, in most frames: 1, Y, or 0, X.

    What stands and is far wider one way than the other looks along the narrow one.
    """
    some = places[:: max(1, len(places) // SOME_FRAMES), :: max(1, places.shape[1] // SOME)]
    centred = some - np.median(some, axis=1, keepdims=True)
    deep, wide, tall = np.maximum(np.median(np.ptp(some, axis=1), axis=0), 1e-9)
    stands = tall > max(deep, wide)
    if stands and max(deep, wide) > WIDER * min(deep, wide):
        return 1 if wide > deep else 0
    across_x, across_y = (np.median([Plane(axis, 0.0).off(frame) for frame in centred]) for axis in (0, 1))
    return 0 if across_x < SIDEWAYS[int(stands)] * across_y else 1


def plane_of(rest: Doubles, axis: int, about: float) -> Plane:
    """Return where along an axis, near some place, points (P, 3) are most nearly their own mirror image."""
    some = rest[:: max(1, len(rest) // SOME)]
    return min((Plane(axis, float(at)) for at in about + TRIED), key=lambda plane: plane.off(some))


def find_sides(skin: PointSkin, ways: Doubles, plane: Plane, even: bool) -> Sides:
    """Return the sides of a skin at rest, whose bones are so far (B,) along the body from its trunk."""
    middles, mass = middles_of(skin), np.maximum(skin.weights.sum(axis=0), 1e-9)
    away = np.linalg.norm(plane.image(middles)[:, None] - middles[None], axis=2)
    aside = plane.aside(middles)
    farther = np.abs(ways[:, None] - ways[None])
    unlike = np.minimum(away + LESS * farther, LESS * away + farther)
    unlike += SIZES * np.abs(np.log(mass[:, None] / mass[None])) + ALONE * np.eye(len(middles))
    partners = np.full(len(middles), -1)
    for one, other in zip(*np.unravel_index(np.argsort(unlike, axis=None, kind="stable"), unlike.shape), strict=True):
        if unlike[one, other] >= ALIKE:
            break
        near = min(abs(aside[one]), abs(aside[other])) < MIDDLE
        apart = abs(aside[one] - aside[other]) > ASIDE and (near or aside[one] * aside[other] < 0)
        if partners[one] == partners[other] == -1 and (apart or (one == other and abs(aside[one]) < MIDDLE)):
            partners[one], partners[other] = other, one
    return Sides(plane, partners, even)


def along_limbs(sides: Sides, skin: PointSkin, ways: Doubles, parents: Indices, order: Sequence[int]) -> Sides:
    """Return the sides with partners for what hangs alike on both sides, whatever the pose; `order` is a tree's."""
    middles, mass = middles_of(skin), np.maximum(skin.weights.sum(axis=0), 1e-9)
    partners = _as_they_hang(sides.partners.copy(), loads_of(parents, order, mass), parents, order)
    for parent in order:
        other = int(partners[parent])
        if other < 0:
            continue
        lone = [bone for bone in np.flatnonzero(parents == parent).tolist() if partners[bone] == -1]
        opposite = [bone for bone in np.flatnonzero(parents == other).tolist() if partners[bone] == -1]
        pairs = [
            (abs(ways[one] - ways[two]) + SIZES * abs(float(np.log(mass[one] / mass[two]))), one, two)
            for one in lone
            for two in opposite
            if one != two and (other != parent or _opposite(sides.plane.aside(middles), one, two, parent))
        ]
        for unlike, one, two in sorted(pairs):
            if unlike < ALIKE and partners[one] == partners[two] == -1:
                partners[one], partners[two] = two, one
    return Sides(sides.plane, partners, sides.even)


def _as_they_hang(partners: Indices, loads: Doubles, parents: Indices, order: Sequence[int]) -> Indices:
    """Return partners (B,) without those that can't be some where they hang.

    What carries limbs of both sides is in the middle, wherever it lies. What hangs on a bone of one side is in no
    middle, and no partner of what hangs there, too.
    """

    def paired(bone: int) -> bool:
        return bool(partners[bone] not in (-1, bone))

    for one, two in enumerate(partners.tolist()):
        if two > one and min(loads[one], loads[two]) > LIMB * loads[order[0]]:
            for above in upward(parents, meeting(parents, one, two)):
                if paired(above) and above not in (one, two):
                    partners[partners[above]], partners[above] = -1, above
    for bone in order[1:]:
        if partners[bone] == bone and paired(parents[bone]):
            partners[bone] = -1
    for bone in order[1:]:
        if paired(bone) and paired(meets := meeting(parents, bone, int(partners[bone]))) and meets != bone:
            partners[[bone, partners[bone]]] = -1
    return partners


def _opposite(aside: Doubles, one: int, two: int, between: int) -> bool:
    """Tell whether two bones lie on opposite sides of another, and neither before the other."""
    left, right = aside[one] - aside[between], aside[two] - aside[between]
    return bool(left * right < 0 and min(abs(left), abs(right)) > ASIDE)
