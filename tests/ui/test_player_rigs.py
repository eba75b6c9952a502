"""Make Rig from Frames of a whole player: one armature, its parts' frames, and another character on it."""

import shutil
from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models import formats
from io_idtech_models.blender import roots
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.frame_rigs import is_frame_rig, posed_by, rigs_of
from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.blender.roots import bone_root, root_of
from io_idtech_models.blender.scene import objects_in
from io_idtech_models.library import load_animations
from io_idtech_models.model.player.cutting import in_frames
from io_idtech_models.model.vertex import Tag, VertexModel
from io_idtech_models.tasks.export.subject import subject_of
from io_idtech_models.tasks.player.making import keeps_frames
from io_idtech_models.tasks.player.play import play
from io_idtech_models.ui.player.making import OBJECT_OT_idtech_make_player
from tests.blender.case import reopen_blend
from tests.blender.skeletal.rigged import in_world
from tests.samples import PROJECT
from tests.ui.making.test_player_making import farthest, row_of
from tests.ui.panel.drawing import asked
from tests.ui.player.players import brought, export_player, model
from tests.ui.scene import activate, add_cube, add_mesh, bpy, editing, error_of, export_bytes

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

TOCK = PROJECT / "examples/tock/baseq3/models/players/tock"
NEAR = 1e-4 if bpy.app.version >= (4, 3) else 3e-4  # 4.2 has axes of bones that point to -Y 3e-5 too long
FRAME = 20  # of all frames: legs run, the torso draws
make, remove = bpy.ops.object.idtech_make_rig, bpy.ops.object.idtech_remove_rig


@pytest.fixture
def tock():
    return brought(TOCK, frame_rate=24, levels=False)


@pytest.fixture
def rig(tock):
    assert make() == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def part_of(block: Any) -> str:
    root: Any = root_of(block)
    return str(root["idtech_part"])


def player():
    return find_player(next(block for block in bpy.data.objects if block.type == "MESH" and root_of(block)))


def shown(only=root_of):
    """Return where all vertices of the player's meshes are in the world."""
    bpy.context.view_layer.update()
    return {block.name: in_world(block) for block in bpy.data.objects if block.type == "MESH" and only(block)}


def same_looks(before, after, most=NEAR):
    """Tell whether the same objects are seen at the same places."""
    pairs = list(zip(before, after, strict=True))
    assert all(was.keys() == now.keys() for was, now in pairs)
    return max(np.abs(now[name] - was[name]).max() for was, now in pairs for name in was) < most


def looks():
    """Return what is seen in some frames of the file, and of rows that play at the scene's rate."""
    found = []
    for legs, torso in (("", ""), ("LEGS_WALK", "TORSO_GESTURE"), ("BOTH_DEATH1", "BOTH_DEATH1")):
        play(player(), legs, torso, bpy.context.scene)
        for frame in (0, 6, 12):
            bpy.context.scene.frame_set(frame)
            found.append(shown())
    play(player(), "", "", bpy.context.scene)
    return found


def saved(folder, name="saved", of=None, **options):
    activate(of or next(block for block in bpy.data.objects if block.type == "MESH" and root_of(block)))
    assert export_player(filepath=str(folder / name), **options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in (folder / name).iterdir() if is_part(path)}


def is_part(path):
    return path.suffix in (".md3", ".cfg") and "_" not in path.name


def originals():
    return {path.name: path.read_bytes() for path in TOCK.iterdir() if is_part(path)}


def turn(rig, name, frame, angle=0.4):
    bpy.context.scene.frame_set(frame)
    bone = rig.pose.bones[name]
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0, 0, 1), angle)
    assert bone.keyframe_insert("rotation_quaternion", frame=frame)


def positions(data):
    return np.concatenate([surface.positions for surface in model(data).surfaces], axis=1)


