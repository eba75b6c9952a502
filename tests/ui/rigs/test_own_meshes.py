"""Exporting an armature of one's own: its meshes, weights, and the bounds that these give."""

import math
import re
from typing import Any

import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import skin
from io_idtech_models.model.transforms import chain
from tests.samples import put
from tests.ui.rigs.arms import (
    ANIM,
    check_shown,
    export_anim,
    export_mesh,
    exported,
    farthest,
    import_mesh,
    key,
    model_of,
    motion_of,
    rig,
    scene,
    shown_points,
    wave_own,
)
from tests.ui.scene import activate, add_cube, add_mesh, add_object, bpy, error_of, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- an armature of one's own


def test_an_armature_of_ones_own(own):
    wave_own()
    model, animation = model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim")
    assert model.skeleton.names == ["Bone", "Bone.001", "Bone.002"], "numbers tell bones apart"
    assert model.skeleton.parents.tolist() == [-1, 0, 1]
    assert (len(model.meshes), model.meshes[0].name, model.meshes[0].shader) == (1, "box", "skin")
    assert len(model.meshes[0].triangles) == 12
    assert animation.frame_rate == 20
    check_shown(model, animation, range(5))
    structs = by_name("md5anim").read((own / "own.md5anim").read_bytes())
    assert structs.flags.tolist() == [0, 56, 0], "only what varies is stored"
    np.testing.assert_array_equal(structs.base, structs.channels()[0])
    assert structs.command_line == ""


def many_weights() -> None:
    """Give a mesh weights that limits leave out: small ones, and more than one of each vertex; move their bones."""
    mesh = bpy.data.objects["box"]
    for name, weight in (("Bone", 0.5), ("Bone.001", 0.47), ("Bone.002", 0.03)):
        mesh.vertex_groups[name].add(range(8), weight, "REPLACE")
    wave_own()
    key("Bone.002", 0, (0, 0, 0))
    key("Bone.002", 4, (0.0, 2.0, 1.0))


def check_bounds(model: Any, animation: Any) -> None:
    """Assert that an animation's bounds are those of a model's meshes, as the files have it, in all frames."""
    np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)


def bounds_of(model: Any, animation: Any) -> Any:
    poses = zip(*chain(animation.parents, animation.positions, animation.rotations), strict=True)
    found = [np.concatenate([skin(mesh.weights, *pose) for mesh in model.meshes]) for pose in poses]
    return np.array([(points.min(axis=0), points.max(axis=0)) for points in found])


LIMITS: list[dict[str, Any]] = [{}, {"most_weights": 1}, {"most_weights": 2}, {"most_weights": 0, "least_weight": 0.0}]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("how", ["ACTIVE", "SCENE", "ALL"])
def test_bounds_are_those_of_the_model_as_it_was_exported(own, limits, how):
    """With what limits of weights is asked for once, with the model: the armature remembers."""
    many_weights()
    model = model_of(own / "own.md5mesh", **limits)
    name = f"{rig().animation_data.action.name}.md5anim" if how == "ALL" else "own.md5anim"
    assert export_anim(filepath=str(own / "own.md5anim"), what=how) == {"FINISHED"}
    animation = ANIM.load((own / name).read_bytes(), "x")
    check_bounds(model, animation)
    others = [model_of(own / "x.md5mesh", **other) for other in LIMITS if other != limits]
    apart = [np.abs(animation.bounds - bounds_of(other, animation)).max() for other in others]
    assert max(apart) > 0.5, "else nothing is tested"


def test_limits_of_weights_for_bounds_can_be_given(own):
    many_weights()
    every: list[dict[str, Any]] = [{"most_weights": 0, "least_weight": 0.0}, {"most_weights": 1, "least_weight": 0.05}]
    models = [model_of(own / "own.md5mesh", **limits) for limits in every]
    for limits, model in zip(every, models, strict=True):
        check_bounds(model, motion_of(own / "own.md5anim", **limits))


def test_limits_of_weights_are_remembered_in_the_blend(own):
    many_weights()
    assert not [name for name in rig().keys() if name.startswith("idtech")]  # noqa: SIM118
    model_of(own / "own.md5mesh")
    noted = [name for name in rig().keys() if name.startswith("idtech")]  # noqa: SIM118
    assert noted == ["idtech_export"], "what is usual needs no note"
    model = model_of(own / "own.md5mesh", most_weights=0, least_weight=0.0)
    reopen(own)
    activate(rig())
    check_bounds(model, motion_of(own / "own.md5anim"))
    for stranger in ("x", [1, 2], 1e99, -5):
        rig()["idtech_most_weights"] = stranger
        motion_of(own / "own.md5anim")
    model = model_of(own / "own.md5mesh")
    check_bounds(model, motion_of(own / "own.md5anim"))


