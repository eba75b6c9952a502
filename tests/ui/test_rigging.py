"""Make Rig from Frames: what is not posed comes back byte for byte, what is posed changes alone; Remove Rig."""

import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models import formats
from io_idtech_models.assets.load import load as load_file
from io_idtech_models.blender import names
from io_idtech_models.blender.frame_rigs import RIG_KEYS, is_frame_rig, posed_by, whole_of
from io_idtech_models.blender.mesh.attributes import positions
from io_idtech_models.blender.player.rig import find_rig
from io_idtech_models.blender.rig_clips import clips_of, frames_in_whole
from io_idtech_models.blender.rig_settling import settle
from io_idtech_models.blender.vertex.shape_keys import frame_blocks, read
from io_idtech_models.formats.iqm.model import to_animations
from io_idtech_models.game.folders import Disk
from io_idtech_models.library import load_animations
from io_idtech_models.model.rigging.rig import RigSettings
from io_idtech_models.model.vertex import Surface
from io_idtech_models.reporting import LimitError, collected_warnings
from io_idtech_models.tasks import rigging
from io_idtech_models.tasks.animations.find import need_animations
from io_idtech_models.ui import rigging as operators
from tests.blender.case import reopen_blend
from tests.blender.skeletal.rigged import curves_of
from tests.samples import PROJECT, SENTINEL, corpus, format_of, load, put, sample
from tests.small_files import SAMPLES
from tests.ui.scene import (
    activate,
    add_mesh,
    add_tag,
    bpy,
    error_of,
    export_bytes,
    export_model,
    import_frames,
    import_model,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

ops, ops_export = bpy.ops.object, bpy.ops.export_scene
make, remove, play = ops.idtech_make_rig, ops.idtech_remove_rig, ops.idtech_animation_play
BRAZIER, PENNANT, STILT, UPPER = (
    PROJECT / "examples" / place
    for place in (
        "brazier/progs/brazier.mdl", "pennant/models/mapobjects/pennant/pennant.mdc", "stilt/players/stilt/tris.md2",
        "tock/baseq3/models/players/tock/upper.md3",
    )
)  # fmt: skip
WANTED = ("letters/type.MD3", "skel/lower.mdc", "progs/dog.mdl", "v_blast/tris.md2")
REAL = [f.path for kind in (".md3", ".mdc", ".mdl", ".md2") for f in corpus(kind) if str(f.path).endswith(WANTED)]
ODD = [pytest.param(kind, SAMPLES[kind]["odd_numbers"], id=f"{kind}-odd_numbers") for kind in ("md2", "mdl")]


def framed():
    """Return samples with frames and vertices, of numbers that bones can hold."""
    found = []
    for kind in ("md2", "md3", "mdc", "mdl"):
        for name, data in SAMPLES[kind].items():
            model = format_of(data).load(data, "")
            if model.num_frames > 1 and any(surface.num_vertices for surface in model.surfaces):
                found.append(pytest.param(kind, data, id=f"{kind}-{name}"))
    return [each for each in found if each.id not in {odd.id for odd in ODD}]


def rig():
    (found,) = (block for block in bpy.data.objects if is_frame_rig(block))
    return found


def rigged(path):
    """Import a file and make a rig of it; returns the armature."""
    import_model(path)
    assert make() == {"FINISHED"}
    return rig()


def keys_of(blocks):
    return {block.name: read(frame_blocks(block.data.shape_keys), len(block.data.vertices)) for block in blocks}


def turn(block, bone, frame):
    """Turn a bone half a radian in a frame of the scene, and key it."""
    bpy.context.scene.frame_set(frame)
    posed = block.pose.bones[bone]
    posed.rotation_quaternion = posed.rotation_quaternion @ Quaternion((1, 0, 0), 0.5)
    assert posed.keyframe_insert("rotation_quaternion", frame=frame)


def a_limb(block):
    """Return a bone that moves some points, not all, and the names of what hangs on it."""
    counts = {bone.name: 0 for bone in block.data.bones if bone.use_deform}
    for mesh in posed_by(block):
        for vertex in mesh.data.vertices:
            for group in vertex.groups:
                counts[mesh.vertex_groups[group.group].name] += 1
    bone = min((name for name in counts if counts[name] > 4 and block.data.bones[name].parent), key=counts.__getitem__)
    return bone, {bone, *(child.name for child in block.data.bones[bone].children_recursive)}


@pytest.mark.parametrize(("kind", "data"), framed())
def test_unedited_samples_stay_byte_for_byte(kind, data, tmp_path):
    path = put(tmp_path / f"a.{kind}", data)
    rigged(path)
    assert export_bytes(tmp_path / f"b.{kind}") == data
    assert remove() == {"FINISHED"}
    assert not bpy.data.armatures
    assert export_bytes(tmp_path / f"b.{kind}") == data


@pytest.mark.parametrize(("kind", "data"), ODD)
def test_numbers_that_bones_cannot_hold_are_refused(kind, data, tmp_path):
    import_model(put(tmp_path / f"a.{kind}", data))
    assert "too far for bones" in error_of(make)
    assert export_bytes(tmp_path / f"b.{kind}") == data


@pytest.mark.parametrize("path", [BRAZIER, PENNANT, STILT, UPPER, *REAL], ids=lambda path: path.name)
def test_unedited_models_stay_byte_for_byte(path, tmp_path):
    data, out = path.read_bytes(), tmp_path / path.name
    collection = import_model(path)
    before, actions = keys_of(b for b in collection.objects if b.type == "MESH"), len(bpy.data.actions)
    activate(*(block for block in collection.objects if block.type == "MESH"))
    assert make() == {"FINISHED"}
    assert is_frame_rig(bpy.context.view_layer.objects.active)
    assert export_bytes(out) == data
    reopen_blend()
    assert export_bytes(out) == data
    assert remove() == {"FINISHED"}
    assert export_bytes(out) == data
    after = keys_of(block for block in bpy.data.objects if block.type == "MESH")
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert len(bpy.data.actions) == actions
    assert not any(block.vertex_groups or block.modifiers or block.parent for block in bpy.data.objects)


@pytest.mark.parametrize(("path", "kind"), [(BRAZIER, "md2"), (STILT, "md3"), (UPPER, "mdc")])
def test_other_formats_get_the_same_bytes(path, kind, tmp_path):
    import_model(path)
    before = export_bytes(tmp_path / f"a.{kind}")
    make()
    assert export_bytes(tmp_path / f"a.{kind}") == before


@pytest.mark.parametrize("path", [BRAZIER, PENNANT, UPPER], ids=lambda path: path.name)
def test_one_bone_changes_one_frame_and_what_it_moves(path, tmp_path):
    block = rigged(path)
    play(name="All Frames")
    bone, moving = a_limb(block)
    turn(block, bone, 3)
    before, after = load(path.read_bytes()), export_model(tmp_path / path.name)
    assert after.frame_names == before.frame_names
    for old, new, mesh in zip(before.surfaces, after.surfaces, posed_by(block), strict=True):
        assert np.array_equal(new.triangles, old.triangles)
        assert np.array_equal(new.uvs, old.uvs)
        changed = (new.positions != old.positions).any(axis=2)
        turned = (new.normals != old.normals).any(axis=2)
        assert not np.delete(changed | turned, 3, axis=0).any()
        groups = {group.index for group in mesh.vertex_groups if group.name in moving}
        held = [not any(g.group in groups and g.weight > 0 for g in v.groups) for v in mesh.data.vertices]
        if len(held) == changed.shape[1]:  # no seam has split points
            assert not changed[3, held].any()
        near = np.zeros(len(turned[3]), bool)
        near[new.triangles[changed[3][new.triangles].any(axis=1)]] = True
        assert not turned[3, ~near].any(), "what is beside nothing that moved keeps its source's normal"
    assert any((new.positions != old.positions).any() for old, new in zip(before.surfaces, after.surfaces, strict=True))
    assert remove() == {"FINISHED"}
    posed = export_model(tmp_path / path.name)
    for new, plain in zip(after.surfaces, posed.surfaces, strict=True):
        assert np.allclose(new.positions, plain.positions, atol=2e-2), "what was posed is in the keys"


def test_tags_are_bones(tmp_path):
    block = rigged(UPPER)
    empties = [each for each in bpy.data.objects if each.type == "EMPTY"]
    assert {each.name for each in empties} == {b.name for b in block.data.bones if b.name.startswith("tag_")}
    assert {(each.parent, each.parent_bone) for each in empties} == {(block, each.name) for each in empties}
    assert {c.name for c in block.data.bones["tag_head"].collections} == {"Tags"}
    play(name="All Frames")
    bpy.context.scene.frame_set(5)
    block.pose.bones["tag_head"].location.y += 3.0
    assert block.pose.bones["tag_head"].keyframe_insert("location", frame=5)
    before, after = load(UPPER.read_bytes()), export_model(tmp_path / "a.md3")
    assert [tag.name for tag in after.tags] == [tag.name for tag in before.tags]
    for old, new in zip(before.tags, after.tags, strict=True):
        moved = np.linalg.norm(new.origins - old.origins, axis=1)
        assert np.array_equal(np.flatnonzero(moved), [5] if new.name == "tag_head" else [])
        assert moved.max() == pytest.approx(3.0 if new.name == "tag_head" else 0.0, abs=1e-4)
        assert np.array_equal(new.axes, old.axes)
    bpy.data.objects["tag_weapon"].name = "tag_gun"
    names = [tag.name for tag in export_model(tmp_path / "a.md3").tags]
    assert names == ["tag_gun" if tag.name == "tag_weapon" else tag.name for tag in before.tags]


@pytest.mark.parametrize("kind", ["iqm", "md5mesh", "mdm", "mdr", "mds"])
def test_tags_are_joints_of_a_model_of_bones(kind, tmp_path, capfd):
    block = rigged(UPPER)
    tags = {tag.name for tag in load(UPPER.read_bytes()).tags}
    assert not any(block.data.bones[name].use_deform for name in tags)
    found = format_of(export_bytes(tmp_path / f"a.{kind}")).load((tmp_path / f"a.{kind}").read_bytes(), "a")
    assert "left out" not in capfd.readouterr().out
    names = {tag.name for tag in found.tags} if kind in ("mdm", "mdr", "mds") else set(found.skeleton.names)
    assert tags <= names
    assert found.skeleton.num_joints == len(block.data.bones)


def test_a_control_is_a_joint_where_it_carries_a_tag(tmp_path):
    block = rigged(BRAZIER)
    bone, pole = block.data.bones[-1].name, add_tag("pole")
    pole.parent, pole.parent_type, pole.parent_bone = block, "BONE", bone
    joints = [len(block.data.bones)]
    for deform, name in ((False, "pole"), (False, "tag_pole")):
        block.data.bones[bone].use_deform, pole.name = deform, name
        export_bytes(tmp_path / "a.iqm")
        joints.append(load((tmp_path / "a.iqm").read_bytes()).skeleton.num_joints)
    assert joints == [len(block.data.bones), len(block.data.bones) - 1, len(block.data.bones)]


def test_animations_play_along(tmp_path):
    block = rigged(STILT)
    scene = bpy.context.scene
    assert play(name="run") == {"FINISHED"}
    clip = block.animation_data.action
    assert (clip.name, scene.frame_end) == ("run.001", 5)
    assert clip[RIG_KEYS].name == "run"
    data = STILT.read_bytes()
    assert export_bytes(tmp_path / "a.md2", frames="KEYS") == data, "all frames are written while one animation plays"
    assert block.animation_data.action == clip
    every = load(export_bytes(tmp_path / "a.md2", frames="ACTIONS"))
    assert every.num_frames == 34
    bone, _ = a_limb(block)
    turn(block, bone, 2)
    first = load(data).frame_names.index("run1")
    taken = export_model(tmp_path / "a.md2")
    off = np.abs(taken.surfaces[0].positions - load(data).surfaces[0].positions).max(axis=(1, 2))
    assert np.array_equal(np.flatnonzero(off > 1.0), [first + 2]), "what is posed in a clip is the whole's"
    play(name="All Frames")
    assert block.animation_data.action == whole_of(block)
    again = export_model(tmp_path / "a.md2")
    assert np.array_equal(again.surfaces[0].positions, taken.surfaces[0].positions)


@pytest.mark.parametrize("name", ["run", "All Frames"])
def test_a_rig_plays_what_its_frames_played_before(name):
    """At each frame of the scene it poses the key that shows, which it was made of."""
    import_model(STILT)
    assert play(name=name) == {"FINISHED"}
    mesh, graph, scene = bpy.context.object, bpy.context.evaluated_depsgraph_get(), bpy.context.scene

    def shown():
        found = []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            found.append(positions(mesh.evaluated_get(graph).data))
        return np.array(found)

    before = shown()
    assert make() == {"FINISHED"}
    np.testing.assert_allclose(shown(), before, atol=1e-3)


@pytest.mark.parametrize("moves", [False, True])
def test_only_what_the_rig_does_not_play_moves_at_other_times(moves, tmp_path, capfd):
    block = rigged(STILT)
    play(name="run")
    for frame, place in enumerate((0.0, 4.0) if moves else ()):
        (mesh,) = posed_by(block)
        mesh.location.x = place
        mesh.keyframe_insert("location", frame=frame)
    export_bytes(tmp_path / "b.md2")
    assert ("they play at other times" in capfd.readouterr().out) == moves
    assert block.animation_data.action.get(RIG_KEYS) is not None


def test_controls_that_are_a_copy_of_the_rig_play_their_own_action(tmp_path):
    block = rigged(STILT)
    bone, _ = a_limb(block)
    controls = block.copy()
    controls.data = block.data.copy()
    bpy.context.collection.objects.link(controls)
    controls.animation_data_clear()
    for frame, angle in ((0, 0.0), (5, 1.0)):
        controls.pose.bones[bone].rotation_quaternion = (np.cos(angle / 2), np.sin(angle / 2), 0, 0)
        controls.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    hold = block.pose.bones[bone].constraints.new("COPY_ROTATION")
    hold.target, hold.subtarget, hold.mix_mode = controls, bone, "BEFORE"
    hold.owner_space = hold.target_space = "LOCAL"
    play(name="run")
    shown = export_model(tmp_path / "a.md2", frames="SCENE").surfaces[0].positions
    assert np.abs(shown - load(STILT.read_bytes()).surfaces[0].positions[10:16]).max() > 1.0
    taken = export_model(tmp_path / "b.md2", frames="ACTIONS", actions="run").surfaces[0].positions
    assert np.array_equal(taken, shown)


def test_what_is_posed_in_the_whole_is_the_clips(tmp_path):
    block = rigged(STILT)
    bone, _ = a_limb(block)
    play(name="All Frames")
    turn(block, bone, 12)
    play(name="run")
    shown = export_model(tmp_path / "a.md2", frames="ACTIONS", actions="run").surfaces[0].positions
    before = load(STILT.read_bytes()).surfaces[0].positions[10:16]
    assert np.array_equal(np.flatnonzero(np.abs(shown - before).max(axis=(1, 2)) > 1.0), [2])
    turn(block, bone, 4)  # in the clip that plays, and meanwhile in the whole
    curves = curves_of(whole_of(block), bone)
    curve = next(c for c in curves if c.data_path.endswith("rotation_quaternion") and c.array_index == 1)
    before = curve.keyframe_points[13].co.y
    curve.keyframe_points[13].co.y += 0.2
    with collected_warnings() as warnings:
        settle([block])
    assert len(warnings) == 1
    assert "were both changed: the one that plays counts, 'run" in warnings[0]
    assert curve.keyframe_points[13].co.y == before
    with collected_warnings() as warnings:
        settle([block])
    assert not warnings


def test_an_animation_is_one_action_of_the_character():
    block = rigged(STILT)
    takes = find_rig(bpy.context).takes()
    assert {"run", "attack"} <= takes.keys()
    assert {take.action for take in takes.values()}.isdisjoint(clips_of(block)), "which the keys' play along"


def test_another_name_of_a_bone_is_no_other_pose():
    block = rigged(STILT)
    bone, _ = a_limb(block)
    play(name="All Frames")
    block.data.bones[bone].name = "renamed"
    turn(block, "renamed", 12)
    with collected_warnings() as warnings:
        settle([block])
    assert not warnings


def test_a_copy_of_an_animation_is_none_of_the_frames_of_the_first(tmp_path):
    rigged(STILT)
    lengths = {"stand": 10, "run": 6, "attack": 4, "pain1": 4, "pain2": 4, "death1": 6}
    for name in lengths:
        assert bpy.ops.object.idtech_animation_duplicate(name=name, copy=f"{name}_too") == {"FINISHED"}
    assert bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "a.iqm")) == {"FINISHED"}
    clips = load_file(Disk().file(tmp_path / "a.iqm")).animations
    assert {clip.name: clip.num_frames for clip in clips} == lengths | {f"{n}_too": c for n, c in lengths.items()}


