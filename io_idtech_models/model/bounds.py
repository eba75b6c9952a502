"""How far meshes reach, frame by frame: as `skeletal.skin` moves them, but many frames at once.

Letters in shapes: F frames, J joints, V vertices, W weights that move one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .transforms import to_matrices

if TYPE_CHECKING:
    from .skeletal import Weights

AT_ONCE = 8  # frames: more do not fit a processor's cache


def reach(
    weights: Weights, positions: NDArray[Any], rotations: NDArray[Any], scales: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return the lowest and the highest coordinates of a mesh in poses in model space, (F, 2, 3).

    The poses are positions (F, J, 3) and rotations (F, J, 4), and how large joints are (F, J), 1 without. Vertices that
    nothing moves don't count; without any other the corners are infinite, low above high.
    """
    low_high = np.empty((len(positions), 2, 3))
    low_high[:, 0], low_high[:, 1] = np.inf, -np.inf
    owners, entries = weights.entries()
    if not len(owners):
        return low_high
    factors, joints = weights.factors[entries, None].astype(np.float64), weights.joints[entries]
    rows = np.concatenate((weights.offsets[entries] * factors, factors), axis=1)  # (W, 4)
    order = np.argsort(joints, kind="stable")
    used, first = np.unique(joints[order], return_index=True)
    of_joint = list(zip(used.tolist(), np.split(order, first[1:]), strict=True))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    axes = to_matrices(rotations) if scales is None else to_matrices(rotations) * scales[..., None, None]
    matrices = np.concatenate((axes, positions[..., None]), axis=-1)  # (F, J, 3, 4)
    for begin in range(0, len(matrices), AT_ONCE):
        part = matrices[begin : begin + AT_ONCE]
        moved = np.empty((len(rows), 3 * len(part)))
        for joint, own in of_joint:
            moved[own] = rows[own] @ part[:, joint].reshape(-1, 4).T
        points = np.add.reduceat(moved, starts, axis=0)
        low_high[begin : begin + AT_ONCE, 0] = points.min(axis=0).reshape(-1, 3)
        low_high[begin : begin + AT_ONCE, 1] = points.max(axis=0).reshape(-1, 3)
    return low_high
