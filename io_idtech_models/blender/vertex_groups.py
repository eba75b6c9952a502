"""Weights as vertex groups, written and read through bmesh: the fastest of the ways that Blender offers.

Blender holds weights from 0 to 1, one for each vertex and group, and its armature modifier divides by their sum. What a
file has beyond that stays in the source.
"""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any

import bmesh
import numpy as np
from numpy.typing import NDArray

from ..model.skeletal import Weights
from .compat import Block


def summed(weights: Weights, vertices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Return point, joint and weight (n,) for the given vertices (P,) of a file: one for each joint of a point."""
    of_vertex = np.full(len(weights.starts), -1, np.int64)
    of_vertex[vertices] = np.arange(len(vertices))
    owners, entries = weights.entries()
    used = of_vertex[owners] >= 0
    points, joints = of_vertex[owners[used]], weights.joints[entries[used]].astype(np.int64)
    span = int(joints.max(initial=0)) + 1
    keys = points * span + joints
    order = np.argsort(keys, kind="stable")  # quick: they are nearly in order
    points, joints, keys = points[order], joints[order], keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    factors = weights.factors[entries[used]][order].astype(np.float64)
    sums = np.bincount(np.cumsum(first) - 1, factors, int(first.sum()))
    return points[first], joints[first], sums.astype(np.float32)


def write_groups(
    block: Block, group_names: list[str], points: NDArray[Any], groups: NDArray[Any], weights: NDArray[np.float32]
) -> None:
    """Give an object vertex groups, and its points (n,) a weight (n,) in a group (n,) each."""
    for name in group_names:
        block.vertex_groups.new(name=name)
    if not len(points):
        return
    mesh = bmesh.new()
    try:
        mesh.from_mesh(block.data, face_normals=False, vertex_normals=False)
        layer = mesh.verts.layers.deform.verify()
        mesh.verts.ensure_lookup_table()
        verts, last = mesh.verts, -1
        for point, group, weight in zip(points.tolist(), groups.tolist(), weights.tolist(), strict=True):
            if point != last:
                entry, last = verts[point][layer], point
            entry[group] = weight
        mesh.to_mesh(block.data)
    finally:
        mesh.free()


def read_groups(mesh_data: Block) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return point, group number and weight (n,) of all points of a mesh, point by point."""
    mesh = bmesh.new()
    try:
        mesh.from_mesh(mesh_data, face_normals=False, vertex_normals=False)
        layer = mesh.verts.layers.deform.active
        kind, entries = bmesh.types.BMDeformVert, [] if layer is None else list(map(itemgetter(layer), mesh.verts))
        counts = np.fromiter(map(len, entries), np.int64, len(entries))
        total = int(counts.sum())
        # Cheaper than pairs of both, and no list stays: Python's collector would look at thousands.
        groups = np.fromiter(chain.from_iterable(map(kind.keys, entries)), np.int64, total)
        weights = np.fromiter(chain.from_iterable(map(kind.values, entries)), np.float32, total)
    finally:
        mesh.free()
    return np.repeat(np.arange(len(counts)), counts), groups, weights
