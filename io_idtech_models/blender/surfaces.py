"""One mesh object to the surfaces of a file: corners to vertices, faces to triangles, in the source's order."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model.corners import (
    Corners,
    Triangles,
    Vertices,
    group_corners,
    match_triangles,
    with_degenerate,
)
from ..model.near import Near, near
from ..model.vertex import LATER, ModelSource, SharedPoints, Surface
from . import mesh as meshes
from . import names
from .compat import Block
from .cuts import cut_like_source, is_run, restore
from .materials import is_stand_in
from .normals import edited_corners
from .sampling import Samples
from .source import Place

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]


@dataclass(eq=False)
class Shape:
    """A mesh as export sees it: what stays the same in all frames."""

    topology: meshes.Topology
    uvs: NDArray[np.float32]  # (C, 2)
    numbers: Numbers  # (C,) source vertex or -1; in `near`, as all of these
    loose: Numbers  # (P,) source vertex of points that had no triangle, or -1
    faces: Numbers  # (faces,) source triangle or -1
    slots: NDArray[np.int32]  # (faces,) material slot
    normals: NDArray[np.float32]  # (C, 3) shown
    own: NDArray[np.bool_]  # (C,) chosen by the modeller
    corners: meshes.Ints  # (T, 3) triangles as corners
    corner_faces: meshes.Ints  # (T,) the face of each
    restored: dict[str, NDArray[Any]]  # numbers (T, 3) and uvs (T, 3, 2) of triangles that quads took corners from
    materials: list[Any]  # by slot, None in empty ones
    near: Near | None  # the part of the source that its numbers count in


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a mesh came from: its place in the source, and the frame of the source that its base shows."""

    source: ModelSource | None
    place: Place | None
    frame: int


def read_shape(
    block: Block, mesh: bpy.types.Mesh, own_mesh: bpy.types.Mesh | None, origin: Origin, normals: str
) -> Shape:
    """Read the unchanging part of a mesh: the object's own, or its evaluated one.

    `own_mesh`: the object's own mesh if it has the same topology: edits of normals show there.
    `normals`: SOURCE, or SHOWN, which makes every one the modeller's.
    """
    topology = meshes.topology(mesh)
    count = len(topology.corner_points)
    uvs = _read_uvs(block, mesh, count)
    part, numbers, loose, faces = _source_numbers(mesh, topology, origin)
    source = None if part is None else part.source
    own: NDArray[np.bool_] = np.full(count, normals == "SHOWN")
    if normals != "SHOWN" and source is not None and origin.place is not None and own_mesh is not None:
        own, lost = edited_corners(own_mesh, topology, numbers, faces, source, origin.frame)
        if lost:
            said = "corners whose faces changed keep the source's normals, more than 5 degrees from those shown"
            log.warning("'%s': %d %s", block.name, lost, said)
    slots = meshes.get_attribute(mesh, "material_index", "INT", "FACE")
    corners, corner_faces = cut_like_source(mesh, topology, numbers, source)
    unchanged = source is not None and is_run(numbers[corners], source)
    restored: dict[str, NDArray[Any]] = {}
    if source is not None and not unchanged:
        corners, restored = restore(corners, numbers, uvs, source)
    materials = _materials(block, mesh)
    slots = np.zeros(len(topology.face_starts), np.int32) if slots is None else slots
    slots = np.clip(slots, 0, max(len(materials) - 1, 0))  # beyond the last slot Blender shows the last
    plain = unchanged and not own.any()
    shown = np.zeros((count, 3), np.float32) if plain else meshes.corner_normals(mesh)
    return Shape(
        topology, uvs, numbers, loose, faces, slots, shown, own, corners, corner_faces, restored, materials, part
    )


def say_loose(block: Block, shape: Shape) -> None:
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
    uvs = meshes.corner_uvs(mesh)
    if uvs is not None:
        return uvs
    if count:
        log.warning("'%s' has no UV map: its texture coordinates are 0", block.name)
    return np.zeros((count, 2), np.float32)


