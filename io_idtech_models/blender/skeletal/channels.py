"""Animations of a skeleton as actions on an armature: seven curves for each bone, frame f at scene frame f.

A pose bone's channels are relative to its rest: its pose is parent's pose x rest relative to the parent's rest x
channels. So with the joint's own transform A relative to its parent, rest L and the fixed turn T of `armature`, the
channels are inverse(L) x inverse(T) x A x T, and A comes back as T x L x channels x inverse(T). A root has no parent:
its A and L are in model space, and L lacks the turn on its left. All this is linear in the places and in the
quaternions of A: for each joint a matrix for either (`maps`), and a product with all frames at once.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Animation
from ...model.transforms import conjugate, from_matrices, inverse, multiply
from .. import names, properties, spans
from ..compat import Block, curves_for
from ..curves import CONSTANT, LINEAR, add_curves, bone_path
from ..joints import TURN

Doubles = NDArray[np.float64]
Maps = tuple[Doubles, Doubles]
AT_ONCE = 4096  # poses
OF_NONE = (0.0, 1.0, 0.0, 0.0)  # what Blender makes of a quaternion without length (normalize_qt)
PATHS, SCALE = ("location", "rotation_quaternion"), "scale"


def to_channels(
    positions: NDArray[Any], rotations: NDArray[Any], rest: Doubles, parents: NDArray[Any]
) -> NDArray[np.float32]:
    """Return the channels (F, J, 7), location and quaternion, of joints' poses relative to their parents.

    The poses are positions (F, J, 3) and unit quaternions (F, J, 4); `rest` (J, 4, 4) is that of the bones, relative to
    their parents' likewise. A quaternion follows the one before it the short way.
    """
    turning, moving = maps(rest, parents)
    back = inverse(moving)
    channels = np.empty((*positions.shape[:2], 7), np.float32)
    channels[..., :3] = steady.applied(back[:, :3], positions)
    turns = steady.applied(turning.transpose(0, 2, 1), rotations)
    if len(positions):
        turns[:, turns[0, :, 0] < 0] *= -1.0
        flips = np.cumprod(np.where(steady.dots(turns[1:], turns[:-1]) < 0, -1.0, 1.0), axis=0)
        turns[1:] *= flips[..., None]
    channels[..., 3:] = turns
    return channels


def from_channels(channels: NDArray[Any], by_rest: Maps) -> tuple[Doubles, Doubles]:
    """Return the poses of joints relative to their parents, positions (F, J, 3) and unit quaternions (F, J, 4).

    The inverse of `to_channels`; `by_rest` is what `maps` gives. Quaternions of any length turn as Blender lets them:
    brought to length 1, and one of none, as half way between a quaternion and its negative, a half turn about X.
    """
    turning, moving = by_rest
    frames, joints = channels.shape[:2]
    positions, rotations = np.empty((frames, joints, 3)), np.empty((frames, joints, 4))
    for some in runs(frames, joints):
        turns = channels[some, :, 3:7].astype(np.float64)
        sizes = steady.lengths(turns)
        turns[sizes == 0] = OF_NONE
        turns /= np.where(sizes > 0, sizes, 1.0)[..., None]
        positions[some] = steady.applied(moving[:, :3], channels[some, :, :3])
        rotations[some] = steady.applied(turning, turns)
    return positions, rotations


def runs(frames: int, joints: int) -> Iterator[slice]:
    """Return runs of frames that hold a few thousand poses each: what is computed of more fits no processor's cache."""
    step = max(1, AT_ONCE // max(1, joints))
    return (slice(first, first + step) for first in range(0, frames, step))


def maps(rest: Doubles, parents: NDArray[Any]) -> Maps:
    """Return what makes poses of channels: for rows of quaternions (J, 4, 4), transposed, and of places (J, 4, 4)."""
    moving = rest.copy()
    children = np.flatnonzero(parents >= 0)
    moving[children] = steady.products(TURN, moving[children])
    before, after = from_matrices(moving[:, :3, :3]), conjugate(from_matrices(TURN[:3, :3]))
    return multiply(multiply(before[:, None], np.eye(4)), after).transpose(0, 2, 1), moving


def make(
    block: Block,
    bones: list[str],
    animation: Animation,
    channels: NDArray[np.float32],
    scales: NDArray[Any] | None = None,
) -> Block:
    """Make an action that plays channels (F, J, 7) on an armature's bones, in this order; the armature plays it now.

    Bones whose scale (F, J, 3) is ever another than 1 get curves for it, which go from frame to frame where they may.
    """
    action: Block = bpy.data.actions.new(names.fit(animation.name))
    names.remember(action, animation.name)
    curves = curves_for(action, block, block.name)
    paths = [f"{bone_path(bone)}." for bone in bones]
    wanted = [(path + PATHS[c > 2], c - 3 * (c > 2)) for path in paths for c in range(7)]
    rows = np.ascontiguousarray(channels.reshape(len(channels), -1).T)
    times = np.arange(animation.num_frames, dtype=np.float32)
    add_curves(curves, wanted, times, rows)
    if scales is not None:
        kind = LINEAR if animation.scales is not None and animation.scales.inherited else CONSTANT
        for joint in np.flatnonzero((scales != 1).any(axis=(0, 2))).tolist():
            along = [(paths[joint] + SCALE, axis) for axis in range(3)]
            add_curves(curves, along, times, np.ascontiguousarray(scales[:, joint].T, np.float32), kind)
    action.use_fake_user = True
    spans.set_range(action, 0, animation.num_frames - 1)
    action.use_cyclic = animation.loops
    properties.show(action, properties.FRAME_RATE, animation.frame_rate)
    return action
