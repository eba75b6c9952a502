"""Has a modeller edited a normal? What Blender stores can't tell: deleting one face rewrites a fifth of it.

So import stores the normal that each corner showed, and a corner counts as edited only where its point still has the
faces that import gave it and shows another normal now. Where the base positions moved, what counts is what Blender
shows of the stored normals on a copy of the mesh that was moved likewise.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model.vertex import ModelSource
from . import mesh as meshes
from .compat import Block

Bools = NDArray[np.bool_]
Numbers = NDArray[np.int64]
SAME = float(np.cos(np.radians(0.5)))  # closer than that is Blender's own rounding
FLAT = 1e-4  # a triangle's height above its longest side, as a part of it
LOST = float(np.cos(np.radians(5.0)))  # farther than that is worth a word where faces changed


def edited_corners(
    mesh: Block, topology: meshes.Topology, numbers: Numbers, faces: Numbers, source: ModelSource, frame: int
) -> tuple[Bools, int]:
    """Tell which corners (C,) show a normal that the modeller chose.

    `numbers` (C,) and `faces` (faces,) are source numbers or -1; `frame` is the source frame that the base shows.
    Also returns how many corners of changed faces show a normal more than 5 degrees from the source's, which holds.
    """
    stored = meshes.get_attribute(mesh, meshes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    nothing = np.zeros(len(numbers), np.bool_)
    if stored is None or not len(stored):
        return nothing, 0
    shown = meshes.corner_normals(mesh)
    # An element that import did not make has no stored normal; where faces cancel out Blender shows none.
    told = (numbers >= 0) & stored.any(axis=1) & shown.any(axis=1)
    angle = np.einsum("ci,ci->c", shown, stored)
    if not (told & (angle < SAME)).any():
        return nothing, 0
    before = _base_positions(mesh, topology, numbers, source, frame)
    if before is not None:
        expected = _moved_normals(mesh, np.where(told[:, None], stored, shown), before)
        angle = np.einsum("ci,ci->c", shown, expected)
    flat = _flat_points(meshes.positions(mesh), topology)
    if before is not None:
        flat |= _flat_points(before, topology)
    intact = intact_points(topology, numbers, faces, source) & ~flat
    intact = intact[topology.corner_points]
    return told & intact & (angle < SAME), int((told & ~intact & (angle < LOST)).sum())


def _flat_points(positions: NDArray[np.float32], topology: meshes.Topology) -> Bools:
    """Tell which points (P,) touch a triangle without area: any edit of the mesh changes normals there."""
    whole = np.flatnonzero(np.diff(topology.face_starts, append=len(topology.corner_points)) == 3)
    corners = topology.corner_points[topology.face_starts[whole][:, None] + np.arange(3)]
    a, b, c = (positions[corners[:, i]].astype(np.float64) for i in range(3))
    longest = np.max([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    flat = np.zeros(topology.num_points, np.bool_)
    flat[corners[np.linalg.norm(np.cross(b - a, c - a), axis=1) <= FLAT * longest]] = True
    return flat


def intact_points(topology: meshes.Topology, numbers: Numbers, faces: Numbers, source: ModelSource) -> Bools:
    """Tell which points (P,) have just the faces that their source vertices have, all triangles."""
    points = topology.corner_points
    face_of = np.repeat(np.arange(len(faces)), np.diff(topology.face_starts, append=len(points)))
    whole = np.bincount(face_of, minlength=len(faces)) == 3
    known = np.flatnonzero(whole & (faces >= 0))
    corners = topology.face_starts[known][:, None] + np.arange(3)
    same = (np.sort(numbers[corners], axis=1) == np.sort(source.triangles[faces[known]], axis=1)).all(axis=1)
    good = np.zeros(len(faces), np.bool_)
    good[known[same]] = True
    bad = np.bincount(points[~good[face_of]], minlength=topology.num_points) > 0
    # All corners of the point come from one point of import, and none of that point's is missing.
    known = np.flatnonzero(numbers >= 0)
    origins = source.shown_points[numbers[known]]
    low = np.full(topology.num_points, np.iinfo(np.int64).max)
    high = np.full(topology.num_points, -1, np.int64)
    np.minimum.at(low, points[known], origins)
    np.maximum.at(high, points[known], origins)
    uses = np.bincount(source.shown_points[source.triangles[source.solid]].ravel(), minlength=1)
    wanted = uses[np.minimum(np.maximum(high, 0), len(uses) - 1)]
    intact: Bools = ~bad & (low == high) & (wanted == np.bincount(points, minlength=topology.num_points))
    return intact


def _base_positions(
    mesh: Block, topology: meshes.Topology, numbers: Numbers, source: ModelSource, frame: int
) -> NDArray[np.float32] | None:
    """Return where the source has the points (P, 3) in its base frame, or None if none of them moved."""
    present = meshes.positions(mesh)
    before = present.copy()
    for part, places, indices in source.vertex_parts(numbers):
        before[topology.corner_points[places]] = part.decoded_positions(slice(frame, frame + 1))[0, indices]
    return None if np.array_equal(before, present) else before


def _moved_normals(mesh: Block, normals: NDArray[np.float32], before: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what corners would show if `normals` (C, 3) had been set while the points stood at `before` (P, 3)."""
    present = meshes.positions(mesh)
    copy = mesh.copy()
    try:
        copy.attributes["position"].data.foreach_set("vector", before.ravel())
        copy.update()
        copy.normals_split_custom_set(normals)
        copy.attributes["position"].data.foreach_set("vector", present.ravel())
        copy.update()
        return meshes.corner_normals(copy)
    finally:
        # Nothing refers to it: else Blender would look through the whole .blend for who does, once for each mesh.
        bpy.data.meshes.remove(copy, do_unlink=False, do_ui_user=False)
