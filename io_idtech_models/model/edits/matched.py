"""Animations and models made to suit a skeleton, a format or a game that is not theirs.

Doom 3 takes animations with one root alone. The other roots hang on the one that is called `origin`, which games look
for by name; without such a root on a new joint of that name that stays where it is. Names and parents alone decide, so
that a model and its animations agree.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain as joined
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..joint_scales import hung_on
from ..skeletal import Animation, Doubles, Pose, Scales, SkeletalModel, Skeleton, SkinnedMesh
from ..source import Ints
from ..transforms import chain, conjugate, multiply, rotate, to_matrices, unchain
from ..weights import Weights, normal_turns

UNNAMED = "joint{:03d}"  # of a file that knows joints by number
ORIGIN, SECOND = "origin", "root"  # the joint that is made where a model has none, or several
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


def by_number(animation: Animation) -> Animation:
    """Return an animation whose joints are known by their numbers alone."""
    return replace(animation, joint_names=[""] * len(animation.joint_names))


def named(animation: Animation) -> Animation:
    """Return an animation whose joints all have names: those without are called by their numbers."""
    if all(animation.joint_names):
        return animation
    return replace(animation, joint_names=[n or UNNAMED.format(i) for i, n in enumerate(animation.joint_names)])


def by_name(animation: Animation, names: list[str]) -> Animation:
    """Return an animation whose joints are in the order of some names; itself where these are not just its own."""
    own = animation.joint_names
    if own == names or sorted(own) != sorted(names) or len(set(own)) < len(own):
        return animation
    order = np.array([own.index(name) for name in names])
    place = np.argsort(order)
    parents = np.where(animation.parents[order] >= 0, place[animation.parents[order]], -1).astype(np.int32)
    if (parents >= np.arange(len(parents))).any():
        return animation
    scales = animation.scales
    return replace(
        animation,
        joint_names=list(names),
        parents=parents,
        positions=animation.positions[:, order],
        rotations=animation.rotations[:, order],
        source=None,  # its facts are in the order of its file
        source_frames=None,
        source_joints=None,
        scales=None if scales is None else Scales(scales.values[:, order], scales.ways[order], scales.inherited),
        traits=None if animation.traits is None else animation.traits.of(order),
        lengths=None if animation.lengths is None else animation.lengths[order],
    )


def onto(animation: Animation, skeleton: Skeleton) -> Animation:
    """Return an animation on a skeleton that began as its own, and whose joints are not all the same any more.

    `skeleton.sources` says which of the animation's joints each was: it stands where that stood, whatever it hangs on
    by now. Joints that were added stay as they rest against what they hang on; those that are gone are left out.
    """
    numbers = np.full(skeleton.num_joints, -1) if skeleton.sources is None else skeleton.sources.astype(np.int64)
    numbers = np.where(numbers < len(animation.joint_names), numbers, -1)
    old, new = animation.parents, skeleton.parents
    above = np.where(new >= 0, numbers[new], -1)
    stays = (numbers >= 0) & (old[numbers] == above) & ((above >= 0) == (new >= 0))
    if stays.all() and np.array_equal(numbers, np.arange(len(animation.joint_names))):
        return replace(animation, joint_names=list(skeleton.names))
    places, turns = (given[:, numbers] for given in chain(old, animation.positions, animation.rotations))
    rest = unchain(new, skeleton.positions, skeleton.rotations)
    for joint in np.argsort(_depths(new), kind="stable").tolist():
        if numbers[joint] < 0:
            parent = new[joint]
            before, turned = (places[:, parent], turns[:, parent]) if parent >= 0 else (np.zeros(3), UNTURNED)
            places[:, joint] = before + rotate(turned, rest[0][joint])
            turns[:, joint] = multiply(turned, rest[1][joint])
    positions, rotations = unchain(new, places, turns)
    positions[:, stays] = animation.positions[:, numbers[stays]]
    rotations[:, stays] = animation.rotations[:, numbers[stays]]
    hints = animation.source_frames
    if hints is not None:
        hints = hints[:, numbers]
        hints[:, ~stays] = -1
    return replace(
        animation,
        joint_names=list(skeleton.names),
        parents=new.copy(),
        positions=positions,
        rotations=rotations,
        source_frames=hints,
        source_joints=numbers.astype(np.int32),
    )


def _depths(parents: Ints) -> NDArray[np.int64]:
    """Return how many joints are above each, (J,)."""
    depths = np.zeros(len(parents), np.int64)
    here = parents.astype(np.int64)
    while (here >= 0).any():
        depths += here >= 0
        here = np.where(here >= 0, parents[here], -1)
    return depths


def moved_by_root(model: SkeletalModel) -> tuple[SkeletalModel, int]:
    """Return a model whose vertices are all moved by joints, and how many hang on the first for that."""
    count = sum(int((mesh.weights.counts == 0).sum()) for mesh in model.meshes)
    if not count or any(mesh.weights.still is None for mesh in model.meshes):
        return model, 0
    skeleton = model.skeleton
    if not skeleton.num_joints:
        skeleton = Skeleton([ORIGIN], np.full(1, -1, np.int32), np.zeros((1, 3)), UNTURNED[None].copy())
    meshes = [_moved_by(mesh, skeleton) for mesh in model.meshes]
    return replace(model, skeleton=skeleton, meshes=meshes), count


def _moved_by(mesh: SkinnedMesh, skeleton: Skeleton) -> SkinnedMesh:
    table, bare = mesh.weights, mesh.weights.counts == 0
    if table.still is None or not bare.any():
        return mesh
    bind = skeleton.bind
    ways = table.still[bare].astype(np.float64) - bind.positions[0]
    offsets = rotate(conjugate(bind.rotations[0]), ways).astype(np.float32)
    own, first = int(bare.sum()), len(table.joints)
    starts, counts = table.starts.astype(np.int64), table.counts.astype(np.int64)
    starts[bare], counts[bare] = first + np.arange(own), 1
    weights = Weights(
        starts, counts, np.append(table.joints, np.zeros(own, np.int64)),
        np.append(table.factors, np.ones(own, np.float32)), np.concatenate((table.offsets, offsets)),
    )  # fmt: skip
    normals = mesh.normals
    if normals is not None:
        world = rotate(normal_turns(table, bind.rotations), normals)
        normals = rotate(conjugate(normal_turns(weights, bind.rotations)), world).astype(np.float32)
    return replace(mesh, weights=weights, normals=normals)


def skeleton_with_origin(model: SkeletalModel) -> SkeletalModel:
    """Return a model whose roots hang on a joint `origin`; itself if it has one root."""
    skeleton = model.skeleton
    order, parents = _hung(skeleton.names, skeleton.parents)
    if len(order) == 0:
        return model
    sources, kept = skeleton.sources, skeleton.kept
    bound = skeleton.bound
    if bound is not None:
        bound = Pose(_taken(bound.positions, order, np.zeros(3)), _taken(bound.rotations, order, UNTURNED))
    hung = Skeleton(
        _names(skeleton.names, order),
        parents,
        _taken(skeleton.positions, order, np.zeros(3)),
        _taken(skeleton.rotations, order, UNTURNED),
        None if sources is None else _taken(sources, order, np.array(-1)),
        None if kept is None else _taken(kept, order, np.array(False)),
        None if skeleton.traits is None else skeleton.traits.of(order),
        None if skeleton.scales is None else _taken(skeleton.scales, order, np.ones(3)),
        bound,
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
    factors = np.ones(1) if scales is None or scales.inherited else scales.of_ways()[..., None]
    positions = _taken(animation.positions, order, np.zeros(3), 1) * factors
    rotations = _taken(animation.rotations, order, UNTURNED, 1)
    moved = np.zeros(len(order), np.bool_)
    if order[0] >= 0:  # on a joint that was there, and may move
        moved[1:] = animation.parents[order[1:]] < 0
        on_first = np.where(moved, 0, -1)
        if scales is not None and scales.inherited:  # roots are in model space
            axes = to_matrices(rotations) * scales.values[..., None, :]
            hung = hung_on(animation, on_first, positions, axes)
            assert hung.scales is not None
            positions[:, moved], rotations[:, moved] = hung.positions[:, moved], hung.rotations[:, moved]
            scales.values[:, moved] = hung.scales.values[:, moved]
        else:
            positions, rotations = unchain(on_first, positions, rotations)
    positions = positions / factors
    hints, joints, lengths = animation.source_frames, animation.source_joints, animation.lengths
    if hints is not None:
        hints = _taken(hints, order, np.array(-1), 1)
        hints[:, moved] = -1
    if joints is not None:
        joints = np.where(moved, -1, _taken(joints, order, np.array(-1))).astype(np.int32)
    if lengths is not None:
        now = steady.lengths(positions[0]) if len(positions) else np.zeros(len(order))
        lengths = np.where(moved, now, _taken(lengths, order, np.array(0.0)))
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
