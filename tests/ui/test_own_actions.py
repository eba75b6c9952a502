"""Actions of a character of one's own, as from other tools: its armature is scaled and turned, and moves, too."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.blender.compat import action_parts
from io_idtech_models.blender.playback import keep
from io_idtech_models.library import load_animations
from tests.ui.scene import activate, add_cube, bpy, error_of, operator

pytestmark = pytest.mark.usefixtures("empty_scene")
PREFIX = "mixamorig:"
HIPS, ARM = f"{PREFIX}Hips", f"{PREFIX}Arm"
SMALL = 0.01


@pytest.fixture
def rig(empty_scene) -> Any:
    """Return an armature of two bones, in centimetres, lying as that of an FBX does, that moves a cube."""
    armature = bpy.data.objects.new("Armature", bpy.data.armatures.new("Armature"))
    bpy.context.scene.collection.objects.link(armature)
    armature.scale, armature.rotation_euler = (SMALL,) * 3, (math.pi / 2, 0, 0)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in ((HIPS, (0, 100, 0), (0, 150, 0)), (ARM, (0, 150, 0), (70, 150, 0))):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
    armature.data.edit_bones[ARM].parent = armature.data.edit_bones[HIPS]
    bpy.ops.object.mode_set(mode="OBJECT")
    cube = add_cube("body")
    cube.parent = armature
    for name, points in ((HIPS, [0, 1, 2, 3]), (ARM, [4, 5, 6, 7])):
        cube.vertex_groups.new(name=name).add(points, 1.0, "REPLACE")
    cube.modifiers.new("Armature", "ARMATURE").object = armature
    armature.animation_data_create()
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    return armature


def turned(degrees: float) -> tuple[float, ...]:
    return math.cos(math.radians(degrees / 2)), math.sin(math.radians(degrees / 2)), 0.0, 0.0


def acted(rig: Any, name: str, bone: str = HIPS, degrees: float = 20.0, way: float = 0.0, last: int = 9) -> Any:
    """Return an action of frames 0 to `last` in which a bone turns, and the armature goes a way; nothing plays it."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    rig.animation_data.action = action
    for frame, share in ((0, 0.0), (last // 2, 1.0), (last, 0.0)):
        rig.pose.bones[bone].rotation_quaternion = turned(share * degrees)
        rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    if way:
        for frame, along in ((0, 0.0), (last, way)):
            rig.location = (0.0, along, 0.0)
            rig.keyframe_insert("location", frame=frame)
    rig.animation_data.action = None
    rig.pose.bones[bone].rotation_quaternion = turned(0)
    rig.location = (0.0, 0.0, 0.0)
    return action


def written(folder: Path, name: str, way: str = "export", **options: Any) -> dict[str, bytes]:
    """Export all that is visible, 40 units to a metre; returns the files by their names."""
    folder.mkdir(exist_ok=True)
    assert operator(way, folder / name)(filepath=str(folder / name), scale=1 / 40, **options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


MOVING: dict[str, dict[str, Any]] = {
    "a.iqm": {},
    "a.mdr": {},
    "a.mds": {},
    "a.md5mesh": {"write_animations": True},
    "a.mdm": {"write_animation": True},
    "a.md3": {"frames": "ACTIONS", "actions": "stand, run, z"},
    "a.md5anim": {"what": "ALL"},
    "a.mdx": {"what": "CHOSEN", "actions": "stand, run, z"},
}


@pytest.mark.parametrize("playing", ["run", "stand"])
@pytest.mark.parametrize("name", MOVING)
def test_where_an_armature_moves_no_frame_that_shows_counts(rig, tmp_path, name, playing, capfd):
    """What one action alone moves is where that begins while another plays, and so is what rests."""
    for called in ("z", "stand"):
        acted(rig, called, ARM)
    acted(rig, "run", way=-2.5)
    rig.animation_data.action = bpy.data.actions[playing]
    found = []
    for frame in (0, 4, 9):
        bpy.context.scene.frame_set(frame)
        before = tuple(rig.location)
        found.append(written(tmp_path / str(frame), name, **MOVING[name]))
        assert tuple(rig.location) == before, "and it stays where it was"
        assert bpy.context.scene.frame_current == frame
    assert found[0] == found[1] == found[2]
    assert "off what Blender shows" not in capfd.readouterr().out


def test_what_no_action_moves_stands_where_someone_put_it(rig, tmp_path):
    acted(rig, "stand", ARM)
    at_home = written(tmp_path / "a", "a.iqm")
    rig.location = (0.0, 1.0, 0.0)
    away = written(tmp_path / "b", "a.iqm")
    first, other = (formats.by_name("iqm").load(each["a.iqm"], "a") for each in (at_home, away))
    moved = other.skeleton.bind.positions[0] - first.skeleton.bind.positions[0]
    np.testing.assert_allclose(moved, (0, 40, 0), atol=1e-4)


@pytest.mark.parametrize("name", ["a.mdr", "a.mds", "a.mdm", "a.md3"])
def test_a_tag_on_a_bone_of_a_scaled_armature_is_as_large_as_any(rig, tmp_path, name, capfd):
    acted(rig, "stand", ARM)
    activate(rig)
    rig.data.bones.active = rig.data.bones[ARM]
    assert bpy.ops.object.idtech_add_tag(name="tag_weapon", place="BONE") == {"FINISHED"}
    bpy.context.view_layer.update()
    tag = bpy.data.objects["tag_weapon"]
    np.testing.assert_allclose(tag.matrix_world.to_scale(), 1, atol=1e-5)
    np.testing.assert_allclose(tag.matrix_world.translation, (0, 0, 1.5), atol=1e-5)
    activate(rig, bpy.data.objects["body"], tag)
    data = written(tmp_path / "a", name)[name]
    axes = np.asarray(formats.by_name(name[2:]).load(data, "a").tags[0].axes).reshape(-1, 3, 3)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=-1), 1, atol=1e-5)
    assert "tags are scaled" not in capfd.readouterr().out


@pytest.mark.parametrize("size", [1.0, SMALL])
def test_a_tag_is_plain_as_large_as_the_world_or_as_its_armature(rig, tmp_path, size, capfd):
    tag = bpy.data.objects.new("tag_weapon", None)
    bpy.context.scene.collection.objects.link(tag)
    tag.parent, tag.parent_type, tag.parent_bone = rig, "BONE", ARM
    bpy.context.view_layer.update()
    tag.matrix_world = tag.matrix_world.LocRotScale(tag.matrix_world.translation, None, (size,) * 3)
    found = formats.by_name("mds").load(written(tmp_path / "a", "a.mds")["a.mds"], "a").tags[0]
    np.testing.assert_allclose(np.linalg.norm(found.axes, axis=-1), 1, atol=1e-5)
    assert "tags are scaled" not in capfd.readouterr().out


def strange(rig: Any, name: str) -> Any:
    """Return an action that moves a bone of another tool's prefix."""
    action = acted(rig, name)
    for _, _, curves in action_parts(action):
        for curve in curves:
            curve.data_path = curve.data_path.replace(PREFIX, "mixamorig1:")
    return action


NOTHING = "moves nothing of this model, whose bones are not called so (rename these curves): 'mixamorig1:Hips'"


@pytest.mark.parametrize("name", ["a.iqm", "a.mdr", "a.md5anim", "a.mdx"])
def test_an_action_of_bones_that_are_not_there_is_named(rig, tmp_path, name, capfd):
    acted(rig, "stand", ARM)
    strange(rig, "jump")
    chosen = {"what": "CHOSEN"} if name in {"a.md5anim", "a.mdx"} else {"motions": "CHOSEN"}
    every = {"what": "ALL"} if "what" in chosen else {"motions": "ALL"}
    activate(rig)
    call, path = operator("export", tmp_path / name), str(tmp_path / name)
    assert f"action 'jump' {NOTHING}" in error_of(call, filepath=path, actions="jump", **chosen)
    assert not list(tmp_path.iterdir())
    capfd.readouterr()
    assert call(filepath=path, **every) == {"FINISHED"}
    said = "actions that move none of the bones of 'Armature' are left out, rename what their curves move"
    assert f"{said} ('mixamorig1:Hips'): 'jump'" in capfd.readouterr().out


def test_an_action_that_plays_and_moves_nothing_is_named(rig, tmp_path, capfd):
    rig.animation_data.action = strange(rig, "jump")
    written(tmp_path / "a", "a.iqm")
    assert f"action 'jump' {NOTHING}" in capfd.readouterr().out


def test_an_action_that_moves_another_armature_is_not_named(rig, tmp_path, capfd):
    acted(rig, "stand", ARM)
    strange(rig, "jump")
    other = rig.copy()
    other.data = rig.data.copy()
    bpy.context.scene.collection.objects.link(other)
    other.data.bones[HIPS].name = "mixamorig1:Hips"
    bpy.context.view_layer.update()
    activate(rig, bpy.data.objects["body"])
    written(tmp_path / "a", "a.iqm", what="SELECTION")
    assert "jump" not in capfd.readouterr().out


ALIKE = "no two of a model are called alike (rename actions): 'Walk' is now 'Walk.001'"


@pytest.mark.parametrize("name", ["a.md2", "a.md3", "a.mdl", "a.iqm", "a.mds", "a.md5anim", "a.mdx"])
def test_two_actions_that_a_number_tells_apart_stay_two(rig, tmp_path, name, capfd):
    acted(rig, "Walk")
    acted(rig, "Walk.001", degrees=70)
    chosen = {"actions": "Walk, Walk.001"}
    if name in {"a.md2", "a.md3", "a.mdl"}:
        chosen["frames"] = "ACTIONS"
    elif name in {"a.iqm", "a.mds"}:
        chosen["motions"] = "CHOSEN"
    else:
        chosen["what"] = "CHOSEN"
    files = written(tmp_path / "a", name, **chosen)
    assert ALIKE in capfd.readouterr().out
    if name == "a.md5anim":
        assert list(files) == ["Walk.001.md5anim", "Walk.md5anim"]
    elif name == "a.mdx":
        assert b'"Walk.001"' in files["a.aninc"]
    elif name == "a.iqm":
        assert [each.name for each in load_animations(tmp_path / "a/a.iqm")] == ["Walk", "Walk.001"]
    elif "frames" in chosen:
        called = formats.by_name(name[2:]).load(files[name], "a").frame_names
        assert [called[0], called[10]] == ["Walk01", "Walk.001_01"]


@pytest.mark.parametrize(
    ("heavy", "light", "count"), [(0.9, 0.04, 1), (0.9, 0.06, 2), (0.06, 0.04, 2), (0.95, 0.05, 2)]
)
def test_a_weight_is_as_small_as_its_share(rig, tmp_path, heavy, light, count):
    """Of all that its vertex has: so Blender shows it."""
    cube = bpy.data.objects["body"]
    for name, weight in ((HIPS, heavy), (ARM, light)):
        cube.vertex_groups[name].add(list(range(8)), weight, "REPLACE")
    data = written(tmp_path / "a", "a.md5mesh")["a.md5mesh"]
    weights = formats.by_name("md5mesh").load(data, "a").meshes[0].weights
    assert set(weights.counts.tolist()) == {count}
    np.testing.assert_allclose(
        weights.factors[weights.joints == 0], heavy / (heavy + light) if count == 2 else 1, atol=1e-5
    )


DEAD = f"actions turn bones by other channels than their rotation mode says ('{ARM}'), which shows nothing, set that: "


@pytest.mark.parametrize(
    ("mode", "keyed"), [("XYZ", "quaternion"), ("AXIS_ANGLE", "quaternion"), ("QUATERNION", "euler")]
)
@pytest.mark.parametrize("name", ["a.iqm", "a.md3"])
def test_keys_of_another_rotation_mode_are_named(rig, tmp_path, mode, keyed, name, capfd):
    """Blender shows nothing of them, and so do files; with keys of its own mode beside them they are left over."""
    bone = rig.pose.bones[ARM]
    acted(rig, "stand")
    action = acted(rig, "wave", ARM)
    rig.animation_data.action = action
    if keyed == "euler":
        for _, _, curves in action_parts(action):
            for curve in curves:
                curve.data_path = curve.data_path.replace("quaternion", "euler")
    options = {"frames": "ACTIONS", "actions": "stand, wave"} if name == "a.md3" else {}
    bone.rotation_mode = mode
    written(tmp_path / "a", name, **options)
    assert f"{DEAD}'wave'" in capfd.readouterr().out
    bone.keyframe_insert({"XYZ": "rotation_euler"}.get(mode, f"rotation_{mode.lower()}"), frame=0)
    written(tmp_path / "a", name, **options)
    assert "rotation mode" not in capfd.readouterr().out


def test_actions_of_frames_that_nothing_uses_are_named(rig, tmp_path, capfd):
    rig.animation_data.action = acted(rig, "walk")
    acted(rig, "wave", ARM).use_fake_user = False
    written(tmp_path / "a", "a.md3", frames="ACTIONS")
    said = capfd.readouterr().out
    assert "actions that nothing uses are left out, give them a fake user to keep them: 'wave'" in said
    assert "did not bring" not in said


POSED = "posed though no curve moves it, and so in actions that leave it alone (clear it: Alt+G, Alt+R, Alt+S): "


@pytest.mark.parametrize(("name", "options"), [("a.iqm", {}), ("a.md3", {"frames": "ACTIONS", "actions": "walk"})])
def test_a_bone_that_another_action_left_is_named(rig, tmp_path, name, options, capfd):
    """Blender shows it so in whatever leaves it alone, and so it is written."""
    rig.animation_data.action = acted(rig, "walk")
    wave = acted(rig, "wave", ARM)
    rig.animation_data.action = bpy.data.actions["walk"]
    rig.pose.bones[ARM].rotation_quaternion = turned(30)
    written(tmp_path / "a", name, **options)
    assert f"{POSED}'{ARM}'" in capfd.readouterr().out
    bpy.data.actions.remove(wave)
    written(tmp_path / "a", name, **options)
    assert POSED not in capfd.readouterr().out, "that is how someone wants it: no action says otherwise"


def test_a_shape_key_that_another_action_left_is_named(rig, tmp_path, capfd):
    cube = bpy.data.objects["body"]
    cube.shape_key_add(name="Basis")
    smile, other = cube.shape_key_add(name="smile"), cube.shape_key_add(name="blink")
    for name, key in (("grin", smile), ("wink", other)):
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        cube.data.shape_keys.animation_data_create().action = action
        key.value = 1.0
        key.keyframe_insert("value", frame=0)
        key.keyframe_insert("value", frame=5)
    smile.value = 0.5
    written(tmp_path / "a", "a.md3", frames="SCENE")
    assert f"{POSED}'smile'" in capfd.readouterr().out


MUTED = {name: options for name, options in MOVING.items() if name != "a.mdm"}  # which holds what plays alone


@pytest.mark.parametrize("part", ["all", "one axis"])
@pytest.mark.parametrize("name", MUTED)
def test_what_an_action_has_muted_rests_whatever_frame_of_another_shows(rig, tmp_path, name, part, capfd):
    acted(rig, "z", ARM)
    run = acted(rig, "run", ARM)
    rig.animation_data.action = acted(rig, "stand", ARM, degrees=80.0)
    for _, _, curves in action_parts(run):
        for curve in curves:
            curve.mute = part == "all" or curve.array_index == 1
    found = []
    for frame in (0, 4):
        bpy.context.scene.frame_set(frame)
        found.append(written(tmp_path / str(frame), name, **MUTED[name]))
    assert found[0] == found[1]
    assert "off what Blender shows" not in capfd.readouterr().out


def test_a_bone_whose_curves_are_muted_is_named_where_it_is_posed(rig, tmp_path, capfd):
    acted(rig, "wave", ARM)
    walk = acted(rig, "walk", ARM)
    rig.animation_data.action = walk
    for _, _, curves in action_parts(walk):
        for curve in curves:
            curve.mute = True
    rig.pose.bones[ARM].rotation_quaternion = turned(30)
    written(tmp_path / "a", "a.iqm")
    assert f"{POSED}'{ARM}'" in capfd.readouterr().out
    found = {each.name: each for each in load_animations(tmp_path / "a/a.iqm")}
    turns = np.abs(found["walk"].rotations[:, 1] - found["wave"].rotations[0, 1]).max(axis=-1)
    assert (turns > 0.1).all(), "and written as it stands, in what leaves it alone"


def test_an_armature_that_went_along_is_back_when_another_action_is_played(rig):
    """As in files: from the list of animations, whatever frame of the other showed."""
    for name, way in (("stand", 0.0), ("run", -2.5)):
        rig.animation_data.action = acted(rig, name, way=way)
        keep(rig, bpy.data.actions[name])
    activate(rig)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    bpy.context.scene.frame_set(9)
    assert rig.location.y == -2.5
    assert bpy.ops.object.idtech_animation_play(name="stand") == {"FINISHED"}
    assert tuple(rig.location) == (0.0, 0.0, 0.0)
