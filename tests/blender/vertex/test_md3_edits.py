"""F2: an edit in Blender changes what it touches, and nothing else, in the file."""

from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from io_idtech_models.blender.compat import NORMAL_CODES, playing_curves
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.formats.common.normals import decode_latlong
from tests.blender.case import activate, edited, in_edit_mode, select_faces, vertices_of
from tests.blender.vertex.md3_case import CONTEXT, Case, angle, differences, open_case
from tests.samples import SENTINEL, corpus
from tests.samples_md3 import FrameSpec, Md3Spec, SurfaceSpec

REAL = [c.path for c in corpus() if c.path.name in ("lower.md3", "spas12_hold.MD3", "head.md3", "gauntlet.md3")]
FILES = [SENTINEL, *REAL]
pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(params=FILES, ids=lambda p: p.name)
def case(request) -> Case:
    return open_case(request.param.read_bytes())


@pytest.fixture(params=[p for p in FILES if p.name not in ("head.md3", "gauntlet.md3")], ids=lambda p: p.name)
def animated(request) -> Case:
    return open_case(request.param.read_bytes())


def test_moved_vertex_in_one_key(animated):
    block = animated.surface(0)
    key = block.data.shape_keys.key_blocks[3]
    point = int(block.data.loops[0].vertex_index)
    key.points[point].co.z += 2.0
    before, after = animated.before, animated.after()
    bounds = {f"frames.{name}" for name in ("mins", "maxs", "radius", "local_origin")}
    assert differences(before, after) <= {*bounds, "surface0.vertices"}
    old, new = before.surfaces[0].vertices, after.surfaces[0].vertices
    moved = (old["xyz"] != new["xyz"]).any(axis=2)
    assert set(np.flatnonzero(moved.any(axis=1))) == {3}
    others = np.delete(np.arange(len(old)), 3)
    assert np.array_equal(old[others], new[others])
    near, triangles = moved[3].copy(), before.surfaces[0].triangles
    near[triangles[moved[3][triangles].any(axis=1)]] = True
    # And what is one smooth point with these: at the same place, before and after, with the same normal.
    rows = np.column_stack((old["xyz"][3], new["xyz"][3], old["normal"][3]))
    one = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    assert not ((old["normal"][3] != new["normal"][3]) & ~np.isin(one, one[near])).any()
    rise = new["xyz"][3][moved[3]].astype(int) - old["xyz"][3][moved[3]]
    assert (rise == (0, 0, 128)).all()
    assert np.array_equal(before.frames[others], after.frames[others])


def test_renamed_surface(case):
    case.surface(0).name = "renamed"
    before, after = case.before, case.after()
    assert differences(before, after) == {"surface0.name"}
    assert after.surfaces[0].header["name"] == b"renamed"


def test_renamed_material_is_another_shader(case):
    material = next((slot.material for block in case.built.surfaces for slot in block.material_slots), None)
    if material is None:
        pytest.skip("no shaders")
    users = {i for i, b in enumerate(case.built.surfaces) if any(s.material == material for s in b.material_slots)}
    material.name = "models/new/shader"
    before, after = case.before, case.after()
    assert differences(before, after) == {f"surface{i}.shaders" for i in users}
    for i in users:
        assert b"models/new/shader" in after.surfaces[i].shaders["name"].tolist()
        assert np.array_equal(before.surfaces[i].shaders["index"], after.surfaces[i].shaders["index"])


def test_moved_tag_in_one_frame(animated):
    curves = playing_curves(animated.built.tags[0])
    curve = next(c for c in curves if c.data_path == "location" and c.array_index == 1)
    curve.keyframe_points[4].co.y += 3.0
    before, after = animated.before, animated.after()
    assert differences(before, after) == {"tags.origin"}
    changed = np.argwhere(before.tags["origin"] != after.tags["origin"])
    assert changed.tolist() == [[4, 0, 1]]


