"""An armature that follows another, as games' rigs follow controls: the actions are those of whom it follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from io_idtech_models.assets.load import load as load_file
from io_idtech_models.blender.compat import HAS_SLOTS
from io_idtech_models.blender.player.rig import CharacterRig
from io_idtech_models.game.folders import Disk
from tests.samples import load
from tests.ui.scene import activate, add_mesh, add_tag, bpy, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
CLIPS = {"walk": (0.5, 5), "idle": (-0.25, 3)}  # the angle that the upper bone reaches, and frames


def add_rig(name: str) -> Any:
    """Return an armature of two bones along Z, each 8 long."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(rig)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for nth, bone in enumerate(("lower", "upper")):
        made = rig.data.edit_bones.new(bone)
        made.head, made.tail = (0, 0, 8 * nth), (0, 0, 8 * nth + 8)
        made.parent = rig.data.edit_bones["lower"] if nth else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def animate(rig: Any) -> None:
    """Let an armature turn its upper bone in two actions; it plays the first."""
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for name, (angle, count) in reversed(CLIPS.items()):
        rig.animation_data_create().action = bpy.data.actions.new(name)
        rig.animation_data.action.use_fake_user = True
        for frame in range(count):
            bone.rotation_euler.x = angle * frame / (count - 1)
            bone.keyframe_insert("rotation_euler", frame=frame)


@pytest.fixture
def led():
    """Return the armature of a game, and the controls that it follows."""
    control, rig = add_rig("control"), add_rig("game")
    animate(control)
    for bone in rig.pose.bones:
        hold = bone.constraints.new("COPY_TRANSFORMS")
        hold.target, hold.subtarget = control, bone.name
    mesh = add_mesh("skin", [(1, 0, 0), (0, 1, 0), (0, 0, 16)], [(0, 1, 2)])
    mesh.vertex_groups.new(name="upper").add([0, 1, 2], 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    mesh.parent = rig
    activate(rig)
    return rig, control


def angle_of(animation: Any, frame: int) -> float:
    """Return how far the upper joint is turned against its parent, radians."""
    before, after = animation.rotations[0, 1], animation.rotations[frame, 1]
    return float(2 * np.arccos(min(1.0, abs(np.dot(before, after)))))


def written(folder, what, **options):
    """Export animations; return them by name."""
    assert bpy.ops.export_anim.idtech_md5anim(filepath=str(folder / "x.md5anim"), what=what, **options) == {"FINISHED"}
    return {path.stem: load(path.read_bytes(), "md5anim") for path in folder.glob("*.md5anim")}


@pytest.fixture
def led_beside_tracks(led):
    """Return the same, and the game's armature keeps an animation of its own in a muted track, as imports leave it."""
    rig, _ = led
    own = bpy.data.actions.new("stand")
    rig.animation_data_create().action = own
    rig.pose.bones["lower"].keyframe_insert("location", frame=0)
    rig.animation_data.action = None
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("stand", 0, own)
    track.mute = True
    return led


@pytest.mark.parametrize("what", ["ALL", "CHOSEN"])
def test_actions_of_controls_are_theirs_beside_what_an_import_left(led_beside_tracks, tmp_path, what, capfd):
    found = written(tmp_path, what, **({"actions": "idle,walk"} if what == "CHOSEN" else {}))
    assert set(found) == {*CLIPS, "stand"} if what == "ALL" else set(CLIPS)
    for name, (angle, count) in CLIPS.items():
        assert found[name].num_frames == count
        assert angle_of(found[name], count - 1) == pytest.approx(abs(angle), abs=1e-4)
    said = capfd.readouterr().out
    assert ("'control', which 'game' follows, plays 'walk' whatever is written: so it does in 'stand'" in said) == (
        what == "ALL"
    )


def test_controls_that_were_exported_once_are_controls_still(led_beside_tracks, tmp_path):
    """By a slip, with what stands for no mesh."""
    rig, control = led_beside_tracks
    activate(control)
    assert bpy.ops.export_scene.idtech_md5mesh(filepath=str(tmp_path / "a.md5mesh"), what="SELECTION") == {"FINISHED"}
    assert "idtech_export" in control
    activate(rig)
    assert set(written(tmp_path, "ALL")) == {*CLIPS, "stand"}


def test_controls_in_the_models_own_collection_are_no_second_armature(led, tmp_path):
    rig, control = led
    mesh = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    activate(rig, control, mesh)
    assert bpy.ops.export_scene.idtech_md5mesh(filepath=str(tmp_path / "a.md5mesh"), what="SELECTION") == {"FINISHED"}
    assert load((tmp_path / "a.md5mesh").read_bytes(), "md5mesh").skeleton.num_joints == 2
    for bone in rig.pose.bones:
        bone.constraints.remove(bone.constraints[0])
    assert "has one armature" in error_of(
        bpy.ops.export_scene.idtech_md5mesh, filepath=str(tmp_path / "b.md5mesh"), what="SELECTION"
    )


@pytest.mark.parametrize("what", ["ALL", "CHOSEN"])
def test_actions_are_those_of_whom_it_follows(led, tmp_path, what):
    found = written(tmp_path, what, **({"actions": "walk,idle"} if what == "CHOSEN" else {}))
    assert set(found) == set(CLIPS)
    for name, (angle, count) in CLIPS.items():
        assert found[name].num_frames == count
        assert angle_of(found[name], count - 1) == pytest.approx(abs(angle), abs=1e-4)


def test_the_action_that_plays_is_that_of_whom_it_follows(led, tmp_path):
    found = written(tmp_path, "ACTIVE")["x"]
    assert angle_of(found, 4) == pytest.approx(0.5, abs=1e-4)


def test_a_file_of_several_animations_has_them(led, tmp_path):
    assert bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "a.iqm"), motions="ALL") == {"FINISHED"}
    clips = load_file(Disk().file(tmp_path / "a.iqm")).animations
    assert {clip.name: clip.num_frames for clip in clips} == {n: c for n, (_, c) in CLIPS.items()}


