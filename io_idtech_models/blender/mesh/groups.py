"""The weights of points in vertex groups, read through bmesh: the fastest of the ways that Blender offers."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter

import bmesh
import numpy as np
from numpy.typing import NDArray

from ..compat import Block


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
