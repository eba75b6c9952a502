"""Exporting any Blender mesh: shapes, transforms, materials, frames and tags that no import has made."""

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mathutils import Euler, Matrix

from io_idtech_models.formats import by_name
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.tasks.export.selection import choose
from io_idtech_models.ui.export import proposals
from io_idtech_models.ui.export.operators import ExportFile
from tests.blender.case import in_edit_mode
from tests.samples import load, put, sample
from tests.ui.scene import (
    CUBE_POINTS,
    activate,
    add_cube,
    add_mesh,
    add_object,
    add_tag,
    bpy,
    editing,
    error_of,
    export_bytes,
    export_md3,
    export_model,
    export_structs,
    import_md3,
    import_model,
    outward,
    run_export,
    volume,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
EDGE = 1 / 64


def scene():
    return bpy.context.scene


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.md3"


def key_location(block, *points):
    """Move an object in a straight line through places at times: (frame, x, y, z) each."""
    for frame, *place in points:
        block.location = place
        block.keyframe_insert("location", frame=frame)


def extent(surface, frame=0):
    places = surface.positions[frame]
    return places.min(axis=0).tolist(), places.max(axis=0).tolist()


# -- shapes


def test_a_cube(path):
    block = add_cube()
    model = export_model(path)
    (surface,) = model.surfaces
    assert (surface.name, surface.shaders, model.num_frames, model.tags) == ("cube", [], 1, [])
    assert len(surface.triangles) == 12
    assert surface.positions.shape[1] == 24, "a flat cube has three normals at each corner"
    assert volume(surface) == pytest.approx(16**3)
    assert outward(surface)
    frame = md3.read(path.read_bytes()).frames[0]
    assert frame["mins"].tolist() == [-8, -8, -8]
    assert frame["maxs"].tolist() == [8, 8, 8]
    assert frame["radius"] == pytest.approx(math.sqrt(3) * 8)
    assert frame["local_origin"].tolist() == [0, 0, 0]
    block.data.polygons.foreach_set("use_smooth", np.ones(6, bool))
    block.data.uv_layers[0].uv.foreach_set("vector", np.zeros(48, np.float32))
    assert export_model(path).surfaces[0].positions.shape[1] == 8, "corners with one normal and one UV are one vertex"


def test_ngons_are_cut_without_touching_the_scene(path):
    angles = np.arange(7) * 2 * np.pi / 7
    points = [(9 * np.cos(a), 9 * np.sin(a), z) for z in (0, 5) for a in angles]
    sides = [(i, (i + 1) % 7, 7 + (i + 1) % 7, 7 + i) for i in range(7)]
    block = add_mesh("coin", points, [tuple(range(6, -1, -1)), tuple(range(7, 14)), *sides])
    surface = export_model(path).surfaces[0]
    assert len(surface.triangles) == 5 + 5 + 14
    area = 7 / 2 * 81 * np.sin(2 * np.pi / 7)
    assert volume(surface) == pytest.approx(5 * area, rel=1e-2)
    assert outward(surface)
    assert len(block.data.polygons) == 9


def test_a_concave_face(path):
    points = [(0, 0, 0), (8, 0, 0), (8, 8, 0), (4, 2, 0), (0, 8, 0)]
    add_mesh("arrow", points, [(0, 1, 2, 3, 4)])
    surface = export_model(path).surfaces[0]
    a, b, c = surface.positions[0][surface.triangles].transpose(1, 0, 2)
    areas = np.cross(b - a, c - a)[:, 2] / 2
    assert (areas > 0).all(), "all counter-clockwise"
    assert areas.sum() == pytest.approx(64 - 24)


def test_missing_uvs_and_loose_vertices_are_said(path, capfd):
    mesh = add_cube(uvs=False).data
    mesh.vertices.add(2)
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (0, 8)
    mesh.update()
    (surface,) = export_model(path).surfaces
    assert surface.positions.shape[1] == 24 and not surface.uvs.any()
    said = capfd.readouterr().out
    assert "'cube' has no UV map: its texture coordinates are 0" in said
    assert "'cube': 2 loose vertices are left out" in said


def test_a_mesh_without_faces(path, capfd):
    add_mesh("dust", [(0, 0, 0), (1, 1, 1)], [])
    with pytest.raises(RuntimeError, match="nothing to export: no mesh has faces"):
        export_model(path)
    add_cube("box")
    assert [surface.name for surface in export_model(path, what="SCENE").surfaces] == ["box"]
    assert "'dust' has no faces: left out" in capfd.readouterr().out


@pytest.mark.parametrize(("kind", "name"), [("md3", "animated"), ("iqm", "animated"), ("mdm", "figure")])
def test_a_surface_whose_faces_went_into_another_leaves_that_its_name(tmp_path, kind, name, capfd):
    made = import_model(put(tmp_path / f"a.{kind}", name))
    before = load(sample(name, kind), kind)
    block = next(block for block in made.objects if block.type == "MESH")
    called = block.name
    in_edit_mode(block, lambda: bpy.ops.mesh.separate(type="SELECTED"))
    assert not len(block.data.polygons)
    after = load(export_bytes(tmp_path / f"b.{kind}"), kind)
    was, now = (model.surfaces if kind == "md3" else model.meshes for model in (before, after))
    assert len(was) == len(now)
    assert {each.name: len(each.triangles) for each in was} == {each.name: len(each.triangles) for each in now}
    assert f"'{called}' has no faces: left out" in capfd.readouterr().out


def test_instances_that_are_all_that_shows_are_named(path):
    block = add_mesh("points", [(0, 0, 0), (40, 0, 0)], [])
    child = add_cube()
    child.parent, block.instance_type = block, "VERTS"
    activate(block)
    said = error_of(run_export, filepath=str(path), what="SELECTION")
    assert "no mesh has faces, and there is no tag; instances are left out, only meshes are written" in said
    assert "those of 'points'" in said


def test_a_surface_for_each_material(path):
    block = add_cube("box")
    for name in ("models/box/side.tga", "models/box/unused", "models/box/top.001"):
        block.data.materials.append(bpy.data.materials.new(name))
    block.data.polygons[1].material_index = 2
    first, second = export_model(path).surfaces
    assert (first.name, first.shaders, len(first.triangles)) == ("box", ["models/box/side.tga"], 10)
    assert second.name != first.name
    assert second.name.startswith("box")
    assert (second.shaders, len(second.triangles)) == (["models/box/top"], 2)
    assert export_model(path, keep_suffixes=True).surfaces[1].shaders == ["models/box/top.001"]
    block.data.polygons[1].material_index = 5
    assert export_model(path).surfaces[1].shaders == ["models/box/top"], "a slot beyond the last is the last"


def test_uvs_count_from_the_top(path):
    block = add_cube()
    uvs = np.random.default_rng(3).uniform(size=(24, 2)).astype(np.float32)
    block.data.uv_layers[0].uv.foreach_set("vector", uvs.ravel())
    st = export_structs(path).surfaces[0].st
    assert {(round(s, 5), round(t, 5)) for s, t in st.tolist()} == {
        (round(u, 5), round(1 - v, 5)) for u, v in uvs.tolist()
    }


@pytest.mark.parametrize("normals", ["SOURCE", "SHOWN", "SMOOTH"])
def test_normals(path, normals):
    add_cube()
    surface = export_model(path, normals=normals).surfaces[0]
    assert outward(surface)
    slant = np.abs(surface.normals[0]).max(axis=1)
    assert (slant > 0.999).all() if normals != "SMOOTH" else (slant < 0.9).all()


# -- transforms


def same_outside(surface, size=(16, 16, 16)):
    assert volume(surface) == pytest.approx(np.prod(size), rel=1e-2)
    assert outward(surface)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -1, 1), (-1, -1, -1), (-2, 1, 0.5), (1, -1, -1)])
