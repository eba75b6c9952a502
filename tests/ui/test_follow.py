"""The active shape key follows the scene's frame, and the frame a key that is chosen."""

from types import SimpleNamespace

import numpy as np
import pytest

from io_idtech_models.blender import scene as scenes
from io_idtech_models.blender.vertex.shown_keys import shown_key
from io_idtech_models.ui import frames, preferences
from tests.samples import put
from tests.ui.player.players import actions_of, active_player, brought, game, mesh_of
from tests.ui.scene import activate, add_cube, bpy, export_bytes, import_frames, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(params=["md3", "md2", "relative"])
def surfaces(request, tmp_path):
    suffix = request.param if request.param != "relative" else "md3"
    options = {"relative_keys": True} if request.param == "relative" else {}
    home = import_frames(put(tmp_path / f"a.{suffix}"), **options).users_collection[0]
    return [block for block in home.objects if block.type == "MESH" and block.data.shape_keys is not None]


def keys_of(blocks):
    return [block.active_shape_key.name for block in blocks]


def name_of(block, frame):
    blocks = block.data.shape_keys.key_blocks
    return blocks[frame + (blocks[0].name == "Basis")].name


def test_the_key_follows_the_frame_and_the_frame_the_key(surfaces):
    for frame in (1, 2, 0):
        bpy.context.scene.frame_set(frame)
        assert keys_of(surfaces) == [name_of(block, frame) for block in surfaces]
    surfaces[0].active_shape_key_index += 2
    frames._on_key()  # which the message bus calls when Blender is idle
    assert bpy.context.scene.frame_current == 2
    assert keys_of(surfaces) == [name_of(each, 2) for each in surfaces]
    bpy.context.scene.frame_set(0, subframe=0.6)  # between two the nearest; of a mix of relative ones none
    are_mixed = surfaces[0].data.shape_keys.use_relative
    assert keys_of(surfaces) == [name_of(block, 2 if are_mixed else 1) for block in surfaces]
    if not are_mixed:
        frames._on_key()  # for Blender tells of this, too
        assert bpy.context.scene.frame_current == 0


def test_the_key_follows_what_is_chosen_and_what_is_undone(tmp_path):
    """And who listens is told when playback ends, and when something else becomes active: see `OCCASIONS`."""
    first, other = (import_frames(put(tmp_path / name)) for name in ("a.md3", "b.md3"))
    bpy.context.scene.frame_set(2)
    assert (other.active_shape_key_index, first.active_shape_key_index) == (2, 0)
    bpy.context.view_layer.objects.active = first
    frames._follow()  # which the message bus calls when Blender is idle
    assert first.active_shape_key_index == 2
    for block in (first, other):
        block.select_set(True)
    bpy.context.scene.frame_set(1)
    assert (other.active_shape_key_index, first.active_shape_key_index) == (1, 1)
    other.active_shape_key_index = 0
    bpy.app.handlers.animation_playback_post[0](bpy.context.scene, None)
    assert other.active_shape_key_index == 1


def test_what_is_undone_is_followed_once_it_was_evaluated(tmp_path, monkeypatch):
    """Undo brings back keys of which the time is that of the frame before."""
    block = import_frames(put(tmp_path / "a.md2"))
    bpy.context.scene.frame_set(2)
    block.active_shape_key_index = 1
    keys = block.data.shape_keys
    keys.eval_time = keys.key_blocks[1].frame
    keys.update_tag(refresh={"TIME"})
    timers = bpy.app.timers
    monkeypatch.setattr(
        frames, "_app", SimpleNamespace(background=False, timers=timers, is_job_running=lambda _: False)
    )
    frames.OCCASIONS["undo_post"]()
    assert block.active_shape_key_index == 1 and timers.is_registered(frames._follow_evaluated)
    timers.unregister(frames._follow_evaluated)
    frames._follow_evaluated()  # which Blender calls when it is idle
    assert block.active_shape_key_index == 2


