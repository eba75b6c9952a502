"""A rig that is known, on a bar of two segments: what Blender gets of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from io_idtech_models.blender.frame_rigs import rig_of, whole_of
from io_idtech_models.blender.rigging.build import build
from io_idtech_models.blender.rigging.read import FramedModel, read_model, whole
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.shape_keys import add_absolute, animate_absolute
from io_idtech_models.blender.vertex_groups import read_groups
from io_idtech_models.model.rigging.rig import FrameRig
from tests.blender.case import CONTEXT, positions_at
from tests.blender.skeletal.rigged import curves_of
from tests.ui.scene import add_mesh, bpy

pytestmark = pytest.mark.usefixtures("empty_scene")

POINTS = np.array([(x, y, z) for x in (0, 5, 10, 15, 20) for y in (-1, 1) for z in (-1, 1)], np.float32)
FACES = [
    (4 * i + a, 4 * i + b, 4 * i + 4 + b, 4 * i + 4 + a) for i in range(4) for a, b in ((0, 1), (1, 3), (3, 2), (2, 0))
]
ANGLES = np.array([0.0, 0.3, 0.6, 0.9])


def turned(angle):
    """Return what turns about the bar's middle, (3, 4)."""
    way = np.array([[np.cos(angle), 0, -np.sin(angle), 0], [0, 1, 0, 0], [np.sin(angle), 0, np.cos(angle), 0]])
    way[:, 3] = np.array([10.0, 0, 0]) - way[:, :3] @ np.array([10.0, 0, 0])
    return way


def known_rig():
    """Return two bones, the second of which turns; the points at the joint follow both."""
    weights = np.array([(1 - w, w) for w in (0, 0, 0.5, 1, 1) for _ in range(4)], float)
    poses = np.stack([np.stack([np.eye(4)[:3], turned(angle)]) for angle in ANGLES])
    heads, tails = np.array([(0, 0, 0), (10, 0, 0)], float), np.array([(10, 0, 0), (20, 0, 0)], float)
    nothing = np.zeros(0, np.int64)
    every = np.arange(len(POINTS))
    return FrameRig(["arm.L", "arm.R"], np.array([-1, 0]), heads, tails, POINTS.astype(float), weights, every, poses, 0,
               np.zeros(4, bool), nothing, ["Torso", "Legs"])  # fmt: skip


@pytest.fixture
def bent():
    """Return the bar with frames in which it bends, wobbling a little, and what they are."""
    block = add_mesh("bar", POINTS, FACES)
    frames = known_rig().shown() + 0.1 * np.sin(np.arange(4)[:, None, None] * POINTS)
    add_absolute(block, [f"f{i}" for i in range(4)], frames.astype(np.float32))
    animate_absolute(block.data.shape_keys, bpy.data.actions.new("bar"), "bar", 4)
    model = read_model([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, GatherSettings(frames="KEYS")))
    return SimpleNamespace(block=block, frames=frames, model=model)


def built(model):
    return build("bar", [whole(model)], [known_rig()], None, CONTEXT.scene)


def test_it_looks_as_before_and_a_bone_that_only_turns_stays_in_its_place(bent):
    assert isinstance(bent.model, FramedModel)
    assert np.array_equal(bent.model.points, bent.frames.astype(np.float32))
    assert bent.model.plan.times == [0, 1, 2, 3]
    rig = built(bent.model)
    for frame, points in enumerate(bent.frames):
        assert np.allclose(positions_at(bent.block, frame), points, atol=1e-5)
    for curve in curves_of(whole_of(rig.block)):
        moves = len({key.co.y for key in curve.keyframe_points}) > 1
        assert len(curve.keyframe_points) == 4, "a key that is set in one frame holds in that alone"
        assert not moves or curve.data_path.endswith(".rotation_quaternion")


def test_bones_lie_where_they_were_found(bent):
    rig = built(bent.model).block
    assert rig == rig_of(bent.block)
    assert [m.type for m in bent.block.modifiers] == ["ARMATURE"]
    assert rig.users_collection == bent.block.users_collection
    left, right = rig.data.bones
    assert (left.name, right.name, right.parent) == ("arm.L", "arm.R", left)
    assert np.allclose([left.head_local, left.tail_local, right.head_local], [(0, 0, 0), (10, 0, 0), (10, 0, 0)])
    assert (left.color.palette, right.color.palette) == ("THEME04", "THEME01")
    assert [[c.name for c in bone.collections] for bone in (left, right)] == [["Torso"], ["Legs"]]
    assert np.allclose(left.matrix_local.to_3x3().col[2], (0, 0, 1)), "a bone that lies along looks up"


def test_weights_are_groups_behind_those_that_there_are(bent):
    bent.block.vertex_groups.new(name="arm.R").add([0], 0.25, "REPLACE")
    rig = built(bent.model).block
    assert [group.name for group in bent.block.vertex_groups] == ["arm.R", "arm.L", "arm.R.001"]
    assert [bone.name for bone in rig.data.bones] == ["arm.L", "arm.R.001"]
    points, groups, weights = read_groups(bent.block.data)
    table = np.zeros((len(POINTS), 3))
    table[points, groups] = weights
    assert np.array_equal(table[:, 1:], known_rig().weights)
    assert table[0, 0] == 0.25