def test_frames_and_animations_that_are_edited_keep_their_poses(tmp_path):
    rows: dict[str, dict[str, str]] = {
        "duplicate": {"name": "run", "copy": "sprint"}, "remove": {"name": "pain1"},
        "rename": {"name": "stand", "to": "idle"},
    }  # fmt: skip
    found = []
    for has_rig in (False, True):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        import_model(STILT)
        if has_rig:
            make()
        play(name="All Frames")
        bpy.context.scene.frame_set(3)
        assert ops.idtech_insert_frame() == {"FINISHED"}
        for name, options in rows.items():
            assert getattr(ops, f"idtech_animation_{name}")(**options) == {"FINISHED"}
        play(name="sprint")
        found.append([export_model(tmp_path / "a.md2", frames=frames) for frames in ("KEYS", "ACTIONS")])
    for plain, posed in zip(*found, strict=True):
        assert posed.frame_names == plain.frame_names
        for name in ("positions", "normals"):
            own, other = (getattr(model.surfaces[0], name) for model in (plain, posed))
            assert np.allclose(own, other, atol=1e-4), name
    clips = [clip.name for clip in clips_of(rig())]
    assert {name.split(".")[0] for name in clips} == {"idle", "sprint", "run", "attack", "pain2", "death1"}
    assert rig().animation_data.action.name.startswith("sprint")


