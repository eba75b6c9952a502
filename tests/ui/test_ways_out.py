"""Where something can't be written the sentence names the way out; and what an armature moves is found by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.assets.convert import Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.blender import budgets
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import LimitError
from tests import samples_md5
from tests.samples import put, sample
from tests.ui.scene import activate, add_cube, add_tag, bpy, error_of, export_model, import_model, operator, run_export

pytestmark = pytest.mark.usefixtures("empty_scene")


def add_armature() -> Any:
    bpy.ops.object.armature_add(radius=8)
    rig = bpy.context.object
    rig.data.bones[0].name = "bone"
    return rig


@pytest.mark.parametrize("imported", [False, True])
def test_an_active_armature_means_the_meshes_that_it_moves(tmp_path, imported):
    blocks = [b for b in import_model(put(tmp_path / "a.md3")).objects if b.type == "MESH"] if imported else []
    blocks = blocks or [add_cube("one"), add_cube("two")]
    rig = add_armature()
    for block in blocks:
        block.modifiers.new("rig", "ARMATURE").object = rig
    activate(rig)
    found = export_model(tmp_path / "b.md3")
    assert len(found.surfaces) == len(blocks)
    assert len(found.tags) == (2 if imported else 0), "the whole model is meant"


def test_faces_that_change_over_time_name_the_modifier(tmp_path):
    block = add_cube()
    block.modifiers.new("grows", "BUILD").frame_duration = 5
    block.keyframe_insert("location", frame=1)
    text = error_of(run_export, filepath=str(tmp_path / "a.md3"), frames="SCENE")
    assert "apply the modifiers that make them ('grows'), or turn them off in the viewport" in text


def test_modifiers_of_keyed_meshes_are_not_to_be_applied(tmp_path):
    """Blender applies none that makes vertices to a mesh with shape keys."""
    block = add_cube()
    block.shape_key_add(name="Basis")
    block.modifiers.new("grows", "BUILD").frame_duration = 5
    activate(block)
    with pytest.raises(RuntimeError, match="shape keys"):
        bpy.ops.object.modifier_apply(modifier="grows")
    block.keyframe_insert("location", frame=1)
    text = error_of(run_export, filepath=str(tmp_path / "a.md3"), frames="SCENE")
    assert "turn off what merges or removes points in the modifiers that make them ('grows'), or these" in text


@pytest.mark.parametrize("name", ["md3", "md5mesh"])
@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
def test_what_carries_a_model_is_not_left_out(tmp_path, capfd, name, what):
    model = import_model(put(tmp_path / f"a.{name}", samples_md5.arm() if name == "md5mesh" else "animated"))
    carrier = add_tag("carrier", "PLAIN_AXES")
    for block in model.objects:
        if block.parent is None:
            block.parent = carrier
    activate(*(b for b in model.objects if b.type != "EMPTY"), carrier)
    bpy.context.view_layer.objects.active = model.objects[0]
    capfd.readouterr()
    operator("export", tmp_path / f"b.{name}")(filepath=str(tmp_path / f"b.{name}"), what=what)
    assert "'carrier'" not in capfd.readouterr().out


@pytest.mark.parametrize("name", ["md3", "iqm"])
def test_more_surfaces_than_an_import_takes_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.setitem(budgets.MOST, "surfaces", 2)
    rig = add_armature()
    for number in range(3):
        block = add_cube(f"cube{number}")
        block.modifiers.new("rig", "ARMATURE").object = rig
        block.vertex_groups.new(name="bone").add(range(8), 1.0, "REPLACE")
    target = tmp_path / f"a.{name}"
    text = error_of(operator("export", target), filepath=str(target), what="SCENE")
    assert "3 surfaces: no import takes more than 2 back, join objects first (Ctrl+J)" in text
    assert not target.exists()


@pytest.mark.parametrize("which", ["alone", "stills"])
def test_animations_alone_become_no_vertex_model(tmp_path, which):
    source, target = put(tmp_path / "a.iqm", which), Path(tmp_path, "a.md3")
    with pytest.raises(LimitError, match="it has no mesh, it holds animations alone: name it with --anim"):
        convert(Disk().file(source), ExportRequest(target), Posing())
    assert not target.exists()


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("active", ["mesh", "armature"])
def test_bones_that_are_tags_go_with_what_their_armature_moves(tmp_path, capfd, imported, active):
    block = (
        next(b for b in import_model(put(tmp_path / "a.md3", sample("minimal"))).objects) if imported else add_cube()
    )
    rig = add_armature()
    rig.data.bones[0].name = "tag_flag"
    block.modifiers.new("rig", "ARMATURE").object = rig
    activate(block if active == "mesh" else rig)
    capfd.readouterr()
    found = export_model(tmp_path / "b.md3")
    assert "left out" not in capfd.readouterr().out
    assert "tag_flag" in {tag.name for tag in found.tags}
    assert found.surfaces
