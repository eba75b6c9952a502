"""Which axes bones have in a file that no file says them of: those in which its normals are right.

A vertex has one normal, which the game turns by each of its bones and sums up (see `file`). Of bones whose axes point
in opposite ways, a thigh's and a pelvis', no normal suits both. So bones that move vertices have the model's own axes
in the bind pose: each turns a normal as far as it turns itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import Animation, JointTag, Pose, SkeletalModel, SkinnedMesh
from ...model.transforms import conjugate, multiply, rotate
from .frames import FORMAT

Doubles = NDArray[np.float64]
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])  # no turn


def turns_of(model: SkeletalModel, animations: Sequence[Animation]) -> Doubles | None:
    """Return how joints are turned in a model against those of its file, (J, 4); None where they are written as is.

    That is a model of such a file, and one whose joints have sizes along their axes.
    """
    if model.source_of(FORMAT) is not None or model.skeleton.scales is not None:
        return None
    if any(animation.scales is not None for animation in animations):
        return None
    moving = np.zeros(model.skeleton.num_joints, np.bool_)
    for mesh in model.meshes:
        moving[mesh.weights.joints] = True
    return np.where(moving[:, None], model.skeleton.bind.rotations, UPRIGHT)


def with_own_axes(model: SkeletalModel, animations: list[Animation]) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model and its animations with the axes of joints that its file has."""
    turns = turns_of(model, animations)
    if turns is None:
        return model, animations
    back, skeleton, bound = conjugate(turns), model.skeleton, model.skeleton.bound
    skeleton = replace(
        skeleton,
        rotations=multiply(skeleton.rotations, back),
        bound=None if bound is None else Pose(bound.positions, multiply(bound.rotations, back)),
    )
    meshes = [_turned_mesh(mesh, turns) for mesh in model.meshes]
    tags = [_turned_tag(tag, turns) for tag in model.tags]
    return replace(model, skeleton=skeleton, meshes=meshes, tags=tags), [_turned(a, turns) for a in animations]


def _turned_mesh(mesh: SkinnedMesh, turns: Doubles) -> SkinnedMesh:
    weights = mesh.weights
    offsets = rotate(turns[weights.joints], weights.offsets).astype(np.float32)
    normals = None if mesh.normals is None else rotate(turns[weights.first_joints()], mesh.normals).astype(np.float32)
    return replace(mesh, weights=replace(weights, offsets=offsets), normals=normals)


def _turned_tag(tag: JointTag, turns: Doubles) -> JointTag:
    turn = turns[tag.joint][None]
    origin, axes = rotate(turn, tag.origin[None])[0], rotate(turn, tag.axes)
    return replace(tag, origin=origin.astype(np.float32), axes=axes.astype(np.float32))


def _turned(animation: Animation, turns: Doubles) -> Animation:
    above = np.where((animation.parents < 0)[:, None], UPRIGHT, turns[animation.parents])
    rotations = multiply(above, multiply(animation.rotations, conjugate(turns)))
    positions = rotate(above, animation.positions)
    return replace(animation, positions=positions, rotations=rotations, source=None, source_frames=None)