def bar(frames=((0.0, 0.0), (0.5, 0.0), (1.0, 0.4))):
    """Return a bar of three segments whose second and third bend by some radians in each frame; no import made it."""
    lengths, sides = (0.0, 1.0, 9.0, 10.0, 11.0, 19.0, 20.0, 21.0, 29.0, 30.0), ((0, 1), (1, 3), (3, 2), (2, 0))
    points = [(x, y, z) for x in lengths for y in (-1, 1) for z in (-1, 1)]
    faces = [(4 * i + a, 4 * i + b, 4 * i + 4 + b, 4 * i + 4 + a) for i in range(9) for a, b in sides]
    block = add_mesh("bar", points, faces)
    for frame, (first, second) in enumerate(frames):
        block.shape_key_add(name=f"bend{frame}", from_mix=False)
        block.data.shape_keys.use_relative = False
        key = block.data.shape_keys.key_blocks[frame]
        places = np.array(points)
        for joint, angle in ((20.0, second), (10.0, first)):
            turned = np.array(points)[:, 0] > joint
            x, z = places[turned, 0] - joint, places[turned, 2]
            places[turned, 0] = x * np.cos(angle) - z * np.sin(angle) + joint
            places[turned, 2] = x * np.sin(angle) + z * np.cos(angle)
        key.points.foreach_set("co", places.astype(np.float32).ravel())
        block.data.shape_keys.eval_time = frame + 1.0
    block.data.update()
    return block


