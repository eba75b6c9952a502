"""Skeletons as armatures. A bone keeps its joint's place and axes exactly, but for one fixed turn.

Blender draws a bone along its Y axis; these formats' joints point along X. So a bone is its joint turned by a right
angle about Z (`joints.TURN`). Blender stores a bone as head, tail and roll in single precision: its axes come back the
more exact the longer it is, so that a bone is at least an eighth as long as its coordinates are large; and what Blender
gives back (`rest_matrices`) is what poses are computed against, never what was asked for.

Letters in shapes: J joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Skeleton
from ...model.transforms import as_matrices, inverse, to_matrices
from .. import names
from ..compat import Block
from ..joints import TURN
from ..provenance import JOINT
from ..window import selected, set_mode

Doubles = NDArray[np.float64]
LEAST_PART = 8.0  # a bone is at least this part of its largest coordinate long
LEAST_LENGTH = 0.1
# How far a joint's axes may be from unit and upright: Blender's own rounding; what shows.
ROUNDED, BENT = 1e-5, 1e-3
EPSILON = 2.0**-24  # half a step of single precision, as a part of the number
ROUNDINGS = 16  # of so many a head or an axis is the sum at most; twice the worst of real skeletons after edits


def joint_matrices(positions: NDArray[Any], rotations: NDArray[Any], scale: float = 1.0) -> Doubles:
    """Return joints as matrices (..., J, 4, 4) of positions (..., J, 3), times `scale`, and quaternions (..., J, 4)."""
    return as_matrices(to_matrices(rotations), positions * scale)


def bone_lengths(skeleton: Skeleton) -> Doubles:
    """Return how long to draw each joint's bone, (J,): the way to its child, of several to the one most ahead."""
    places, axes = skeleton.bind.positions, to_matrices(skeleton.bind.rotations)[:, :, 0]
    lengths = np.zeros(skeleton.num_joints)
    ahead = np.full(skeleton.num_joints, -np.inf)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            way = places[joint] - places[parent]
            reach = float(steady.dots(way, axes[parent]))
            if reach > ahead[parent]:
                ahead[parent], lengths[parent] = reach, float(steady.lengths(way))
    leaves = lengths == 0.0
    above = skeleton.parents[leaves]
    lengths[leaves] = np.where(above >= 0, lengths[above] / 2, 0.0)
    return np.asarray(
        np.maximum(lengths, np.maximum(np.abs(places).max(axis=1, initial=0.0) / LEAST_PART, LEAST_LENGTH))
    )


def make(name: str, skeleton: Skeleton, scale: float, scene: bpy.types.Scene) -> Block:
    """Return an armature object, linked nowhere, with a bone per joint, called as the joints are."""
    data: Block = bpy.data.armatures.new(names.fit(name))
    block: Block = bpy.data.objects.new(names.fit(name), data)
    given = names.unique(skeleton.names, "bone")
    if given:
        matrices = steady.products(joint_matrices(skeleton.bind.positions, skeleton.bind.rotations, scale), TURN)
        with editing(block, scene):
            _add_bones(data, given, skeleton, matrices, bone_lengths(skeleton) * scale)
    for joint, bone_name in enumerate(given):
        bone = data.bones[bone_name]
        bone[JOINT] = joint
        names.remember(bone, skeleton.names[joint])
    return block


def _add_bones(data: Block, given: list[str], skeleton: Skeleton, matrices: Doubles, lengths: Doubles) -> None:
    made: list[Any] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        bone = data.edit_bones.new(given[joint])
        bone.length = float(lengths[joint])  # before the matrix, or it stays without length and is lost
        bone.matrix = Matrix(matrices[joint].tolist())
        if parent >= 0:
            bone.parent = made[parent]
        made.append(bone)


@contextmanager
def editing(block: Block, scene: bpy.types.Scene) -> Iterator[None]:
    """Put an object into edit mode meanwhile, the only way to bones: it must be active in the view layer for that."""
    context: Any = bpy.context
    layer = context.view_layer
    active, chosen = layer.objects.active, selected(context)
    for other in chosen:  # armatures that are selected come along into edit mode
        other.select_set(False, view_layer=layer)
    scene.collection.objects.link(block)
    try:
        layer.objects.active = block
        set_mode(context, "EDIT")
        try:
            yield
        finally:
            set_mode(context, "OBJECT")
    finally:
        scene.collection.objects.unlink(block)
        layer.objects.active = active
        for other in chosen:
            other.select_set(True, view_layer=layer)


