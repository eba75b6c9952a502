"""Meshes as whole arrays: made through attributes, read through attributes, never validated.

`mesh.validate()` deletes duplicate and degenerate triangles, which real models have; indices are checked by the codecs.
Buffers must have Blender's own types (float32, int32): another type is hundreds of times slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ..compat import Block
from ..provenance import FIRST_NUMBER

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

# Where an element came from: number in the source + 1, so that Blender's 0 for new elements means "new"; and where the
# model's numbers begin.
CORNER_SOURCE, POINT_SOURCE, FACE_SOURCE = "idtech_corner", "idtech_point", "idtech_face"
SHOWN_NORMAL = "idtech_normal"  # per corner: what Blender showed after import
NEAR = math.cos(math.radians(0.5))  # Blender holds a normal closer than that, where it can
UV_MAP = "UVMap"  # what import calls the set of texture coordinates that games draw, if it is the only one
SAME_COLOR = 0.5 / 255  # of a part of it, which files hold as a byte
COLORS = "Color"  # what import calls a file's colours of vertices
FIELDS = {"INT": ("value", np.int32, 1), "FLOAT_VECTOR": ("vector", np.float32, 3), "BOOLEAN": ("value", np.bool_, 1)}


def make(name: str, positions: Floats, triangles: Ints, uvs: Floats) -> Block:
    """Return a new mesh of points (P, 3), triangles (T, 3) and corner texture coordinates (3 T, 2), all in order."""
    mesh: Block = bpy.data.meshes.new(name)
    count = 3 * len(triangles)
    mesh.vertices.add(len(positions))
    if len(positions):
        mesh.attributes["position"].data.foreach_set("vector", positions.ravel())
    mesh.loops.add(count)
    mesh.polygons.add(len(triangles))
    if count:
        mesh.attributes[".corner_vert"].data.foreach_set("value", triangles.ravel())
        mesh.polygons.foreach_set("loop_start", np.arange(0, count, 3, dtype=np.int32))
    layer = mesh.uv_layers.new(name=UV_MAP, do_init=False)
    if count:
        layer.uv.foreach_set("vector", uvs.ravel())
    return mesh


def set_attribute(mesh: Block, name: str, kind: str, domain: str, values: NDArray[Any]) -> None:
    """Store one value per element of a domain (POINT, CORNER, FACE)."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != (kind, domain):
        mesh.attributes.remove(attribute)
        attribute = None
    field, dtype, _ = FIELDS[kind]
    if attribute is None:
        attribute = mesh.attributes.new(name, kind, domain)
    if values.size:
        attribute.data.foreach_set(field, np.ascontiguousarray(values, dtype).ravel())


def number(
    mesh: Block, first: int, triangles: Ints, own: tuple[Ints, Ints], points: NDArray[Any], shown: NDArray[Any]
) -> None:
    """Note on corners, loose points and faces which element of the source each was.

    `first` is where the model's numbers begin, see `provenance.new_first_number`; `own` are the source's numbers of the
    vertices, (V,), and of all `triangles` (T, 3), of which `shown` (n,) are in the mesh; `points` (P,) are the vertices
    that its points stand for.
    """
    vertices, faces = own
    flat = triangles[shown].ravel()
    loose = np.ones(len(vertices), np.bool_)
    loose[flat] = False
    mesh[FIRST_NUMBER] = first
    numbers = vertices + np.int32(first + 1)
    set_attribute(mesh, CORNER_SOURCE, "INT", "CORNER", numbers[flat])
    set_attribute(mesh, POINT_SOURCE, "INT", "POINT", np.where(loose, numbers, 0)[points])
    set_attribute(mesh, FACE_SOURCE, "INT", "FACE", faces[shown] + np.int32(first + 1))


def show_colors(mesh: Block, colors: Floats) -> None:
    """Give points colours (P, 4) from 0 to 1, which vertex painting edits."""
    made = mesh.color_attributes.new(COLORS, "BYTE_COLOR", "POINT")
    if colors.size:
        made.data.foreach_set("color_srgb", np.ascontiguousarray(colors, np.float32).ravel())


def point_colors(mesh: Block) -> Floats | None:
    """Return the colours of points, (P, 4), of the layer that is rendered: where corners have some their mean."""
    layer = rendered_colors(mesh)
    if layer is None:
        return None
    colors = _colors_of(layer)
    return colors if layer.domain == "POINT" else _mean_colors(mesh, colors)


