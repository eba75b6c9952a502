"""Remove Rig: the keys hold the frames again, and what is another's, or gone with the rig, is left or named."""

from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models.blender.frame_rigs import RIG, is_frame_rig
from io_idtech_models.blender.vertex.shape_keys import frame_blocks, read
from tests.blender.skeletal.rigged import in_world
from tests.samples import PROJECT, format_of
from tests.ui.scene import activate, bpy, error_of, export_bytes, import_frames

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
remove = bpy.ops.object.idtech_remove_rig


@pytest.fixture
def mesh() -> Any:
    """Return a mesh whose frames were made a rig of, which is active."""
    found = import_frames(STILT)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    return found


def rig_of(mesh: Any) -> Any:
    return mesh.modifiers["Rig"].object


def frames_of(mesh: Any) -> Any:
    return read(frame_blocks(mesh.data.shape_keys), len(mesh.data.vertices))


def swing(rig: Any) -> None:
    """Let an armature play an action of its own that swings a leg."""
    rig.animation_data.action = bpy.data.actions.new("swing")
    bone = rig.pose.bones["thigh.R"]
    for frame, angle in ((0, 0.0), (33, 0.6)):
        bone.rotation_quaternion = Quaternion((1, 0, 0), angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def strips(rig: Any) -> None:
    """Let an armature play strips: all frames, and the swing on top."""
    whole = rig.animation_data.action
    swing(rig)
    swung, rig.animation_data.action = rig.animation_data.action, None
    for action in (whole, swung):
        rig.animation_data.nla_tracks.new().strips.new(action.name, 0, action)


def model_of(data: bytes) -> Any:
    return format_of(data).load(data, "")


def rest(mesh: Any) -> None:
    rig_of(mesh).data.pose_position = "REST"


def off(mesh: Any) -> None:
    mesh.modifiers["Rig"].show_viewport = False


@pytest.mark.parametrize("hide", [rest, off])
def test_frames_come_back_whatever_of_the_rig_shows(tmp_path, mesh, hide):
    hide(mesh)
    activate(rig_of(mesh))
    assert remove() == {"FINISHED"}
    activate(mesh)
    assert export_bytes(tmp_path / "a.md2") == STILT.read_bytes()


@pytest.mark.parametrize(("play", "said"), [(swing, "plays 'swing', which is no animation"), (strips, "plays strips")])
def test_what_it_plays_beside_its_animations_is_named(mesh, capfd, play, said):
    play(rig_of(mesh))
    assert remove() == {"FINISHED"}
    assert said in capfd.readouterr().out


@pytest.mark.parametrize("in_strip", [False, True])
def test_nothing_else_that_plays_is_nothing_to_keep(mesh, capfd, in_strip):
    rig = rig_of(mesh)
    whole, rig.animation_data.action = rig.animation_data.action, None
    if in_strip:
        rig.animation_data.nla_tracks.new().strips.new(whole.name, 0, whole)
    assert remove() == {"FINISHED"}
    assert "without it" not in capfd.readouterr().out


def test_bones_that_hold_each_other_are_nothing_else(mesh, capfd):
    rig = rig_of(mesh)
    hold = rig.pose.bones["foot.L"].constraints.new("COPY_ROTATION")
    hold.target, hold.subtarget = rig, "foot.R"
    assert remove() == {"FINISHED"}
    assert "stands still" not in capfd.readouterr().out


def copied(mesh: Any) -> Any:
    """Return a copy of a mesh with its rig, which shares their data (Alt+D)."""
    activate(mesh, rig_of(mesh))
    bpy.ops.object.duplicate(linked=True)
    return next(block for block in bpy.context.selected_objects if block.type == "MESH")


def test_a_mesh_that_another_object_shares_is_refused(mesh):
    twin = copied(mesh)
    activate(rig_of(twin))
    assert "shares its mesh with another object" in error_of(remove)
    assert is_frame_rig(rig_of(mesh))


def test_an_armature_that_another_object_shares_stays(mesh):
    twin = copied(mesh)
    twin.data = twin.data.copy()
    activate(rig_of(twin))
    assert remove() == {"FINISHED"}
    assert is_frame_rig(rig_of(mesh))
    assert not twin.modifiers
    assert np.abs(frames_of(twin) - frames_of(mesh)).max() > 1
    for frame in (0, 7, 33):
        bpy.context.scene.frame_set(frame)
        assert np.abs(in_world(mesh) - in_world(twin)).max() < 1e-3


@pytest.mark.parametrize("path", ["location", "rotation_quaternion", "scale"])
def test_one_key_changes_one_frame(tmp_path, mesh, path):
    """Of each channel of each bone, also of such as no frame moves."""
    before = model_of(export_bytes(tmp_path / "a.md2"))
    for bone in rig_of(mesh).pose.bones:
        setattr(bone, path, [value + 0.4 for value in getattr(bone, path)])
        assert bone.keyframe_insert(path, frame=7)
    after = model_of(export_bytes(tmp_path / "a.md2"))
    moved = np.abs(after.surfaces[0].positions - before.surfaces[0].positions).max(axis=(1, 2))
    assert np.flatnonzero(moved).tolist() == [7]


def copy_of_both(mesh: Any) -> tuple[Any, Any]:
    """Return a copy of a mesh and its rig (Shift+D)."""
    activate(mesh, rig_of(mesh))
    bpy.ops.object.duplicate()
    copies = bpy.context.selected_objects
    return next(b for b in copies if b.type == "MESH"), next(b for b in copies if b.type == "ARMATURE")


def written(folder: Any, mesh: Any, **options: Any) -> bytes:
    activate(mesh, rig_of(mesh))
    return export_bytes(folder / "a.md2", what="SELECTION", **options)


@pytest.mark.parametrize("played", ["run", "All Frames"])
@pytest.mark.parametrize("gone", ["copy", "first"])
def test_a_rig_takes_nothing_of_its_copy_along(tmp_path, mesh, played, gone):
    assert bpy.ops.object.idtech_animation_play(name=played) == {"FINISHED"}
    copy, rig = copy_of_both(mesh)
    first = rig_of(mesh)
    activate(rig if gone == "copy" else first)
    assert remove() == {"FINISHED"}
    left = mesh if gone == "copy" else copy
    activate(left)
    assert bpy.ops.object.idtech_animation_play(name="All Frames") == {"FINISHED"}
    assert positions_of(written(tmp_path, left)) == pytest.approx(positions_of(STILT.read_bytes()), abs=1e-4)


@pytest.mark.parametrize("played", ["run", "All Frames"])
def test_a_copy_plays_its_animations(tmp_path, mesh, played):
    """With bones of its own: it is posed apart from what it is a copy of."""
    bpy.ops.object.idtech_animation_play(name=played)
    copy, rig = copy_of_both(mesh)
    activate(copy)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    activate(mesh)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    for frame in range(6):
        bpy.context.scene.frame_set(frame)
        assert np.abs(in_world(copy) - in_world(mesh)).max() < 1e-3
    whole = written(tmp_path, mesh, frames="ACTIONS")
    assert positions_of(written(tmp_path, copy, frames="ACTIONS")) == pytest.approx(positions_of(whole), abs=1e-4)
    activate(copy)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    bone = rig.pose.bones["thigh.R"]
    bone.rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    assert bone.keyframe_insert("rotation_quaternion", frame=2)
    assert positions_of(written(tmp_path, mesh, frames="ACTIONS")) == pytest.approx(positions_of(whole), abs=1e-4)
    assert np.abs(positions_of(written(tmp_path, copy, frames="ACTIONS")) - positions_of(whole)).max() > 1


def positions_of(data: bytes) -> Any:
    return model_of(data).surfaces[0].positions


@pytest.mark.parametrize("share", ["All Frames", "run", ""])
def test_a_copy_that_shares_actions_gets_its_own(tmp_path, mesh, share):
    """As where copies share them by Blender's preferences, or play nothing."""
    bpy.ops.object.idtech_animation_play(name=share or "run")
    copy, rig = copy_of_both(mesh)
    rig.animation_data.action = rig_of(mesh).animation_data.action if share else None
    activate(copy)
    assert bpy.ops.object.idtech_animation_play(name="All Frames") == {"FINISHED"}
    assert positions_of(written(tmp_path, copy)) == pytest.approx(positions_of(STILT.read_bytes()), abs=1e-4)
    bone = rig.pose.bones["thigh.R"]
    bone.rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    assert bone.keyframe_insert("rotation_quaternion", frame=2)
    activate(mesh)
    assert bpy.ops.object.idtech_animation_play(name="All Frames") == {"FINISHED"}
    assert written(tmp_path, mesh) == STILT.read_bytes()
    assert np.abs(positions_of(written(tmp_path, copy)) - positions_of(STILT.read_bytes())).max() > 1


def test_a_copy_of_what_is_gone_has_its_animations(tmp_path, mesh):
    bpy.ops.object.idtech_animation_play(name="All Frames")
    whole = positions_of(written(tmp_path, mesh, frames="ACTIONS"))
    copy, _ = copy_of_both(mesh)
    activate(mesh, rig_of(mesh))
    bpy.ops.object.delete()
    assert positions_of(written(tmp_path, copy, frames="ACTIONS")) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("hide", ["object", "collection", "excluded"])
def test_frames_come_back_of_what_is_hidden(tmp_path, mesh, hide):
    home, rig = mesh.users_collection[0], rig_of(mesh)
    bpy.context.scene.collection.objects.link(rig)
    if hide == "object":
        mesh.hide_viewport = True
    elif hide == "collection":
        home.hide_viewport = True
    else:
        bpy.context.view_layer.layer_collection.children[home.name].exclude = True
    activate(rig)
    assert remove() == {"FINISHED"}
    mesh.hide_viewport = home.hide_viewport = False
    bpy.context.view_layer.layer_collection.children[home.name].exclude = False
    activate(mesh)
    assert export_bytes(tmp_path / "a.md2") == STILT.read_bytes()


def test_nothing_of_a_rig_is_left_though_its_data_has_a_fake_user(mesh):
    rig_of(mesh).data.use_fake_user = True
    assert remove() == {"FINISHED"}
    assert not bpy.data.armatures
    assert not [action for action in bpy.data.actions if RIG in action]
