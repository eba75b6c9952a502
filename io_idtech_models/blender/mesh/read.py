"""A mesh as export sees it: topology, texture coordinates, and which elements of the source its own are.

Faces become triangles as the source had them: diagonals of quads and n-gons, and corners that quads took away.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits import affine
from ...model.edits.corners import restored_numbers, source_cuts
from ...model.source import Meshes, Near, near
from ...reporting import plural
from ..compat import Block
from ..provenance import Place
from . import attributes
from .edited_normals import Traces, base_positions, edited_corners, touched_corners, whole_faces
from .uv_maps import UvMaps

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]
HARD = math.cos(math.radians(5.0))  # normals of faces that are farther from their mean than that part at an edge
FLAT = 0.9994  # of a cosine: triangles that two degrees part lie flat


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
    claimed: Numbers  # (C,) the same before it was settled which of several points that vertex is
    touched: NDArray[np.bool_]  # (C,) of these: somebody may have chosen the normal since import
    loose: Numbers  # (P,) source vertex of points that had no triangle, or -1
    faces: Numbers  # (faces,) source triangle or -1
    slots: NDArray[np.int32]  # (faces,) material slot
    normals: NDArray[np.float32]  # (C, 3) shown
    own: NDArray[np.bool_]  # (C,) chosen by the modeller
    corners: attributes.Ints  # (T, 3) triangles as corners
    corner_faces: attributes.Ints  # (T,) the face of each
    restored: dict[str, NDArray[Any]]  # numbers (T, 3) and uvs (T, 3, 2) of triangles that quads took corners from
    materials: list[Any]  # by slot, None in empty ones
    wore_first: bool  # faces of the object's own mesh wear its first slot
    near: Near | None  # the part of the source that its numbers count in
    mesh: Any  # that was read; one that is evaluated is Blender's as long as the scene shows it
    base: Bare | None = None  # of a mesh whose points were moved
    lost: int = 0  # corners that are known, and said, to keep other normals than those shown
    uv_maps: UvMaps = field(default_factory=UvMaps)  # of formats that hold several sets of texture coordinates
    # Points (2, n, 3) of triangles that fill the gap of others of the source: as they are shown, and are written.
    recut: attributes.Ints = field(default_factory=lambda: np.zeros((2, 0, 3), np.int32))

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
    traces = Traces(topology, numbers, faces)
    traces, doubtful = _settled(mesh if own_mesh is None else own_mesh, traces, source, origin.frame)
    claimed, numbers = numbers, traces.numbers
    touched: NDArray[np.bool_] = np.ones(count, np.bool_)
    if own_mesh is not None and source is not None and _is_torn(topology, claimed):
        touched = touched_corners(own_mesh, Traces(topology, claimed, faces), source, origin.frame)
    own: NDArray[np.bool_] = np.full(count, normals == "SHOWN")
    before, lost = None, 0
    if normals != "SHOWN" and source is not None and origin.place is not None and own_mesh is not None:
        before = base_positions(own_mesh, topology, numbers, source, origin.frame)
        own, lost = edited_corners(own_mesh, traces, source, before, origin.still)
        if lost:
            said = "corners whose faces changed keep the source's normals, more than 5 degrees from those shown"
            log.warning("'%s': %d %s", block.name, lost, said)
    slots = attributes.get_attribute(mesh, "material_index", "INT", "FACE")
    seen = mesh if normals == "SHOWN" or own_mesh is None else own_mesh
    kept = _faces_in_shape(seen, topology, numbers, origin, part)
    kept = kept & (np.bincount(topology.corner_faces, doubtful, len(kept)) == 0)
    corners, corner_faces = cut_like_source(mesh, topology, numbers, source, kept)
    unchanged = source is not None and is_run(numbers[corners], source)
    restored: dict[str, NDArray[Any]] = {}
    as_shown = corners
    if source is not None and not unchanged:
        corners, restored = restore(corners, corner_faces, traces, uvs, source, kept[corner_faces])
    materials = _materials(block, mesh)
    slots = np.zeros(len(topology.face_starts), np.int32) if slots is None else slots
    slots = np.clip(slots, 0, max(len(materials) - 1, 0))  # beyond the last slot Blender shows the last
    plain = unchanged and not own.any() and before is None and not _is_torn(topology, numbers)
    shown = np.zeros((count, 3), np.float32) if plain else attributes.corner_normals(mesh)
    base = None
    if before is not None and own_mesh is not None:
        base = Bare(attributes.positions(own_mesh), shown if own_mesh is mesh else attributes.corner_normals(own_mesh))
    return Shape(
        topology, uvs, numbers, claimed, touched, loose, faces, slots, shown, own,
        corners, corner_faces, restored, materials, _wears_first(block.data), part, mesh, base, lost,
        recut=_recut(topology, as_shown, corners, corner_faces),
    )  # fmt: skip


def _recut(
    topology: attributes.Topology, shown: attributes.Ints, written: attributes.Ints, faces: attributes.Ints
) -> attributes.Ints:
    """Return the points (2, n, 3) of triangles that are not written as shown; of quads nobody sees where they are cut.

    The triangles are corners (T, 3), their faces (T,).
    """
    if shown is written:
        return np.zeros((2, 0, 3), np.int32)
    points = topology.corner_points[np.stack((shown, written))]
    moved = (np.sort(points[0], axis=1) != np.sort(points[1], axis=1)).any(axis=1)
    return points[:, moved & (topology.face_sizes[faces] == 3)]


def warn_of_cuts(block: Block, shape: Shape, positions: NDArray[np.float32]) -> None:
    """Name triangles that are not where they are shown: they fill the gap of two of the source's, which are written.

    Of pairs that lie flat at all `positions` (F, P, 3) that does not show.
    """
    if not shape.recut.size:
        return
    a, b, c = (positions[:, shape.recut[..., nth]].astype(np.float64) for nth in range(3))  # (F, 2, n, 3)
    normals = steady.directions(steady.crossed(b - a, c - a))
    count = int((steady.dots(normals[:, 0], normals[:, 1]) < FLAT).any(axis=0).sum())
    if count:
        said = "as the file cuts them, not as shown: turned edges lose vertices of seams, move their UVs to keep them"
        log.warning("'%s': %s written %s", block.name, plural(count, "triangle"), said)


def _settled(
    mesh: bpy.types.Mesh, traces: Traces, source: Meshes | None, frame: int
) -> tuple[Traces, NDArray[np.bool_]]:
    """Return the traces without numbers that Blender copied to new points, and which corners (C,) had or may have such.

    What cuts faces gives points in their middle the numbers of their corners. A source vertex that stands at several
    places is the one that did not move; where all of these did nobody knows, before what is shown is compared. Faces
    that were torn off as they are have no such points: none else came from their triangle.
    """
    topology, numbers = traces.topology, traces.numbers
    if source is None or not _is_torn(topology, numbers):
        return traces, np.zeros(len(numbers), np.bool_)
    alone = np.bincount(traces.faces + 1)[traces.faces + 1] == 1
    uncut = (alone & whole_faces(traces, source))[topology.corner_faces]
    known, limit = numbers >= 0, int(numbers.max()) + 1
    shown = attributes.positions(mesh)[topology.corner_points]
    lead = np.zeros(limit, np.int64)
    lead[numbers[known]] = np.flatnonzero(known)
    several, at_home = np.zeros(limit, np.bool_), np.zeros(limit, np.bool_)
    several[numbers[known & (shown != shown[lead[numbers]]).any(axis=1)]] = True
    there = np.zeros(len(numbers), np.bool_)
    for part, corners, own in source.vertex_parts(numbers):
        there[corners] = (part.decoded_positions(slice(frame, frame + 1))[0, own] == shown[corners]).all(axis=1)
    at_home[numbers[there]] = True
    elsewhere = known & several[numbers] & ~there & ~uncut
    return replace(traces, numbers=np.where(elsewhere & at_home[numbers], -1, numbers)), elsewhere


def _is_torn(topology: attributes.Topology, numbers: Numbers) -> bool:
    """Tell whether a source vertex stands at several points, of which all but one become new vertices."""
    point = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    if not len(point):
        return False
    point[numbers] = topology.corner_points  # of its corners the last
    return not np.array_equal(point[numbers], topology.corner_points)


def hard_points(shape: Shape) -> NDArray[np.bool_]:
    """Tell which points (P,) were several of the source's vertices, and show normals that part.

    A file that has one normal a point has the mean of theirs. Blender's mesh must still be what was read.
    """
    points = shape.topology.corner_points
    first = np.full(shape.topology.num_points, -1, np.int64)
    first[points] = shape.numbers
    merged = np.zeros(len(first), np.bool_)
    merged[points[shape.numbers != first[points]]] = True
    if not merged.any():
        return merged
    shown = shape.normals if shape.normals.any() else attributes.corner_normals(shape.mesh)
    sums = np.stack([np.bincount(points, axis, len(first)) for axis in shown.T], axis=1)
    hard = np.zeros(len(first), np.bool_)
    hard[points[steady.dots(shown, steady.directions(sums)[points]) < HARD]] = True
    return hard & merged


def has_gone(shape: Shape, place: Place | None) -> bool:
    """Tell whether a mesh has no faces, and is no surface of the source of which Blender was shown none either."""
    if len(shape.corners):
        return False
    if place is None or place.surface < 0 or shape.near is None:
        return True
    whole = shape.near.whole
    first, end = whole.first_triangles[place.surface : place.surface + 2].tolist()
    return bool(whole.solid[first:end].any())


def warn_of_loose(block: Block, shape: Shape) -> None:
    """Name an object whose vertices are left out: those without a triangle that had one, or are new."""
    used = shape.loose >= 0
    used[shape.topology.corner_points] = True
    if not used.all():
        log.warning("'%s': %d loose vertices are left out, no triangle uses them", block.name, int((~used).sum()))


def warn_of_layers(block: Block, colors: bool = False, further_uvs: bool = False) -> None:
    """Name UV maps but the one that is rendered, if a file has one, and colours, of which it has one or none."""
    uvs = attributes.rendered_uv_map(block.data)
    layers = [f"UV map '{layer.name}'" for layer in block.data.uv_layers if layer != uvs and not further_uvs]
    kept = attributes.rendered_colors(block.data) if colors else None
    layers += [f"colours '{layer.name}'" for layer in block.data.color_attributes if layer != kept]
    if layers:
        log.warning("'%s' has more than a file holds, left out: %s", block.name, ", ".join(layers))
    mixed = attributes.mixed_colors(block.data) if colors else 0
    if mixed:
        text = "'%s': %s whose corners have several colours get their mean: split the faces (Mesh > Split) to keep them"
        log.warning(text, block.name, plural(mixed, "vertex", "vertices"))


def _materials(block: Block, mesh: Block) -> list[Any]:
    """Return the materials that a mesh shows, by slot: its own, which modifiers may have set, or the object's."""
    slots = list(block.material_slots)
    own = [None if material is None else material.original for material in mesh.materials]
    return [
        slots[i].material if i < len(slots) and slots[i].link == "OBJECT" else own[i] if i < len(own) else None
        for i in range(max(len(slots), len(own)))
    ]