def test_each_window_has_what_it_shows_edited(tmp_path):
    """Blender tells of keys and frames as if in the first window, which may show another scene."""
    bpy.context.window.scene = other = bpy.data.scenes.new("other")
    block = import_frames(put(tmp_path / "a.md3"))
    first = next(scene for scene in bpy.data.scenes if scene != other)
    with bpy.context.temp_override(scene=first, view_layer=first.view_layers[0]):
        other.frame_set(2)
        assert block.active_shape_key_index == 2
        block.active_shape_key_index = 1
        frames._follow()
        assert block.active_shape_key_index == 2
        block.active_shape_key_index = 1
        frames._on_key()
    assert (other.frame_current, first.frame_current) == (1, 1)
    assert shown_key(block.data.shape_keys) == 1


def test_the_key_of_a_file_that_is_opened_is_that_which_shows(tmp_path):
    """As a script leaves one, or who saves while an animation plays."""
    name = import_frames(put(tmp_path / "a.md3")).name
    bpy.context.scene.frame_set(2)
    bpy.data.objects[name].active_shape_key_index = 1
    reopen(tmp_path)
    block = bpy.data.objects[name]
    assert (block.active_shape_key_index, shown_key(block.data.shape_keys)) == (2, 2)


def test_a_redone_frame_of_a_player_is_the_one_that_shows(tmp_path):
    """Undo brings back an evaluation time of before drivers were evaluated: what they follow is right."""
    mesh = mesh_of(brought(game(tmp_path)), "lower")
    bpy.context.preferences.edit.use_global_undo = True
    activate(mesh)
    row = max(name for name in actions_of(active_player()) if name.startswith("LEGS_"))
    assert bpy.ops.object.idtech_animation_play(name=row) == {"FINISHED"}
    name, shown = mesh.name, mesh.active_shape_key_index
    assert shown > 0
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.object.idtech_insert_frame("EXEC_DEFAULT", True) == {"FINISHED"}
    after = bpy.data.objects[name].active_shape_key_index, bpy.context.scene.frame_current
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].active_shape_key_index == shown
    bpy.ops.ed.redo()
    assert (bpy.data.objects[name].active_shape_key_index, bpy.context.scene.frame_current) == after


def test_the_key_follows_another_row_of_a_player_in_the_same_frame(tmp_path):
    mesh = mesh_of(brought(game(tmp_path)), "lower")
    activate(mesh)
    bpy.context.scene.frame_set(0)
    rows = [name for name in actions_of(active_player()) if name.startswith("LEGS_")]
    shown = set()
    for name in rows:
        assert bpy.ops.object.idtech_animation_play(name=name) == {"FINISHED"}
        assert mesh.active_shape_key_index == shown_key(mesh.data.shape_keys)
        shown.add(mesh.active_shape_key_index)
    assert len(shown) > 2 and bpy.context.scene.frame_current == 0


def test_a_key_of_a_player_that_is_chosen_stays_so(tmp_path):
    """The scene goes where it is the nearest, of a row whose frames lie between the scene's; else it stays."""
    bpy.context.scene.render.fps = 24
    player = brought(game(tmp_path))
    mesh = mesh_of(player, "lower")
    activate(mesh)
    row = max(name for name in actions_of(active_player()) if name.startswith("LEGS_"))
    assert bpy.ops.object.idtech_animation_play(name=row) == {"FINISHED"}
    keys, gone = mesh.data.shape_keys, set()
    for number in range(len(keys.key_blocks)):
        mesh.active_shape_key_index = number
        frames._on_key()
        assert mesh.active_shape_key_index == number
        gone.add(bpy.context.scene.frame_current)
    assert len(gone) > 1, "else nothing is tested"


