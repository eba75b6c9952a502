"""Levels of detail of surfaces of MDM and MDS: new ones, or none; see `model.lod.collapse`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....model.lod import collapse
from ....model.skeletal import Skeleton, SkinnedMesh, Weights, skin
from .surface import SkinnedSurface

NEAREST = 4096  # vertices of a surface, beyond which the nearest of each takes too long to find


def draw_all(surface: SkinnedSurface, mesh: SkinnedMesh, skeleton: Skeleton) -> None:
    """Let games draw all of a surface from afar; `mesh` says where its vertices stand."""
    near = _places(mesh, skeleton) if mesh.num_vertices <= NEAREST else None
    surface.collapse = collapse.identity(mesh.num_vertices, near)
    surface.header["min_lod"] = mesh.num_vertices


def with_lod(surface: SkinnedSurface, mesh: SkinnedMesh, skeleton: Skeleton) -> SkinnedSurface:
    """Return a surface whose vertices are ordered so that the last can go first; `mesh` says where they stand."""
    ordered = collapse.simplify(_places(mesh, skeleton), mesh.uvs, None, mesh.triangles)
    new_of = np.empty(len(ordered.order), np.int64)
    new_of[ordered.order] = np.arange(len(ordered.order))
    counts = surface.vertices["num_weights"].astype(np.int64)
    nothing = np.zeros(0, np.float32)
    table = Weights(np.cumsum(counts) - counts, counts, nothing, nothing, nothing.reshape(0, 3))
    entries = table.of(ordered.order).entries()[1]
    surface.header["min_lod"] = ordered.min_lod
    return SkinnedSurface(
        surface.header,
        surface.vertices[ordered.order],
        surface.weights[entries],
        new_of[surface.triangles].astype(np.int32),
        ordered.collapse.astype(np.int32),
        surface.bone_refs,
    )


def _places(mesh: SkinnedMesh, skeleton: Skeleton) -> NDArray[np.float64]:
    return skin(mesh.weights, skeleton.bind.positions, skeleton.bind.rotations)