@pytest.mark.parametrize("kind", ["iqm", "mdr"])
def test_files_of_bones_get_all_frames_whatever_rows_play(tock, tmp_path, kind):
    """Unless the scene's range is asked for."""
    make()
    rig = bpy.context.view_layer.objects.active
    found = {}
    for legs, torso in (("", ""), ("LEGS_RUN", "TORSO_ATTACK"), ("LEGS_RUN", "")):
        play(player(), legs, torso, bpy.context.scene)
        shown = [block["frame"] for block in player().parts.values()]
        bpy.ops.object.select_all(action="SELECT")
        bpy.context.view_layer.objects.active = rig
        export_bytes(tmp_path / f"a.{kind}", what="SELECTION")
        assert [block["frame"] for block in player().parts.values()] == shown
        (found[legs, torso],) = load_animations(tmp_path / f"a.{kind}")
    whole = found.pop(("", ""))
    assert whole.num_frames == 56
    for each in found.values():
        assert each.num_frames == 56
        assert np.abs(each.positions - whole.positions).max() < 1e-4
        assert np.abs(np.abs((each.rotations * whole.rotations).sum(axis=-1)) - 1).max() < 1e-5
    export_bytes(tmp_path / f"b.{kind}", what="SELECTION", motions="SCENE")
    assert load_animations(tmp_path / f"b.{kind}")[0].num_frames < 56


def test_it_is_one_armature_and_looks_as_before(tock):
    before = looks()
    assert make() == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert is_frame_rig(rig)
    assert [block for block in bpy.data.objects if block.type == "ARMATURE"] == [rig]
    assert {part_of(mesh) for mesh in posed_by(rig)} == {"lower", "upper"}
    bones = rig.data.bones
    assert bones["torso"].parent == bones["tag_torso"]
    assert bones["head"].parent == bones["tag_head"]
    assert {c.name for c in rig.data.collections} == {"legs", "torso", "head", "Tags"}
    assert same_looks(before, looks())
    parts = {bone.name: bone_root(bone) for bone in rig.pose.bones}
    assert parts["torso"] == player().parts["upper"]
    assert parts["head"] is None, "it has one frame"
    assert all(rig.pose.bones["head"].lock_rotation), "which no pose of it would change"
    assert parts["shin.L"] == player().parts["lower"]
    assert parts["tag_weapon"] == player().parts["upper"]
    activate(posed_by(rig)[0])
    assert "has a rig already" in error_of(make)


def test_legs_of_one_frame_are_one_bone_that_carries_the_rest(tmp_path):
    stiff = tmp_path / "models/players/stiff"
    shutil.copytree(TOCK, stiff)
    row = formats.by_name("md3")
    moving = row.load((TOCK / "lower.md3").read_bytes(), "lower")
    still = [in_frames(surface, np.eye(4)[None], [0]) for surface in moving.surfaces]
    tags = [Tag(tag.name, tag.origins[:1], tag.axes[:1]) for tag in moving.tags]
    legs = VertexModel("lower", moving.frame_names[:1], still, tags)
    (stiff / "lower.md3").write_bytes(row.dump(legs))
    brought(stiff, frame_rate=24, levels=False)
    before = looks()
    assert make() == {"FINISHED"}
    rig = bpy.context.view_layer.objects.active
    assert rig.data.bones["legs"].parent is None
    assert rig.data.bones["torso"].parent == rig.data.bones["legs"]
    assert same_looks(before, looks())
    assert saved(tmp_path)["upper.md3"] == originals()["upper.md3"]
    assert remove() == {"FINISHED"}


def test_unedited_it_is_saved_as_it_was(rig, tmp_path):
    assert saved(tmp_path) == originals()
    play(player(), "LEGS_RUN", "TORSO_ATTACK", bpy.context.scene)
    rig.parent.location = (30, -10, 5)
    rig.parent.rotation_euler = (0, 0, 1)
    reopen_blend()
    assert saved(tmp_path, "again") == originals()


