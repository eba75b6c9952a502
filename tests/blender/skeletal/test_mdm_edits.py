"""MDM and MDX edited in Blender: an edit changes what it touches in the files, and nothing else."""

from typing import Any

import bmesh
import bpy as blender
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from io_idtech_models.blender import properties
from io_idtech_models.model.lod import collapse
from tests import samples_mdm
from tests.blender.case import CONTEXT, edited, in_edit_mode, vertices_of
from tests.blender.skeletal.mdm_case import engine, open_figure
from tests.blender.skeletal.rigged import Rigged, curve_of, curves_of, drop_frame, farthest, vertices_at
from tests.samples import CORPUS, corpus

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")

BOUNDS = {"bounds", "local_origin", "radius"}
CLOSE = 12 * np.pi / 4095  # units: half a step of the game's table of directions, along the longest bone


@pytest.fixture
def case() -> Rigged:
    """Return the figure, bound where its weights agree."""
    return open_figure(bind=0)


@pytest.fixture(params=["figure", "naked"])
def each(request) -> Rigged:
    """Return each of the models to edit."""
    if request.param == "figure":
        return open_figure(bind=0)
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real files is not here")
    data = next(f.data for f in corpus(".mdm") if f.path.stem == "naked")
    return open_figure(data, {f.path.stem: f.data for f in corpus(".mdx") if f.path.stem in {"akimbo", "binocs"}})


def point_of(case: Rigged, vertex: int) -> int:
    points, vertices = vertices_of(case.mesh())
    return int(points[vertices == vertex][0])


def weights_of(file: Any, vertex: int) -> list[tuple[int, float, list[float]]]:
    surface = file.surfaces[0]
    end = int(surface.vertices["num_weights"][: vertex + 1].sum())
    rows = surface.weights[end - int(surface.vertices["num_weights"][vertex]) : end]
    return [(int(r["bone"]), float(r["weight"]), r["offset"].tolist()) for r in rows]


# -- meshes


@pytest.mark.parametrize("vertex", [23, 31, 40])  # of one weight, of five, of one
def test_move_a_vertex(case, vertex):
    point = point_of(case, vertex)
    own = vertices_at(case, point)
    case.mesh().data.vertices[point].co.x += 1.0
    changed = case.all_changed()
    assert set(changed) == {""}, "no .mdx"
    points, vertices = vertices_of(case.mesh())
    corners = points.reshape(-1, 3)
    near = np.isin(points, corners[(corners == point).any(axis=1)])  # that share a triangle with it
    normals = {f"surfaces[0].verts[{v}].normal" for v in vertices[near].tolist()}
    assert changed[""] - normals == {f"surfaces[0].verts[{v}].weights" for v in own}
    before, after = (weights_of(f, own[0]) for f in (case.before(), case.after(most_weights=0, least_weight=0.0)))
    assert sorted(w[0] for w in before) == sorted(w[0] for w in after)
    assert sorted(w[1] for w in before) == pytest.approx(sorted(w[1] for w in after))
    assert farthest(case, "walk") < (0.3 if vertex == 31 else CLOSE), "all but the fifth weight"


def test_repaint_a_weight(case):
    vertex = 23
    point = point_of(case, vertex)
    case.mesh().vertex_groups["Bip01 Head"].add([point], 0.75, "REPLACE")
    case.mesh().vertex_groups["Bip01 Spine"].add([point], 0.25, "REPLACE")
    own = vertices_at(case, point)
    wanted = {f"surfaces[0].verts[{v}].{kind}" for v in own for kind in ("weights", "normal")}
    changed = case.all_changed()
    assert set(changed) == {""}
    assert changed[""] == wanted, "the normal is in the space of another bone now"
    found = weights_of(case.after(), vertex)
    assert [w[:2] for w in found] == [(2, 0.75), (1, 0.25)], "the heaviest first"
    shown_at = engine(case, "walk", 0, case.dump())[0][vertex]
    np.testing.assert_allclose(shown_at, engine(case, "walk", 0)[0][vertex], atol=1e-4)


def test_weights_that_were_painted_back_are_the_files(case):
    point = point_of(case, 9)
    group = case.mesh().vertex_groups["hip"]
    before = group.weight(point)
    group.add([point], 0.5, "REPLACE")
    assert case.changed()
    group.add([point], before, "REPLACE")
    assert case.changed() == set()


