"""MD5 models edited in Blender: an edit changes what it touches in the files, and nothing else."""

from dataclasses import dataclass
from typing import Any

import bmesh
import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender.compat import play
from io_idtech_models.blender.skeletal.bones import LEAST_MOVE, LEAST_TURN, same_rest
from io_idtech_models.reporting import LimitError
from tests import facts, samples_md5
from tests.blender.case import CONTEXT, activate, vertices_of
from tests.blender.skeletal.rigged import (
    ANIM,
    MESH,
    Rigged,
    cells,
    curves_of,
    drop_frame,
    farthest,
    in_edit_mode,
    insert_frame,
    open_rig,
    reopen,
)
from tests.samples import CORPUS

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
XSARGE = CORPUS / "xreal/base/models/players/xsarge"
WAVES = {"wave": samples_md5.wave(), "gaps": samples_md5.gaps_between_channels()}


@dataclass
class Subject(Rigged):
    """A model to edit: a bone with a child and weights, its child, and two animations."""

    bone: str = "upper arm"
    child: str = "hand"
    close: float = 1e-4  # how closely exported files show what the scene shows

    @property
    def first(self) -> str:
        return next(iter(self.motions))

    @property
    def second(self) -> str:
        return list(self.motions)[1]

    @property
    def joint(self) -> int:
        return int(self.before().names.index(self.bone))


def subject(case: Rigged, **more: Any) -> Subject:
    return Subject(**vars(case), **more)


@pytest.fixture(params=["arm", "xsarge"])
def case(request) -> Subject:
    """Return each of the models to edit."""
    if request.param == "arm":
        return subject(open_rig(samples_md5.arm(), WAVES))
    if not XSARGE.is_dir():
        pytest.skip("the corpus of real files is not here")
    motions = {name: (XSARGE / f"{name}.md5anim").read_bytes() for name in ("run", "walk")}
    model = open_rig((XSARGE / "body.md5mesh").read_bytes(), motions)
    return subject(model, bone="Spine.1", child=MESH.load(model.data, "x").skeleton.names[12], close=0.2)


@pytest.fixture
def arm() -> Subject:
    return subject(open_rig(samples_md5.arm(), WAVES))


def curve_of(case: Subject, name: str, bone: str, kind: str, index: int) -> Any:
    return next(c for c in curves_of(case.action(name), bone) if c.data_path.endswith(kind) and c.array_index == index)


def channel_cells(case: Subject, name: str) -> set[tuple[int, ...]]:
    """Return (frame, joint, channel) of all channels of an animation that would change."""
    return cells(case.motion_before(name).channels(), case.motion_after(name).channels())


def tables(part: Any) -> list[Any]:
    return [(j, b, *o) for j, b, o in zip(part.joints.tolist(), part.biases, part.offsets.tolist(), strict=True)]


def weights_of(part: Any, vertex: int) -> list[Any]:
    """Return the weights of a vertex as the file has them."""
    start, count = int(part.starts[vertex]), int(part.counts[vertex])
    return tables(part)[start : start + count]


def vertices_at(case: Subject, point: int) -> list[int]:
    """Return the file's vertices at a point of the first mesh."""
    points, vertices = vertices_of(case.mesh())
    return sorted(set(vertices[points == point].tolist()))


def lone_point(case: Subject, weights: int = 1) -> int:
    """Return a point that stands for one vertex with a range of its own, of at least so many weights."""
    part = case.before().parts[0]
    users = np.zeros(len(part.joints), int)
    for start, count in zip(part.starts, part.counts, strict=True):
        users[start : start + count] += 1
    for point in range(len(case.mesh().data.vertices)):
        own = vertices_at(case, point)
        if len(own) == 1 and part.counts[own[0]] >= weights:
            start = part.starts[own[0]]
            if (users[start : start + part.counts[own[0]]] == 1).all():
                return point
    raise AssertionError("no such point")


def test_nothing_changes_without_an_edit(case):
    assert case.all_changed() == {}


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


def test_move_a_bone_in_one_frame(case):
    curve_of(case, case.first, case.bone, "location", 0).keyframe_points[1].co[1] += 3.0
    found = channel_cells(case, case.first)
    assert {(f, j) for f, j, _ in found} == {(1, case.joint)}
    assert {c for *_, c in found} <= {0, 1, 2}
    assert set(case.all_changed()) == {case.first}


