"""One root for models that have several: Doom 3 takes animations with one alone.

The other roots hang on the one that is called `origin`, which games look for by name; without such a root on a new
joint of that name that stays where it is. Names and parents alone decide, so that a model and its animations agree.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain as joined
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..skeletal import Animation, Doubles, SkeletalModel, Skeleton
from ..source import Ints
from ..transforms import unchain

ORIGIN, SECOND = "origin", "root"
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def skeleton_with_origin(model: SkeletalModel) -> SkeletalModel:
    """Return a model whose roots hang on a joint `origin`; itself if it has one root."""
    skeleton = model.skeleton
    order, parents = _hung(skeleton.names, skeleton.parents)
    if len(order) == 0:
        return model
    sources, kept = skeleton.sources, skeleton.kept
    hung = Skeleton(
        _names(skeleton.names, order),
        parents,
        _taken(skeleton.positions, order, np.zeros(3)),
        _taken(skeleton.rotations, order, UPRIGHT),
        None if sources is None else _taken(sources, order, np.array(-1)),
        None if kept is None else _taken(kept, order, np.array(False)),
        None if skeleton.traits is None else skeleton.traits.of(order),
        None if skeleton.scales is None else _taken(skeleton.scales, order, np.ones(3)),
    )
    place = _places(order)
    meshes = []
    for mesh in model.meshes:
        table = mesh.weights
        joints = place[table.joints].astype(np.int32)
        weights = replace(table, joints=joints)
        meshes.append(replace(mesh, weights=weights))
    tags = [replace(tag, joint=int(place[tag.joint])) for tag in model.tags]
    return replace(model, skeleton=hung, meshes=meshes, tags=tags)


def animation_with_origin(animation: Animation) -> Animation:
    """Return an animation whose roots hang on a joint `origin`, as `skeleton_with_origin` does for its model."""
    order, parents = _hung(animation.joint_names, animation.parents)
    if len(order) == 0:
        return animation
    scales = None if animation.scales is None else animation.scales.of_joints(order)
    ways = np.ones(1) if scales is None else scales.of_ways()[..., None]
    positions = _taken(animation.positions, order, np.zeros(3), 1) * ways
    rotations = _taken(animation.rotations, order, UPRIGHT, 1)
    moved = np.zeros(len(order), np.bool_)
    if order[0] >= 0:  # on a joint that was there, and may move
        moved[1:] = animation.parents[order[1:]] < 0
        on_first = np.where(moved, 0, -1)
        positions, rotations = unchain(on_first, positions, rotations)
    positions = positions / ways
    hints, joints, lengths = animation.source_frames, animation.source_joints, animation.lengths
    if hints is not None:
        hints = _taken(hints, order, np.array(-1), 1)
        hints[:, moved] = -1
    if joints is not None:
        joints = np.where(moved, -1, _taken(joints, order, np.array(-1))).astype(np.int32)
    if lengths is not None:
        ways = steady.lengths(positions[0]) if len(positions) else np.zeros(len(order))
        lengths = np.where(moved, ways, _taken(lengths, order, np.array(0.0)))
    return replace(
        animation,
        joint_names=_names(animation.joint_names, order),
        parents=parents,
        positions=positions,
        rotations=rotations,
        source_frames=hints,
        source_joints=joints,
        traits=None if animation.traits is None else animation.traits.of(order),
        lengths=lengths,
        scales=scales,
    )


def _hung(names: list[str], parents: Ints) -> tuple[NDArray[np.int64], Ints]:
    """Return the joint (n,) that each becomes, -1 for a new one, and the new parents; nothing if there is one root."""
    roots = np.flatnonzero(parents < 0).tolist()
    if len(roots) <= 1:
        return np.zeros(0, np.int64), parents
    first = next((root for root in roots if names[root].casefold() == ORIGIN), -1)  # as Doom 3 looks for joints
    order = np.array([first, *(joint for joint in range(len(names)) if joint != first)], np.int64)
    place = _places(order)
    above = np.where(parents[order] >= 0, place[parents[order]], 0)
    above[0] = -1
    return order, above.astype(np.int32)


def _places(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each old joint is in an order; inverse of it, but for a new joint."""
    place = np.zeros(int(order.max()) + 1, np.int64)
    place[order[order >= 0]] = np.flatnonzero(order >= 0)
    return place


def _names(names: list[str], order: NDArray[np.int64]) -> list[str]:
    """Return the joints' names; a new one is called as none is, or games would find either."""
    taken = {name.casefold() for name in names}
    free = joined((ORIGIN, SECOND), (f"{ORIGIN}{number}" for number in count(2)))
    return [names[joint] if joint >= 0 else next(n for n in free if n not in taken) for joint in order.tolist()]


def _taken(values: NDArray[Any], order: NDArray[np.int64], new: NDArray[Any] | Doubles, axis: int = 0) -> NDArray[Any]:
    """Return values of joints, along an axis, in another order, with `new` for a new one."""
    found = np.take(values, order, axis=axis)
    if axis:
        found[:, order < 0] = new
    else:
        found[order < 0] = new
    return found
