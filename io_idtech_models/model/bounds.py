"""How far meshes reach, frame by frame: as `skeletal.skin` moves them, but many frames at once.

Letters in shapes: F frames, J joints, V vertices, W weights that move one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .joint_scales import posed
from .skeletal import Animation, SkeletalModel, Weights, changed_frames

NEAR = 1e-9  # of a coordinate: vertices so far out may be the outermost
AT_ONCE = 8  # frames: more do not fit a processor's cache


def set_bounds(animation: Animation, model: SkeletalModel) -> None:
    """Make the bounds of frames that changed those of the model's deformed meshes, or of its joints without any."""
    frames = np.flatnonzero(changed_frames(animation) | (not animation.keep_bounds))
    if not len(frames):
        return
    positions, axes = posed(animation.of_frames(frames))
    found = [reach(mesh.weights, positions, axes) for mesh in model.meshes if mesh.num_vertices]
    if not found:
        found = [np.stack((positions.min(axis=1), positions.max(axis=1)), axis=1)] if positions.shape[1] else []
    low, high = (np.array([part[:, corner] for part in found]) for corner in (0, 1))
    if found and np.isfinite(low).any():
        animation.bounds[frames] = np.stack((low.min(axis=0), high.max(axis=0)), axis=1)


def reach(weights: Weights, positions: NDArray[Any], axes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the lowest and the highest coordinates of a mesh in poses in model space, (F, 2, 3).

    The poses are positions (F, J, 3), and what joints do to their space, (F, J, 3, 3). Vertices that nothing moves
    count where they lie, if that is known; without any the corners are infinite, low above high.
    """
    low_high = np.empty((len(positions), 2, 3))
    low_high[:, 0], low_high[:, 1] = np.inf, -np.inf
    if weights.still is not None and (weights.counts == 0).any():
        bare = weights.still[weights.counts == 0]
        low_high[:, 0], low_high[:, 1] = bare.min(axis=0), bare.max(axis=0)
    owners, entries = weights.entries()
    if not len(owners):
        return low_high
    factors, joints = weights.factors[entries, None].astype(np.float64), weights.joints[entries]
    rows = np.concatenate((weights.offsets[entries] * factors, factors), axis=1)  # (W, 4)
    order = np.argsort(joints, kind="stable")
    used, first = np.unique(joints[order], return_index=True)
    of_joint = list(zip(used.tolist(), np.split(order, first[1:]), strict=True))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ends = np.append(starts[1:], len(owners))
    matrices = np.concatenate((axes, positions[..., None]), axis=-1)  # (F, J, 3, 4)
    for begin in range(0, len(matrices), AT_ONCE):
        part = matrices[begin : begin + AT_ONCE]
        moved = np.empty((len(rows), 3 * len(part)))
        for joint, own in of_joint:
            moved[own] = steady.proposed(rows[own], part[:, joint].reshape(-1, 4).T)
        points = np.add.reduceat(moved, starts, axis=0)
        corners = low_high[begin : begin + AT_ONCE]
        for corner, (found, choose) in enumerate(((_lowest(points), np.minimum), (_highest(points), np.maximum))):
            which, columns = np.divmod(found, points.shape[1])
            exact = _exact(rows, joints, part, starts[which], ends[which], columns)
            side = np.ascontiguousarray(corners[:, corner]).reshape(-1)
            choose.at(side, columns, exact)
            corners[:, corner] = side.reshape(-1, 3)
    return low_high


def _lowest(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of numbers (n, k) that are the lowest of their column, or as good as that."""
    low = points.min(axis=0)
    return np.flatnonzero(points <= low + NEAR * np.maximum(np.abs(low), 1.0))


def _highest(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of numbers (n, k) that are the highest of their column, or as good as that."""
    high = points.max(axis=0)
    return np.flatnonzero(points >= high - NEAR * np.maximum(np.abs(high), 1.0))


def _exact(
    rows: NDArray[np.float64],
    joints: NDArray[Any],
    matrices: NDArray[np.float64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return single coordinates (n,) of vertices whose weights are the rows from `starts` to `ends`.

    `columns` are frame x 3 + axis; `matrices` (F, J, 3, 4). The products of whole meshes may differ in the last digit
    from one processor to another.
    """
    result = np.zeros(len(starts))
    for step in range(int((ends - starts).max(initial=0))):
        more = np.flatnonzero(starts + step < ends)
        row = starts[more] + step
        axis = matrices[columns[more] // 3, joints[row], columns[more] % 3]
        result[more] += steady.dots(rows[row], axis)
    return result