def test_mirrored_objects_keep_their_outside(path, scale):
    add_cube().scale = scale
    same_outside(export_model(path).surfaces[0], 16 * np.abs(scale))


def test_transforms_are_applied(path):
    parent = add_tag("mover", "PLAIN_AXES")
    parent.matrix_world = Matrix.Translation((100, 0, 0)) @ Matrix.Rotation(math.pi / 2, 4, "Z")
    block = add_cube()
    block.parent = parent
    block.location, block.scale = (20, 0, 5), (1, 2, 0.5)
    surface = export_model(path).surfaces[0]
    wanted = [100 - 16, 20 - 8, 5 - 4], [100 + 16, 20 + 8, 5 + 4]
    np.testing.assert_allclose(extent(surface), wanted, atol=EDGE)
    same_outside(surface, (16, 32, 8))


def test_stretched_normals_stay_upright(path):
    add_mesh("slope", [(0, 0, 0), (8, 0, 8), (8, 8, 8), (0, 8, 0)], [(0, 1, 2, 3)]).scale = (4, 1, 1)
    normal = export_model(path).surfaces[0].normals[0, 0]
    assert normal.tolist() == pytest.approx(np.array([-1, 0, 4]) / math.sqrt(17), abs=0.03)


def test_the_scale_option(path):
    add_cube().location = (1, 0, 0)
    add_tag("tag_a").location = (3, 0, 0)
    model = export_model(path, scale=0.5, what="SCENE")
    assert extent(model.surfaces[0])[1] == [18, 16, 16]
    assert model.tags[0].origins[0].tolist() == [6, 0, 0]
    assert np.allclose(model.tags[0].axes[0], np.eye(3))


