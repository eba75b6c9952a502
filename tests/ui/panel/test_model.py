"""The panel's head and "Model": what the model is, and how much of what games limit it has; findings of a check."""

from typing import Any

import pytest

from io_idtech_models.tasks.export.subject import subject_of
from io_idtech_models.ui.check import found
from io_idtech_models.ui.check import panel as findings
from io_idtech_models.ui.panel import main, model, surfaces
from tests.samples import put
from tests.ui.panel.drawing import drawn, shows, texts
from tests.ui.scene import activate, add_cube, bpy, error_of, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
check_game: Any = bpy.ops.object.idtech_check_game
select_part: Any = bpy.ops.object.idtech_select_part


def test_what_the_model_is_and_for_which_game(tmp_path):
    collection = import_model(put(tmp_path / "players" / "a.md3"))
    shown = texts(model.VIEW3D_PT_idtech_model)
    assert {"Quake III (.md3)", "players/a.md3", "No Game"} <= {*shown}
    assert any(text.endswith("/ 1,024") for text in shown), "frames of how many"
    assert bpy.ops.object.idtech_choose_game(game="quake3") == {"FINISHED"}
    shown = texts(model.VIEW3D_PT_idtech_model)
    assert "Quake III Arena" in shown
    assert any(text.endswith("/ 999") for text in shown), "its limits"
    assert "doom3" in error_of(bpy.ops.object.idtech_choose_game, game="doom3")
    assert "quake3" in collection["idtech_export"]


@pytest.mark.parametrize("change", [lambda b: b.data.vertices.add(3), lambda b: b.modifiers.new("finer", "SUBSURF")])
def test_counts_are_blenders_until_a_check_counts(tmp_path, change):
    import_model(put(tmp_path / "a.md3"))
    assert "Seams may add vertices" in texts(model.VIEW3D_PT_idtech_model)
    assert not shows(findings.VIEW3D_PT_idtech_findings)
    assert check_game(target="md3:quake3") == {"FINISHED"}
    assert "As the last check counted them" in texts(model.VIEW3D_PT_idtech_model)
    assert "The game took it at the last check" in texts(findings.VIEW3D_PT_idtech_findings)
    block = bpy.context.view_layer.objects.active
    change(block)
    assert "Seams may add vertices" in texts(model.VIEW3D_PT_idtech_model), "it is another now"


def test_the_surface_wears_what_its_slot_does():
    activate(add_cube("other"))
    block = bpy.context.view_layer.objects.active
    block.data.materials.append(None)
    assert "Give it a material, called as the shader" in texts(surfaces.VIEW3D_PT_idtech_surfaces)
    slot = block.material_slots[0]
    slot.link, slot.material = "OBJECT", bpy.data.materials.new("models/mine")
    assert "models/mine" in texts(surfaces.VIEW3D_PT_idtech_surfaces)
    block.data.materials.append(bpy.data.materials.new("models/other"))
    block.active_material_index = 1  # as a skin is worn
    shown = texts(surfaces.VIEW3D_PT_idtech_surfaces)
    assert "models/other" in shown and "models/mine" not in shown


def test_a_finding_selects_its_object(tmp_path):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40)
    large = bpy.context.view_layer.objects.active
    other = add_cube("other")
    bpy.ops.object.select_all(action="SELECT")
    check_game(target="md3:quake3")
    entry = next((each for each in found.checked(bpy.context).findings if each.name == large.name), None)
    activate(other)
    assert entry is not None
    assert entry.severe
    assert select_part(name=entry.name) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == large
    other.hide_set(True)
    for name in (other.name, "nothing"):
        assert select_part(name=name) == {"CANCELLED"}


def test_another_model_shows_no_findings(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    check_game(target="md3:quake3")
    activate(add_cube())
    assert not shows(findings.VIEW3D_PT_idtech_findings)
    assert ("operator", "object.idtech_export_again") in drawn(main.VIEW3D_PT_idtech)


def test_the_model_is_found_wherever_its_object_goes(tmp_path):
    collection = import_model(put(tmp_path / "a.md3"))
    block = bpy.context.view_layer.objects.active

    def subject() -> Any:
        return subject_of(bpy.context)

    assert subject().home == collection
    collection.objects.unlink(block)
    bpy.context.scene.collection.objects.link(block)
    activate(block)
    assert subject().home is None
    assert subject().place, "its mesh still says where it came from"
    collection.objects.link(block)
    assert subject().home == collection, "and back"