def test_delete_a_face(case):
    before = case.before().surfaces[0]
    edited(case.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[5]], context="FACES_ONLY"))
    changed = case.all_changed()
    assert set(changed) == {""}
    after = case.after().surfaces[0]
    np.testing.assert_array_equal(after.triangles, np.delete(before.triangles, 5, axis=0))
    assert {p.split("[")[1].split("]")[1].rstrip("[") for p in changed[""]} <= {".triangles", ".collapse", ".min_lod"}
    assert after.header["min_lod"] == len(after.vertices)
    assert all(path.startswith("surfaces[0]") for path in changed[""])
    made = case.after({"make_lod": True}).surfaces[0]
    assert collapse.problems(made.collapse, len(made.vertices), int(made.header["min_lod"])) == []
    assert made.header["min_lod"] < len(made.vertices)


def test_delete_vertices(case):
    """What is left keeps weights, normals and texture coordinates, bit for bit."""
    point = point_of(case, 23)
    gone = set(vertices_at(case, point))
    edited(case.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.verts[point]], context="VERTS"))
    before, after = case.before(), case.after()
    left = [v for v in range(42) if v not in gone]
    assert len(after.surfaces[0].vertices) == len(left)
    for new, old in enumerate(left):
        assert weights_of(after, new) == weights_of(before, old)
        assert after.surfaces[0].vertices[new]["st"].tobytes() == before.surfaces[0].vertices[old]["st"].tobytes()
    assert (after.surfaces[1].vertices == before.surfaces[1].vertices).all()


def test_edit_a_normal(case):
    vertex = 30
    point = point_of(case, vertex)
    data = case.mesh().data
    normals = [tuple(n.vector) for n in data.corner_normals]
    corners = np.flatnonzero(vertices_of(case.mesh())[0] == point)
    for corner in corners.tolist():
        normals[corner] = (0.0, 0.0, 1.0)
    data.normals_split_custom_set(normals)
    own = vertices_at(case, point)
    assert case.all_changed() == {"": {f"surfaces[0].verts[{v}].normal" for v in own}}
    rows = samples_mdm.pose_of(samples_mdm.MdxSpec(), 0)[weights_of(case.before(), vertex)[0][0]][0]
    np.testing.assert_allclose(case.after().surfaces[0].vertices["normal"][vertex], rows[2], atol=2e-3)


def test_facts_that_are_edited(case):
    case.mesh(1)[properties.MIN_LOD] = 17
    assert case.all_changed() == {"": {"surfaces[1].min_lod"}}
    case.rig[properties.LOD_SCALE] = 0.5
    assert case.changed() == {"surfaces[1].min_lod", "lod_scale"}


def test_a_torso_weight_and_a_flag(case):
    """They are the skeleton's: no mesh changes."""
    case.rig.data.bones["Bip01 Spine"][properties.TORSO_WEIGHT] = 0.75
    properties.show(case.rig.data.bones["hip"], properties.FLAGS, 1)
    wanted = {"bones[1].torso_weight", "bones[5].flags"}
    assert case.all_changed() == {"walk": wanted, "run": wanted}
    del case.rig.data.bones["Bip01 Spine"][properties.TORSO_PARENT]
    case.rig.data.bones["Bip01 Head"][properties.TORSO_PARENT] = True
    assert case.moved("walk") == wanted | {"torso_parent"}
    assert case.changed() == set()


# -- names


def test_names_that_change(case):
    """Bones' are the animations', all others the model's."""
    case.mesh().name = "u_torso"
    bpy.data.materials["models/figure/body"].name = "models/figure/shirt"
    case.tag("tag_head").name = "tag_hat"
    case.rig.data.bones["Bip01 Spine"].name = "spine"
    bones = {"bones[1].name"}
    model = {"surfaces[0].name", "surfaces[0].shader", "tags[0].name"}
    assert case.all_changed() == {"": model, "walk": bones, "run": bones}
    assert bytes(case.motion_after("walk").bones["name"][1]) == b"spine"


# -- tags


@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize("name", ["tag_head", "tag_weapon", "tag_ubelt"])
def test_move_a_tag(name, scale):
    """The second's axes are no turn: they stay."""
    case = open_figure(bind=0, scale=scale)
    index = ["tag_head", "tag_weapon", "tag_ubelt"].index(name)
    before = np.array(case.tag(name).matrix_world)[:3, 3]
    case.tag(name).location.z += 2.0 * scale
    CONTEXT.view_layer.update()
    moved = np.array(case.tag(name).matrix_world)[:3, 3] - before
    assert case.all_changed(scale=scale) == {"": {f"tags[{index}].offset"}}
    offsets = [f.tags[index].header["offset"] for f in (case.before(), case.after(scale=scale))]
    assert np.linalg.norm(offsets[1] - offsets[0]) == pytest.approx(np.linalg.norm(moved) / scale, abs=1e-4)


