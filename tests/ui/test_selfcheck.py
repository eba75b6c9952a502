"""An export compares what it writes with what Blender shows, and says what differs: see `blender.selfcheck`."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.skeletal import gather_motion
from io_idtech_models.blender.vertex.frame_plan import FramePlan
from io_idtech_models.formats import by_name
from tests import samples_md5
from tests.blender.case import add_playing_key, geometry_nodes
from tests.blender.skeletal.rigged import curves_of
from tests.samples import PROJECT, put
from tests.ui.scene import activate, add_cube, add_tag, bpy, copy_of, export_bytes, first, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
NEWT = PROJECT / "examples/newt/models/md5/newt/newt.md5mesh"
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
OFF = re.compile(r"'([^']+)' (?:is written up to [\d.e+-]+ units off what Blender shows|has other vertices or faces)")


def rigged(path: Path) -> tuple[Any, Any]:
    """Import a model with bones, which plays something; returns its armature and a mesh."""
    import_model(path)
    rig = first("ARMATURE")
    activate(rig)
    return rig, first("MESH", rig.children)


@pytest.fixture
def said(capfd: Any) -> Any:
    """Return what tells what was said since it was asked last."""
    return lambda: capfd.readouterr().out


def nodes_that_lift(mesh: Any, by: float) -> None:
    """Give an object a modifier of geometry nodes that moves all points."""
    tree, lift = geometry_nodes("GeometryNodeSetPosition", "Geometry")
    lift.inputs["Offset"].default_value = (0.0, 0.0, by)
    mesh.modifiers.new("lift", "NODES").node_group = tree


def limit(mesh: Any) -> None:
    mesh.vertex_groups.new(name="mask").add([0, 1], 1.0, "REPLACE")
    mesh.modifiers[0].vertex_group = "mask"


def bendy(rig: Any) -> None:
    for bone in rig.data.bones:
        bone.bbone_segments = 8
        rig.pose.bones[bone.name].bbone_curveinx = 3.0


def by_envelopes(rig: Any) -> None:
    for bone in rig.data.bones:
        bone.use_envelope_multiply = True


EDITS = {
    "nodes": (lambda rig, mesh: nodes_that_lift(mesh, 30.0), r"modifiers behind the armature \('lift'\)"),
    "mirror": (lambda rig, mesh: mesh.modifiers.new("m", "MIRROR"), r"behind the armature \('m'\)"),
    "array": (lambda rig, mesh: mesh.modifiers.new("m", "ARRAY"), r"behind the armature \('m'\)"),
    "solidify": (lambda rig, mesh: setattr(mesh.modifiers.new("m", "SOLIDIFY"), "thickness", 2.0), r"\('m'\)"),
    "keys": (lambda rig, mesh: add_playing_key(mesh, "puff", 5.0, {0: 0.0, 3: 1.0, 6: 0.0}), "its shape keys play"),
    "off": (lambda rig, mesh: setattr(mesh.modifiers[0], "show_viewport", False), "is on in the viewport"),
    "doubled": (lambda rig, mesh: setattr(mesh.modifiers.new("2", "ARMATURE"), "object", rig), "several armature"),
    "limited": (lambda rig, mesh: limit(mesh), "limited to the vertex group 'mask'"),
    "volume": (lambda rig, mesh: setattr(mesh.modifiers[0], "use_deform_preserve_volume", True), "preserves volume"),
}


@pytest.mark.parametrize("target", ["a.md5mesh", "a.mdm", "a.iqm"])
@pytest.mark.parametrize("edit", EDITS)
def test_what_a_file_of_bones_shows_otherwise(tmp_path, said, edit, target):
    rig, mesh = rigged(TROOPER)
    change, cause = EDITS[edit]
    change(rig, mesh)
    export_bytes(tmp_path / target)
    text = said()
    assert OFF.findall(text) == [mesh.name], text
    assert re.search(cause, text)
    assert "weights of no bone" not in text


@pytest.mark.parametrize("key", [False, True])
def test_weights_that_are_lost_show_in_another_action(tmp_path, said, key):
    """How far off that is is looked for in all that it keeps: in what plays nothing moves."""
    rig, _ = rigged(TROOPER)
    mesh = add_cube("box")
    mesh.parent, mesh.modifiers.new("bones", "ARMATURE").object = rig, rig
    for bone, weight in zip(rig.data.bones[-2:], (0.6, 0.4), strict=True):
        mesh.vertex_groups.new(name=bone.name).add(range(8), weight, "REPLACE")
    activate(rig, *rig.children)
    rig.animation_data.action = bpy.data.actions.new("still")
    rig.pose.bones[0].keyframe_insert("location", frame=1)
    if key:
        mesh.shape_key_add(name="Basis")
        mesh.shape_key_add(name="unused").value = 0.0
    export_bytes(tmp_path / "a.iqm", motions="ALL", most_weights=1)
    text = said()
    where = re.findall(rf"'{mesh.name}': \d+ vertices lose weights, [^:]*: up to [\d.]+ units off in '(.*?)'", text)
    assert where and where != ["still"], text
    assert mesh.name not in OFF.findall(text), "which is said already"
    assert "something beside" not in text and "shape keys play" not in text


@pytest.mark.parametrize("target", ["a.md5mesh", "a.mdm", "a.iqm"])
def test_faces_that_come_while_a_motion_begins(tmp_path, said, target):
    _, mesh = rigged(TROOPER)
    scene = bpy.context.scene
    build = mesh.modifiers.new("grow", "BUILD")
    build.frame_start, build.frame_duration = scene.frame_start, 2
    mesh.modifiers.move(1, 0)
    scene.frame_set(scene.frame_start + 3)
    export_bytes(tmp_path / target)
    assert f"'{mesh.name}' has other vertices or faces there than at rest" in said()


@pytest.mark.parametrize("target", ["a.md5mesh", "a.iqm"])
@pytest.mark.parametrize(
    "change, cause", [(bendy, "bendy bones bend"), (by_envelopes, "turn Multiply Vertex Group with Envelope off")]
)
def test_bones_that_bend_meshes_otherwise(tmp_path, said, change, cause, target):
    """Which were proven to be the source's, and not looked at."""
    rig, _ = rigged(TROOPER)
    change(rig)
    export_bytes(tmp_path / target)
    text = said()
    assert set(OFF.findall(text)) == {"u_body", "l_legs"}, text
    assert cause in text