def test_modifiers(path):
    block = add_cube()
    block.modifiers.new("array", "ARRAY").count = 3
    block.modifiers.new("off", "SUBSURF").show_viewport = False
    surface = export_model(path).surfaces[0]
    assert len(surface.triangles) == 36
    assert extent(surface) == ([-8, -8, -8], [40, 8, 8])
    block.modifiers[0].count = 1
    block.modifiers.new("mirror", "MIRROR")
    assert volume(export_model(path).surfaces[0]) == pytest.approx(2 * 16**3), "the cube and its mirror image"


def test_a_mirror_across_an_import(path, tmp_path):
    block = import_md3(put(tmp_path / "a.md3", "seamed_cube")).objects[0]
    block.modifiers.new("array", "ARRAY").count = 2
    model = export_model(path)
    assert (model.num_frames, len(model.surfaces[0].triangles)) == (2, 24)
    before = md3.read(sample("seamed_cube")).surfaces[0]
    after = md3.read(path.read_bytes()).surfaces[0]
    assert np.array_equal(after.vertices[:, :24], before.vertices), "the original is untouched"


# -- frames


def test_what_moves_has_the_scenes_range(path):
    block = add_cube()
    scene().frame_start, scene().frame_end = 10, 14
    assert export_model(path).num_frames == 1, "what holds still is one frame"
    key_location(block, (10, 0, 0, 0), (14, 32, 0, 0))
    scene().timeline_markers.new("jump", frame=11)
    scene().frame_set(12)
    model = export_model(path)
    assert model.frame_names == ["frame10", "jump", "frame12", "frame13", "frame14"]
    starts = [extent(model.surfaces[0], f)[0][0] for f in range(5)]
    assert (starts[0], starts[-1]) == (-8, 24)
    assert starts == sorted(starts)
    assert scene().frame_current == 12
    scene().frame_step = 8
    model = export_model(path)
    assert [extent(surface, 0)[0][0] for surface in model.surfaces] == [-8], "the first of the range, not the current"
    text = error_of(run_export, filepath=str(path), frames="RANGE", frame_start=5, frame_end=4)
    assert text == "out.md3: no frame to export: the range 5 to 4 is empty"