def _wears_first(mesh: Block) -> bool:
    """Tell whether faces of a mesh wear its first slot."""
    slots = attributes.get_attribute(mesh, "material_index", "INT", "FACE")
    return slots is None or bool((slots == 0).any())


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


def _faces_in_shape(
    mesh: bpy.types.Mesh, topology: attributes.Topology, numbers: Numbers, origin: Origin, part: Near | None
) -> NDArray[np.bool_]:
    """Tell which faces (faces,) have the source's shape: whose points did not move, or with all around them by one map.

    Of others Blender's own diagonals are those that fit. A triangle has none.
    """
    everywhere = np.ones(len(topology.face_sizes), np.bool_)
    if part is None or origin.place is None or not (topology.face_sizes > 3).any():
        return everywhere
    before = base_positions(mesh, topology, numbers, part.source, origin.frame)
    if before is None:
        return everywhere
    present = attributes.positions(mesh)
    triangles = topology.corner_points[attributes.triangulated(mesh)[0]]
    slack = max([affine.rounding(before), *(surface.step for surface in part.source.surfaces)])
    carried = affine.maps_at(before, present, triangles, np.arange(len(present)), slack)[1]
    moved = ~((before == present).all(axis=1) | carried)
    bent = np.bincount(topology.corner_faces, moved[topology.corner_points], len(everywhere)) > 0
    return np.asarray((topology.face_sizes == 3) | ~bent)