def test_vertices_whose_bone_was_removed_are_the_cause(tmp_path, said):
    rig, _ = rigged(TROOPER)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["Bip01 Head"])
    bpy.ops.object.mode_set(mode="OBJECT")
    export_bytes(tmp_path / "a.iqm")
    text = said()
    assert OFF.findall(text) == ["u_body"], text
    assert "vertices without weights hang on one bone there" in text


@pytest.mark.parametrize("weighted", [False, True])
def test_keys_of_what_a_bone_carries_are_the_cause(tmp_path, said, weighted):
    """It needs no weights: who bound it to the armature would get the same file."""
    rig, _ = rigged(TROOPER)
    mesh = add_cube("helmet")
    add_playing_key(mesh, "open", 30.0, {0: 0.0, 2: 1.0})
    bone = rig.data.bones[0].name
    if weighted:
        mesh.vertex_groups.new(name=bone).add(range(8), 1.0, "REPLACE")
        mesh.modifiers.new("Armature", "ARMATURE").object = rig
        mesh.parent = rig
    else:
        mesh.parent, mesh.parent_type, mesh.parent_bone = rig, "BONE", bone
    activate(rig)
    export_bytes(tmp_path / "b.mdm", what="SCENE")
    assert "'helmet' is written up to" in (told := said())
    assert "its shape keys play, which a file of bones can't" in told


