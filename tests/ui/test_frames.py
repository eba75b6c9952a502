"""Operators that change the frames of a whole model, and that undo takes back what they did."""

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.formats.md3 import file as md3
from tests.samples import PROJECT, SENTINEL, put, sample
from tests.ui.scene import activate, add_cube, add_tag, bpy, error_of, export_structs, import_md3, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")

insert, delete, hold = (
    getattr(bpy.ops.object, f"idtech_{name}") for name in ("insert_frame", "delete_frame", "hold_still")
)


@pytest.fixture(params=["sentinel", "tags_only", "minimal", "animated", "empty_surface"])
def data(request):
    return SENTINEL.read_bytes() if request.param == "sentinel" else sample(request.param)


@pytest.fixture(params=[False, True], ids=["absolute", "relative"])
def model(request, data, tmp_path):
    """Return a model as it was before, in the scene at frame 1 (or its only one)."""
    import_md3(put(tmp_path / "a.md3", data), relative_keys=request.param)
    before = md3.read(data)
    bpy.context.scene.frame_set(min(1, len(before.frames) - 1))
    return before


def same(after, before, frames, new=None):
    """Assert that the frames of `after` are those of `before` with the given numbers, names apart.

    The frame with the number `new` is a copy: its vertices and origins are the same, its bounds and axes made anew.
    """
    old = [f for f in range(len(frames)) if f != new]
    source = np.array(frames)
    for field in (n for n in md3.FRAME.names or () if n != "name"):
        assert np.array_equal(after.frames[field][old], before.frames[field][source[old]]), field
    assert np.array_equal(after.tags[old], before.tags[source[old]])
    assert np.array_equal(after.tags["origin"], before.tags["origin"][source])
    for s, t in zip(after.surfaces, before.surfaces, strict=True):
        assert np.array_equal(s.vertices, t.vertices[source])
        assert np.array_equal(s.triangles, t.triangles)
        assert np.array_equal(s.st, t.st)


def test_insert_and_delete_again(model, tmp_path):
    count, at = len(model.frames), bpy.context.scene.frame_current
    assert insert() == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_current, scene.frame_start) == (at + 1, 0)
    assert scene.frame_end == (count if count > 1 else 250), "what has one frame leaves the scene's range"
    frames = [*range(at + 1), at, *range(at + 1, count)]
    after = export_structs(tmp_path / "b.md3")
    same(after, model, frames, new=at + 1)
    others = [f for f in range(count + 1) if f != at + 1]
    assert np.array_equal(after.frames["name"][others], model.frames["name"])
    assert delete() == {"FINISHED"}
    after = export_structs(tmp_path / "b.md3")
    same(after, model, list(range(count)))
    assert np.array_equal(after.frames["name"], model.frames["name"])


@pytest.mark.parametrize("moving", [False, True])
def test_what_has_one_frame_leaves_the_range_of_what_plays_beside_it(tmp_path, moving):
    block = import_model(put(tmp_path / "a.md3", "minimal")).objects[0]
    scene, door = bpy.context.scene, add_tag("door")
    scene.frame_start, scene.frame_end = 1, 20
    if moving:
        door.keyframe_insert("location", frame=1)
    activate(block)
    assert insert() == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (1 if moving else 0, 20)


@pytest.mark.parametrize(("kind", "name"), [("mds", "figure"), ("iqm", "arm")])
def test_a_model_of_bones_has_no_frames_but_its_actions(tmp_path, kind, name):
    made = import_model(put(tmp_path / f"a.{kind}", name))
    for block in made.objects:
        if block.type in {"MESH", "ARMATURE"}:
            activate(block)
            for operator in (insert, delete):
                assert "a model of bones has no frames but the keys of its actions" in error_of(operator)
    assert not any(block.data.shape_keys for block in made.objects if block.type == "MESH")


def test_delete(model, tmp_path):
    count, at = len(model.frames), bpy.context.scene.frame_current
    if count == 1:
        assert error_of(delete) == "the model's only frame can't be deleted"
        same(export_structs(tmp_path / "b.md3"), model, [0])
        return
    assert delete() == {"FINISHED"}
    left = [f for f in range(count) if f != at]
    assert bpy.context.scene.frame_current == min(at, count - 2), "the one behind it is shown, or the last"
    assert bpy.context.scene.frame_end == count - 2
    after = export_structs(tmp_path / "b.md3")
    same(after, model, left)
    assert np.array_equal(after.frames["name"], model.frames["name"][left])


def test_all_frames_but_one_deleted_from_the_end(model, tmp_path):
    count = len(model.frames)
    for _ in range(count - 1):
        bpy.context.scene.frame_set(bpy.context.scene.frame_end)
        assert delete() == {"FINISHED"}
        assert bpy.context.scene.frame_current == bpy.context.scene.frame_end
    same(export_structs(tmp_path / "b.md3"), model, [0])
    assert "only frame" in error_of(delete)


def restored(tmp_path, frames, new=None, **options):
    """Assert that an export has frames of the sample with these numbers."""
    same(export_structs(tmp_path / "b.md3", **options), md3.read(sample("animated")), frames, new)


