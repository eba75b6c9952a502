"""Poses of a rig as what curves hold, and the actions that play them.

Letters in shapes: F frames, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.rigging.joined import JoinedPart, JoinedRig
from ...model.rigging.rig import rig_matrices
from ...model.transforms import from_matrices, inverse
from ..compat import Block, curves_for, played_slot
from ..curves import add_curves, bone_path, group_by_bone
from ..frame_rigs import RIG_KEYS
from ..joints import TURN
from ..rig_wholes import new_whole
from ..skeletal.armature import joint_matrices, relative
from .bones import Bones
from .read import unit

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
STILL = 1e-4  # of the model's size: a bone that moves less against its parent only turns
# Of a bone: path, place of the first among its channels, how many there are. All have keys in all frames, also of what
# rests: a key that is set in a frame would else be the only one of its curve, and hold in all the others.
CHANNELS = (("location", 0, 3), ("rotation_quaternion", 3, 4), ("scale", 7, 3))
EVEN = 2e-6  # an axis so near one is as long as one, in single precision
AXES = [1, 0, 2]  # a tag's bone lies along its forward axis: see `bones`


@dataclass(frozen=True, eq=False)
class KeyedBones:
    """Bones that have keys in the same frames, and the scene's times of these."""

    bones: NDArray[np.int64]
    times: list[float]


@dataclass(eq=False)
class Motion:
    """What curves hold of an armature's bones, and where these are with it."""

    channels: Floats  # (F, B, 10): location, rotation, scale
    posed: Doubles  # (F, B, 4, 4) as Blender has bones in the armature
    stands: list[Doubles]  # (F, 4, 4) of each part: where the root is that its meshes and tags hang on

    def poses(self, bones: Bones) -> Doubles:
        """Return what takes points at rest to where bones have them, (F, B, 3, 4)."""
        return np.ascontiguousarray(steady.products(self.posed, inverse(bones.rest))[..., :3, :])


def motion_of(skeleton: JoinedRig, bones: Bones) -> Motion:
    """Return a skeleton's motion as curves.

    A bone is posed against where Blender has its parent, and a part against where that has the tag that it hangs on:
    axes of bones at rest are only as long as one to some hundred thousandths (of those that point to -Y, in 4.2), which
    would add up along a chain.
    """
    rig = skeleton.rig
    wanted = steady.products(rig_matrices(rig.poses), bones.rest)
    wanted[:, rig.tag_bones] = steady.products(skeleton.tags, TURN)
    found = Motion(np.zeros((*wanted.shape[:2], 10), np.float32), np.empty_like(wanted), [])
    found.channels[...] = (0, 0, 0, 1, 0, 0, 0, 1, 1, 1)
    at_rest = relative(bones.rest, rig.parents)
    moves = STILL * float(np.ptp(rig.rest, axis=0).max(initial=0.0))
    tag_of = {bone: tag for tag, bone in enumerate(rig.tag_bones.tolist())}
    for part in skeleton.parts:
        found.stands.append(_stand(skeleton, part, found))
        if part.root >= 0:
            parent = int(rig.parents[part.root])
            above = np.eye(4)[None] if parent < 0 else found.posed[:, parent]
            found.posed[:, part.root] = steady.products(_squared(above), at_rest[part.root])
        off = steady.products(found.stands[-1], inverse(part.stands))
        for bone in part.bones.tolist():
            parent = int(rig.parents[bone])
            stand = at_rest[bone] if parent < 0 else steady.products(found.posed[:, parent], at_rest[bone])
            basis = steady.products(inverse(stand), off, wanted[:, bone])
            own = found.channels[:, bone]
            if bone in tag_of or np.abs(basis[:, :3, 3]).max(initial=0.0) > moves:
                own[:, :3] = basis[:, :3, 3]
            own[:, 3:7] = _continuous(from_matrices(steady.nearest_rotations(basis[:, :3, :3])))
            found.posed[:, bone] = steady.products(stand, joint_matrices(own[:, :3], unit(own[:, 3:7])))
            if bone in tag_of:
                sizes = steady.lengths(np.swapaxes(basis[:, :3, :3], 1, 2))
                own[:, 7:] = np.where(np.abs(sizes - 1) < EVEN, 1.0, sizes) * skeleton.scales[:, tag_of[bone]][:, AXES]
    return found


def _stand(skeleton: JoinedRig, part: JoinedPart, motion: Motion) -> Doubles:
    """Return where Blender has a part's root, (F, 4, 4): on its tag's empty, without the scale of that."""
    if part.part.above is None:
        return np.broadcast_to(np.eye(4), (len(motion.posed), 4, 4))
    other, tag = part.part.above
    above = skeleton.parts[other]
    if above.part.rig is None:
        return steady.products(motion.stands[other], above.part.tag_rests[tag])
    bone = above.bones[above.part.rig.tag_bones[tag]]
    return unscaled(steady.products(motion.posed[:, bone], inverse(TURN)))


def unscaled(matrices: Doubles) -> Doubles:
    """Return matrices (..., 4, 4) whose axes are as long as one."""
    found = matrices.copy()
    axes = found[..., :3, :3]
    axes /= steady.lengths(np.swapaxes(axes, -1, -2))[..., None, :]
    return found


def _squared(matrices: Doubles) -> Doubles:
    """Return matrices (..., 4, 4) as bones take them that inherit no scale: square to the Y axis, which stays."""
    found = unscaled(matrices)
    y = found[..., :3, 1]
    for axis in (0, 2):
        own = found[..., :3, axis]
        found[..., :3, axis] = own - steady.dots(own, y)[..., None] * y
    return unscaled(found)


def _continuous(turns: Doubles) -> Doubles:
    """Return quaternions (F, 4) that each follow the one before the short way."""
    if len(turns):
        flips = np.where(steady.dots(turns[1:], turns[:-1]) < 0, -1.0, 1.0)
        turns[1:] *= np.cumprod(flips, axis=0)[..., None]
    return turns


def play_whole(bones: Bones, motion: Motion, parts: list[KeyedBones], keys: Block | None) -> Block:
    """Let an armature play an action that shows all frames at the times at which the scene shows their keys.

    `keys` is the action that shows these.
    """
    block = bones.block
    action = new_whole(block)
    if keys is not None:
        action[RIG_KEYS] = keys
    curves: Any = None
    for part in parts:
        wanted, rows = [], []
        for bone in part.bones.tolist():
            for path, first, count in CHANNELS:
                wanted += [(f"{bone_path(bones.names[bone])}.{path}", axis) for axis in range(count)]
                rows.append(motion.channels[: len(part.times), bone, first : first + count].T)
        if rows:
            curves = curves_for(action, block, block.name) if curves is None else curves
            # Of frames that share a time the first.
            at, order = np.unique(np.array(part.times, np.float32), return_index=True)
            add_curves(curves, wanted, at, np.ascontiguousarray(np.concatenate(rows)[:, order]))
    if curves is not None:
        group_by_bone(action, played_slot(block.animation_data))
    return action