def test_a_chosen_key_is_forgotten_once_another_frame_shows(tmp_path):
    bpy.context.scene.render.fps = 24
    mesh = mesh_of(brought(game(tmp_path)), "lower")
    activate(mesh)
    row = max(name for name in actions_of(active_player()) if name.startswith("LEGS_"))
    assert bpy.ops.object.idtech_animation_play(name=row) == {"FINISHED"}
    before = []
    for frame in range(6):
        bpy.context.scene.frame_set(frame)
        before.append(mesh.active_shape_key_index)
    for frame in range(6):
        bpy.context.scene.frame_set(frame)
        mesh.active_shape_key_index = before[(frame + 3) % 6]
        frames._on_key()
        for other in range(6):
            bpy.context.scene.frame_set(other)
            assert mesh.active_shape_key_index == before[other]


def test_a_key_that_is_chosen_stays_until_another_time_shows():
    """Where no frame shows it: an evaluation time that was set by hand, between two keys."""
    block = add_cube("own")
    for _ in range(4):
        block.shape_key_add(from_mix=False)
    keys = block.data.shape_keys
    keys.use_relative, keys.eval_time = False, 17.0
    activate(block)
    for number in (3, 0):
        block.active_shape_key_index = number
        frames._on_key()
        bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
        frames.OCCASIONS["undo_post"]()
        assert block.active_shape_key_index == number
    keys.eval_time = 12.0
    bpy.context.scene.frame_set(0)
    assert block.active_shape_key_index == 1


def test_keys_whose_root_says_no_frame_any_more_are_no_trap(tmp_path):
    player = brought(game(tmp_path))
    activate(mesh_of(player, "lower"))
    bpy.context.scene.frame_set(3)
    del player.parts["lower"]["frame"]
    bpy.context.scene.frame_set(4)
    assert frames._followed


@pytest.mark.parametrize("expression", ["f - 2", "f", "", "bare"])
def test_keys_that_follow_in_another_way_are_those_that_show(tmp_path, expression):
    player = brought(game(tmp_path))
    mesh = mesh_of(player, "lower")
    activate(mesh)
    curve = mesh.data.shape_keys.animation_data.drivers[0]
    if expression == "bare":
        curve.keyframe_points.clear()
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
    elif expression:
        curve.driver.type, curve.driver.expression = "SCRIPTED", expression
    else:
        curve.modifiers.new("GENERATOR").coefficients = (3.0, 1.0)
    for frame in (4, 5, 9):
        bpy.context.scene.frame_set(frame)
        assert mesh.active_shape_key_index == shown_key(mesh.data.shape_keys)
        assert mesh.data.shape_keys.key_blocks[mesh.active_shape_key_index].frame == mesh.data.shape_keys.eval_time


def heights(block):
    return np.array([[point.co.z for point in key.points] for key in block.data.shape_keys.key_blocks])


def test_a_move_that_is_undone_in_edit_mode_leaves_the_frame_that_shows(tmp_path):
    before = heights(import_frames(put(tmp_path / "a.md3")))
    bpy.context.preferences.edit.use_global_undo = True
    move, push = bpy.ops.transform.translate, bpy.ops.ed.undo_push
    bpy.context.scene.frame_set(1)
    push(message="frame")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    push(message="edit")
    move(value=(0, 0, 1))
    push(message="move")
    bpy.context.scene.frame_set(2)
    move(value=(0, 0, 2))
    push(message="move again")
    bpy.ops.ed.undo()
    assert bpy.context.scene.frame_current == 2
    move(value=(0, 0, 5))
    bpy.ops.object.mode_set(mode="OBJECT")
    moved = heights(bpy.context.view_layer.objects.active) - before
    np.testing.assert_allclose(moved, np.broadcast_to([[0], [1], [5]], moved.shape), atol=1e-5)