def test_moved_uv(case):
    numbers = vertices_of(case.surface(0))[1]
    for loop in np.flatnonzero(numbers == numbers[0]).tolist():
        case.surface(0).data.uv_layers[0].uv[loop].vector.x += 0.25
    before, after = case.before, case.after()
    assert differences(before, after) == {"surface0.st"}
    assert np.flatnonzero((before.surfaces[0].st != after.surfaces[0].st).any(axis=1)).tolist() == [numbers[0]]


def test_moved_uv_of_one_corner_splits_a_vertex(case):
    numbers = vertices_of(case.surface(0))[1]
    vertex = int(np.flatnonzero(np.bincount(numbers) > 1)[1])
    loop = int(np.flatnonzero(numbers == vertex)[0])
    case.surface(0).data.uv_layers[0].uv[loop].vector.x += 0.25
    before, after = case.before, case.after()
    s, t = before.surfaces[0], after.surfaces[0]
    count = s.vertices.shape[1]
    assert t.vertices.shape[1] == count + 1
    assert np.array_equal(t.vertices[:, :count], s.vertices) and np.array_equal(t.st[:count], s.st)
    assert np.array_equal(t.vertices[:, count], s.vertices[:, vertex])
    assert (s.triangles != t.triangles).sum() == 1


def test_duplicated_object(case, caplog):
    activate(case.surface(0))
    bpy.ops.object.duplicate()
    before, after = case.before, case.after()
    assert len(after.surfaces) == len(before.surfaces) + 1
    assert differences(before, after) == {"header.num_surfaces"}
    copy, original = after.surfaces[-1], before.surfaces[0]
    name = original.header["name"].split(b"\0")[0]
    assert copy.header["name"].startswith(name)
    assert copy.header["name"] not in {surface.header["name"] for surface in before.surfaces}  # games know it by it
    assert np.array_equal(copy.vertices, original.vertices) and np.array_equal(copy.st, original.st)
    assert np.array_equal(copy.triangles, original.triangles)
    assert "copy of a surface" in caplog.text


def test_joined_objects(case):
    if len(case.built.surfaces) < 2:
        pytest.skip("one surface")
    a, b = case.surface(0), case.surface(1)
    before_materials = [list(a.data.materials), list(b.data.materials)]
    activate(a, b)
    bpy.ops.object.join()
    before, after = case.before, case.after()
    # A surface has one material for its faces: objects of two materials become two surfaces.
    count = 1 if before_materials[0] == before_materials[1] else 2
    assert len(after.surfaces) == len(before.surfaces) - 2 + count
    joined, s = after.surfaces[0], before.surfaces[0]
    assert np.array_equal(joined.vertices[:, : s.vertices.shape[1]], s.vertices)
    assert np.array_equal(joined.triangles[: len(s.triangles)], s.triangles)
    old = {v.tobytes() for surface in before.surfaces[:2] for v in np.swapaxes(surface.vertices, 0, 1)}
    assert {v.tobytes() for t in after.surfaces[:count] for v in np.swapaxes(t.vertices, 0, 1)} == old
    for was, now in zip(before.surfaces[2:], after.surfaces[count:], strict=True):
        assert np.array_equal(was.vertices, now.vertices)


def test_subdivided_face(case):
    def divide(bm):
        bmesh.ops.subdivide_edges(bm, edges=list(bm.faces[0].edges), cuts=1, use_grid_fill=True)

    edited(case.surface(0), divide)
    before, after = case.before, case.after()
    s, t = before.surfaces[0], after.surfaces[0]
    count = s.vertices.shape[1]
    assert t.vertices.shape[1] > count
    assert np.array_equal(t.vertices[:, :count], s.vertices) and np.array_equal(t.st[:count], s.st)
    assert not {d for d in differences(before, after) if not d.startswith("surface0")}