def test_any_mesh_with_absolute_keys_gets_a_rig_where_it_stands(tmp_path):
    block = bar()
    block.location, block.rotation_euler, block.scale = (5, -3, 2), (0.3, 0.2, 1.0), (2, 1, -1)
    assert not remove.poll(), "there is none"
    before = export_model(tmp_path / "a.md3", frames="KEYS")
    plain = keys_of([block])
    assert make(bones=3) == {"FINISHED"}
    found = rig()
    assert found.name == "bar_rig"
    assert 2 <= len(found.data.bones) <= 3
    activate(block)
    after = export_model(tmp_path / "a.md3", frames="KEYS")
    assert np.abs(after.surfaces[0].positions - before.surfaces[0].positions).max() <= 1 / 64
    assert remove() == {"FINISHED"}
    assert np.allclose(keys_of([block])["bar"], plain["bar"], atol=1e-4)


@pytest.mark.parametrize("played", [(0, 1, 2), (2, 1)])
def test_a_rig_of_keys_that_no_action_shows_in_their_order_is_said_to_be_off(capfd, played):
    keys = bar().data.shape_keys
    for frame, place in enumerate(played):
        keys.eval_time = keys.key_blocks[place].frame
        keys.keyframe_insert("eval_time", frame=frame)
    capfd.readouterr()
    assert make(bones=3) == {"FINISHED"}
    action = keys.animation_data.action.name
    said = f"no action shows all keys of 'bar' one after another: bones pose them otherwise than '{action}' plays"
    assert (said in capfd.readouterr().out) == (len(played) < 3)