def test_bounds_of_a_frame_whose_pose_changed_grow_and_never_shrink(arm):
    """The file's are 90 units off: what leaves them makes them larger."""
    before = arm.motion_before("wave").bounds
    curve_of(arm, "wave", "origin", "location", 0).keyframe_points[2].co[1] += 1000.0
    after = arm.motion_after("wave").bounds
    assert {f for f, *_ in cells(before, after)} == {2}
    assert (after[2, 0] <= before[2, 0]).all()
    assert (after[2, 1] >= before[2, 1]).all()
    assert np.abs(after[2]).max() > 900


def test_bounds_anew(arm):
    model = arm.gather()
    found = arm.gather_motion("wave", keep_bounds=False)
    from io_idtech_models.model.skeletal import skin
    from io_idtech_models.model.transforms import chain

    places, turns = chain(found.parents, found.positions, found.rotations)
    for frame in range(5):
        points = skin(model.meshes[0].weights, places[frame], turns[frame])
        np.testing.assert_allclose(found.bounds[frame], [points.min(axis=0), points.max(axis=0)], atol=1e-6)


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


@pytest.mark.parametrize("like", [1, 3])
def test_insert_a_copy_of_a_frame(case, like):
    before = case.motion_before(case.first)
    insert_frame(case.action(case.first), 2, like)
    after = case.motion_after(case.first)
    for field in ("components", "bounds"):
        rows = getattr(before, field)
        np.testing.assert_array_equal(
            getattr(after, field).astype(np.float32), np.insert(rows, 2, rows[like], axis=0).astype(np.float32)
        )
    assert set(case.all_changed()) == {case.first}


def test_insert_a_frame_between_two(case):
    before = case.motion_before(case.first)
    insert_frame(case.action(case.first), 2, None)
    after = case.motion_after(case.first)
    np.testing.assert_array_equal(
        np.delete(after.components, 2, axis=0).astype(np.float32), before.components.astype(np.float32)
    )
    np.testing.assert_array_equal(
        np.delete(after.bounds, 2, axis=0).astype(np.float32), before.bounds.astype(np.float32)
    )
    low, high = np.minimum(before.components[1], before.components[2]), np.maximum(*before.components[1:3])
    assert (after.components[2] >= low - 1e-3).all()
    assert (after.components[2] <= high + 1e-3).all()
    assert after.flags.tolist() == before.flags.tolist()


@pytest.mark.parametrize("name", ["long", "short"])
def test_frames_of_files_with_other_bounds(name):
    data = samples_md5.long_bounds() if name == "long" else samples_md5.short_bounds()
    case = subject(open_rig(samples_md5.arm(), {name: data}))
    drop_frame(case.action(name), 1)
    after = case.motion_after(name)
    assert len(after.bounds) == 4
    before = case.motion_before(name).bounds
    np.testing.assert_array_equal(after.bounds[0], before[0])
    np.testing.assert_array_equal(after.bounds[1], before[2])


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
    reopen()
    assert set(case.all_changed()) == {case.first, case.second}


def test_a_pose_that_is_not_keyed_is_no_edit(case):
    case.rig.pose.bones[case.bone].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    CONTEXT.view_layer.update()
    assert case.all_changed() == {}


def test_retimed_to_later_frames(arm):
    """Where it begins does not matter: the file's first frame is the action's."""
    action = arm.action("wave")
    for curve in curves_of(action):
        for point in curve.keyframe_points:
            point.co[0] += 100
    action.frame_start, action.frame_end = 100, 104
    assert arm.moved("wave") == set()


def test_another_range_of_an_action(arm):
    action = arm.action("wave")
    action.frame_start, action.frame_end = 1, 3
    before, after = arm.motion_before("wave"), arm.motion_after("wave")
    assert cells(after.components, before.components[1:4]) == set()
    assert cells(after.bounds, before.bounds[1:4]) == set()


# -- weights and places


def test_repaint_one_vertex(case):
    point = lone_point(case, 2)
    (vertex,) = vertices_at(case, point)
    before = case.before().parts[0]
    old = weights_of(before, vertex)
    group = case.mesh().vertex_groups[case.before().names[old[0][0]]]
    group.add([point], 0.3, "REPLACE")
    after = case.after().parts[0]
    new = weights_of(after, vertex)
    assert sum(w[1] for w in new) == pytest.approx(1.0)
    assert sorted(w[0] for w in new) == sorted(w[0] for w in old)
    for other in range(len(before.starts)):
        if other != vertex:
            assert weights_of(after, other) == weights_of(before, other)
    assert set(case.all_changed()) == {""}
    range_ = range(int(before.starts[vertex]), int(before.starts[vertex] + before.counts[vertex]))
    assert case.changed() <= {f"parts[0].{n}[{i}]" for n in ("joints", "biases", "offsets") for i in range_}


