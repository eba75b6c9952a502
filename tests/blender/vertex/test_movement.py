"""Automatic frames: the scene's range if anything moves what is exported, whatever moves it; else one frame."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender.compat import played_action, playing_curves
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.space import WORLD
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.blender.vertex.movement import is_moving
from tests.blender.case import CONTEXT, geometry_nodes, in_edit_mode
from tests.blender.skeletal.rigged import in_world
from tests.blender.vertex.md3_case import open_case
from tests.samples import sample
from tests.ui.scene import add_mesh

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def range_of_scene(empty_scene):
    empty_scene.frame_start, empty_scene.frame_end = 1, 20
    empty_scene.frame_set(5)


def linked(name: str, data: Any) -> Any:
    block = bpy.data.objects.new(name, data)
    CONTEXT.scene.collection.objects.link(block)
    return block


def square(name: str = "square") -> Any:
    return add_mesh(name, [(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)], [(0, 1, 2, 3)])


def rig(name: str) -> Any:
    block = linked(name, bpy.data.armatures.new(name))

    def bones() -> None:
        made = [block.data.edit_bones.new(each) for each in ("upper", "lower")]
        for bone, head in zip(made, (0, 4), strict=True):
            bone.head, bone.tail = (0, 0, head), (0, 0, head + 4)
        made[1].parent = made[0]

    in_edit_mode(block, bones)
    return block


def skinned(armature: Any, bone: str = "lower") -> Any:
    block = square()
    block.vertex_groups.new(name=bone).add(range(4), 1.0, "REPLACE")
    block.modifiers.new("bones", "ARMATURE").object = armature
    return block


def moved(block: Any, path: str = "location") -> Any:
    """Key a value that grows from frame 8 to frame 12."""
    value = getattr(block, path)
    block.keyframe_insert(path, frame=8)
    setattr(block, path, value + 3.0 if isinstance(value, float) else [v + 3.0 for v in value])
    block.keyframe_insert(path, frame=12)
    return block


def by_a_control_rig() -> Any:
    control, deform = rig("control"), rig("deform")
    moved(control.pose.bones["upper"])
    constraint = deform.pose.bones["lower"].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = control, "upper"
    return skinned(deform)


def by_inverse_kinematics() -> Any:
    deform, goal = rig("deform"), linked("goal", None)
    goal.location = (3, 1, 5)
    moved(goal)
    constraint = deform.pose.bones["lower"].constraints.new("IK")
    constraint.target = goal
    return skinned(deform)


def by_a_hidden_goal() -> Any:
    block = by_inverse_kinematics()
    bpy.data.objects["goal"].hide_viewport = True
    return block


def by_a_wave() -> Any:
    block = square()
    block.modifiers.new("wave", "WAVE").height = 3.0
    return block


def by_nodes() -> Any:
    tree, place = geometry_nodes("GeometryNodeSetPosition", "Geometry")
    tree.links.new(tree.nodes.new("GeometryNodeInputSceneTime").outputs["Seconds"], place.inputs["Offset"])
    block = square()
    block.modifiers.new("nodes", "NODES").node_group = tree
    return block


def by_a_lattice() -> Any:
    lattice = linked("lattice", bpy.data.lattices.new("lattice"))
    lattice.scale = (20, 20, 20)
    lattice.shape_key_add(name="Basis")
    key = lattice.shape_key_add(name="bent")
    for point in key.data:
        point.co.x += 0.5
    key.value = 0.0
    moved(key, "value")
    block = square()
    block.modifiers.new("lattice", "LATTICE").object = lattice
    return block


def by_cloth() -> Any:
    block = square()
    block.modifiers.new("cloth", "CLOTH")
    return block


def by_a_driver() -> Any:
    block = square()
    block.driver_add("location", 2).driver.expression = "frame / 10"
    return block


def by_its_own_shape_keys() -> Any:
    block = square()
    block.shape_key_add(name="Basis")
    key = block.shape_key_add(name="bent", from_mix=False)
    key.data[0].co.z = 4.0
    key.value = 0.0
    moved(key, "value")
    return block


def by_a_grandparent() -> Any:
    block, parent = square(), linked("parent", None)
    parent.parent = moved(linked("grandparent", None))
    block.parent = parent
    return block


def by_a_track() -> Any:
    block = moved(square())
    track = block.animation_data.nla_tracks.new()
    track.strips.new("strip", 1, block.animation_data.action)
    block.animation_data.action = None
    return block


def by_a_child_of_constraint() -> Any:
    block = square()
    block.constraints.new("CHILD_OF").target = moved(linked("holder", None))
    return block


MOVERS = [
    by_a_control_rig, by_inverse_kinematics, by_a_hidden_goal, by_a_wave, by_nodes, by_a_lattice, by_cloth, by_a_driver,
    by_its_own_shape_keys, by_a_grandparent, by_a_track, by_a_child_of_constraint,
]  # fmt: skip


def held_by_a_constraint() -> Any:
    block = square()
    block.constraints.new("COPY_LOCATION").target = linked("place", None)
    return block


def keyed_once() -> Any:
    block = square()
    block.keyframe_insert("location", frame=3)
    return block


def bent_by_a_still_rig() -> Any:
    armature = rig("still")
    armature.pose.bones["upper"].keyframe_insert("location", frame=2)
    return skinned(armature)


def beside_what_moves() -> Any:
    moved(square("other"))
    return square()


STILL = [square, held_by_a_constraint, keyed_once, bent_by_a_still_rig, beside_what_moves]


def exported(*blocks: Any, **settings: Any) -> Any:
    return gather(list(blocks), None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, GatherSettings(**settings)))


@pytest.mark.parametrize("make", MOVERS, ids=lambda make: make.__name__)
def test_all_frames_are_written_and_no_handler_is_left(make):
    block, handlers = make(), list(bpy.app.handlers.frame_change_post)
    model = exported(block)
    assert model.num_frames == 20
    assert np.ptp(model.surfaces[0].positions, axis=0).max() > 0.1
    asked = exported(block, frames="SCENE")
    assert np.array_equal(model.surfaces[0].positions, asked.surfaces[0].positions)
    assert CONTEXT.scene.frame_current == 5
    assert list(bpy.app.handlers.frame_change_post) == handlers


def test_a_twitch_of_one_frame_between_those_that_are_looked_at():
    CONTEXT.scene.frame_end = 1000
    block = square()
    for frame, place in ((700, 0.0), (701, 5.0), (702, 0.0)):
        block.location.x = place
        block.keyframe_insert("location", frame=frame)
    assert is_moving([block], ExportScene(CONTEXT.scene, CONTEXT.view_layer, None), WORLD)


@pytest.mark.parametrize("make", STILL, ids=lambda make: make.__name__)
def test_one_frame_is_written(make):
    assert exported(make()).num_frames == 1
    assert CONTEXT.scene.frame_current == 5


@pytest.mark.parametrize("is_bone", [False, True])
def test_a_tag_that_is_moved(is_bone):
    holder = rig("deform") if is_bone else linked("tag_hand", None)
    if is_bone:
        holder.data.bones["lower"].name = "tag_hand"
    moved(holder.pose.bones["tag_hand"] if is_bone else holder)
    assert exported(holder, square()).num_frames == 20


@pytest.mark.parametrize("now", [10, 14])
def test_an_imported_model_of_one_frame_that_moves_beyond_the_range_is_written_as_it_shows_now(now):
    case = open_case(sample("minimal"))
    block = moved(case.surface())
    CONTEXT.scene.frame_start, CONTEXT.scene.frame_end = 1, 20  # import fits it to the file's frames
    assert exported(*case.collection.all_objects).num_frames == 20
    CONTEXT.scene.frame_start = 12
    CONTEXT.scene.frame_set(now)
    model = case.gather()
    assert model.num_frames == 1
    shown = np.sort(in_world(block), axis=0)
    assert np.allclose(np.sort(model.surfaces[0].positions[0], axis=0), shown, atol=1e-4)


def test_keys_that_replaced_a_models_frames_are_its_modellers():
    """All of the file's frames were cleared; what is added then shows nothing until somebody gives it a value."""
    case = open_case(sample("flap"))
    block = case.surface()
    block.shape_key_clear()
    shown = [tuple(vertex.co) for vertex in block.data.vertices]
    block.shape_key_add(name="Basis")
    smile = block.shape_key_add(name="smile")
    smile.points[0].co.z += 9.0
    smile.value = 0.0  # which Blender 5 begins at 1
    model = case.gather()
    assert model.num_frames == 1
    assert sorted(map(tuple, model.surfaces[0].positions[0].tolist())) == sorted(shown)


@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("relative", [False, True])
def test_what_hangs_on_something_stands_where_strips_show_its_keys(relative, scale):
    case = open_case(sample("flap"), relative_keys=relative)
    block = case.surface()
    block.parent = moved(linked("lift", None))
    for curve in playing_curves(block.parent):
        curve.extrapolation = "LINEAR"  # it goes on, at the keys' own times, too
    animation = block.data.shape_keys.animation_data
    action, slot, _ = played_action(block.data.shape_keys)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("later", 11, action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale = scale
    model = case.gather()
    assert model.num_frames == len(case.before.frames) > 1
    for frame in range(model.num_frames):
        time = 11 + frame * scale
        CONTEXT.scene.frame_set(int(time), subframe=time % 1)
        shown = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
        wanted = {tuple(shown.matrix_world @ vertex.co) for vertex in shown.data.vertices}
        found = {tuple(point) for point in model.surfaces[0].positions[frame].tolist()}
        np.testing.assert_allclose(sorted(found), sorted(wanted), atol=1e-4)
