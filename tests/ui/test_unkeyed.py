"""What someone moved and gave no key: an export leaves it where it is, and says that no frame it writes shows it."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.data_paths import set_value, value_at
from io_idtech_models.blender.roots import FRAME_PATH
from tests.facts import differences
from tests.samples import PROJECT, format_of, put, sample_params
from tests.ui.character.games import GAMES, opened
from tests.ui.character.games import saved as saved_character
from tests.ui.player.players import brought, game, tag_of, unequal
from tests.ui.scene import activate, add_cube, bpy, export_model, import_model, operator, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")
SAID = "set without a key, and so in no frame that is written, insert one (I) to keep it: "
NEWT = PROJECT / "examples/newt/models/md5/newt/newt.md5mesh"
UPPER = PROJECT / "examples/tock/baseq3/models/players/tock/upper.md3"


def nudged(*paths: str) -> dict[Any, Any]:
    """Move all animated objects and bones a bit, without a key; returns what is set now."""
    found = {}
    for block in bpy.data.objects:
        for path in dict.fromkeys(curve.data_path for curve in playing_curves(block)):
            if path != FRAME_PATH and (not paths or path in paths):
                value = value_at(block, path)
                set_value(block, path, tuple(each + 0.25 for each in value) if isinstance(value, tuple) else value)
                found[block.name, path] = value_at(block, path)
    bpy.context.view_layer.update()
    return found


def kept(before: dict[Any, Any]) -> bool:
    """Tell whether what was set is so still, and is what shows."""
    bpy.context.view_layer.update()
    return bool(before) and all(
        value_at(block, path) == value == value_at(block.evaluated_get(bpy.context.view_layer.depsgraph), path)
        for (name, path), value in before.items()
        for block in [bpy.data.objects[name]]
    )


@pytest.mark.parametrize("data", sample_params(family=None))
def test_any_file_is_written_as_its_keys_are_and_the_scene_left_as_it_is(tmp_path, capfd, data):
    row = format_of(data)
    source, target = (tmp_path / f"{name}{row.suffixes[0]}" for name in ("a", "b"))
    operator("import", source)(filepath=str(put(source, data)))
    before = nudged()
    if not before:
        return  # nothing moves
    capfd.readouterr()
    operator("export", target)(filepath=str(target))
    assert kept(before)
    assert differences(data, target.read_bytes()) == set()
    assert (SAID in capfd.readouterr().out) == (row.has_motions or row.tags or not row.has_model)


def test_who_moved_nothing_is_told_nothing(tmp_path, capfd):
    import_model(UPPER)
    bpy.context.scene.frame_set(7)
    export_model(tmp_path / "a.md3")
    assert SAID not in capfd.readouterr().out


@pytest.mark.parametrize("how", ["at once", "opened anew", "between frames"])
def test_the_current_frame_is_what_shows(tmp_path, capfd, how):
    rig = next(block for block in import_model(NEWT).objects if block.type == "ARMATURE")
    if how == "between frames":
        bpy.context.scene.frame_set(3, subframe=0.5)
    if how != "opened anew":
        nudged('pose.bones["head"].location', 'pose.bones["head"].rotation_quaternion')
    mesh = next(block for block in rig.children if block.type == "MESH")
    points = np.array(
        [mesh.matrix_world @ v.co for v in mesh.evaluated_get(bpy.context.view_layer.depsgraph).data.vertices]
    )
    if how == "opened anew":
        reopen(tmp_path)
    model = export_model(tmp_path / "a.md3", frames="CURRENT")
    written = np.concatenate([surface.positions[0] for surface in model.surfaces])
    for end in (np.min, np.max):
        assert end(written, axis=0) == pytest.approx(end(points, axis=0), abs=1 / 64)
    assert SAID not in capfd.readouterr().out


def test_the_key_that_someone_turned_to_is_the_current_frame(tmp_path):
    mesh = next(block for block in import_model(UPPER).objects if block.type == "MESH")
    mesh.data.shape_keys.eval_time = 30.0
    whole = export_model(tmp_path / "a.md3")
    model = export_model(tmp_path / "b.md3", frames="CURRENT")
    assert np.array_equal(model.surfaces[0].positions[0], whole.surfaces[0].positions[30])
    assert mesh.data.shape_keys.eval_time == 30.0


@pytest.mark.parametrize("how", ["flip", "visual", "turn"])
def test_another_way_to_say_a_pose_is_no_other_pose(tmp_path, capfd, how):
    import_model(NEWT)
    rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    activate(rig)
    bpy.context.scene.frame_set(7)
    for bone in rig.pose.bones:
        if how == "visual":
            bone.location = [each + 2e-6 for each in bone.location]
        else:
            bone.rotation_quaternion = [-each for each in bone.rotation_quaternion]
    if how == "turn":
        rig.pose.bones["chest"].rotation_quaternion.x += 0.002
    capfd.readouterr()
    operator("export", tmp_path / "a.md5anim")(filepath=str(tmp_path / "a.md5anim"))
    assert (SAID in capfd.readouterr().out) == (how == "turn")


def test_strips_play(tmp_path, capfd):
    rig = next(block for block in import_model(NEWT).objects if block.type == "ARMATURE")
    action, slot = rig.animation_data.action, getattr(rig.animation_data, "action_slot", None)
    rig.animation_data.action = None
    strip = rig.animation_data.nla_tracks.new().strips.new("a", 0, action)
    if slot is not None:
        strip.action_slot = slot
    bpy.context.scene.frame_set(1)
    for what, expected in (((), False), (("head",), True)):
        for bone in what:
            rig.pose.bones[bone].location.z += 3.0
        place = rig.pose.bones["head"].location.copy()
        capfd.readouterr()
        operator("export", tmp_path / "a.md5anim")(filepath=str(tmp_path / "a.md5anim"))
        assert (f"{SAID}'head'" in capfd.readouterr().out) == expected
        assert rig.pose.bones["head"].location == place


def test_a_tag_of_a_player(tmp_path, capfd):
    player = brought(game(tmp_path))
    tag = tag_of(player.parts["upper"], "tag_weapon")
    tag.location.x += 3.0
    place = tag.location.copy()
    bpy.context.view_layer.update()
    activate(player.root)
    assert unequal(tmp_path) == []
    assert tag.location == place
    assert f"{SAID}'{tag.name}'" in capfd.readouterr().out


@pytest.mark.once
@pytest.mark.parametrize("name", GAMES)
def test_bones_of_a_character(tmp_path, capfd, name):
    rig = opened(GAMES[name].put(tmp_path / "game"), name)
    before = nudged()
    activate(rig)
    capfd.readouterr()
    saved_character(tmp_path / "out")
    assert not before or kept(before)
    assert (SAID in capfd.readouterr().out) == bool(before)


def test_what_is_no_part_of_the_model_is_kept_in_silence(tmp_path, capfd):
    import_model(UPPER)
    cube = add_cube()
    cube.keyframe_insert("location", frame=0)
    cube.location.x = 5.0
    activate(next(block for block in bpy.data.objects if block.name == "tag_head"))
    export_model(tmp_path / "a.md3")
    assert cube.location.x == 5.0
    assert SAID not in capfd.readouterr().out


def test_a_model_of_one_frame_is_written_as_it_shows(tmp_path, capfd):
    cube = add_cube()
    cube.keyframe_insert("location", frame=0)
    cube.location.x = 5.0
    model = export_model(tmp_path / "a.md3")
    assert model.surfaces[0].positions[0].mean(axis=0).tolist() == pytest.approx([5.0, 0.0, 0.0])
    assert SAID not in capfd.readouterr().out


@pytest.mark.parametrize("frame", [0, 7])
def test_a_file_of_one_frame_is_written_as_it_shows(tmp_path, capfd, frame):
    block = import_model(put(tmp_path / "a.md3", "minimal")).objects[0]
    before = export_model(tmp_path / "b.md3").surfaces[0].positions[0]
    block.keyframe_insert("location", frame=0)
    bpy.context.scene.frame_set(frame)
    block.location.x += 5.0
    capfd.readouterr()
    after = export_model(tmp_path / "b.md3").surfaces[0].positions[0]
    np.testing.assert_allclose(after - before, np.broadcast_to([5.0, 0.0, 0.0], after.shape), atol=1 / 64)
    assert block.location.x == 5.0
    assert SAID not in capfd.readouterr().out


def test_a_value_that_rounds_as_its_key_is_no_other(tmp_path, capfd):
    """A curve between keys comes not quite to the value that was keyed."""
    import_model(NEWT)
    rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    activate(rig)
    bone = rig.pose.bones["head"]
    for off, is_said in ((1e-7, False), (1e-3, True)):
        bpy.context.scene.frame_set(5)
        bone.rotation_quaternion.x = np.float32(bone.rotation_quaternion.x + off)
        bpy.context.view_layer.update()
        capfd.readouterr()
        operator("export", tmp_path / "a.md5anim")(filepath=str(tmp_path / "a.md5anim"))
        assert (SAID in capfd.readouterr().out) == is_said, off


@pytest.mark.parametrize("moved", [False, True])
def test_what_a_script_keyed_last_is_keyed(tmp_path, capfd, moved):
    """The scene stands at another frame than the keys that it gave, one after another."""
    box = add_cube("box")
    for frame, x in ((1, 0.0), (6, 3.0), (12, 5.0)):
        box.location.x = x
        box.keyframe_insert("location", frame=frame)
    box.location.z += moved
    capfd.readouterr()
    operator("export", tmp_path / "a.md3")(filepath=str(tmp_path / "a.md3"), what="SCENE", frames="SCENE")
    assert (SAID in capfd.readouterr().out) == moved


@pytest.mark.parametrize("frame", [2, 5, 11])
def test_what_was_cleared_stands_as_the_last_key_and_has_none(tmp_path, capfd, frame):
    """As a pose is at rest after Alt+G, and at the end of an animation that goes back there."""
    box = add_cube("box")
    for at, x in ((1, 0.0), (5, 3.0), (12, 0.0)):
        box.location.x = x
        box.keyframe_insert("location", frame=at)
    bpy.context.scene.frame_set(frame)
    box.location.x = 0.0
    capfd.readouterr()
    operator("export", tmp_path / "a.md3")(filepath=str(tmp_path / "a.md3"), what="SCENE", frames="SCENE")
    assert SAID in capfd.readouterr().out
