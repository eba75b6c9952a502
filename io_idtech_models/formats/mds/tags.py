"""Tags of a model as bones, which is all that MDS has of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import Animation, JointTag, SkeletalModel, Skeleton, Traits
from ...model.transforms import from_matrices, multiply, rotate
from ..common.wolf.bones import TAG_FLAG

SAME = 1e-4  # units, and of an axis: nearer a tag stands on its bone
Doubles = NDArray[np.float64]


def with_tag_bones(
    model: SkeletalModel, animations: list[Animation], of_mds: bool
) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model and its animations with a bone for each tag that has none: themselves where all have theirs.

    A bone is a tag's own if it is flagged as such, moves no vertex, and the tag stands right on it; or, of a model that
    came from an MDS (`of_mds`), if it still stands there as it did.
    """
    lacking = [tag for tag in model.tags if not ((of_mds and tag.kept) or _is_own(tag, model))]
    if not lacking:
        return model, animations
    first, skeleton = model.skeleton.num_joints, model.skeleton
    parents = np.array([tag.joint for tag in lacking], np.int32)
    names = _free_names([tag.name for tag in lacking], skeleton.names)
    places = np.array([tag.origin for tag in lacking], np.float64)
    # A tag's axes are rows in the space of its joint: the columns of the rotation that takes it there.
    turns = from_matrices(np.swapaxes(np.array([tag.axes for tag in lacking], np.float64), -1, -2))
    number = {id(tag): first + index for index, tag in enumerate(lacking)}
    upright = np.eye(3, dtype=np.float32)
    tags = [
        replace(tag, joint=number[id(tag)], origin=np.zeros(3, np.float32), axes=upright, kept=False)
        if id(tag) in number
        else tag
        for tag in model.tags
    ]
    grown = _grown_skeleton(skeleton, names, parents, places, turns)
    return replace(model, skeleton=grown, tags=tags), [
        _grown_animation(animation, names, parents, places, turns) for animation in animations
    ]


def _is_own(tag: JointTag, model: SkeletalModel) -> bool:
    """Tell whether a tag's joint is a bone of its own."""
    traits = model.skeleton.traits
    on_it = np.abs(tag.origin).max() <= SAME and np.abs(tag.axes - np.eye(3)).max() <= SAME
    flagged = traits is not None and bool(traits.flags[tag.joint] & TAG_FLAG)
    return bool(on_it and flagged and not any((mesh.weights.joints == tag.joint).any() for mesh in model.meshes))


def _free_names(wanted: list[str], known: list[str]) -> list[str]:
    """Return the wanted names of new bones, those that are known with a number behind them."""
    taken, found = set(known), []
    for name in wanted:
        free, number = name, 1
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        found.append(free)
    return found


def _grown_skeleton(
    skeleton: Skeleton, names: list[str], parents: NDArray[np.int32], places: Doubles, turns: Doubles
) -> Skeleton:
    """Return a skeleton with more joints, where their parents (n,) put them."""

    def added(positions: Doubles, rotations: Doubles) -> tuple[Doubles, Doubles]:
        own = positions[parents] + rotate(rotations[parents], places)
        return np.concatenate((positions, own)), np.concatenate((rotations, multiply(rotations[parents], turns)))

    positions, rotations = added(skeleton.positions, skeleton.rotations)
    bound = skeleton.bound
    if bound is not None:
        bound = type(bound)(*added(bound.positions, bound.rotations))
    count = len(names)
    return replace(
        skeleton,
        names=[*skeleton.names, *names],
        parents=np.concatenate((skeleton.parents, parents)),
        positions=positions,
        rotations=rotations,
        sources=_padded(skeleton.sources, count, -1),
        kept=_padded(skeleton.kept, count, False),
        traits=_grown_traits(skeleton.traits, parents, skeleton.num_joints),
        bound=bound,
    )


def _grown_animation(
    animation: Animation, names: list[str], parents: NDArray[np.int32], places: Doubles, turns: Doubles
) -> Animation:
    """Return an animation with more joints, which stand still on their parents (n,)."""
    frames, count = animation.num_frames, len(names)
    still = np.broadcast_to(places, (frames, count, 3)), np.broadcast_to(turns, (frames, count, 4))
    lengths, sources = animation.lengths, animation.source_frames
    if lengths is not None:
        sizes = np.sqrt(places[:, 0] ** 2 + places[:, 1] ** 2 + places[:, 2] ** 2)
        lengths = np.concatenate((lengths, sizes))
    if sources is not None:
        sources = np.concatenate((sources, np.full((frames, count, 2), -1, np.int32)), axis=1)
    return replace(
        animation,
        joint_names=[*animation.joint_names, *names],
        parents=np.concatenate((animation.parents, parents)),
        positions=np.concatenate((animation.positions, still[0]), axis=1),
        rotations=np.concatenate((animation.rotations, still[1]), axis=1),
        source_frames=sources,
        source_joints=_padded(animation.source_joints, count, -1),
        traits=_grown_traits(animation.traits, parents, len(animation.parents)),
        lengths=lengths,
        scales=None,
    )


def _grown_traits(traits: Traits | None, parents: NDArray[np.int32], before: int) -> Traits:
    """Return traits with those of new tags' bones, which follow the torso as their parents (n,) do."""
    if traits is None:
        traits = Traits(np.zeros(before, np.float32), np.zeros(before, np.int32), -1)
    flags = np.full(len(parents), TAG_FLAG, np.int32)
    weights = np.concatenate((traits.torso_weights, traits.torso_weights[parents]))
    return Traits(weights, np.concatenate((traits.flags, flags)), traits.torso_parent)


def _padded(array: NDArray[Any] | None, count: int, value: Any) -> NDArray[Any] | None:
    return None if array is None else np.concatenate((array, np.full(count, value, array.dtype)))