@pytest.mark.parametrize("target", ["a.iqm", "a.mds"])
def test_texture_coordinates_that_move_are_said_of_bones_too(tmp_path, said, target):
    _, mesh = rigged(TROOPER)
    warp = mesh.modifiers.new("warp", "UV_WARP")
    for frame in (0, 5):
        warp.offset = (frame / 10, 0.0)
        warp.keyframe_insert("offset", frame=frame)
    export_bytes(tmp_path / target)
    text = said()
    assert f"'{mesh.name}': its texture coordinates change, and a file has them once" in text
    assert not OFF.findall(text), text


def test_what_the_source_weighs_oddly_is_no_edit_of_a_copy_or_a_part_either(tmp_path, said):
    """Whose vertices keep these weights: some don't sum to 1, or disagree on a place, which Blender can't show."""
    rig, mesh = rigged(put(tmp_path / "odd.md5mesh", samples_md5.odd_weights()))
    bone = rig.pose.bones[1]
    for frame, angle in ((0, 0.0), (4, 1.5)):
        bone.rotation_quaternion = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    assert "units off what Blender shows" not in (export_bytes(tmp_path / "a.md5mesh"), said())[1]
    copy_of(mesh)
    activate(rig)
    assert "units off what Blender shows" not in (export_bytes(tmp_path / "a.md5mesh"), said())[1]


@pytest.mark.parametrize("target", ["a.iqm", "a.mds", "a.mdr"])
@pytest.mark.parametrize("parent", [False, True])
def test_a_place_that_has_no_key_is_no_difference(tmp_path, said, target, parent):
    """That of an armature, or what it hangs on, whose keys say another: it is as the frames show it, and said so."""
    rig, _ = rigged(TROOPER)
    mover = bpy.data.objects.new("mover", None) if parent else rig
    if parent:
        bpy.context.scene.collection.objects.link(mover)
        rig.parent = mover
    for frame in (0, 10):
        mover.location.x = float(frame)
        mover.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(0)
    mover.location.x = 70.0
    export_bytes(tmp_path / target)
    text = said()
    assert not OFF.findall(text) and "the bones of" not in text, text
    assert f"insert one (I) to keep it: '{mover.name}'" in text


@pytest.mark.parametrize("target", ["a.md5mesh", "a.mdm", "a.iqm", "a.mds", "a.mdr"])
def test_what_shows_nothing_else_says_nothing(tmp_path, said, target):
    """Neither the model as it came, nor with what a file holds: moved, turned, modified before its armature."""
    rig, mesh = rigged(TROOPER)
    for edit in range(4):
        if edit == 1:
            mesh.data.vertices[0].co.x += 2.0
        elif edit == 2:
            mesh.modifiers.new("m", "MIRROR")
            mesh.modifiers.move(1, 0)
        elif edit == 3:
            rig.rotation_euler.z, rig.location.x = 1.0, 30.0
        bpy.context.view_layer.update()
        export_bytes(tmp_path / target)
        text = said()
        assert "units off what Blender shows" not in text, (edit, text)
        assert "than at rest" not in text, (edit, text)


@pytest.mark.parametrize("target", ["a.iqm", "a.mdr"])
def test_a_posed_bone_is_written_as_it_shows(tmp_path, said, target):
    """In files of bones that hang on one another, and in those whose bones lie side by side."""
    rig, _ = rigged(NEWT)
    bpy.data.batch_remove([action for action in bpy.data.actions if action != rig.animation_data.action])
    bone = rig.pose.bones[1]
    bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    assert bone.keyframe_insert("rotation_quaternion", frame=3)
    export_bytes(tmp_path / target)
    assert "units off what Blender shows" not in said()


def poses(path: Path, **options: Any) -> Any:
    """Export motions and return how the file has them."""
    bpy.ops.export_anim.idtech_md5anim(filepath=str(path), **options)
    return by_name("md5anim").load(path.read_bytes(), "a")


