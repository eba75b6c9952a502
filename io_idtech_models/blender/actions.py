"""Animations of a skeleton as actions on an armature: seven curves for each bone, frame f at scene frame f.

A pose bone's channels are relative to its rest: its pose is parent's pose x rest relative to the parent's rest x
channels. So with the joint's own transform A relative to its parent, rest L and the fixed turn T of `armature`, the
channels are inverse(L) x inverse(T) x A x T, and A comes back as T x L x channels x inverse(T). A root has no parent:
its A and L are in model space, and L lacks the turn on its left.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model.skeletal import Animation
from ..model.transforms import from_matrices, to_matrices
from . import names
from .armature import TURN, joint_matrices
from .compat import Block, curves_for
from .shape_keys import LINEAR, add_curve

Doubles = NDArray[np.float64]
RATE = "idtech_frame_rate"  # visible and editable, on an action
PATHS = ("location", "rotation_quaternion")


def to_channels(poses: Doubles, rest: Doubles, parents: NDArray[Any]) -> NDArray[np.float32]:
    """Return the channels (F, J, 7), location and quaternion, of joints' poses (F, J, 4, 4) relative to their parents.

    `rest` (J, 4, 4) is that of the bones, relative to their parents' likewise. A quaternion follows the one before it
    the short way.
    """
    turned = poses @ TURN
    children = np.flatnonzero(parents >= 0)
    turned[:, children] = np.linalg.inv(TURN) @ turned[:, children]
    local = np.linalg.inv(rest) @ turned
    rotations = from_matrices(local[..., :3, :3])
    if len(rotations) > 1:
        flips = np.cumprod(np.where((rotations[1:] * rotations[:-1]).sum(axis=-1) < 0, -1.0, 1.0), axis=0)
        rotations[1:] *= flips[..., None]
    return np.asarray(np.concatenate((local[..., :3, 3], rotations), axis=-1), np.float32)


def from_channels(channels: NDArray[Any], rest: Doubles, parents: NDArray[Any]) -> Doubles:
    """Return the poses (F, J, 4, 4) of joints relative to their parents; inverse of `to_channels`."""
    rotations = channels[..., 3:7].astype(np.float64)
    rotations /= np.maximum(np.linalg.norm(rotations, axis=-1, keepdims=True), 1e-20)
    local = np.zeros((*channels.shape[:-1], 4, 4))
    local[..., :3, :3] = to_matrices(rotations)
    local[..., :3, 3] = channels[..., :3]
    local[..., 3, 3] = 1.0
    poses = rest @ local @ np.linalg.inv(TURN)
    children = np.flatnonzero(parents >= 0)
    poses[:, children] = TURN @ poses[:, children]
    return poses


def make(block: Block, bones: list[str], animation: Animation, channels: NDArray[np.float32]) -> Block:
    """Make an action that plays channels (F, J, 7) on an armature's bones, in this order; the armature plays it now."""
    action: Block = bpy.data.actions.new(names.fit(animation.name))
    names.remember(action, animation.name)
    curves = curves_for(action, block, block.name)
    times = np.arange(animation.num_frames, dtype=np.float32)
    for joint, bone in enumerate(bones):
        path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].'
        for channel in range(7):
            kind, index = PATHS[channel > 2], channel - 3 * (channel > 2)
            add_curve(curves, path + kind, index, times, channels[:, joint, channel], LINEAR)
    action.use_fake_user = action.use_frame_range = True
    action.frame_start, action.frame_end = 0, animation.num_frames - 1
    action[RATE] = animation.frame_rate
    return action


def keep(block: Block, action: bpy.types.Action) -> None:
    """Keep an action with an armature: in a muted track, because Blender renames bones only in what an object uses."""
    track = block.animation_data.nla_tracks.new()
    track.name = action.name
    track.strips.new(action.name, 0, action)
    track.mute = True


def animation_poses(animation: Animation, scale: float) -> Doubles:
    """Return an animation's poses relative to the parent as matrices, (F, J, 4, 4)."""
    return joint_matrices(animation.positions, animation.rotations, scale)