def test_bones_turn_only_where_that_is_asked_for(tmp_path):
    import_model(STILT)
    make(joints="TURN")
    assert export_bytes(tmp_path / "a.md2") == STILT.read_bytes()
    block = rig()
    places = [curve for curve in curves_of(whole_of(block)) if "location" in curve.data_path]
    moving = {curve.data_path for curve in places if len({key.co[1] for key in curve.keyframe_points}) > 1}
    assert len(moving) <= sum(bone.parent is None for bone in block.data.bones)


def test_the_rest_is_a_frame_that_is_chosen():
    import_model(BRAZIER)
    play(name="All Frames")
    bpy.context.scene.frame_set(4)
    assert rigging.read(bpy.context, RigSettings(), True).settings[0].rest == 4
    assert make(rest="FRAME") == {"FINISHED"}


@pytest.mark.parametrize(
    ("case", "said"),
    [("one frame", "no mesh with frames"), ("relative", "keys are relative"), ("armature", "bent by an armature"),
     ("twice", "has a rig already"), ("shared", "shares its mesh"), ("moving", "moves as an object"),
     ("disagreeing", "list different frames")],
)  # fmt: skip
def test_refusals_are_one_sentence(case, said, tmp_path):
    if case in ("one frame", "relative"):
        import_model(put(tmp_path / "a.md3", "minimal" if case == "one frame" else "animated"), relative_keys=True)
    else:
        block = bar()
        if case == "armature":
            block.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects.new("A", bpy.data.armatures.new("A"))
        elif case == "shared":
            bpy.data.objects.new("other", block.data)
        elif case == "moving":
            block.keyframe_insert("location")
        elif case == "disagreeing":
            activate(block, bar(((0.0, 0.0), (0.1, 0.0))))
        else:
            make()
            activate(block)
    count = len(bpy.data.armatures)
    text = error_of(make)
    assert said in text
    assert "\n" not in text
    assert len(bpy.data.armatures) == count


def test_a_rig_that_is_looked_for_can_be_ended():
    bar()
    work = rigging.Solving(rigging.read(bpy.context, RigSettings()))
    work.end()
    work.start()
    work.join()
    with pytest.raises(LimitError, match="ended"):
        work.result()


def test_copies_of_actions_are_none_of_the_models(tmp_path, capfd):
    block = rigged(STILT)
    data = STILT.read_bytes()
    play(name="run")
    bone, _ = a_limb(block)
    block.animation_data.action = block.animation_data.action.copy()
    turn(block, bone, 2)
    capfd.readouterr()
    assert export_bytes(tmp_path / "a.md2") == data
    assert "plays 'run.002', which is no animation of its model" in capfd.readouterr().out
    shown = export_model(tmp_path / "a.md2", frames="SCENE")
    assert shown.num_frames == 6
    off = np.abs(shown.surfaces[0].positions - load(data).surfaces[0].positions[10:16]).max(axis=(1, 2))
    assert np.array_equal(np.flatnonzero(off > 1.0), [2])


def test_files_of_bones_have_the_animations_in_the_order_of_the_list(tmp_path):
    """Which is that of the frames, whenever their actions were made."""
    rigged(STILT)
    assert bpy.ops.object.idtech_animation_duplicate(name="run", copy="limp") == {"FINISHED"}
    for step in range(3):
        if step:
            assert bpy.ops.object.idtech_animation_move(name="attack", direction="UP") == {"FINISHED"}
        export_bytes(tmp_path / "a.iqm")
        listed = [row.name for row in need_animations(bpy.context).rows() if not row.whole]
        assert [each.name for each in load_animations(tmp_path / "a.iqm")] == listed
    assert listed[:4] == ["stand", "attack", "run", "limp"]


@pytest.mark.parametrize("copied", [False, True])
def test_a_copy_of_all_frames_is_named_where_animations_are_written(tmp_path, capfd, copied):
    """They are those of the first: what is posed in the copy is none of theirs."""
    block = rigged(STILT)
    if copied:
        block.animation_data.action = block.animation_data.action.copy()
    capfd.readouterr()
    assert bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "a.iqm")) == {"FINISHED"}
    assert ("which is no animation of its model" in capfd.readouterr().out) == copied


def test_two_animations_of_one_name_are_both_the_models(tmp_path, capfd):
    """As those are before and behind a frame that has another name."""
    import_model(SENTINEL)
    for block in bpy.data.objects:
        if block.type == "MESH":
            block.data.shape_keys.key_blocks[3].name = "another"
    assert make() == {"FINISHED"}
    hovers = [clip for clip in clips_of(rig()) if clip.name.startswith("hover")]
    assert [frames_in_whole(clip) for clip in hovers] == [(0, 3), (4, 16)]
    capfd.readouterr()
    before = export_model(tmp_path / "a.md3").surfaces
    assert "are left out" not in capfd.readouterr().out
    rig().animation_data.action = hovers[1]
    turn(rig(), a_limb(rig())[0], 1)
    pairs = zip(export_model(tmp_path / "b.md3").surfaces, before, strict=True)
    off = np.max([np.abs(now.positions - was.positions).max(axis=(1, 2)) for now, was in pairs], axis=0)
    assert np.array_equal(np.flatnonzero(off > 0.5), [5])


