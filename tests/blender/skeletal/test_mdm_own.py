"""Anybody's own armature, mesh and empties to MDM and MDX, and what an import makes of them."""

from typing import Any

import bpy as blender
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from io_idtech_models.formats.mdm import file as mdm
from tests.blender.case import CONTEXT, activate, in_edit_mode
from tests.blender.skeletal.mdm_case import MDM, MDX, restart
from tests.blender.skeletal.rigged import apart, in_world, shown
from tests.ui.scene import export_bytes, import_model

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")


def own_rig() -> Any:
    """Return an armature of three bones with a mesh and an empty; made by hand, in a scene without any import."""
    data = bpy.data.armatures.new("soldier")
    rig = bpy.data.objects.new("soldier", data)
    CONTEXT.scene.collection.objects.link(rig)

    def bones() -> None:
        above = None
        for name, head, tail in (
            ("root", (0, 0, 0), (0, 0, 10)), ("spine", (0, 0, 10), (0, 1, 30)), ("arm", (0, 1, 30), (12, 1, 30)),
        ):  # fmt: skip
            bone = data.edit_bones.new(name)
            bone.head, bone.tail, bone.parent = head, tail, above
            above = bone

    in_edit_mode(rig, bones)
    mesh = bpy.data.meshes.new("Body")
    points = [(x, y, z) for z in (0, 10, 20, 30) for x, y in ((-3, -3), (3, -3), (3, 3), (-3, 3))]
    faces = [
        (4 * k + i, 4 * k + (i + 1) % 4, 4 * k + 4 + (i + 1) % 4, 4 * k + 4 + i) for k in range(3) for i in range(4)
    ]
    mesh.from_pydata(points, [], faces)
    mesh.uv_layers.new(name="UVMap")
    body = bpy.data.objects.new("Body", mesh)
    CONTEXT.scene.collection.objects.link(body)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    for name, level in (("root", 0), ("root", 1), ("spine", 1), ("spine", 2), ("arm", 3), ("spine", 3)):
        group = body.vertex_groups.get(name) or body.vertex_groups.new(name=name)
        group.add(list(range(4 * level, 4 * level + 4)), 0.75 if (name, level) in {("spine", 1), ("arm", 3)} else 0.25,
                  "REPLACE")  # fmt: skip
    tag = bpy.data.objects.new("tag_weapon", None)
    CONTEXT.scene.collection.objects.link(tag)
    tag.parent, tag.parent_type, tag.parent_bone = rig, "BONE", "arm"
    tag.location = (1, 2, 3)
    for frame, angle in ((0, 0.0), (2, 0.5), (4, -0.75)):
        for number, name in enumerate(("root", "spine", "arm")):
            posed = rig.pose.bones[name]
            posed.rotation_mode = "QUATERNION"
            posed.rotation_quaternion = Quaternion((number, 1, 0.5), angle)
            posed.keyframe_insert("rotation_quaternion", frame=frame)
        rig.pose.bones["root"].location = (frame, 0, 0)
        rig.pose.bones["root"].keyframe_insert("location", frame=frame)
    rig.animation_data.action.name = "wave"
    return rig


@pytest.mark.parametrize(("scale", "moved"), [(1.0, False), (0.1, False), (1.0, True)])
def test_anybodys_own_rig(tmp_path, scale, moved):
    rig = own_rig()
    activate(rig)
    if moved:
        rig.matrix_world = Matrix.Translation((5, -6, 7)) @ Matrix.Rotation(0.7, 4, (1, 2, 3)) @ Matrix.Scale(1.5, 4)
    body, tag = bpy.data.objects["Body"], bpy.data.objects["tag_weapon"]
    shows = []
    for frame in range(5):
        CONTEXT.scene.frame_set(frame)
        evaluated = tag.evaluated_get(CONTEXT.evaluated_depsgraph_get())
        shows.append((in_world(body), np.array(evaluated.matrix_world)[:3, 3]))
    data = export_bytes(tmp_path / "own.mdm", write_animation=True, scale=scale)
    wave = (tmp_path / "own.mdx").read_bytes()
    model, walk = MDM.load(data, "own", {"mdx": wave}), MDX.load(wave, "own")
    assert ([m.name for m in model.meshes], walk.num_frames) == (["body"], 5)
    assert walk.joint_names == ["root", "spine", "arm"]
    assert (model.tags[0].name, model.tags[0].joint) == ("tag_weapon", 2)
    restart()
    import_model(tmp_path / "own.mdm", scale=scale, bind="FRAME")
    again, found = bpy.data.objects["body"], bpy.data.objects["tag_weapon"]
    near = (1.5 if moved else 1.0) * 20 * np.pi / 4095  # half a step of the game's table, along both bones
    for frame, (points, origin) in enumerate(shows):
        CONTEXT.scene.frame_set(frame)
        assert apart(shown(again), points) < near
        matrix = np.array(found.evaluated_get(CONTEXT.evaluated_depsgraph_get()).matrix_world)
        np.testing.assert_allclose(matrix[:3, 3], origin, atol=near)
    assert export_bytes(tmp_path / "again.mdm", scale=scale) == data
    assert export_bytes(tmp_path / "again.mdx", scale=scale) == wave


def test_weights_of_a_made_mesh(tmp_path):
    own_rig()
    data = export_bytes(tmp_path / "own.mdm")
    surface = mdm.read(data).surfaces[0]
    starts = np.cumsum(surface.vertices["num_weights"]) - surface.vertices["num_weights"]
    for start, count in zip(starts, surface.vertices["num_weights"], strict=True):
        weights = surface.weights["weight"][start : start + count]
        assert (np.diff(weights) <= 0).all()
        assert weights.sum() == pytest.approx(1.0)
    assert surface.bone_refs.tolist() == [0, 1, 2]
    assert surface.header["min_lod"] == len(surface.vertices)