def test_a_player_is_made_of_them(led):
    rig, _ = led
    meshes = [block for block in bpy.data.objects if block.type == "MESH"]
    takes = CharacterRig(rig, meshes).takes()
    assert {name: len(take.times) for name, take in takes.items()} == {n: count for n, (_, count) in CLIPS.items()}


def test_everything_is_as_it_was(led, tmp_path):
    rig, control = led
    written(tmp_path, "ALL")
    assert rig.animation_data is None or rig.animation_data.action is None
    assert control.animation_data.action.name == "walk"


def test_who_has_actions_of_its_own_keeps_to_them(led, tmp_path, capfd):
    rig, control = led
    bone = rig.pose.bones["lower"]
    bone.rotation_mode = "XYZ"
    for frame in range(4):
        bone.keyframe_insert("rotation_euler", frame=frame)
    rig.animation_data.action.name = "own"
    rig.animation_data.action.use_fake_user = True
    rig.animation_data.action = rig.animation_data.action.copy()
    rig.animation_data.action.name = "own2"
    rig.animation_data.action.use_fake_user = True
    assert set(written(tmp_path, "CHOSEN", actions="own,own2")) == {"own", "own2"}
    said = capfd.readouterr().out
    assert f"'{control.name}', which 'game' follows, plays 'walk' whatever is written: so it does in 'own'" in said
    for bone in rig.pose.bones:
        bone.constraints[0].mute = True
    written(tmp_path, "CHOSEN", actions="own,own2")
    assert "whatever is written" not in capfd.readouterr().out


@pytest.mark.skipif(not HAS_SLOTS, reason="an action has one part before 4.4")
def test_what_has_a_slot_of_an_action_plays_along(tmp_path, capfd):
    rig, target = add_rig("game"), add_tag("target")
    rig.pose.bones["upper"].constraints.new("COPY_ROTATION").target = target
    for name, (angle, count) in CLIPS.items():
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        for owner, path in ((rig, 'pose.bones["lower"].rotation_euler'), (target, "rotation_euler")):
            owner.animation_data_create().action = action
            owner.animation_data.action_slot = action.slots.new("OBJECT", owner.name)
            for frame in range(count):
                target.rotation_euler.x = angle * frame / (count - 1)
                assert owner.keyframe_insert(path, frame=frame)
    activate(rig)
    found = written(tmp_path, "ALL")
    for name, (angle, count) in CLIPS.items():
        assert angle_of(found[name], count - 1) == pytest.approx(abs(angle), abs=1e-4)
    assert "whatever is written" not in capfd.readouterr().out