def test_a_copy_of_all_frames_takes_the_place_of_none(tmp_path, capfd):
    """What is posed in an animation stays the model's, also where a copy (New Action) plays, and when the rig goes."""
    block, data = rigged(STILT), load(STILT.read_bytes())
    whole = block.animation_data.action
    play(name="run")
    turn(block, a_limb(block)[0], 2)
    block.animation_data.action = whole.copy()
    capfd.readouterr()
    written = export_model(tmp_path / "a.md2")
    said = capfd.readouterr().out
    assert f"plays '{block.animation_data.action.name}', which is no animation of its model" in said
    assert "are left out (Duplicate" not in said
    off = np.abs(written.surfaces[0].positions - data.surfaces[0].positions).max(axis=(1, 2))
    assert np.array_equal(np.flatnonzero(off > 1.0), [12])
    play(name="stand")
    assert block.animation_data.action in clips_of(block)
    play(name="All Frames")
    assert block.animation_data.action == whole
    assert bpy.ops.object.idtech_remove_rig() == {"FINISHED"}
    baked = export_model(tmp_path / "b.md2")
    assert np.abs(baked.surfaces[0].positions - written.surfaces[0].positions).max() < 0.5


class Window:
    """The operator, whose `self` is this, and the context that it runs in."""

    bl_label, bones, detail, joints, rest, symmetric = "Make Rig from Frames", 0, 1.0, "KEEP", "AUTO", True
    begin: Any
    modal: Any
    work: Any

    def __init__(self):
        self.said: list[Any] = []
        self.shown: list[Any] = []
        manager = SimpleNamespace(
            event_timer_add=lambda pause, window: "timer",
            event_timer_remove=self.shown.append,
            progress_begin=lambda first, last: self.shown.append((first, last)),
            progress_update=self.shown.append,
            progress_end=lambda: self.shown.append("end"),
            modal_handler_add=lambda operator: None,
            windows=[],
        )
        real = bpy.context
        self.context = SimpleNamespace(
            window_manager=manager, workspace=None, window=None, scene=real.scene, view_layer=real.view_layer
        )
        for name in ("settings", "made", "modal", "begin"):
            setattr(self, name, partial(getattr(operators.OBJECT_OT_idtech_make_rig, name), self))

    def report(self, kind, text):
        self.said.append((kind, text))


def test_a_window_lives_while_the_skeleton_is_looked_for_and_esc_ends_that():
    import_model(STILT)
    window = Window()
    assert window.begin(window.context) == operators.RUNNING
    assert window.modal(window.context, SimpleNamespace(type="MOUSEMOVE")) == operators.RUNNING
    assert window.modal(window.context, SimpleNamespace(type="ESC")) == {"CANCELLED"}
    assert not window.work.is_alive()
    assert not bpy.data.armatures
    assert window.said == [({"WARNING"}, "ended by Esc: no rig was made")]
    bar()
    window = Window()
    answer = window.begin(window.context)
    assert answer == operators.RUNNING
    while answer == operators.RUNNING:
        answer = window.modal(window.context, SimpleNamespace(type="TIMER"))
    assert answer == {"FINISHED"}
    assert window.shown[-2:] == ["end", "timer"]
    assert len(rig().data.bones) > 1
    ((kind, text),) = window.said
    assert kind == {"INFO"}
    assert "stays in the shape keys" in text


def test_undo_takes_it_back(tmp_path):
    path = put(tmp_path / "a.md3")
    import_model(path)
    bpy.ops.ed.undo_push(message="import")
    make()
    bpy.ops.ed.undo_push(message="rig")
    bpy.ops.ed.undo()
    assert not any(is_frame_rig(block) for block in bpy.data.objects)
    assert export_bytes(tmp_path / "b.md3") == path.read_bytes()


@pytest.mark.parametrize(("name", "frame"), [("run", 3), ("All Frames", 13)])
def test_a_pose_that_was_exported_and_then_undone_is_gone(tmp_path, name, frame):
    """An export has taken it from the animation to all frames, or back, and undo knows of one of the two alone."""
    block = rigged(STILT)
    bone, _ = a_limb(block)
    play(name=name)
    bpy.ops.ed.undo_push(message="play")
    files = [export_bytes(tmp_path / "0.md2")]
    bpy.ops.ed.undo_push(message="look")
    turn(rig(), bone, frame)
    bpy.ops.ed.undo_push(message="pose")
    for nth, change in enumerate((None, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.undo), 1):
        if change is not None:
            change()
        files.append(export_bytes(tmp_path / f"{nth}.md2"))
    assert files[0] == files[2] == files[4] == STILT.read_bytes()
    assert files[1] == files[3] != files[0]


def test_a_pose_stays_where_other_animations_show_the_same_frames(tmp_path):
    """Two of one stretch, and one that shows part of it: what one of them has is not taken for what another had."""
    block = rigged(STILT)
    bone, _ = a_limb(block)
    for name, first, last in (("alpha", 2, 5), ("walk", 0, 9), ("arun", 10, 15)):
        assert bpy.ops.object.idtech_animation_add(name=name, first=first, last=last) == {"FINISHED"}
    play(name="alpha")
    turn(block, bone, 1)
    shown = export_model(tmp_path / "a.md2").surfaces[0].positions
    play(name="run")
    play(name="alpha")
    before = load(STILT.read_bytes()).surfaces[0].positions
    for found in (shown, export_model(tmp_path / "b.md2").surfaces[0].positions):
        assert np.flatnonzero(np.abs(found - before).max(axis=(1, 2)) > 0.5).tolist() == [3]


