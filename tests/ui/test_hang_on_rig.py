"""Hang on Rig: another mesh moves as the model whose frames the rig was made of, and becomes a model with them."""

import numpy as np
import pytest

from io_idtech_models.blender.frame_rigs import MODIFIER, is_frame_rig
from io_idtech_models.model.clips import group
from io_idtech_models.tasks.animations.find import need_animations
from tests.samples import PROJECT, SENTINEL, load
from tests.ui.scene import activate, add_mesh, add_object, add_tag, bpy, error_of, export_model, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
hang = bpy.ops.object.idtech_hang_on_rig


@pytest.fixture
def hung():
    """Return the stilt, its rig, and another mesh of its shape at rest: cut finer, with points of its own."""
    import_model(STILT)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    rig = next(block for block in bpy.data.objects if is_frame_rig(block))
    stilt = next(block for block in bpy.data.objects if block.type == "MESH")
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    points, triangles = shape_of(stilt)
    hub = len(points) + np.arange(len(triangles))
    finer = np.concatenate([np.stack([triangles[:, i], triangles[:, (i + 1) % 3], hub], axis=1) for i in range(3)])
    own = add_mesh("own", np.concatenate([points, points[triangles].mean(axis=1)]), finer.tolist())
    rig.data.pose_position = "POSE"
    activate(rig, own)
    return stilt, rig, own


def shape_of(block):
    """Return the points (P, 3) and triangles that an object shows."""
    mesh = block.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    mesh.calc_loop_triangles()
    points = np.array([vertex.co for vertex in mesh.vertices])
    return points, np.array([triangle.vertices for triangle in mesh.loop_triangles])


def test_it_moves_as_the_model_does(hung):
    stilt, _, own = hung
    assert hang() == {"FINISHED"}
    assert [modifier.name for modifier in own.modifiers] == [MODIFIER]
    for frame in (0, 3, 9, 15):
        bpy.context.scene.frame_set(frame)
        points, triangles = shape_of(stilt)
        expected = np.concatenate([points, points[triangles].mean(axis=1)])
        off = np.linalg.norm(shape_of(own)[0] - expected, axis=1)
        assert np.median(off) < 0.01 * max(stilt.dimensions)
        assert np.quantile(off, 0.95) < 0.05 * max(stilt.dimensions)
    assert hang() == {"FINISHED"}, "again, after it was moved"
    assert len(own.vertex_groups) == sum(bone.use_deform for bone in hung[1].data.bones)
    assert len(own.modifiers) == 1


def test_it_becomes_a_model_with_these_animations(hung, tmp_path):
    stilt, _, own = hung
    hang()
    bpy.data.objects.remove(stilt)
    bpy.context.view_layer.update()
    activate(own)
    export_model(tmp_path / "own.md2", frames="MARKERS")
    found, known = (load(path.read_bytes()) for path in (tmp_path / "own.md2", STILT))
    assert group(found.frame_names) == group(known.frame_names)
    sizes = [np.ptp(np.concatenate([s.positions for s in m.surfaces], axis=1), axis=1) for m in (found, known)]
    assert np.abs(sizes[0] - sizes[1]).max() < 0.05 * sizes[1].max()


def test_what_is_refused_or_said(hung, capsys):
    _, rig, own = hung
    own.location.x = 500
    bpy.context.view_layer.update()
    hang()
    assert "'own' lie far from the model at rest" in capsys.readouterr().out
    own.modifiers[0].object = add_object("other", rig.data.copy())
    assert error_of(hang) == "'own' is bent by 'other': remove that modifier first"
    own.modifiers.clear()
    own.data.clear_geometry()
    assert error_of(hang) == "'own' has no vertices"
    own.select_set(False)
    assert error_of(hang) == "select the meshes that 'stilt_rig' is to pose, then the rig"


def test_what_a_removed_rig_moved_is_named(hung, capfd):
    """By a modifier or a constraint: keys can't hold that for it. What stands by itself is not."""
    rig = hung[1]
    assert hang() == {"FINISHED"}
    led, free = (add_tag(name, "PLAIN_AXES") for name in ("led", "free"))
    led.constraints.new("COPY_LOCATION").target = rig
    assert free.parent is None
    capfd.readouterr()
    assert bpy.ops.object.idtech_remove_rig() == {"FINISHED"}
    assert "stands still without it, undo this to keep it: 'led', 'own'" in capfd.readouterr().out


@pytest.mark.parametrize("home", ["the scene's", "the model's"])
@pytest.mark.parametrize("active", ["mesh", "rig"])
def test_another_mesh_keeps_the_tags_of_the_model(tmp_path, capsys, active, home):
    """Whichever is active: the mesh, or the armature, which has no mesh of its own any more."""
    old = [block for block in import_model(SENTINEL).objects if block.type == "MESH"]
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    rig = next(block for block in bpy.data.objects if is_frame_rig(block))
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    points, triangles = shape_of(old[0])
    own = add_mesh("own", points, triangles.tolist())
    if home == "the model's":
        bpy.context.scene.collection.objects.unlink(own)
        old[0].users_collection[0].objects.link(own)
    activate(rig, own)
    assert hang() == {"FINISHED"}
    rig.data.pose_position = "POSE"
    for block in old:
        bpy.data.objects.remove(block)
    bpy.context.view_layer.update()
    activate(own if active == "mesh" else rig)
    before = load(SENTINEL.read_bytes())
    capsys.readouterr()
    found = export_model(tmp_path / "a.md3")
    assert "left out" not in capsys.readouterr().out
    assert [surface.name for surface in found.surfaces] == ["own"]
    assert {tag.name for tag in found.tags} == {tag.name for tag in before.tags}
    for tag in found.tags:
        (old_tag,) = (each for each in before.tags if each.name == tag.name)
        np.testing.assert_allclose(tag.origins, old_tag.origins, atol=0.02)
    assert bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "a.iqm")) == {"FINISHED"}
    assert "left out" not in capsys.readouterr().out


def test_the_list_of_a_mesh_of_ones_own_has_all_frames(hung):
    """Where the old one is gone, too; what is posed in these is in the animation that has the frame."""
    stilt, rig, own = hung
    assert hang() == {"FINISHED"}
    bpy.data.objects.remove(stilt)
    bpy.context.view_layer.update()
    activate(own)
    rows = need_animations(bpy.context).rows()
    assert rows[0].label == "All Frames"
    assert {row.name for row in rows[1:]} == {"stand", "run", "attack", "pain1", "pain2", "death1"}
    bpy.context.scene.frame_set(12)
    bone = rig.pose.bones["spine"]
    bone.rotation_quaternion = (0.8, 0.6, 0, 0)
    assert bone.keyframe_insert("rotation_quaternion", frame=12)
    posed = in_frame(12, bone)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    assert bpy.context.scene.frame_end == 5
    assert np.allclose(in_frame(2, bone), posed, atol=1e-4), "the third frame of run"
    assert bpy.ops.object.idtech_animation_play(name="All Frames") == {"FINISHED"}
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 33)
    assert np.allclose(in_frame(12, bone), posed, atol=1e-4)


def in_frame(frame, bone):
    bpy.context.scene.frame_set(frame)
    return np.array(bone.tail)
