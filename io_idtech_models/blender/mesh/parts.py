"""An object's mesh in the parts that become surfaces of a file: vertices and triangles, in the source's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.corners import (
    Corners,
    Triangles,
    Vertices,
    group_corners,
    match_triangles,
    source_cuts,
    with_degenerate,
)
from ...model.source import Meshes
from . import attributes
from .read import Numbers, Shape


@dataclass(eq=False)
class Part:
    """The part of an object that becomes one surface: its corners grouped, its triangles in order."""

    vertices: Vertices
    triangles: Triangles
    uvs: NDArray[np.float32]  # (V, 2), or (T, 3, 2) where they belong to corners
    own: NDArray[np.bool_]  # (V,)
    slots: list[int]  # material slots whose shaders it has
    further: dict[str, NDArray[np.float32]]  # (T, 3, 2) of corners: texture coordinates that games don't draw
    corners: attributes.Ints  # (T, 3) of the mesh; -1: Blender was not shown it
    copies: Numbers | None = None  # (V,) of which of the source's vertices new ones are whole faces' copies, or -1
    fans: tuple[Numbers, Numbers] | None = None  # corners (C,) and the vertex of each, whose normal is their mean
    sources: Numbers | None = None  # (T, 3) the source's vertex of each corner, where vertices may be several of these

    @property
    def needs_normals(self) -> bool:
        """Tell whether some vertex takes the normal that Blender shows."""
        return bool(self.own.any() or (self.vertices.numbers < 0).any())

    def normals(self, shown: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vertices' normals (F, V, 3) of those that corners show, (F, C, 3)."""
        if not shown.shape[1]:  # vertices without a triangle, where nothing else is left
            return np.broadcast_to(np.array([0.0, 0.0, 1.0], np.float32), (len(shown), len(self.own), 3)).copy()
        if self.fans is None:
            return shown.take(np.maximum(self.vertices.corners, 0), axis=1)
        corners, vertices = self.fans
        sums = np.empty((len(shown), len(self.own), 3), np.float32)
        for frame, normals in zip(sums, shown, strict=True):
            for axis in range(3):
                frame[:, axis] = np.bincount(vertices, normals[corners, axis], len(self.own))
        return attributes.unit(sums.reshape(-1, 3)).reshape(sums.shape)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a mesh shows, to decide which corners make one vertex, and who of several gets one of the source's."""

    positions: NDArray[np.float32]  # (F or 1, P, 3) in the object
    frames: NDArray[Any]  # (F,) the source's frame that each was, or -1
    normals: NDArray[np.float32]  # (C, 3), or (C, K, 3) in several frames: of edited and new corners


def split(shape: Shape, evidence: Evidence, uv_splits_vertices: bool) -> list[Part]:
    """Split a mesh into surfaces, one per material slot that faces use; an imported one keeps its further slots.

    Without `uv_splits_vertices` it is one surface with a vertex per point; texture coordinates belong to corners.
    """
    slots = len(shape.materials)
    if not uv_splits_vertices:
        every = np.arange(len(shape.corners))
        part = _part(shape, every, evidence, True, uv_splits_vertices)
        first = _worn_instead(shape)
        part.slots = [*first, *(slot for slot in range(slots) if slot not in first)]
        return [_model_wide(part, shape)]
    used = np.unique(shape.slots).tolist() or [0]
    parts = []
    for nth, slot in enumerate(used):
        chosen = np.flatnonzero(shape.slots[shape.corner_faces] == slot)
        further = [s for s in range(slots) if s not in used] if nth == 0 and shape.near is not None else []
        part = _part(shape, chosen, evidence, nth == 0, uv_splits_vertices)
        part.slots = [s for s in (slot, *further) if s < slots]
        parts.append(_model_wide(part, shape))
    return parts


def _worn_instead(shape: Shape) -> list[int]:
    """Return the slot that most faces wear where some wore the first, which a game wears, and modifiers dress these."""
    worn, counts = np.unique(shape.slots, return_counts=True)
    ranked = [slot for slot in worn[np.argsort(-counts, kind="stable")].tolist() if slot < len(shape.materials)]
    dressed = [slot for slot in ranked if shape.materials[slot] is not None]
    return dressed[:1] if shape.wore_first and 0 not in ranked else []


def _model_wide(part: Part, shape: Shape) -> Part:
    """Let a part's source numbers count in the whole source again."""
    if shape.near is not None:
        part.vertices.numbers = shape.near.vertices(part.vertices.numbers)
        part.triangles.numbers = shape.near.triangles(part.triangles.numbers)
        if part.copies is not None:
            part.copies = shape.near.vertices(part.copies)
        if part.sources is not None:
            part.sources = shape.near.vertices(part.sources.ravel()).reshape(-1, 3)
    return part


