"""Meshes of MD5 models edited in Blender: an edit changes what it touches in the files, and nothing else."""

import bmesh
import numpy as np
import pytest

from tests import samples_md5
from tests.blender.case import activate, edited, in_edit_mode, separated, vertices_of
from tests.blender.skeletal.md5.edited import WAVES, Subject, bpy, subject, tables, weights_of
from tests.blender.skeletal.rigged import farthest, open_rig, vertices_at
from tests.ui.scene import copy_of

pytestmark = pytest.mark.usefixtures("empty_scene")


def lone_point(case: Subject, weights: int = 1) -> int:
    """Return a point that stands for one vertex with a range of its own, of at least so many weights."""
    part = case.before().parts[0]
    users = np.zeros(len(part.joints), int)
    for start, count in zip(part.starts, part.counts, strict=True):
        users[start : start + count] += 1
    for point in range(len(case.mesh().data.vertices)):
        own = vertices_at(case, point)
        if len(own) == 1 and part.counts[own[0]] >= weights:
            start = part.starts[own[0]]
            if (users[start : start + part.counts[own[0]]] == 1).all():
                return point
    raise AssertionError("no such point")


# -- weights and places


def test_repaint_one_vertex(case):
    point = lone_point(case, 2)
    (vertex,) = vertices_at(case, point)
    before = case.before().parts[0]
    old = weights_of(before, vertex)
    group = case.mesh().vertex_groups[case.before().names[old[0][0]]]
    group.add([point], 0.3, "REPLACE")
    after = case.after().parts[0]
    new = weights_of(after, vertex)
    assert sum(w[1] for w in new) == pytest.approx(1.0)
    assert sorted(w[0] for w in new) == sorted(w[0] for w in old)
    for other in range(len(before.starts)):
        if other != vertex:
            assert weights_of(after, other) == weights_of(before, other)
    assert set(case.all_changed()) == {""}
    range_ = range(int(before.starts[vertex]), int(before.starts[vertex] + before.counts[vertex]))
    assert case.changed() <= {f"parts[0].{n}[{i}]" for n in ("joints", "biases", "offsets") for i in range_}


def test_one_more_weight(case):
    point = lone_point(case)
    (vertex,) = vertices_at(case, point)
    before = case.before().parts[0]
    had = {case.before().names[w[0]] for w in weights_of(before, vertex)}
    name = next(group.name for group in case.mesh().vertex_groups if group.name not in had)
    case.mesh().vertex_groups[name].add([point], 0.5, "REPLACE")
    after = case.after().parts[0]
    count = len(had) + 1
    assert (int(after.starts[vertex]), int(after.counts[vertex])) == (len(before.joints), count), "at the end"
    assert len(after.joints) == len(before.joints) + count
    assert tables(after)[: len(before.joints)] == tables(before), "all others stay, and where they are"
    rest = {f"parts[0].{n}[{vertex}]" for n in ("starts", "counts")}
    rest |= {f"parts[0].{n}[{len(before.joints) + i}]" for n in ("joints", "biases", "offsets") for i in range(count)}
    assert case.changed() <= rest
    assert farthest(case, case.first) < case.close


def test_repaint_a_vertex_that_shares_its_weights(arm):
    """Vertices 11 and 12 of the file are one point: both get ranges of their own behind the table."""
    before = arm.before().parts[0]
    arm.mesh().vertex_groups["upper arm"].add([11], 0.25, "REPLACE")
    after = arm.after().parts[0]
    assert tables(after)[: len(before.joints)] == tables(before)
    for vertex in (11, 12):
        assert [w[:2] for w in weights_of(after, vertex)] == [(2, pytest.approx(0.8)), (1, pytest.approx(0.2))]
    for vertex in range(11):
        assert weights_of(after, vertex) == weights_of(before, vertex)


def test_those_that_shared_a_range_with_an_edited_vertex_keep_it():
    case = subject(open_rig(samples_md5.arm(), WAVES, weld=False))
    before = case.before().parts[0]
    case.mesh().vertex_groups["upper arm"].add([12], 0.25, "REPLACE")
    assert weights_of(case.after().parts[0], 11) == weights_of(before, 11)
    assert case.after().parts[0].starts[11] == before.starts[11]
    assert len(weights_of(case.after().parts[0], 12)) == 2