def test_one_more_weight(case):
    point = lone_point(case)
    (vertex,) = vertices_at(case, point)
    before = case.before().parts[0]
    had = {case.before().names[w[0]] for w in weights_of(before, vertex)}
    name = next(group.name for group in case.mesh().vertex_groups if group.name not in had)
    case.mesh().vertex_groups[name].add([point], 0.5, "REPLACE")
    after = case.after().parts[0]
    count = len(had) + 1
    assert (int(after.starts[vertex]), int(after.counts[vertex])) == (len(before.joints), count), "at the end"
    assert len(after.joints) == len(before.joints) + count
    assert tables(after)[: len(before.joints)] == tables(before), "all others stay, and where they are"
    rest = {f"parts[0].{n}[{vertex}]" for n in ("starts", "counts")}
    rest |= {f"parts[0].{n}[{len(before.joints) + i}]" for n in ("joints", "biases", "offsets") for i in range(count)}
    assert case.changed() <= rest
    assert farthest(case, case.first) < case.close


def test_repaint_a_vertex_that_shares_its_weights(arm):
    """Vertices 11 and 12 of the file are one point: both get ranges of their own behind the table."""
    before = arm.before().parts[0]
    arm.mesh().vertex_groups["upper arm"].add([11], 0.25, "REPLACE")
    after = arm.after().parts[0]
    assert tables(after)[: len(before.joints)] == tables(before)
    for vertex in (11, 12):
        assert [w[:2] for w in weights_of(after, vertex)] == [(2, pytest.approx(0.8)), (1, pytest.approx(0.2))]
    for vertex in range(11):
        assert weights_of(after, vertex) == weights_of(before, vertex)


def test_those_that_shared_a_range_with_an_edited_vertex_keep_it():
    case = subject(open_rig(samples_md5.arm(), WAVES, weld=False))
    before = case.before().parts[0]
    case.mesh().vertex_groups["upper arm"].add([12], 0.25, "REPLACE")
    assert weights_of(case.after().parts[0], 11) == weights_of(before, 11)
    assert case.after().parts[0].starts[11] == before.starts[11]
    assert len(weights_of(case.after().parts[0], 12)) == 2


@pytest.mark.parametrize("weights", [1, 2])
def test_move_one_vertex_at_rest(case, weights):
    point = lone_point(case, weights)
    (vertex,) = vertices_at(case, point)
    case.mesh().data.vertices[point].co.x += 1.0
    part = case.before().parts[0]
    own = range(int(part.starts[vertex]), int(part.starts[vertex] + part.counts[vertex]))
    assert case.all_changed() == {"": {f"parts[0].offsets[{i}]" for i in own}}
    before, after = (weights_of(c.parts[0], vertex) for c in (case.before(), case.after()))
    for old, new in zip(before, after, strict=True):
        assert new[1] == old[1]
        assert np.linalg.norm(np.subtract(new[2:], old[2:])) == pytest.approx(1.0, abs=case.close)
    assert farthest(case, case.first) < case.close


@pytest.mark.parametrize("scale", [0.0001, 0.0254, 40.0])
def test_a_small_move_at_any_scale(scale):
    case = subject(open_rig(samples_md5.arm(), {}, scale=scale))
    case.mesh().data.vertices[8].co.x += 0.01 * scale
    assert case.changed(scale=scale) == {"parts[0].offsets[12]"}
    case.mesh().data.vertices[8].co.x -= 0.01 * scale
    assert case.changed(scale=scale) == set()


def test_odd_weights_of_an_edited_vertex_become_plain():
    """A joint twice, a weight of 0, a sum of 7/8: only where the vertex is edited."""
    case = subject(open_rig(samples_md5.odd_weights(), WAVES))
    (point,) = (p for p in range(12) if 3 in vertices_at(case, p))
    case.mesh().data.vertices[point].co.z += 1.0
    found = weights_of(case.after().parts[0], 3)
    assert [w[0] for w in found] == [1, 0]
    assert [w[1] for w in found] == pytest.approx([6 / 7, 1 / 7])
    others = [v for v in range(13) if v not in vertices_at(case, point)]
    before, after = case.before().parts[0], case.after().parts[0]
    assert [weights_of(after, v) for v in others] == [weights_of(before, v) for v in others]
    assert (77.0, 66.0, 55.0) in [w[2:] for w in tables(after)], "nobody's weight stays"


