"""IQM in Blender: what is shown is what games compute, files come back, and an edit changes what it touches."""

import re
from functools import partial

import bmesh
import numpy as np
import pytest
from mathutils import Vector

from io_idtech_models.blender.compat import play
from io_idtech_models.formats import by_name
from io_idtech_models.formats.iqm import file as iqm
from io_idtech_models.formats.iqm.channels import decode_frames
from io_idtech_models.formats.iqm.file import names_at
from io_idtech_models.library import load_animations
from tests import samples_iqm
from tests.blender.case import edited, in_edit_mode, reopen_blend, vertices_of
from tests.blender.skeletal.rigged import curves_of, shown
from tests.facts import differences
from tests.samples import CORPUS, PROJECT, corpus_params, put
from tests.small_files import SAMPLES
from tests.ui.scene import activate, add_cube, bpy, error_of, export_bytes, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
ROW = by_name("iqm")
FILES = SAMPLES["iqm"]


rig = partial(first, "ARMATURE")


def mesh(name="sleeve"):
    return bpy.data.objects[name]


def actions():
    """Return the actions that import made, in the file's order."""
    tracks = rig().animation_data.nla_tracks if rig().animation_data is not None else ()
    return [track.strips[0].action for track in tracks]


@pytest.mark.once
@pytest.mark.parametrize("suffix", ["iqm", "mdr", "mds"])
def test_chosen_actions_alone_go_into_the_file(tmp_path, suffix):
    """In the order in which they are named."""
    import_model(put(tmp_path / "arm.md5mesh", "arm"))
    bpy.ops.import_anim.idtech_md5anim(filepath=str(put(tmp_path / "wave.md5anim", "wave")))
    block = rig()
    wave = block.animation_data.action
    for name in ("first", "second"):
        wave.copy().name = name
        bpy.data.actions[name].use_fake_user = True
    activate(block)
    export = getattr(bpy.ops.export_scene, f"idtech_{suffix}")
    path = tmp_path / f"out.{suffix}"
    assert export(filepath=str(path), motions="CHOSEN", actions="second, first, second") == {"FINISHED"}
    found = [each.name for each in load_animations(path)]
    assert found == ["second", "first"] if suffix == "iqm" else len(found) == 1
    assert "no action is called 'third'" in error_of(export, filepath=str(path), motions="CHOSEN", actions="third")
    assert "no action is named" in error_of(export, filepath=str(path), motions="CHOSEN")