@pytest.mark.parametrize("weights", [1, 2])
def test_move_one_vertex_at_rest(case, weights):
    point = lone_point(case, weights)
    (vertex,) = vertices_at(case, point)
    case.mesh().data.vertices[point].co.x += 1.0
    part = case.before().parts[0]
    own = range(int(part.starts[vertex]), int(part.starts[vertex] + part.counts[vertex]))
    assert case.all_changed() == {"": {f"parts[0].offsets[{i}]" for i in own}}
    before, after = (weights_of(c.parts[0], vertex) for c in (case.before(), case.after()))
    for old, new in zip(before, after, strict=True):
        assert new[1] == old[1]
        assert np.linalg.norm(np.subtract(new[2:], old[2:])) == pytest.approx(1.0, abs=case.close)
    assert farthest(case, case.first) < case.close


@pytest.mark.parametrize("scale", [0.0001, 0.0254, 40.0])
def test_a_small_move_at_any_scale(scale):
    case = subject(open_rig(samples_md5.arm(), {}, scale=scale))
    case.mesh().data.vertices[8].co.x += 0.01 * scale
    assert case.changed(scale=scale) == {"parts[0].offsets[12]"}
    case.mesh().data.vertices[8].co.x -= 0.01 * scale
    assert case.changed(scale=scale) == set()


def test_odd_weights_of_an_edited_vertex_become_plain():
    """A joint twice, a weight of 0, a sum of 7/8: only where the vertex is edited."""
    case = subject(open_rig(samples_md5.odd_weights(), WAVES))
    (point,) = (p for p in range(12) if 3 in vertices_at(case, p))
    case.mesh().data.vertices[point].co.z += 1.0
    found = weights_of(case.after().parts[0], 3)
    assert [w[0] for w in found] == [1, 0]
    assert [w[1] for w in found] == pytest.approx([6 / 7, 1 / 7])
    others = [v for v in range(13) if v not in vertices_at(case, point)]
    before, after = case.before().parts[0], case.after().parts[0]
    assert [weights_of(after, v) for v in others] == [weights_of(before, v) for v in others]
    assert (77.0, 66.0, 55.0) in [w[2:] for w in tables(after)], "nobody's weight stays"


# -- objects, materials, faces, texture coordinates


def test_rename_object_and_material(case):
    case.mesh().name = "leg.001"
    case.mesh_names[0] = "leg.001"
    assert case.all_changed() == {"": {"parts[0].name"}}
    assert case.after().parts[0].name == "leg", "Blender's numbers stay in Blender"
    case.mesh().material_slots[0].material.name = "models/new"
    assert case.all_changed() == {"": {"parts[0].name", "parts[0].shader"}}
    assert case.after().parts[0].shader == "models/new"


def test_other_names_reach_no_file(arm):
    for block in (arm.rig, arm.collection, arm.action("wave"), arm.rig.data):
        block.name = "other"
    arm.rig_name = arm.collection_name = arm.action_names["wave"] = "other"
    assert arm.all_changed() == {}


@pytest.mark.parametrize("face", [0, 7])
def test_delete_a_face(case, face):
    edited(case.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[face]], context="FACES_ONLY"))
    before, after = case.before().parts[0], case.after().parts[0]
    np.testing.assert_array_equal(after.triangles, np.delete(before.triangles, face, axis=0))
    assert {p.rsplit("[", 1)[0] for p in case.changed()} == {"parts[0].triangles"}
    assert set(case.all_changed()) == {""}


def test_delete_the_only_face_of_a_vertex(arm):
    """Vertex 12 goes; 11 has its weight too, which stays."""
    edited(arm.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[17]], context="FACES"))
    assert arm.changed() == {"parts[0].triangles[17]", *(f"parts[0].{n}[12]" for n in ("st", "starts", "counts"))}


def test_delete_a_vertex(arm):
    edited(arm.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.verts[0]], context="VERTS"))
    before, after = arm.before().parts[0], arm.after().parts[0]
    np.testing.assert_array_equal(after.st, before.st[1:])
    assert tables(after) == tables(before)[1:], "its weight goes too"
    gone = (before.triangles == 0).any(axis=1)
    np.testing.assert_array_equal(after.triangles, before.triangles[~gone] - 1)


def test_loose_vertices_are_said(arm, caplog):
    caplog.clear()
    edited(arm.mesh(), lambda bm: bm.verts.new((1, 2, 3)))
    assert arm.changed() == set()
    assert "1 loose vertices are left out" in caplog.text


