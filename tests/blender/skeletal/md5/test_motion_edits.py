"""MD5 models moved and placed otherwise in Blender: an edit changes what it touches in the files, and nothing else."""

import numpy as np
import pytest

from io_idtech_models.blender.compat import play
from tests import facts, samples_md5
from tests.blender.case import CONTEXT, reopen_blend
from tests.blender.skeletal.md5.edited import WAVES, channel_cells, subject
from tests.blender.skeletal.rigged import ANIM, MESH, cells, curve_of, drop_frame, farthest, insert_frame, open_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- motion


def test_rotate_a_bone_in_one_frame(case):
    frame = 2
    curve_of(case, case.first, case.bone, "rotation_quaternion", 1).keyframe_points[frame].co[1] += 0.1
    found = channel_cells(case, case.first)
    assert {(f, j) for f, j, _ in found} == {(frame, case.joint)}
    assert {c for *_, c in found} <= {3, 4, 5}
    changed = case.all_changed()
    assert set(changed) == {case.first}
    assert changed[case.first] <= {f"components[{frame}]", f"bounds[{frame}]"}
    assert farthest(case, case.first) < case.close


def test_bounds_of_a_frame_whose_pose_changed_grow_and_never_shrink(arm):
    """The file's are 90 units off: what leaves them makes them larger."""
    before = arm.motion_before("wave").bounds
    curve_of(arm, "wave", "origin", "location", 0).keyframe_points[2].co[1] += 1000.0
    after = arm.motion_after("wave").bounds
    assert {f for f, *_ in cells(before, after)} == {2}
    assert (after[2, 0] <= before[2, 0]).all()
    assert (after[2, 1] >= before[2, 1]).all()
    assert np.abs(after[2]).max() > 900


@pytest.mark.parametrize("scale", [1.0, 0.0254])
def test_a_channel_is_stored_once_it_leaves_the_base_frame(scale):
    case = subject(open_rig(samples_md5.arm(), WAVES, scale=scale))
    for bone, kind, index in (("hand", "location", 2), ("origin", "rotation_quaternion", 3)):
        curve_of(case, "wave", bone, kind, index).keyframe_points[3].co[1] += 0.25 * scale
    before, after = case.motion_before("wave"), case.motion_after("wave", scale=scale)
    assert before.flags.tolist() == [0, 56, 33]
    assert after.flags.tolist() == [32, 56, 37], "Qz and Tz, and no other for the rounding of a neighbour"
    assert cells(before.channels(), after.channels()) == {(3, 0, 5), (3, 2, 2)}
    assert cells(before.base, after.base) == set()


def test_a_joint_that_had_no_channels_gets_the_last_places(arm):
    curve_of(arm, "wave", "origin", "rotation_quaternion", 1).keyframe_points[2].co[1] += 0.1
    before, after = arm.motion_before("wave"), arm.motion_after("wave")
    assert after.starts.tolist() == [5, 2, 0]
    np.testing.assert_array_equal(after.components[:, :5].astype(np.float32), before.components.astype(np.float32))


@pytest.mark.parametrize("frame", [0, 2, -1])
def test_delete_a_frame(case, frame):
    before = case.motion_before(case.first)
    frame %= len(before.components)
    drop_frame(case.action(case.first), frame)
    after = case.motion_after(case.first)
    assert set(case.all_changed()) == {case.first}
    for field in ("components", "bounds"):
        rows = np.delete(getattr(before, field), frame, axis=0).astype(np.float32)
        np.testing.assert_array_equal(getattr(after, field).astype(np.float32), rows)
    same = [n for n in facts.facts(case.motions[case.first]) if not n.startswith(("components", "bounds"))]
    assert not case.moved(case.first) & set(same)


