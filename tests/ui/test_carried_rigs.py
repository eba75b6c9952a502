"""A rig of a model that something carries: a root, another's tag, a bone. It stands and poses the model there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mathutils import Quaternion

from io_idtech_models.blender.frame_rigs import is_frame_rig
from tests.samples import PROJECT, SENTINEL, load
from tests.ui.scene import activate, add_cube, add_mesh, bpy, export_bytes, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
ELSEWHERE = (30.0, -20.0, 10.0), (0.5, 0.4, 1.0)


def put_elsewhere(block: Any) -> None:
    block.location, block.rotation_euler = ELSEWHERE


def added(name: str, data: Any = None) -> Any:
    """Return a new object of the scene, which stands elsewhere."""
    block = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(block)
    put_elsewhere(block)
    return block


def on_a_root(own: list[Any]) -> Any:
    """Make a root, as the panel does."""
    activate(own[0])
    assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
    (root,) = (block for block in bpy.data.objects if block not in own)
    return root


def by_a_root(own: list[Any]) -> None:
    put_elsewhere(on_a_root(own))


def by_a_moving_root(own: list[Any]) -> None:
    root = on_a_root(own)
    put_elsewhere(root)
    for frame in (0, 9):
        root.keyframe_insert("location", frame=frame)
        root.location.z += 20.0


def on_a_tag(own: list[Any]) -> None:
    """Hang it on another's tag, as a weapon on a hand."""
    tag = added("tag_weapon")
    for block in own:
        block.parent = tag


def on_a_tag_and_moved(own: list[Any]) -> None:
    on_a_tag(own)
    for block in own:
        if block.type == "MESH":
            block.location = (1.0, 2.0, 3.0)


def on_a_bone(own: list[Any]) -> None:
    armature = added("hand", bpy.data.armatures.new("hand"))
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("tag_weapon")
    bone.head, bone.tail = (3.0, 3.0, 3.0), (0.0, 5.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    for block in own:
        block.parent, block.parent_type, block.parent_bone = armature, "BONE", "tag_weapon"


def on_an_empty(own: list[Any]) -> None:
    """Which is nothing of a game: the model stands in the world."""
    empty = added("table")
    for block in own:
        block.parent = empty


def on_a_tag_by_its_place(own: list[Any]) -> None:
    """Hang it on another's tag as Ctrl+P does: it stays where it stands."""
    tag = added("tag_weapon")
    bpy.context.view_layer.update()
    for block in own:
        block.parent, block.matrix_parent_inverse = tag, tag.matrix_world.inverted()


WAYS = (by_a_root, by_a_moving_root, on_a_tag, on_a_tag_and_moved, on_a_bone, on_an_empty)


def brought(carry: Any = None) -> list[Any]:
    """Import a model that something is to carry; returns its objects, meshes first."""
    import_model(SENTINEL)
    own: list[Any] = sorted(bpy.data.objects, key=lambda block: block.type != "MESH")
    if carry is not None:
        carry(own)
    bpy.context.scene.frame_set(0)
    activate(own[0])
    return own


def stands(own: list[Any]) -> Any:
    bpy.context.view_layer.update()
    return np.array([block.matrix_world for block in own])


def pose() -> None:
    """Turn a bone in one frame."""
    rig: Any = next(block for block in bpy.data.objects if is_frame_rig(block))
    bpy.context.scene.frame_set(7)
    bone = next(bone for bone in rig.pose.bones if bone.parent is not None and bone.bone.use_deform)
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1, 0, 0), 0.7)
    assert bone.keyframe_insert("rotation_quaternion", frame=7)


def alike(one: bytes, other: bytes) -> bool:
    """Tell whether two files show the same, up to what is rounded."""
    a, b = load(one), load(other)
    off = [np.abs(x.positions - y.positions).max() for x, y in zip(a.surfaces, b.surfaces, strict=True)]
    off += [np.abs(x.origins - y.origins).max() for x, y in zip(a.tags, b.tags, strict=True)]
    off += [np.abs(x.axes - y.axes).max() for x, y in zip(a.tags, b.tags, strict=True)]
    return bool(max(off) < 0.02)


@pytest.mark.parametrize("carry", WAYS)
def test_a_rig_of_a_carried_model(tmp_path, carry):
    """Made, posed and removed it shows, and writes, what it does of a model that nothing carries."""
    brought(on_a_root if carry in (by_a_root, by_a_moving_root) else None)  # bones lie a little otherwise there
    assert bpy.ops.object.idtech_make_rig("EXEC_DEFAULT") == {"FINISHED"}
    pose()
    posed = export_bytes(tmp_path / "posed.md3")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    own = brought(carry)
    before, stood = export_bytes(tmp_path / "before.md3"), stands(own)
    assert bpy.ops.object.idtech_make_rig("EXEC_DEFAULT") == {"FINISHED"}
    assert np.abs(stands(own) - stood).max() < 1e-3
    assert alike(export_bytes(tmp_path / "rigged.md3"), before)
    pose()
    found = export_bytes(tmp_path / "b.md3")
    assert not alike(found, before)
    assert alike(found, posed) == (carry not in (on_a_tag_and_moved, on_an_empty)), "these stand elsewhere in the file"
    activate(own[0])
    assert bpy.ops.object.idtech_remove_rig() == {"FINISHED"}
    assert alike(export_bytes(tmp_path / "removed.md3"), found)
    bpy.context.scene.frame_set(0)
    assert np.abs(stands(own) - stood).max() < 1e-2


