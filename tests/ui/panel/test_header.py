"""Header and flags: what a file says of a model besides its shape, edited in the panel, as the file gets it."""

from typing import Any

import pytest

from io_idtech_models.blender import properties
from io_idtech_models.ui.panel import header
from tests.samples import PROJECT, put
from tests.ui.panel.drawing import drawn, shows, texts
from tests.ui.scene import activate, add_cube, bpy, error_of, export_model, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
add_fact: Any = bpy.ops.object.idtech_add_fact
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
PANEL = header.VIEW3D_PT_idtech_header


def test_numbers_of_an_mdl(tmp_path):
    collection = import_model(put(tmp_path / "a.mdl"))
    assert shows(PANEL)
    assert {"Flags", "Sync Type", "Eye Position", "Radius", "Triangle Size"} <= set(texts(PANEL))
    for name in header.OF_MODEL:
        assert collection.id_properties_ui(name).as_dict()["description"] == properties.SAID[name]
    collection["idtech_game_flags"] = 8
    assert export_model(tmp_path / "b.mdl").traits["flags"] == 8
    import_model(put(tmp_path / "a.md3"))
    assert not shows(PANEL), "a model without says nothing"


def test_numbers_that_a_new_mdl_gets(tmp_path):
    """What came from no file is of the format in which it was exported last."""
    cube = add_cube()
    assert not shows(PANEL)
    export_model(tmp_path / "a.mdl")
    assert {("operator", "Flags"), ("operator", "Sync Type")} <= set(drawn(PANEL))
    assert add_fact(fact=properties.GAME + "flags") == {"FINISHED"}
    assert ("prop", "Flags") in drawn(PANEL)
    cube.users_collection[0][properties.GAME + "flags"] = 8
    assert export_model(tmp_path / "a.mdl").traits["flags"] == 8


def test_numbers_of_bones_surfaces_and_rig(tmp_path):
    import_model(TROOPER)
    rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    activate(rig)
    rig.data.bones.active = rig.data.bones[2]
    assert {"LOD Scale", "LOD Bias", "Torso Weight", rig.data.bones[2].name} <= set(texts(PANEL))
    mesh = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    activate(mesh)
    del mesh[properties.MIN_LOD]
    assert ("operator", "Fewest Vertices") in drawn(PANEL)
    assert add_fact(fact=properties.MIN_LOD) == {"FINISHED"}
    assert ("prop", "Fewest Vertices") in drawn(PANEL)
    mesh[properties.MIN_LOD] = 17
    model = export_model(tmp_path / "b.mdm")
    assert 17 in [each.min_lod for each in model.meshes]
    assert "there already" in error_of(add_fact, fact=properties.MIN_LOD)


def test_every_property_has_a_label_and_a_sentence():
    names = {*header.OF_MODEL, *header.OF_RIG, *header.OF_BONE, *header.OF_ACTION, *header.NEW}
    assert names <= set(header.LABELS)
    assert names <= set(properties.SAID)