def mixed_colors(mesh: Block) -> int:
    """Return at how many points corners have several colours, in the layer that is rendered."""
    layer = rendered_colors(mesh)
    if layer is None or layer.domain == "POINT" or not len(mesh.loops):
        return 0
    colors, points = _colors_of(layer), corner_points(mesh)
    off = np.abs(colors - _mean_colors(mesh, colors)[points]).max(axis=1) > SAME_COLOR
    return len(np.unique(points[off]))


def rendered_colors(mesh: Block) -> Block | None:
    """Return the colours that are rendered, or None: the first where none is chosen, as after joining bare meshes."""
    layers = mesh.color_attributes
    return layers[max(layers.render_color_index, 0)] if layers.render_color_index < len(layers) and layers else None


def _colors_of(layer: Block) -> Floats:
    values = np.empty(4 * len(layer.data), np.float32)
    if values.size:
        layer.data.foreach_get("color_srgb", values)
    return values.reshape(-1, 4)


def _mean_colors(mesh: Block, colors: Floats) -> Floats:
    """Return the colours of points, (P, 4), of those of corners, (C, 4); white without any."""
    points, count = corner_points(mesh), len(mesh.vertices)
    uses = np.bincount(points, minlength=count)[:, None]
    sums = np.stack([np.bincount(points, colors[:, part], count) for part in range(4)], axis=1)
    return np.where(uses > 0, sums / np.maximum(uses, 1), 1.0).astype(np.float32)


def get_attribute(mesh: Block, name: str, kind: str, domain: str) -> NDArray[Any] | None:
    """Return an attribute's values, (n,) or (n, 3); None where the mesh has none of that kind and domain."""
    attribute = mesh.attributes.get(name)
    if attribute is None or (attribute.data_type, attribute.domain) != (kind, domain):
        return None
    field, dtype, width = FIELDS[kind]
    values: NDArray[Any] = np.empty(len(attribute.data) * width, dtype)
    if values.size:
        attribute.data.foreach_get(field, values)
    return values.reshape(-1, width) if width > 1 else values


def show_normals(mesh: Block, corner_points: Ints, normals: Floats) -> Floats:
    """Make corners show the given normals (C, 3) as Blender's own kind, which turns with the surface.

    Returns those that are shown then, (C, 3).

    One normal for every corner of a point is the faster call. Blender takes the arc cosine of what it is given, so
    that a length wrong by a thousandth (the engines' own normals are) would turn a normal by degrees. Where faces lie
    back to back the fan of a corner has no direction of its own to turn from: its edges are made sharp.
    """
    if not len(normals):
        return normals
    normals = unit(normals)
    per_point = np.zeros((len(mesh.vertices), 3), np.float32)
    per_point[corner_points] = normals
    if np.array_equal(per_point[corner_points], normals):
        per_point[~per_point.any(axis=1)] = (0.0, 0.0, 1.0)
        mesh.normals_split_custom_set_from_vertices(per_point)
    else:
        mesh.normals_split_custom_set(normals)
    shown = corner_normals(mesh)
    off = steady.dots(shown, normals) < NEAR
    if off.any():
        _sharpen(mesh, np.flatnonzero(off) // 3)
        mesh.normals_split_custom_set(normals)
        shown = corner_normals(mesh)
    return shown


def _sharpen(mesh: Block, triangles: NDArray[Any]) -> None:
    """Make the edges of triangles sharp."""
    edges = np.empty(len(mesh.loops), np.int32)
    mesh.attributes[".corner_edge"].data.foreach_get("value", edges)
    sharp = get_attribute(mesh, "sharp_edge", "BOOLEAN", "EDGE")
    if sharp is None:
        sharp = np.zeros(len(mesh.edges), np.bool_)
    sharp[edges.reshape(-1, 3)[triangles]] = True
    set_attribute(mesh, "sharp_edge", "BOOLEAN", "EDGE", sharp)
    mesh.update()


def unit(vectors: Floats) -> Floats:
    """Return vectors (n, 3) at length 1; those without a direction stay."""
    lengths = steady.lengths(vectors)[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)


def corner_normals(mesh: Block) -> Floats:
    """Return the normal that each corner shows, (C, 3), unit: Blender's are shorter where fans of faces disagree."""
    normals = np.empty(3 * len(mesh.loops), np.float32)
    if normals.size:
        mesh.corner_normals.foreach_get("vector", normals)
    return unit(normals.reshape(-1, 3))


def positions(mesh: Block) -> Floats:
    """Return the points, (P, 3)."""
    values = np.empty((len(mesh.vertices), 3), np.float32)
    read_positions(mesh, values)
    return values


def read_positions(mesh: Block, into: Floats) -> None:
    """Read the points into an array (P, 3)."""
    if into.size:
        mesh.attributes["position"].data.foreach_get("vector", into.ravel())


def write_positions(mesh: Block, points: Floats) -> None:
    """Put the points where an array (P, 3) says."""
    if points.size:
        mesh.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(points, np.float32).ravel())


