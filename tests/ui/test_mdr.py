"""MDR in Blender: what is shown in each frame, levels of detail, and what an edit changes of the file."""

import numpy as np
import pytest

from io_idtech_models.formats.mdr import file as mdr
from tests.blender.skeletal.rigged import apart, curves_of, in_world
from tests.facts import differences
from tests.formats.mdr.test_mdr import engine, matrices
from tests.samples import put, sample
from tests.samples_mdr import MODELS
from tests.ui.scene import activate, bpy, export_bytes, export_model, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(params=[make.__name__ for make in MODELS])
def each(request, tmp_path):
    return import_model(put(tmp_path / "a.mdr", request.param)), mdr.read(sample(request.param, "mdr"))


@pytest.fixture
def walker(tmp_path):
    return import_model(put(tmp_path / "a.mdr", "walker"))


def layer_of(name):
    return bpy.context.view_layer.layer_collection.children[name]


def test_what_is_shown_is_what_the_engine_shows(each):
    collection, file = each
    meshes = [block for block in collection.objects if block.type == "MESH"]
    tags = {block.name: block for block in collection.objects if block.type == "EMPTY"}
    assert len(meshes) == len(file.lods[0].surfaces)
    for frame in range(len(file.frames)):
        bpy.context.scene.frame_set(frame)
        for block, surface in zip(meshes, file.lods[0].surfaces, strict=True):
            assert apart(in_world(block), engine(file, surface, frame)[0]) < 3e-3
        for tag in file.tags:
            wanted = matrices(file, frame)[tag["bone"]]
            found = np.array(tags[tag["name"].split(b"\0")[0].decode()].matrix_world)
            np.testing.assert_allclose(found[:3, 3], wanted[:, 3], atol=1e-3)
            np.testing.assert_allclose(found[:3, :3], wanted[:, :3], atol=1e-4)


def test_levels_lie_in_collections_that_are_not_shown(walker, tmp_path):
    levels = [bpy.data.collections[f"a_{number}"] for number in (1, 2)]
    assert [len(level.objects) for level in levels] == [2, 2]
    assert all(layer_of(level.name).exclude for level in levels)
    assert len(walker.all_objects) == 5, "an armature, two meshes and two tags"
    block = levels[1].objects["tube.002"]
    block.data.vertices[0].co.x += 0.5
    data = export_bytes(tmp_path / "b.mdr")
    assert all(layer_of(level.name).exclude for level in levels)
    changed = differences(sample("walker", "mdr"), data)
    assert changed
    assert all(path.startswith("lods[2].surfaces[0].verts[") for path in changed)


def test_a_level_that_is_shown_is_no_part_of_the_model_nearby(walker, tmp_path, capfd):
    layer_of("a_1").exclude = False
    assert export_bytes(tmp_path / "b.mdr") == sample("walker", "mdr")
    found = export_model(tmp_path / "b.md5mesh", add_origin=True)
    assert [mesh.shader for mesh in found.meshes] == ["models/walker/skin", ""]
    assert "MD5MESH files hold no levels of detail" in capfd.readouterr().out
    bpy.data.collections.remove(bpy.data.collections["a_1"])
    assert [len(lod.surfaces) for lod in mdr.read(export_bytes(tmp_path / "c.mdr")).lods] == [2, 2]


def test_a_bone_moved_in_a_frame(walker, tmp_path):
    (action,) = bpy.data.actions
    for curve in curves_of(action, "bone_002"):
        if curve.data_path.endswith("location"):
            curve.keyframe_points[3].co[1] += 2.0
            curve.update()
    changed = differences(sample("walker", "mdr"), export_bytes(tmp_path / "b.mdr"))
    assert "frames[3].bones[2]" in changed
    assert changed <= {f"frames[3].{name}" for name in ("bones[2]", "bounds", "local_origin", "radius", "name")}


def test_a_tag_moved_off_its_bone(walker, tmp_path):
    tag = bpy.data.objects["tag_hand"]
    tag.location.x += 3.0
    file = mdr.read(export_bytes(tmp_path / "b.mdr"))
    assert file.frames["bones"].shape[1] == 5
    bpy.context.scene.frame_set(2)
    wanted = np.array(tag.matrix_world)[:3]
    np.testing.assert_allclose(matrices(file, 2)[file.tags["bone"][1]], wanted, atol=1e-3)


def test_files_that_hold_no_names_do_not_ask_for_other_ones(walker, tmp_path, capfd):
    """Which of several animations begins where is said by their names, though: by ones that are told apart."""
    rig = next(block for block in walker.objects if block.type == "ARMATURE")
    activate(rig)
    rig.animation_data.action = rig.animation_data.action.copy()
    curves_of(rig.animation_data.action)[0].keyframe_points[0].co.y += 1.0
    capfd.readouterr()
    export_bytes(tmp_path / "b.mdr")
    said = capfd.readouterr().out
    assert "'a from 0', 'a.001 from" in said and "rename actions" not in said
