"""Files that any action gives, whatever it moves, and which are refused."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from io_idtech_models.blender import compat
from io_idtech_models.blender.curves import add_curve
from io_idtech_models.blender.vertex import shape_keys
from io_idtech_models.model.clips import numbered
from io_idtech_models.reporting import LimitError
from tests.blender.skeletal.rigged import apart
from tests.blender.vertex.clips.animated import (
    NAMES,
    action,
    export,
    frame_names,
    keys_of,
    open_animated,
    state,
    surfaces_equal,
)
from tests.blender.vertex.md3_case import CONTEXT
from tests.ui.scene import add_cube, first

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- actions of other kinds


def put_aside(block: Any, made: Any) -> None:
    """Keep an action as an object's own where no slot tells whose it is."""
    made.use_fake_user = True
    if not compat.HAS_SLOTS:
        block.animation_data.nla_tracks.new().strips.new(made.name, 0, made)
        block.animation_data.nla_tracks[0].mute = True


def slide(block: Any, axis: int, first: tuple[int, float], last: tuple[int, float]) -> Any:
    """Key a place along an axis in two frames, (frame, place) each; returns the action."""
    for frame, place in (first, last):
        block.location[axis] = place
        block.keyframe_insert("location", frame=frame)
    return block.animation_data.action


def test_an_action_that_moves_a_tag_itself():
    """It plays "run" on the keys and, in a slot of its own, lifts the first tag."""
    case = open_animated()
    tag = first("EMPTY", case.collection.all_objects)
    own = bpy.data.actions.new("lift")
    kept = compat.played_action(tag)
    curves = compat.curves_for(own, tag, tag.name)
    for path, values in (("location", (1, 2, 3)), ("rotation_quaternion", (1, 0, 0, 0))):
        for index, value in enumerate(values):
            add_curve(curves, path, index, np.array([0, 4]), np.array([value, value + (path == "location")]))
    compat.play_action(tag, *kept)
    keys = keys_of(case)[0]
    if compat.HAS_SLOTS:
        shape_keys.add_stretch(compat.new_curves(own, "KEY", compat.slot_name(keys)), keys, 15, 5)
    put_aside(tag, own)
    before = state(tag)
    after = case.after(frames="ACTIONS", actions="run,lift")
    assert np.array_equal(after.tags[:5], case.before.tags[15:])
    assert after.tags["origin"][5:, 0].tolist() == [[1 + i / 4, 2 + i / 4, 3 + i / 4] for i in range(5)]
    if compat.HAS_SLOTS:
        assert np.array_equal(after.tags[5:, 1:], case.before.tags[15:, 1:])
        assert surfaces_equal(after, case.before, [*range(15, 20)] * 2)
    assert state(tag) == before


def add_rig() -> Any:
    """Return an armature of a bone along Y that moves nothing yet, and a child of it that is a tag."""
    rig: Any = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    CONTEXT.scene.collection.objects.link(rig)
    CONTEXT.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, start, end in (("root", 0, 20), ("tag_hand", 20, 24)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0, start, 0), (0, end, 0)
    rig.data.edit_bones["tag_hand"].parent = rig.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["root"].rotation_mode = "XYZ"
    return rig


def pose_action(rig: Any, name: str, start: int, end: int, angle: float) -> Any:
    """Return an action that turns the rig's bone, which the rig no longer plays."""
    bone = rig.pose.bones["root"]
    for frame, turn in ((start, 0.0), (end, angle)):
        bone.rotation_euler = Euler((turn, 0, 0))
        bone.keyframe_insert("rotation_euler", frame=frame)
    made = rig.animation_data.action
    made.name, made.use_fake_user = name, True
    for _, _, curves in compat.action_parts(made):
        for curve in curves:
            curve.keyframe_points.foreach_set("interpolation", [1] * len(curve.keyframe_points))
    rig.animation_data.action = None
    bone.rotation_euler = Euler((0, 0, 0))
    return made


def arm() -> tuple[Any, Any]:
    rig, block = add_rig(), add_cube("arm")
    block.vertex_groups.new(name="root").add(range(8), 1.0, "REPLACE")
    block.modifiers.new("rig", "ARMATURE").object = rig
    return rig, block


@pytest.mark.parametrize("with_tag", [False, True])
@pytest.mark.parametrize("disturbed", ["", "action", "muted", "track"])
def test_actions_of_an_armature(disturbed, with_tag):
    rig, block = arm()
    pose_action(rig, "bend", 10, 14, math.pi / 2)
    pose_action(rig, "wave", 1, 3, -math.pi)
    if disturbed:
        rig.pose.bones["root"].location = (0, 0, 9)
        rig.pose.bones["root"].keyframe_insert("location", frame=0)
        slide = rig.animation_data.action
        if disturbed == "track":
            rig.animation_data.action = None
            rig.animation_data.action = pose_action(rig, "other", 0, 1, 1.0)
            rig.animation_data.nla_tracks.new().strips.new("slide", 0, slide)
        for curve in compat.playing_curves(rig):
            curve.mute = disturbed == "muted"
        CONTEXT.scene.frame_set(7)
        assert rig.pose.bones["root"].location.z == 9
    CONTEXT.scene.frame_current = 7
    before = state(rig)
    model = export(block, *[rig] * with_tag, actions="wave,bend")
    assert model.frame_names == ["wave01", "wave02", "wave03", *numbered("bend", 5)]
    turns = [0, -math.pi / 2, -math.pi, *(i * math.pi / 8 for i in range(5))]
    assert model.num_frames == len(turns)
    for frame, turn in enumerate(turns):  # about X through the origin
        wanted = np.array([(x, y * math.cos(turn) - z * math.sin(turn), y * math.sin(turn) + z * math.cos(turn))
                           for x in (-8, 8) for y in (-8, 8) for z in (-8, 8)])  # fmt: skip
        assert apart(model.surfaces[0].positions[frame], wanted) < 1e-4
        for tag in model.tags:
            assert tag.origins[frame].tolist() == pytest.approx([0, 20 * math.cos(turn), 20 * math.sin(turn)], abs=1e-4)
    assert len(model.tags) == with_tag
    assert state(rig) == before
    assert CONTEXT.scene.frame_current == 7