# -- bones


def edit_bone(case: Subject, name: str, edit: Any) -> None:
    in_edit_mode(case.rig, lambda: edit(case.rig.data.edit_bones[name]))


def roll(bone: Any) -> None:
    bone.roll += 0.3


def touched_offsets(case: Subject, *joints: int) -> set[str]:
    """Return the paths that may change where joints at rest did: whatever vertices on them have."""
    found = set()
    for index, part in enumerate(case.before().parts):
        for vertex in range(len(part.starts)):
            own = range(int(part.starts[vertex]), int(part.starts[vertex] + part.counts[vertex]))
            if any(part.joints[w] in joints for w in own):
                found |= {f"parts[{index}].{n}[{w}]" for n in ("offsets", "biases", "joints") for w in own}
                found |= {f"parts[{index}].{n}[{vertex}]" for n in ("starts", "counts")}
    return found


def test_roll_a_rest_bone(case):
    edit_bone(case, case.bone, roll)
    changed = case.changed()
    assert f"orientations[{case.joint}]" in changed
    beyond = {p for p in changed if int(p.rsplit("[", 1)[1][:-1]) >= len(case.before().parts[0].joints)}
    assert changed - beyond - {f"orientations[{case.joint}]"} <= touched_offsets(case, case.joint)
    children = [i for i, p in enumerate(case.before().parents) if p == case.joint]
    for name in case.motions:
        assert {j for _, j, _ in channel_cells(case, name)} == {case.joint, *children}
        assert farthest(case, name) < case.close


def test_a_bone_that_was_rolled_back_is_as_it_was(case):
    edit_bone(case, case.bone, roll)
    edit_bone(case, case.bone, lambda bone: setattr(bone, "roll", bone.roll - 0.3))
    assert case.all_changed() == {}


def test_move_a_rest_bone(case):
    def move(bone):
        for end in (bone.head, bone.tail):
            end.x += 0.5

    edit_bone(case, case.child, move)
    changed = case.changed()
    joint = case.before().names.index(case.child)
    assert {p for p in changed if not p.startswith("parts")} == {f"positions[{joint}]"}
    assert farthest(case, case.first) < case.close


@pytest.mark.parametrize("factor", [0.02, 0.5, 1.1, 3, 10])
def test_change_the_drawn_length_of_bones(case, factor):
    def stretch():
        for bone in case.rig.data.edit_bones:
            bone.length *= factor

    in_edit_mode(case.rig, stretch)
    assert case.all_changed() == {}


def test_a_small_edit_of_bones_drawn_longer_is_noticed(case):
    """What Blender's rounding may excuse grows with the bones' lengths, but never to what a hand does."""

    def stretch():
        for bone in case.rig.data.edit_bones:
            bone.length *= 10

    def nudge(bone):
        for end in (bone.head, bone.tail):
            end.x += 0.002

    in_edit_mode(case.rig, stretch)
    edit_bone(case, case.child, nudge)
    joint = case.before().names.index(case.child)
    assert {p for p in case.changed() if not p.startswith("parts")} == {f"positions[{joint}]"}


def test_a_small_roll_of_short_bones_is_noticed(case):
    def shrink():
        for bone in case.rig.data.edit_bones:
            bone.length *= 0.02

    in_edit_mode(case.rig, shrink)
    edit_bone(case, case.child, lambda bone: setattr(bone, "roll", bone.roll + 0.002))
    joint = case.before().names.index(case.child)
    assert {p for p in case.changed() if not p.startswith("parts")} == {f"orientations[{joint}]"}


@pytest.mark.parametrize("place", [(0, 3), (0, 1)], ids=["head", "axes"])
@pytest.mark.parametrize("scale", [1.0, 0.0254])
def test_no_rounding_excuses_an_edit(place, scale):
    before, rounded = np.eye(4)[None], np.array([[1.0, 1.0]])
    moved = before.copy()
    moved[0][place] = 1.1 * (LEAST_MOVE * scale if place[1] == 3 else LEAST_TURN)
    assert not same_rest(moved, before, scale, rounded).any()
    moved[0][place] *= 0.8
    assert same_rest(moved, before, scale, rounded).all()
    assert not same_rest(moved, before, scale, rounded * 1e-9).any()


def recalculate_rolls():
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.armature.calculate_roll(type="GLOBAL_POS_Z")


def scale_bones():
    bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(2, 2, 2))


