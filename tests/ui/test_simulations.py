"""Simulations are written as they play, frame by frame, whatever frames showed before and an export looks at."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import bpy as blender
import numpy as np
import pytest
from numpy.typing import NDArray

from io_idtech_models.blender.compat import action_parts, play_action
from io_idtech_models.blender.playback import keep
from tests.samples import load
from tests.ui.scene import add_cube, add_mesh, export_bytes

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 24


def sheet() -> Any:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=40)
    return bpy.context.object


def pulled(block: Any) -> Any:
    """Key where an object is, fast enough for inertia to show, but not at once."""
    block.keyframe_insert("location", frame=4)
    block.location.y += 30
    block.keyframe_insert("location", frame=12)
    return block


def cloth() -> Any:
    block = pulled(sheet())
    block.vertex_groups.new(name="pinned").add(range(7), 1.0, "REPLACE")
    block.modifiers.new("cloth", "CLOTH").settings.vertex_group_mass = "pinned"
    return block


def soft_body() -> Any:
    block = pulled(sheet())
    block.modifiers.new("soft", "SOFT_BODY")
    return block


def rigid_body() -> Any:
    block = add_cube("stone")
    block.location.z = 50
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    return block


def on_a_rigid_body() -> Any:
    stone = rigid_body()
    stone.hide_set(True)
    block = add_mesh("moss", [(0, 0, 60), (8, 0, 60), (0, 8, 60)], [(0, 1, 2)])
    block.parent = stone
    return block


def zone() -> Any:
    """A simulation zone of geometry nodes: what it holds rises by 1.5 a frame."""
    block = sheet()
    tree = bpy.data.node_groups.new("rising", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeSimulationInput", "GeometryNodeSetPosition", "GeometryNodeSimulationOutput")
    nodes = [tree.nodes.new(kind) for kind in (*kinds, "NodeGroupOutput")]
    nodes[1].pair_with_output(nodes[3])
    nodes[2].inputs["Offset"].default_value = (0, 0, 1.5)
    for one, other in pairwise(nodes):
        tree.links.new(one.outputs["Geometry"], other.inputs["Geometry"])
    block.modifiers.new("rising", "NODES").node_group = tree
    return block


def shown_now(block: Any) -> NDArray[np.float64]:
    """Return where Blender shows a mesh's points in the world, (P, 3)."""
    held = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty((len(held.data.vertices), 3), np.float32)
    held.data.vertices.foreach_get("co", points.ravel())
    place = np.array(held.matrix_world)
    return np.asarray(points @ place[:3, :3].T + place[:3, 3], np.float64)


def shown(block: Any, frames: range) -> NDArray[np.float64]:
    """Return what it shows in frames, (F, P, 3), if it plays from the first frame on."""
    scene, found = bpy.context.scene, []
    for frame in range(1, frames[-1] + 1):
        scene.frame_set(frame)
        found.append(shown_now(block))
    return np.array([found[frame - 1] for frame in frames])


def far(file: NDArray[np.float32], truth: NDArray[np.float64]) -> float:
    """Return how far the points of some frames (F, P, 3) are at most from the nearest of the other's."""
    apart = np.sqrt(((file[:, :, None] - truth[:, None]) ** 2).sum(axis=-1))
    return float(max(apart.min(axis=1).max(), apart.min(axis=2).max()))


@pytest.mark.parametrize("begins_at", [1, 20])
@pytest.mark.parametrize(
    ("frames", "options"),
    [
        (range(1, LAST + 1), {}),
        (range(1, LAST + 1, 5), {"frames": "RANGE", "frame_start": 1, "frame_end": LAST, "frame_step": 5}),
        (range(9, 13), {"frames": "RANGE", "frame_start": 9, "frame_end": 12}),
    ],
    ids=["all", "some", "a few in the middle"],
)
@pytest.mark.parametrize("make", [cloth, soft_body, rigid_body, on_a_rigid_body, zone])
def test_frames_are_those_that_play(
    make: Callable[[], Any], frames: range, options: dict[str, Any], begins_at: int, tmp_path, empty_scene
):
    empty_scene.frame_start, empty_scene.frame_end = 1, LAST
    block = make()
    empty_scene.frame_set(begins_at)
    written = load(export_bytes(tmp_path / "a.md3", **options))
    assert empty_scene.frame_current == begins_at
    (surface,) = written.surfaces
    truth = shown(block, frames)
    assert surface.positions.shape[0] == len(frames)
    assert np.ptp(truth, axis=0).max() > 0.3  # it does move
    assert far(surface.positions, truth) < 0.03


def with_actions(block: Any) -> tuple[Any, list[Any]]:
    """Return an object with two actions, of which the other begins behind the first and goes another way."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    block.animation_data_clear()
    block.animation_data_create()
    for axis, (name, first) in enumerate((("back", 5), ("forth", 20))):
        block.animation_data.action = bpy.data.actions.new(name)
        block.animation_data.action.use_fake_user = True
        for time, value in ((first, 0.0), (first + 5, 20.0), (first + 10, 20.0)):
            block.location = (0, 0, 0)
            block.location[axis] = value
            block.keyframe_insert("location", frame=time)
    return block, [bpy.data.actions["back"], bpy.data.actions["forth"]]


@pytest.mark.parametrize("make", [cloth, soft_body, zone])
def test_each_action_is_written_as_it_plays_alone(make: Callable[[], Any], tmp_path, empty_scene):
    truth = []
    for number, frames in enumerate((range(5, 16), range(20, 31))):
        bpy.ops.wm.read_homefile(use_empty=True)
        block, actions = with_actions(make())
        play_action(block, actions[number], action_parts(actions[number])[0][0])
        truth.append(shown(block, frames))
    bpy.ops.wm.read_homefile(use_empty=True)
    block, actions = with_actions(make())
    keep(block, actions[1])
    play_action(block, actions[0], action_parts(actions[0])[0][0])
    before = shown(block, range(12, 13))
    written = load(export_bytes(tmp_path / "a.md3", frames="ACTIONS"))
    (surface,) = written.surfaces
    assert [len(surface.positions), far(surface.positions[:11], truth[0]) < 0.03] == [22, True]
    assert far(surface.positions[11:], truth[1]) < 0.03
    assert bpy.context.scene.frame_current == 12
    assert np.array_equal(shown_now(block), before[0])