def test_vertices_without_weights_count_in_bounds_as_in_the_model(own):
    wave_own()
    mesh = bpy.data.objects["box"]
    for group in mesh.vertex_groups:
        group.remove([7, 5])
    for bone in ("Bone.002", "Bone"):
        model = model_of(own / "own.md5mesh", orphan_bone=bone)
        check_bounds(model, motion_of(own / "own.md5anim"))


def test_it_comes_back_as_it_was(own):
    wave_own()
    wanted = [shown_points(frame) for frame in range(5)]
    exported(own / "own.md5mesh")
    exported(own / "own.md5anim")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_mesh(filepath=str(own / "own.md5mesh"))
    assert all(farthest(shown_points(frame), points) < 1e-4 for frame, points in enumerate(wanted))


def follow(block: Any, kind: str, bone: str) -> Any:
    """Let an object follow a bone by a constraint, as it stands; returns that."""
    hold = block.constraints.new(kind)
    aim = hold.targets.new() if kind == "ARMATURE" else hold
    aim.target, aim.subtarget = rig(), bone
    bpy.context.view_layer.update()
    return hold


@pytest.mark.parametrize("kind", ["CHILD_OF", "COPY_TRANSFORMS", "ARMATURE"])
@pytest.mark.parametrize("way", ["itself", "what carries it", "what it follows"])
def test_what_follows_a_bone_by_a_constraint_is_carried_by_it(own, capfd, kind, way):
    wave_own()
    hat = add_cube("hat")
    hat.location, hat.rotation_euler = (1.0, 2.0, 9.0), (0.3, 0.2, 0.1)
    holder = hat
    if way != "itself":
        holder = add_object("hook")
        hat.parent = holder
    scene().frame_set(3)
    follow(holder, kind, "Bone.001")
    if way == "what it follows":
        hat.parent, hat.constraints.new("CHILD_OF").target = None, holder
        bpy.context.view_layer.update()
    activate(rig(), hat, bpy.data.objects["box"])
    model, animation = model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim")
    assert [mesh.name for mesh in model.meshes] == ["box", "hat"]
    check_shown(model, animation, range(5))
    assert "off" not in capfd.readouterr().out


@pytest.mark.parametrize("target", ["Bone", ""])
def test_what_hangs_on_a_bone_goes_with_that_whatever_comes_on_top(own, target):
    """Child Of takes along what its parent has moved."""
    wave_own()
    hat = add_cube("hat")
    hat.parent, hat.parent_type, hat.parent_bone = rig(), "BONE", "Bone.001"
    hold = follow(hat, "CHILD_OF", target)
    hold.target = hold.target if target else add_object("ground")
    bpy.context.view_layer.update()
    activate(rig(), hat, bpy.data.objects["box"])
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim"), range(5))


@pytest.mark.parametrize("target", [True, False])
def test_constraints_that_aim_at_nothing_hold_nothing(own, target):
    wave_own()
    hat = add_cube("hat")
    gone = hat.constraints.new("CHILD_OF")
    gone.target, gone.subtarget = (rig(), "gone") if target else (None, "")
    follow(hat, "CHILD_OF", "Bone.001")
    activate(rig(), hat, bpy.data.objects["box"])
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim"), range(5))


@pytest.mark.parametrize("kind", ["LIMIT_LOCATION", "CHILD_OF"])
def test_other_constraints_of_what_hangs_on_a_bone_count_as_they_do_while_bones_rest(own, kind):
    """Also where the bone is scaled to nothing in the frame that the scene stands at, or Blender ignores them."""
    wave_own()
    hat = add_cube("hat")
    hat.parent, hat.parent_type, hat.parent_bone = rig(), "BONE", "Bone.001"
    activate(rig(), hat, bpy.data.objects["box"])
    plain = model_of(own / "plain.md5mesh").meshes[1]
    hold = hat.constraints.new(kind)
    if kind == "CHILD_OF":
        hold.target, hold.subtarget = rig(), "gone"
    rig().pose.bones["Bone.001"].scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    made = model_of(own / "own.md5mesh").meshes[1]
    np.testing.assert_array_equal(made.weights.joints, plain.weights.joints)
    np.testing.assert_allclose(made.weights.offsets, plain.weights.offsets, atol=1e-5)