@pytest.mark.parametrize("space", ["AUTO", "WORLD"])
@pytest.mark.parametrize(
    ("legs", "torso"), [("LEGS_RUN", "TORSO_ATTACK"), ("LEGS_RUN", ""), ("", "TORSO_ATTACK"), ("", "")]
)
def test_parts_in_one_file_are_written_as_they_play(tock, tmp_path, capfd, space, legs, torso):
    """They stand at the origin, so that a part's own space and the world are one."""
    play(tock, legs, torso, bpy.context.scene)
    meshes = [block for block in bpy.data.objects if block.type == "MESH" and root_of(block)]
    for block in meshes:
        block.select_set(True)
    activate(*meshes)
    path = tmp_path / "whole.md3"
    assert bpy.ops.export_scene.idtech_md3(filepath=str(path), what="SELECTION", space=space) == {"FINISHED"}
    assert "the scene's range is written" in capfd.readouterr().out, "the torso has fewer frames than the legs"
    found, scene = model(path.read_bytes()), bpy.context.scene
    assert found.num_frames == scene.frame_end + 1
    for frame in range(found.num_frames):
        scene.frame_set(frame)
        seen = shown()
        for surface in found.surfaces:
            spots = seen[surface.name][:, None] - surface.positions[frame][None]
            assert np.abs(spots).max(axis=2).min(axis=0).max() < 0.02, (frame, surface.name)


@pytest.mark.parametrize("space", ["AUTO", "OWN", "WORLD"])
def test_the_whole_player_with_its_rig_is_one_skeletal_model(rig, tmp_path, space, capfd):
    """What hangs on its tags goes along with the rig, whose root alone is taken away."""
    scene = bpy.context.scene
    meshes = [block for block in bpy.data.objects if block.type == "MESH" and root_of(block)]
    rig.parent.location = (0, 0, 0) if space == "WORLD" else (40, -9, 3)
    activate(rig, *meshes)
    options: Any = {"filepath": str(tmp_path / "whole.iqm"), "what": "SELECTION", "space": space}
    assert bpy.ops.export_scene.idtech_iqm(**options) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "work in the world" not in said
    assert "called as tags" not in said, "two parts have a tag_torso"
    rig.parent.location = (0, 0, 0)
    frames, seen = (0, 11, 30, 55), []
    for frame in frames:
        scene.frame_set(frame)
        seen.append(np.concatenate(list(shown().values())))
    bpy.ops.wm.read_homefile(use_empty=True)
    assert bpy.ops.import_scene.idtech_iqm(filepath=str(tmp_path / "whole.iqm")) == {"FINISHED"}
    for frame, before in zip(frames, seen, strict=True):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        found = np.concatenate([in_world(block) for block in bpy.data.objects if block.type == "MESH"])
        far = np.abs(found[:, None] - before[None]).max(axis=2).min(axis=1).max()
        assert far < 0.7, "what the shape keys hold besides is lost, up to 0.6 units"


@pytest.mark.parametrize("scale", [0.01, 0.03, 50.0])
def test_unedited_it_is_saved_as_it_was_at_another_size(tmp_path, scale):
    brought(TOCK, frame_rate=24, levels=False, scale=scale)
    assert make() == {"FINISHED"}
    assert saved(tmp_path, scale=scale) == originals()
    activate(rigs_of(objects_in(bpy.context.scene.collection))[0])
    assert remove() == {"FINISHED"}
    assert saved(tmp_path, "again", scale=scale) == originals()


@pytest.mark.parametrize(("bone", "part"), [("shin.L", "lower"), ("forearm.R", "upper"), ("tag_torso", "lower")])
def test_a_bone_that_is_turned_changes_its_part_in_its_frame(rig, tmp_path, bone, part):
    turn(rig, bone, FRAME)
    after, before = saved(tmp_path), originals()
    changed = {name for name in before if after[name] != before[name]}
    if bone == "tag_torso" and NEAR > 1e-4:  # which turns what is too long: the torso's tags are written anew
        assert np.array_equal(positions(after["upper.md3"]), positions(before["upper.md3"]))
        changed.discard("upper.md3")
    assert changed == {f"{part}.md3"}
    was, now = model(before[f"{part}.md3"]), model(after[f"{part}.md3"])
    off = np.abs(positions(after[f"{part}.md3"]) - positions(before[f"{part}.md3"])).max(axis=2)
    moved = np.flatnonzero(off.max(axis=1))
    assert moved.tolist() == ([] if bone == "tag_torso" else [FRAME])
    assert bone == "tag_torso" or 0 < np.count_nonzero(off[FRAME]) < 0.5 * off.shape[1]
    turned = [tag.name for tag, old in zip(now.tags, was.tags, strict=True) if not np.array_equal(tag.axes, old.axes)]
    assert turned == {"shin.L": [], "forearm.R": ["tag_weapon"], "tag_torso": ["tag_torso"]}[bone]


