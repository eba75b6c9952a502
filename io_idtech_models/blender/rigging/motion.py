"""Poses of a rig as what curves hold, and the actions that play them.

Letters in shapes: F frames, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.rigging.joined import JoinedRig
from ...model.rigging.rig import Rig, rig_matrices
from ...model.transforms import from_matrices, inverse
from .. import names
from ..compat import Block, curves_for
from ..curves import add_curves
from ..frame_rigs import RIG, RIG_KEYS, RIG_WHOLE, rig_id
from ..skeletal.armature import TURN, chained, joint_matrices, relative
from .bones import Bones
from .tags import unit

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
STILL = 1e-4  # of the model's size: a bone that moves less against its parent only turns
# Of a bone: path, place of the first among its channels, how many there are, what they are where it rests; rotations
# are always keyed.
CHANNELS = (("location", 0, 3, 0.0), ("rotation_quaternion", 3, 4, None), ("scale", 7, 3, 1.0))
AXES = [1, 0, 2]  # a tag's bone lies along its forward axis: see `bones`


@dataclass(frozen=True, eq=False)
class KeyedBones:
    """Bones that have keys in the same frames, and the scene's times of these."""

    bones: NDArray[np.int64]
    times: list[float]


def channels_of(skeleton: JoinedRig, bones: Bones, scales: Doubles) -> Floats:
    """Return what curves hold of each bone in each frame, (F, B, 10): location, rotation, scale.

    Scales are tags' alone, (F, N, 3).
    """
    rig = skeleton.rig
    posed = steady.products(rig_matrices(rig.poses), bones.rest)
    posed[:, rig.tag_bones] = steady.products(skeleton.tags, TURN)
    basis = steady.products(inverse(relative(bones.rest, rig.parents)), relative(posed, rig.parents))
    channels = np.empty((*basis.shape[:2], 10), np.float32)
    channels[..., :3] = basis[..., :3, 3]
    size = float(np.ptp(rig.rest, axis=0).max(initial=0.0))
    still = np.abs(channels[..., :3]).max(axis=(0, 2), initial=0.0) <= STILL * size
    still[rig.tag_bones] = False
    channels[:, still, :3] = 0.0
    channels[..., 3:7] = _continuous(from_matrices(steady.nearest_rotations(basis[..., :3, :3])))
    channels[..., 7:] = 1.0
    channels[:, rig.tag_bones, 7:] = scales[..., AXES]
    channels[:, skeleton.roots] = (0, 0, 0, 1, 0, 0, 0, 1, 1, 1)
    return channels


def _continuous(turns: Doubles) -> Doubles:
    """Return quaternions (F, B, 4) that each follow the one before the short way."""
    if len(turns):
        flips = np.where(steady.dots(turns[1:], turns[:-1]) < 0, -1.0, 1.0)
        turns[1:] *= np.cumprod(flips, axis=0)[..., None]
    return turns


def as_shown(rig: Rig, bones: Bones, channels: Floats) -> Rig:
    """Return the rig with the poses that Blender makes of channels (F, B, 10), so that keys say all that these don't.

    Scales are tags' alone, which move no point.
    """
    basis = joint_matrices(channels[..., :3], unit(channels[..., 3:7]))
    posed = chained(steady.products(relative(bones.rest, rig.parents), basis), rig.parents)
    return replace(rig, poses=np.ascontiguousarray(steady.products(posed, inverse(bones.rest))[..., :3, :]))


def bone_path(name: str, path: str) -> str:
    """Return the data path of a bone's channel."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"].{path}'


def play_whole(bones: Bones, channels: Floats, parts: list[KeyedBones], keys: Block | None) -> Block:
    """Let an armature play an action that shows all frames at the times at which the scene shows their keys.

    `keys` is the action that shows these.
    """
    block = bones.block
    action: Block = bpy.data.actions.new(names.fit(block.name))
    action[RIG], action[RIG_WHOLE] = rig_id(block), True
    if keys is not None:
        action[RIG_KEYS] = keys
    names.remember(action, action.name)
    action.use_fake_user = True
    curves: Any = None
    for part in parts:
        wanted, rows = [], []
        for bone in part.bones.tolist():
            for path, first, count, rest in CHANNELS:
                own = channels[: len(part.times), bone, first : first + count]
                if rest is None or (own != np.float32(rest)).any():
                    wanted += [(bone_path(bones.names[bone], path), axis) for axis in range(count)]
                    rows.append(own.T)
        if rows:
            curves = curves_for(action, block, block.name) if curves is None else curves
            # Of frames that share a time the first.
            at, order = np.unique(np.array(part.times, np.float32), return_index=True)
            add_curves(curves, wanted, at, np.ascontiguousarray(np.concatenate(rows)[:, order]))
    return action