@pytest.mark.parametrize(
    ("options", "places"),
    [
        ({"frames": "SCENE"}, [0, 1, 2, 3, 4]),
        ({"frames": "CURRENT"}, [3]),
        ({"frames": "RANGE", "frame_start": 2, "frame_end": 6, "frame_step": 2}, [2, 4, 4]),
        ({"frames": "RANGE", "frame_start": 1, "frame_end": 1}, [1]),
        ({"frames": "KEYS"}, [3]),
    ],
)
def test_chosen_frames(path, options, places):
    block = add_cube()
    key_location(block, *((i, i, 0, 0) for i in range(5)))
    scene().frame_start, scene().frame_end = 0, 4
    scene().frame_set(3)
    model = export_model(path, **options)
    assert [extent(model.surfaces[0], f)[1][0] - 8 for f in range(model.num_frames)] == pytest.approx(places, abs=EDGE)


def test_shape_keys_of_ones_own(path):
    block = add_cube()
    for name in ("rest", "wide", "tall"):
        block.shape_key_add(name=name, from_mix=False)
    keys = block.data.shape_keys
    keys.use_relative = False
    for point in keys.key_blocks["wide"].points:
        point.co.x *= 2
    model = export_model(path)
    assert model.frame_names == ["rest", "wide", "tall"]
    assert [extent(model.surfaces[0], f)[1][0] for f in range(3)] == [8, 16, 8]