def test_change_a_texture_coordinate(case):
    block = case.mesh()
    corners = vertices_of(block)[1]
    vertex = int(corners[4])
    for corner in np.flatnonzero(corners == vertex).tolist():
        block.data.uv_layers[0].uv[corner].vector.x += 0.25
    assert case.all_changed() == {"": {f"parts[0].st[{vertex}]"}}
    before, after = case.before().parts[0].st[vertex], case.after().parts[0].st[vertex]
    assert after[0] - before[0] == pytest.approx(0.25)


def test_a_vertex_whose_coordinate_splits_shares_its_weights(case):
    block = case.mesh()
    corners = vertices_of(block)[1]
    values, counts = np.unique(corners, return_counts=True)
    vertex = int(values[counts > 2][0])
    block.data.uv_layers[0].uv[int(np.flatnonzero(corners == vertex)[-1])].vector.y += 0.125
    before, after = case.before().parts[0], case.after().parts[0]
    assert len(after.st) == len(before.st) + 1
    assert (after.starts[-1], after.counts[-1]) == (before.starts[vertex], before.counts[vertex])
    assert tables(after) == tables(before)
    new = len(before.st)
    changed = {p for p in case.changed() if ".triangles" not in p}
    assert changed == {f"parts[0].{n}[{new}]" for n in ("st", "starts", "counts")}


def test_quads_and_back(case):
    in_edit_mode(case.mesh(), lambda: bpy.ops.mesh.tris_convert_to_quads(uvs=True))
    assert {p.rsplit("[", 1)[0] for p in case.changed()} <= {"parts[0].triangles"}
    in_edit_mode(case.mesh(), bpy.ops.mesh.quads_convert_to_tris)
    assert {p.rsplit("[", 1)[0] for p in case.changed()} <= {"parts[0].triangles"}


def test_new_faces_follow(arm):
    in_edit_mode(arm.mesh(), bpy.ops.mesh.subdivide)
    before, after = arm.before().parts[0], arm.after().parts[0]
    assert len(after.triangles) == 4 * len(before.triangles)
    for vertex in range(len(before.st)):
        assert weights_of(after, vertex) == weights_of(before, vertex)
        assert after.st[vertex].tolist() == before.st[vertex].tolist()
    for vertex in range(len(before.st), len(after.st)):
        assert sum(w[1] for w in weights_of(after, vertex)) == pytest.approx(1.0, abs=1e-6)
    assert farthest(arm, "wave") < 1e-4


def test_a_copy_is_a_further_mesh(arm, caplog):
    copy_of(arm.mesh())
    caplog.clear()
    after = arm.after()
    assert "is a copy: written as a further mesh" in caplog.text
    assert not {p for p in arm.changed() if not p.startswith("parts[1]")}
    assert tables(after.parts[1])[0] == tables(after.parts[0])[0]
    assert len(after.parts[1].triangles) == 18


def test_delete_a_mesh():
    case = open_rig(samples_md5.several_meshes())
    bpy.data.objects.remove(case.mesh(1))
    before, after = case.before(), case.after()
    assert len(after.parts) == 2
    for old, new in zip((before.parts[0], before.parts[2]), after.parts, strict=True):
        assert old.name == new.name
        assert tables(old) == tables(new)


def test_join_two_meshes():
    case = open_rig(samples_md5.several_meshes())
    second = case.mesh(1)
    second.material_slots[0].material = case.mesh().material_slots[0].material
    activate(case.mesh(), second)
    bpy.ops.object.join()
    (part, empty) = case.after().parts
    before = case.before().parts[0]
    assert (len(part.triangles), len(empty.triangles)) == (36, 0)
    for vertex in range(13):
        assert weights_of(part, vertex) == weights_of(before, vertex)
    np.testing.assert_array_equal(part.triangles[:18], before.triangles)


def test_separate_and_join_again(arm):
    part = separated(arm.mesh(), range(6))
    assert [len(p.triangles) for p in arm.after().parts] == [12, 6]
    activate(arm.mesh(), part)
    bpy.ops.object.join()
    in_edit_mode(arm.mesh(), bpy.ops.mesh.remove_doubles)
    assert len(arm.mesh().data.vertices) == 12
    assert {p.rsplit("[", 1)[0] for p in arm.changed()} <= {"parts[0].triangles"}