def test_the_scene_shows_the_new_frames(tmp_path):
    collection = import_md3(put(tmp_path / "a.md3"))
    scene = bpy.context.scene
    scene.frame_set(1)
    insert()
    before = md3.read(sample("animated"))
    for frame, old in enumerate((0, 1, 1, 2)):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for block, surface in zip(collection.objects[:2], before.surfaces, strict=True):
            shown = {tuple(v.co) for v in block.evaluated_get(graph).data.vertices}
            assert shown == {tuple(v) for v in (surface.vertices["xyz"][old] / 64).tolist()}
        for block, tag in zip(collection.objects[2:], before.tags[old], strict=True):
            assert tuple(block.matrix_world.translation) == pytest.approx(tag["origin"], abs=1e-6)


def test_hidden_surfaces_and_tags_go_along(tmp_path):
    """Where a tag is active, too; another model stays as it is."""
    first, second = import_md3(put(tmp_path / "a.md3")), import_md3(tmp_path / "a.md3")
    for block in second.objects[1:3]:
        block.hide_set(True)
    bpy.context.scene.frame_set(1)
    insert()
    for block in second.objects:
        block.hide_set(False)
    restored(tmp_path, [0, 1, 1, 2], new=2)
    activate(next(block for block in second.objects if block.type == "EMPTY"))
    bpy.context.scene.frame_set(0)
    delete()
    restored(tmp_path, [1, 1, 2], new=1)
    activate(first.objects[0])
    restored(tmp_path, [0, 1, 2])


@pytest.mark.parametrize("times", [(0.0, 2.0), (0.5, 1.5), (0.0, 1.0), (1.0,), ()])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_tags_stay_where_they_are_whatever_keys_they_have(tmp_path, times, at):
    """Without any a curve moves nothing, as in Blender."""
    collection = import_md3(put(tmp_path / "a.md3"))
    tag = next(block for block in collection.objects if block.type == "EMPTY")
    for curve in playing_curves(tag):
        curve.keyframe_points.clear()
        for time in times:
            curve.keyframe_points.insert(time, 1.0 + time).interpolation = "LINEAR"
    bpy.context.scene.frame_set(at)
    before = export_structs(tmp_path / "b.md3")
    insert()
    after = export_structs(tmp_path / "b.md3")
    frames = [*range(at + 1), at, *range(at + 1, 3)]
    np.testing.assert_array_equal(after.tags["origin"], before.tags["origin"][frames])
    delete()
    bpy.context.scene.frame_set(at)
    delete()
    after = export_structs(tmp_path / "b.md3")
    np.testing.assert_array_equal(after.tags["origin"], np.delete(before.tags["origin"], at, axis=0))
    for frame, tags in enumerate(after.tags):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(tuple(tag.location), tags[0]["origin"], atol=1e-6)


@pytest.mark.parametrize("values", [(), (1.0,), (1.0, 1.0), (0.0, 2.0)])
@pytest.mark.parametrize("kind", ["", "NOISE"])
def test_keys_of_which_one_shows_all_the_time_are_said(tmp_path, capfd, values, kind):
    collection = import_md3(put(tmp_path / "a.md3"))
    (curve,) = playing_curves(collection.objects[0].data.shape_keys)  # which all surfaces share
    curve.keyframe_points.clear()
    for time, value in zip((0, 2), values, strict=False):
        curve.keyframe_points.insert(time, value)
    if kind:
        curve.modifiers.new(kind)
    export_structs(tmp_path / "b.md3")
    said = "nothing plays its keys, all are written as frames" in capfd.readouterr().out
    assert said == (len(set(values)) < 2 and not (kind and values))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_relative_keys_that_nothing_plays_are_said(tmp_path, capfd, value):
    """But for those that are mixed: then what is shown is written."""
    for block in import_md3(put(tmp_path / "a.md3"), relative_keys=True).objects[:2]:
        block.data.shape_keys.animation_data_clear()
        block.data.shape_keys.key_blocks[2].value = value
    export_structs(tmp_path / "b.md3")
    said = capfd.readouterr().out
    assert ("nothing plays its keys" in said) is (value != 0.5)
    assert ("the scene's range is written" in said) is (value == 0.5)


@pytest.mark.parametrize("operator", [insert, delete], ids=["insert", "delete"])
def test_undo(tmp_path, operator):
    collection = import_md3(put(tmp_path / "a.md3"))
    name = collection.name
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="import")
    operator()
    bpy.ops.ed.undo_push(message="frames")
    assert len(export_structs(tmp_path / "b.md3").frames) != 3
    bpy.ops.ed.undo()
    restored(tmp_path, [0, 1, 2], collection=name)
    bpy.ops.ed.redo()
    assert len(export_structs(tmp_path / "b.md3", collection=name).frames) != 3


def test_where_there_are_no_frames():
    assert not insert.poll()
    block = add_cube()
    assert error_of(insert) == error_of(delete) == "no model with frames is active"
    assert not hold.poll()
    block.shape_key_add(name="Basis", from_mix=False)
    assert not hold.poll(), "a lone basis is no frame"


