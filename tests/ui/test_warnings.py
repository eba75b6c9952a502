"""A warning that is none hides those that are: what goes well, and what is asked for, is said as information."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.blender.case import in_edit_mode, separated, show_image
from tests.samples import put, sample
from tests.ui.scene import activate, add_cube, add_tag, bpy, copy_of, export_bytes, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


def brought(folder: Path, name: str, which: str) -> Any:
    """Return the first mesh of an imported sample."""
    path = put(folder / f"model.{name}", which)
    if name == "mdm":
        path.with_suffix(".mdx").write_bytes(sample("walk", "mdx"))
    return first("MESH", import_model(path).all_objects)


def cut(block: Any) -> None:
    """Separate a face of a mesh, twice."""
    for _ in range(2):
        separated(block, [0])


def flipped(block: Any) -> None:
    in_edit_mode(block, bpy.ops.mesh.flip_normals)


def rotated(block: Any) -> None:
    in_edit_mode(block, lambda: bpy.ops.transform.rotate(value=0.7, orient_axis="X"))


def armature_selected(block: Any) -> None:
    activate(block.parent)
    bpy.context.view_layer.objects.active = None


def nothing(block: Any) -> None:
    """Edit nothing."""


@pytest.mark.parametrize(
    ("name", "which", "edit", "options"),
    [
        ("mdm", "figure", nothing, {"write_animation": True}), ("mdm", "figure", flipped, {}),
        ("mds", "figure", flipped, {}), ("mdm", "figure", rotated, {}), ("iqm", "animated", rotated, {}),
        ("iqm", "animated", flipped, {}), ("iqm", "animated", cut, {}), ("mdl", "animated", cut, {}),
        ("md3", "animated", cut, {}), ("iqm", "animated", armature_selected, {}),
    ],
)  # fmt: skip
def test_what_goes_well_is_no_warning(tmp_path, capfd, name, which, edit, options):
    edit(brought(tmp_path, name, which))
    capfd.readouterr()
    export_bytes(tmp_path / f"out.{name}", **options)
    said = capfd.readouterr().out
    # Where a face was cut off 4.2 shows other normals at its edges, and can't tell whether anyone meant that. Parts get
    # names of their own, which skins have to list.
    known = "keep the source's normals", "no two are called alike"
    assert ("Warning" in said) == (edit is cut and any(words in said for words in known))
    assert "copies" not in said
    assert "is a copy" not in said


def test_what_comes_along_is_information(tmp_path, capfd):
    add_tag("tag_a")
    add_cube().data.materials.append(bpy.data.materials.new("models/cube"))
    export_bytes(tmp_path / "a.md3")
    said = capfd.readouterr().out
    assert "Info: a.md3" in said
    assert "taken along" in said


def test_several_copies_are_one_warning(tmp_path, capfd):
    block = brought(tmp_path, "md3", "seamed_cube")
    for _ in range(3):
        copy_of(block)
    export_bytes(tmp_path / "out.md3")
    said = capfd.readouterr().out
    assert said.count("are copies of surfaces: written as further ones") == 1
    assert "Warning: out.md3" in said


def test_a_new_material_of_an_imported_mesh_that_no_game_finds_is_named(tmp_path, capfd):
    import_model(put(tmp_path / "a.md3"))
    block = next(block for block in bpy.data.objects if block.type == "MESH")
    material: Any = bpy.data.materials.new("Material")
    show_image(material, bpy.data.images.new("skin", 4, 4))
    bpy.data.images["skin"].filepath = str(tmp_path / "baseq3" / "models" / "x" / "skin.tga")
    activate(block)
    capfd.readouterr()
    export_bytes(tmp_path / "b.md3")
    assert "no path of a game" not in capfd.readouterr().out, "its own"
    block.material_slots[0].material = material
    export_bytes(tmp_path / "b.md3")
    said = "'Material' is no path of a game, rename the material after its picture: 'models/x/skin'"
    assert said in capfd.readouterr().out