@pytest.mark.parametrize("part", ["influence", "use_rotation_x", "mute"])
def test_what_follows_a_bone_in_part_needs_weights(own, part):
    hat = add_cube("hat")
    hold = follow(hat, "CHILD_OF", "Bone.001")
    setattr(hold, part, {"influence": 0.5, "mute": True}.get(part, False))
    activate(rig(), hat, bpy.data.objects["box"])
    assert "'hat' has 8 vertices without weights" in error_of(export_mesh, filepath=str(own / "own.md5mesh"))


def test_modifiers_and_shape_keys_count_as_they_stand(own):
    wave_own()
    mesh = bpy.data.objects["box"]
    mesh.modifiers.new("mirror", "MIRROR").use_axis = (False, True, False)
    mesh.modifiers.new("smooth", "SUBSURF").levels = 1
    mesh.modifiers.move(0, 2)  # the armature's last
    model = model_of(own / "own.md5mesh", least_weight=0.0, most_weights=0)
    assert len(model.meshes[0].triangles) > 48
    check_shown(model, motion_of(own / "own.md5anim"), range(5))
    assert mesh.modifiers["rig"].show_viewport
    for name in ("mirror", "smooth"):
        mesh.modifiers.remove(mesh.modifiers[name])
    mesh.shape_key_add(name="Basis", from_mix=False)
    wide = mesh.shape_key_add(name="wide", from_mix=False)
    for point in wide.points:
        point.co.x *= 3
    wide.value = 0.5
    model = model_of(own / "own.md5mesh")
    places = skin(model.meshes[0].weights, model.skeleton.positions, model.skeleton.rotations)
    assert (places.min(axis=0)[0], places.max(axis=0)[0]) == pytest.approx((-16, 16), abs=1e-4)


def test_several_materials_and_objects_are_several_meshes(own):
    mesh = bpy.data.objects["box"].data
    mesh.materials.append(bpy.data.materials.new("cloth"))
    for face in list(mesh.polygons)[:2]:
        face.material_index = 1
    plate = add_mesh("plate", [(math.cos(a), math.sin(a), 0) for a in range(6)], [range(6)])  # a face of many corners
    plate.vertex_groups.new(name="Bone").add(range(6), 1.0, "REPLACE")
    plate.modifiers.new("rig", "ARMATURE").object = rig()
    model = model_of(own / "own.md5mesh", what="SCENE")
    assert [(m.shader, len(m.triangles)) for m in model.meshes] == [("skin", 8), ("cloth", 4), ("", 4)]
    assert all(m.name for m in model.meshes)


def test_sharp_edges_are_said(own, capfd):
    mesh = bpy.data.objects["box"].data

    def sharp() -> int:
        exported(own / "own.md5mesh")
        said = capfd.readouterr().out
        found = re.search(r"'box': (\d+) sharp edges will be smooth in the game, which merges by place", said)
        return int(found[1]) if found is not None else 0

    assert sharp() == 12, "its faces are flat"
    mesh.shade_smooth()
    assert sharp() == 0
    mesh.polygons[0].use_smooth = False
    assert sharp() == 4
    mesh.shade_smooth()
    for edge in list(mesh.edges)[:5]:
        edge.use_edge_sharp = True
    assert sharp() == 5


def test_normals_of_ones_own_are_said_where_they_are_not_smooth_ones(own, capfd):
    """A glTF brings normals for every mesh."""
    mesh, said = bpy.data.objects["box"].data, "'box' has normals of its own"
    mesh.shade_smooth()
    mesh.normals_split_custom_set([tuple(mesh.vertices[loop.vertex_index].normal) for loop in mesh.loops])
    assert mesh.has_custom_normals
    exported(own / "own.md5mesh")
    assert said not in capfd.readouterr().out
    mesh.normals_split_custom_set([(0, 0, 1)] * len(mesh.loops))
    mesh.polygons[0].use_smooth = False
    exported(own / "own.md5mesh")
    text = capfd.readouterr().out
    assert said in text
    assert "sharp edges" not in text, "once is enough"


@pytest.mark.parametrize("applied", [False, True], ids=["modifier", "applied"])
@pytest.mark.parametrize("kind", ["EDGE_SPLIT", "DATA_TRANSFER"])
def test_normals_that_a_modifier_makes_are_said_where_they_are_not_smooth_ones(own, capfd, kind, applied):
    box, said = bpy.data.objects["box"], "'box' has normals of its own"
    plate = add_mesh("plate", [(0, 0, 9), (1, 0, 9), (0, 1, 9)], [(0, 1, 2)])
    box.data.shade_smooth()
    activate(box)
    modifier = box.modifiers.new("normals", kind)
    if kind == "DATA_TRANSFER":
        modifier.object = plate
        modifier.use_loop_data, modifier.data_types_loops = True, {"CUSTOM_NORMAL"}
        modifier.loop_mapping = "NEAREST_NORMAL"
    modifier.show_viewport = False
    exported(own / "own.md5mesh")
    assert said not in capfd.readouterr().out
    modifier.show_viewport = True
    if applied:
        bpy.ops.object.modifier_apply(modifier="normals")
    exported(own / "own.md5mesh")
    assert said in capfd.readouterr().out


