"""Custom normals as a .blend stores them: two numbers for each corner, in a space that Blender makes of the faces.

Where faces are joined in odd ways (four at one edge, two back to back) each version of Blender makes another space, and
shows other normals of the same numbers. Whoever has edited a normal has changed its numbers, or what is sharp there:
import notes both, and what is shown counts as edited only where they are others now.

From 4.5 on the numbers are an attribute that scripts can read. Before, they are told by a copy of the mesh whose faces
are torn apart and all brought into one shape: what that shows of them is the same in all versions.
"""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ..compat import NORMAL_CODES, Block, read_normal_codes
from . import attributes

Bools = NDArray[np.bool_]
CODE = "idtech_normal_code"  # per corner: the two numbers as one, or (a vector) what the torn copy shows of them
SHARP = "idtech_sharp"  # per corner: 1 the edge that begins there is sharp, 2 the face is flat; left out where none is
FOLDED = -0.999  # cosine between two faces that lie back to back
SAME = 1e-5  # between two unit vectors; one step of the numbers is 1e-4


def note(mesh: Block) -> None:
    """Note the numbers that import has set, once the mesh has its normals."""
    sharp = _sharpness(mesh)
    if sharp.any():
        attributes.set_attribute(mesh, SHARP, "INT", "CORNER", sharp)
    if NORMAL_CODES:
        codes = read_normal_codes(mesh)
        if codes is not None:
            attributes.set_attribute(mesh, CODE, "INT", "CORNER", codes)
    elif mesh.has_custom_normals and _is_odd(
        attributes.corner_points(mesh)[attributes.triangulated(mesh)[0]], attributes.positions(mesh)
    ):
        attributes.set_attribute(mesh, CODE, "FLOAT_VECTOR", "CORNER", _torn_normals(mesh))


def changed(mesh: Block) -> Bools:
    """Tell which corners (C,) have other numbers than import set, as far as that is known, or another sharpness."""
    return _other_codes(mesh) | _other_sharpness(mesh)


def _other_codes(mesh: Block) -> Bools:
    codes = attributes.get_attribute(mesh, CODE, "INT", "CORNER")
    if codes is not None and NORMAL_CODES:
        present = read_normal_codes(mesh)
        return np.ones(len(codes), np.bool_) if present is None else present != codes
    shown = attributes.get_attribute(mesh, CODE, "FLOAT_VECTOR", "CORNER")
    if shown is not None:
        return np.asarray(np.abs(_torn_normals(mesh) - shown).max(axis=1) > SAME)
    return np.ones(len(mesh.loops), np.bool_)


def _sharpness(mesh: Block) -> NDArray[np.int32]:
    """Return of each corner (C,) whether the edge that begins there is sharp, 1, and whether its face is flat, 2."""
    edges = attributes.get_attribute(mesh, ".corner_edge", "INT", "CORNER")
    found = np.zeros(len(mesh.loops), np.int32)
    sharp, flat = (attributes.get_attribute(mesh, f"sharp_{n}", "BOOLEAN", n.upper()) for n in ("edge", "face"))
    if sharp is not None and edges is not None:
        found |= sharp[edges]
    if flat is not None and len(flat):
        sizes = np.diff(attributes.face_starts(mesh), append=len(mesh.loops))
        found |= np.repeat(flat, sizes).astype(np.int32) * 2
    return found


def _other_sharpness(mesh: Block) -> Bools:
    """Tell which corners (C,) stand where sharpness is not as import left it: at such an edge, or on such a face."""
    noted = attributes.get_attribute(mesh, SHARP, "INT", "CORNER")
    present = _sharpness(mesh)
    other: Bools = present != (0 if noted is None else noted)
    if not other.any():
        return other
    points, starts = attributes.corner_points(mesh), attributes.face_starts(mesh)
    following = np.arange(1, len(points) + 1)
    following[np.append(starts[1:], len(points)) - 1] = starts
    touched = np.zeros(len(mesh.vertices), np.bool_)
    touched[points[other]] = touched[points[following[other]]] = True
    return np.asarray(touched[points])


def _is_odd(triangles: NDArray[Any], points: attributes.Floats) -> bool:
    """Tell whether triangles (T, 3) of points (P, 3) are joined so that versions of Blender may think differently."""
    if not len(triangles):
        return False
    starts, ends = triangles.ravel().astype(np.int64), np.roll(triangles, -1, axis=1).ravel().astype(np.int64)
    edges = np.minimum(starts, ends) * len(points) + np.maximum(starts, ends)
    order = np.argsort(edges, kind="stable")
    joined = np.flatnonzero(edges[order][1:] == edges[order][:-1])
    one, other = order[joined], order[joined + 1]
    if (starts[one] == starts[other]).any() or (np.diff(joined) == 1).any():  # turned over, or more than two
        return True
    a, b, c = (points[triangles[:, corner]].astype(np.float64) for corner in range(3))
    upright = steady.crossed(b - a, c - a)
    areas = steady.lengths(upright)
    facing = upright / np.where(areas > 0, areas, 1.0)[:, None]
    folded = steady.dots(facing[one // 3], facing[other // 3]) < FOLDED
    return bool(folded.any() or (areas == 0).any())


def _torn_normals(mesh: Block) -> attributes.Floats:
    """Return what the numbers of each corner show, (C, 3), where all faces are apart and have one shape."""
    torn: Block = bpy.data.meshes.new("torn")
    work = bmesh.new()
    try:
        work.from_mesh(mesh, face_normals=False, vertex_normals=False)
        bmesh.ops.split_edges(work, edges=work.edges[:])
        work.to_mesh(torn)
        topology = attributes.topology(torn)
        step = (np.arange(len(torn.loops)) - topology.face_starts[topology.corner_faces]).astype(np.float32)
        places = np.zeros((topology.num_points, 3), np.float32)
        places[topology.corner_points, 0] = step  # on a parabola: no three in a line
        places[topology.corner_points, 1] = step * step
        attributes.write_positions(torn, places)
        for name in ("sharp_face", "sharp_edge"):  # flat faces show no numbers
            if name in torn.attributes:
                torn.attributes.remove(torn.attributes[name])
        torn.update()
        return attributes.corner_normals(torn)
    finally:
        work.free()
        bpy.data.meshes.remove(torn)
