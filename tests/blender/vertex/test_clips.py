"""Named animations: actions and markers that import makes, and files that any actions or markers give."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from io_idtech_models.blender import compat
from io_idtech_models.blender.curves import add_curve, value_path
from io_idtech_models.blender.mesh import attributes as mesh
from io_idtech_models.blender.provenance import MODEL_ID
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.vertex import clips as animations
from io_idtech_models.blender.vertex import shape_keys
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.model.clips import Clip, group, numbered
from io_idtech_models.reporting import LimitError
from tests.blender.vertex.md3_case import CONTEXT, Case, differences, open_case, reopen
from tests.samples import SENTINEL

pytestmark = pytest.mark.usefixtures("empty_scene")

PARTS = [("stand", 7), ("pain1", 4), ("pain2", 4), ("run", 5)]
NAMES = [*(name for part in PARTS[:3] for name in numbered(*part)), "run1", "run2", "run3", "run4", "run5"]
ACTIONS = [name for name, _ in PARTS]


def with_names(data: bytes, frame_names: list[str]) -> bytes:
    """Return an MD3 whose frames have other names."""
    file = md3.read(data)
    file.frames = file.frames.copy()
    file.frames["name"] = [name.encode() for name in frame_names]
    return md3.write(file)


def open_animated(frame_names: list[str] | None = None, **options: Any) -> Case:
    """Import a model of 20 frames, two surfaces or more, and tags, with an action and a marker for each animation."""
    case = open_case(with_names(SENTINEL.read_bytes(), frame_names or NAMES), **options)
    found = group(frame_names or NAMES)
    ids = {case.collection[MODEL_ID]}
    if not animations.model_actions(ids):
        animations.make_actions(keys_of(case), found, case.collection[MODEL_ID])
    animations.mark(CONTEXT.scene, found)
    return case


def keys_of(case: Case) -> list[Any]:
    return [block.data.shape_keys for block in case.collection.all_objects if block.type == "MESH"]


def action(name: str) -> Any:
    return bpy.data.actions[name]


def positions_at(block: Any, frame: float) -> np.ndarray[Any, Any]:
    CONTEXT.scene.frame_set(int(frame), subframe=frame % 1)
    return mesh.positions(block.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def key_positions(block: Any) -> np.ndarray[Any, Any]:
    keys = block.data.shape_keys
    return shape_keys.read(shape_keys.frame_blocks(keys), len(block.data.vertices))


def frame_names(file: md3.Md3) -> list[str]:
    return [name.split(b"\0")[0].decode() for name in file.frames["name"].tolist()]


def surfaces_equal(file: md3.Md3, other: md3.Md3, frames: list[int]) -> bool:
    pairs = zip(file.surfaces, other.surfaces, strict=True)
    return all(np.array_equal(s.vertices, t.vertices[frames]) for s, t in pairs)


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
    assert [(m.name, m.frame) for m in scene.timeline_markers] == [
        ("stand", 0),
        ("pain1", 7),
        ("pain2", 11),
        ("run", 15),
    ]
    animations.mark(scene, group(NAMES))
    assert len(scene.timeline_markers) == 4
    animations.mark(scene, [Clip("", 0, 1)], start=30)
    assert [(m.name, m.frame) for m in scene.timeline_markers][4:] == [("frames", 30)]


# -- F1: unedited animations give the file


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize("mode", ["ACTIONS", "MARKERS", "SCENE", "KEYS", "AUTO"])
def test_unedited_animations_give_the_same_bytes(mode, relative):
    case = open_animated(relative_keys=relative)
    assert case.dump(frames=mode) == case.data
    assert case.dump(frames=mode, direct=False) == case.data
    reopen(case)
    assert case.dump(frames=mode) == case.data


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize(("name", "everywhere"), [("stand", False), ("pain1", True), ("run", True)])
def test_looking_at_an_animation_changes_nothing(name, everywhere, relative, direct):
    case = open_animated(relative_keys=relative)
    for keys in keys_of(case)[: None if everywhere else 1]:
        keys.animation_data.action = action(name)
    CONTEXT.scene.frame_set(2)
    assert case.dump(direct=direct) == case.data
    assert case.dump(direct=direct, frames="ACTIONS") == case.data


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("name", ["run", "stand"])
def test_tags_follow_the_whole_that_was_slowed_down(name, direct):
    case = open_animated()
    holders = [keys_of(case)[0], *(b for b in case.collection.all_objects if b.type == "EMPTY")]
    for curve in {c.as_pointer(): c for h in holders for c in compat.playing_curves(h)}.values():
        for point in curve.keyframe_points:
            point.co.x *= 3
    keys_of(case)[0].animation_data.action = action(name)
    assert case.dump(direct=direct, frames="KEYS") == case.data
    assert case.dump(direct=direct, frames="ACTIONS") == case.data


def test_keys_that_play_nothing_or_nla_tracks():
    case = open_animated()
    first, second = keys_of(case)[:2]
    second.animation_data_clear()
    whole = first.animation_data.action
    first.animation_data.nla_tracks.new().strips.new("whole", 2, whole)
    first.animation_data.action = None
    CONTEXT.scene.frame_set(0)
    before = state(first), state(second)
    for mode in ("KEYS", "ACTIONS"):
        assert case.dump(frames=mode) == case.data
        assert case.dump(frames=mode, direct=False) == case.data
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
    normals = np.zeros((len(data.loops), 3), np.float32)
    data.corner_normals.foreach_get("vector", normals.ravel())
    mine = np.array([loop.vertex_index == data.loops[0].vertex_index for loop in data.loops])
    normals[mine] = normals[mine].mean(axis=0) + np.array((0.6, 0.3, 0.2))
    data.normals_split_custom_set(normals / np.linalg.norm(normals, axis=1)[:, None])
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
    assert frame_names(case.after(frames="ACTIONS")) == NAMES
    assert "actions that this model did not bring are left out, name them to write them: 'jump'" in caplog.text
    caplog.clear()
    assert frame_names(case.after(frames="ACTIONS", actions="jump, run"))[:4] == numbered("jump", 4)
    assert "left out" not in caplog.text


def test_a_renamed_action_renames_its_frames():
    case = open_animated()
    action("pain2").name = "ouch"
    after = case.after(frames="ACTIONS")
    assert differences(case.before, after) == {"frames.name"}
    assert frame_names(after) == [*NAMES[:11], "ouch01", "ouch02", "ouch03", "ouch04", *NAMES[15:]]


def test_a_long_name_is_cut_and_said(caplog):
    case = open_animated()
    action("pain2").name = "a very long name of an animation"
    assert frame_names(case.after(frames="ACTIONS"))[11] == "a very long n01"
    assert (
        "animation 'a very long name of an animation' is cut to fit its frames' names: 'a very long n01'" in caplog.text
    )
    assert "is cut to 15 bytes" not in caplog.text


def test_a_renamed_key_keeps_its_name_in_its_animation():
    case = open_animated()
    for keys in keys_of(case):
        keys.key_blocks[12].name = "Pain202"
    assert frame_names(case.after(frames="ACTIONS")) == [*NAMES[:12], "Pain202", *NAMES[13:]]


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
    ((_, _, (curve,)),) = compat.action_parts(copy)
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
    own = action("pain2")
    ((_, _, (curve,)),) = compat.action_parts(own)
    curve.keyframe_points[1].co = (7, 18)
    curve.update()
    own.use_frame_range = False
    after = case.after(frames="ACTIONS", actions="pain2")
    assert frame_names(after) == numbered("pain2", 8)
    assert surfaces_equal(after, case.before, [*range(11, 19)])


def test_every_other_frame_and_frames_between():
    case = open_animated()
    run = action("run")
    ((_, _, (curve,)),) = compat.action_parts(run)
    curve.keyframe_points[1].co.x = 2
    curve.update()
    run.frame_end = 2
    after = case.after(frames="ACTIONS", actions="run")
    assert frame_names(after) == [NAMES[15], NAMES[17], NAMES[19]]
    assert surfaces_equal(after, case.before, [15, 17, 19])
    curve.keyframe_points[1].co.x = 8
    curve.update()
    run.frame_end = 8
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


# -- actions of other kinds


def add_tag_action(case: Case) -> Any:
    """Return an action that plays "run" on the keys and, in a slot of its own, lifts the first tag."""
    tag = next(b for b in case.collection.all_objects if b.type == "EMPTY")
    own = bpy.data.actions.new("lift")
    kept = compat.played_action(tag)
    curves = compat.curves_for(own, tag, tag.name)
    for path, values in (("location", (1, 2, 3)), ("rotation_quaternion", (1, 0, 0, 0))):
        for index, value in enumerate(values):
            add_curve(curves, path, index, np.array([0, 4]), np.array([value, value + (path == "location")]))
    compat.play_action(tag, *kept)
    if compat.HAS_SLOTS:
        shape_keys.add_stretch(
            compat.new_curves(own, "KEY", compat.slot_name(keys_of(case)[0])), keys_of(case)[0], 15, 5
        )
    return own


def test_an_action_that_moves_a_tag_itself():
    case = open_animated()
    own = add_tag_action(case)
    tag = next(b for b in case.collection.all_objects if b.type == "EMPTY")
    if not compat.HAS_SLOTS:
        tag.animation_data.nla_tracks.new().strips.new("lift", 0, own)
        tag.animation_data.nla_tracks[0].mute = True
    before = state(tag)
    after = case.after(frames="ACTIONS", actions="run,lift")
    assert np.array_equal(after.tags[:5], case.before.tags[15:])
    assert after.tags["origin"][5:, 0].tolist() == [[1 + i / 4, 2 + i / 4, 3 + i / 4] for i in range(5)]
    if compat.HAS_SLOTS:
        assert np.array_equal(after.tags[5:, 1:], case.before.tags[15:, 1:])
        assert surfaces_equal(after, case.before, [*range(15, 20)] * 2)
    assert state(tag) == before


def add_cube(name: str) -> Any:
    data = bpy.data.meshes.new(name)
    points = [(x, y, z) for x in (-8, 8) for y in (-8, 8) for z in (-8, 8)]
    data.from_pydata(points, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    data.uv_layers.new()
    block = bpy.data.objects.new(name, data)
    CONTEXT.scene.collection.objects.link(block)
    return block


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


def state(block: Any) -> Any:
    """Return what an export may not change of an ID."""
    animation = block.animation_data
    bones = [(*b.rotation_euler, *b.location) for b in block.pose.bones] if getattr(block, "pose", None) else []
    place = tuple(getattr(block, "location", ())), getattr(block, "eval_time", 0), bones
    if animation is None:
        return None, place
    played = tuple(map(str, compat.played_action(block)))
    return played, animation.use_nla, [track.mute for track in animation.nla_tracks], place


def export(*blocks: Any, direct: bool = True, **options: Any) -> Any:
    from io_idtech_models.blender.vertex.gather import gather

    settings = GatherSettings(**{"frames": "ACTIONS", "direct": direct, **options})
    return gather(list(blocks), None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings))


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
        far = np.linalg.norm(model.surfaces[0].positions[frame][:, None] - wanted, axis=2)
        assert far.min(axis=0).max() < 1e-4 and far.min(axis=1).max() < 1e-4
        for tag in model.tags:
            assert tag.origins[frame].tolist() == pytest.approx([0, 20 * math.cos(turn), 20 * math.sin(turn)], abs=1e-4)
    assert len(model.tags) == with_tag
    assert state(rig) == before
    assert CONTEXT.scene.frame_current == 7


def test_actions_of_an_object():
    block, other = add_cube("ball"), add_cube("floor")
    for frame, height in ((3, 0), (5, 8)):
        block.location.z = height
        block.keyframe_insert("location", frame=frame)
    bounce = block.animation_data.action
    bounce.name, bounce.use_fake_user = "bounce", True
    block.animation_data.action = None
    block.location = (0, 0, 100)
    block.animation_data.action = bounce  # as a user does, and takes it away again
    block.animation_data.action = None
    block.location = (0, 0, 100)
    if not compat.HAS_SLOTS:
        block.animation_data.nla_tracks.new().strips.new("bounce", 0, bounce)
        block.animation_data.nla_tracks[0].mute = True
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
    for frame, place in ((0, 0), (2, 32)):
        block.location.x = place
        block.keyframe_insert("location", frame=frame)
    own = block.animation_data.action
    own.use_fake_user = True
    block.animation_data.action = None
    block.location = (0, 0, 0)
    if not compat.HAS_SLOTS:
        block.animation_data.nla_tracks.new().strips.new("slide", 0, own)
        block.animation_data.nla_tracks[0].mute = True
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
    for frame, place in ((0, 0), (2, 32)):
        mover.location.x = place
        mover.keyframe_insert("location", frame=frame)
    animation: Any = mover.animation_data
    animation.action.name = "drive"
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


# -- markers


def test_frames_without_a_marker_are_left_out_and_said(caplog):
    case = open_animated()
    scene = CONTEXT.scene
    scene.timeline_markers.remove(scene.timeline_markers["stand"])
    scene.timeline_markers.new("beyond", frame=20)
    scene.timeline_markers.new("same", frame=15)
    after = case.after(frames="MARKERS")
    assert np.array_equal(after.frames["radius"], case.before.frames["radius"][7:])
    assert frame_names(after) == [*NAMES[7:15], *numbered("same", 5)]
    assert "7 frames before the first marker left out" in caplog.text
    assert "markers without a frame in the scene's range left out: 'run', 'beyond'" in caplog.text


def test_meshes_with_keys_of_their_own_on_one_timeline():
    blocks = [add_cube(name) for name in "ab"]
    for block, names in zip(blocks, (("a0", "a1"), ("b0", "b1", "b2")), strict=True):
        for name in names:
            block.shape_key_add(name=name, from_mix=False)
        block.data.shape_keys.use_relative = False
    with pytest.raises(LimitError, match="list different frames"):
        export(*blocks, frames="KEYS")
    assert export(*blocks, frames="RANGE", frame_end=1).num_frames == 2


def test_what_else_decides_what_keys_show():
    case = open_animated()
    CONTEXT.scene.frame_set(0)
    for mode in ("SCENE", "ACTIONS"):
        muted = [
            c for a in bpy.data.actions for _, kind, curves in compat.action_parts(a) for c in curves if kind == "KEY"
        ]
        for curve in muted:
            curve.mute = True
        still = case.after(frames=mode, actions="run")
        assert surfaces_equal(still, case.before, [0] * len(still.frames))
        for curve in muted:
            curve.mute = False
    for key in keys_of(case)[0].key_blocks:
        key.interpolation = "KEY_BSPLINE"
    assert not surfaces_equal(case.after(frames="SCENE"), case.before, [*range(20)])


def test_a_muted_relative_key():
    case = open_animated(relative_keys=True)
    for keys in keys_of(case):
        keys.key_blocks[NAMES[16]].mute = True
    after = case.after(frames="ACTIONS", actions="run")
    assert frame_names(after) == numbered("run", 5)
    assert np.array_equal(after.surfaces[0].vertices["xyz"][1], case.before.surfaces[0].vertices["xyz"][0])


def test_no_marker():
    case = open_animated()
    CONTEXT.scene.timeline_markers.clear()
    with pytest.raises(LimitError, match=r"^no frame to export: there is no marker in the scene's range 0 to 19$"):
        case.dump(frames="MARKERS")


def test_a_key_names_a_frame_before_a_marker_does():
    case = open_animated()
    CONTEXT.scene.timeline_markers["pain1"].name = "here"
    assert frame_names(case.after(frames="SCENE")) == NAMES
    assert frame_names(case.after(frames="RANGE", frame_start=6, frame_end=8)) == NAMES[6:9]
    assert frame_names(case.after(frames="MARKERS"))[6:9] == [NAMES[6], "here01", "here02"]


def test_one_frame_is_the_one_that_shows():
    case = open_animated()
    CONTEXT.scene.frame_set(12)
    after = case.after(frames="CURRENT")
    assert frame_names(after) == [NAMES[12]]
    assert surfaces_equal(after, case.before, [12])
    assert np.array_equal(after.frames, case.before.frames[12:13])
    assert np.array_equal(after.tags, case.before.tags[12:13])


# -- inserted and deleted frames


def reorder(case: Case, order: list[int]) -> None:
    old = [key.name for key in shape_keys.frame_blocks(keys_of(case)[0])]
    new = [f"{n}x" if i and order[i - 1] == f else n for i, (f, n) in enumerate((f, old[f]) for f in order)]
    for block in case.collection.all_objects:
        if block.type == "MESH":
            shape_keys.rewrite(block, order, new)
    animations.rewrite(keys_of(case)[0], {case.collection[MODEL_ID]}, old, order, new)
    animations.move_markers(CONTEXT.scene, len(old), order)


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize("assigned", [False, True])
@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ([*range(10), *range(9, 20)], [7, 5, 4, 5]),
        ([*range(7), 6, *range(7, 20)], [8, 4, 4, 5]),
        ([*range(1, 20)], [6, 4, 4, 5]),
        ([*range(19)], [7, 4, 4, 4]),
        ([*range(7), *range(11, 20)], [7, 0, 4, 5]),
    ],
)
def test_actions_follow_inserted_and_deleted_frames(order, wanted, assigned, relative):
    case = open_animated(relative_keys=relative)
    if assigned:
        keys_of(case)[0].animation_data.action = action("pain2")
    CONTEXT.scene.timeline_markers.new("before", frame=-2)
    CONTEXT.scene.timeline_markers.new("after", frame=25)
    reorder(case, order)
    counts = [a and int(a.frame_end - a.frame_start) + 1 for a in map(bpy.data.actions.get, ACTIONS)]
    assert [count or 0 for count in counts] == wanted
    after = case.after(frames="ACTIONS")
    assert surfaces_equal(after, case.before, order)
    starts = np.cumsum([0, *wanted])[:4].tolist()
    markers = {marker.name: marker.frame for marker in CONTEXT.scene.timeline_markers}
    assert [markers[name] for name in ACTIONS] == starts
    assert (markers["before"], markers["after"]) == (-2, 25)
    block = case.surface(0)
    base = order[0] if not relative else 0
    assert np.array_equal(
        mesh.positions(block.data), case.before.surfaces[0].vertices["xyz"][base][points_of(block)] / 64
    )


def points_of(block: Any) -> np.ndarray[Any, Any]:
    """Return a vertex of the file for each point of an imported mesh, the first surface of its model."""
    numbers = mesh.get_attribute(block.data, mesh.CORNER_SOURCE, "INT", "CORNER")
    assert numbers is not None
    found = np.zeros(len(block.data.vertices), np.int64)
    found[mesh.corner_points(block.data)] = numbers - 1
    return found


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_an_action_of_ones_own_follows_while_it_plays(relative):
    case = open_animated(relative_keys=relative)
    own = action("run").copy()
    own.name = "own"
    del own[MODEL_ID]
    for keys in keys_of(case):
        keys.animation_data.action = own
    reorder(case, [*range(17), 16, *range(17, 20)])
    own.use_frame_range = False
    assert frame_names(case.after(frames="ACTIONS", actions="own")) == numbered("own", 6)
    assert surfaces_equal(case.after(frames="ACTIONS", actions="own"), case.before, [15, 16, 16, 17, 18, 19])
    reorder(case, [*range(15)])
    assert "own" in bpy.data.actions
    assert "run" not in bpy.data.actions


def test_edited_curves_keep_their_times():
    case = open_animated()
    own = action("run")
    ((_, _, (curve,)),) = compat.action_parts(own)
    curve.keyframe_points[0].co.y, curve.keyframe_points[1].co = 15.5, (2, 17.5)
    curve.update()
    reorder(case, [*range(1, 20)])
    ((_, _, (curve,)),) = compat.action_parts(own)
    assert [tuple(p.co) for p in curve.keyframe_points] == [(0, 15.5), (2, 17.5)]
    curve.keyframe_points[0].co.y, curve.keyframe_points[1].co = 18, (6, 15)
    curve.update()
    reorder(case, [*range(1, 19)])
    ((_, _, (curve,)),) = compat.action_parts(own)
    assert [tuple(p.co) for p in curve.keyframe_points] == [(0, 17), (6, 14)]


def test_edited_curves_of_relative_keys_lose_those_of_deleted_frames():
    case = open_animated(relative_keys=True)
    own = action("run")
    for _, _, curves in compat.action_parts(own):
        for curve in curves:
            for point in curve.keyframe_points:
                point.co.x *= 2
    reorder(case, [frame for frame in range(20) if frame != 17])
    ((_, _, curves),) = compat.action_parts(own)
    paths = {curve.data_path: curve.keyframe_points for curve in curves}
    assert value_path("run3") not in paths
    assert [tuple(p.co) for p in paths[value_path("run2")]] == [(0, 0), (2, 1), (4, 0)]
    assert len(paths) == 19


def test_the_first_key_deleted_by_hand():
    case = open_animated()
    for block in case.built.surfaces:
        block.shape_key_remove(block.data.shape_keys.key_blocks[0])
    reopen(case)  # till then Blender does not notice that normals are others now
    after = case.after()
    assert surfaces_equal(after, case.before, [*range(1, 20)])
    assert np.array_equal(after.tags, case.before.tags[1:])


def test_a_frame_of_its_own_grows():
    case = open_animated(["one", *(f"run{i:02d}" for i in range(1, 20))])
    reorder(case, [0, 0, *range(1, 20)])
    assert action("one").frame_end == 1
    assert surfaces_equal(case.after(frames="ACTIONS"), case.before, [0, 0, *range(1, 20)])