def test_bones_are_locked_where_a_row_shows_another_frame_than_the_scene(rig):
    scene = bpy.context.scene
    play(player(), "LEGS_RUN", "TORSO_ATTACK", scene)
    scene.frame_set(3)
    locks = ("lock_location", "lock_rotation", "lock_scale")
    bone = rig.pose.bones["shin.L"]
    assert all(all(getattr(bone, lock)) for lock in locks)
    assert bone.lock_rotation_w, "auto-key would write the first number of a rotation"
    play(player(), "", "", scene)
    scene.frame_set(4)
    assert not any(any(getattr(bone, lock)) for lock in locks)
    assert not bone.lock_rotation_w


def test_the_bone_that_a_part_begins_with_shows_its_frame(rig, tmp_path):
    """While rows play: one key in a frame of the file turns the torso in that one, and in no other."""
    before = model(saved(tmp_path)["upper.md3"])
    play(player(), "", "", bpy.context.scene)
    bone = rig.pose.bones["torso"]
    bone.rotation_quaternion = Quaternion((0, 0, 1), 0.4)
    assert bone.keyframe_insert("rotation_quaternion", frame=FRAME)
    torso = model(saved(tmp_path)["upper.md3"])
    off = np.abs(torso.surfaces[0].positions - before.surfaces[0].positions).max(axis=(1, 2))
    assert np.flatnonzero(off).tolist() == [FRAME]
    row = row_of(originals(), "TORSO_ATTACK")
    play(player(), "LEGS_LAND", "TORSO_ATTACK", bpy.context.scene)
    (mesh,) = (block for block in posed_by(rig) if part_of(block) == "upper")
    for frame in (FRAME - 1, FRAME, FRAME + 1):
        time = (frame - row.frames[0]) * 24 / row.rate
        bpy.context.scene.frame_set(int(time), subframe=time - int(time))
        root = player().parts["upper"]
        assert root["frame"] == pytest.approx(frame, abs=1e-3)
        inside = np.array(root.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.inverted())
        shown = in_world(mesh) @ inside[:3, :3].T + inside[:3, 3]
        assert farthest(torso.surfaces[0].positions[frame], shown) < 0.1, frame


def test_keys_that_a_user_sets_leave_other_frames_as_they_were(rig):
    """Blender puts these into a group of the bone's name, also those of scale, which no frame has."""
    before = looks()
    bpy.ops.object.idtech_animation_play(name="All Frames")
    bpy.context.scene.frame_set(12)
    bone = rig.pose.bones["hand.R"]
    for path in ("location", "rotation_quaternion", "scale"):
        bone.keyframe_insert(path, frame=12, group=bone.name)
    assert same_looks(before, looks())


HATS = [("head", "head"), ("torso", "upper"), ("tag_head", "head"), ("hand.R", "upper"), ("tag_torso", "upper")]


@pytest.mark.parametrize(("bone", "part"), HATS)
def test_what_hangs_on_a_bone_is_of_the_part_that_this_is_of(rig, tmp_path, bone, part):
    cube = add_cube("hat")
    cube.parent, cube.parent_type, cube.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    found = [file for file, data in saved(tmp_path).items() if file.endswith(".md3") and b"hat" in data]
    assert found == [f"{part}.md3"]