@pytest.mark.parametrize("edit", [recalculate_rolls, scale_bones], ids=lambda edit: edit.__name__)
def test_edit_all_bones(case, edit):
    in_edit_mode(case.rig, edit)
    for name in case.motions:
        assert farthest(case, name) < case.close


def test_apply_a_pose_as_rest(case):
    case.play(case.first, 2)
    activate(case.rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply(selected=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert farthest(case, case.first) < case.close


def test_apply_a_size(case):
    case.rig.scale = (2, 2, 2)
    activate(case.rig, *(case.mesh(i) for i in range(len(case.mesh_names))))
    bpy.ops.object.transform_apply()
    assert farthest(case, case.first) < case.close


@pytest.mark.parametrize("kind", ["SUBSURF", "MIRROR"])
def test_modifiers_on_an_imported_mesh(case, kind):
    case.mesh().modifiers.new("more", kind)
    case.mesh().modifiers.move(1, 0)
    assert case.changed(most_weights=0, least_weight=0.0)
    assert farthest(case, case.first, most_weights=0, least_weight=0.0) < case.close


def test_rename_a_bone(case):
    case.rig.data.bones[case.bone].name = "Waist"
    assert case.all_changed() == {name: {f"names[{case.joint}]"} for name in ("", *case.motions)}
    assert case.after().names[case.joint] == "Waist"
    reopen()
    case.rig.data.bones["Waist"].name = case.bone
    assert case.all_changed() == {}


def test_rename_bones_of_odd_names():
    case = open_rig(samples_md5.odd_names())
    for bone in list(case.rig.data.bones)[::-1]:
        joint = bone["idtech_joint"]
        bone.name = f"new.{joint:03d}"
    assert case.changed() == {f"names[{i}]" for i in range(len(samples_md5.ODD_NAMES))}
    assert case.after().names == [f"new.{i:03d}" for i in range(len(samples_md5.ODD_NAMES))]


def add_bone(case: Subject, name: str, parent: str | None) -> None:
    def add():
        bones = case.rig.data.edit_bones
        bone = bones.new(name)
        bone.head, bone.tail = (1.0, 2.0, 30.0), (1.0, 2.0, 42.0)
        bone.parent = bones[parent] if parent else None

    in_edit_mode(case.rig, add)


@pytest.mark.parametrize("name", ["extra", "AAA"])
def test_add_a_bone(case, name):
    add_bone(case, name, case.bone)
    count = len(case.before().names)
    model = {f"{n}[{count}]" for n in ("names", "parents", "positions", "orientations")}
    motion = {f"{n}[{count}]" for n in ("names", "parents", "flags", "starts", "base")}
    assert case.all_changed() == {"": model} | dict.fromkeys(case.motions, motion)
    after = case.after()
    assert (after.names[-1], after.parents[-1]) == (name, case.joint)
    assert after.positions[-1] == pytest.approx([1, 2, 30], abs=1e-4)
    places = case.motion_after(case.first)
    assert places.flags[-1] == 0
    assert 0 <= places.starts[-1] < places.components.shape[1]


def test_add_a_bone_that_moves(arm):
    add_bone(arm, "extra", "hand")
    play(arm.rig, arm.action("gaps"))
    bone = arm.rig.pose.bones["extra"]
    for frame in (0, 4):
        bone.location.y = frame
        bone.keyframe_insert("location", frame=frame)
    before, after = arm.motion_before("gaps"), arm.motion_after("gaps")
    assert cells(after.components[:, : before.components.shape[1]], before.components) == set()
    assert after.flags.tolist()[:3] == before.flags.tolist()
    assert after.flags[3] != 0
    assert (arm.moved("wave"), arm.moved("gaps") > {"flags[3]"}) == (
        {f"{n}[3]" for n in ("names", "parents", "flags", "starts", "base")},
        True,
    )


def test_add_a_parent(arm):
    """A joint's parent comes before it: a new one is put there."""
    add_bone(arm, "shoulder", "origin")
    edit_bone(arm, "upper arm", lambda bone: setattr(bone, "parent", arm.rig.data.edit_bones["shoulder"]))
    after = arm.after()
    assert after.names == ["origin", "shoulder", "upper arm", "hand"]
    assert after.parents.tolist() == [-1, 0, 1, 2]
    assert farthest(arm, "wave") < 1e-4


def duplicate_bone(case: Subject, name: str) -> None:
    def duplicate():
        bones = case.rig.data.edit_bones
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == name
        bones.active = bones[name]
        bpy.ops.armature.duplicate()

    in_edit_mode(case.rig, duplicate)


def test_duplicate_a_bone(case):
    """The copy is a new joint at the end, with a name of its own."""
    known = set(case.rig.data.bones.keys())
    duplicate_bone(case, case.bone)
    (copy,) = set(case.rig.data.bones.keys()) - known
    count = len(case.before().names)
    after = case.after()
    assert after.names == [*case.before().names, copy]
    model = {f"{n}[{count}]" for n in ("names", "parents", "positions", "orientations")}
    assert case.changed() == model
    assert not {p for p in case.moved(case.first) if not p.endswith(f"[{count}]")}


def test_delete_a_leaf(arm):
    """Nothing else changes but what hung on it; the vertices get another bone first."""
    mesh, group = arm.mesh(), arm.mesh().vertex_groups["hand"]
    mesh.vertex_groups["upper arm"].add([8, 9, 10, 11], 1.0, "REPLACE")
    mesh.vertex_groups.remove(group)
    edit_bone(arm, "hand", arm_remove(arm))
    after = arm.after()
    assert after.names == ["origin", "upper arm"]
    assert {"positions[2]", "orientations[2]", "names[2]", "parents[2]"} < arm.changed()
    before, found = arm.motion_before("wave"), arm.motion_after("wave")
    assert found.flags.tolist() == [0, 56]
    assert cells(before.channels()[:, :2], found.channels()) == set()
    assert farthest(arm, "wave") < 1e-4


def arm_remove(case: Subject) -> Any:
    return case.rig.data.edit_bones.remove


def test_delete_a_bone_with_weights(arm):
    edit_bone(arm, "hand", arm_remove(arm))
    with pytest.raises(LimitError, match="has 4 vertices without weights on any bone that is exported"):
        arm.dump()
    found = arm.after(orphan_bone="upper arm").parts[0]
    assert {w[0] for v in range(8, 13) for w in weights_of(found, v)} == {1}


def test_another_parent(arm):
    """In the model only the parent changes; in motions the poses are relative to that."""
    edit_bone(arm, "hand", lambda bone: setattr(bone, "parent", arm.rig.data.edit_bones["origin"]))
    assert arm.changed() == {"parents[2]"}
    assert farthest(arm, "wave") < 1e-4
    found = arm.motion_after("wave")
    assert {j for _, j, _ in cells(arm.motion_before("wave").channels(), found.channels())} <= {2}


# -- objects, materials, faces, texture coordinates


def test_rename_object_and_material(case):
    case.mesh().name = "leg"
    case.mesh_names[0] = "leg"
    assert case.all_changed() == {"": {"parts[0].name"}}
    assert case.after().parts[0].name == "leg"
    case.mesh().name = case.mesh().name + ".001"
    case.mesh_names[0] = "leg.001"
    assert case.after().parts[0].name == "leg", "Blender's numbers stay in Blender"
    case.mesh().material_slots[0].material.name = "models/new"
    assert case.all_changed() == {"": {"parts[0].name", "parts[0].shader"}}
    assert case.after().parts[0].shader == "models/new"


@pytest.mark.parametrize("what", ["armature", "collection", "action"])
def test_other_names_reach_no_file(arm, what):
    block = {"armature": arm.rig, "collection": arm.collection, "action": arm.action("wave")}[what]
    block.name = "other"
    name = arm.action_names["wave"] if what != "action" else "other"
    arm.rig_name = "other" if what == "armature" else arm.rig_name
    arm.collection_name = "other" if what == "collection" else arm.collection_name
    arm.action_names["wave"] = name
    arm.rig.data.name = "data"
    assert arm.all_changed() == {}


def change(block: Any, edit: Any) -> None:
    mesh = bmesh.new()
    mesh.from_mesh(block.data)
    mesh.faces.ensure_lookup_table()
    mesh.verts.ensure_lookup_table()
    edit(mesh)
    mesh.to_mesh(block.data)
    mesh.free()


@pytest.mark.parametrize("face", [0, 7])
def test_delete_a_face(case, face):
    change(case.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[face]], context="FACES_ONLY"))
    before, after = case.before().parts[0], case.after().parts[0]
    np.testing.assert_array_equal(after.triangles, np.delete(before.triangles, face, axis=0))
    assert {p.rsplit("[", 1)[0] for p in case.changed()} == {"parts[0].triangles"}
    assert set(case.all_changed()) == {""}


