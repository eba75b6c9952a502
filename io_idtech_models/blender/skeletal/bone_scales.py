"""The scale of joints as scale of bones, shown as the game shows it.

In Blender what hangs on a bone grows and moves with it. So does what hangs on joints with inherited scales (IQM): their
bones are scaled as they are, along the bone's axes. In other games a joint's scale is its own: children of scaled bones
are told not to inherit scale, and their ways are written the shorter, the larger their parent is.

What joints are scaled at rest no bone can show. It is a property of the bone, and poses leave it out: see
`model.joint_scales`.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.joint_scales import taken_apart
from ...model.skeletal import LEAST, Animation, Scales, Skeleton, from_shown
from ...model.transforms import from_matrices
from ...reporting import listed
from .. import properties
from ..compat import Block
from ..joints import TURN_BACK
from . import armature

log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]
AXES = [1, 0, 2]  # a bone's Y axis is its joint's X, and its X lies along the joint's Y: see `joints.TURN`


def above(parents: NDArray[Any], values: Doubles) -> Doubles:
    """Return the values (F, J) of each joint's parent, 1 for a root."""
    return np.where(parents >= 0, values[:, parents], 1.0)


def to_shown(
    rig: Block, bones: list[Any], parents: NDArray[Any], animation: Animation
) -> tuple[Doubles, Doubles | None]:
    """Return the positions (F, J, 3) that show an animation, and the scale (F, J, 3) of the bones, or None.

    The bones, in the file's order, are told what to inherit, and whose ways are scaled.
    """
    scales = animation.scales
    if scales is None:
        return animation.positions, None
    if scales.inherited:
        for joint in np.flatnonzero((scales.values != 1).any(axis=(0, 2))).tolist():
            for child in np.flatnonzero(parents == joint).tolist():  # as Blender's are unless they were told not to
                bones[child].inherit_scale = "FULL"
        return animation.positions, scales.values[..., AXES]
    shown = scales.shown()
    scaled = (shown != 1).any(axis=0)
    others = np.flatnonzero(scaled & ([properties.SCALE_POSITIONS in bone for bone in bones] != scales.ways))
    if len(others) and any(properties.SCALE_POSITIONS in bone for bone in bones):
        text = "'%s' scales other bones' positions than the animations before it: %s"
        log.warning(text, animation.name, listed([bones[joint].name for joint in others.tolist()]))
    for joint, bone in enumerate(bones):
        if scales.ways[joint]:
            properties.show(bone, properties.SCALE_POSITIONS, True)
        if parents[joint] >= 0 and scaled[parents[joint]]:
            bone.inherit_scale = "NONE"
    ways = animation.positions * (scales.of_ways() / above(parents, shown))[..., None]
    return ways, np.repeat(shown[..., None], 3, axis=-1)


def show_rest(bones: list[Any], scales: Doubles | None) -> None:
    """Give bones the scale of joints at rest (J, 3) as a property, where there is any."""
    for bone, scale in zip(bones, [] if scales is None else scales.tolist(), strict=False):
        if scale != [1.0, 1.0, 1.0]:
            properties.show(bone, properties.REST_SCALE, scale)


def gather_rest(bones: list[Any]) -> Doubles | None:
    """Return the scale of joints at rest, (J, 3), that bones say; None without any."""
    found = np.array([properties.vector(bone, properties.REST_SCALE, [1.0, 1.0, 1.0]) for bone in bones])
    return None if not len(found) or (found == 1.0).all() else found


def inherited(scales: Doubles | None, shape: tuple[int, ...]) -> Scales:
    """Return inherited scales of those of bones, (F, J, 3) along the bones' axes; `shape` is (F, J, 3)."""
    values = np.ones(shape) if scales is None else scales.astype(np.float64)[..., AXES]
    return Scales(values, np.zeros(shape[1], np.bool_), True)


def from_bones(total: Doubles | None, marked: NDArray[np.bool_]) -> Scales | None:
    """Return the scale of joints whose bones are so large (F, J), and `marked` where ways are scaled, or None."""
    return None if total is None else from_shown(total.astype(np.float32), marked)


def joints_at_rest(bones: list[Any], parents: NDArray[Any], matrices: Doubles) -> Skeleton:
    """Return an armature's bones, whose rest is `matrices` (J, 4, 4), as joints with their scale at rest."""
    rest = steady.products(matrices, TURN_BACK)
    turns = from_matrices(steady.nearest_rotations(rest[:, :3, :3]))
    found = Skeleton([bone.name for bone in bones], parents.astype(np.int32), rest[:, :3, 3], turns)
    found.scales = gather_rest(bones)
    return found


def chained(positions: Doubles, rotations: Doubles, scales: Scales, parents: NDArray[Any]) -> Doubles:
    """Return poses relative to parents, with inherited scales, as matrices (F, J, 4, 4) in the armature's space."""
    matrices = armature.joint_matrices(positions, rotations)
    matrices[..., :3, :3] *= scales.values[..., None, :]
    return armature.chained(matrices, parents)


def relative_poses(
    matrices: Doubles, world: Doubles, parents: NDArray[Any]
) -> tuple[Doubles, Doubles, Scales, NDArray[np.bool_]]:
    """Return poses relative to parents of joints (F, J, 4, 4) in the armature's space, as the world shows them.

    Positions (F, J, 3), rotations (F, J, 4), inherited scales, and which are sheared, (F, J). An even scale of the
    armature, `world` (..., 4, 4), shows in places alone, as `armature.placed` has it.
    """
    whole = steady.products(world, matrices)
    determinants = steady.determinants(world[..., :3, :3])
    mirror = np.where((determinants < 0)[..., None], np.array([1.0, 1.0, -1.0]), np.ones(3))
    size = steady.cube_roots(np.abs(determinants))
    whole[..., :3, :3] *= mirror[..., None, :] / np.maximum(size, LEAST)[..., None, None]
    lengths = steady.lengths(np.swapaxes(whole[..., :3, :3], -1, -2))
    small = lengths < LEAST  # nothing comes back from what has no size
    whole[..., :3, :3] = np.where(small[..., None, :], LEAST * np.eye(3), whole[..., :3, :3])
    relative = armature.relative(whole, parents)
    turns, sizes, sheared = taken_apart(relative[..., :3, :3])
    held = Scales(sizes, np.zeros(len(parents), np.bool_), True)
    return np.ascontiguousarray(relative[..., :3, 3]), turns, held, sheared