def test_turn_a_tag(case):
    block = case.tag("tag_ubelt")
    block.rotation_quaternion = block.rotation_quaternion @ Quaternion((0, 0, 1), 0.5)
    assert case.all_changed() == {"": {"tags[2].axis"}}
    turn = np.array(Quaternion((0, 0, 1), 0.5).to_matrix())
    wanted = turn.T @ np.array(samples_mdm.AXES).reshape(3, 3)  # rows are axes
    np.testing.assert_allclose(case.after().tags[2].header["axis"], wanted, atol=1e-5)


def test_a_tag_that_goes_and_one_that_comes(case):
    bpy.data.objects.remove(case.tag("tag_weapon"))
    made = bpy.data.objects.new("tag_new", None)
    case.collection.objects.link(made)
    made.parent, made.parent_type, made.parent_bone = case.rig, "BONE", "fuß"
    CONTEXT.view_layer.update()
    before, after = case.before(), case.after()
    assert [bytes(t.header["name"]) for t in after.tags] == [b"tag_head", b"tag_ubelt", b"tag_new"]
    for new, old in ((0, 0), (1, 2)):
        assert after.tags[new].header["axis"].tobytes() == before.tags[old].header["axis"].tobytes()
    assert (after.tags[2].header["bone"], after.tags[2].bone_refs.tolist()) == (7, [0, 3, 7])


def test_a_tag_that_is_copied_and_one_that_hangs_on_no_bone(case, caplog):
    copy = case.tag("tag_head").copy()
    case.collection.objects.link(copy)
    case.tag("tag_ubelt").parent_type = "OBJECT"
    CONTEXT.view_layer.update()
    before, after = case.before(), case.after()
    assert "a tag is an empty whose parent is a bone: left out: 'tag_ubelt'" in caplog.text
    names = [bytes(t.header["name"]).split(b"\0")[0] for t in after.tags]
    assert sorted(names) == [b"tag_head", b"tag_head", b"tag_weapon"]
    second = len(names) - 1 - names[::-1].index(b"tag_head")
    np.testing.assert_allclose(after.tags[second].header["offset"], before.tags[0].header["offset"], atol=1e-4)
    assert after.tags[0].header["offset"].tobytes() == before.tags[0].header["offset"].tobytes()


# -- motion


def test_rotate_a_bone_in_one_frame(each):
    name, frame = next(iter(each.motions)), 3
    bones = each.motion_before(name).bones
    names = [b.decode("latin-1").split("\0")[0] for b in bones["name"].tolist()]
    bone = next(i for i, b in enumerate(names) if b in {"Bip01 Spine", "Bip01 Spine1"})
    curve_of(each, name, names[bone], "rotation_quaternion", 1).keyframe_points[frame].co[1] += 0.1
    changed = each.all_changed()
    assert set(changed) == {name}, "no .mdm, and no other"
    turned = {bone}
    for child, parent in enumerate(bones["parent"].tolist()):
        if parent in turned:
            turned.add(child)
    wanted = {f"frames[{frame}].{kind}" for kind in BOUNDS}
    wanted |= {f"frames[{frame}].angles[{b}]" for b in turned}
    wanted |= {f"frames[{frame}].ofs[{b}]" for b in turned - {bone}}
    assert changed[name] <= wanted
    assert f"frames[{frame}].angles[{bone}]" in changed[name]
    assert len(changed[name]) >= len(turned), "those that hang on it turn along"
    info = each.motion_after(name).frames["info"][frame]
    np.testing.assert_allclose(info["bounds"][0], info["local_origin"] + info["radius"], rtol=1e-5)
    np.testing.assert_allclose(info["bounds"][1], info["local_origin"] - info["radius"], rtol=1e-5, atol=1e-4)


def test_what_the_files_show_is_what_the_scene_shows(case):
    for index in (1, 2):
        curve_of(case, "walk", "Bip01 L Leg", "rotation_quaternion", index).keyframe_points[2].co[1] += 0.3
    curve_of(case, "walk", "Bip01", "location", 1).keyframe_points[4].co[1] += 7.0
    assert farthest(case, "walk") < CLOSE
    frames = {p.split("]")[0] for p in case.moved("walk")}
    assert frames == {"frames[2", "frames[4"}


