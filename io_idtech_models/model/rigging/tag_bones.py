"""Tags as bones: each moves as its tag does, and hangs on the bone that it follows best.

Letters in shapes: F frames, B bones, N tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..torso import nearest_turns
from ..transforms import as_matrices, to_matrices
from ..vertex import Tag
from .rig import FrameRig, rig_matrices

Doubles = NDArray[np.float64]

TURNING = 0.05  # what a turn counts beside a way
NEARLY = 1.3  # times less alike: as good as what a tag follows best
LENGTH = 0.06  # of the model's size: of a bone that is a tag


def with_tags(rig: FrameRig, tags: Sequence[Tag]) -> FrameRig:
    """Return the rig with a bone behind its others for each tag, called as it is; the empty there has its axes."""
    if not tags:
        return rig
    size = float(np.linalg.norm(np.ptp(rig.rest, axis=0))) or 1.0
    whole, mass = np.flatnonzero(~rig.torn), rig.weights.sum(axis=0)
    parents, heads, tails, poses, names = [], [], [], [], list(rig.names)
    for tag in tags:
        own = transforms_of(tag)
        unlike = unlike_of(own[whole], rig.poses[whole], size)[0]
        near = np.flatnonzero(unlike <= NEARLY * unlike.min())
        parent = int(near[mass[near].argmax()])  # of a hand and its cuff the hand
        place = np.linalg.inv(rig_matrices(rig.poses[rig.rest_frame, parent])) @ own[rig.rest_frame]
        rest = as_matrices(to_matrices(nearest_turns(place[None, :3, :3]))[0], place[:3, 3])
        parents.append(parent)
        heads.append(rest[:3, 3])
        tails.append(rest[:3, 3] + rest[:3, 0] * size * LENGTH)
        poses.append((own @ np.linalg.inv(rest))[:, :3])
        names.append(free_name(tag.name, names))
    count = rig.num_bones
    return replace(
        rig,
        names=names,
        parents=np.concatenate([rig.parents, parents]),
        heads=np.concatenate([rig.heads, heads]),
        tails=np.concatenate([rig.tails, tails]),
        weights=np.concatenate([rig.weights, np.zeros((len(rig.weights), len(tags)))], axis=1),
        poses=np.concatenate([rig.poses, np.stack(poses, axis=1)], axis=1),
        tag_bones=np.arange(count, count + len(tags)),
        groups=[*rig.groups, *("tags" for _ in tags)],
    )


def followed(transforms: Doubles, poses: Doubles, size: float) -> int:
    """Return which bone of `poses` (f, B, 3, 4) that follows best which moves so (f, 4, 4)."""
    return int(unlike_of(transforms, poses, size)[0].argmin())


def unlike_of(transforms: Doubles, poses: Doubles, size: float) -> tuple[Doubles, Doubles]:
    """Return how differently each bone of `poses` (f, B, 3, 4) moves, (B,), from what moves so (f, 4, 4).

    Seen from a bone that it follows, place and turn change least. And where each bone has it in the mean, (B, 3).
    """
    seen = np.linalg.inv(rig_matrices(poses)) @ transforms[:, None]
    mean = seen.mean(axis=0)
    spread = (seen - mean) ** 2
    away = spread[:, :, :3, 3].sum(axis=2).mean(axis=0) / size**2
    turned = spread[:, :, :3, :3].sum(axis=(2, 3)).mean(axis=0)
    return np.asarray(away + TURNING * turned), np.asarray(mean[:, :3, 3])


def transforms_of(tag: Tag) -> Doubles:
    """Return what takes a tag's own space to the model's, (F, 4, 4): its axes are columns, its rows are not."""
    return as_matrices(np.swapaxes(tag.axes, 1, 2), tag.origins)


def free_name(name: str, taken: list[str]) -> str:
    """Return a name that no bone has."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}.{number:03}"
    return free