def _source_numbers(
    mesh: bpy.types.Mesh, topology: meshes.Topology, origin: Origin
) -> tuple[Near | None, Numbers, Numbers, Numbers]:
    """Return the part of the source that a mesh is of, and in it the numbers of its corners, loose points and faces.

    (C,), (P,) and (faces,); -1 for new ones.
    """
    source, place = origin.source, origin.place
    sizes = len(topology.corner_points), topology.num_points, len(topology.face_starts)
    if place is None:
        corners, points, faces = (np.full(size, -1, np.int64) for size in sizes)
        return (None if source is None else near(source, corners[:0])), corners, points, faces
    kinds = ((meshes.CORNER_SOURCE, "CORNER"), (meshes.POINT_SOURCE, "POINT"), (meshes.FACE_SOURCE, "FACE"))
    found = [meshes.get_attribute(mesh, name, "INT", domain) for name, domain in kinds]
    stored = [np.zeros(n, np.int32) if a is None else a for a, n in zip(found, sizes, strict=True)]
    corner_numbers, point_numbers = (place.vertex_numbers(values) for values in stored[:2])
    used = np.zeros(topology.num_points, np.bool_)
    used[topology.corner_points] = True
    loose, triangles = np.where(used, -1, point_numbers), place.triangle_numbers(stored[2])
    if source is None:
        return None, corner_numbers, loose, triangles
    part = near(source, np.concatenate((corner_numbers, loose)))
    return part, part.own_vertices(corner_numbers), part.own_vertices(loose), part.own_triangles(triangles)


