"""The scale of joints (.md5scale): shown as the game shows it, and back."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import properties
from io_idtech_models.blender.skeletal import build as skeletal
from io_idtech_models.model.skeletal import Scales, skin
from io_idtech_models.model.transforms import chain, multiply, rotate
from tests import samples_md5
from tests.blender.case import CONTEXT, reopen_blend, vertices_of
from tests.blender.skeletal.rigged import ANIM, MESH, Rigged, curves_of, open_rig, shown

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES, JOINTS = 5, 3


def scales_of(zero: float = 0.0, ways: tuple[bool, ...] = (False, True, False)) -> Scales:
    """Return scales of the sample's joints: the root and its child grow, the last vanishes in a frame."""
    values = np.ones((FRAMES, JOINTS))
    values[1], values[2], values[3, 2] = (2.0, 0.5, 1.0), (1.0, 3.0, 0.25), zero
    return Scales(values, np.array(ways))


def open_scaled(scales: Scales, **settings: Any) -> Rigged:
    """Import the sample's arm and its wave with the scale of joints."""
    case = open_rig(samples_md5.arm(), {}, **settings)
    animation = ANIM.load(samples_md5.wave(), "wave")
    animation.scales = scales
    made = skeletal.add_animations(case.rig, [animation], skeletal.SkeletalSettings(**settings), CONTEXT.scene)
    case.motions["wave"], case.action_names["wave"] = samples_md5.wave(), made[0].name
    return case


def both_ways(case: Rigged) -> list[Any]:
    """Return the wave as an export has it: from curves, and by stepping."""
    return [case.gather_motion("wave", direct=way) for way in (True, False)]


def in_game(scales: Scales, frame: int) -> Any:
    """Return where the game puts the vertices, joint by joint and weight by weight."""
    model, animation = MESH.load(samples_md5.arm(), "x"), ANIM.load(samples_md5.wave(), "x")
    places: list[Any] = []
    turns: list[Any] = []
    for joint, parent in enumerate(animation.parents.tolist()):
        way, turn = animation.positions[frame, joint], animation.rotations[frame, joint]
        if scales.ways[joint]:
            way = way * scales.values[frame, joint]
        places.append(way if parent < 0 else places[parent] + rotate(turns[parent], way))
        turns.append(turn if parent < 0 else multiply(turns[parent], turn))
    table = model.meshes[0].weights
    found = np.zeros((len(table.starts), 3))
    for vertex, (start, count) in enumerate(zip(table.starts.tolist(), table.counts.tolist(), strict=True)):
        for entry in range(start, start + count):
            joint = int(table.joints[entry])
            offset = scales.values[frame, joint] * rotate(turns[joint], table.offsets[entry].astype(float))
            found[vertex] += table.factors[entry] * (places[joint] + offset)
    return found


CASES = [
    scales_of(), scales_of(0.125), scales_of(ways=(True, True, True)), scales_of(-1.5, (False, False, False)),
    scales_of(0.125, (False, False, True)),
]  # fmt: skip


@pytest.mark.parametrize("scales", CASES)
@pytest.mark.parametrize("scale", [1.0, 0.0254])
def test_it_is_shown_as_the_game_shows_it(scales, scale):
    case = open_scaled(scales, scale=scale)
    points, vertices = vertices_of(case.mesh())
    for frame in range(FRAMES):
        case.play("wave", frame)
        there = in_game(scales, frame)[vertices] * scale
        assert np.abs(shown(case.mesh())[points] - there).max() < 4e-4 * scale, frame


@pytest.mark.parametrize("scales", CASES)
@pytest.mark.parametrize("direct", [True, False], ids=["curves", "stepped"])
@pytest.mark.parametrize("scale", [1.0, 0.0254])
def test_it_comes_back(scales, direct, scale):
    case = open_scaled(scales, scale=scale)
    for _ in range(2):
        found: Any = case.gather_motion("wave", direct=direct, scale=scale)
        np.testing.assert_array_equal(found.scales.values.astype(np.float32), scales.values.astype(np.float32))
        assert found.scales.ways.tolist() == scales.ways.tolist()
        assert case.all_changed(scale=scale) == {}
        reopen_blend()


