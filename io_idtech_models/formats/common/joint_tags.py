"""Tags that stand off their joints, for formats whose tags are joints: what a joint can say of a tag's axes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Animation, JointTag, Pose, SkeletalModel, Skeleton, Traits
from ...model.torso import nearest_turns
from ...model.transforms import multiply, rotate
from ...reporting import listed

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
FARTHEST = 1e9  # of a number that is squared
BENT = 1e-3  # by which products of axes may differ from those of a rotation before it is worth a word


def turns_of(tags: list[JointTag]) -> Doubles:
    """Return how joints that stand where tags do are turned against the tags' joints, (n, 4) as w, x, y, z.

    Of mirrored axes forward and up stay, so that what hangs there faces the same way.
    """
    axes = axes_of(tags)
    axes[steady.determinants(axes) < 0, 1] *= -1.0
    return nearest_turns(np.swapaxes(axes, -1, -2))  # a tag's axes are rows


def axes_of(tags: list[JointTag]) -> Doubles:
    """Return the axes of tags, (n, 3, 3) as rows."""
    return np.array([tag.axes for tag in tags], np.float64).reshape(-1, 3, 3)


def warn_of_bent(names: list[str], axes: Doubles, label: str) -> None:
    """Name the tags whose axes (n, 3, 3) are scaled, sheared or mirrored: turns say none of that.

    `label` is what the format is called.
    """
    clipped = np.clip(axes, -FARTHEST, FARTHEST)
    products = steady.products(clipped, np.swapaxes(clipped, -1, -2))
    wrong = (np.abs(products - np.eye(3)).max(axis=(1, 2)) > BENT) | (steady.determinants(clipped) < 0)
    bent = list(dict.fromkeys(name for name, is_wrong in zip(names, wrong.tolist(), strict=True) if is_wrong))
    if bent:
        log.warning(
            "tags are scaled, sheared or mirrored, which %s can't hold: written without: %s", label, listed(bent)
        )


def with_tag_joints(
    model: SkeletalModel, animations: Sequence[Animation], lacking: list[JointTag], label: str, flag: int = 0
) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model and its animations with a joint for each tag that is `lacking` one, which then stands right on it.

    They are called as the tags, and follow the torso as their parents do; `flag` is set on them. Where that is 0 games
    find tags by the names of joints: other joints of these names get a number behind them, else the new ones do.
    `label` is what the format is called.
    """
    warn_of_bent([tag.name for tag in lacking], axes_of(lacking), label)
    called = [tag.name for tag in lacking]
    if not flag:
        called = _apart(called, [])
        model = replace(model, skeleton=replace(model.skeleton, names=_yielding(model.skeleton.names, called)))
        animations = [replace(each, joint_names=_yielding(each.joint_names, called)) for each in animations]
    new = NewJoints.of(lacking, _apart(called, model.skeleton.names), flag)
    number = {id(tag): model.skeleton.num_joints + index for index, tag in enumerate(lacking)}
    upright = np.eye(3, dtype=np.float32)
    tags = [
        replace(tag, joint=number[id(tag)], origin=np.zeros(3, np.float32), axes=upright, kept=False)
        if id(tag) in number
        else tag
        for tag in model.tags
    ]
    return replace(model, skeleton=new.on(model.skeleton), tags=tags), [new.in_motion(each) for each in animations]


def _apart(wanted: list[str], known: list[str]) -> list[str]:
    """Return the wanted names of new joints, those that are known or repeated with a number behind them."""
    taken, found = set(known), list[str]()
    for name in wanted:
        free = _free_name(name, taken)
        taken.add(free)
        found.append(free)
    return found


def _yielding(known: list[str], taken: list[str]) -> list[str]:
    """Return the names of joints, those that are taken with a number behind them."""
    every = {*known, *taken}
    return [_free_name(name, every) if name in taken else name for name in known]


