"""Named animations: actions and markers that import makes, what they export to, and what an edit of them changes."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from io_idtech_models.blender import compat
from io_idtech_models.blender.mesh import attributes as mesh
from io_idtech_models.blender.playback import keep
from io_idtech_models.blender.provenance import MODEL_ID
from io_idtech_models.blender.vertex import clips as animations
from io_idtech_models.blender.vertex import shape_keys
from io_idtech_models.model.clips import Clip, group, numbered
from tests.blender.vertex.clips.animated import (
    ACTIONS,
    NAMES,
    PARTS,
    action,
    frame_names,
    keys_of,
    open_animated,
    reorder,
    state,
    surfaces_equal,
    the_curve,
)
from tests.blender.vertex.md3_case import CONTEXT, differences, open_case, reopen
from tests.samples import SENTINEL

pytestmark = pytest.mark.usefixtures("empty_scene")


def positions_at(block: Any, frame: float) -> np.ndarray[Any, Any]:
    CONTEXT.scene.frame_set(int(frame), subframe=frame % 1)
    return mesh.positions(block.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def key_positions(block: Any) -> np.ndarray[Any, Any]:
    keys = block.data.shape_keys
    return shape_keys.read(shape_keys.frame_blocks(keys), len(block.data.vertices))


# -- what import makes


def test_each_animation_is_an_action():
    case = open_animated()
    whole = keys_of(case)[0].animation_data.action
    made = animations.model_actions({case.collection[MODEL_ID]})
    assert sorted(a.name for a in made) == sorted(ACTIONS)
    assert whole not in made
    for (name, count), first in zip(PARTS, (0, 7, 11, 15), strict=True):
        assert action(name).use_fake_user
        assert action(name).use_frame_range
        assert (action(name).frame_start, action(name).frame_end) == (0, count - 1)
        ((_, kind, (curve,)),) = compat.action_parts(action(name))
        assert (kind, curve.data_path) == ("KEY", "eval_time")
        assert [curve.evaluate(t) for t in range(-1, count + 1)] == [
            first, *range(first, first + count), first + count - 1
        ]  # fmt: skip
    assert {keys.animation_data.action for keys in keys_of(case)} == {whole}


@pytest.mark.parametrize("again", [False, True], ids=["", "reopened"])
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_an_assigned_action_plays_on_every_surface(relative, again):
    case = open_animated(relative_keys=relative)
    CONTEXT.scene.frame_set(3)  # what shows now must not stay
    if again:
        reopen(case)
    for keys in keys_of(case):
        keys.animation_data.action = action("pain2")
    for block in (b for b in case.collection.all_objects if b.type == "MESH"):
        wanted = key_positions(block)[11:15]
        shown = np.stack([positions_at(block, frame) for frame in range(4)])
        assert np.array_equal(shown, wanted) if not relative else np.allclose(shown, wanted, atol=1e-5)


def test_the_whole_survives_when_nothing_plays_it():
    case = open_animated()
    name = keys_of(case)[0].animation_data.action.name
    for block in [*case.collection.all_objects]:
        if block.type == "EMPTY":
            block.animation_data_clear()
    for keys in keys_of(case):
        keys.animation_data.action = action("run")
    reopen(case)
    assert name in bpy.data.actions


def test_names_that_blender_changes():
    parts = [Clip("run", 0, 4), Clip("run", 4, 4), Clip("", 8, 12)]
    case = open_case(SENTINEL.read_bytes())
    bpy.data.actions.new("run")
    made = animations.make_actions(keys_of(case), parts, case.collection[MODEL_ID])
    assert [a.name for a in made] == ["run.001", "run.002", "frames"]
    named = frame_names(case.after(frames="ACTIONS"))
    assert named == [*numbered("run", 4), *numbered("run", 4), *numbered("", 12)]
    assert surfaces_equal(case.after(frames="ACTIONS", actions="run"), case.before, [0, 1, 2, 3])
    assert surfaces_equal(case.after(frames="ACTIONS", actions="run.002"), case.before, [4, 5, 6, 7])


def test_markers_stand_where_animations_begin():
    open_animated()
    scene = CONTEXT.scene
    wanted = {"stand": 0, "pain1": 7, "pain2": 11, "run": 15}
    assert [(m.name, m.frame) for m in scene.timeline_markers] == list(wanted.items())
    animations.mark(scene, group(NAMES))
    assert len(scene.timeline_markers) == 4
    animations.mark(scene, [Clip("", 0, 1)], start=30)
    assert [(m.name, m.frame) for m in scene.timeline_markers][4:] == [("frames", 30)]


# -- F1: unedited animations give the file


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize("mode", ["ACTIONS", "MARKERS", "SCENE", "KEYS", "AUTO"])
def test_unedited_animations_give_the_same_bytes(mode, relative):
    case = open_animated(relative_keys=relative)
    assert case.both(frames=mode) == case.data
    reopen(case)
    assert case.dump(frames=mode) == case.data


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize(("name", "everywhere"), [("stand", False), ("pain1", True), ("run", True)])
def test_looking_at_an_animation_changes_nothing(name, everywhere, relative):
    case = open_animated(relative_keys=relative)
    for keys in keys_of(case)[: None if everywhere else 1]:
        keys.animation_data.action = action(name)
    CONTEXT.scene.frame_set(2)
    assert case.both() == case.both(frames="ACTIONS") == case.data


@pytest.mark.parametrize("name", ["run", "stand"])
def test_tags_follow_the_whole_that_was_slowed_down(name):
    case = open_animated()
    holders = [keys_of(case)[0], *(b for b in case.collection.all_objects if b.type == "EMPTY")]
    for curve in {c.as_pointer(): c for h in holders for c in compat.playing_curves(h)}.values():
        for point in curve.keyframe_points:
            point.co.x *= 3
    keys_of(case)[0].animation_data.action = action(name)
    assert case.both(frames="KEYS") == case.both(frames="ACTIONS") == case.data


def test_keys_that_play_nothing_or_nla_tracks():
    case = open_animated()
    first, second = keys_of(case)[:2]
    second.animation_data_clear()
    whole = first.animation_data.action
    first.animation_data.nla_tracks.new().strips.new("whole", 2, whole)
    first.animation_data.action = None
    CONTEXT.scene.frame_set(0)
    before = state(first), state(second)
    assert case.both(frames="KEYS") == case.both(frames="ACTIONS") == case.data
    CONTEXT.scene.frame_set(0)
    assert (state(first), state(second)) == before


def test_the_timeline_shows_each_surface_its_own_action():
    case = open_animated()
    keys_of(case)[1].animation_data.action = action("run")
    after = case.after(frames="RANGE", frame_start=0, frame_end=4)
    meshes = [b for b in case.collection.all_objects if b.type == "MESH"]
    order = [case.built.surfaces.index(block) for block in meshes]
    for nth, surface in enumerate(order):
        frames = [15, 16, 17, 18, 19] if nth == 1 else [0, 1, 2, 3, 4]
        assert np.array_equal(
            after.surfaces[surface].vertices["xyz"], case.before.surfaces[surface].vertices["xyz"][frames]
        )


@pytest.mark.parametrize("first", [0, 1])
def test_edited_normals_are_the_same_in_a_stretch(first):
    case = open_animated()
    if first:
        reorder(case, [*range(1, 20)])
    data = case.surface(0).data
    normals, points = mesh.corner_normals(data), mesh.corner_points(data)
    normals[points == points[0]] = normals[points == points[0]].mean(axis=0) + np.array((0.6, 0.3, 0.2))
    data.normals_split_custom_set(mesh.unit(normals))
    whole = case.after(frames="KEYS")
    assert not np.array_equal(whole.surfaces[0].vertices[:5], case.before.surfaces[0].vertices[first : first + 5])
    for last in (4, 6):
        part = case.after(frames="RANGE", frame_start=4, frame_end=last)
        assert surfaces_equal(part, whole, [4, 5, 6][: len(part.frames)])


NAMELESS = [
    pytest.param([""] * 20, id="empty"),
    pytest.param(["(from 3DSMax)"] * 20, id="equal"),
    pytest.param([f"frame{i:03d}" for i in range(20)], id="from 000"),
    pytest.param([f"run{i}" for i in range(1, 11)] * 2, id="fall"),
    pytest.param([f"{'crtstnd' if i in (5, 6) else 'crstnd'}{i:02d}" for i in range(20)], id="misspelt"),
    pytest.param([f"0123456789ab{i:03d}" for i in range(20)], id="long"),
    pytest.param(["Stand_1", "stand 2", "walk", "walk.001", *(f"x{i}" for i in range(20, 4, -1))], id="odd"),
]  # fmt: skip


@pytest.mark.parametrize("odd", NAMELESS)
@pytest.mark.parametrize("mode", ["ACTIONS", "MARKERS"])
def test_odd_names_come_back(mode, odd):
    case = open_animated(odd)
    assert case.dump(frames=mode) == case.data


def test_two_models_with_actions_of_one_name():
    first, second = open_animated(), open_animated()
    first.surface(0).data.shape_keys.key_blocks[8].points[0].co.x += 5.0
    action("pain1").frame_end = 0  # the first one's
    assert second.dump(frames="ACTIONS") == second.data
    assert second.dump(frames="ACTIONS", actions="run") != second.data
    assert frame_names(second.after(frames="ACTIONS", actions="pain1")) == numbered("pain1", 4)
    assert surfaces_equal(second.after(frames="ACTIONS", actions="pain1"), second.before, [7, 8, 9, 10])
    assert surfaces_equal(first.after(frames="ACTIONS", actions="pain1"), second.after(), [7])
    assert surfaces_equal(first.after(), second.before, [*range(20)]) is False


# -- F2: what an edit of animations changes


def test_chosen_actions_in_their_order():
    case = open_animated()
    after = case.after(frames="ACTIONS", actions=" run, pain1 ,")
    frames = [15, 16, 17, 18, 19, 7, 8, 9, 10]
    assert frame_names(after) == [NAMES[f] for f in frames]
    assert np.array_equal(after.frames, case.before.frames[frames])
    assert np.array_equal(after.tags, case.before.tags[frames])
    assert surfaces_equal(after, case.before, frames)


def test_an_action_that_the_model_did_not_bring_is_left_out_and_said(caplog):
    """It fits, and is not played now: named, it is written."""
    case = open_animated()
    made = bpy.data.actions.new("jump")
    lead = keys_of(case)[0]
    shape_keys.add_stretch(compat.new_curves(made, "KEY", compat.slot_name(lead)), lead, 3, 4)
    made.use_fake_user = True
    other = bpy.data.actions.new("an object's")
    compat.new_curves(other, "OBJECT", "x").new("location", index=0).keyframe_points.add(1)
    other.use_fake_user = True
    said = "actions that this model did not bring are left out, name them to write them: 'jump'"
    assert frame_names(case.after(frames="ACTIONS")) == NAMES
    assert said in caplog.text
    caplog.clear()
    keep(lead, made)
    assert frame_names(case.after(frames="ACTIONS")) == NAMES
    assert said in caplog.text
    caplog.clear()
    assert frame_names(case.after(frames="ACTIONS", actions="jump, run"))[:4] == numbered("jump", 4)
    assert "left out" not in caplog.text


def test_a_renamed_action_renames_its_frames():
    case = open_animated()
    action("pain2").name = "ouch"
    after = case.after(frames="ACTIONS")
    assert differences(case.before, after) == {"frames.name"}
    assert frame_names(after) == [*NAMES[:11], "ouch01", "ouch02", "ouch03", "ouch04", *NAMES[15:]]


def test_a_renamed_key_keeps_its_name_in_its_animation_and_a_long_one_is_cut_and_said(caplog):
    case = open_animated()
    for keys in keys_of(case):
        keys.key_blocks[12].name = "Pain202"
    assert frame_names(case.after(frames="ACTIONS")) == [*NAMES[:12], "Pain202", *NAMES[13:]]
    action("pain2").name = name = "a very long name of an animation"
    assert frame_names(case.after(frames="ACTIONS"))[11] == "a very long n01"
    assert f"animation '{name}' is cut to fit its frames' names: 'a very long n01'" in caplog.text
    assert "is cut to 15 bytes" not in caplog.text


@pytest.mark.parametrize("unlinked", [False, True])
def test_a_deleted_action_takes_its_frames_along(unlinked):
    case = open_animated()
    if unlinked:
        action("pain1").use_fake_user = False
    else:
        bpy.data.actions.remove(action("pain1"))
    after = case.after(frames="ACTIONS")
    left = np.delete(np.arange(20), range(7, 11)).tolist()
    assert np.array_equal(after.frames, case.before.frames[left])
    assert np.array_equal(after.tags, case.before.tags[left])
    assert surfaces_equal(after, case.before, left)


def test_an_action_turned_round_and_a_copy():
    case = open_animated()
    copy = action("run").copy()
    copy.name, copy.use_fake_user = "back", True
    curve = the_curve("back")
    curve.keyframe_points[0].co.y, curve.keyframe_points[1].co.y = 19, 15
    curve.update()
    after = case.after(frames="ACTIONS")
    assert frame_names(after) == [*NAMES, *numbered("back", 5)]
    frames = [*range(20), 19, 18, 17, 16, 15]
    assert surfaces_equal(after, case.before, frames)
    assert np.array_equal(after.tags, case.before.tags[frames])


def test_a_stretch_of_another_length():
    case = open_animated()
    action("run").frame_end = 2
    assert frame_names(case.after(frames="ACTIONS", actions="run")) == NAMES[15:18]
    own, curve = action("pain2"), the_curve("pain2")
    curve.keyframe_points[1].co = (7, 18)
    curve.update()
    own.use_frame_range = False
    after = case.after(frames="ACTIONS", actions="pain2")
    assert frame_names(after) == numbered("pain2", 8)
    assert surfaces_equal(after, case.before, [*range(11, 19)])


def test_every_other_frame_and_frames_between():
    case = open_animated()
    run, curve = action("run"), the_curve("run")
    run.frame_end = curve.keyframe_points[1].co.x = 2
    curve.update()
    after = case.after(frames="ACTIONS", actions="run")
    assert frame_names(after) == [NAMES[15], NAMES[17], NAMES[19]]
    assert surfaces_equal(after, case.before, [15, 17, 19])
    run.frame_end = curve.keyframe_points[1].co.x = 8
    curve.update()
    after = case.after(frames="ACTIONS", actions="run")
    assert frame_names(after) == numbered("run", 9)
    for s, t in zip(case.before.surfaces, after.surfaces, strict=True):
        old, new = s.vertices["xyz"].astype(int), t.vertices["xyz"].astype(int)
        assert np.array_equal(new[::2], old[15:])
        assert (np.abs(new[1::2] - (old[15:19] + old[16:20]) / 2) <= 0.5).all()


def test_a_moved_tag_moves_in_the_animation_that_shows_that_frame():
    case = open_animated()
    tag = next(b for b in case.collection.all_objects if b.type == "EMPTY")
    curve = next(c for c in compat.playing_curves(tag) if (c.data_path, c.array_index) == ("location", 1))
    curve.keyframe_points[12].co.y += 3.0
    after = case.after(frames="ACTIONS", actions="pain2")
    assert np.array_equal(np.argwhere(after.tags["origin"] != case.before.tags["origin"][11:15])[:, 0], [1])