@pytest.mark.once
@pytest.mark.parametrize("alone", [False, True])
def test_an_origin_of_joints_that_a_file_scales(tmp_path, alone):
    import_model(put(tmp_path / "arm.iqm", samples_iqm.uneven().pack()))
    activate(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones[-1].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = rig().pose.bones[-1]
    for frame, size in ((0, 1.0), (2, 2.0)):
        bone.scale = (size, size, size)
        bone.keyframe_insert("scale", frame=frame)
    export = bpy.ops.export_anim.idtech_iqm if alone else bpy.ops.export_scene.idtech_iqm
    options = {"what": "ACTIVE"} if alone else {"motions": "ACTIVE", "orphan_bone": bone.name}
    path = tmp_path / "out.iqm"
    assert export(filepath=str(path), add_origin=True, **options) == {"FINISHED"}
    (animation,) = load_animations(path)
    assert len(animation.joint_names) == len(rig().data.bones) + 1 and animation.parents.tolist().count(-1) == 1
    assert animation.scales is not None
    np.testing.assert_allclose(animation.scales.values[2, -1] / animation.scales.values[0, -1], 2.0, rtol=1e-3)


@pytest.mark.once
@pytest.mark.parametrize("alone", [False, True])
def test_animations_alone_are_compared_with_what_joints_are_at_rest(tmp_path, alone, capfd):
    import_model(PROJECT / "examples/bloom/bloom.iqm")
    activate(rig())
    shift(rig().animation_data.action, 'pose.bones["stem"].rotation_quaternion', 1, 5, 0.2)
    export = bpy.ops.export_anim.idtech_iqm if alone else bpy.ops.export_scene.idtech_iqm
    assert export(filepath=str(tmp_path / "out.iqm")) == {"FINISHED"}
    assert "units off" not in capfd.readouterr().out


def shift(action, path, index, frame, by):
    """Move a key of a curve."""
    for curve in curves_of(action):
        if (curve.data_path, curve.array_index) == (path, index):
            point = next(p for p in curve.keyframe_points if abs(p.co[0] - frame) < 0.1)
            point.co[1] += by
            return
    raise AssertionError(path)


def kinds(paths):
    """Return which facts differ, without their numbers, and how often."""
    found = [re.sub(r"\[\d+\]", "[]", re.sub(r"^arrays\[(\d+)\]", r"arrays\1", path)) for path in paths]
    return {kind: found.count(kind) for kind in sorted(set(found))}


def changed(data, tmp_path, **options):
    return differences(data, export_bytes(tmp_path / "b.iqm", **options))


def blend_weights(tmp_path):
    """Export, and return the file's weights of vertices."""
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    return dict(zip(after.arrays["type"].tolist(), after.data, strict=True))[iqm.BLENDWEIGHTS]


@pytest.fixture
def arm(tmp_path):
    import_model(put(tmp_path / "a.iqm", "arm"))
    return FILES["arm"]


# -- real files


@pytest.mark.parametrize("file", corpus_params(".iqm"))
def test_real_files_come_back_and_show_what_games_compute(file, tmp_path):
    import_model(file.path)
    worst, size = compared(file)
    assert worst <= 3e-5 * size
    reopen_blend()
    assert export_bytes(tmp_path / "b.iqm") == file.data


@pytest.mark.once
@pytest.mark.parametrize("bind", ["FIT", "FRAME"])
@pytest.mark.parametrize("file", corpus_params(".iqm"))
def test_real_files_come_back_whatever_pose_they_are_bound_in(file, tmp_path, bind):
    import_model(file.path, bind=bind)
    assert export_bytes(tmp_path / "b.iqm") == file.data


@pytest.mark.parametrize("edit", [False, True])
def test_a_file_is_bound_as_it_was_until_something_is_edited(tmp_path, edit):
    import_model(put(tmp_path / "a.iqm", "animated"), bind="FRAME", bind_frame=1)
    before = iqm.read(FILES["animated"])
    if edit:
        first("MESH").data.vertices[0].co.x += 1.0
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert (after.joints.tobytes() == before.joints.tobytes()) != edit, "which frame 1 is not"
    assert edit or export_bytes(tmp_path / "b.iqm") == FILES["animated"]


def compared(file):
    """Return how far vertices are off at most, and how large the model is."""
    data, source = iqm.read(file.data), ROW.load(file.data, "x").source
    worst, size = 0.0, 1e-9
    blocks = {block.data["idtech_surface"]: block for block in bpy.data.objects if block.type == "MESH"}
    for name, wanted in file.expected().items():
        frame, *part, kind = name.split(".")
        if kind != "positions" or "mesh" in file.entry:
            continue
        index, at = int(part[0].removeprefix("mesh")), int(frame.removeprefix("frame"))
        show(data, at)
        found = evaluated(blocks[index], int(source.first_vertices[index]))
        used = np.flatnonzero(~np.isnan(found[: len(wanted)]).any(axis=1))
        worst = max(worst, float(np.abs(found[used] - wanted[used]).max(initial=0.0)))
        size = max(size, float(np.abs(wanted).max()))
    return worst, size


def show(data, frame):
    """Let the armature show a frame of the file."""
    for number, anim in enumerate(data.anims):
        first_frame = int(anim["first_frame"])
        if first_frame <= frame < first_frame + int(anim["num_frames"]):
            play(rig(), actions()[number])
            bpy.context.scene.frame_set(frame - first_frame)


def evaluated(block, base):
    """Return where the vertices of a mesh's source are shown, (V, 3), NaN where no triangle has one."""
    corners, vertices = vertices_of(block)
    found = np.full((int(vertices.max()) + 1 - base, 3), np.nan)
    found[vertices - base] = shown(block)[corners]
    return found


ALONE = [p for p in corpus_params(".iqm") if p.values[0] is None or "mesh" in p.values[0].entry]


@pytest.mark.parametrize("file", ALONE)
def test_animations_alone_on_the_armature_of_their_model(file, tmp_path):
    import_model(CORPUS / file.entry["mesh"])
    for action in actions():
        bpy.data.actions.remove(action)
    activate(rig())
    assert bpy.ops.import_anim.idtech_iqm(filepath=str(file.path)) == {"FINISHED"}
    target = tmp_path / "b.iqm"
    assert bpy.ops.export_anim.idtech_iqm(filepath=str(target), what="ALL") == {"FINISHED"}
    assert target.read_bytes() == file.data


# -- what is shown


def test_what_an_import_shows(arm):
    wave, grow = actions()
    assert (wave.name, grow.name, wave.use_cyclic, grow.use_cyclic) == ("wave", "grow", False, True)
    bone = rig().data.bones["hand"]
    assert list(bone["idtech_rest_scale"]) == [0.75] * 3
    assert "idtech_rest_scale" not in rig().data.bones["base"]
    np.testing.assert_allclose(bone.matrix_local.translation, (20, 1, 1), atol=1e-5)
    layer = mesh().data.color_attributes[0]
    assert (layer.data_type, layer.domain) == ("BYTE_COLOR", "POINT")
    assert sum(len(vertex.groups) == 0 for vertex in mesh("glove").data.vertices) == 1
    scaled = {c.data_path for c in curves_of(wave) if c.data_path.endswith("scale")}
    assert scaled == {'pose.bones["hand"].scale'}, "what all frames have of the rest is none"


# -- edits


def test_a_vertex(arm, tmp_path):
    mesh().data.vertices[1].co *= 1.01
    assert kinds(changed(arm, tmp_path))["arrays0[]"] == 1


def test_a_bone_in_one_frame(arm, tmp_path):
    """Its channel stood still: it gets a range of its own, and no other code changes."""
    shift(actions()[0], 'pose.bones["upper"].location', 1, 1, 0.25)
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    before = iqm.read(arm)
    numbers, were = decode_frames(after.poses, after.frames), decode_frames(before.poses, before.frames)
    moved = np.argwhere(np.abs(numbers - were) > 1e-4)
    assert moved.tolist() == [[1, 1, 0]]
    assert after.frames.shape[1] == before.frames.shape[1] + 1
    new = np.flatnonzero(after.poses["mask"] != before.poses["mask"])
    assert new.tolist() == [1]


def test_scale_of_a_bone_in_one_frame(arm, tmp_path):
    for axis in range(3):
        shift(actions()[0], 'pose.bones["hand"].scale', axis, 1, 0.0025)
    assert changed(arm, tmp_path) == {"frames[1]", "bounds[1]"}


def test_uneven_scale_of_a_bone_that_has_none_in_the_file(arm, tmp_path):
    """Along the joint's axes: a bone's Y is its joint's X."""
    bone = rig().pose.bones["base"]
    bone.scale = (1.0, 2.0, 1.0)
    rig().animation_data.action = actions()[0]
    bone.keyframe_insert("scale", frame=0)
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    numbers = decode_frames(after.poses, after.frames)
    np.testing.assert_allclose(numbers[0, 0, 7:], (2, 1, 1), atol=1e-4)


def test_constraints_are_written_as_the_scene_shows_them(arm, tmp_path):
    rig().pose.bones["hand"].constraints.new("LIMIT_SCALE")
    assert changed(arm, tmp_path) == set()
    limit = rig().pose.bones["hand"].constraints[0]
    limit.use_max_x, limit.max_x, limit.owner_space = True, 0.5, "LOCAL"
    assert kinds(changed(arm, tmp_path)).keys() <= {
        "frames[]", "bounds[]", "poses[].mask", "poses[].offset", "poses[].scale"
    }  # fmt: skip


def test_names(arm, tmp_path):
    rig().data.bones["hand"].name = "paw"
    mesh().name = "cuff"
    actions()[1].name = "swell"
    found = export_bytes(tmp_path / "b.iqm")
    assert differences(arm, found) == {"joints[2].name", "meshes[0].name", "anims[1].name"}
    after = iqm.read(found)
    assert names_at(after.text, after.anims["name"]) == ["wave", "swell"]
    assert len(after.text) % 4 == 0


def test_texture_coordinates_and_faces(arm, tmp_path):
    block = mesh("glove")
    numbers = [data.value for data in block.data.attributes["idtech_corner"].data]
    alone = next(n for n, value in enumerate(numbers) if numbers.count(value) == 1)
    block.data.uv_layers[0].uv[alone].vector = (0.75, 0.25)
    assert "arrays1[]" in kinds(changed(arm, tmp_path))
    edited(block, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[4]], context="FACES_ONLY"))
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert len(after.triangles) == 8
    assert len(after.adjacency) == 8