def test_undo_of_a_pose_that_was_exported_where_two_animations_show_the_same_frames(tmp_path):
    block = rigged(STILT)
    bone, _ = a_limb(block)
    bpy.ops.object.idtech_animation_add(name="arun", first=10, last=15)
    play(name="arun")
    bpy.ops.ed.undo_push(message="play")
    before = export_bytes(tmp_path / "a.md2")
    bpy.ops.ed.undo_push(message="look")
    turn(rig(), bone, 1)
    bpy.ops.ed.undo_push(message="pose")
    assert export_bytes(tmp_path / "b.md2") != before
    bpy.ops.ed.undo()
    assert export_bytes(tmp_path / "c.md2") == before


@pytest.mark.parametrize("of_copy", [False, True])
def test_renaming_an_animation_leaves_a_copy_its_own(tmp_path, of_copy):
    """Which had none yet: nothing has looked at it since it was copied."""
    import_model(put(tmp_path / "stilt.md2", STILT.read_bytes()))
    make()
    first = rig()
    activate(first, *posed_by(first))
    bpy.ops.object.duplicate()
    (copy,) = (block for block in bpy.data.objects if is_frame_rig(block) and block != first)
    activate(copy if of_copy else first)
    assert bpy.ops.object.idtech_animation_rename(name="stand", to="wait") == {"FINISHED"}
    for block in (first, copy):
        activate(block)
        export_bytes(tmp_path / "a.iqm", what="SELECTION")
        assert [names.file_name_of(clip) for clip in clips_of(block)].count("run") == 1
        kept = {strip.action for track in block.animation_data.nla_tracks for strip in track.strips}
        assert kept == {whole_of(block), *clips_of(block)}
    assert not set(clips_of(first)) & set(clips_of(copy))


def test_poses_of_two_animations_of_the_same_frames_are_both_written(tmp_path):
    block = rigged(STILT)
    bone, _ = a_limb(block)
    bpy.ops.object.idtech_animation_add(name="arun", first=10, last=15)
    play(name="run")
    turn(block, bone, 1)
    block.animation_data.action = next(clip for clip in clips_of(block) if names.file_name_of(clip) == "arun")
    turn(block, bone, 2)
    found = export_model(tmp_path / "a.md2").surfaces[0].positions
    moved = np.abs(found - load(STILT.read_bytes()).surfaces[0].positions).max(axis=(1, 2)) > 0.5
    assert np.flatnonzero(moved).tolist() == [11, 12]


@pytest.mark.parametrize("name", ["run", "All Frames"])
def test_a_pose_of_a_copy_is_its_own_whatever_plays(tmp_path, name):
    """With its meshes Blender copied the action of keys, too, which told the clip that plays from the first's."""
    first = rigged(STILT)
    mesh, bone = posed_by(first)[0], a_limb(first)[0]
    play(name=name)
    activate(first, mesh)
    bpy.ops.object.duplicate()
    (copy,) = (block for block in bpy.data.objects if is_frame_rig(block) and block != first)
    turn(copy, bone, 4 if name == "run" else 14)
    before = load(STILT.read_bytes()).surfaces[0].positions
    for block, frames in ((mesh, []), (posed_by(copy)[0], [14])):
        activate(block)
        found = export_model(tmp_path / "a.md2", what="SELECTION").surfaces[0].positions
        assert np.flatnonzero(np.abs(found - before).max(axis=(1, 2)) > 0.5).tolist() == frames
    assert len(clips_of(first)) == len(clips_of(copy)) == 6


def test_clips_that_were_called_as_each_other_are_both_there(tmp_path):
    block = rigged(STILT)
    one, other = clips_of(block)[:2]
    called = one.name, other.name
    other.name = "for now"
    one.name, other.name = called[1], called[0]
    assert {one, other} <= set(clips_of(block))


def test_a_pose_that_was_undone_is_gone_though_its_clip_was_called_otherwise(tmp_path):
    block = rigged(STILT)
    bone, _ = a_limb(block)
    play(name="run")
    bpy.ops.ed.undo_push(message="play")
    before = export_bytes(tmp_path / "a.md2")
    bpy.ops.ed.undo_push(message="look")
    rig().animation_data.action.name = "jog"
    bpy.ops.ed.undo_push(message="rename")
    turn(rig(), bone, 3)
    bpy.ops.ed.undo_push(message="pose")
    assert export_bytes(tmp_path / "b.md2") != before
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert export_bytes(tmp_path / "c.md2") == before


def test_how_far_bones_are_off_the_frames_is_the_same_whichever_animation_plays(tmp_path, capfd):
    """Keys and bones play the same animation while they are compared."""
    block, found = rigged(STILT), set()
    mesh = posed_by(block)[0]
    for name in ("stand", "attack", "death1"):
        activate(mesh)
        assert play(name=name) == {"FINISHED"}
        capfd.readouterr()
        export_bytes(tmp_path / "a.iqm")
        found |= set(re.findall(r"is written up to .* in frame \S+ of '[^']*'", capfd.readouterr().out))
    assert len(found) == 1


def test_a_file_of_bones_gets_the_animations_and_the_mean_of_what_bones_do_not_say(tmp_path):
    import_model(STILT)
    make()
    bpy.context.scene.frame_set(30)
    data = export_bytes(tmp_path / "a.iqm")
    bpy.context.scene.frame_set(5)
    assert export_bytes(tmp_path / "b.iqm") == data, "whichever frame shows"
    motions = to_animations(format_of(data).read(data))
    assert [motion.name for motion in motions] == ["stand", "run", "attack", "pain1", "pain2", "death1"]