def test_delete_the_only_face_of_a_vertex(arm):
    """Vertex 12 goes; 11 has its weight too, which stays."""
    change(arm.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[17]], context="FACES"))
    assert arm.changed() == {"parts[0].triangles[17]", *(f"parts[0].{n}[12]" for n in ("st", "starts", "counts"))}


def test_delete_a_vertex(arm):
    change(arm.mesh(), lambda bm: bmesh.ops.delete(bm, geom=[bm.verts[0]], context="VERTS"))
    before, after = arm.before().parts[0], arm.after().parts[0]
    np.testing.assert_array_equal(after.st, before.st[1:])
    assert tables(after) == tables(before)[1:], "its weight goes too"
    gone = (before.triangles == 0).any(axis=1)
    np.testing.assert_array_equal(after.triangles, before.triangles[~gone] - 1)


def test_loose_vertices_are_said(arm, caplog):
    caplog.clear()
    change(arm.mesh(), lambda bm: bm.verts.new((1, 2, 3)))
    assert arm.changed() == set()
    assert "1 loose vertices are left out" in caplog.text


def test_change_a_texture_coordinate(case):
    block = case.mesh()
    corners = vertices_of(block)[1]
    vertex = int(corners[4])
    for corner in np.flatnonzero(corners == vertex).tolist():
        block.data.uv_layers[0].uv[corner].vector.x += 0.25
    assert case.all_changed() == {"": {f"parts[0].st[{vertex}]"}}
    before, after = case.before().parts[0].st[vertex], case.after().parts[0].st[vertex]
    assert after[0] - before[0] == pytest.approx(0.25)