@pytest.mark.parametrize("like", [1, 3, None], ids=["a copy", "a copy of a later one", "between two"])
def test_insert_a_frame(case, like):
    before = case.motion_before(case.first)
    insert_frame(case.action(case.first), 2, like)
    after = case.motion_after(case.first)
    for field in ("components", "bounds"):
        rows, found = (getattr(file, field).astype(np.float32) for file in (before, after))
        np.testing.assert_array_equal(np.delete(found, 2, axis=0), rows)
        if like is not None:
            np.testing.assert_array_equal(found[2], rows[like])
    if like is None:
        low, high = np.minimum(*before.components[1:3]), np.maximum(*before.components[1:3])
        assert (after.components[2] >= low - 1e-3).all()
        assert (after.components[2] <= high + 1e-3).all()
    assert after.flags.tolist() == before.flags.tolist()
    assert set(case.all_changed()) == {case.first}


@pytest.mark.parametrize("name", ["long", "short"])
def test_frames_of_files_with_other_bounds(name):
    data = samples_md5.long_bounds() if name == "long" else samples_md5.short_bounds()
    case = open_rig(samples_md5.arm(), {name: data})
    drop_frame(case.action(name), 1)
    before, after = case.motion_before(name).bounds, case.motion_after(name).bounds
    assert len(after) == 4
    np.testing.assert_array_equal(after[:2], before[[0, 2]])


def test_edit_two_actions_one_after_the_other(case):
    rig = case.rig
    for name, frame in ((case.first, 1), (case.second, 0)):
        play(rig, case.action(name))
        CONTEXT.scene.frame_set(frame)
        bone = rig.pose.bones[case.bone]
        bone.rotation_quaternion.x += 0.125
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for name, frame in ((case.first, 1), (case.second, 0)):
        assert {(f, j) for f, j, _ in channel_cells(case, name)} == {(frame, case.joint)}
    assert set(case.all_changed()) == {case.first, case.second}
    reopen_blend()
    assert set(case.all_changed()) == {case.first, case.second}


def test_a_pose_that_is_not_keyed_is_no_edit(case):
    case.rig.pose.bones[case.bone].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    CONTEXT.view_layer.update()
    assert case.all_changed() == {}


def test_another_range_of_an_action(arm):
    action = arm.action("wave")
    action.frame_start, action.frame_end = 1, 3
    before, after = arm.motion_before("wave"), arm.motion_after("wave")
    assert cells(after.components, before.components[1:4]) == set()
    assert cells(after.bounds, before.bounds[1:4]) == set()


# -- placed elsewhere in the scene


def test_scale_that_joints_can_not_have_is_said(arm, caplog):
    arm.rig.scale = (1.0, 1.0, 2.0)
    caplog.clear()
    model = MESH.load(arm.dump(), "x")
    assert "'model' is scaled unevenly" in caplog.text
    np.testing.assert_allclose(np.linalg.norm(model.skeleton.rotations, axis=1), 1.0)
    arm.rig.scale = (1.0, 1.0, 1.0)
    play(arm.rig, arm.action("wave"))
    arm.rig.pose.bones["hand"].scale = (2.0, 2.0, 1.0)
    arm.rig.pose.bones["hand"].keyframe_insert("scale", frame=0)
    caplog.clear()
    found = ANIM.load(ANIM.dump(arm.gather_motion("wave")), "x")
    assert "uneven scale of bones is lost: in frame 0 that of 'hand'" in caplog.text
    np.testing.assert_allclose(found.positions, ANIM.load(arm.motions["wave"], "x").positions, atol=1e-4)


def test_far_from_the_origin_both_ways_agree():
    still, step = (4000.0, -3999.5, 4000.25, 0.1, 0.2, 0.3), (0.125, 0.0, 0.0, -0.5, 0.5, 0.5)
    base: list[tuple[float, ...]] = [still, step, (0.125, 0, 0, 0, -0.7, 0.7)]
    joints: list[samples_md5.Joint] = [(f"j{i}", i - 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) for i in range(3)]
    spec = samples_md5.AnimSpec(flags=(7, 56, 0), starts=(0, 3, 0), base=base, joints=joints)
    for i in range(4):
        spec.frames.append([4000.0 + i, -3999.5, 4000.25, -0.5 + 0.01 * i, 0.5, 0.5])
        spec.bounds.append((0.0,) * 6)
    case = open_rig(samples_md5.far_away(), {"far": spec.pack()})
    assert case.all_changed() == {}