def test_relative_keys_of_ones_own_are_sampled(path):
    block = add_cube()
    block.shape_key_add(name="Basis", from_mix=False)
    wide = block.shape_key_add(name="wide", from_mix=False)
    for point in wide.points:
        point.co.x *= 2
    for frame, value in ((0, 0.0), (4, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    scene().frame_start, scene().frame_end = 0, 4
    model = export_model(path)
    reach = [extent(model.surfaces[0], f)[1][0] for f in range(5)]
    assert (reach[0], reach[-1], len(reach)) == (8, 16, 5)
    assert reach == sorted(reach)


def add_rig():
    """Return an armature with a bone along Y from the origin, and a child that is a tag; the first turns to frame 4."""
    rig = add_object("rig", bpy.data.armatures.new("rig"))
    with editing(rig) as bones:
        root, hand = bones.new("root"), bones.new("tag_hand")
        root.head, root.tail = (0, 0, 0), (0, 20, 0)
        hand.head, hand.tail, hand.parent = (0, 20, 0), (0, 24, 0), root
    pose = rig.pose.bones["root"]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((0, 0.0), (4, math.pi / 2)):
        pose.rotation_euler = Euler((angle, 0, 0))
        pose.keyframe_insert("rotation_euler", frame=frame)
    scene().frame_start, scene().frame_end = 0, 4
    return rig


def add_arm():
    """Return an armature, and a cube that its first bone moves."""
    rig, block = add_rig(), add_cube("arm")
    block.vertex_groups.new(name="root").add(range(8), 1.0, "REPLACE")
    block.modifiers.new("rig", "ARMATURE").object = rig
    return rig


def test_what_an_armature_deforms(path):
    add_arm()
    model = export_model(path, what="SCENE")
    surface = model.surfaces[0]
    assert model.num_frames == 5
    turn = Matrix.Rotation(math.pi / 2, 3, "X")
    wanted = np.array(CUBE_POINTS) @ np.array(turn, np.float64).T
    for frame in (0, 4):
        assert volume(surface, frame) == pytest.approx(16**3, rel=1e-2)
        assert outward(surface, frame)
    assert {tuple(np.round(p)) for p in surface.positions[4].tolist()} == {tuple(np.round(p)) for p in wanted.tolist()}
    assert extent(surface, 2)[1][1] > 10, "half way"


def test_actions_that_do_not_play_are_named(path, capfd):
    """One of several actions plays, and is what is written: the others are said, and how they are written, too."""
    rig = add_arm()
    played = rig.animation_data.action
    others = [played.copy() for _ in range(2)]
    for action, name in zip((played, *others), ("walk", "run", "idle"), strict=True):
        action.name, action.use_fake_user = name, True
    count = export_model(path, what="SCENE").num_frames
    said = "what plays in the scene is written, other actions are not (Frames: Actions writes those ticked or named): "
    assert said + "'idle', 'run'" in capfd.readouterr().out
    whole = export_model(path, what="SCENE", frames="ACTIONS", actions="walk, run, idle")
    assert whole.num_frames == 3 * count
    export_model(path, what="SCENE", frames="SCENE")
    assert said not in capfd.readouterr().out
    track = rig.animation_data.nla_tracks.new()
    for start, action in zip((0, 10), others, strict=True):
        track.strips.new(action.name, start, action)
    rig.animation_data.action = None
    export_model(path, what="SCENE")
    assert said + "'walk'" in capfd.readouterr().out


def test_what_tags_play_beside_all_frames_is_no_animation(path, tmp_path):
    """Before Blender 4.4 each has an action of its own."""
    import_model(put(tmp_path / "walker.md3", "animated"))
    said = error_of(bpy.ops.export_scene.idtech_md3, filepath=str(path), frames="ACTIONS")
    assert "no action to export: this model has none of its own" in said


def test_bones_called_tag_and_empties_on_bones_are_tags(path):
    """A bone that carries an empty of its name is one tag with it."""
    rig = add_rig()
    add_cube()
    for name, bone in (("grip", "root"), ("tag_hand", "tag_hand")):
        tags = {tag.name: tag.origins for tag in export_model(path, what="SCENE").tags}
        assert tags["tag_hand"][[0, 4]].tolist() == [pytest.approx([0, 20, 0]), pytest.approx([0, 0, 20], abs=1e-4)]
        empty = add_tag(name, "PLAIN_AXES" if name == "grip" else "ARROWS")
        empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", bone
    tags = {tag.name: tag.origins for tag in export_model(path, what="SCENE").tags}
    assert set(tags) == {"tag_hand", "grip"}
    assert tags["grip"][4].tolist() == pytest.approx([0, 0, 20], abs=1e-4)
    assert tags["tag_hand"][0].tolist() == pytest.approx([0, 20 + rig.data.bones["tag_hand"].length, 0], abs=1e-4)


def test_which_empties_are_tags(path):
    for name, display in (("tag_a", "CUBE"), ("TAG_B", "PLAIN_AXES"), ("arrows", "ARROWS"), ("other", "PLAIN_AXES")):
        add_tag(name, display).matrix_world = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(math.pi / 2, 4, "Z")
    tags = export_model(path, what="SCENE").tags
    assert {tag.name for tag in tags} == {"tag_a", "TAG_B", "arrows"}
    for tag in tags:
        assert tag.origins[0].tolist() == [1, 2, 3]
        assert np.allclose(tag.axes[0], [(0, 1, 0), (-1, 0, 0), (0, 0, 1)], atol=1e-6), "forward, left, up"


def test_constraints_and_drivers_count(path):
    cube, tag = add_cube(), add_tag("tag_a")
    cube.driver_add("location", 2).driver.expression = "frame * 2"
    tag.constraints.new("COPY_LOCATION").target = cube
    scene().frame_start, scene().frame_end = 0, 3
    model = export_model(path, what="SCENE")
    assert [extent(model.surfaces[0], f)[0][2] + 8 for f in range(model.num_frames)] == [0, 2, 4, 6]
    np.testing.assert_allclose(model.tags[0].origins, [(0, 0, z) for z in (0, 2, 4, 6)], atol=1e-5)


def test_topology_that_changes_is_refused(path):
    block = add_cube()
    build = block.modifiers.new("array", "ARRAY")
    build.count = 1
    build.keyframe_insert("count", frame=0)
    build.count = 3
    build.keyframe_insert("count", frame=6)
    scene().frame_start, scene().frame_end = 0, 6
    scene().frame_set(1)
    put(path, b"old")
    text = error_of(run_export, filepath=str(path))
    assert text.startswith("out.md3: 'cube' has other vertices or faces at frame ")
    assert "than at frame 0" in text
    assert path.read_bytes() == b"old"
    assert scene().frame_current == 1


def test_keys_that_disagree_are_refused(path, tmp_path):
    collection = import_md3(put(tmp_path / "a.md3"))
    collection.objects[1].data.shape_keys.key_blocks[1].name = "other"
    text = error_of(run_export, filepath=str(path))
    assert "'h_body' and 'flag.002' list different frames, the first at 1: 'wave01' and 'other'" in text


def test_several_objects(path):
    first, second, _ = add_cube("a"), add_cube("box.001"), add_cube("box.002")
    add_object("twin", first.data).location = (30, 0, 0)
    bpy.context.view_layer.update()

    def names(**options):
        return [surface.name for surface in export_model(path, **options).surfaces]

    activate(first, second)
    assert names() == ["a", "box"]
    assert names(what="VISIBLE", keep_suffixes=True) == ["a", "box.001", "box.002", "twin"]
    second.select_set(False)
    first.select_set(False)
    assert names() == ["a", "box", "box2", "twin"], "nothing selected: all"
    one, *_, shared = export_model(path, what="SCENE").surfaces
    assert (extent(one)[1][0], extent(shared)[1][0]) == (8, 38), "of one mesh, each where it is"


def test_the_game_is_that_of_the_folder_else_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(proposals, "_last", {})
    row = by_name("md3")
    assert proposals.proposed_game(row, str(tmp_path / "etmain" / "a.md3")) == "et"
    assert proposals.proposed_game(row, str(tmp_path / "a.md3")) == "format"
    import_md3(put(tmp_path / "models" / "a.md3", "animated"))
    export_md3(tmp_path / "b.md3", game="quake3")
    assert proposals.proposed_game(row, str(tmp_path / "a.md3")) == "quake3"
    assert proposals.proposed_game(row, str(tmp_path / "etmain" / "a.md3")) == "et"
    assert proposals.proposed_game(by_name("mdc"), str(tmp_path / "a.mdc")) == "format"


def test_an_export_begins_where_the_model_came_from(tmp_path):
    collection = import_md3(put(tmp_path / "models" / "a.md3", "animated"))
    own = SimpleNamespace(is_property_set=lambda name: False)
    operator: Any = SimpleNamespace(filepath="other.md3", filename_ext=".md3", properties=own, row=by_name("md3"))
    file = proposals.file_of_choice(choose(bpy.context, "AUTO"))
    ExportFile.propose(operator, "a", file)
    assert Path(operator.filepath) == tmp_path / "models" / "a.md3"
    for holder in (collection, *(block.data or block for block in collection.objects)):
        holder["idtech_file"] = str(tmp_path / "pak0.pk3/models/a.md3")  # in an archive: no folder to write into
    ExportFile.propose(operator, "a", proposals.file_of_choice(choose(bpy.context, "AUTO")))
    assert Path(operator.filepath).name == "a.md3"
    assert not operator.filepath.startswith(str(tmp_path))


@pytest.mark.parametrize("pinned", [None, 0, 1])
def test_a_key_that_moves_is_written_as_it_plays_also_while_one_is_pinned(tmp_path, pinned):
    block = add_cube()
    block.shape_key_add(name="Basis")
    key = block.shape_key_add(name="up")
    key.data[0].co.z += 40.0
    for frame in range(3):
        key.value = frame / 2
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 2
    if pinned is not None:
        block.show_only_shape_key, block.active_shape_key_index = True, pinned
    heights = export_model(tmp_path / "a.md3").surfaces[0].positions[..., 2].max(axis=1)
    np.testing.assert_allclose(heights - heights[0], [0, 4, 24], atol=1 / 32)
    assert block.show_only_shape_key == (pinned is not None)


# -- materials that an imported model has no more

BARE = "without a material a surface has no shader, give it one with the shader's name"
DRESSED = {
    "md2": "seams", "md3": "animated", "mdc": "animated", "ase": "several", "lwo": "several", "md5mesh": "arm",
    "mdm": "figure", "iqm": "arm", "mdr": "walker", "mds": "figure",
}  # fmt: skip


@pytest.mark.parametrize("name", DRESSED)
def test_surfaces_that_have_no_material_any_more_are_named(tmp_path, capfd, name):
    suffix = by_name(name).suffixes[0]
    home = import_model(put(tmp_path / f"a{suffix}", DRESSED[name]))
    meshes = [block for block in home.all_objects if block.type == "MESH" and any(block.data.materials)]
    assert meshes
    capfd.readouterr()
    export_bytes(put(tmp_path / f"b{suffix}", b""))
    assert BARE not in capfd.readouterr().out
    meshes[0].data.materials.clear()
    export_bytes(tmp_path / f"b{suffix}")
    (said,) = re.findall(rf"{re.escape(BARE)}: '([^']*)'", capfd.readouterr().out)
    assert said == meshes[0].name


@pytest.mark.parametrize("name", [name for name in DRESSED if name != "md2"])  # whose materials are skins
def test_faces_without_a_material_that_were_joined_to_a_surface_are_named(tmp_path, capfd, name):
    home = import_model(put(tmp_path / f"a{by_name(name).suffixes[0]}", DRESSED[name]))
    block = next(block for block in home.all_objects if block.type == "MESH" and any(block.data.materials))
    block.data.materials.append(None)
    block.data.polygons[0].material_index = len(block.data.materials) - 1
    export_bytes(tmp_path / f"b{by_name(name).suffixes[0]}")
    assert f"{BARE}: '{block.name}'" in capfd.readouterr().out


@pytest.mark.parametrize("worn", [0, 1])
def test_faces_of_an_empty_slot_are_as_those_without_one(tmp_path, capfd, worn):
    """One that no face wears is nothing to speak of."""
    block = add_cube("box")
    for material in (bpy.data.materials.new("models/x"), None):
        block.data.materials.append(material)
    block.data.polygons[0].material_index = worn
    export_bytes(tmp_path / "a.md3")
    assert (f"{BARE}: 'box'" in capfd.readouterr().out) == bool(worn)


@pytest.mark.parametrize("file", ["no_shaders.md3", "animated.mdl"])
def test_surfaces_that_have_no_shader_in_their_file_are_none_that_lost_it(tmp_path, capfd, file):
    """Pictures in a model are no shaders."""
    stem, _, suffix = file.partition(".")
    for block in import_model(put(tmp_path / f"a.{suffix}", stem)).all_objects:
        if block.type == "MESH":
            block.data.materials.clear()
    export_bytes(tmp_path / f"b.{suffix}")
    assert BARE not in capfd.readouterr().out


# -- names of frames


@pytest.mark.parametrize("suffix", [".md3", ".md2", ".mdl"])
def test_frames_whose_names_are_too_long_stay_apart(tmp_path, capfd, suffix):
    block = add_cube()
    for number in range(1, 5):
        for walk in ("a walk that is long", "a walk that is longer"):
            block.shape_key_add(name=f"{walk}{number}")
    block.data.shape_keys.use_relative = False
    names = load(export_bytes(tmp_path / f"a{suffix}", frames="KEYS")).frame_names
    assert len(set(names)) == 8
    assert [name[-1] for name in names] == list("11223344")
    assert "names of frames are shortened to 15 bytes: 'a walk that is long1' is now 'a walk that is1'" in (
        capfd.readouterr().out
    )


def test_animations_whose_names_are_too_long_have_frames_of_their_own(tmp_path, capfd):
    block, scene = add_cube(), bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 5
    for frame in (0, 5):
        block.location.x = frame
        block.keyframe_insert("location", frame=frame)
    for frame, name in ((0, "pistol_reload_in"), (2, "pistol_reload_out"), (4, "stand")):
        scene.timeline_markers.new(name, frame=frame)
    names = load(export_bytes(tmp_path / "a.md3", frames="MARKERS")).frame_names
    assert names == ["pistol_reload01", "pistol_reload02", "pistol_relo~b01", "pistol_relo~b02", "stand01", "stand02"]
    assert "'pistol_reload_out' is cut to fit its frames' names: 'pistol_relo~b01'" in capfd.readouterr().out