@pytest.mark.parametrize("frame", [0, 2, 5])
def test_delete_a_frame(each, frame):
    """The others come back, and nothing else changes."""
    name = next(iter(each.motions))
    before = each.motion_before(name)
    drop_frame(each.action(name), frame)
    after = each.motion_after(name)
    assert after.frames.tobytes() == np.delete(before.frames, frame).tobytes()
    assert after.bones.tobytes() == before.bones.tobytes()
    assert set(each.all_changed()) == {name}


def test_retime_an_action(case):
    """Twice as slow: every other frame is one of the file's, those between lie between."""
    action = case.action("walk")
    for curve in curves_of(action):
        for point in curve.keyframe_points:
            point.co[0] *= 2
        curve.update()
    action.frame_end = 10
    before, after = case.motion_before("walk"), case.motion_after("walk")
    assert len(after.frames) == 11
    assert after.frames[::2].tobytes() == before.frames.tobytes()
    lengths = np.abs(after.bones["parent_dist"] - before.bones["parent_dist"])
    assert lengths.max() == 0
    assert farthest(case, "walk") < 0.2


def test_a_stretched_bone_is_named(case, caplog):
    curve_of(case, "walk", "Bip01 L Leg", "location", 1).keyframe_points[2].co[1] += 3.0
    caplog.clear()
    after = case.motion_after("walk")
    assert "'walk' moves bones against their parents" in caplog.text
    assert "'Bip01 L Leg' by 1.16" in caplog.text
    assert after.bones.tobytes() == case.motion_before("walk").bones.tobytes()


@pytest.mark.parametrize("scaled", ["itself", "its parent"])
def test_a_stretched_bone_of_an_armature_that_is_scaled(case, caplog, scaled):
    """It is as long as the others, by as much as all of it is scaled; not as its file or the armature have it."""
    before = case.motion_before("walk").bones["parent_dist"]
    curve_of(case, "walk", "Bip01 L Leg", "location", 1).keyframe_points[2].co[1] += 3.0
    if scaled == "itself":
        case.rig.scale = (2, 2, 2)
    else:
        case.rig.parent = bpy.data.objects.new("carrier", None)
        case.rig.parent.scale = (2, 2, 2)
        bpy.context.scene.collection.objects.link(case.rig.parent)
    caplog.clear()
    after = case.motion_after("walk").bones["parent_dist"]
    assert "'Bip01 L Leg' by 2.3" in caplog.text
    np.testing.assert_allclose(after[1:], 2 * np.abs(before[1:]), rtol=1e-3)


def test_a_sideways_move_that_keeps_the_length_is_no_stretch(case, caplog):
    curve = [curve_of(case, "walk", "Bip01 R Leg", "location", i) for i in range(3)]
    rest = np.array(case.rig.data.bones["Bip01 R Leg"].matrix_local)
    above = np.array(case.rig.data.bones["Bip01"].matrix_local)
    way = (np.linalg.inv(above) @ rest)[:3]
    old = way[:, 3] + way[:, :3] @ [c.keyframe_points[2].co[1] for c in curve]
    new = np.array(Matrix.Rotation(0.5, 3, "Y")) @ old
    for axis, value in enumerate(np.linalg.inv(way[:, :3]) @ (new - way[:, 3])):
        curve[axis].keyframe_points[2].co[1] = value
    changed = case.moved("walk")
    assert caplog.text == ""
    assert changed - {f"frames[2].{kind}" for kind in BOUNDS} == {"frames[2].ofs[4]"}


# -- rest bones


def test_roll_a_rest_bone(case):
    """Offsets of what hangs on it change, and its codes, as it turns in the scene; the files still show that."""
    in_edit_mode(case.rig, lambda: setattr(case.rig.data.edit_bones["hip"], "roll", 0.7))
    before = case.before().surfaces[0]
    owners = np.repeat(np.arange(42), before.vertices["num_weights"])
    on_it = set(owners[before.weights["bone"] == 5].tolist())
    changed = case.changed()
    assert {p for p in changed if p.endswith(".weights")} == {f"surfaces[0].verts[{v}].weights" for v in on_it}
    assert changed <= {f"surfaces[0].verts[{v}].{kind}" for v in on_it for kind in ("weights", "normal")}
    for name in case.motions:
        assert farthest(case, name) < 0.3, "all but the fifth weight"
        kinds = {p.split("].")[1] for p in case.moved(name)} - BOUNDS
        assert kinds == {"angles[5]"}