def joint_numbers(bones: Any) -> list[int]:
    """Return the file's joint that each bone is, or -1: of copies the one that is still called as import called it."""
    numbers: list[int] = []
    owner: dict[int, int] = {}
    for place, bone in enumerate(bones):
        joint = bone.get(JOINT)
        numbers.append(joint if isinstance(joint, int) and joint >= 0 else -1)
        if numbers[-1] >= 0 and (numbers[-1] not in owner or not names.is_renamed(bone)):
            owner[numbers[-1]] = place
    return [joint if owner.get(joint) == place else -1 for place, joint in enumerate(numbers)]


def joint_name(bone: Any) -> str:
    """Return what a bone is called in a file: as in the file that it came from, until it is renamed.

    No number at the end is cut: it is what tells Blender's `Bone.001` from `Bone`.
    """
    source = bone.get(names.SOURCE)
    return source if isinstance(source, str) and not names.is_renamed(bone) else str(bone.name)


def file_order(bones: Any) -> list[Any]:
    """Return bones in the file's order; new ones behind, as Blender has them, parents first."""
    numbered = zip(joint_numbers(bones), bones, strict=True)
    ranked = [(joint < 0, joint, place, bone) for place, (joint, bone) in enumerate(numbered)]
    return [bone for *_, bone in sorted(ranked, key=lambda rank: rank[:3])]


def rest_matrices(data: Block) -> dict[str, Doubles]:
    """Return where Blender has each bone at rest, by name: matrices (4, 4) in the armature's space."""
    buffer = np.empty(16 * len(data.bones), np.float32)
    data.bones.foreach_get("matrix_local", buffer)
    matrices = buffer.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    return {bone.name: matrix for bone, matrix in zip(data.bones, matrices, strict=True)}


def rounding(data: Block) -> dict[str, tuple[float, float]]:
    """Return how far each bone's head, and its axes, may come back off from edit mode, by name.

    Blender keeps a head relative to its parent's tail, in single precision: every bone on the way from the root adds
    what that way and its own place lose. An axis is the way from head to tail: the shorter, the less exact.
    """
    found: dict[str, tuple[float, float]] = {}
    for bone in data.bones:  # parents come before their children
        parent, head, tail = bone.parent, bone.head_local, bone.tail_local
        way, above = (0.0, 0.0) if parent is None else ((head - parent.tail_local).length, found[parent.name][0])
        size = max(abs(c) for c in head)
        farthest = max(size, *(abs(c) for c in tail))
        axes = ROUNDINGS * EPSILON * farthest / max(bone.length, 1e-9)
        found[bone.name] = above + ROUNDINGS * EPSILON * (way + size), axes
    return found


def placed(matrices: Doubles, world: Doubles) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return joints (..., 4, 4) of an armature's space in that of the world, and which of them lose something, (...).

    A joint has a place and a turn. An even scale of the armature shows in places alone, a mirroring in the joint's Z
    axis, at rest as in motion; but the scale of a bone, or an uneven one, is lost.
    """
    whole = steady.products(world, matrices)
    size = steady.cube_roots(np.abs(steady.determinants(world[..., :3, :3])))
    axes = whole[..., :3, :3] / np.maximum(size, 1e-12)[..., None, None]
    off = np.abs(steady.products(np.swapaxes(axes, -1, -2), axes) - np.eye(3)).max(axis=(-1, -2))
    bent = off > ROUNDED
    if bent.any():
        axes[bent] = steady.nearest_rotations(axes[bent], mirrored=True)
    axes[steady.determinants(axes) < 0] *= np.array([1.0, 1.0, -1.0])
    whole[..., :3, :3] = axes
    return whole, off > BENT


def chained(matrices: Doubles, parents: NDArray[Any]) -> Doubles:
    """Return matrices (..., J, 4, 4) in the armature's space of those relative to parents; inverse of `relative`."""
    result = matrices.copy()
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            result[..., joint, :, :] = steady.products(result[..., parent, :, :], result[..., joint, :, :])
    return result


def relative(matrices: Doubles, parents: NDArray[Any]) -> Doubles:
    """Return matrices (..., J, 4, 4) relative to their parents'.

    Inverted, not transposed: Blender's axes are only orthonormal to some millionths.
    """
    result = matrices.copy()
    children = np.flatnonzero(parents >= 0)
    above = inverse(matrices[..., parents[children], :, :])
    result[..., children, :, :] = steady.products(above, matrices[..., children, :, :])
    return result
