"""How large joints are, frame by frame: what a game scales beside turning and moving (Quake II remaster).

A joint's scale is its own: what hangs on it neither grows nor moves with it. It scales the offsets of weights, and the
joint's own way from its parent if it is marked so.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-5  # stands for 0 where ways are multiplied: what 0 swallowed could not come back


@dataclass(eq=False)
class Scales:
    """The scale of joints in every frame, and whose ways from their parents it scales, too."""

    values: NDArray[np.float64]  # (F, J)
    ways: NDArray[np.bool_]  # (J,)

    def shown(self) -> NDArray[np.float64]:
        """Return the scale (F, J) with something very small for 0."""
        return np.where(np.abs(self.values) < LEAST, LEAST, self.values)

    def of_ways(self) -> NDArray[np.float64]:
        """Return what joints' positions relative to their parents are multiplied by, (F, J)."""
        return np.where(self.ways, self.shown(), 1.0)

    def of_frames(self, frames: NDArray[Any]) -> Scales:
        """Return the scale in some frames (n,)."""
        return Scales(self.values[frames], self.ways)

    def of_joints(self, joints: NDArray[Any]) -> Scales:
        """Return the scale of some joints (n,), -1 for one that has none."""
        return Scales(
            np.where(joints >= 0, self.values[:, joints], 1.0), np.where(joints >= 0, self.ways[joints], False)
        )


def from_shown(shown: NDArray[Any], ways: NDArray[np.bool_]) -> Scales | None:
    """Return scales of what is shown (F, J), inverse of `Scales.shown`; None if nothing is scaled."""
    values = np.where(np.abs(shown) <= LEAST * 1.001, 0.0, shown.astype(np.float64))
    return None if (values == 1.0).all() else Scales(values, ways)
