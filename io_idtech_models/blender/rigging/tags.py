"""How a model's tags stand in all frames, as location, rotation and scale show it.

Letters in shapes: F frames, N tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Tag
from ..empties import decompose
from ..skeletal.armature import joint_matrices

Doubles = NDArray[np.float64]


@dataclass(eq=False)
class TagPoses:
    """How tags stand in all frames."""

    places: Doubles  # (F, N, 4, 4) without scale
    scales: Doubles  # (F, N, 3)


def tag_poses(tags: Sequence[Tag], num_frames: int) -> TagPoses:
    """Return how tags stand, as location, rotation and scale show it."""
    if not tags:
        return TagPoses(np.zeros((num_frames, 0, 4, 4)), np.ones((num_frames, 0, 3)))
    turns, scales = decompose(np.stack([tag.axes for tag in tags], axis=1))
    origins = np.stack([tag.origins for tag in tags], axis=1)
    return TagPoses(joint_matrices(origins, unit(turns)), scales.astype(np.float64))


def unit(turns: NDArray[Any]) -> Doubles:
    """Return quaternions (..., 4) of length one."""
    turns = turns.astype(np.float64)
    return np.asarray(turns / np.maximum(steady.lengths(turns), 1e-30)[..., None])