@pytest.mark.parametrize("linked", [False, True])
def test_copies_come_last_and_have_no_levels(case, linked, caplog):
    for block in (case.mesh(0), case.tag("tag_head"), case.tag("tag_weapon"), case.mesh(1)):
        copy = block.copy()
        if block.data is not None and not linked:
            copy.data = block.data.copy()
        case.collection.objects.link(copy)
    CONTEXT.view_layer.update()
    before, after = case.before(), case.after()
    names = [bytes(s.header["name"]).split(b"\0")[0] for s in before.surfaces]
    assert [bytes(s.header["name"]).split(b"\0")[0] for s in after.surfaces] == names * 2
    tags = [bytes(t.header["name"]).split(b"\0")[0] for t in before.tags]
    assert [bytes(t.header["name"]).split(b"\0")[0] for t in after.tags] == [*tags, b"tag_head", b"tag_weapon"]
    for new, old in zip(after.tags, before.tags, strict=False):
        assert new.header.tobytes() == old.header.tobytes()
    for surface, wanted in zip(after.surfaces, before.surfaces, strict=False):
        assert surface.weights.tobytes() == wanted.weights.tobytes()
    assert "'u_body', 'l_legs' are copies: written as further meshes" in caplog.text
    assert all(surface.header["min_lod"] == len(surface.vertices) for surface in after.surfaces[2:])


def test_a_bone_that_is_added_and_one_that_is_deleted(case):
    def edit() -> None:
        bones = case.rig.data.edit_bones
        made = bones.new("extra")
        made.head, made.tail, made.parent = (0, 0, 50), (0, 0, 55), bones["Bip01 Head"]
        bones.remove(bones["tag_hand"])

    in_edit_mode(case.rig, edit)
    bpy.data.objects.remove(case.tag("tag_weapon"))
    after = case.motion_after("walk")
    names = [b.split(b"\0")[0] for b in after.bones["name"].tolist()]
    assert b"tag_hand" not in names
    assert names.index(b"extra") > names.index(b"Bip01 Head")
    assert (after.bones["parent"] < np.arange(8)).all()
    assert farthest(case, "walk") < 0.2


# -- vertices that are moved alone


def test_a_moved_vertex_keeps_all_weights_that_its_file_has(caplog):
    """A fifth one, one of a hundredth, in their order; it stands where it was put, and its surface keeps its levels."""
    spec = samples_mdm.figure_spec()
    pose = samples_mdm.pose_of(samples_mdm.MdxSpec(), 0)
    normal, st, weights = spec.surfaces[0].verts[9]
    place = samples_mdm.from_bone(pose, 0, weights[1][2])
    few = [(bone, share, samples_mdm.to_bone(pose, bone, place)) for bone, share in ((5, 0.01), (0, 0.99))]
    spec.surfaces[0].verts[9] = normal, st, few
    case = open_figure(spec.pack(), bind=0)
    stood = engine(case, "walk", 0)[0]
    ways = {vertex: (0.5 + 0.25 * nth, 0.125 * nth**2 - 0.5, 0.375) for nth, vertex in enumerate((9, 29, 31))}
    for vertex, way in ways.items():
        case.mesh().data.vertices[point_of(case, vertex)].co += Vector(way)
    CONTEXT.view_layer.update()
    before, after = case.before().surfaces[0], case.after().surfaces[0]
    assert "weights" not in caplog.text
    assert after.weights["bone"].tolist() == before.weights["bone"].tolist()
    assert after.weights["weight"].tobytes() == before.weights["weight"].tobytes()
    assert after.collapse.tolist() == before.collapse.tolist()
    assert after.header["min_lod"] == before.header["min_lod"]
    stands = engine(case, "walk", 0, case.dump())[0]
    for vertex, way in ways.items():
        assert stands[vertex] - stood[vertex] == pytest.approx(way, abs=1e-4)


def test_a_vertex_that_is_split_goes_first_from_afar(case):
    """Its part is drawn as the vertex was, as soon as fewer are: levels stay as they were."""
    data = case.mesh().data
    data.uv_layers[0].uv[0].vector.x += 0.25
    before, after = case.before().surfaces[0], case.after().surfaces[0]
    count = len(before.vertices)
    assert len(after.vertices) == count + 1
    assert after.header["min_lod"] == before.header["min_lod"]
    assert after.collapse[:count].tolist() == before.collapse.tolist()
    assert collapse.problems(after.collapse, count + 1, int(after.header["min_lod"])) == []
    for drawn in range(int(before.header["min_lod"]), count + 1):
        one, other = (collapse.drawn(s.triangles, s.collapse, drawn) for s in (before, after))
        assert one.tolist() == other.tolist()
