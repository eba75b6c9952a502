"""Left and right: which bones are another's mirror image, and their joints evened where they nearly are.

Letters in shapes: P points, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fit import Skin
from .joints import middles_of

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

SOME = 150  # points that tell where the middle is
TRIED = np.linspace(-0.06, 0.06, 13)  # of the size, about the median: where the middle may be
ALIKE = 0.15  # of the size: how far a bone may be from its partner's mirror image
ASIDE = 0.02  # of the size: nearer the middle a bone has no side
EVEN = 0.03  # of the size: how far joints may be moved to be each other's mirror image
MIRROR = np.array([1.0, -1.0, 1.0])


@dataclass(eq=False)
class Sides:
    """The plane of symmetry, across Y, and each bone's partner."""

    plane: float
    partners: Indices  # (B,) the bone on the other side; itself in the middle; -1: none
    even: bool  # joints are made each other's mirror image

    @property
    def others(self) -> Indices:
        """Return each bone's partner, (B,): itself where it has none."""
        return np.where(self.partners < 0, np.arange(len(self.partners)), self.partners)

    def mirrored_pairs(self, values: Doubles) -> Doubles:
        """Return the values of all pairs of bones (B, B) as their partners have them."""
        return np.asarray(values[np.ix_(self.others, self.others)])

    def of(self, order: list[int]) -> Sides:
        """Return the same of bones in another order."""
        place = np.argsort(order)
        partners = self.partners[order]
        return Sides(self.plane, np.where(partners < 0, -1, place[partners]), self.even)

    def in_middle(self, bone: int) -> bool:
        """Tell whether a bone is its own mirror image, and is to be."""
        return self.even and bool(self.partners[bone] == bone)

    def on_plane(self, place: Doubles) -> Doubles:
        """Return a place (3,) brought onto the plane."""
        return np.asarray((place + _image(place, self.plane)) / 2)

    def evened(self, places: Doubles) -> Doubles:
        """Return places of bones (B, 3), those of partners each other's mirror image where they nearly were."""
        if not self.even:
            return places
        other = _image(places[self.others], self.plane)
        near = (np.linalg.norm(other - places, axis=1) < EVEN) & (self.partners >= 0)
        return np.where(near[:, None], (places + other) / 2, places)


def find_sides(skin: Skin, even: bool) -> Sides:
    """Return the sides of a skin at rest."""
    some = skin.rest[:: max(1, len(skin.rest) // SOME)]
    median = float(np.median(some[:, 1]))
    planes = median + TRIED
    off = [
        float(np.linalg.norm(_image(some, plane)[:, None] - some[None], axis=2).min(axis=1).mean()) for plane in planes
    ]
    plane = float(planes[int(np.argmin(off))])
    middles, mass = middles_of(skin), skin.weights.sum(axis=0)
    distances = np.linalg.norm(_image(middles, plane)[:, None] - middles[None], axis=2)
    sizes = np.abs(np.log(np.maximum(mass[:, None], 1e-9) / np.maximum(mass[None], 1e-9)))
    distances = distances + 0.03 * sizes
    partners = np.full(len(middles), -1)
    for bone in range(len(middles)):
        other = int(distances[bone].argmin())
        if int(distances[other].argmin()) == bone and distances[bone, other] < ALIKE:
            aside = abs(middles[bone, 1] - plane) > ASIDE
            partners[bone] = other if aside or other == bone else -1
    return Sides(plane, partners, even)


def _image(places: Doubles, plane: float) -> Doubles:
    """Return mirror images of places (..., 3) across Y."""
    return np.asarray(places * MIRROR + [0.0, 2 * plane, 0.0])