def test_weights(arm, tmp_path):
    block = mesh()
    for group in block.vertex_groups:
        group.add([0], 0.5, "REPLACE")
    weights = blend_weights(tmp_path)
    (row,) = np.flatnonzero((weights != iqm.read(arm).data[5]).any(axis=1))
    assert sorted(weights[row].tolist()) == [0, 0, 127, 128]


def test_colours(arm, tmp_path):
    mesh().data.color_attributes[0].data[0].color_srgb = (0.2, 0.4, 0.6, 1.0)
    assert kinds(changed(arm, tmp_path)) == {"arrays6[]": 1}
    for block in (mesh(), mesh("glove")):
        block.data.color_attributes.remove(block.data.color_attributes[0])
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert iqm.COLOR not in after.arrays["type"]


@pytest.mark.parametrize("kind", ["BYTE_COLOR", "FLOAT_COLOR"])
def test_colours_of_corners(arm, tmp_path, capsys, kind):
    """As Blender makes them by default: where corners of a vertex have several it gets their mean, which is said."""
    data, structs = mesh().data, iqm.read(arm)
    layers = data.color_attributes
    before = [tuple(each.color_srgb) for each in layers[0].data]
    layers.new("painted", kind, "CORNER")
    layers.remove(layers[0])
    layers.render_color_index = 0
    for loop, each in zip(data.loops, layers[0].data, strict=True):
        each.color_srgb = before[loop.vertex_index]

    def colors():
        after = iqm.read(export_bytes(tmp_path / "b.iqm"))
        return after.data[after.arrays["type"].tolist().index(iqm.COLOR)].astype(int)

    seen, was = np.unique(structs.triangles), structs.data[structs.arrays["type"].tolist().index(iqm.COLOR)]
    np.testing.assert_array_equal(colors()[seen], was[seen])  # what no face has there is none of
    assert "several colours" not in capsys.readouterr().out
    point = data.loops[0].vertex_index
    uses = [loop.index for loop in data.loops if loop.vertex_index == point]
    for nth, loop in enumerate(uses):
        layers[0].data[loop].color_srgb = (nth > 0, nth == 0, 0.0, 1.0)
    wanted = np.array([1 - 1 / len(uses), 1 / len(uses), 0, 1]) * 255
    assert (np.abs(colors() - wanted).max(axis=1) <= 1).any()
    assert "1 vertex whose corners have several colours get their mean" in capsys.readouterr().out
    assert len(uses) > 1