def cut_like_source(
    mesh: bpy.types.Mesh,
    topology: attributes.Topology,
    numbers: Numbers,
    source: Meshes | None,
    kept: NDArray[np.bool_],
) -> tuple[attributes.Ints, attributes.Ints]:
    """Triangulate, larger faces that are `kept` (faces,) along the diagonals that the source had where it had any."""
    corners, faces = attributes.triangulated(mesh)
    sizes = np.where(kept, topology.face_sizes, 0)
    if source is None or not len(source.triangles) or not (sizes > 3).any():
        return corners, faces
    corners = corners.copy()
    starts = topology.face_starts[np.flatnonzero(sizes == 4)]
    halves = starts[:, None, None] + np.array([[(0, 1, 2), (0, 2, 3)], [(0, 1, 3), (1, 2, 3)]]).reshape(4, 3)
    # Seams of texture coordinates don't count.
    places: Numbers = np.where(numbers >= 0, source.places[np.maximum(numbers, 0)], -1)
    wanted = source.places[source.triangles]
    cuts = source_cuts(places[halves.reshape(-1, 3)], wanted).reshape(-1, 4)
    place = np.searchsorted(faces, np.flatnonzero(sizes == 4))
    score = np.stack((cuts[:, 0] * 1 + cuts[:, 1], cuts[:, 2] * 1 + cuts[:, 3]), axis=1)
    better = np.flatnonzero(score.max(axis=1) > 0)
    chosen = np.where((score[:, 1] > score[:, 0])[:, None], [2, 3], [0, 1])
    for half in range(2):
        corners[place[better] + half] = halves[better, chosen[better, half]]
    larger = np.flatnonzero(sizes > 4)
    known = set(map(tuple, np.sort(wanted, axis=1).tolist())) if len(larger) else set()
    # Looked up for all together: for a single number numpy may copy all that it is looked up in.
    found = np.searchsorted(faces, larger), topology.face_starts[larger], sizes[larger]
    for at, first, count in zip(*(part.tolist() for part in found), strict=True):
        ears = _source_ears(places[first : first + count].tolist(), known)
        if ears is not None:
            corners[at : at + count - 2] = first + np.array(ears)
    return corners, faces