def test_a_vertex_whose_coordinate_splits_shares_its_weights(case):
    block = case.mesh()
    corners = vertices_of(block)[1]
    values, counts = np.unique(corners, return_counts=True)
    vertex = int(values[counts > 2][0])
    block.data.uv_layers[0].uv[int(np.flatnonzero(corners == vertex)[-1])].vector.y += 0.125
    before, after = case.before().parts[0], case.after().parts[0]
    assert len(after.st) == len(before.st) + 1
    assert (after.starts[-1], after.counts[-1]) == (before.starts[vertex], before.counts[vertex])
    assert tables(after) == tables(before)
    new = len(before.st)
    changed = {p for p in case.changed() if ".triangles" not in p}
    assert changed == {f"parts[0].{n}[{new}]" for n in ("st", "starts", "counts")}


def test_quads_and_back(case):
    in_edit_mode(case.mesh(), lambda: bpy.ops.mesh.tris_convert_to_quads(uvs=True))
    assert {p.rsplit("[", 1)[0] for p in case.changed()} <= {"parts[0].triangles"}
    in_edit_mode(case.mesh(), bpy.ops.mesh.quads_convert_to_tris)
    assert {p.rsplit("[", 1)[0] for p in case.changed()} <= {"parts[0].triangles"}


def test_new_faces_follow(arm):
    in_edit_mode(arm.mesh(), bpy.ops.mesh.subdivide)
    before, after = arm.before().parts[0], arm.after().parts[0]
    assert len(after.triangles) == 4 * len(before.triangles)
    for vertex in range(len(before.st)):
        assert weights_of(after, vertex) == weights_of(before, vertex)
        assert after.st[vertex].tolist() == before.st[vertex].tolist()
    for vertex in range(len(before.st), len(after.st)):
        assert sum(w[1] for w in weights_of(after, vertex)) == pytest.approx(1.0, abs=1e-6)
    assert farthest(arm, "wave") < 1e-4


def test_a_copy_is_a_further_mesh(arm, caplog):
    copy = arm.mesh().copy()
    copy.data = copy.data.copy()
    arm.collection.objects.link(copy)
    caplog.clear()
    after = arm.after()
    assert "is a copy: written as a further mesh" in caplog.text
    assert not {p for p in arm.changed() if not p.startswith("parts[1]")}
    assert tables(after.parts[1])[0] == tables(after.parts[0])[0]
    assert len(after.parts[1].triangles) == 18


@pytest.mark.parametrize("linked", [False, True])
def test_copies_come_last(linked):
    """In the order in which they were made, whichever mesh they are of."""
    case = open_rig(samples_md5.several_meshes())
    for index in (1, 0, 0):
        copy = case.mesh(index).copy()
        if not linked:
            copy.data = copy.data.copy()
        case.collection.objects.link(copy)
    after = case.after()
    assert [part.name for part in after.parts] == ["arm", "", "nothing", "mesh1", "arm", "arm"]
    assert not {p for p in case.changed() if not p.startswith(("parts[3]", "parts[4]", "parts[5]"))}


