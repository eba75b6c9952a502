"""MDS by its operators: a player's meshes, bones and frames in one file, and the tags that its bones are."""

from functools import partial

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.formats import by_name
from tests.blender.case import reopen_blend
from tests.blender.skeletal.rigged import curves_of, in_world
from tests.facts import differences
from tests.samples import corpus_params, put, sample
from tests.ui.scene import activate, bpy, export_bytes, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
FIGURE = sample("figure", "mds")
MDS = by_name("mds")


@pytest.fixture
def figure(tmp_path):
    return import_model(put(tmp_path / "body.mds", FIGURE))


rig = partial(first, "ARMATURE")


@pytest.mark.parametrize("file", corpus_params(".mds"))
def test_real_files_come_back_from_a_saved_blend(tmp_path, file):
    name = import_model(put(tmp_path / "body.mds", file.data)).name
    reopen_blend()
    assert export_bytes(tmp_path / "b.mds", collection=name) == file.data


@pytest.mark.parametrize("file", corpus_params(".mds"))
def test_the_scene_shows_what_the_engine_computes(tmp_path, file):
    import_model(put(tmp_path / "body.mds", file.data))
    expected, structs = file.expected(), MDS.read(file.data)
    names = [name.partition(b"\0")[0].decode() for name in structs.tags["name"].tolist()]
    for frame in sorted({int(name.split(".")[0][5:]) for name in expected}):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for index, name in enumerate(names):
            found = np.array(bpy.data.objects[name].evaluated_get(graph).matrix_world)
            np.testing.assert_allclose(found[:3, 3], expected[f"frame{frame}.tag{index}.origin"], atol=2e-3)
            np.testing.assert_allclose(found[:3, :3].T, expected[f"frame{frame}.tag{index}.axis"], atol=2e-4)
        for index, surface in enumerate(structs.surfaces):
            shown = in_world(bpy.data.objects[surface.header["name"].decode()])
            wanted = expected[f"frame{frame}.surface{index}.positions"]
            off = np.abs(wanted[:, None] - shown[None]).max(axis=2).min(axis=1)
            assert off.max() < 0.02, "as far as its weights disagree where Blender binds it"


def test_an_edit_of_a_bone_changes_its_frame_alone_and_a_longer_animation_none(figure, tmp_path):
    action = rig().animation_data.action
    for curve in playing_curves(rig()):
        curve.keyframe_points.insert(6.0, curve.evaluate(5.0))
    action.use_frame_range = False
    changed = differences(FIGURE, export_bytes(tmp_path / "b.mds"))
    assert {path.split(".")[0] for path in changed} == {"frames[6]"}
    for curve in curves_of(action, "Bip01 L Leg"):
        if curve.data_path.endswith("rotation_quaternion"):
            curve.keyframe_points[3].co.y += 0.125
    changed = differences(FIGURE, export_bytes(tmp_path / "b.mds"))
    assert {path.split(".")[0] for path in changed} == {"frames[3]", "frames[6]"}


def test_a_renamed_surface_a_shader_and_a_tag(figure, tmp_path):
    bpy.data.objects["u_body"].name = "u_trunk"
    bpy.data.objects["tag_mouth"].name = "tag_nose"
    changed = differences(FIGURE, export_bytes(tmp_path / "b.mds"))
    assert changed == {"surfaces[0].name", "tags[0].name"}


def test_a_tag_that_is_new_gets_a_bone(figure, tmp_path):
    empty = bpy.data.objects.new("tag_weapon", None)
    figure.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = rig(), "BONE", "Bip01 Head"
    found = MDS.read(export_bytes(tmp_path / "b.mds"))
    assert found.tags["name"].tolist()[2] == b"tag_weapon"
    bone = found.bones[found.tags["bone"][2]]
    assert (bone["name"], bone["flags"], len(found.bones)) == (b"tag_weapon", 1, 11)
    before = MDS.read(FIGURE)
    assert found.frames["bones"]["angles"][:, :10].tobytes() == before.frames["bones"]["angles"].tobytes()


def test_the_torso_is_previewed_as_this_game_has_it(figure):
    activate(rig())
    name = rig().animation_data.action.name
    assert bpy.ops.object.idtech_preview_torso(legs=name, torso=name) == {"FINISHED"}
    shown = rig().animation_data.action
    assert shown.name != name
    before, after = (
        {(c.data_path, c.array_index): [p.co.y for p in c.keyframe_points] for c in curves_of(action)}
        for action in (bpy.data.actions[name], shown)
    )
    assert before.keys() == after.keys()
    for key, values in before.items():
        if "rotation" not in key[0]:
            np.testing.assert_allclose(after[key], values, atol=1e-4)
