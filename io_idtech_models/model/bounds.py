"""How far meshes reach, frame by frame: as `skeletal.skin` moves them, but many frames at once.

Letters in shapes: F frames, J joints, V vertices, W weights that move one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .joint_scales import posed
from .skeletal import Animation, SkeletalModel, SkinnedMesh, Weights, changed_frames

SAME_REACH = 1e-5  # of the farthest coordinate: what Blender's single precision makes of places
NEAR = 1e-9  # of a coordinate: vertices so far out may be the outermost
AT_ONCE = 8  # frames: more do not fit a processor's cache


def set_bounds(animation: Animation, model: SkeletalModel) -> None:
    """Make the bounds of frames that changed those of the model's deformed meshes, or of its joints without any.

    Where joints are scaled they hold what games show that scale them, and what others do. Of frames that did not
    change, tell what vertices reach that were edited: a source's bounds have to hold these, too.
    """
    anew = changed_frames(animation) | (not animation.keep_bounds)
    others = np.flatnonzero(~anew)
    if animation.scales is not None and not animation.scales.inherited:  # of which no frame of the source is known
        anew |= (animation.scales.values != 1.0).any(axis=1)
    frames = np.flatnonzero(anew)
    if len(frames):
        changed = animation.of_frames(frames)
        found = _reach_of_model(changed, model)
        if changed.scales is not None and not changed.scales.inherited:
            found = union(found, _reach_of_model(replace(changed, scales=None), model))
        if np.isfinite(found).any():
            animation.bounds[frames] = found
    if len(others) and has_edited_meshes(model):
        animation.edited = nowhere(animation.num_frames)
        tables = [mesh.weights.of(_edited(mesh)) for mesh in model.meshes]
        animation.edited[others] = _reach_of_all(tables, *posed(animation.of_frames(others)))


def _reach_of_model(animation: Animation, model: SkeletalModel) -> NDArray[np.float64]:
    """Return how far a model's meshes reach, or its joints where they have no vertices: (F, 2, 3), low and high."""
    positions, axes = posed(animation)
    if positions.shape[1] and not any(mesh.num_vertices for mesh in model.meshes):
        return np.stack((positions.min(axis=1), positions.max(axis=1)), axis=1)
    return _reach_of_all([mesh.weights for mesh in model.meshes], positions, axes)


def has_edited_meshes(model: SkeletalModel) -> bool:
    """Tell whether a vertex of a model's meshes is none of the source's, or lies or is moved otherwise than there."""
    return any(len(_edited(mesh)) for mesh in model.meshes)


def _edited(mesh: SkinnedMesh) -> NDArray[np.int64]:
    """Return the vertices (n,) of a mesh that are none of the source's, or that lie or are moved otherwise."""
    known = np.zeros(mesh.num_vertices, np.bool_) if mesh.source_index < 0 or mesh.kept is None else mesh.kept
    return np.flatnonzero(~known)


def still_hold(animation: Animation, frames: NDArray[Any], stored: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which of a source's bounds (n, 2, 3) hold vertices that were edited, in the `frames` (n,) that have them."""
    if animation.edited is None:
        return np.ones(len(frames), np.bool_)
    low, high = animation.edited[frames, 0], animation.edited[frames, 1]
    slack = SAME_REACH * np.maximum(np.abs(low), np.abs(high)).max(axis=1, initial=0.0)[:, None]
    with np.errstate(invalid="ignore"):  # of what reaches nowhere
        holds = (stored.min(axis=1) <= low + slack) & (stored.max(axis=1) >= high - slack)
    return np.asarray(holds.all(axis=1) | ~np.isfinite(low).all(axis=1))


def grown(animation: Animation, frames: NDArray[Any], stored: NDArray[Any]) -> NDArray[np.float64]:
    """Return a source's bounds (n, 2, 3) as they hold vertices that were edited, too, low and high."""
    corners = np.stack((stored.min(axis=1), stored.max(axis=1)), axis=1).astype(np.float64)
    return corners if animation.edited is None else union(corners, animation.edited[frames])


def union(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return the bounds (n, 2, 3), low and high, that hold each of some and of others."""
    return np.stack((np.minimum(a[:, 0], b[:, 0]), np.maximum(a[:, 1], b[:, 1])), axis=1)


def nowhere(count: int) -> NDArray[np.float64]:
    """Return what nothing reaches, (F, 2, 3): low above high."""
    found = np.empty((count, 2, 3))
    found[:, 0], found[:, 1] = np.inf, -np.inf
    return found


def _reach_of_all(tables: list[Weights], positions: NDArray[Any], axes: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far several meshes reach together, as `reach`."""
    found = nowhere(len(positions))
    for table in tables:
        found = union(found, reach(table, positions, axes))
    return found


def reach(weights: Weights, positions: NDArray[Any], axes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the lowest and the highest coordinates of a mesh in poses in model space, (F, 2, 3).

    The poses are positions (F, J, 3), and what joints do to their space, (F, J, 3, 3). Vertices that nothing moves
    count where they lie, if that is known; without any the corners are infinite, low above high.
    """
    low_high = nowhere(len(positions))
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
