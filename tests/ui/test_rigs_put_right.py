"""What somebody took from a rig that was made of frames: an action, curves, a modifier; it comes back, or is named."""

from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models.blender.compat import HAS_SLOTS, action_parts, slot_curves
from io_idtech_models.blender.frame_rigs import posed_by, whole_of
from io_idtech_models.blender.rig_clips import clips_of
from io_idtech_models.blender.rig_poses import curves_of
from tests.blender.case import positions_at
from tests.samples import PROJECT, format_of
from tests.ui.scene import activate, bpy, error_of, export_bytes, import_frames

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
NEAR = 0.3  # of 34 units that it moves: twice what the file's steps are
RUN = range(10, 16)  # the frames of the animation that is taken away
play, remove = bpy.ops.object.idtech_animation_play, bpy.ops.object.idtech_remove_rig


def shown_by(data: bytes) -> Any:
    """Return the frames (F, V, 3) of a file."""
    return format_of(data).load(data, "").surfaces[0].positions


IMPORTED = shown_by(STILT.read_bytes())


@pytest.fixture
def mesh() -> Any:
    found = import_frames(STILT)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    activate(found)
    return found


def rig_of(mesh: Any) -> Any:
    return mesh.modifiers["Rig"].object


def action(rig: Any, name: str) -> Any:
    return next(clip for clip in clips_of(rig) if clip.name.startswith(name))


def written(folder: Any, **options: Any) -> Any:
    """Export; returns the frames (F, V, 3)."""
    return shown_by(export_bytes(folder / "a.md2", **options))


def off(one: Any, other: Any) -> list[float]:
    """Return how far points (F, n, 3) are at most from the nearest of the others, frame by frame."""
    away = [np.linalg.norm(a[:, None] - b[None], axis=-1) for a, b in zip(one, other, strict=True)]
    return [float(max(each.min(axis=0).max(), each.min(axis=1).max())) for each in away]


def frames_of(mesh: Any, frames: Any) -> Any:
    return [positions_at(mesh, frame) for frame in frames]


def turn(rig: Any, frames: Any) -> None:
    """Turn a shin in some frames of what plays."""
    bone = rig.pose.bones["shin.R"]
    for frame in frames:
        bone.rotation_quaternion = Quaternion((1, 0, 0), 1.2)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


# -- actions that are gone