def test_keys_that_disagree(tmp_path):
    collection = import_md3(put(tmp_path / "a.md3"))
    collection.objects[1].data.shape_keys.key_blocks[1].name = "other"
    assert "list different frames" in error_of(insert)
    assert [len(b.data.shape_keys.key_blocks) for b in collection.objects[:2]] == [3, 3]


# -- hold still


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
@pytest.mark.parametrize("edit", [False, True], ids=["object mode", "edit mode"])
def test_hold_still(tmp_path, relative, edit):
    collection = import_md3(put(tmp_path / "a.md3"), relative_keys=relative)
    block = collection.objects[0]
    activate(block)
    bpy.context.scene.frame_set(1)
    block.active_shape_key_index = 2 if relative else 1
    chosen = [2, 4]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")  # edges and faces, too; of a new mesh Blender 5.0 crashes on theirs
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in block.data.vertices:
        vertex.select = vertex.index in chosen
    if edit:
        bpy.ops.object.mode_set(mode="EDIT")
    assert hold() == {"FINISHED"}
    assert bpy.context.mode == ("EDIT_MESH" if edit else "OBJECT")
    if edit:
        bpy.ops.object.mode_set(mode="OBJECT")
    before = md3.read(sample("animated")).surfaces[0].vertices["xyz"]
    keys = [k for k in block.data.shape_keys.key_blocks if k.name != "Basis"]
    for frame, key in enumerate(keys):
        places = np.array([p.co for p in key.points]) * 64
        wanted = before[frame].copy()
        wanted[chosen] = before[1][chosen]
        assert np.array_equal(places, wanted)
    after = export_structs(tmp_path / "b.md3").surfaces[0].vertices["xyz"]
    assert np.array_equal(after[:, chosen], np.stack([before[1][chosen]] * 3))
    others = [0, 1, 3, 5]
    assert np.array_equal(after[:, others], before[:, others])


def test_meshes_that_are_edited_together_hold_still_together(tmp_path):
    meshes = import_md3(put(tmp_path / "a.md3")).objects[:2]
    bpy.context.scene.frame_set(1)
    activate(*meshes)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert hold() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    for surface in export_structs(tmp_path / "b.md3").surfaces:
        assert (surface.vertices["xyz"] == surface.vertices["xyz"][1]).all()


def test_hold_all_still(tmp_path):
    block = import_md3(put(tmp_path / "a.md3")).objects[0]
    bpy.context.scene.frame_set(2)
    assert hold(selected_only=False) == {"FINISHED"}
    before = md3.read(sample("animated")).surfaces[0].vertices["xyz"]
    after = export_structs(tmp_path / "b.md3").surfaces[0].vertices["xyz"]
    assert np.array_equal(after, np.stack([before[2]] * 3))
    assert block.data.vertices[0].co[:] == tuple(before[2][0] / 64)


def test_meshes_of_another_blend_are_refused(tmp_path):
    name = import_md3(put(tmp_path / "a.md3")).name
    path = str(tmp_path / "lib.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.data.batch_remove([bpy.data.collections[name], *bpy.data.objects, *bpy.data.meshes])
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = [name]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    block = next(b for b in wanted.collections[0].objects if b.type == "MESH")
    activate(block)
    bpy.context.scene.frame_set(1)
    for operator in (hold, bpy.ops.object.idtech_apply_change):
        assert "linked from another .blend; make it local" in error_of(operator)


@pytest.mark.parametrize(("edit", "longer"), [("insert", 1), ("delete", -1)])
def test_the_range_of_an_animation_that_plays_follows_its_frames(edit, longer):
    import_model(PROJECT / "examples/stilt/players/stilt/tris.md2")
    scene = bpy.context.scene
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    first, last = scene.frame_start, scene.frame_end
    scene.frame_set(2)
    assert getattr(bpy.ops.object, f"idtech_{edit}_frame")() == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (first, last + longer)
    assert bpy.ops.object.idtech_animation_play(name="run") == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (first, last + longer)


@pytest.mark.parametrize(("edit", "longer"), [("insert", 1), ("delete", -1)])
def test_the_range_of_a_players_row_that_plays_follows_its_frames(edit, longer):
    bpy.ops.import_scene.idtech_player(filepath=str(PROJECT / "examples/tock/baseq3/models/players/tock/animation.cfg"))
    scene = bpy.context.scene
    play = bpy.ops.object.idtech_play
    assert play(legs="LEGS_RUN", torso="TORSO_STAND") == {"FINISHED"}
    before = scene.frame_end
    activate(next(block for block in scene.objects if block.name == "l_legs"))
    assert getattr(bpy.ops.object, f"idtech_{edit}_frame")() == {"FINISHED"}
    after = scene.frame_end
    assert play(legs="LEGS_RUN", torso="TORSO_STAND") == {"FINISHED"}
    assert scene.frame_end == after and (after - before) * longer > 0
