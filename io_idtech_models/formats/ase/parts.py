"""What a model shows of a mesh: its vertices as codes, and which rows of the file each of them comes from.

A surface is what of an object wears one material. A vertex is a point with a texture coordinate and a normal, as Doom 3
makes them (`ConvertASEToModelSurfaces`, dhewm3, which joins those that nearly agree, too).

Positions are coded in millionths of a unit, normals as three numbers of 21 bits, millionths too. Normals are those of
the file, turned by the rows of its `*NODE_TM` as in Doom 3; where a mesh has none they are smooth all over, for that is
what Doom 3 makes: it reads no smoothing groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import smooth_normals
from ..common.static import MILLION, encode_normals
from .file import Ase, Mesh, Object
from .materials import placed, shaders_of
from .sets import further_corners, set_names

STEP = np.float32(1e-6)
Codes = NDArray[np.int64]


@dataclass(eq=False)
class Part:
    """What of an object wears one material: T faces, V vertices."""

    number: int  # of the object, among those with a mesh
    shader: str
    faces: NDArray[np.int64]  # (T,) which of the mesh's
    triangles: NDArray[np.int32]  # (T, 3)
    points: NDArray[np.int64]  # (V,)
    tverts: NDArray[np.int64]  # (V,); of a mesh without any: 0
    codes: Codes  # (1, V, 4)
    uvs: NDArray[np.float32]  # (V, 2)
    cverts: NDArray[np.int64]  # (V,); of a mesh without any: 0
    colors: NDArray[np.float32] | None  # (V, 4); None: the mesh has none
    uv_name: str = ""  # of the set that is drawn
    further: dict[str, NDArray[np.float32]] = field(default_factory=dict)  # (T, 3, 2) of corners, by name


def meshed(ase: Ase) -> list[Object]:
    """Return the objects that have a mesh."""
    return [shape for shape in ase.objects if shape.mesh is not None]


def parts_of(ase: Ase, shape: Object, number: int) -> list[Part]:
    """Return the parts of an object, in the order in which its faces name them; one of a mesh without faces."""
    mesh = shape.mesh or Mesh()
    ids = np.unique(mesh.part_ids).tolist()
    shaders = [shaders_of(ase.materials, shape, part) for part in ids] or [shaders_of(ase.materials, shape, 0)]
    of_face = (
        np.array([shaders.index(shader) for shader in shaders])[np.searchsorted(ids, mesh.part_ids)]
        if ids
        else (np.zeros(0, np.int64))
    )
    used, first = np.unique(of_face, return_index=True)
    wanted = used[np.argsort(first)].tolist() or [0]
    normals = encode_normals(_normals(shape, mesh)).astype(np.int64).reshape(-1, 3)
    places = np.rint(mesh.points.values * MILLION).astype(np.int64)
    material = ase.materials[shape.ref] if shape.ref < len(ase.materials) else None
    shown = placed(material, mesh.tverts.values)
    return [
        _part(mesh, number, shaders[which], np.flatnonzero(of_face == which), (normals, places, shown))
        for which in wanted
    ]


def _part(
    mesh: Mesh, number: int, shader: str, faces: NDArray[np.int64], rows: tuple[Codes, Codes, NDArray[np.float32]]
) -> Part:
    """Return what some faces of a mesh show; `rows` are the normals of its corners, its points, its coordinates."""
    normals, places, shown = rows
    tfaces = np.zeros_like(mesh.faces) if mesh.tfaces is None else mesh.tfaces
    cfaces = np.zeros_like(mesh.faces) if mesh.cfaces is None else mesh.cfaces
    columns = (mesh.faces[faces], tfaces[faces], normals[faces], cfaces[faces])
    corners = np.stack([column.ravel() for column in columns], axis=1)
    _, first, inverse = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    vertices = corners[first[order]]
    codes = np.concatenate((places[vertices[:, 0]], vertices[:, 2:3]), axis=1)[None]
    uvs = np.zeros((len(vertices), 2), np.float32) if mesh.tfaces is None else shown[vertices[:, 1]]
    triangles = rank[inverse.reshape(-1)].reshape(-1, 3).astype(np.int32)
    return Part(
        number, shader, faces, triangles, vertices[:, 0], vertices[:, 1], np.ascontiguousarray(codes), uvs,
        vertices[:, 3], None if mesh.cfaces is None else _colors(mesh, vertices[:, 3]),
        set_names(mesh)[0], further_corners(mesh, faces),
    )  # fmt: skip


def _colors(mesh: Mesh, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the colours (n, 4) of some rows (n,); games take no opacity from the file."""
    found = np.ones((len(rows), 4), np.float32)
    found[:, :3] = np.clip(mesh.colors.values[rows], 0.0, 1.0)
    return found


def _normals(shape: Object, mesh: Mesh) -> NDArray[np.float64]:
    """Return the normals of all corners, (T * 3, 3), of any length."""
    if mesh.normals is None:
        smooth = smooth_normals(mesh.points.values.astype(np.float32)[None], mesh.faces)[0]
        corners: NDArray[np.float64] = smooth[mesh.faces.ravel()].astype(np.float64)
        return corners
    return _along(mesh.normals.values, shape.turn)


def unturned(shape: Object, normals: NDArray[Any]) -> NDArray[np.float64]:
    """Return normals (n, 3) as a file has them whose `*NODE_TM` turns them."""
    found = normals.astype(np.float64)
    if np.array_equal(shape.turn, np.eye(3)) or abs(float(steady.determinants(shape.turn[None])[0])) < 1e-9:
        return found
    back: NDArray[np.float64] = steady.inverses(shape.turn[None])[0]
    turned = _along(found, back)
    turned /= np.maximum(steady.lengths(turned), 1e-20)[:, None]
    return turned


def _along(vectors: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors (n, 3) as sums of rows (3, 3)."""
    found: NDArray[np.float64] = vectors[:, 0, None] * rows[0]
    found = found + vectors[:, 1, None] * rows[1] + vectors[:, 2, None] * rows[2]
    return found