def _source_ears(places: list[int], known: set[tuple[int, ...]]) -> list[tuple[int, int, int]] | None:
    """Cut an n-gon into triangles of its corners, all of `known` places (sorted); None if it can't be done.

    `places` are those of its corners, which are numbered from 0.
    """
    loop, ears = list(range(len(places))), []

    def triple(at: int) -> tuple[int, int, int]:
        return loop[at - 1], loop[at], loop[(at + 1) % len(loop)]

    def is_known(at: int) -> bool:
        return tuple(sorted(places[corner] for corner in triple(at))) in known

    cuts = [is_known(at) for at in range(len(loop))]
    while len(loop) > 3:
        if True not in cuts:
            return None
        ear = cuts.index(True)
        ears.append(triple(ear))
        del loop[ear], cuts[ear]
        for at in (ear - 1, ear % len(loop)):  # its neighbours alone are others now
            cuts[at] = is_known(at)
    return [*ears, (loop[0], loop[1], loop[2])]


def restore(
    corners: attributes.Ints,
    faces: attributes.Ints,
    traces: Traces,
    uvs: NDArray[np.float32],
    source: Meshes,
    kept: NDArray[np.bool_],
) -> tuple[attributes.Ints, dict[str, NDArray[Any]]]:
    """Return triangles as corners, and the numbers and texture coordinates that they had before quads took some.

    Only of those that are `kept` (T,), and where the coordinates shown are those of the vertex that the corner claims:
    edited ones stay. `faces` (T,) are those that the triangles (T, 3) are of.
    """
    own = traces.numbers[corners]
    vertex_uvs = [s.vertex_uvs for s in source.surfaces if s.vertex_uvs is not None]
    if not len(source.triangles) or len(vertex_uvs) < len(source.surfaces):
        return corners, {}
    known = np.concatenate(vertex_uvs)
    unedited = kept & (uvs[corners] == known[own]).all(axis=(1, 2))
    solid = np.where(source.solid, np.cumsum(source.solid) - 1, -1)
    of_face = np.where(traces.faces >= 0, solid[np.maximum(traces.faces, 0)], -1)
    restored, origin, changed = restored_numbers(
        np.where(unedited[:, None], own, -1), source.places, source.triangles[source.solid], faces, of_face[faces]
    )
    if not changed.any():
        return corners, {}
    shown = uvs[corners]
    shown[changed] = known[restored[changed]]
    corners = corners.ravel()[origin]
    return corners, {"numbers": np.where(changed[:, None], restored, own), "uvs": shown}


def is_run(numbers: Numbers, source: Meshes) -> bool:
    """Tell whether triangles (T, 3) are just a run of the source's: the usual case, and quickly found out."""
    if not numbers.size or numbers[0, 0] < 0:
        return False
    surface = int(np.searchsorted(source.first_vertices, numbers[0, 0], side="right")) - 1
    base, end = source.first_triangles[surface : surface + 2].tolist()
    return np.array_equal(numbers, source.triangles[base:end][source.solid[base:end]])