@pytest.mark.parametrize("by", ["mesh", "bone", "bone in pose mode"])
def test_frames_that_are_inserted_move_the_bones_of_their_part_alone(rig, tmp_path, capfd, by):
    """Of the rig that is the part of the active bone, be it one of your own below such a one."""
    torso = next(mesh for mesh in posed_by(rig) if part_of(mesh) == "upper")
    active = torso if by == "mesh" else rig
    activate(active)
    if by != "mesh":
        own = [bone.name for bone in rig.pose.bones if str(getattr(bone_root(bone), "name", "")).startswith("upper")]
        bpy.ops.object.mode_set(mode="EDIT")
        added = rig.data.edit_bones.new("own")
        added.head, added.tail, added.parent = (0, 0, 0), (0, 0, 1), rig.data.edit_bones[own[-1]]
        bpy.ops.object.mode_set(mode="OBJECT")
        rig.data.bones.active = rig.data.bones["own"]
        bpy.ops.object.mode_set(mode="POSE" if "pose" in by else "OBJECT")
    bpy.context.scene.frame_set(30)  # behind the deaths, which both parts have
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert "frame 31 of upper is a copy of frame 30" in capfd.readouterr().out
    after, before = saved(tmp_path), originals()
    assert after["lower.md3"] == before["lower.md3"]
    was, now = positions(before["upper.md3"]), positions(after["upper.md3"])
    assert np.array_equal(now, np.insert(was, 31, was[30], axis=0))
    activate(active)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert "frame 31 of upper is deleted" in capfd.readouterr().out
    assert saved(tmp_path, "again") == before


def panel_parts() -> list[str]:
    """Return the parts of the player as the sidebar finds them."""
    subject: Any = subject_of(bpy.context)
    return list(subject.player.parts)


def test_a_rig_that_is_undone_leaves_the_player_as_it_was(tock):
    """The sidebar looks at it again and again; Blender's own lists of objects in collections go stale by an undo."""
    activate(tock.parts["lower"])
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="import")
    before = panel_parts()
    assert make() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="rig")
    assert panel_parts() == before
    assert len(bpy.data.collections["tock"].all_objects)  # who else looks at them, as the Outliner may
    bpy.ops.ed.undo()
    assert panel_parts() == before
    assert not any(block.type == "ARMATURE" for block in objects_in(bpy.data.collections["tock"]))


def test_frames_that_are_inserted_leave_keys_of_constraints_of_another_part(rig):
    hold = rig.pose.bones["shin.L"].constraints.new("IK")
    for frame, value in ((30, 0.0), (34, 1.0), (38, 0.0)):
        hold.influence = value
        hold.keyframe_insert("influence", frame=frame)
    torso = next(mesh for mesh in posed_by(rig) if part_of(mesh) == "upper")

    def strongest() -> int:
        (curve,) = [curve for curve in playing_curves(rig) if curve.data_path.endswith('["IK"].influence')]
        return int(np.argmax([curve.evaluate(frame) for frame in range(60)]))

    for mesh, moved in ((torso, 0), (next(mesh for mesh in posed_by(rig) if part_of(mesh) == "lower"), 1)):
        activate(mesh)
        bpy.context.scene.frame_set(31)
        assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
        assert strongest() == 34 + moved


def test_remove_rig_gives_back_what_there_was(rig, tmp_path, capfd):
    before = looks()
    assert remove() == {"FINISHED"}
    assert "stands still without it" not in capfd.readouterr().out
    assert not bpy.data.armatures
    assert not any("at rest" in block.name for block in bpy.data.objects)
    assert same_looks(before, looks())
    assert saved(tmp_path) == originals()


def test_remove_rig_keeps_what_was_posed(rig, tmp_path):
    turn(rig, "shin.L", FRAME)
    posed = positions(saved(tmp_path)["lower.md3"])
    activate(rig)
    assert remove() == {"FINISHED"}
    assert np.array_equal(positions(saved(tmp_path, "again")["lower.md3"]), posed)


def another():
    """Return a mesh of the player's shape as it rests, all in one, cut finer."""
    points: list[Any] = []
    faces: list[Any] = []
    for name, own in shown().items():
        mesh = bpy.data.objects[name].data
        mesh.calc_loop_triangles()
        triangles = np.array([triangle.vertices for triangle in mesh.loop_triangles])
        first, hub = sum(len(each) for each in points), np.arange(len(triangles)) + len(own)
        corners = [np.stack([triangles[:, i], triangles[:, (i + 1) % 3], hub], axis=1) for i in range(3)]
        faces.append(np.concatenate(corners) + first)
        points.append(np.concatenate([own, own[triangles].mean(axis=1)]))
    return add_mesh("other", np.concatenate(points).tolist(), np.concatenate(faces).tolist())