def strip_below(rig: Any) -> None:
    """Let half of what plays come from an NLA strip, and an action of one frame lie on top."""
    animation = rig.animation_data
    animation.nla_tracks.new().strips.new("below", 0, animation.action).scale = 2.0
    animation.action = bpy.data.actions.new("top")
    rig.pose.bones[0].keyframe_insert("scale", frame=0)


def strip_alone(rig: Any) -> None:
    strip_below(rig)
    rig.animation_data.action = None


def led(rig: Any) -> None:
    """Let constraints move an armature that has no action."""
    rig.animation_data_clear()
    leader = add_tag("leader")
    for frame, x in ((0, 0.0), (10, 17.0)):
        leader.location.x = x
        leader.keyframe_insert("location", frame=frame)
    rig.pose.bones[0].constraints.new("COPY_LOCATION").target = leader


@pytest.mark.parametrize("play", [strip_below, strip_alone, led])
def test_automatic_writes_what_plays(tmp_path, said, play):
    rig, _ = rigged(NEWT)
    play(rig)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 10
    assert poses(tmp_path / "a.md5anim").num_frames == 11
    assert "the scene's range is written, frame 0 to 10" in said()
    poses(tmp_path / "b.md5anim", what="SCENE")
    assert (tmp_path / "a.md5anim").read_bytes() == (tmp_path / "b.md5anim").read_bytes()