def test_without_names_a_model_that_brought_none_has_those_that_fit_it():
    rig, block = arm()
    pose_action(rig, "wave", 1, 3, -math.pi)
    bend = pose_action(rig, "bend", 10, 14, math.pi / 2)
    put_aside(rig, bpy.data.actions["wave"])
    rig.animation_data.action = bend
    other = add_cube("other")
    slide(other, 0, (0, 0.0), (5, 1.0)).name = "another's"
    bpy.data.actions.new("empty").use_fake_user = True
    assert export(block).frame_names == [*numbered("bend", 5), *numbered("wave", 3)]


def test_actions_of_an_object():
    block, other = add_cube("ball"), add_cube("floor")
    bounce = slide(block, 2, (3, 0), (5, 8))
    bounce.name = "bounce"
    for played in (None, bounce, None):  # as a user does, and takes it away again
        block.animation_data.action = played
        block.location = (0, 0, 100)
    put_aside(block, bounce)
    before = state(block), state(other)
    model = export(block, other, actions="bounce")
    heights = [[float(s.positions[f, :, 2].max()) for f in range(3)] for s in model.surfaces]
    assert [h[0] for h in heights] == [8, 8]
    assert [h[2] for h in heights] == [16, 8]
    assert (state(block), state(other)) == before


def test_an_action_of_an_imported_object():
    case = open_animated()
    block = case.surface(0)
    # Blender would key it in the action of its shape keys.
    block.animation_data_create().action = bpy.data.actions.new("slide")
    own = slide(block, 0, (0, 0), (2, 32))
    block.animation_data.action = None
    block.location = (0, 0, 0)
    put_aside(block, own)
    after = case.after(frames="ACTIONS", actions="slide,stand")
    old, new = (file.surfaces[0].vertices["xyz"].astype(int) for file in (case.before, after))
    assert (new[2] - old[2] == (32 * 64, 0, 0)).all()
    assert np.array_equal(new[3:], old[:7])
    assert frame_names(after) == ["slide01", "slide02", "slide03", *NAMES[:7]]
    assert case.dump() == case.data


def test_an_action_of_a_parent():
    block, mover = add_cube("car"), bpy.data.objects.new("mover", None)
    CONTEXT.scene.collection.objects.link(mover)
    block.parent = mover
    slide(mover, 0, (0, 0), (2, 32)).name = "drive"
    mover.animation_data_clear()
    before = state(mover)
    model = export(block, actions="drive")
    assert [float(model.surfaces[0].positions[f, :, 0].max()) for f in (0, 2)] == [8, 40]
    assert state(mover) == before
    assert mover.animation_data is None


def test_all_comes_back_after_a_failure():
    rig, block = arm()
    pose_action(rig, "bend", 0, 4, 1.0)
    build = block.modifiers.new("array", "ARRAY")
    build.count = 1
    build.keyframe_insert("count", frame=0)
    build.count = 3
    build.keyframe_insert("count", frame=4)
    CONTEXT.scene.frame_set(1)
    before = state(rig), state(block), build.count
    with pytest.raises(LimitError, match="has other vertices or faces"):
        export(block, rig, actions="bend")
    assert (state(rig), state(block), build.count) == before
    assert CONTEXT.scene.frame_current == 1


# -- what is refused


def test_actions_that_are_not_there():
    case = open_animated()
    with pytest.raises(LimitError, match=r"^no action is called 'jump', 'fly'$"):
        case.dump(frames="ACTIONS", actions="run,jump,fly")
    with pytest.raises(LimitError, match="no action to export"):
        export(add_cube("box"))


def test_an_action_that_moves_nothing():
    open_animated()
    with pytest.raises(LimitError, match=r"^action 'run' moves nothing of this model$"):
        export(add_cube("box"), actions="run")
    action("run").name = "fast"
    relative = open_animated(relative_keys=True)
    with pytest.raises(LimitError, match=r"^action 'fast' moves nothing of this model$"):
        export(relative.surface(0), actions="fast")


def test_an_action_that_may_move_several():
    blocks = [add_cube(name) for name in "abc"]
    blocks[0].keyframe_insert("location", frame=0)
    own: Any = blocks[0].animation_data.action
    own.name, own.use_fake_user = "hop", True
    blocks[0].animation_data_clear()
    blocks[0].name = "renamed"
    with pytest.raises(LimitError, match=r"^action 'hop' may be meant for any of 'renamed', 'b', 'c': assign it"):
        export(*blocks, actions="hop")


def test_the_tweak_mode_of_the_nla_is_refused():
    rig, block = arm()
    bend = pose_action(rig, "bend", 0, 4, 1.0)
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("bend", 0, bend)
    rig.animation_data.nla_tracks.active = track
    track.strips[0].select = True
    rig.animation_data.use_tweak_mode = True
    if not rig.animation_data.use_tweak_mode:
        pytest.skip("this Blender needs the NLA editor for that")
    with pytest.raises(LimitError, match="'rig' is in the tweak mode of the NLA editor: leave it first"):
        export(block, rig, actions="bend")
