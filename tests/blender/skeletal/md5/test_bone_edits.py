"""Bones of MD5 models edited in Blender: an edit changes what it touches in the files, and nothing else."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models.blender.compat import play
from io_idtech_models.blender.skeletal import source_weights
from io_idtech_models.blender.skeletal.bones import LEAST_MOVE, LEAST_TURN, same_rest
from io_idtech_models.blender.skeletal.gather import gather
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.blender.skeletal.selfcheck import Motion, differences
from io_idtech_models.reporting import LimitError
from tests import samples_md5
from tests.blender.case import CONTEXT, activate, in_edit_mode, reopen_blend
from tests.blender.skeletal.md5.edited import Subject, bpy, channel_cells, weights_of
from tests.blender.skeletal.rigged import cells, farthest, open_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- bones


def edit_bone(case: Subject, name: str, edit: Any) -> None:
    in_edit_mode(case.rig, lambda: edit(case.rig.data.edit_bones[name]))


def roll(bone: Any, angle: float = 0.3) -> None:
    bone.roll += angle


def move(bone: Any, way: float) -> None:
    for end in (bone.head, bone.tail):
        end.x += way


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
    edit_bone(case, case.bone, lambda bone: roll(bone, -0.3))
    assert case.all_changed() == {}, "rolled back it is as it was"


def test_move_a_rest_bone(case):
    edit_bone(case, case.child, lambda bone: move(bone, 0.5))
    changed = case.changed()
    joint = case.before().names.index(case.child)
    assert {p for p in changed if not p.startswith("parts")} == {f"positions[{joint}]"}
    assert farthest(case, case.first) < case.close


def stretch(case: Subject, factor: float) -> None:
    def lengthen():
        for bone in case.rig.data.edit_bones:
            bone.length *= factor

    in_edit_mode(case.rig, lengthen)


@pytest.mark.parametrize("factor", [0.02, 0.5, 1.1, 3, 10])
def test_change_the_drawn_length_of_bones(case, factor):
    stretch(case, factor)
    assert case.all_changed() == {}


@pytest.mark.parametrize(
    ("factor", "edit", "kind"),
    [(10, lambda bone: move(bone, 0.002), "positions"), (0.02, lambda bone: roll(bone, 0.002), "orientations")],
)
def test_a_small_edit_of_bones_drawn_longer_or_shorter_is_noticed(case, factor, edit, kind):
    """What Blender's rounding may excuse grows with the bones' lengths, but never to what a hand does."""
    stretch(case, factor)
    edit_bone(case, case.child, edit)
    joint = case.before().names.index(case.child)
    assert {p for p in case.changed() if not p.startswith("parts")} == {f"{kind}[{joint}]"}


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


def apply_pose(case: Subject) -> None:
    activate(case.rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply(selected=False)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_apply_a_pose_as_rest(case):
    case.play(case.first, 2)
    apply_pose(case)
    assert farthest(case, case.first) < case.close


def bind_anew(case: Subject) -> None:
    """Apply a pose to meshes, bind them anew with that as the rest, and let a new action "bent" turn a bone."""
    case.play(case.first, 2)
    for block in (b for b in case.collection.all_objects if b.type == "MESH"):
        activate(block)
        bpy.ops.object.modifier_apply(modifier=block.modifiers[0].name)
        block.modifiers.new("Armature", "ARMATURE").object = case.rig
    apply_pose(case)
    case.rig.animation_data.action = None
    pose = case.rig.pose.bones[case.bone]
    for frame, angle in ((0, 0.0), (4, -1.5)):
        pose.rotation_quaternion = Quaternion((0, 0, 1), angle)
        pose.keyframe_insert("rotation_quaternion", frame=frame)
    case.action_names["bent"] = case.rig.animation_data.action.name


def test_a_pose_that_meshes_were_applied_in_as_rest(case):
    """Joints went apart, and took vertices of several along: from there on these bend as in Blender."""
    bind_anew(case)
    assert farthest(case, "bent") < case.close


def test_only_what_the_source_disagrees_by_is_excused(arm, monkeypatch):
    """Were offsets kept that disagree more, as happened, an export would say how far off it is."""
    bind_anew(arm)
    assert far_off(arm) == []
    monkeypatch.setattr(source_weights._Way, "_agree", lambda way, table, places, slack: np.ones_like(slack, np.bool_))
    assert any("units off what Blender shows" in text for text in far_off(arm))


def far_off(case: Subject) -> list[str]:
    """Return what an export would say that it shows otherwise than Blender while "bent" plays."""
    blocks, asked = list(case.collection.all_objects), SkeletalGatherSettings(normals="NONE")
    export = rig_scene(CONTEXT.scene, CONTEXT.view_layer, asked, case.rig)
    for block in blocks:  # so that nothing is taken for proven
        if block.type == "MESH":
            block.modifiers.new("none", "SMOOTH").factor = 0.0
    model = gather(blocks, export)
    return differences(export, model, [Motion("bent", nullcontext, np.arange(5))])


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
    reopen_blend()
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
    assert arm.moved("wave") == {f"{n}[3]" for n in ("names", "parents", "flags", "starts", "base")}
    assert arm.moved("gaps") > {"flags[3]"}


def test_add_a_parent(arm):
    """A joint's parent comes before it: a new one is put there."""
    add_bone(arm, "shoulder", "origin")
    edit_bone(arm, "upper arm", lambda bone: setattr(bone, "parent", arm.rig.data.edit_bones["shoulder"]))
    after = arm.after()
    assert after.names == ["origin", "shoulder", "upper arm", "hand"]
    assert after.parents.tolist() == [-1, 0, 1, 2]
    assert farthest(arm, "wave") < 1e-4


def test_duplicate_a_bone(case):
    """The copy is a new joint at the end, with a name of its own."""

    def duplicate():
        bones = case.rig.data.edit_bones
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == case.bone
        bones.active = bones[case.bone]
        bpy.ops.armature.duplicate()

    known = set(case.rig.data.bones.keys())
    in_edit_mode(case.rig, duplicate)
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
    edit_bone(arm, "hand", arm.rig.data.edit_bones.remove)
    after = arm.after()
    assert after.names == ["origin", "upper arm"]
    assert {"positions[2]", "orientations[2]", "names[2]", "parents[2]"} < arm.changed()
    before, found = arm.motion_before("wave"), arm.motion_after("wave")
    assert found.flags.tolist() == [0, 56]
    assert cells(before.channels()[:, :2], found.channels()) == set()
    assert farthest(arm, "wave") < 1e-4


def test_delete_a_bone_with_weights(arm):
    edit_bone(arm, "hand", arm.rig.data.edit_bones.remove)
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