def test_the_action_of_all_frames_is_made_anew_of_the_animations(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    play(name="run")
    turn(rig, [2])
    posed = written(tmp_path)
    bpy.data.actions.remove(whole_of(rig))
    assert max(off(written(tmp_path), posed)) < NEAR
    assert (
        "the action of all frames of 'stilt_rig' was gone: it is made anew of its animations" in capfd.readouterr().out
    )
    play(name="stand")
    assert rig.animation_data.action == action(rig, "stand")
    activate(rig)
    assert remove() == {"FINISHED"}
    activate(mesh)
    assert max(off(written(tmp_path), posed)) < NEAR


def test_it_plays_again_where_it_did(mesh, tmp_path):
    rig = rig_of(mesh)
    bpy.data.actions.remove(whole_of(rig))
    shown = frames_of(mesh, [12])
    assert off(shown, IMPORTED[12:13])[0] > 1, "at rest"
    written(tmp_path)
    assert rig.animation_data.action == whole_of(rig)
    assert off(frames_of(mesh, [12]), IMPORTED[12:13])[0] < NEAR


def test_frames_of_no_animation_rest_then_and_are_counted(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    bpy.data.actions.remove(action(rig, "run"))
    bpy.data.actions.remove(whole_of(rig))
    away = off(written(tmp_path), IMPORTED)
    assert [frame for frame, each in enumerate(away) if each > NEAR] == [*RUN]
    assert "6 frames of 'stilt_rig' in no animation: there it rests (first: 10)" in capfd.readouterr().out


def test_without_any_of_its_actions_a_rig_is_not_removed(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    for each in [*clips_of(rig), whole_of(rig)]:
        bpy.data.actions.remove(each)
    activate(rig)
    assert "is gone, and with it the poses: undo that" in error_of(remove)
    assert rig.name in bpy.data.objects
    activate(mesh)
    written(tmp_path)
    assert "is gone, and with it the poses (undo that)" in capfd.readouterr().out


def test_a_copy_that_replaced_the_action_of_all_frames_is_it(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    old = rig.animation_data.action
    copy = old.copy()
    bpy.data.actions.remove(old)
    rig.animation_data.action = copy
    assert max(off(written(tmp_path), IMPORTED)) < NEAR
    assert "left out" not in capfd.readouterr().out
    play(name="run")
    assert max(off(frames_of(mesh, range(6)), IMPORTED[10:16])) < NEAR


def test_poses_of_an_animation_come_back_with_a_click(mesh, tmp_path):
    rig = rig_of(mesh)
    bpy.data.actions.remove(action(rig, "run"))
    play(name="stand")
    play(name="run")
    assert max(off(frames_of(mesh, range(6)), IMPORTED[10:16])) < NEAR
    turn(rig, [2])
    away = off(written(tmp_path), IMPORTED)
    assert [frame for frame, each in enumerate(away) if each > NEAR] == [12]


def test_an_animation_that_has_no_poses_any_more_is_named(mesh, tmp_path, capfd):
    bpy.data.actions.remove(action(rig_of(mesh), "run"))
    written(tmp_path, frames="ACTIONS")
    assert "'stilt_rig' has no poses along with 'run'" in capfd.readouterr().out
    play(name="run")
    assert max(off(written(tmp_path, frames="ACTIONS"), IMPORTED)) < NEAR
    assert "has no poses" not in capfd.readouterr().out


def copied(mesh: Any) -> tuple[Any, Any]:
    """Duplicate a mesh with its rig into a collection of their own; returns both."""
    activate(mesh, rig_of(mesh))
    bpy.ops.object.duplicate()
    home = bpy.data.collections.new("copy")
    bpy.context.scene.collection.children.link(home)
    for block in list(bpy.context.selected_objects):
        for collection in block.users_collection:
            collection.objects.unlink(block)
        home.objects.link(block)
    twin = next(block for block in home.objects if block.type == "MESH")
    activate(twin)
    return twin, rig_of(twin)


def test_a_copy_does_not_take_what_the_first_one_lost(mesh, tmp_path):
    rig = rig_of(mesh)
    twin, other = copied(mesh)
    play(name="run")
    turn(other, [2])
    before = written(tmp_path)
    activate(mesh)
    play(name="stand")
    bpy.data.actions.remove(whole_of(rig))
    written(tmp_path)
    activate(twin)
    assert max(off(written(tmp_path), before)) < NEAR


def test_a_copys_meshes_are_not_bound_to_the_first_one(mesh, tmp_path):
    rig = rig_of(mesh)
    play(name="run")
    twin, other = copied(mesh)
    play(name="run")
    twin.modifiers.clear()
    activate(rig)
    assert remove() == {"FINISHED"}
    assert not twin.modifiers
    activate(other)
    assert remove() == {"FINISHED"}
    activate(twin)
    assert max(off(written(tmp_path), IMPORTED)) < NEAR


def test_a_copy_of_an_animation_is_not_what_all_frames_are_made_of(mesh, tmp_path):
    rig = rig_of(mesh)
    play(name="run")
    kept = rig.animation_data.action.copy()
    kept.use_fake_user = True
    turn(rig, [2])
    posed = written(tmp_path)
    bpy.data.actions.remove(whole_of(rig))
    assert max(off(written(tmp_path), posed)) < NEAR


@pytest.mark.parametrize("name", ["run", "All Frames"])
def test_a_bone_is_renamed_in_all_actions_whichever_plays(mesh, tmp_path, name):
    rig = rig_of(mesh)
    play(name=name)
    rig.data.bones["spine"].name = "chest"
    assert max(off(written(tmp_path), IMPORTED)) < NEAR
    assert any("chest" in curve.data_path for curve in curves_of(whole_of(rig)))


# -- curves that are gone


@pytest.mark.parametrize("plays", [True, False])
def test_curves_that_were_deleted_from_an_animation_stay_so(mesh, tmp_path, plays):
    """The bone is as it stands while that plays, else at rest."""
    rig = rig_of(mesh)
    play(name="run")
    clip, bone = rig.animation_data.action, rig.pose.bones["thigh.R"]
    curves = slot_curves(clip, action_parts(clip)[0][0])
    for curve in [curve for curve in curves if "thigh.R" in curve.data_path]:
        curves.remove(curve)
    bone.location, bone.rotation_quaternion, bone.scale = (0, 0, 0), (1, 0, 0, 0), (1, 1, 1)
    if plays:
        bone.rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    shown = frames_of(mesh, range(6))
    if not plays:
        play(name="stand")
    posed = written(tmp_path)
    assert max(off(posed[10:16], shown)) < NEAR
    others = [frame for frame in range(34) if frame not in RUN]
    assert max(off(posed[others], IMPORTED[others])) < NEAR
    play(name="run")
    assert max(off(frames_of(mesh, range(6)), shown)) < NEAR


def test_muted_curves_of_an_animation_are_named(mesh, tmp_path, capfd):
    play(name="run")
    clip = rig_of(mesh).animation_data.action
    curves_of(clip)[0].mute = True
    written(tmp_path)
    assert f"muted curves count as if they were not, delete them if they are not meant, of: '{clip.name}'" in (
        capfd.readouterr().out
    )


# -- what plays beside


def test_strips_beside_an_own_action_are_named_where_they_show(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    whole = rig.animation_data.action
    rig.animation_data.action = None
    turn(rig, [0, 33])
    own, rig.animation_data.action = rig.animation_data.action, whole
    rig.animation_data.nla_tracks.new().strips.new("own", 0, own)
    written(tmp_path)
    assert "plays strips" not in capfd.readouterr().out, "it is hidden behind what plays"
    rig.animation_data.action_blend_type = "COMBINE"
    written(tmp_path)
    assert "'stilt_rig' plays strips beside 'stilt_rig': frames are posed as in 'stilt_rig'" in capfd.readouterr().out


def moved(strip: Any) -> None:
    strip.frame_start, strip.frame_end = strip.frame_start + 5, strip.frame_end + 5


def slowed(strip: Any) -> None:
    strip.scale = 2.0


def half(strip: Any) -> None:
    strip.use_animated_influence, strip.influence = True, 0.5


@pytest.mark.parametrize(("change", "said"), [(None, False), (moved, True), (slowed, True), (half, True)])
def test_a_strip_of_all_frames_is_named_where_it_shows_them_otherwise(mesh, tmp_path, capfd, change, said):
    animation = rig_of(mesh).animation_data
    whole, animation.action = animation.action, None
    strip = animation.nla_tracks.new().strips.new(whole.name, 0, whole)
    if change is not None:
        change(strip)
    written(tmp_path)
    output = capfd.readouterr().out
    assert ("plays strips: frames are posed as in" in output) == said
    assert "plays nothing" not in output


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have one slot")
@pytest.mark.parametrize("slot", ["two", None])
def test_another_slot_of_the_own_action_is_named(mesh, tmp_path, capfd, slot):
    rig = rig_of(mesh)
    animation = rig.animation_data
    animation.action_slot = None if slot is None else animation.action.slots.new("OBJECT", slot)
    if slot is not None:
        turn(rig, range(34))
    for name in (None, "run"):
        if name is not None:
            play(name=name)
        assert max(off(written(tmp_path), IMPORTED)) < NEAR
        what = "no slot" if slot is None else "the slot 'two'"
        assert (f"'stilt_rig' plays {what} of 'stilt_rig'" in capfd.readouterr().out) == (name is None)


# -- modifiers that are gone


def test_meshes_without_the_modifier_are_named_and_get_it_back_to_go_without(mesh, tmp_path, capfd):
    rig = rig_of(mesh)
    mesh.modifiers.clear()
    written(tmp_path)
    assert "no Armature modifier with it poses them: undo that, or add it again, to: 'stilt'" in capfd.readouterr().out
    activate(rig)
    assert remove() == {"FINISHED"}
    assert "the Armature modifiers of these were gone, their frames are as 'stilt_rig' posed them: 'stilt'" in (
        capfd.readouterr().out
    )
    activate(mesh)
    assert export_bytes(tmp_path / "a.md2") == STILT.read_bytes()
    assert "Armature modifier" not in capfd.readouterr().out


def test_a_rig_that_is_not_removed_leaves_the_scene_as_it_was(mesh):
    rig, twin = rig_of(mesh), mesh.copy()
    bpy.context.scene.collection.objects.link(twin)
    for block in (mesh, twin):
        block.modifiers.clear()
    activate(rig)
    assert "shares its mesh with another object" in error_of(remove)
    assert not (mesh.modifiers or twin.modifiers)


def test_without_the_armature_meshes_are_named_by_exports_and_a_new_rig(mesh, tmp_path, capfd):
    bpy.data.objects.remove(rig_of(mesh))
    bpy.context.view_layer.update()
    written(tmp_path)
    assert "a rig was made of their frames, and no Armature modifier" in capfd.readouterr().out
    activate(mesh)
    bpy.ops.object.idtech_make_rig()
    assert "a rig was made of their frames, and no Armature modifier" in capfd.readouterr().out


def test_a_rig_whose_meshes_are_gone_is_no_rig_to_remove(mesh):
    rig = rig_of(mesh)
    bpy.data.objects.remove(mesh)
    bpy.context.view_layer.update()
    activate(rig)
    assert "'stilt_rig' poses no mesh that it was made of" in error_of(remove)
    assert not posed_by(rig)