def test_delete_a_mesh():
    case = open_rig(samples_md5.several_meshes())
    bpy.data.objects.remove(case.mesh(1))
    before, after = case.before(), case.after()
    assert len(after.parts) == 2
    for old, new in zip((before.parts[0], before.parts[2]), after.parts, strict=True):
        assert old.name == new.name
        assert tables(old) == tables(new)


def test_join_two_meshes():
    case = open_rig(samples_md5.several_meshes())
    second = case.mesh(1)
    second.material_slots[0].material = case.mesh().material_slots[0].material
    activate(case.mesh(), second)
    bpy.ops.object.join()
    (part, empty) = case.after().parts
    before = case.before().parts[0]
    assert (len(part.triangles), len(empty.triangles)) == (36, 0)
    for vertex in range(13):
        assert weights_of(part, vertex) == weights_of(before, vertex)
    np.testing.assert_array_equal(part.triangles[:18], before.triangles)


def test_separate_and_join_again(arm):
    def part():
        bpy.ops.mesh.select_all(action="DESELECT")
        mesh = bmesh.from_edit_mesh(arm.mesh().data)
        mesh.faces.ensure_lookup_table()
        for face in list(mesh.faces)[:6]:
            face.select_set(True)
        bpy.ops.mesh.separate(type="SELECTED")

    in_edit_mode(arm.mesh(), part)
    blocks = [b for b in arm.collection.objects if b.type == "MESH"]
    assert len(blocks) == 2
    assert sum(len(p.triangles) for p in arm.after().parts) == 18
    activate(arm.mesh(), *(b for b in blocks if b != arm.mesh()))
    bpy.ops.object.join()
    in_edit_mode(arm.mesh(), bpy.ops.mesh.remove_doubles)
    assert len(arm.mesh().data.vertices) == 12
    assert {p.rsplit("[", 1)[0] for p in arm.changed()} <= {"parts[0].triangles"}


# -- placed elsewhere in the scene


@pytest.mark.parametrize("what", ["armature", "mesh"])
def test_an_object_that_was_moved(arm, what):
    """Moving an object is an edit: what the scene shows is what is written."""
    block = arm.rig if what == "armature" else arm.mesh()
    block.location = (5.0, -6.0, 7.0)
    block.rotation_euler = (0.1, 0.2, 0.3)
    assert arm.changed()
    assert farthest(arm, "wave") < 1e-4
    block.location = block.rotation_euler = (0, 0, 0)
    assert arm.all_changed() == {}


@pytest.mark.parametrize("size", [0.01, 3.0, -1.0])
def test_an_armature_that_was_scaled(arm, size):
    arm.rig.scale = (size, abs(size), abs(size))
    assert farthest(arm, "wave") < 1e-3
    faces = MESH.load(arm.dump(), "x").meshes[0].triangles
    turned = faces[0].tolist() != MESH.load(arm.data, "x").meshes[0].triangles[0].tolist()
    assert turned is (size < 0), "a mirror turns faces over"


def test_a_mesh_that_was_mirrored(arm):
    arm.mesh().scale = (1.0, -1.0, 1.0)
    before, after = (MESH.load(d, "x").meshes[0].triangles for d in (arm.data, arm.dump()))
    assert [sorted(t) for t in after.tolist()] == [sorted(t) for t in before.tolist()]
    assert not any(tuple(np.roll(a, k)) == tuple(b) for a, b in zip(after, before, strict=True) for k in range(3))
    assert farthest(arm, "wave") < 1e-4


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
    base: list[tuple[float, ...]] = [
        (4000.0, -3999.5, 4000.25, 0.1, 0.2, 0.3),
        (0.125, 0.0, 0.0, -0.5, 0.5, 0.5),
        (0.125, 0, 0, 0, -0.7, 0.7),
    ]
    joints: list[samples_md5.Joint] = [(f"j{i}", i - 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) for i in range(3)]
    spec = samples_md5.AnimSpec(flags=(7, 56, 0), starts=(0, 3, 0), base=base, joints=joints)
    for i in range(4):
        spec.frames.append([4000.0 + i, -3999.5, 4000.25, -0.5 + 0.01 * i, 0.5, 0.5])
        spec.bounds.append((0.0,) * 6)
    case = open_rig(samples_md5.far_away(), {"far": spec.pack()})
    assert case.all_changed() == {}