def test_children_do_not_inherit_scale_and_others_are_as_they_were():
    case = open_scaled(Scales(np.array([[1.0, 2.0, 1.0]] * FRAMES), np.zeros(JOINTS, bool)))
    bones = case.rig.data.bones
    assert [bone.inherit_scale for bone in bones] == ["FULL", "FULL", "NONE"]
    assert not any(properties.SCALE_POSITIONS in bone for bone in bones)
    kinds = {curve.data_path.rpartition(".")[2] for curve in curves_of(case.action("wave"), "hand")}
    assert kinds == {"location", "rotation_quaternion"}
    bone = open_scaled(scales_of()).rig.data.bones["upper arm"]
    assert bone[properties.SCALE_POSITIONS] is True
    assert "way from its parent" in bone.id_properties_ui(properties.SCALE_POSITIONS).as_dict()["description"]


@pytest.mark.parametrize("inherit", ["FULL", "NONE", "AVERAGE", "ALIGNED", "FIX_SHEAR", "NONE_LEGACY"])
@pytest.mark.parametrize("bone", ["origin", "upper arm", "hand"])
def test_scale_by_hand_both_ways_agree(inherit, bone):
    """An own edit: what is exported is what the scene shows, whether or not children inherit."""
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave()})
    for each in case.rig.data.bones:
        each.inherit_scale = inherit
    case.play("wave", 2)
    case.rig.pose.bones[bone].scale = (2.0, 2.0, 2.0)
    for frame in range(FRAMES):
        case.rig.pose.bones[bone].keyframe_insert("scale", frame=frame)
    direct, stepped = both_ways(case)
    np.testing.assert_array_equal(direct.scales.values, stepped.scales.values)
    joint = case.before().names.index(bone)
    grown = [1.0 + (j == joint or (not inherit.startswith("NONE") and j > joint)) for j in range(JOINTS)]
    assert direct.scales.values[2].tolist() == grown
    case.dump_motion("wave")
    weights = MESH.load(samples_md5.arm(), "x").meshes[0].weights
    places, turns = chain(direct.parents, direct.positions, direct.rotations)
    points, vertices = vertices_of(case.mesh())
    for frame in range(FRAMES):
        case.play("wave", frame)
        there = skin(weights, places[frame], turns[frame], direct.scales.values[frame])[vertices]
        assert np.abs(shown(case.mesh())[points] - there).max() < 2e-4


def test_a_scale_of_zero_by_hand():
    """What hangs on it can't be seen, and is written as the curves have it."""
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave()})
    case.play("wave", 2)
    case.rig.pose.bones["upper arm"].scale = (0.0, 0.0, 0.0)
    case.rig.data.bones["hand"].inherit_scale = "NONE"
    case.rig.pose.bones["upper arm"].keyframe_insert("scale", frame=2)
    direct, stepped = both_ways(case)
    for found in (direct, stepped):
        assert found.scales.values[2].tolist() == [1.0, 0.0, 1.0]
        assert np.isfinite(found.positions).all()
    np.testing.assert_allclose(stepped.rotations, direct.rotations, atol=1e-6)
    case.dump_motion("wave")


def test_scale_of_one_is_none():
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave()})
    case.play("wave", 0)
    for bone in case.rig.pose.bones:
        bone.keyframe_insert("scale", frame=0)
    assert [found.scales for found in both_ways(case)] == [None, None]
    assert case.all_changed() == {}


def test_a_changed_scale_changes_that_alone():
    case = open_scaled(scales_of(0.125, (False, False, False)))
    curves = [c for c in curves_of(case.action("wave"), "hand") if c.data_path.endswith("scale")]
    for curve in curves:
        curve.keyframe_points[2].co[1] = 4.0
    found: Any = case.gather_motion("wave")
    wanted = scales_of(0.125).values
    wanted[2, 2] = 4.0
    np.testing.assert_array_equal(found.scales.values, wanted)
    assert case.all_changed() == {}
