"""ASE in Blender: what comes back letter by letter, and what an edit there changes in the text."""

import numpy as np
import pytest

from tests.samples import CORPUS, load
from tests.samples_ase import CORNERS, moved_texture, pyramid, several
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")
REAL = [pytest.param(path, id=path.name) for path in sorted(CORPUS.rglob("*.ase"))]


def opened(tmp_path, data):
    """Import a file, and return its meshes by their names."""
    path = tmp_path / "a.ase"
    path.write_bytes(data)
    assert bpy.ops.import_scene.idtech_ase(filepath=str(path)) == {"FINISHED"}
    return {block.name: block for block in bpy.data.objects if block.type == "MESH"}


def written(tmp_path, **options):
    path = tmp_path / "b.ase"
    assert bpy.ops.export_scene.idtech_ase(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


@pytest.mark.everywhere
@pytest.mark.parametrize("path", REAL)
def test_real_files_come_back_letter_by_letter(tmp_path, path):
    opened(tmp_path, path.read_bytes())
    assert written(tmp_path) == path.read_bytes()


@pytest.mark.parametrize("make", [pyramid, moved_texture, several])
def test_a_file_comes_back_from_a_blend(tmp_path, make):
    opened(tmp_path, make())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert written(tmp_path) == make()


def test_a_moved_point_changes_rows_alone(tmp_path):
    block = opened(tmp_path, pyramid())["pyramid"]
    mesh = block.data
    keys = mesh.shape_keys.key_blocks[0].data if mesh.shape_keys else mesh.vertices
    (tip,) = [point for point in keys if np.allclose(point.co, CORNERS[4])]
    assert len(keys) == len(CORNERS)
    tip.co.z += 2
    text = written(tmp_path)
    old, new = pyramid().splitlines(), text.splitlines()
    changed = [line.split() for before, line in zip(old, new, strict=True) if before != line]
    assert [row[1:] for row in changed if row[0] == b"*MESH_VERTEX"] == [[b"4", b"0.0000", b"0.5", b"11.1250"]]
    assert {row[0] for row in changed} <= {b"*MESH_VERTEX", b"*MESH_FACENORMAL", b"*MESH_VERTEXNORMAL"}


def test_an_object_that_is_deleted_leaves_the_others_text(tmp_path):
    blocks = opened(tmp_path, several())
    bpy.data.objects.remove(blocks["none"] if "none" in blocks else blocks["bare"])
    text = written(tmp_path)
    assert text.startswith(several().split(b"*GEOMOBJECT")[0])
    assert len(load(text).surfaces) == len(load(several()).surfaces) - 1


def test_colors_of_a_mesh_are_written_and_shown(tmp_path):
    bpy.ops.mesh.primitive_cube_add(size=16)
    mesh = bpy.context.object.data
    mesh.materials.append(bpy.data.materials.new("textures/base/crate"))
    layer = mesh.color_attributes.new("Paint", "BYTE_COLOR", "POINT")
    for nth, color in enumerate(layer.data):
        color.color_srgb = (nth / 255, 0, 1, 1)
    text = written(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    (block,) = opened(tmp_path, text).values()
    layer = block.data.color_attributes["Color"]
    assert sorted(round(color.color_srgb[0] * 255) for color in layer.data) == list(range(8))
    assert written(tmp_path) == text
    layer.data[0].color_srgb = (0, 1, 0, 1)
    old, new = text.splitlines(), written(tmp_path).splitlines()
    changed = [line for before, line in zip(old, new, strict=True) if before != line]
    assert {line.split()[0] for line in changed} == {b"*MESH_VERTCOL"}


def test_any_mesh_is_written(tmp_path):
    bpy.ops.mesh.primitive_cube_add(size=16)
    block = bpy.context.object
    block.data.materials.append(bpy.data.materials.new("textures/base/crate"))
    text = written(tmp_path)
    (surface,) = load(text).surfaces
    assert surface.shaders == ["textures/base/crate"]
    assert len(surface.triangles) == 12
    assert np.abs(surface.positions).max() == 8
    a, b, c = surface.positions[0][surface.triangles].transpose(1, 0, 2)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) > 0).all()  # counter-clockwise from outside