def test_vertices_without_weights_stay_so_and_new_ones_do_not(arm, tmp_path, capsys):
    block = mesh("glove")
    bare = next(vertex.index for vertex in block.data.vertices if not len(vertex.groups))
    block.data.vertices[bare].co.z += 1
    for group in mesh().vertex_groups:
        group.remove([0])
    assert int((blend_weights(tmp_path).sum(axis=1) == 0).sum()) == 1
    assert "1 vertex without weights are written as moved by 'base'" in capsys.readouterr().out


def test_a_longer_animation_and_a_copy(tmp_path):
    """Others keep their frames while they may; a copy comes behind all."""
    import_model(put(tmp_path / "a.iqm", "arm"))
    grow = actions()[1]
    for curve in curves_of(grow):
        curve.keyframe_points.insert(2, curve.keyframe_points[-1].co[1])
    copy = actions()[0].copy()
    copy.use_fake_user = True
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert names_at(after.text, after.anims["name"]) == ["wave", "grow", "wave.001"]
    assert after.anims["num_frames"].tolist() == [3, 3, 3]
    np.testing.assert_array_equal(after.frames[-3:], after.frames[:3])


def test_animations_are_compared_with_those_of_their_names(arm, tmp_path, capsys):
    """A file may have them in another order than the list."""
    first_name = actions()[0].name
    assert bpy.ops.object.idtech_animation_duplicate(name=first_name, copy="again") == {"FINISHED"}
    assert bpy.ops.object.idtech_animation_play(name="again") == {"FINISHED"}
    bone = rig().pose.bones["hand"]
    bpy.context.scene.frame_set(1)
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    assert bone.keyframe_insert("rotation_quaternion", frame=1)
    assert bpy.ops.object.idtech_animation_move(name="again", direction="UP") == {"FINISHED"}
    capsys.readouterr()
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert "off what Blender shows" not in capsys.readouterr().out
    assert names_at(after.text, after.anims["name"]) == ["again", "wave", "grow"]


