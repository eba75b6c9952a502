"""Static models in Blender, ASE and LWO alike: what comes back letter by letter, and what a new mesh becomes."""

import numpy as np
import pytest

from io_idtech_models.formats.lwo.file import read
from tests.samples import load
from tests.ui.scene import bpy, export_bytes, opened

pytestmark = pytest.mark.usefixtures("empty_scene")
FORMATS = ("ase", "lwo")
each_format = pytest.mark.parametrize("name", FORMATS)


def crate():
    """Add a cube with a material, and return it."""
    bpy.ops.mesh.primitive_cube_add(size=16)
    block = bpy.context.object
    block.data.materials.append(bpy.data.materials.new("textures/base/crate"))
    return block


@each_format
def test_colors_of_a_new_mesh_are_written_and_shown(tmp_path, name, capfd):
    mesh = crate().data
    layer = mesh.color_attributes.new("Paint", "BYTE_COLOR", "POINT")
    for nth, color in enumerate(layer.data):
        color.color_srgb = (nth / 255, 0, 1, 1)
    data = export_bytes(tmp_path / f"b.{name}")
    assert "more than a file holds" not in capfd.readouterr().out
    bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3"))
    assert "'Cube' has more than a file holds, left out: colours 'Paint'" in capfd.readouterr().out
    bpy.ops.wm.read_homefile(use_empty=True)
    (block,) = opened(tmp_path / f"a.{name}", data).values()
    layer = block.data.color_attributes["Color"]
    assert sorted(round(color.color_srgb[0] * 255) for color in layer.data) == list(range(8))
    assert export_bytes(tmp_path / f"b.{name}") == data


@each_format
def test_any_mesh_is_written(tmp_path, name):
    crate()
    data = export_bytes(tmp_path / f"b.{name}")
    (surface,) = load(data).surfaces
    assert (surface.name, surface.shaders) == ("Cube", ["textures/base/crate"])
    assert len(surface.triangles) == 12
    assert np.abs(surface.positions).max() == 8
    a, b, c = surface.positions[0][surface.triangles].transpose(1, 0, 2)
    flat = np.cross(b - a, c - a)
    assert (np.einsum("ij,ij->i", flat, a + b + c) > 0).all()  # counter-clockwise from outside
    assert np.abs(surface.normals[0][surface.triangles[:, 0]] * 256 - flat).max() < 1e-2


def test_a_new_lwo_has_its_chunks_in_lightwaves_order(tmp_path):
    crate()
    found = read(export_bytes(tmp_path / "b.lwo"))
    names = [each.ident for each in found.chunks]
    assert names == [b"TAGS", b"LAYR", b"PNTS", b"BBOX", b"VMAP", b"POLS", b"PTAG", b"PTAG", b"SURF"]
    assert len(found.layers[0].points) == 24