def test_meshes_of_a_selected_armature_go_without_saying(own, capfd):
    """An armature is what a model of bones is."""
    box = bpy.data.objects["box"]

    def is_said() -> bool:
        exported(own / "own.md5mesh")
        return "taken along" in capfd.readouterr().out

    assert not is_said()
    activate(box)
    assert not is_said()
    other = box.copy()
    other.name, other.data = "lid", other.data.copy()
    scene().collection.objects.link(other)
    activate(box)
    assert is_said()


@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
@pytest.mark.parametrize("by", ["the bone", "an object on it", "the bone's head", "a control on it"])
def test_what_a_bone_carries_is_written_as_moved_by_that(own, capfd, what, by):
    """Also where the armature alone is selected, whatever pose it shows."""
    wave_own()
    block, hat, floor = rig(), add_cube("hat"), add_cube("floor")
    carried = add_cube("holder") if by == "an object on it" else hat
    rig().data.bones["Bone.002"].use_relative_parent = by == "the bone's head"
    if by == "a control on it":
        activate(block)
        bpy.ops.object.mode_set(mode="EDIT")
        control = block.data.edit_bones.new("control")
        control.head, control.tail, control.parent = (9, 0, 0), (9, 4, 0), block.data.edit_bones["Bone.002"]
        control.use_deform = False
        bpy.ops.object.mode_set(mode="OBJECT")
    scene().frame_set(4)
    carried.parent, carried.parent_type = block, "BONE"
    carried.parent_bone = "control" if by == "a control on it" else "Bone.002"
    carried.matrix_parent_inverse = Matrix.LocRotScale(
        (1.0, 2.0, 3.0), Quaternion((0.8, 0.6, 0.0, 0.0)), (2.0, 1.0, 1.0)
    )
    carried.location = (3.0, -1.0, 2.0)
    if carried != hat:
        hat.parent, hat.rotation_euler.z = carried, 1.0
    hat.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")  # which no modifier uses
    activate(block)
    model, animation = model_of(own / "own.md5mesh", what=what), motion_of(own / "own.md5anim")
    assert {mesh.name for mesh in model.meshes} == {"box", "hat", carried.name}
    assert "off what Blender shows" not in capfd.readouterr().out
    bpy.data.objects.remove(floor)
    check_shown(model, animation, range(5))


def test_vertices_without_weights(own):
    group = bpy.data.objects["box"].vertex_groups["Bone"]
    put(own / "own.md5mesh", b"old")

    def refused(**options: Any) -> str:
        said = error_of(export_mesh, filepath=str(own / "own.md5mesh"), **options)
        assert (own / "own.md5mesh").read_bytes() == b"old"
        return said

    group.remove([0, 2])
    assert "'box' has 2 vertices without weights on any bone that is exported: weight them" in refused()
    assert "no bone is called 'none'" in refused(orphan_bone="none")
    group.remove([4])
    assert "3 vertices without weights" in refused()
    group.add([4, 2, 0], 0.0, "REPLACE")
    assert "3 vertices without weights" in refused(), "a weight of 0 is none"
    found = model_of(own / "own.md5mesh", orphan_bone="Bone.002").meshes[0].weights
    assert (found.counts > 0).all()
    assert int((found.joints == 2).sum()) > 3


def test_which_weights_are_written(own):
    mesh = bpy.data.objects["box"]
    for name, weight in (("Bone", 0.6), ("Bone.001", 0.3), ("Bone.002", 0.04)):
        mesh.vertex_groups[name].add(range(8), weight, "REPLACE")

    def found(**options):
        table = model_of(own / "own.md5mesh", **options).meshes[0].weights
        assert len(set(table.counts.tolist())) == 1
        count = int(table.counts[0])
        return table.joints[:count].tolist(), table.factors[:count].tolist()

    assert found() == ([0, 1], pytest.approx([2 / 3, 1 / 3]))
    assert found(least_weight=0.0) == ([0, 1, 2], pytest.approx([0.6 / 0.94, 0.3 / 0.94, 0.04 / 0.94]))
    assert found(most_weights=1) == ([0], [1.0])
    assert found(most_weights=0, least_weight=0.0)[0] == [0, 1, 2]
    assert found(least_weight=1.0) == ([0], [1.0]), "the largest stays"
