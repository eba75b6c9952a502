"""The arm with its animations in a folder, the arm imported, and an armature of one's own."""

import pytest

from tests.samples import put
from tests.ui.rigs.arms import FILES, import_mesh, scene
from tests.ui.scene import activate, add_cube, add_object, bpy, editing


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, two animations of it, and one of another model."""
    for name, data in FILES.items():
        put(tmp_path / name, data)
    return tmp_path


@pytest.fixture
def arm(folder):
    """Import the model with its animations; returns the folder."""
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    return folder


@pytest.fixture
def others(folder):
    """Make an armature and a cube of one's own, which must stay as they are."""
    made = add_object("mine", bpy.data.armatures.new("mine"))
    with editing(made) as bones:
        bones.new("bone").tail = (0, 0, 1)
    cube = add_cube()
    activate(made, cube)
    return made, cube


@pytest.fixture
def own(tmp_path):
    """Make an armature with a deforming mesh: connected bones, one that deforms nothing, euler angles."""
    block = add_object("rig", bpy.data.armatures.new("rig"))
    with editing(block) as bones:
        for name, head, tail, parent in (
            ("Bone", (0, 0, 0), (0, 0, 8), None),
            ("Bone.001", (0, 0, 8), (0, 4, 16), "Bone"),
            ("Bone.002", (0, 4, 16), (0, 4, 24), "Bone.001"),
            ("control", (20, 0, 0), (20, 0, 8), None),
        ):
            bone = bones.new(name)
            bone.head, bone.tail = head, tail
            if parent:
                bone.parent, bone.use_connect = bones[parent], True
        bones["control"].use_deform = False
    mesh = add_cube("box")
    for name, points in (("Bone", (0, 2, 4, 6)), ("Bone.001", (1, 3, 5)), ("Bone.002", (5, 7))):
        mesh.vertex_groups.new(name=name).add(points, 0.5, "REPLACE")
    mesh.modifiers.new("rig", "ARMATURE").object = block
    mesh.parent = block
    mesh.data.materials.append(bpy.data.materials.new("skin"))
    scene().frame_start, scene().frame_end, scene().render.fps = 0, 4, 20
    for bone in block.pose.bones:
        bone.rotation_mode = "XYZ"
    activate(block)
    return tmp_path