def test_the_order_of_animations_is_that_of_the_list(arm, tmp_path):
    """Their frames stay where they are; moved back, the file is what it was."""
    data = export_bytes(tmp_path / "a.iqm")
    before = iqm.read(data)
    assert bpy.ops.object.idtech_animation_move(name="grow", direction="UP") == {"FINISHED"}
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert names_at(after.text, after.anims["name"]) == ["grow", "wave"]
    assert after.anims["first_frame"].tolist() == before.anims["first_frame"].tolist()[::-1]
    np.testing.assert_array_equal(after.frames, before.frames)
    assert bpy.ops.object.idtech_animation_move(name="grow", direction="DOWN") == {"FINISHED"}
    assert export_bytes(tmp_path / "b.iqm") == data


def test_a_moved_rest_bone_takes_its_poses_along(tmp_path):
    import_model(put(tmp_path / "a.iqm", "animated"))
    in_edit_mode(rig(), lambda: rig().data.edit_bones["hand"].translate(Vector((0, 0, 1))))
    assert kinds(changed(FILES["animated"], tmp_path)) == {
        "bounds[]": 7, "joints[].translate": 1, "poses[].offset": 1
    }  # fmt: skip


def test_a_bone_that_is_gone_and_a_new_one(arm, tmp_path):
    def change():
        bones = rig().data.edit_bones
        bones.remove(bones["hand"])
        new = bones.new("tail")
        new.head, new.tail, new.parent = (0, 0, 0), (0, 0, 3), bones["base"]

    in_edit_mode(rig(), change)
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert names_at(after.text, after.joints["name"]) == ["base", "upper", "tail"]
    numbers, were = (decode_frames(file.poses, file.frames)[:, :2] for file in (after, iqm.read(arm)))
    np.testing.assert_array_equal(numbers, were)


# -- made in Blender, and animations alone


def test_a_model_made_in_blender(tmp_path):
    """A cube without bones, and one on an armature, which has no animation."""
    cube = add_cube()
    data = bpy.data.armatures.new("bones")
    made = bpy.data.objects.new("bones", data)
    bpy.context.scene.collection.objects.link(made)
    in_edit_mode(made, lambda: setattr(data.edit_bones.new("root"), "tail", (8, 0, 0)))
    cube.modifiers.new("Armature", "ARMATURE").object = made
    cube.vertex_groups.new(name="root").add(range(8), 1.0, "REPLACE")
    activate(made, cube)
    after = iqm.read(export_bytes(tmp_path / "b.iqm"))
    assert (len(after.triangles), len(after.joints), len(after.poses), len(after.anims)) == (12, 1, 0, 0)
    assert after.arrays["type"].tolist() == [0, 1, 2, 3, 4, 5]
    assert (after.adjacency != 0xFFFFFFFF).all(), "a cube is closed"