@dataclass(eq=False)
class Part:
    """The part of an object that becomes one surface: its corners grouped, its triangles in order."""

    vertices: Vertices
    triangles: Triangles
    uvs: NDArray[np.float32]  # (V, 2), or (T, 3, 2) where they belong to corners
    own: NDArray[np.bool_]  # (V,)
    slots: list[int]  # material slots whose shaders it has
    fans: tuple[Numbers, Numbers] | None = None  # corners (C,) and the vertex of each, whose normal is their mean

    @property
    def needs_normals(self) -> bool:
        """Tell whether some vertex takes the normal that Blender shows."""
        return bool(self.own.any() or (self.vertices.numbers < 0).any())

    def normals(self, shown: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vertices' normals (V, 3) of those that corners show, (C, 3)."""
        if self.fans is None:
            picked: NDArray[np.float32] = shown[np.maximum(self.vertices.corners, 0)]
            return picked
        corners, vertices = self.fans
        sums = [np.bincount(vertices, shown[corners, axis], len(self.own)) for axis in range(3)]
        return meshes.unit(np.stack(sums, axis=1).astype(np.float32))


def split(shape: Shape, positions: NDArray[np.float32], frames: NDArray[Any], splits: bool) -> list[Part]:
    """Split a mesh into surfaces, one per material slot that faces use; an imported one keeps its further slots.

    `positions` (F or 1, P, 3) and the `frames` (F,) of the source that they were decide between claims to a vertex.
    Without `splits` it is one surface with a vertex per point, and texture coordinates belong to its corners.
    """
    slots = len(shape.materials)
    source = None if shape.near is None else shape.near.source
    if not splits:
        every = np.arange(len(shape.corners))
        part = _part(shape, every, positions, frames, source, True, splits)
        part.slots = list(range(slots))
        return [_model_wide(part, shape)]
    used = np.unique(shape.slots).tolist() or [0]
    parts = []
    for nth, slot in enumerate(used):
        chosen = np.flatnonzero(shape.slots[shape.corner_faces] == slot)
        further = [s for s in range(slots) if s not in used] if nth == 0 and source is not None else []
        part = _part(shape, chosen, positions, frames, source, nth == 0, splits)
        part.slots = [s for s in (slot, *further) if s < slots]
        parts.append(_model_wide(part, shape))
    return parts


def _model_wide(part: Part, shape: Shape) -> Part:
    """Let a part's source numbers count in the whole source again."""
    if shape.near is not None:
        part.vertices.numbers = shape.near.vertices(part.vertices.numbers)
        part.triangles.numbers = shape.near.triangles(part.triangles.numbers)
    return part


def _part(
    shape: Shape,
    chosen: NDArray[Any],
    positions: NDArray[np.float32],
    frames: NDArray[Any],
    source: ModelSource | None,
    first: bool,
    splits: bool,
) -> Part:
    flat = shape.corners[chosen].ravel()
    corners = _corners(shape, chosen, flat, source, first)
    uvs, own = corners.uvs, corners.own
    if not splits:
        corners = _by_points(corners)

    def claims(points: Numbers, numbers: Numbers, places: Numbers) -> NDArray[np.float64]:
        return _agreement(points, numbers, corners.uvs[places], positions, frames, source)

    vertices = group_corners(corners, claims)
    of_triangles = vertices.of_corner[: len(flat)].reshape(-1, 3)
    wanted: NDArray[np.int32] = np.zeros((0, 3), np.int32)
    if source is not None:
        wanted = source.triangles if splits else _triangles_of_points(source)
    faces = shape.faces[shape.corner_faces[chosen]]
    matched = match_triangles(of_triangles, faces, vertices, wanted)
    if source is not None and not source.solid.all():
        matched = with_degenerate(matched, vertices, wanted, np.flatnonzero(~source.solid))
    firsts = vertices.corners
    vertices.corners = np.append(flat, np.full(len(corners.points) - len(flat), -1))[firsts]
    if splits:
        return Part(vertices, matched, uvs[firsts], own[firsts], [])
    of_corner = vertices.of_corner[: len(flat)]
    any_own = np.bincount(of_corner, own[: len(flat)], len(firsts)) > 0
    once = np.unique(flat, return_index=True)[1]  # a corner of a quad may be one of two triangles
    return Part(vertices, matched, _corner_uvs(matched, uvs, source), any_own, [], (flat[once], of_corner[once]))


def _corners(shape: Shape, chosen: NDArray[Any], flat: Numbers, source: ModelSource | None, first: bool) -> Corners:
    """Return the corners `flat` (C,) of the triangles `chosen`, and one for each vertex that has no triangle."""
    numbers, uvs = shape.numbers[flat], shape.uvs[flat]
    if shape.restored:
        numbers, uvs = (shape.restored[n][chosen].reshape(len(flat), -1) for n in ("numbers", "uvs"))
        numbers = numbers[:, 0]
    loose = np.flatnonzero(shape.loose >= 0) if first else np.zeros(0, np.int64)
    extra = len(loose)
    loose_uvs = np.zeros((extra, 2), np.float32)
    for part, places, indices in source.vertex_parts(shape.loose[loose]) if source is not None else ():
        if part.vertex_uvs is not None:
            loose_uvs[places] = part.vertex_uvs[indices]
    return Corners(
        np.concatenate((shape.topology.corner_points[flat].astype(np.int64), loose)),
        np.concatenate((numbers, shape.loose[loose])),
        np.concatenate((uvs, loose_uvs)),
        np.concatenate((shape.normals[flat], np.zeros((extra, 3), np.float32))),
        np.concatenate((shape.own[flat], np.zeros(extra, np.bool_))),
    )


def _by_points(corners: Corners) -> Corners:
    """Return corners of which those at one point make one vertex: the lowest of the source's that meet there."""
    none = np.iinfo(np.int64).max
    lowest = np.full(int(corners.points.max(initial=-1)) + 1, none)
    known = corners.numbers >= 0
    np.minimum.at(lowest, corners.points[known], corners.numbers[known])
    numbers = lowest[corners.points]
    return Corners(
        corners.points,
        np.where(numbers == none, -1, numbers),
        np.zeros_like(corners.uvs),
        np.broadcast_to(np.array([0.0, 0.0, 1.0], np.float32), corners.normals.shape),
        np.zeros_like(corners.own),
    )


def _triangles_of_points(source: ModelSource) -> NDArray[np.int32]:
    """Return the source's triangles (T, 3) with the lowest vertex of those that became one point: see `_by_points`."""
    points = source.shown_points[source.triangles]
    lowest = np.full(int(points.max(initial=-1)) + 1, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(lowest, points, source.triangles)
    return lowest[points]


def _corner_uvs(triangles: Triangles, uvs: NDArray[np.float32], source: ModelSource | None) -> NDArray[np.float32]:
    """Return the texture coordinates of triangles' corners (T, 3, 2): the source's where Blender was not shown them."""
    found = uvs[np.maximum(triangles.corners, 0)] if len(uvs) else np.zeros((len(triangles.corners), 3, 2), np.float32)
    back = np.flatnonzero(triangles.corners[:, 0] < 0)
    if len(back) and source is not None:
        found[back] = source.corner_uvs[triangles.numbers[back]]
    return found


def _agreement(
    points: Numbers,
    numbers: Numbers,
    uvs: NDArray[np.float32],
    positions: NDArray[np.float32],
    frames: NDArray[Any],
    source: ModelSource | None,
) -> NDArray[np.float64]:
    """Return in how many frames points (n,) stand where the vertices that they claim do; equal UVs add a half."""
    fit = np.zeros(len(points))
    for part, places, indices in source.vertex_parts(numbers) if source is not None else ():
        if part.vertex_uvs is not None:
            fit[places] += 0.5 * (part.vertex_uvs[indices] == uvs[places]).all(axis=1)
        for index, frame in enumerate(frames.tolist()):
            if frame >= 0:
                there = part.decoded_positions(slice(frame, frame + 1))[0, indices]
                row = positions[index if len(positions) > 1 else 0]
                fit[places] += (row[points[places]] == there).all(axis=1)
    return fit


def to_surface(
    name: str, part: Part, shape: Shape, samples: Samples, num_frames: int, shaders: list[str], scale: float
) -> Surface:
    """Return the surface of a part: its positions and normals in the world, in every frame."""
    assert samples.positions is not None
    transforms = samples.matrices
    moved = _moved(samples.positions, transforms, scale)
    points = np.ascontiguousarray(np.broadcast_to(moved, (num_frames, *moved.shape[1:])))
    normals = None
    if part.needs_normals:
        shown = samples.normals or [shape.normals]
        turned = [
            turned_normals(part.normals(shown[f % len(shown)]), transforms[f % len(transforms)])
            for f in range(max(len(shown), len(transforms)))
        ]
        normals = np.broadcast_to(np.stack(turned), (num_frames, len(part.own), 3))
    turned_over = [bool(np.linalg.det(m[:3, :3]) < 0) for m in transforms]
    mirrored = turned_over[0]
    if mirrored != all(turned_over) or mirrored != any(turned_over):
        log.warning("'%s' is mirrored in some frames only: there its faces show their backs", name)
    triangles = part.triangles.vertices
    uvs = part.uvs
    if mirrored:
        triangles = triangles[:, ::-1]
        uvs = uvs[:, ::-1] if uvs.ndim == 3 else uvs
    numbers = part.vertices.numbers.astype(np.int32)
    return Surface(
        name,
        LATER,
        np.ascontiguousarray(triangles, np.int32),
        np.ascontiguousarray(uvs),
        shaders,
        normals,
        source_vertices=numbers,
        source_triangles=part.triangles.numbers,
        own_normals=part.own,
        mirrored=mirrored,
        decoders={"positions": SharedPoints(points, part.vertices.points)},
    )


def _moved(local: NDArray[np.float32], transforms: list[NDArray[np.float64]], scale: float) -> NDArray[np.float32]:
    """Return positions (F, V, 3) in the world; untouched bit for bit where nothing moves them."""
    if len(transforms) == 1 and scale == 1.0 and np.array_equal(transforms[0], np.eye(4)):
        return local
    stacked = np.stack(transforms)
    stacked[:, :3] *= scale
    if (stacked == np.eye(4)).all():
        return local
    turned = np.matmul(local.astype(np.float64), np.swapaxes(stacked[:, :3, :3], 1, 2))
    return np.asarray(turned + stacked[:, None, :3, 3], np.float32)


def turned_normals(normals: NDArray[np.float32], transform: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return normals (V, 3) in the world: by the inverse transpose, so that they stay upright on stretched objects."""
    if np.array_equal(transform[:3, :3], np.eye(3)):
        return normals
    a, b, c = transform[:3, :3].T
    cofactors = np.stack((np.cross(b, c), np.cross(c, a), np.cross(a, b)))
    turned = normals.astype(np.float64) @ cofactors * np.sign(np.linalg.det(transform[:3, :3]) or 1.0)
    lengths = np.linalg.norm(turned, axis=1)[:, None]
    return np.asarray(turned / np.where(lengths > 0, lengths, 1.0), np.float32)


def surface_name(block: Block, part: Part, shape: Shape, nth: int, keep_suffix: bool) -> str:
    """Return the name of an object's surface: of the further ones of several materials with the material's behind."""
    name = names.file_name_of(block, keep_suffix)
    if nth == 0 or not part.slots:
        return name
    shader = shaders_of(part, shape, keep_suffix)[0]
    ending = shader.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0] or str(part.slots[0])
    return names.fit(f"{names.fit(name, 40)}-{ending}")


def shaders_of(part: Part, shape: Shape, keep_suffix: bool) -> list[str]:
    """Return the shader names of a part's material slots, in order; what stands in for a missing one is none."""
    materials = [shape.materials[slot] for slot in part.slots]
    materials = [m for m in materials if m is None or not is_stand_in(m)]
    return ["" if m is None else names.file_name_of(m, keep_suffix) for m in materials]