def test_what_is_edited_is_what_is_shown(tmp_path):
    block = import_frames(put(tmp_path / "a.md3"))
    bpy.context.scene.frame_set(2)
    before = [[point.co.x for point in key.points] for key in block.data.shape_keys.key_blocks]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(1, 0, 0))
    bpy.context.scene.frame_set(1)  # in edit mode, too
    assert block.active_shape_key_index == 1
    bpy.ops.object.mode_set(mode="OBJECT")
    after = [[point.co.x for point in key.points] for key in block.data.shape_keys.key_blocks]
    assert [a == b for a, b in zip(after, before, strict=True)] == [frame != 2 for frame in range(len(before))]
    assert after[2] == pytest.approx([x + 1 for x in before[2]], abs=1e-5)


def test_exports_and_other_shape_keys_are_left_alone(surfaces, tmp_path):
    bpy.context.scene.frame_set(1)
    surfaces[0].active_shape_key_index = 0
    with scenes.showing(bpy.context.scene) as show:
        show(2)
        assert surfaces[0].active_shape_key_index == 0
    export_bytes(tmp_path / "b.md3")
    assert surfaces[0].active_shape_key_index == 0
    cube = add_cube()
    for name in ("Basis", "smile", "frown"):
        cube.shape_key_add(name=name)
    cube.data.shape_keys.key_blocks["smile"].value = 1.0
    bpy.context.scene.frame_set(2)
    assert cube.active_shape_key_index == 0


def test_the_preference_turns_it_off(surfaces, monkeypatch):
    bpy.context.scene.frame_set(0)
    monkeypatch.setattr(preferences, "own", lambda context: SimpleNamespace(follow_frame=False))
    bpy.context.scene.frame_set(2)
    assert keys_of(surfaces) == [name_of(block, 0) for block in surfaces]


def test_it_comes_and_goes_with_the_extension(extension):
    assert all(getattr(bpy.app.handlers, name).count(handler) == 1 for name, handler in frames.OCCASIONS.items())
    extension.unregister()
    assert not any(handler in getattr(bpy.app.handlers, name) for name, handler in frames.OCCASIONS.items())
    extension.register()


def moved_by_an_edit(block):
    """Return which keys change where all is moved with Shape Key Edit Mode, whose edits count as strokes do."""
    keys = block.data.shape_keys.key_blocks
    before = [np.array([point.co[:] for point in key.data]) for key in keys]
    activate(block)
    block.use_shape_key_edit_mode = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 1))
    bpy.ops.object.mode_set(mode="OBJECT")
    return [
        number
        for number, (key, was) in enumerate(zip(keys, before, strict=True))
        if np.abs(np.array([point.co[:] for point in key.data]) - was).max() > 0.9
    ]


def test_the_key_that_is_active_can_be_sculpted(tmp_path, monkeypatch):
    """Blender scales strokes by its value; exporters of other formats take values for weights, and see one key."""
    block = import_frames(put(tmp_path / "a.md3"))
    assert moved_by_an_edit(block) == [0]
    bpy.context.scene.frame_set(2)
    assert moved_by_an_edit(block) == [2]
    assert [key.value for key in block.data.shape_keys.key_blocks] == [0, 0, 1]
    bpy.ops.object.idtech_insert_frame()
    assert moved_by_an_edit(block) == [3]
    monkeypatch.setattr(preferences, "own", lambda _context: SimpleNamespace(follow_frame=False))
    block.active_shape_key_index = 1
    frames._on_key()
    assert moved_by_an_edit(block) == [1]
    bpy.context.scene.frame_set(0)
    assert moved_by_an_edit(block) == [1]


def test_keys_that_are_no_imports_keep_their_values():
    block = add_cube("Cube")
    for _ in range(3):
        block.shape_key_add(from_mix=False)
    keys = block.data.shape_keys
    keys.use_relative = False
    for key, value in zip(keys.key_blocks, (0.5, 0.25, 0.0), strict=True):
        key.value = value
    keys.eval_time = keys.key_blocks[2].frame
    activate(block)
    frames._follow()
    assert [key.value for key in keys.key_blocks] == [0.5, 0.25, 1.0]
