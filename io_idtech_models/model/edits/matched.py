"""Animations and models made to suit a skeleton or a format that is not theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..joint_scales import Scales
from ..skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh
from ..transforms import conjugate, rotate
from ..weights.table import Weights, normal_turns

UNNAMED = "joint{:03d}"  # of a file that knows joints by number
ROOT = "origin"  # the joint that is made where a model has none
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0]])


def by_number(animation: Animation) -> Animation:
    """Return an animation whose joints are known by their numbers alone."""
    return replace(animation, joint_names=[""] * len(animation.joint_names))


def named(animation: Animation) -> Animation:
    """Return an animation whose joints all have names: those without are called by their numbers."""
    if all(animation.joint_names):
        return animation
    return replace(animation, joint_names=[n or UNNAMED.format(i) for i, n in enumerate(animation.joint_names)])


def by_name(animation: Animation, names: list[str]) -> Animation:
    """Return an animation whose joints are in the order of some names; itself where these are not just its own."""
    own = animation.joint_names
    if own == names or sorted(own) != sorted(names) or len(set(own)) < len(own):
        return animation
    order = np.array([own.index(name) for name in names])
    place = np.argsort(order)
    parents = np.where(animation.parents[order] >= 0, place[animation.parents[order]], -1).astype(np.int32)
    if (parents >= np.arange(len(parents))).any():
        return animation
    scales = animation.scales
    return replace(
        animation,
        joint_names=list(names),
        parents=parents,
        positions=animation.positions[:, order],
        rotations=animation.rotations[:, order],
        source=None,  # its facts are in the order of its file
        source_frames=None,
        source_joints=None,
        scales=None if scales is None else Scales(scales.values[:, order], scales.ways[order], scales.inherited),
        traits=None if animation.traits is None else animation.traits.of(order),
        lengths=None if animation.lengths is None else animation.lengths[order],
    )


def moved_by_root(model: SkeletalModel) -> tuple[SkeletalModel, int]:
    """Return a model whose vertices are all moved by joints, and how many hang on the first for that."""
    count = sum(int((mesh.weights.counts == 0).sum()) for mesh in model.meshes)
    if not count or any(mesh.weights.still is None for mesh in model.meshes):
        return model, 0
    skeleton = model.skeleton
    if not skeleton.num_joints:
        skeleton = Skeleton([ROOT], np.full(1, -1, np.int32), np.zeros((1, 3)), UPRIGHT.copy())
    meshes = [_moved_by(mesh, skeleton) for mesh in model.meshes]
    return replace(model, skeleton=skeleton, meshes=meshes), count


def _moved_by(mesh: SkinnedMesh, skeleton: Skeleton) -> SkinnedMesh:
    table, bare = mesh.weights, mesh.weights.counts == 0
    if table.still is None or not bare.any():
        return mesh
    bind = skeleton.bind
    ways = table.still[bare].astype(np.float64) - bind.positions[0]
    offsets = rotate(conjugate(bind.rotations[0]), ways).astype(np.float32)
    own, first = int(bare.sum()), len(table.joints)
    starts, counts = table.starts.astype(np.int64), table.counts.astype(np.int64)
    starts[bare], counts[bare] = first + np.arange(own), 1
    weights = Weights(
        starts, counts, np.append(table.joints, np.zeros(own, np.int64)),
        np.append(table.factors, np.ones(own, np.float32)), np.concatenate((table.offsets, offsets)),
    )  # fmt: skip
    normals = mesh.normals
    if normals is not None:
        world = rotate(normal_turns(table, bind.rotations), normals)
        normals = rotate(conjugate(normal_turns(weights, bind.rotations)), world).astype(np.float32)
    return replace(mesh, weights=weights, normals=normals)