def _free_name(name: str, taken: set[str]) -> str:
    return name if name not in taken else next(free for n in count(1) if (free := f"{name}_{n}") not in taken)


@dataclass(frozen=True, eq=False)
class NewJoints:
    """Joints that hang still on others, by what they are called and how they stand against these."""

    names: list[str]
    parents: NDArray[np.int32]  # (n,)
    places: Doubles  # (n, 3)
    turns: Doubles  # (n, 4)
    flag: int  # of formats that know such; 0: none

    @classmethod
    def of(cls, tags: list[JointTag], names: list[str], flag: int = 0) -> NewJoints:
        """Return joints of some names, (n,), that stand where tags do, (n,), on the joints of these."""
        parents = np.array([tag.joint for tag in tags], np.int32)
        places = np.array([tag.origin for tag in tags], np.float64)
        return cls(names, parents, places, turns_of(tags), flag)

    def on(self, skeleton: Skeleton) -> Skeleton:
        """Return a skeleton with these joints behind its own."""
        bound, scales = skeleton.bound, skeleton.scales
        stands = self._added(skeleton.positions, skeleton.rotations)
        return replace(
            skeleton,
            names=[*skeleton.names, *self.names],
            parents=np.concatenate((skeleton.parents, self.parents)),
            positions=stands.positions,
            rotations=stands.rotations,
            sources=self._padded(skeleton.sources, -1),
            kept=self._padded(skeleton.kept, False),
            traits=self._traits(skeleton.traits, skeleton.num_joints),
            scales=None if scales is None else np.concatenate((scales, np.ones((len(self.names), 3)))),
            bound=None if bound is None else self._added(bound.positions, bound.rotations),
        )

    def in_motion(self, animation: Animation) -> Animation:
        """Return an animation of these joints, too."""
        frames, count, own = animation.num_frames, len(self.names), len(animation.parents)
        still = np.broadcast_to(self.places, (frames, count, 3)), np.broadcast_to(self.turns, (frames, count, 4))
        lengths, sources, scales = animation.lengths, animation.source_frames, animation.scales
        if sources is not None:
            sources = np.concatenate((sources, np.full((frames, count, sources.shape[2]), -1, np.int32)), axis=1)
        return replace(
            animation,
            joint_names=[*animation.joint_names, *self.names],
            parents=np.concatenate((animation.parents, self.parents)),
            positions=np.concatenate((animation.positions, still[0]), axis=1),
            rotations=np.concatenate((animation.rotations, still[1]), axis=1),
            source_frames=sources,
            source_joints=self._padded(animation.source_joints, -1),
            traits=self._traits(animation.traits, own),
            lengths=None if lengths is None else np.concatenate((lengths, steady.lengths(self.places))),
            scales=None if scales is None else scales.of_joints(np.append(np.arange(own), [-1] * count)),
        )

    def _added(self, positions: Doubles, rotations: Doubles) -> Pose:
        own = positions[self.parents] + rotate(rotations[self.parents], self.places)
        turned = multiply(rotations[self.parents], self.turns)
        return Pose(np.concatenate((positions, own)), np.concatenate((rotations, turned)))

    def _traits(self, traits: Traits | None, before: int) -> Traits | None:
        if traits is None and not self.flag:
            return None
        known = no_traits(before) if traits is None else traits
        flags = np.full(len(self.parents), self.flag, np.int32)
        weights = np.concatenate((known.torso_weights, known.torso_weights[self.parents]))
        return Traits(weights, np.concatenate((known.flags, flags)), known.torso_parent)

    def _padded(self, array: NDArray[Any] | None, value: Any) -> NDArray[Any] | None:
        return None if array is None else np.concatenate((array, np.full(len(self.names), value, array.dtype)))


def no_traits(count: int) -> Traits:
    """Return traits of joints that none of them has."""
    return Traits(np.zeros(count, np.float32), np.zeros(count, np.int32), -1)
