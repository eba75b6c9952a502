"""Markers name animations, and actions follow frames that are inserted and deleted."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from io_idtech_models.blender import compat
from io_idtech_models.blender.curves import value_path
from io_idtech_models.blender.mesh import attributes as mesh
from io_idtech_models.blender.provenance import MODEL_ID
from io_idtech_models.model.clips import numbered
from io_idtech_models.reporting import LimitError
from tests.blender.case import vertices_of
from tests.blender.vertex.clips.animated import (
    ACTIONS,
    NAMES,
    action,
    export,
    frame_names,
    keys_of,
    open_animated,
    reorder,
    surfaces_equal,
    the_curve,
)
from tests.blender.vertex.md3_case import CONTEXT, reopen
from tests.ui.scene import add_cube

pytestmark = pytest.mark.usefixtures("empty_scene")


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
    parts = [part for each in bpy.data.actions for part in compat.action_parts(each)]
    muted = [curve for _, kind, curves in parts for curve in curves if kind == "KEY"]
    for mode in ("SCENE", "ACTIONS"):
        for curve in muted:
            curve.mute = True
        still = case.after(frames=mode, actions="run")
        assert surfaces_equal(still, case.before, [0] * len(still.frames))
        for curve in muted:
            curve.mute = False
    for key in keys_of(case)[0].key_blocks:
        key.interpolation = "KEY_BSPLINE"
    assert not surfaces_equal(case.after(frames="SCENE"), case.before, [*range(20)])


@pytest.mark.parametrize("carried", [False, True])
def test_keys_that_a_driver_shows_whatever_their_curve_says(carried):
    case = open_animated()
    for keys in keys_of(case):
        keys.driver_add("eval_time").driver.expression = "frame"
        for curve in compat.playing_curves(keys):
            for point in curve.keyframe_points:
                point.co.y = point.co.y * 1.1 - 0.5
    for block in case.built.surfaces if carried else ():
        block.location.x = 8.0
        block.keyframe_insert("location", index=0, frame=0)
    after = case.after()
    places = np.array([surface.vertices["xyz"][..., 0] for surface in after.surfaces[:1]])
    before = np.array([surface.vertices["xyz"][..., 0] for surface in case.before.surfaces[:1]])
    assert np.array_equal(places, before + (512 if carried else 0))
    drivers = [curve for keys in keys_of(case) for curve in keys.animation_data.drivers]
    assert drivers
    assert not any(curve.mute for curve in drivers)


@pytest.mark.parametrize("later", [0, 5])
def test_tags_that_move_before_the_keys_play_are_said(later, caplog):
    case = open_animated()
    for keys in keys_of(case):
        for curve in compat.playing_curves(keys):
            for point in curve.keyframe_points:
                point.co.x += later
    case.after()
    assert ("it moves beyond the frames of its keys" in caplog.text) == bool(later)


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
    points, vertices = vertices_of(block)
    wanted = case.before.surfaces[0].vertices["xyz"][base][vertices] / 64
    assert np.array_equal(mesh.positions(block.data)[points], wanted)


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
    for low, high, order, wanted in (
        (15.5, (2, 17.5), [*range(1, 20)], [(0, 15.5), (2, 17.5)]),
        (18, (6, 15), [*range(1, 19)], [(0, 17), (6, 14)]),
    ):
        curve = the_curve("run")
        curve.keyframe_points[0].co.y, curve.keyframe_points[1].co = low, high
        curve.update()
        reorder(case, order)
        assert [tuple(p.co) for p in the_curve("run").keyframe_points] == wanted


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