@pytest.mark.parametrize("carry", [*WAYS, on_a_tag_by_its_place], ids=lambda way: way.__name__)
def test_a_mesh_of_ones_own_on_a_rig_that_is_carried(tmp_path, carry):
    """It moves as the model does, in the same space, alone or together, whatever frame the scene shows."""
    own = brought(carry)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    rig = next(block for block in bpy.data.objects if is_frame_rig(block))
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    hull = next(block for block in own if block.name == "hull")
    shown = hull.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = [tuple(shown.matrix_world @ vertex.co) for vertex in shown.data.vertices]
    twin = add_mesh("twin", points, [tuple(face.vertices) for face in shown.data.polygons])
    activate(rig, twin)
    assert bpy.ops.object.idtech_hang_on_rig() == {"FINISHED"}
    rig.data.pose_position = "POSE"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 19
    stood = stands([twin])
    for frame in (0, 7):
        bpy.context.scene.frame_set(frame)
        activate(twin, *own, rig)
        surfaces = exported(tmp_path / "a.md3", what="SELECTION")
        away = np.linalg.norm(surfaces["twin"][:, ::9, None] - surfaces["hull"][:, None], axis=-1).min(axis=2)
        assert np.quantile(away, 0.9) < 0.01 * max(hull.dimensions)
    bpy.context.scene.frame_set(0)
    assert np.allclose(stands([twin]), stood, atol=1e-4)


def carried_stilt() -> Any:
    """Return a rig, and a mover that carries it and its mesh, which moves in the scene's frames."""
    own = import_model(STILT)
    mesh = next(block for block in own.objects if block.type == "MESH")
    activate(mesh)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    rig = mesh.modifiers["Rig"].object
    mover = bpy.data.objects.new("mover", None)
    bpy.context.scene.collection.objects.link(mover)
    for frame in (0, 33):
        mover.location.x = frame
        mover.keyframe_insert("location", frame=frame)
    rig.parent = mesh.parent = mover
    bpy.context.scene.frame_set(0)
    return rig, mover


def by_child_of(block: Any, mover: Any) -> None:
    hold = block.constraints.new("CHILD_OF")
    hold.target, hold.inverse_matrix = mover, mover.matrix_world.inverted()


def by_a_parent(block: Any, mover: Any) -> None:
    block.parent = mover


def by_keys(block: Any, mover: Any) -> None:
    for frame in (0, 33):
        block.location.x = frame
        block.keyframe_insert("location", frame=frame)


def by_nothing(block: Any, mover: Any) -> None:
    mover.animation_data_clear()
    mover.keyframe_insert("hide_render", frame=3)


@pytest.mark.parametrize("follow", [by_child_of, by_a_parent, by_keys, by_nothing])
def test_a_mesh_that_follows_already_is_left_so(tmp_path, capfd, follow):
    rig, mover = carried_stilt()
    cube = add_cube("cb")
    follow(cube, mover)
    cube.modifiers.new("Rig", "ARMATURE").object = rig
    parent, stood = cube.parent, [cube.matrix_world.translation.x]
    activate(rig, cube)
    export_bytes(tmp_path / "a.md2", frames="SCENE", what="SCENE")
    assert "stays behind" not in capfd.readouterr().out
    assert bpy.ops.object.idtech_hang_on_rig() == {"FINISHED"}
    assert cube.parent == (mover if follow is by_nothing else parent)
    bpy.context.scene.frame_set(33)
    bpy.context.view_layer.update()
    wanted = stood[0] if follow is by_nothing else stood[0] + 33
    assert abs(cube.matrix_world.translation.x - wanted) < 1e-3


def exported(path: Any, **options: Any) -> dict[str, Any]:
    """Export; returns the frames of surfaces, (F, V, 3), by their names."""
    return {surface.name: surface.positions for surface in load(export_bytes(path, **options)).surfaces}


def test_models_whose_frames_have_other_names_share_a_rig_that_can_go_again(tmp_path):
    first, second = (import_model(STILT).objects[0] for _ in range(2))
    second.data.shape_keys.key_blocks[5].name = "another"
    files = {}
    for step in ("before", "after"):
        for block in (first, second):
            activate(block)
            files[step, block.name] = export_bytes(tmp_path / "a.md2")
        if step == "before":
            activate(first, second)
            assert bpy.ops.object.idtech_make_rig("EXEC_DEFAULT") == {"FINISHED"}
            assert bpy.ops.object.idtech_remove_rig() == {"FINISHED"}
    assert all(files["before", block.name] == files["after", block.name] for block in (first, second))


@pytest.mark.parametrize("rooted", [False, True])
def test_frames_that_two_models_share_are_not_edited_in_one(tmp_path, rooted):
    """Whatever carries them: a root of one's own makes no parts of a player of them."""
    first, second = (import_model(STILT).objects[0] for _ in range(2))
    activate(first, second)
    assert bpy.ops.object.idtech_make_rig("EXEC_DEFAULT") == {"FINISHED"}
    if rooted:
        activate(second)
        assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
    activate(first)
    with pytest.raises(RuntimeError, match="and has its frames: Remove Rig, change the frames of both"):
        bpy.ops.object.idtech_delete_frame()
