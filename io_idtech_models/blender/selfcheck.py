"""An export checks itself: what it is about to write is compared with what Blender shows, in a few frames.

Export reads curves and keys instead of showing every frame, and knows by lists what is plain enough for that. Lists
end somewhere. So what no record proves to be the source's still is looked at once more, as a modeller sees it:
evaluated points against those that the file will show. Both families do so, each with the arithmetic of its formats;
what they share is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Motion = TypeVar("Motion")
PART = 1e-3  # of a model's size: what is off by less is a code's rounding, or Blender's
LEAST = 1e-4  # units
LOOKS = 3  # frames of each motion
MOST_LOOKS = 12  # at all motions that are written: of more each is seen once, so that work grows with what is written
MOST_MOTIONS = 3  # that only pose a mesh, and are not written with it


@dataclass(eq=False)
class Off:
    """Where something is farthest off what Blender shows, so far."""

    far: float = 0.0  # units
    where: str = ""

    def note(self, far: float, where: str) -> None:
        """Keep the worst; what is no number is worse than any."""
        if is_beyond(far, self.far) and not np.isnan(self.far):
            self.far, self.where = far, where

    def sentence(self, what: str, remedy: str) -> str:
        """Return that it is so, of `what` that "is" or "are"."""
        return f"{what} written up to {self.far:.3g} units off what Blender shows, {self.where}: {remedy}"


def tolerance(points: NDArray[Any]) -> float:
    """Return how far off a model may be whose points (n, 3) reach so far."""
    if not len(points):
        return LEAST
    finite = points[np.isfinite(points).all(axis=1)]
    size = float((finite.max(axis=0) - finite.min(axis=0)).max()) if len(finite) else 0.0
    return max(LEAST, PART * size)


def spread(places: NDArray[np.int64], motions: int = 1) -> list[int]:
    """Return some of the frames (n,) of one of so many motions, evenly spread, without the ends of a loop."""
    looks = max(1, min(LOOKS, MOST_LOOKS // max(motions, 1)))
    if len(places) <= looks:
        return [int(place) for place in places]
    steps = (np.arange(looks) + 0.5) * len(places) / looks
    return [int(place) for place in places[steps.astype(np.int64)]]


def some(motions: list[Motion]) -> list[Motion]:
    """Return a few of many motions, evenly spread."""
    step = max(1, -(-len(motions) // MOST_MOTIONS))
    return motions[::step]


def is_beyond(off: float, allowed: float) -> bool:
    """Tell whether a distance is worth a word: one that is no number is."""
    return not off <= allowed
