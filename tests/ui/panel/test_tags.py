"""Tags that are added are written by every exporter of the family; the lists of tags and surfaces."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.roots import is_tag
from io_idtech_models.formats import by_name
from io_idtech_models.tasks.export.subject import counts_shown, subject_of
from io_idtech_models.ui.panel import surfaces, tags
from tests.samples import PROJECT, put
from tests.ui.panel.drawing import shows, texts
from tests.ui.scene import activate, add_cube, bpy, error_of, export_model, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
add_tag: Any = bpy.ops.object.idtech_add_tag
NEWT = PROJECT / "examples/newt/models/md5/newt/newt.md5mesh"
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"


def tag_named(model: Any, name: str) -> Any:
    (found,) = [tag for tag in model.tags if tag.name == name]
    return found


def active_rig() -> Any:
    """Return the armature, which is active from now on."""
    rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    activate(rig)
    return rig


@pytest.mark.parametrize("suffix", [".md3", ".mdc"])
def test_on_an_animated_model_at_the_cursor(tmp_path, suffix):
    collection = import_model(put(tmp_path / "a.md3"))
    before = len([block for block in collection.objects if block.type == "EMPTY"])
    bpy.context.scene.cursor.location = (1, 2, 3)
    assert add_tag(name="tag_flash") == {"FINISHED"}
    made = bpy.context.view_layer.objects.active
    assert made.users_collection == (collection,)
    model = export_model(tmp_path / f"b{suffix}")
    assert len(model.tags) == before + 1
    found = tag_named(model, "tag_flash")
    assert len(found.origins) == model.num_frames > 1
    np.testing.assert_allclose(found.origins, [(1, 2, 3)] * model.num_frames, atol=1e-5)
    np.testing.assert_allclose(found.axes[0], np.eye(3), atol=1e-5)


def test_on_an_object_it_moves_with_that(tmp_path):
    cube = add_cube()
    cube.location, cube.rotation_euler = (4, 0, 0), (0, 0, np.pi / 2)
    cube.keyframe_insert("location", frame=0)
    cube.location = (8, 0, 0)
    cube.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 1
    bpy.context.scene.frame_set(0)
    assert add_tag(name="tag_weapon", place="OBJECT") == {"FINISHED"}
    assert bpy.context.view_layer.objects.active.parent == cube
    bpy.ops.object.select_all(action="SELECT")
    model = export_model(tmp_path / "a.md3", what="SELECTION", frames="SCENE")
    found = tag_named(model, "tag_weapon")
    np.testing.assert_allclose(found.origins, [(4, 0, 0), (8, 0, 0)], atol=1e-5)
    np.testing.assert_allclose(found.axes[0], [(0, 1, 0), (-1, 0, 0), (0, 0, 1)], atol=1e-5)


@pytest.mark.parametrize("suffix", [".mdm", ".mds", ".mdr"])
def test_on_a_bone_of_a_rig(tmp_path, suffix):
    import_model(TROOPER)
    rig = active_rig()
    bone = rig.data.bones[3]
    rig.data.bones.active = bone
    assert add_tag(name="tag_spare", place="BONE") == {"FINISHED"}
    bpy.context.scene.cursor.location = (1, 2, 3)
    activate(rig)
    assert add_tag(name="tag_other", place="CURSOR") == {"FINISHED"}
    made = bpy.context.view_layer.objects.active
    np.testing.assert_allclose(made.matrix_world.translation, (1, 2, 3), atol=1e-4)
    model = export_model(tmp_path / f"b{suffix}")
    found = tag_named(model, "tag_spare")
    np.testing.assert_allclose(found.origin, 0, atol=1e-4)
    np.testing.assert_allclose(found.axes, np.eye(3), atol=1e-4)
    assert {"tag_spare", "tag_other"} <= {tag.name for tag in model.tags}
    if suffix == ".mdm":
        assert found.joint == 3, "bones of an MDM have no names"


def test_on_a_bone_of_what_becomes_a_vertex_model(tmp_path):
    import_model(NEWT)
    rig = active_rig()
    rig.data.bones.active = rig.data.bones[-1]
    assert add_tag(name="tag_mouth", place="BONE") == {"FINISHED"}
    model = export_model(tmp_path / "newt.md3", frames="SCENE")
    found = tag_named(model, "tag_mouth")
    assert np.ptp(found.origins, axis=0).max() > 0, "it moves with the bone"


def test_a_players_part_keeps_its_own_space(tmp_path):
    folder = PROJECT / "examples/tock/baseq3/models/players/tock"
    bpy.ops.import_scene.idtech_player(filepath=str(folder / "upper.md3"))
    head = next(c for c in bpy.data.collections if c.name == "head" and c.get("idtech_model"))
    activate(next(block for block in head.objects if block.type == "MESH"))
    shown = SimpleNamespace(filter_name="", bitflag_filter_item=1)
    assert not any(tags.shown_kind(shown, head.objects, is_tag)), "a part's root is no tag"
    bpy.context.collection.objects.link(bpy.data.objects.new("helper", None))
    subject: Any = subject_of(bpy.context)
    assert counts_shown(subject)["tags"] == 0, "nor is any other empty"
    assert add_tag(name="tag_mouth", place="OBJECT") == {"FINISHED"}
    assert sum(tags.shown_kind(shown, head.objects, is_tag)) == 1
    model = export_model(tmp_path / "head.md3")
    np.testing.assert_allclose(tag_named(model, "tag_mouth").origins[0], 0, atol=1e-4)


def test_what_is_offered_and_what_can_not_be(tmp_path):
    offered = [name for name, _ in tags._offered(None, bpy.context, "")]
    assert {"tag_head", "tag_torso", "tag_weapon", "tag_flash", "tag_barrel"} <= set(offered)
    assert all(name == name.lower() for name in offered)
    assert "poll" in error_of(add_tag)
    import_model(NEWT)
    rig = active_rig()
    rig.data.bones.active = None
    assert "click the one that the tag moves with" in error_of(add_tag, place="CURSOR")
    activate(add_cube())
    assert "has no armature" in error_of(add_tag, place="BONE")
    assert "needs a name" in error_of(add_tag, name=" ")


def test_a_second_tag_of_a_name_is_said(tmp_path, capfd):
    for name in ("a.md3", "b.md3"):
        import_model(put(tmp_path / name))
        add_tag(name="tag_flash")
        assert "already" not in capfd.readouterr().out, "another model's does not matter"
    add_tag(name="tag_flash")
    assert "the model has a tag 'tag_flash' already" in capfd.readouterr().out


def test_lists_show_their_kind_alone(tmp_path):
    import_model(put(tmp_path / "a.md2"))
    assert not by_name("md2").tags
    assert not shows(tags.VIEW3D_PT_idtech_tags), "of formats that have some"
    blocks = import_model(put(tmp_path / "a.md3")).objects
    shown = SimpleNamespace(filter_name="", bitflag_filter_item=1)
    assert tags.shown_kind(shown, blocks, lambda block: bool(block.type == "MESH")) == [
        int(block.type == "MESH") for block in blocks
    ]
    shown.filter_name = "TAG"
    assert shows(tags.VIEW3D_PT_idtech_tags)
    empties = [block for block in blocks if block.type == "EMPTY"]
    assert tags.shown_kind(shown, blocks, is_tag).count(1) == sum("tag" in b.name.lower() for b in empties)
    manager = bpy.context.window_manager
    for index, block in enumerate(blocks):
        manager.idtech_part = index
        assert (bpy.context.view_layer.objects.active, manager.idtech_part) == (block, index)


def test_what_the_file_gets_of_a_surface(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    block = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    activate(block)
    shown = texts(surfaces.VIEW3D_PT_idtech_surfaces)
    assert block.get("idtech_name", block.name) in shown
    material = block.data.materials[0]
    material.name = "models/weapons2/new.tga"
    assert "models/weapons2/new.tga" in texts(surfaces.VIEW3D_PT_idtech_surfaces)
    assert "No picture found" in texts(surfaces.VIEW3D_PT_idtech_surfaces)
    model = export_model(tmp_path / "b.md3")
    assert "models/weapons2/new.tga" in model.surfaces[0].shaders
    block.data.materials.clear()
    assert "Give it a material, called as the shader" in texts(surfaces.VIEW3D_PT_idtech_surfaces)