@pytest.fixture
def hung(rig):
    rig.data.pose_position = "REST"
    other = another()
    rig.data.pose_position = "POSE"
    activate(rig, other)
    assert bpy.ops.object.idtech_hang_on_rig() == {"FINISHED"}
    return other


def test_another_character_moves_as_the_player_does(rig, hung):
    for legs, torso in (("", ""), ("LEGS_RUN", "TORSO_ATTACK"), ("BOTH_DEATH1", "BOTH_DEATH1")):
        play(player(), legs, torso, bpy.context.scene)
        bpy.context.scene.frame_set(9)
        own = np.concatenate(list(shown().values()))
        other = shown(lambda block: block == hung)["other"]
        off = np.sqrt(((other[:, None] - own[None]) ** 2).sum(axis=2).min(axis=1))
        assert np.median(off) < 0.02 * np.ptp(own, axis=0).max()
        assert np.quantile(off, 0.95) < 0.06 * np.ptp(own, axis=0).max()


def test_another_character_becomes_a_player_with_these_animations(rig, hung, tmp_path, capfd):
    activate(rig)
    play(player(), "LEGS_RUN", "TORSO_ATTACK", bpy.context.scene)
    target = tmp_path / "models/players/other"
    assert bpy.ops.object.idtech_make_player(filepath=str(target), player="other", open_result=False) == {"FINISHED"}
    assert (target / "animation.cfg").read_bytes() == (TOCK / "animation.cfg").read_bytes()
    for part in ("lower", "upper", "head"):
        was, now = model((TOCK / f"{part}.md3").read_bytes()), model((target / f"{part}.md3").read_bytes())
        assert part == "head" or now.frame_names == was.frame_names
        old = {tag.name: tag for tag in was.tags}
        for tag in now.tags:
            assert np.abs(tag.origins - old[tag.name].origins).max() < 1e-3
            lengths = np.linalg.norm(old[tag.name].axes, axis=2, keepdims=True)
            assert np.abs(tag.axes - old[tag.name].axes / lengths).max() < 1e-3
        sizes = [np.ptp(np.concatenate([s.positions for s in m.surfaces], axis=1), axis=1) for m in (was, now)]
        assert np.abs(sizes[0] - sizes[1]).max() < 0.1 * sizes[0].max()
    for name in ("lower.md3", "upper.md3"):
        had, has = ({tag.name for tag in model((folder / name).read_bytes()).tags} for folder in (TOCK, target))
        assert has == had, "also where a flag is"
    playing = [player().parts[part].animation_data.action.name for part in ("lower", "upper")]
    assert playing == ["LEGS_RUN", "TORSO_ATTACK"], "as before"
    play(player(), "LEGS_IDLE", "TORSO_STAND", bpy.context.scene)
    bpy.context.scene.frame_set(0)
    on_rig = shown(lambda block: block == hung)["other"]
    legs, torso = (model((target / f"{part}.md3").read_bytes()) for part in ("lower", "upper"))
    idle, stand = (row_of(originals(), name).first for name in ("LEGS_IDLE", "TORSO_STAND"))
    carried = torso.surfaces[0].positions[stand] @ legs.tags[0].axes[idle] + legs.tags[0].origins[idle]
    for points in (legs.surfaces[0].positions[idle], carried):
        assert farthest(points, on_rig) < 1 / 32, "it stands without a seam"


def test_all_that_moves_another_character_is_written_as_while_all_frames_play(rig, hung, tmp_path):
    play(player(), "", "", bpy.context.scene)
    hung.shape_key_add(name="Basis")
    tall = hung.shape_key_add(name="tall")
    for point in tall.data:
        point.co.z += 5.0
    for frame, value in ((0, 0.0), (2, 1.0), (4, 0.0), (FRAME - 1, 0.0), (FRAME, 1.0)):
        tall.value = value
        tall.keyframe_insert("value", frame=frame)
    pelvis, arm = (hung.vertex_groups[name] for name in ("pelvis", "upper_arm.R"))
    both = [v.index for v in hung.data.vertices if any(group.group == pelvis.index for group in v.groups)]
    assert both
    arm.add(both, 0.4, "REPLACE")
    activate(rig)
    way, before = {"player": "other", "open_result": False, "close_seams": False}, set(bpy.data.actions)
    assert bpy.ops.object.idtech_make_player(filepath=str(tmp_path / "other"), **way) == {"FINISHED"}
    legs, torso = (model((tmp_path / "other" / f"{part}.md3").read_bytes()) for part in ("lower", "upper"))
    assert set(bpy.data.actions) == before
    for frame in (1, 2, 3, FRAME):
        bpy.context.scene.frame_set(frame)
        on_rig = shown(lambda block: block == hung)["other"]
        carried = torso.surfaces[0].positions[frame] @ legs.tags[0].axes[frame] + legs.tags[0].origins[frame]
        assert farthest(carried, on_rig) < 1 / 32, frame
        if frame < FRAME:
            assert farthest(legs.surfaces[0].positions[frame], on_rig) < 1 / 32, frame