def test_a_file_of_animations_alone_has_no_mesh_to_miss(tmp_path, capfd):
    import_model(put(tmp_path / "a.iqm", "arm"))
    meshes = [block for block in bpy.context.scene.objects if block.type == "MESH"]
    bare = tmp_path / "b.iqm"
    for _ in range(2):
        capfd.readouterr()
        export_bytes(bare)
        assert ("no mesh moves with these bones" in capfd.readouterr().out) == (not meshes)
        bpy.data.batch_remove(meshes)
        meshes = []
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(bare)
    export_bytes(tmp_path / "c.iqm")
    assert "no mesh moves with these bones" not in capfd.readouterr().out


def test_animations_alone(tmp_path):
    """An armature is made for them; joints are written where that is asked for."""
    path = put(tmp_path / "a.iqm", "alone")
    assert bpy.ops.import_anim.idtech_iqm(filepath=str(path)) == {"FINISHED"}
    activate(rig())
    assert bpy.ops.export_anim.idtech_iqm(filepath=str(tmp_path / "b.iqm")) == {"FINISHED"}
    assert (tmp_path / "b.iqm").read_bytes() == FILES["alone"]
    bpy.ops.export_anim.idtech_iqm(filepath=str(tmp_path / "c.iqm"), write_joints=True)
    after = iqm.read((tmp_path / "c.iqm").read_bytes())
    assert names_at(after.text, after.joints["name"]) == ["joint000", "joint001", "joint002"]


def test_joints_by_name_and_by_number(arm, tmp_path):
    """Animations with names find their bones in whatever order; with others they need to be told."""
    bring, path = bpy.ops.import_anim.idtech_iqm, str(tmp_path / "all.iqm")
    bpy.ops.export_anim.idtech_iqm(filepath=path, what="ALL", write_joints=True)
    activate(rig())
    assert bring(filepath=path) == {"FINISHED"}
    rig().data.bones["hand"].name = "paw"
    assert "joint 2 is 'hand'" in error_of(bring, filepath=path)
    assert bring(filepath=path, numbered=True) == {"FINISHED"}
    assert "there is no animation in it" in error_of(bring, filepath=str(put(tmp_path / "none.iqm", "static")))


def test_limits_of_games(tmp_path):
    import_model(put(tmp_path / "a.iqm", "uneven"))
    options = {"filepath": str(tmp_path / "b.iqm")}
    assert bpy.ops.export_scene.idtech_iqm(game="darkplaces", **options) == {"FINISHED"}
    rig().data.bones["hand"]["idtech_rest_scale"] = [1.0, 3.0, 1.0]
    found = error_of(bpy.ops.export_scene.idtech_iqm, game="unvanquished", **options)
    assert "'hand' is scaled unevenly or below 0, which Unvanquished refuses" in found


def test_a_copy_of_an_animation_has_a_name_of_its_own(tmp_path, capfd):
    import_model(put(tmp_path / "a.iqm", "arm"))
    activate(rig())
    copy = bpy.data.actions["wave"].copy()
    for name in ("Walk", "Walk.001"):
        mine = copy.copy()
        mine.name, mine.use_fake_user = name, True
        for each in ("idtech_given", "idtech_name"):
            del mine[each]
    rig().animation_data.action = copy
    shift(copy, 'pose.bones["upper"].location', 0, 0, 1.0)
    export_bytes(tmp_path / "b.iqm")
    found = load_animations(tmp_path / "b.iqm")
    assert [each.name for each in found] == ["wave", "grow", "wave.001", "Walk", "Walk.001"]
    said = "no two of a model are called alike (rename actions): 'wave' is now 'wave.001', 'Walk' is now 'Walk.001'"
    assert said in capfd.readouterr().out
    assert not np.allclose(found[2].positions, found[0].positions, atol=0.1), "the copy is what it shows"


def test_animations_that_the_file_calls_alike_stay_so(tmp_path, capfd):
    spec = samples_iqm.arm()
    spec.anims = [("wave", *spec.anims[0][1:]), ("wave", *spec.anims[1][1:])]
    data = spec.pack()
    import_model(put(tmp_path / "a.iqm", data))
    assert export_bytes(tmp_path / "b.iqm") == data
    assert "called alike" not in capfd.readouterr().out