def test_a_model_with_bones_beside_it_takes_what_plays(tmp_path, said):
    """An MDM whose armature others move by constraints was written with one frame of bones."""
    rig, _ = rigged(TROOPER)
    led(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 10
    bpy.ops.export_scene.idtech_mdm(filepath=str(tmp_path / "a.mdm"), write_animation=True)
    assert by_name("mdx").load((tmp_path / "a.mdx").read_bytes(), "a").num_frames == 11
    assert "something else moves it" in said()


def test_an_action_that_plays_alone_is_written_alone(tmp_path, said):
    rig, _ = rigged(NEWT)
    bpy.context.scene.frame_end = 500
    assert poses(tmp_path / "a.md5anim").num_frames == poses(tmp_path / "b.md5anim", what="ACTIVE").num_frames
    assert "range" not in said()
    assert rig.animation_data.action is not None


def test_what_is_hidden_is_not_shown(tmp_path, said):
    """Blender does not compute the pose of an armature that is hidden with its meshes: nothing can be compared."""
    rig, _ = rigged(NEWT)
    curves_of(rig.animation_data.action)[5].keyframe_points[1].co.y += 0.2
    for block in [rig, *rig.children]:
        block.hide_viewport = True
    assert poses(tmp_path / "a.md5anim").num_frames > 1
    assert "units off" not in said()


def test_motion_that_is_not_as_shown_is_said(tmp_path, said, monkeypatch):
    """Curves are read where a predicate says that they are all that moves bones: it might be wrong one day."""
    rig, _ = rigged(NEWT)
    curves_of(rig.animation_data.action)[5].keyframe_points[1].co.y += 0.2
    leader = add_tag("leader")
    leader.location.x = 9.0
    rig.pose.bones[0].constraints.new("COPY_LOCATION").target = leader
    poses(tmp_path / "a.md5anim")
    assert "units off" not in said()
    monkeypatch.setattr(gather_motion, "is_free", lambda rig, bones: True)
    poses(tmp_path / "a.md5anim")
    assert re.search(r"the bones of '[^']+' are written up to [\d.]+ units off what Blender shows", said())


@pytest.mark.parametrize(("by", "bone"), [("LIMIT_SCALE", "hips"), ("STRETCH_TO", "head")])
def test_what_scales_bones_and_moves_others_by_that_is_to_be_muted(tmp_path, said, by, bone):
    rig, _ = rigged(NEWT)
    hold = rig.pose.bones[bone].constraints.new(by)
    if by == "STRETCH_TO":
        hold.target = add_tag("leader")
        hold.target.location = (50, 20, 30)
    else:
        hold.use_max_z, hold.max_z = True, 0.5
    bpy.context.view_layer.update()
    poses(tmp_path / "a.md5anim")
    remedy = f"mute the constraints that scale or stretch bones: '{bone}'"
    assert re.search(r"the bones of '[^']+' are written up to .*: " + remedy, said())


def driven(bone: Any) -> None:
    bone.driver_add("scale", 1).driver.expression = "1 + frame * 0.03"


def keyed_larger(bone: Any) -> None:
    for frame, size in ((0, 1.0), (20, 1.6)):
        bone.scale = (1.0, size, 1.0)
        bone.keyframe_insert("scale", frame=frame)


@pytest.mark.parametrize("target", ["a.mdr", "a.mds"])
@pytest.mark.parametrize(
    ("scale", "remedy"),
    [
        (driven, "remove the drivers of the scale of bones, and clear it: 'spine'"),
        (keyed_larger, "delete the keys of the scale of bones: 'spine'"),
        (lambda bone: setattr(bone, "scale", (1.0, 2.0, 1.0)), "clear the scale of bones .*: 'spine'"),
    ],
)
def test_what_scales_bones_is_named_and_nothing_else(tmp_path, said, target, scale, remedy):
    """Beside it a constraint turns another bone, which is scaled along."""
    rig, _ = rigged(NEWT)
    scale(rig.pose.bones["spine"])
    rig.pose.bones["head"].constraints.new("DAMPED_TRACK").target = add_tag("leader")
    bpy.context.view_layer.update()
    export_bytes(tmp_path / target, motions="ACTIVE")
    found = re.search(r"the bones of '[^']+' are written up to .*?: ([^;]*)", said())
    assert found is not None and re.fullmatch(remedy, found[1].strip())


@pytest.mark.parametrize("name", ["chest", "tag_chest"])
def test_bones_that_are_tags_are_compared_too(tmp_path, said, name):
    rig, _ = rigged(NEWT)
    rig.pose.bones["chest"].name = name
    keyed_larger(rig.pose.bones[name])
    export_bytes(tmp_path / "a.mds", motions="SCENE")
    assert f"delete the keys of the scale of bones: '{name}'" in said()


def test_a_bone_that_slides_is_named_where_a_file_holds_its_distance_once(tmp_path, said):
    _, mesh = rigged(NEWT)
    mesh.shape_key_add(name="Basis")
    mesh.shape_key_add(name="fat").value = 0.7
    export_bytes(tmp_path / "a.mds", motions="SCENE")
    assert "the file has each joint as far from its parent in all frames, let these turn alone: 'hips'" in said()


def slide(rig, name, far):
    bone = rig.pose.bones[name]
    for frame in range(49):  # all that it has keys in
        bone.location = (far * frame / 48, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("target", ["a.mds", "a.mdx"])
@pytest.mark.parametrize(("far", "named"), [(0.0, False), (300.0, True)])
def test_what_is_off_by_most_is_named_beside_what_is_scaled(tmp_path, said, target, far, named):
    rig, _ = rigged(NEWT)
    keyed_larger(rig.pose.bones["tail1"])
    slide(rig, "head", far)
    export_bytes(tmp_path / target, **({"what": "ACTIVE"} if target == "a.mdx" else {"motions": "ACTIVE"}))
    text = said()
    assert "delete the keys of the scale of bones: 'tail1'" in text
    assert ("let these turn alone: 'head'" in text) == named


def test_no_distance_is_blamed_where_a_file_holds_one_in_each_frame(tmp_path, said):
    rig, _ = rigged(NEWT)
    for frame, height in ((0, 0.0), (4, 9.0)):
        rig.location.z = height
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(2)
    rig.location.x = 5.0
    for target in ("a.md5anim", "a.iqm", "a.mds"):
        export_bytes(tmp_path / target, **({} if target.endswith("anim") else {"motions": "ACTIVE"}))
        found = said()
        assert "without a parent in one place" not in found, "there is one"
        assert ("as far from its parent" in found) == (target == "a.mds")


def test_root_bones_that_a_file_holds_in_one_place_are_named_and_not_to_be_baked(tmp_path, said):
    rig, _ = rigged(PROJECT / "tests/blends/walker.mdr")
    bone = rig.pose.bones[1]
    bone.rotation_quaternion = (0.9, 0.3, 0.0, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    export_bytes(tmp_path / "a.mds")
    found = re.search(r"the bones of '[^']+' are written up to .*?: ([^;]*)", said())
    assert found is not None and "Add Origin Joint gives these one: 'bone_001'" in found[1]
    export_bytes(tmp_path / "a.mds", add_origin=True)
    found = re.search(r"the bones of '[^']+' are written up to .*?: ([^;]*)", said())
    assert found is not None and "let these turn alone: 'bone_000'" in found[1]


@pytest.mark.parametrize(
    ("target", "remedy"),
    [("a.iqm", "mute .* bones: 'head'"), ("a.mds", "delete .* bones: 'spine', and mute .* bones: 'head'")],
)
def test_where_constraints_stretch_bones_keys_that_a_file_holds_stay(tmp_path, said, target, remedy):
    rig, _ = rigged(NEWT)
    keyed_larger(rig.pose.bones["spine"])
    hold = rig.pose.bones["head"].constraints.new("STRETCH_TO")
    hold.target = add_tag("leader")
    hold.target.location = (50, 20, 30)
    bpy.context.view_layer.update()
    export_bytes(tmp_path / target, motions="ACTIVE")
    found = re.search(r"the bones of '[^']+' are written up to .*?: ([^;]*)", said())
    assert found is not None and re.fullmatch(remedy, found[1].strip())


@pytest.mark.parametrize(
    ("keyed", "remedy"), [(False, "apply the scale of the armature"), (True, "remove the keys of")]
)
def test_scale_of_an_armature_is_not_said_to_be_that_of_bones(tmp_path, said, keyed, remedy):
    rig, _ = rigged(NEWT)
    rig.scale = (1.0, 1.0, 1.5)
    if keyed:
        rig.scale = (1.0, 1.0, 1.0)
        for frame, size in ((0, 1.0), (10, 2.0)):
            rig.scale = (size, size, size)
            assert rig.keyframe_insert("scale", frame=frame)
    bpy.context.view_layer.update()
    poses(tmp_path / "a.md5anim")
    text = said()
    assert "clear the scale of bones" not in text
    assert remedy in text, text


# -- models of frames


def framed(tmp_path: Path, relative: bool = False) -> tuple[Path, Any]:
    """Import a model of frames; returns its file and a surface."""
    path = put(tmp_path / "a.md3")
    import_model(path, relative_keys=relative)
    return path, first("MESH")


def every_key() -> list[Any]:
    return list(dict.fromkeys(block.data.shape_keys for block in bpy.data.objects if block.type == "MESH"))


def made_relative(keys: Any) -> None:
    keys.use_relative = True
    for key in list(keys.key_blocks)[1:3]:
        key.value = 0.5


def change_time(keys: Any, change: Any) -> None:
    if keys != every_key()[0]:
        return  # who play one action
    for curve in playing_curves(keys):
        for point in curve.keyframe_points:
            point.co = change(*point.co)
        curve.update()


def reversed_(keys: Any) -> None:
    change_time(keys, lambda time, value: (time, len(keys.key_blocks) - 1 - value))


def slowed(keys: Any) -> None:
    change_time(keys, lambda time, value: (time * 2, value))


def halved_strip(keys: Any) -> None:
    animation = keys.animation_data
    strip = animation.nla_tracks.new().strips.new("slow", 0, animation.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = animation.action_slot
    strip.scale = 2.0
    animation.action = None


@pytest.mark.parametrize("play", [made_relative, reversed_, slowed, halved_strip])
def test_automatic_is_what_plays_of_keys(tmp_path, said, play):
    path, _ = framed(tmp_path)
    for keys in every_key():
        play(keys)
    bpy.context.scene.frame_end *= 2
    written = export_bytes(tmp_path / "b.md3")
    assert "it does not play the keys of" in said()
    assert written == export_bytes(tmp_path / "c.md3", frames="SCENE")
    assert written != path.read_bytes()
    assert "units off" not in said()


@pytest.mark.parametrize("relative", [False, True])
def test_keys_that_play_one_after_another_are_frames(tmp_path, said, relative):
    """Also where the scene lasts longer, plays a part of them, begins anew, or one was deleted by hand."""
    path, mesh = framed(tmp_path, relative)
    scene = bpy.context.scene
    for start, end in ((0, 400), (2, 3), (3, 3)):
        scene.frame_start, scene.frame_end = start, end
        assert export_bytes(tmp_path / "b.md3") == path.read_bytes()
    scene.frame_start, scene.frame_end = 0, 400
    if not relative:
        for keys in every_key():
            for curve in playing_curves(keys):
                curve.modifiers.new("CYCLES")
        assert export_bytes(tmp_path / "b.md3") == path.read_bytes()
    assert mesh.data.shape_keys is not None
    assert "range is written" not in said()


@pytest.mark.parametrize("modified", [False, True])
@pytest.mark.parametrize("relative", [False, True])
def test_time_stretching_is_the_scenes_and_not_the_models(tmp_path, said, relative, modified):
    _, mesh = framed(tmp_path, relative)
    if modified:  # else keys are read
        mesh.modifiers.new("c", "DISPLACE").strength = 2.0
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, len(every_key()[0].key_blocks) - 1 - relative
    plain = export_bytes(tmp_path / "b.md3", frames="SCENE")
    scene.render.frame_map_new = 200
    for frames in ("AUTO", "KEYS"):
        assert export_bytes(tmp_path / "b.md3", frames=frames) == plain
    scene.frame_end *= 2
    shown = by_name("md3").read(export_bytes(tmp_path / "b.md3", frames="SCENE"))
    for slow, own in zip(shown.surfaces, by_name("md3").read(plain).surfaces, strict=True):
        assert np.abs(slow.vertices["xyz"][::2].astype(int) - own.vertices["xyz"]).max() <= 1
    tags = shown.tags["origin"]
    assert tags.shape[1] and np.ptp(tags, axis=0).max() > 1.0
    assert np.allclose(tags[::2], by_name("md3").read(plain).tags["origin"], atol=1e-4)
    assert "units off" not in said()


def test_surfaces_that_are_read_and_not_shown_are_compared(tmp_path, said, monkeypatch):
    """Keys are read where a predicate says that they are all that shows: it might be wrong one day."""
    _, mesh = framed(tmp_path)
    mesh.modifiers.new("c", "DISPLACE").strength = 9.0
    mesh.data.shape_keys.key_blocks[0].points[0].co.x += 1.0
    export_bytes(tmp_path / "b.md3")
    assert "units off" not in said()
    monkeypatch.setattr(FramePlan, "is_direct", lambda plan, block: True)
    export_bytes(tmp_path / "b.md3")
    assert OFF.findall(said()) == [mesh.name]


def test_a_key_that_is_no_frame_is_none(tmp_path, said):
    """A key that a modeller adds to a model of one frame was written in the place of what shows."""
    path = put(tmp_path / "a.md3", "minimal")
    import_model(path)
    mesh = first("MESH")
    mesh.shape_key_add(name="Basis")
    smile = mesh.shape_key_add(name="smile")
    smile.data[0].co.z += 5.0
    smile.value = 0.0  # which Blender 5.2 makes 1
    assert export_bytes(tmp_path / "b.md3") == path.read_bytes()
    smile.value = 1.0
    assert export_bytes(tmp_path / "b.md3") != path.read_bytes()
    mesh.shape_key_remove(smile)
    assert export_bytes(tmp_path / "b.md3") == path.read_bytes(), "a base alone was a traceback"
    assert "units off" not in said()