def test_edited_custom_normals(case):
    mesh, (points, numbers) = case.surface(0).data, vertices_of(case.surface(0))
    normals, mine = meshes.corner_normals(mesh), points == points[0]
    wanted = normals[mine].mean(axis=0) + np.array((0.6, 0.3, 0.2))
    wanted /= np.linalg.norm(wanted)
    normals[mine] = wanted
    mesh.normals_split_custom_set(normals)
    before, after = case.before, case.after()
    assert differences(before, after) <= {f"surface0.{part}" for part in ("vertices", "num_verts", "triangles", "st")}
    s, t = before.surfaces[0], after.surfaces[0]
    touched = np.unique(numbers[mine])
    others = np.setdiff1d(np.arange(s.vertices.shape[1]), touched)
    assert np.array_equal(s.vertices[:, others], t.vertices[:, others])
    assert np.array_equal(s.vertices["xyz"][:, touched], t.vertices["xyz"][:, touched])
    assert angle(decode_latlong(t.vertices["normal"][0, touched]), wanted[None].repeat(len(touched), 0)).max() < 1.6


def test_faces_turned_over_beside_others(case):
    """At the border a vertex of the file has two normals: each face has the one that Blender shows of it."""
    block = case.surface(0)
    half = range(len(block.data.polygons) // 2)
    in_edit_mode(block, lambda: select_faces(block, half), bpy.ops.mesh.flip_normals)
    mesh, points = block.data, meshes.corner_points(block.data)
    wanted, places = meshes.corner_normals(mesh), meshes.positions(mesh)[points]
    (surface,) = (s for s in case.after().surfaces if s.header["name"] == case.before.surfaces[0].header["name"])
    vertices = surface.vertices[0]
    there, normals = vertices["xyz"] / 64.0, decode_latlong(vertices["normal"])
    for place, normal in zip(places, wanted, strict=True):
        near = (np.abs(there - place) < 0.02).all(axis=1)
        assert (normals[near] @ normal).max() > np.cos(np.radians(7.0))


@pytest.mark.skipif(not NORMAL_CODES, reason="before Blender 4.5 no one can tell that the numbers are the same")
def test_elements_in_another_order_change_nothing_and_normals_that_seem_to_are_named(case, caplog):
    """Blender shows others of the numbers that it stores, once faces and edges come in another order."""
    block = case.surface(0)
    in_edit_mode(block, lambda: bpy.ops.mesh.sort_elements(type="REVERSE", elements={"VERT", "EDGE", "FACE"}))
    first = meshes.get_attribute(block.data, meshes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    assert first is not None
    off = int(((first * meshes.corner_normals(block.data)).sum(axis=1) < np.cos(np.radians(5.0))).sum())
    assert case.both() == case.data
    assert ("keep the source's normals" in caplog.text) == (off > 0)


def merge(block):
    in_edit_mode(block, lambda: bpy.ops.mesh.remove_doubles(threshold=0.0001))


def test_merge_by_distance(case):
    merge(case.surface(0))
    before, after = case.before, case.after()
    assert all(path.startswith("surface0") for path in differences(before, after))
    if len(before.surfaces[0].triangles) == len(after.surfaces[0].triangles):
        assert differences(before, after) == set()


@pytest.mark.parametrize("path", [p for p in FILES if p.name != "head.md3"], ids=lambda p: p.name)
def test_merge_by_distance_welds_what_import_left_apart(path):
    case = open_case(path.read_bytes(), weld=False)
    mesh = case.surface(0).data
    count = len(mesh.vertices)
    merge(case.surface(0))
    assert len(mesh.vertices) < count
    if len(mesh.polygons) == len(case.before.surfaces[0].triangles):
        assert case.dump() == case.data


def test_quads_and_back(case):
    before, block = case.before, case.surface(0)
    for step in (bpy.ops.mesh.tris_convert_to_quads, bpy.ops.mesh.quads_convert_to_tris):
        in_edit_mode(block, step)
        assert differences(before, case.after()) <= {"surface0.triangles"}
    assert len(case.after().surfaces[0].triangles) == len(before.surfaces[0].triangles)


def bumpy(seams: bool = False) -> bytes:
    """Return a model of a bumpy grid, whose squares are cut in both ways; with `seams` where they are cut."""
    size = 5
    grid = [(x * 640, y * 640, (x * 7 + y * 11) % 5 * 160) for y in range(size) for x in range(size)]
    corners = [(y * size + x, x + y) for y in range(size - 1) for x in range(size - 1)]
    squares = [(at, at + size, at + size + 1, at + 1, odd % 2) for at, odd in corners]
    cuts = [((a, b, c), (a, c, d)) if odd else ((a, b, d), (b, c, d)) for a, b, c, d, odd in squares]
    uvs = [(x / 9, y / 9) for y in range(size) for x in range(size)]
    triangles = [half for pair in cuts for half in pair]
    if seams:  # each triangle has corners of its own
        of_corners = [at for triangle in triangles for at in triangle]
        grid = [grid[at] for at in of_corners]
        uvs = [(uvs[at][0], uvs[at][1] + nth // 3 % 2 * 0.5) for nth, at in enumerate(of_corners)]
        triangles = [(nth, nth + 1, nth + 2) for nth in range(0, len(grid), 3)]
    spec = SurfaceSpec(b"grid", [[(*point, 0, 0) for point in grid]], triangles, uvs)
    return Md3Spec([FrameSpec(b"still")], [], [spec]).pack()


def triangles_shown(block) -> set[Any]:
    """Return the triangles that Blender draws, each as its corners' places, in any order."""
    mesh = block.evaluated_get(CONTEXT.evaluated_depsgraph_get()).data
    mesh.calc_loop_triangles()
    points = np.array([mesh.vertices[at].co for triangle in mesh.loop_triangles for at in triangle.vertices])
    return {frozenset(map(tuple, each)) for each in np.round(points.reshape(-1, 3, 3) * 16).astype(int).tolist()}


def pull(block) -> None:
    for vertex in list(block.data.vertices)[::3]:
        vertex.co.z += 9.0


@pytest.mark.parametrize(
    "way",
    [
        "subdivided by a modifier",
        "subdivided",
        "subdivided in part",
        "quads that are pulled",
        "joined and subdivided",
    ],
)
def test_faces_are_cut_as_they_are_shown_where_they_are_not_the_sources(way):
    case = open_case(bumpy())
    block = case.surface(0)
    if way.startswith(("quads", "joined")):
        in_edit_mode(block, lambda: bpy.ops.mesh.tris_convert_to_quads(face_threshold=3.1, shape_threshold=3.1))
        assert any(len(face.vertices) == 4 for face in block.data.polygons)
        assert case.dump() == case.data, "which nobody sees"
    if way == "subdivided by a modifier":
        block.modifiers.new("finer", "SUBSURF")
    elif "in part" in way:
        count = len(block.data.vertices)
        in_edit_mode(block, lambda: select_faces(block, range(0, len(block.data.polygons), 5)), bpy.ops.mesh.subdivide)
        for vertex in list(block.data.vertices)[count:]:
            vertex.co.z += 3.0
    elif "subdivided" in way:
        in_edit_mode(block, lambda: bpy.ops.mesh.subdivide(smoothness=0.5))
    else:
        pull(block)
    (surface,) = case.gather().surfaces
    written = np.round(surface.positions[0][surface.triangles] * 16).astype(int)
    assert {frozenset(map(tuple, each)) for each in written.tolist()} == triangles_shown(block)


def test_quads_that_took_corners_of_seams_are_cut_as_they_are_shown_where_they_are_bent():
    case = open_case(bumpy(seams=True))
    block = case.surface(0)
    in_edit_mode(block, lambda: bpy.ops.mesh.tris_convert_to_quads(face_threshold=3.1, shape_threshold=3.1))
    assert any(len(face.vertices) == 4 for face in block.data.polygons)
    pull(block)
    (surface,) = case.gather().surfaces
    written = np.round(surface.positions[0][surface.triangles] * 16).astype(int)
    assert {frozenset(map(tuple, each)) for each in written.tolist()} == triangles_shown(block)


def test_a_hole_that_is_filled_anew_has_what_it_shows():
    """Blender gives the new face what is beside it; the texture coordinates of what was there are gone."""
    case = open_case(bumpy(seams=True))
    block = case.surface(0)
    before = triangles_with_uvs(block)

    def fill(bm: Any) -> None:
        face = next(face for face in bm.faces if not any(vertex.is_boundary for vertex in face.verts))
        edges = list(face.edges)
        bmesh.ops.delete(bm, geom=[face], context="FACES_ONLY")
        bmesh.ops.contextual_create(bm, geom=edges)

    edited(block, fill)
    (surface,) = case.gather().surfaces
    points = np.hstack((surface.positions[0] * 16, surface.uvs * 64)).round().astype(int).tolist()
    written = {frozenset(tuple(points[at]) for at in each) for each in surface.triangles.tolist()}
    new = triangles_with_uvs(block) - before
    assert len(new) == 1
    assert new <= written


def triangles_with_uvs(block) -> set[Any]:
    """Return the triangles of a mesh, each as its corners' places and texture coordinates, in any order."""
    mesh, uvs = block.data, block.data.uv_layers[0].data
    places = [[*(16 * mesh.vertices[c.vertex_index].co), *(64 * uvs[c.index].uv)] for c in mesh.loops]
    found = np.array(places).round().astype(int).tolist()
    return {frozenset(tuple(found[at]) for at in face.loop_indices) for face in mesh.polygons}


def test_quads_that_are_moved_as_one_are_cut_as_before():
    case = open_case(bumpy())
    block = case.surface(0)
    in_edit_mode(block, lambda: bpy.ops.mesh.tris_convert_to_quads(face_threshold=3.1, shape_threshold=3.1))
    for vertex in block.data.vertices:
        vertex.co.x *= 2.0
    assert np.array_equal(case.after().surfaces[0].triangles, case.before.surfaces[0].triangles)


def leaf(bent: bool) -> bytes:
    """Return a model of two triangles that part a seam, which bend in its second frame."""
    flat = [(0, 0, 0), (640, 0, 0), (640, 640, 0), (0, 0, 0), (640, 640, 0), (0, 640, 0)]
    frames = [[(x, y, (x > 0) * bent * 64 * nth * (y == 0), 0, 0) for x, y, _ in flat] for nth in range(2)]
    uvs = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.1, 0.9), (0.6, 0.6), (0.9, 0.9)]
    spec = SurfaceSpec(b"leaf", frames, [(0, 2, 1), (3, 5, 4)], uvs)
    return Md3Spec([FrameSpec(b"flat"), FrameSpec(b"bent")], [], [spec]).pack()


@pytest.mark.parametrize("bent", [False, True])
def test_edges_that_are_turned_at_seams_are_said_where_faces_bend_in_some_frame(bent, caplog):
    """Two triangles part a seam; turned, they lose vertices of it, and the file has them as they were."""
    case = open_case(leaf(bent))
    block = case.surface(0)
    in_edit_mode(block, bpy.ops.mesh.tris_convert_to_quads)
    work = bmesh.new()
    work.from_mesh(block.data)
    (face,) = work.faces
    first, second = (corner.vert for corner in face.loops if corner.vert.co.x != corner.vert.co.y)
    bmesh.utils.face_split(face, first, second)
    work.to_mesh(block.data)
    work.free()
    assert differences(case.before, case.after()) == set()
    assert ("2 triangles written as the file cuts them" in caplog.text) is bent
