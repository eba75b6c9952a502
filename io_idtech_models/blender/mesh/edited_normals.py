"""Has a modeller edited a normal? What Blender stores can't tell: deleting one face rewrites a fifth of it.

So import stores the normal that each corner showed, and a corner counts as edited only where its point still has the
faces that import gave it, shows another normal now, and stores another (see `normal_codes`). Where the base positions
moved, what counts is what Blender shows of the stored normals on a copy of the mesh that was moved likewise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits import affine
from ...model.source import Meshes
from ..compat import Block
from . import attributes, normal_codes

Bools = NDArray[np.bool_]
Numbers = NDArray[np.int64]
CORNER = "idtech_corner_of"  # on copies: the corner that each was
SAME = attributes.NEAR  # closer than that is Blender's own rounding
FLAT = 1e-4  # a triangle's height above its longest side, as a part of it
NEAR = math.cos(math.radians(0.5))  # as far as that Blender shows the same of the same numbers
CODED = math.cos(math.radians(1.0))  # as far as that is a coded normal from the one that was meant
CREASE = math.cos(math.radians(2.0))  # farther apart than that, no one coded normal is near both
LOST = math.cos(math.radians(5.0))  # farther than that is worth a word where faces changed


@dataclass(frozen=True, eq=False)
class Traces:
    """What of the source the elements of a mesh are."""

    topology: attributes.Topology
    numbers: Numbers  # (C,) the source's vertex of each corner, or -1
    faces: Numbers  # (faces,) its triangle, or -1


def edited_corners(
    mesh: Block, traces: Traces, source: Meshes, before: NDArray[np.float32] | None, still: bool
) -> tuple[Bools, int]:
    """Tell which corners (C,) show a normal that the modeller chose.

    `before` is where the source has the points if some moved, see `base_positions`. Where nothing is animated
    (`still`), what is shown counts where faces changed, too.
    Also returns how many corners of changed faces show a normal more than 5 degrees from the source's, which holds.
    """
    topology, numbers = traces.topology, traces.numbers
    stored = attributes.get_attribute(mesh, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    nothing = np.zeros(len(numbers), np.bool_)
    if stored is None or not len(stored):  # of a file without normals, whose vertices have one all the same
        return _creased(topology, numbers, attributes.corner_normals(mesh), numbers >= 0), 0
    stored = attributes.unit(stored)  # between two others Blender puts their mean
    shown = attributes.corner_normals(mesh)
    # An element that import did not make has no stored normal; where faces cancel out Blender shows none.
    comparable = (numbers >= 0) & stored.any(axis=1) & shown.any(axis=1)
    angle = since_import = steady.dots(shown, stored)
    differs = comparable & (angle < SAME)
    if not differs.any():
        return nothing, 0
    comparable &= normal_codes.changed(mesh)
    over = _turned_over(traces, source)
    in_place = before is None and not over.any()
    if not in_place:
        angle = _beyond_moves(mesh, np.where(comparable[:, None], stored, shown), shown, before, over)
    whole = whole_faces(traces, source)
    flat, bent = _odd_points(mesh, topology, whole, before, source)
    points = _points(topology, numbers, whole, source, bent)
    if in_place and points[0][topology.corner_points].all():
        flat[:] = False  # nobody has touched anything but the normals: those that differ were meant
    intact, joined, built_on, firm = ((p & ~flat)[topology.corner_points] for p in (*points, ~flat))
    edited = comparable & intact & (angle < SAME)
    edited |= differs & _beside_turned(traces, over)
    if still:
        edited |= differs & ((joined & (since_import < CODED)) | (built_on & (since_import < LOST)))
        edited |= _creased(topology, numbers, shown, differs & firm & _beside(topology, bent))
    # Where all is in its place, Blender shows other normals of the same numbers once faces and edges are sorted anew.
    # Points that were put between others have the number of one of these: as if that had moved, but not the normal.
    far = np.maximum(angle, since_import) < LOST
    return edited, int((differs & firm & (in_place | ~intact) & ~edited & far).sum())


def touched_corners(mesh: Block, traces: Traces, source: Meshes, frame: int) -> Bools:
    """Tell which corners (C,) may show a normal that the modeller chose, wherever faces were copied to.

    Of `traces` a vertex of the source may stand at several points. They show something else than what Blender makes of
    import's normals by itself, in whichever order points were moved and faces turned over; `frame` is the base's.
    """
    stored = attributes.get_attribute(mesh, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    changed = normal_codes.changed(mesh)
    if stored is None or not len(stored) or not changed.any():
        return changed
    stored, shown = attributes.unit(stored), attributes.corner_normals(mesh)
    before = base_positions(mesh, traces.topology, traces.numbers, source, frame)
    before = attributes.positions(mesh) if before is None else before
    over = _turned_over(traces, source)
    first = np.where(over[traces.topology.corner_faces][:, None], -stored, stored)
    expected = [
        *expected_normals(mesh, first, before, np.zeros_like(over)),
        *expected_normals(mesh, stored, before, over),
    ]
    near = np.max([steady.dots(shown, each) for each in expected], axis=0)
    return np.asarray(changed & (near < NEAR))


def _carried(
    topology: attributes.Topology,
    whole: Bools,
    before: NDArray[np.float32],
    present: NDArray[np.float32],
    source: Meshes,
) -> Bools:
    """Tell which points (P,) one linear map moved together with what hangs on them: their normals follow that.

    Or all, where the mesh was mirrored, which Blender's own normals don't follow.
    """
    if affine.mirrors(before, present):
        return np.ones(topology.num_points, np.bool_)
    triangles = topology.corner_points[topology.triangle_corners(whole)]
    slack = max([affine.rounding(before), *(s.step for s in source.surfaces)])
    return affine.maps_at(before, present, triangles, np.arange(topology.num_points), slack)[1]


def _beside(topology: attributes.Topology, points: Bools) -> Bools:
    """Tell which corners (C,) are at some points (P,), or at their neighbours."""
    face_of = topology.corner_faces
    touched = np.bincount(face_of, points[topology.corner_points], len(topology.face_starts)) > 0
    near = np.zeros(topology.num_points, np.bool_)
    near[topology.corner_points[touched[face_of]]] = True
    return np.asarray(near[topology.corner_points])


def _creased(topology: attributes.Topology, numbers: Numbers, shown: NDArray[np.float32], which: Bools) -> Bools:
    """Tell where Blender shows more than one normal of one source vertex at one point, of which some are corners (C,).

    As it does where an edge between them is sharp because of its other end, once points have moved.
    """
    creased = np.zeros(len(numbers), np.bool_)
    if not which.any():
        return creased
    every = topology.corner_points.astype(np.int64) * (int(numbers.max(initial=0)) + 1) + numbers
    corners = np.flatnonzero((numbers >= 0) & np.isin(every, every[which]))
    keys = every[corners]
    first, group = np.unique(keys, return_index=True, return_inverse=True)[1:]
    leaders = corners[first][group.reshape(-1)]
    apart = steady.dots(shown[leaders], shown[corners]) < CREASE
    creased[corners] = np.bincount(group.reshape(-1), apart, len(first))[group.reshape(-1)] > 0
    return creased


def _flat_points(positions: NDArray[np.float32], topology: attributes.Topology, whole: Bools) -> Bools:
    """Tell which points (P,) touch a source's triangle without area: any edit of the mesh changes normals there."""
    corners = topology.corner_points[topology.triangle_corners(whole)]
    a, b, c = (positions[corners[:, i]].astype(np.float64) for i in range(3))
    longest = np.max([steady.dots(p - q, p - q) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    flat = np.zeros(topology.num_points, np.bool_)
    flat[corners[steady.lengths(steady.crossed(b - a, c - a)) <= FLAT * longest]] = True
    return flat


def _odd_points(
    mesh: Block, topology: attributes.Topology, whole: Bools, before: NDArray[np.float32] | None, source: Meshes
) -> tuple[Bools, Bools]:
    """Tell which points (P,) touch triangles without area, and which moved otherwise than all that hangs on them."""
    present = attributes.positions(mesh)
    flat = _flat_points(present, topology, whole)
    if before is None:
        return flat, np.zeros(len(present), np.bool_)
    bent = (before != present).any(axis=1) & ~_carried(topology, whole, before, present, source)
    return flat | _flat_points(before, topology, whole), bent


def _beyond_moves(
    mesh: Block, kept: NDArray[np.float32], shown: NDArray[np.float32], before: NDArray[np.float32] | None, over: Bools
) -> NDArray[np.float64]:
    """Return the cosines (C,) between the normals that corners show and those that the `kept` ones became by moves."""
    expectations = expected_normals(mesh, kept, attributes.positions(mesh) if before is None else before, over)
    return np.asarray(np.max([steady.dots(shown, expected) for expected in expectations], axis=0))


def _known_triangles(traces: Traces, source: Meshes) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
    """Return the faces (n,) that name a triangle of the source, and the vertices (n, 3) of both."""
    known = np.flatnonzero((traces.topology.face_sizes == 3) & (traces.faces >= 0))
    return known, traces.numbers[traces.topology.triangle_corners(known)], source.triangles[traces.faces[known]]


def whole_faces(traces: Traces, source: Meshes) -> Bools:
    """Tell which faces (faces,) are triangles of the source, with its vertices."""
    known, present, before = _known_triangles(traces, source)
    whole = np.zeros(len(traces.faces), np.bool_)
    whole[known] = (np.sort(present, axis=1) == np.sort(before, axis=1)).all(axis=1)
    return whole


def _points(
    topology: attributes.Topology, numbers: Numbers, whole: Bools, source: Meshes, bent: Bools
) -> tuple[Bools, Bools, Bools]:
    """Tell three things of points (P,): which are intact, which are joined or torn, and which are built on.

    Intact: with just the faces that their source vertices have, all triangles. Joined or torn: of several points that
    moved (`bent`, (P,)) to one place, or with a part of the faces of a point that was torn apart. Built on: with faces
    that the source lacks, which are all but `whole` (faces,). Of a point with fewer faces than it had none is true.
    """
    points = topology.corner_points
    of_whole = whole[topology.corner_faces]
    built_on: Bools = np.bincount(points[~of_whole], minlength=topology.num_points) > 0
    # All corners of the point come from one point of import, and none of that point's is missing.
    known = np.flatnonzero(numbers >= 0)
    origins = source.shown_points[numbers[known]]
    low = np.full(topology.num_points, np.iinfo(np.int64).max)
    high = np.full(topology.num_points, -1, np.int64)
    np.minimum.at(low, points[known], origins)
    np.maximum.at(high, points[known], origins)
    uses = np.bincount(source.shown_points[source.triangles[source.solid]].ravel(), minlength=1)
    wanted = uses[np.minimum(np.maximum(high, 0), len(uses) - 1)]
    complete = wanted == np.bincount(points, minlength=topology.num_points)
    one = low == high
    torn = one & (np.bincount(high[one], minlength=int(high.max(initial=0)) + 1)[np.maximum(high, 0)] > 1)
    intact: Bools = ~built_on & one & complete
    joined: Bools = (torn & ~complete) | (built_on & bent) | (~one & (high >= 0) & bent)
    return intact, joined, built_on


def base_positions(
    mesh: Block, topology: attributes.Topology, numbers: Numbers, source: Meshes, frame: int
) -> NDArray[np.float32] | None:
    """Return where the source has the points (P, 3) in its base frame, or None if none of them moved."""
    present = attributes.positions(mesh)
    before = present.copy()
    for part, places, indices in source.vertex_parts(numbers):
        before[topology.corner_points[places]] = part.decoded_positions(slice(frame, frame + 1))[0, indices]
    return None if np.array_equal(before, present) else before


def _turned_over(traces: Traces, source: Meshes) -> Bools:
    """Tell which faces (faces,) are triangles of the source with their corners the other way round."""
    known, present, before = _known_triangles(traces, source)
    over = np.zeros(len(traces.faces), np.bool_)
    over[known] = affine.windings(present, before)[1]
    return over


def _beside_turned(traces: Traces, over: Bools) -> Bools:
    """Tell which corners (C,) of faces that were turned `over` (faces,) share a source's vertex with another face.

    A vertex has one normal, and these faces show opposite ones of it.
    """
    turned, known = over[traces.topology.corner_faces], traces.numbers >= 0
    unturned = np.zeros(int(traces.numbers.max(initial=0)) + 1, np.bool_)
    unturned[traces.numbers[known & ~turned]] = True
    return np.asarray(turned & known & unturned[np.maximum(traces.numbers, 0)])


def expected_normals(
    mesh: Block, normals: NDArray[np.float32], before: NDArray[np.float32], over: Bools
) -> list[NDArray[np.float32]]:
    """Return what corners would show if `normals` (C, 3) had been set while the points stood at `before` (P, 3).

    And while the faces that were turned `over` (faces,) were as in the source: a script turns them over with the
    numbers that are stored of their normals, edit mode with the normals that they show, so that there are two ways.
    """
    copy = mesh.copy()
    copy.make_local()  # a copy of an override is one, whose points don't change
    try:
        attributes.set_attribute(copy, CORNER, "INT", "CORNER", np.arange(len(normals), dtype=np.int32))
        _turn_over(copy, over)
        order = _order_of(copy)
        present = attributes.positions(mesh)
        for points in (before, present):
            attributes.write_positions(copy, points)
            copy.update()
            if points is before:
                copy.normals_split_custom_set(normals[order])
        shown = np.empty_like(normals)
        shown[order] = attributes.corner_normals(copy)
        if not over.any():
            return [shown]
        _turn_over(copy, over)
        turned = np.empty_like(normals)
        turned[_order_of(copy)] = attributes.corner_normals(copy)
        return [turned, np.where(over[attributes.topology(mesh).corner_faces][:, None], -shown, shown)]
    finally:
        # Nothing refers to it: else Blender would look through the whole .blend for who does, once for each mesh.
        bpy.data.meshes.remove(copy, do_unlink=False, do_ui_user=False)


def shows_smooth(mesh: Block) -> bool:
    """Tell whether a mesh shows the normals that it would with its points merged by place, all smooth.

    These are the sum of the faces' normals by the angle at each corner, as Blender has them.
    """
    shape, points = attributes.topology(mesh), attributes.positions(mesh)
    if not len(shape.corner_points) or not np.isfinite(points).all():  # which is refused elsewhere
        return True
    corners = points.astype(np.float64)[shape.corner_points]
    last = shape.face_starts + shape.face_sizes - 1
    after, before = np.arange(1, len(corners) + 1), np.arange(-1, len(corners) - 1)
    after[last], before[shape.face_starts] = shape.face_starts, last
    ahead, back = corners[after] - corners, corners[before] - corners
    angles = steady.angles_of(steady.lengths(steady.crossed(ahead, back)), steady.dots(ahead, back))
    faces = np.empty((len(shape.face_starts), 3), np.float32)
    mesh.polygons.foreach_get("normal", faces.ravel())
    weighted = faces[shape.corner_faces] * angles[:, None]
    of_corner = affine.places_of(points)[shape.corner_points]
    sums = np.stack([np.bincount(of_corner, axis) for axis in weighted.T], axis=-1)[of_corner]
    size = steady.lengths(sums)
    return bool((steady.dots(attributes.corner_normals(mesh), sums) >= attributes.NEAR * size)[size > FLAT].all())


def _order_of(copy: Block) -> NDArray[np.int32]:
    """Return which corner of the mesh each corner of its copy is, (C,)."""
    found = attributes.get_attribute(copy, CORNER, "INT", "CORNER")
    assert found is not None
    return found


def _turn_over(mesh: Block, over: Bools) -> None:
    """Turn over some faces of a mesh, whose corners keep their attributes."""
    if over.all():
        mesh.flip_normals()
    elif over.any():
        work = bmesh.new()
        try:
            work.from_mesh(mesh, face_normals=False, vertex_normals=False)
            work.faces.ensure_lookup_table()
            bmesh.ops.reverse_faces(work, faces=[work.faces[face] for face in np.flatnonzero(over).tolist()])
            work.to_mesh(mesh)
        finally:
            work.free()


def shows_the_same(own: Block, shown: Block, points: NDArray[np.float32]) -> bool:
    """Tell whether an evaluated mesh shows what its object's own does: faces, points (P, 3), normals at its base."""
    if not attributes.topology(own).is_of(shown) or not np.array_equal(attributes.positions(shown), points):
        return False
    if not len(own.loops) or not np.array_equal(points, attributes.positions(own)):
        return True  # normals of other frames than the base turn along, with nothing to compare them with
    return bool((steady.dots(attributes.corner_normals(own), attributes.corner_normals(shown)) >= SAME).all())