@pytest.fixture
def armed(tmp_path):
    """Return the stilt, and a weapon beside it that a shin carries: a file of its own, with the same frames."""
    model = load(STILT.read_bytes())
    surface = model.surfaces[0]
    low = np.flatnonzero(surface.positions[0, :, 2] < np.quantile(surface.positions[0, :, 2], 0.3))
    inside = np.isin(surface.triangles, low[:60]).all(axis=1)
    used, triangles = np.unique(surface.triangles[inside], return_inverse=True)
    uvs = surface.uvs[inside] if surface.uvs.ndim == 3 else surface.uvs[used]
    model.surfaces = [Surface("weapon", surface.positions[:, used], triangles.reshape(-1, 3).astype(np.int32), uvs, [])]
    data = formats.by_name("md2").dump(model)
    import_model(STILT)
    import_model(put(tmp_path / "weapon.md2", data))
    meshes = [block for block in bpy.data.objects if block.type == "MESH"]
    activate(*meshes)
    return *meshes, data


def test_a_weapon_beside_hangs_on_the_bone_that_carries_it(armed, tmp_path):
    stilt, weapon, data = armed
    assert make() == {"FINISHED"}
    block = rig()
    assert posed_by(block) == [stilt, weapon]
    first = block.data.bones[weapon.vertex_groups[0].name]
    assert first.parent is not None and first.parent.name in [group.name for group in stilt.vertex_groups]
    activate(stilt)
    assert export_bytes(tmp_path / "a.md2") == STILT.read_bytes()
    play(name="run")
    assert weapon.data.shape_keys.animation_data.action == stilt.data.shape_keys.animation_data.action
    activate(weapon)
    assert export_bytes(tmp_path / "b.md2") == data
    assert play(name="All Frames") == {"FINISHED"}
    assert block.animation_data.action == whole_of(block), "also of the weapon, whose whole is another action"
    activate(stilt)
    assert "poses" in error_of(bpy.ops.object.idtech_insert_frame)
    assert remove() == {"FINISHED"}
    for mesh, wanted in ((stilt, STILT.read_bytes()), (weapon, data)):
        activate(mesh)
        assert export_bytes(tmp_path / "c.md2") == wanted


def test_models_of_other_frames_are_no_rig_of_one(armed):
    activate(armed[0], import_model(BRAZIER).objects[0])
    assert "models that share a rig share their frames" in error_of(make)


def test_a_model_without_vertices_has_nothing_to_pose(tmp_path):
    import_model(put(tmp_path / "a.md2", SAMPLES["md2"]["no_vertices"]))
    activate(next(block for block in bpy.context.scene.objects if block.type == "MESH"))
    assert "nothing moves by its frames: the meshes have no vertices" in error_of(bpy.ops.object.idtech_make_rig)


@pytest.mark.parametrize("place", [0, 2, -1])
@pytest.mark.parametrize(("kind", "name"), [("md2", "animated"), ("mdl", "torch"), ("md3", "animated")])
def test_a_rig_of_frames_of_which_one_was_deleted(tmp_path, kind, name, place):
    """As a shape key, not by Delete Frame: animations still count it."""
    made = import_model(put(tmp_path / f"a.{kind}", sample(name, kind)))
    blocks = [block for block in made.objects if block.type == "MESH"]
    for block in blocks:
        block.shape_key_remove(block.data.shape_keys.key_blocks[place])
    activate(*blocks)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}


def test_a_pose_in_all_frames_is_in_files_of_bones(tmp_path):
    """It is taken to the animation that has the frame."""
    block = rigged(STILT)
    before = next(a for a in load_animations(export_iqm(tmp_path / "a.iqm")) if a.name == "run")
    turn(block, "spine", 12)
    after = next(a for a in load_animations(export_iqm(tmp_path / "b.iqm")) if a.name == "run")
    off = np.abs(after.rotations - before.rotations).max(axis=(1, 2))
    assert np.flatnonzero(off > 1e-3).tolist() == [2], "the third frame of run"


def export_iqm(path):
    activate(rig())
    assert ops_export.idtech_iqm(filepath=str(path)) == {"FINISHED"}
    return path


def posed(rig: Any, action: Any, frame: int) -> None:
    """Turn a bone in a frame of an action."""
    rig.animation_data.action = action
    bone = rig.pose.bones[1]
    bone.rotation_quaternion = (0.9, 0.1 * frame, 0.3, 0.1)
    bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_saving_leaves_to_the_export_which_of_two_poses_counts(tmp_path, capfd):
    """Where an animation and all frames were both posed: the console alone would say so."""
    import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    make(bones=4)
    rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
    whole = rig.animation_data.action
    activate(rig)
    play(name="run")
    clip = rig.animation_data.action
    posed(rig, whole, 11)
    posed(rig, clip, 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert "were both changed" not in "".join(capfd.readouterr())
    export_bytes(tmp_path / "a.md2")
    assert f"'{clip.name}' and '{whole.name}' were both changed" in capfd.readouterr().out


def test_a_copied_rig_that_plays_nothing_any_more_is_saved_and_exported(tmp_path, capfd):
    block = import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    make(bones=4)
    rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
    activate(rig, block)
    bpy.ops.object.duplicate()
    copy = next(block for block in bpy.context.selected_objects if block.type == "ARMATURE")
    copy.animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert "Traceback" not in "".join(capfd.readouterr())
    activate(*bpy.context.selected_objects)
    export_bytes(tmp_path / "a.md2", what="SELECTION")
    assert "were both changed" not in capfd.readouterr().out