def weighted(block, rig, **shares):
    """Let bones of a rig bend a mesh, all of its vertices by the same shares."""
    for bone, share in shares.items():
        block.vertex_groups.new(name=bone.replace("__", ".")).add(range(len(block.data.vertices)), share, "REPLACE")
    block.modifiers.new("a", "ARMATURE").object = rig
    bpy.context.view_layer.update()


def test_what_hangs_on_the_bone_of_a_tag_that_carries_no_part_is_left_out(rig, tmp_path, capfd):
    cube = add_cube("sword")
    cube.parent, cube.parent_type, cube.parent_bone = rig, "BONE", "tag_weapon"
    bpy.context.view_layer.update()
    assert saved(tmp_path) == originals()
    assert "or are no meshes (parent meshes to a part's root): 'sword'" in capfd.readouterr().out


@pytest.mark.parametrize("parent", [True, False])
@pytest.mark.parametrize(
    ("shares", "parts"),
    [
        ({"head": 1.0}, ["head"]),
        ({"hand__R": 0.5, "head": 0.004}, ["upper"]),  # which a brush left behind
        ({"shin__L": 0.5, "thigh__L": 0.5}, ["lower"]),
        ({"hand__R": 1.0, "shin__L": 0.1}, []),
    ],
)
def test_what_a_rig_bends_is_of_the_part_whose_bones_it_has_weights_of(rig, tmp_path, capfd, shares, parts, parent):
    cube = add_cube("hat")
    cube.parent = rig if parent else None
    weighted(cube, rig, **shares)
    found = [file for file, data in saved(tmp_path).items() if file.endswith(".md3") and b"hat" in data]
    assert found == [f"{part}.md3" for part in parts]
    said = "bones of several parts move it (Make Quake III Player cuts it, or weight it to one part): 'hat'"
    assert (said in capfd.readouterr().out) == (not parts)


def test_the_sidebar_reads_no_weights(rig, monkeypatch):
    """It is drawn again and again, and to read those of ten thousand vertices takes 20 ms."""
    cube = add_cube("hat")
    cube.parent = rig
    weighted(cube, rig, hand__R=1.0, shin__L=0.1)
    activate(cube)
    monkeypatch.setattr(roots, "read_groups", None)
    assert panel_parts() == ["lower", "upper", "head"]


def test_what_hangs_on_a_bone_that_was_added_is_of_the_part_of_its_parent(rig, tmp_path):
    with editing(rig) as bones:
        bones.new("brim").tail.z = 1.0
        bones["brim"].parent = bones["head"]
    cube = add_cube("hat")
    cube.parent, cube.parent_type, cube.parent_bone = rig, "BONE", "brim"
    bpy.context.view_layer.update()
    found = [file for file, data in saved(tmp_path).items() if file.endswith(".md3") and b"hat" in data]
    assert found == ["head.md3"]


def test_the_dialog_asks_only_what_is_not_the_players_own(rig, hung):
    def shown():
        return asked(OBJECT_OT_idtech_make_player, fit=True, keeps_frames=keeps_frames(bpy.context))

    assert {"player", "close_seams", "levels", "keep_shaders"} == shown() - {"open_result"}
    remove()
    assert {"torso", "rows", "fps", "facing"} < shown()


