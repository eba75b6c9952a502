"""A mesh as export sees it: topology, texture coordinates, and which elements of the source its own are."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.source import Meshes, Near, near
from ..compat import Block
from ..provenance import Place
from . import attributes
from .diagonals import cut_like_source, is_run, restore
from .edited_normals import Traces, base_positions, edited_corners
from .uv_maps import UvMaps

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bare:
    """What an object's own mesh shows, which is what a modeller edits."""

    points: NDArray[np.float32]  # (P, 3)
    normals: NDArray[np.float32]  # (C, 3)


@dataclass(eq=False)
class Shape:
    """A mesh as export sees it: what stays the same in all frames."""

    topology: attributes.Topology
    uvs: NDArray[np.float32]  # (C, 2)
    numbers: Numbers  # (C,) source vertex or -1; in `near`, as all of these
    loose: Numbers  # (P,) source vertex of points that had no triangle, or -1
    faces: Numbers  # (faces,) source triangle or -1
    slots: NDArray[np.int32]  # (faces,) material slot
    normals: NDArray[np.float32]  # (C, 3) shown
    own: NDArray[np.bool_]  # (C,) chosen by the modeller
    corners: attributes.Ints  # (T, 3) triangles as corners
    corner_faces: attributes.Ints  # (T,) the face of each
    restored: dict[str, NDArray[Any]]  # numbers (T, 3) and uvs (T, 3, 2) of triangles that quads took corners from
    materials: list[Any]  # by slot, None in empty ones
    near: Near | None  # the part of the source that its numbers count in
    mesh: Any  # that was read; one that is evaluated is Blender's as long as the scene shows it
    base: Bare | None = None  # of a mesh whose points were moved
    lost: int = 0  # corners that are known, and said, to keep other normals than those shown
    uv_maps: UvMaps = field(default_factory=UvMaps)  # of formats that hold several sets of texture coordinates

    @property
    def shows_normals(self) -> bool:
        """Tell whether corners are new, or have normals of their own."""
        return bool(self.own.any() or (self.numbers < 0).any())


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a mesh came from: its place in the source, the frame of that which its base shows, and is it `still`.

    That is a model of one frame, of which Blender shows all.
    """

    source: Meshes | None
    place: Place | None
    frame: int
    still: bool


def read_shape(
    block: Block, mesh: bpy.types.Mesh, own_mesh: bpy.types.Mesh | None, origin: Origin, normals: str
) -> Shape:
    """Read the unchanging part of a mesh: the object's own, or its evaluated one.

    `own_mesh`: the object's own mesh if it has the same topology: edits of normals show there.
    `normals`: SOURCE, or SHOWN, which makes every one the modeller's.
    """
    topology = attributes.topology(mesh)
    count = len(topology.corner_points)
    uvs = _read_uvs(block, mesh, count)
    part, numbers, loose, faces = _source_numbers(mesh, topology, origin)
    source = None if part is None else part.source
    own: NDArray[np.bool_] = np.full(count, normals == "SHOWN")
    before, lost = None, 0
    if normals != "SHOWN" and source is not None and origin.place is not None and own_mesh is not None:
        before = base_positions(own_mesh, topology, numbers, source, origin.frame)
        own, lost = edited_corners(own_mesh, Traces(topology, numbers, faces), source, before, origin.still)
        if lost:
            said = "corners whose faces changed keep the source's normals, more than 5 degrees from those shown"
            log.warning("'%s': %d %s", block.name, lost, said)
    slots = attributes.get_attribute(mesh, "material_index", "INT", "FACE")
    corners, corner_faces = cut_like_source(mesh, topology, numbers, source)
    unchanged = source is not None and is_run(numbers[corners], source)
    restored: dict[str, NDArray[Any]] = {}
    if source is not None and not unchanged:
        corners, restored = restore(corners, numbers, uvs, source)
    materials = _materials(block, mesh)
    slots = np.zeros(len(topology.face_starts), np.int32) if slots is None else slots
    slots = np.clip(slots, 0, max(len(materials) - 1, 0))  # beyond the last slot Blender shows the last
    plain = unchanged and not own.any() and before is None and not _is_torn(topology, numbers)
    shown = np.zeros((count, 3), np.float32) if plain else attributes.corner_normals(mesh)
    base = None
    if before is not None and own_mesh is not None:
        base = Bare(attributes.positions(own_mesh), shown if own_mesh is mesh else attributes.corner_normals(own_mesh))
    return Shape(
        topology, uvs, numbers, loose, faces, slots, shown, own,
        corners, corner_faces, restored, materials, part, mesh, base, lost,
    )  # fmt: skip


def _is_torn(topology: attributes.Topology, numbers: Numbers) -> bool:
    """Tell whether a source vertex stands at several points, of which all but one become new vertices."""
    point = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    point[numbers] = topology.corner_points  # of its corners the last
    return not np.array_equal(point[numbers], topology.corner_points)


def warn_of_loose(block: Block, shape: Shape) -> None:
    """Name an object whose vertices are left out: those without a triangle that had one, or are new."""
    used = shape.loose >= 0
    used[shape.topology.corner_points] = True
    if not used.all():
        log.warning("'%s': %d loose vertices are left out, no triangle uses them", block.name, int((~used).sum()))


def _materials(block: Block, mesh: Block) -> list[Any]:
    """Return the materials that a mesh shows, by slot: its own, which modifiers may have set, or the object's."""
    slots = list(block.material_slots)
    own = [None if material is None else material.original for material in mesh.materials]
    return [
        slots[i].material if i < len(slots) and slots[i].link == "OBJECT" else own[i] if i < len(own) else None
        for i in range(max(len(slots), len(own)))
    ]


def _read_uvs(block: Block, mesh: bpy.types.Mesh, count: int) -> NDArray[np.float32]:
    uvs = attributes.corner_uvs(mesh)
    if uvs is not None:
        return uvs
    if count:
        log.warning("'%s' has no UV map: its texture coordinates are 0, unwrap it (UV > Unwrap)", block.name)
    return np.zeros((count, 2), np.float32)


def _source_numbers(
    mesh: bpy.types.Mesh, topology: attributes.Topology, origin: Origin
) -> tuple[Near | None, Numbers, Numbers, Numbers]:
    """Return the part of the source that a mesh is of, and in it the numbers of its corners, loose points and faces.

    (C,), (P,) and (faces,); -1 for new ones.
    """
    source, place = origin.source, origin.place
    sizes = len(topology.corner_points), topology.num_points, len(topology.face_starts)
    if place is None:
        corners, points, faces = (np.full(size, -1, np.int64) for size in sizes)
        return (None if source is None else near(source, corners[:0])), corners, points, faces
    kinds = ((attributes.CORNER_SOURCE, "CORNER"), (attributes.POINT_SOURCE, "POINT"), (attributes.FACE_SOURCE, "FACE"))
    found = [attributes.get_attribute(mesh, name, "INT", domain) for name, domain in kinds]
    stored = [np.zeros(n, np.int32) if a is None else a for a, n in zip(found, sizes, strict=True)]
    corner_numbers, point_numbers = (place.vertex_numbers(values) for values in stored[:2])
    used = np.zeros(topology.num_points, np.bool_)
    used[topology.corner_points] = True
    loose, triangles = np.where(used, -1, point_numbers), place.triangle_numbers(stored[2])
    if source is None:
        return None, corner_numbers, loose, triangles
    part = near(source, np.concatenate((corner_numbers, loose)))
    return part, part.own_vertices(corner_numbers), part.own_vertices(loose), part.own_triangles(triangles)