def _part(
    shape: Shape,
    chosen: NDArray[Any],
    evidence: Evidence,
    first: bool,
    uv_splits_vertices: bool,
) -> Part:
    source = None if shape.near is None else shape.near.source
    flat = shape.corners[chosen].ravel()
    corners = _corners(shape, chosen, evidence, first)
    uvs, own = corners.uvs, corners.own
    if not uv_splits_vertices:
        corners = _by_points(corners)

    def claims(points: Numbers, numbers: Numbers, places: Numbers) -> NDArray[np.float64]:
        return _agreement(points, numbers, corners.uvs[places], evidence, source)

    vertices = group_corners(corners, claims)
    of_triangles = vertices.of_corner[: len(flat)].reshape(-1, 3)
    wanted: NDArray[np.int32] = np.zeros((0, 3), np.int32)
    if source is not None:
        wanted = source.triangles if uv_splits_vertices else _triangles_of_points(source)
    faces = shape.faces[shape.corner_faces[chosen]]
    matched = match_triangles(of_triangles, faces, vertices, wanted)
    if source is not None and not source.solid.all():
        matched = with_degenerate(matched, vertices, wanted, np.flatnonzero(~source.solid))
    firsts = vertices.corners
    vertices.corners = np.append(flat, np.full(len(corners.points) - len(flat), -1))[firsts]
    if uv_splits_vertices:
        shown = np.append(flat, -1)[matched.corners].astype(np.int32)
        further = {name: _taken(values, shown) for name, values in shape.uv_maps.further.items()}
        copies, own = _copies(shape, chosen, vertices), own[firsts]
        if copies is not None:
            own = np.where(copies >= 0, _touched(shape, flat, vertices), own)
        return Part(vertices, matched, uvs[firsts], own, [], further, shown, copies)
    of_corner = vertices.of_corner[: len(flat)]
    any_own = np.bincount(of_corner, own[: len(flat)], len(firsts)) > 0
    once = np.unique(flat, return_index=True)[1]  # a corner of a quad may be one of two triangles
    fans, none = (flat[once], of_corner[once]), np.zeros((0, 3), np.int32)
    copies, numbers = _copies(shape, chosen, vertices), shape.numbers[flat]
    if copies is not None:
        any_own = np.where(copies >= 0, _touched(shape, flat, vertices), any_own)
        numbers = np.where(copies[of_corner] >= 0, shape.claimed[flat], numbers)
    sources = np.append(numbers, -1)[matched.corners]
    return Part(vertices, matched, _corner_uvs(matched, uvs, source), any_own, [], {}, none, copies, fans, sources)


def _copies(shape: Shape, chosen: NDArray[Any], vertices: Vertices) -> Numbers | None:
    """Return of which of the source's vertices new ones (V,) are copies, -1 of others: all their faces were copied."""
    new = (vertices.numbers < 0) & (vertices.corners >= 0)
    if shape.near is None or not new.any():
        return None
    corners = shape.corners[chosen]
    cut = ~source_cuts(shape.claimed[corners], shape.near.source.triangles)
    beside = np.zeros(shape.topology.num_points, np.bool_)
    beside[shape.topology.corner_points[corners[cut]]] = True
    new &= ~beside[vertices.points]
    return np.where(new, shape.claimed[vertices.corners], -1) if new.any() else None


def _touched(shape: Shape, flat: Numbers, vertices: Vertices) -> NDArray[np.bool_]:
    """Tell of which vertices (V,) somebody may have chosen the normal of one of the corners, `flat` (C,)."""
    return np.bincount(vertices.of_corner[: len(flat)], shape.touched[flat], len(vertices.points)) > 0


def _taken(uvs: NDArray[np.float32], corners: attributes.Ints) -> NDArray[np.float32]:
    """Return the texture coordinates (..., 2) of some corners, 0 of those that are not there (-1)."""
    found: NDArray[np.float32] = np.append(uvs, np.zeros((1, 2), np.float32), axis=0)[corners]
    return found


def _corners(shape: Shape, chosen: NDArray[Any], evidence: Evidence, first: bool) -> Corners:
    """Return the corners (C,) of the triangles `chosen`, and in the first part one for each vertex without any."""
    source = None if shape.near is None else shape.near.source
    flat = shape.corners[chosen].ravel()
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
        np.concatenate((evidence.normals[flat], np.zeros((extra, *evidence.normals.shape[1:]), np.float32))),
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
        np.broadcast_to(np.array([0.0, 0.0, 1.0], np.float32), (len(corners.points), 3)),
        np.zeros_like(corners.own),
    )


def _triangles_of_points(source: Meshes) -> NDArray[np.int32]:
    """Return the source's triangles (T, 3) with the lowest vertex of those that became one point: see `_by_points`."""
    points = source.shown_points[source.triangles]
    lowest = np.full(int(points.max(initial=-1)) + 1, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(lowest, points, source.triangles)
    return lowest[points]


def _corner_uvs(triangles: Triangles, uvs: NDArray[np.float32], source: Meshes | None) -> NDArray[np.float32]:
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
    evidence: Evidence,
    source: Meshes | None,
) -> NDArray[np.float64]:
    """Return in how many frames points (n,) stand where the vertices that they claim do; equal UVs add a half."""
    fit = np.zeros(len(points))
    for part, places, indices in source.vertex_parts(numbers) if source is not None else ():
        if part.vertex_uvs is not None:
            fit[places] += 0.5 * (part.vertex_uvs[indices] == uvs[places]).all(axis=1)
        for index, frame in enumerate(evidence.frames.tolist()):
            if frame >= 0:
                there = part.decoded_positions(slice(frame, frame + 1))[0, indices]
                row = evidence.positions[index if len(evidence.positions) > 1 else 0]
                fit[places] += (row[points[places]] == there).all(axis=1)
    return fit


def turned_normals(normals: NDArray[np.float32], transforms: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return normals (F, V, 3) in the world, where transforms (F, 4, 4) put them; either may be one for all frames.

    By the inverse transpose, so that they stay upright on stretched objects.
    """
    axes = transforms[:, :3, :3]
    if (axes == np.eye(3)).all():
        return normals
    upright = steady.cofactors(axes) * np.where(steady.determinants(axes) < 0, -1.0, 1.0)[:, None, None]
    turned = steady.applied(upright[:, None], normals)
    lengths = steady.lengths(turned)[..., None]
    return np.asarray(turned / np.where(lengths > 0, lengths, 1.0), np.float32)