def corner_points(mesh: Block) -> Ints:
    """Return the point of each corner, (C,)."""
    values = np.empty(len(mesh.loops), np.int32)
    if values.size:
        mesh.attributes[".corner_vert"].data.foreach_get("value", values)
    return values


def rendered_uv_map(mesh: Block) -> Block | None:
    """Return the UV map that is rendered, or None: the first where none is chosen, as 5.2 joins bare meshes."""
    maps = mesh.uv_layers
    return next((uv for uv in maps if uv.active_render), None) or maps.active or next(iter(maps), None)


def corner_uvs(mesh: Block) -> Floats | None:
    """Return the texture coordinates of the map that is rendered, (C, 2), or None."""
    layer = rendered_uv_map(mesh)
    return None if layer is None else uvs_of(mesh, layer)


def uvs_of(mesh: Block, layer: Block) -> Floats:
    """Return the texture coordinates of one of a mesh's UV maps, (C, 2)."""
    values = np.zeros(2 * len(mesh.loops), np.float32)
    if values.size:
        layer.uv.foreach_get("vector", values)
    return values.reshape(-1, 2)


@dataclass(eq=False)
class Topology:
    """What of a mesh must not change between frames: which points, corners and faces there are."""

    num_points: int
    corner_points: Ints  # (C,)
    face_starts: Ints  # (faces,) first corner of each

    @property
    def is_triangles(self) -> bool:
        """Tell whether all faces have three corners: no face has fewer."""
        return len(self.corner_points) == 3 * len(self.face_starts)

    @property
    def face_sizes(self) -> Ints:
        """Return how many corners each face has, (faces,)."""
        return np.diff(self.face_starts, append=np.int32(len(self.corner_points)))

    @property
    def corner_faces(self) -> NDArray[np.int64]:
        """Return the face of each corner, (C,)."""
        return np.repeat(np.arange(len(self.face_starts)), self.face_sizes)

    def triangle_corners(self, faces: NDArray[Any]) -> Ints:
        """Return the corners (n, 3) of some faces, by number or as a mask, that are triangles."""
        return np.asarray(self.face_starts[faces][:, None] + np.arange(3, dtype=np.int32))

    def counts(self, mesh: Block) -> bool:
        """Tell whether a mesh has as many points, corners and faces."""
        found = len(mesh.vertices), len(mesh.loops), len(mesh.polygons)
        return found == (self.num_points, len(self.corner_points), len(self.face_starts))

    def is_of(self, mesh: Block) -> bool:
        """Tell whether a mesh has these points, corners and faces, reading no more than must be."""
        if not self.counts(mesh) or not np.array_equal(corner_points(mesh), self.corner_points):
            return False
        return self.is_triangles or np.array_equal(face_starts(mesh), self.face_starts)

    def __eq__(self, other: object) -> bool:
        """Tell whether two meshes have the same points, corners and faces."""
        return (
            isinstance(other, Topology)
            and self.num_points == other.num_points
            and np.array_equal(self.corner_points, other.corner_points)
            and np.array_equal(self.face_starts, other.face_starts)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside: comparable, not hashable


def topology(mesh: Block) -> Topology:
    """Return a mesh's topology."""
    return Topology(len(mesh.vertices), corner_points(mesh), face_starts(mesh))


def face_starts(mesh: Block) -> Ints:
    """Return the first corner of each face, (faces,)."""
    count = len(mesh.polygons)
    if len(mesh.loops) == 3 * count:  # no face has fewer than three corners
        return np.arange(0, 3 * count, 3, dtype=np.int32)
    starts = np.empty(count, np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    return starts


def triangulated(mesh: Block) -> tuple[Ints, Ints]:
    """Return triangles as corners (T, 3), without touching the mesh, and the face of each, (T,)."""
    if len(mesh.loops) == 3 * len(mesh.polygons):
        count = len(mesh.polygons)
        return np.arange(3 * count, dtype=np.int32).reshape(-1, 3), np.arange(count, dtype=np.int32)
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    faces = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    mesh.loop_triangles.foreach_get("polygon_index", faces)
    return corners.reshape(-1, 3), faces