def test_what_hangs_on_the_rig_is_no_part_of_the_player(rig, hung, tmp_path, capfd):
    assert saved(tmp_path) == originals()
    assert "left out" in capfd.readouterr().out
    for block in [b for b in bpy.data.objects if b.type == "MESH" and root_of(b)]:
        bpy.data.objects.remove(block)
    bpy.context.view_layer.update()
    activate(rig)
    text = error_of(bpy.ops.object.idtech_make_player, filepath=str(tmp_path / "a"), player="a")
    assert "the player's own meshes are gone, and with them how many frames it has" in text


def test_nothing_but_the_player_hangs_on_the_rig(rig, tmp_path):
    text = error_of(bpy.ops.object.idtech_make_player, filepath=str(tmp_path / "a"), player="a")
    assert "was made of a player, and poses nothing else" in text
    text = error_of(bpy.ops.object.idtech_make_quake2_player, filepath=str(tmp_path / "b"), player="b")
    assert "poses the parts of a Quake III player" in text and "take a character's own rig" in text


@pytest.mark.parametrize("kind", ["lower", "upper"])
def test_a_part_whose_root_was_deleted_is_written_as_it_is_shown(rig, tmp_path, kind):
    root = player().parts[kind]
    mesh = next(block for block in root.children if block.type == "MESH")
    bpy.data.objects.remove(root)
    bpy.context.scene.frame_set(0)
    activate(mesh)
    seen = in_world(mesh)
    assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3"), space="WORLD") == {"FINISHED"}
    found = model((tmp_path / "a.md3").read_bytes()).surfaces[0].positions[0]
    assert farthest(found, seen) < 0.1
    assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
    assert bpy.ops.object.idtech_check_game() == {"FINISHED"}


def rests():
    return [block for block in bpy.data.objects if " at rest" in block.name]


@pytest.mark.parametrize("whole", [True, False], ids=["all of it", "without what holds meshes"])
def test_a_copy_of_the_player_is_one_of_its_own(rig, tmp_path, whole):
    """It goes where it is moved, is written as it came, and its rig takes nothing of the first one's along."""
    assert rests()
    first = list(bpy.data.objects)
    bpy.ops.object.select_all(action="SELECT")
    for rest in rests():
        rest.select_set(whole)
    bpy.ops.object.duplicate()
    copies = [block for block in bpy.data.objects if block not in first]
    root = next(block for block in copies if block.parent is None)
    root.location.y += 60
    assert saved(tmp_path, of=root) == originals()
    meshes = [block for block in first if block.type == "MESH"]
    before = [in_world(mesh) for mesh in meshes]
    torso = next(block for block in copies if block.type == "MESH" and part_of(block) == "upper")
    (twin,) = (block for block in meshes if part_of(block) == "upper")
    assert np.abs(in_world(torso) - in_world(twin) - (0, 60, 0)).max() < 1e-3
    activate(next(block for block in copies if block.type == "ARMATURE"))
    assert remove() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert max(np.abs(in_world(mesh) - was).max() for mesh, was in zip(meshes, before, strict=True)) < 1e-5
    assert saved(tmp_path, of=rig) == originals()


def test_what_holds_meshes_comes_again(rig, tmp_path):
    """It is a dot that anyone may delete."""
    for rest in rests():
        bpy.data.objects.remove(rest)
    bpy.context.view_layer.update()
    assert saved(tmp_path) == originals()
    for rest in rests():
        bpy.data.objects.remove(rest)
    activate(rig)
    assert remove() == {"FINISHED"}
    assert not rests()
    assert saved(tmp_path, "unrigged") == originals()


def test_a_copy_keeps_its_place_when_the_first_rig_goes(rig, tmp_path):
    first = list(bpy.data.objects)
    bpy.ops.object.select_all(action="SELECT")
    for rest in rests():
        rest.select_set(False)
    bpy.ops.object.duplicate()
    copy = next(block for block in bpy.data.objects if block not in first and block.type == "ARMATURE")
    activate(rig)
    assert remove() == {"FINISHED"}
    assert saved(tmp_path, of=copy) == originals()


def test_files_of_bones_say_nothing_of_what_holds_meshes(rig, tmp_path, capfd):
    activate(rig)
    assert bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "a.iqm")) == {"FINISHED"}
    assert "at rest" not in capfd.readouterr().out
