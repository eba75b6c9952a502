"""Static models in Blender, ASE and LWO alike: what comes back letter by letter, and what a new mesh becomes."""

import numpy as np
import pytest

from io_idtech_models.formats.lwo.file import read
from tests import samples_ase, samples_lwo
from tests.blender.case import in_edit_mode
from tests.samples import SENTINEL, load
from tests.ui.scene import bpy, export_bytes, export_model, import_frames, opened

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


def column():
    """Add a closed column of five sides, whose caps are fans with one texture coordinate, as of a palette."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=5, radius=8, depth=24, end_fill_type="TRIFAN")
    block = bpy.context.object
    uvs = block.data.uv_layers[0].data
    for face in block.data.polygons:
        for corner in face.loop_indices if abs(face.normal.z) > 0.5 else ():
            uvs[corner].uv = 0.5, 0.5
    in_edit_mode(block, bpy.ops.mesh.quads_convert_to_tris)


def areas(a, b, c):
    return np.sort(np.linalg.norm(np.cross(b - a, c - a), axis=1))


@each_format
@pytest.mark.parametrize("way", ["poke", "two cuts", "three cuts"])
def test_points_in_the_middle_of_faces_of_one_colour_are_no_corners_of_the_file(tmp_path, name, way):
    """Blender gives them the numbers of corners, and of such faces the texture coordinates don't tell them apart."""
    column()
    data = export_bytes(tmp_path / f"a.{name}")
    bpy.ops.wm.read_homefile(use_empty=True)
    (block,) = opened(tmp_path / f"b.{name}", data).values()
    steps = {"two cuts": 2, "three cuts": 3}
    in_edit_mode(block, lambda: bpy.ops.mesh.subdivide(number_cuts=steps[way]) if way in steps else bpy.ops.mesh.poke())
    (surface,) = load(export_bytes(tmp_path / f"c.{name}")).surfaces
    block.data.calc_loop_triangles()
    shown = np.array([[block.data.vertices[at].co for at in each.vertices] for each in block.data.loop_triangles])
    written = surface.positions[0][surface.triangles]
    assert len(written) == len(shown)
    assert np.allclose(areas(*written.transpose(1, 0, 2)), areas(*shown.transpose(1, 0, 2)), atol=1e-2)


@pytest.mark.parametrize("name", FORMATS)
def test_the_frames_behind_the_first_may_have_other_faces(tmp_path, name):
    """Nobody writes them, and a modifier makes others of each."""
    mesh = import_frames(SENTINEL)
    mesh.modifiers.new("fewer", "DECIMATE").ratio = 0.5
    bpy.context.scene.frame_set(3)
    export_bytes(tmp_path / f"now.{name}", frames="CURRENT")
    bpy.context.scene.frame_set(0)
    first = export_model(tmp_path / f"first.{name}", frames="CURRENT")
    found = export_model(tmp_path / f"all.{name}")
    assert [surface.triangles.tolist() for surface in found.surfaces] == [s.triangles.tolist() for s in first.surfaces]
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(found.surfaces, first.surfaces, strict=True))
    assert (tmp_path / f"now.{name}").read_bytes() != (tmp_path / f"first.{name}").read_bytes()


def test_a_new_lwo_has_its_chunks_in_lightwaves_order(tmp_path):
    crate()
    found = read(export_bytes(tmp_path / "b.lwo"))
    names = [each.ident for each in found.chunks]
    assert names == [b"TAGS", b"LAYR", b"PNTS", b"BBOX", b"VMAP", b"POLS", b"PTAG", b"PTAG", b"SURF"]
    assert len(found.layers[0].points) == 24


@each_format
@pytest.mark.parametrize("joined", [False, True])
def test_models_of_several_files_are_written_whole(tmp_path, name, joined, capfd):
    """The first one's file stays, and others' surfaces come behind: numbers in their files say nothing there."""
    data = {"ase": samples_ase, "lwo": samples_lwo}[name].several_sets()
    first = list(opened(tmp_path / f"a.{name}", data).values())
    second = [block for block in opened(tmp_path / f"b.{name}", data).values() if block not in first]
    for block in second:
        block.location.x += 1000.0
    bpy.context.view_layer.update()
    wanted = sum(len(mesh.triangles) for mesh in load(data).surfaces)
    if joined:
        for block in bpy.data.objects:
            block.select_set(block in (first[0], second[0]))
        bpy.context.view_layer.objects.active = first[0]
        assert bpy.ops.object.join() == {"FINISHED"}
    capfd.readouterr()
    found = load(export_bytes(tmp_path / f"c.{name}", what="SCENE"))
    said = capfd.readouterr().out
    assert "damaged" not in said
    assert ("surfaces of other files are written anew" in said) == (not joined or len(second) > 1)
    assert sum(len(surface.triangles) for surface in found.surfaces) == 2 * wanted
    lengths = [np.linalg.norm(surface.positions[0], axis=1) for surface in found.surfaces]
    far = [bool((own > 900).all()) for own in lengths if len(own)]
    assert joined or sum(far) == len(second)
    before, after = load(data).surfaces[0], found.surfaces[0]
    assert joined or np.array_equal(before.positions, after.positions)
    assert joined or all(np.array_equal(after.further_uvs[k], own) for k, own in before.further_uvs.items())


@each_format
def test_what_a_bare_mesh_gets_by_joining_is_written(tmp_path, name, capfd):
    """Colours and UV maps of what was joined onto it: Blender leaves them without the mark of what is rendered."""
    bare, painted = crate(), crate()
    painted.data.materials[0] = bare.data.materials[0]
    bare.data.uv_layers.remove(bare.data.uv_layers[0])
    for color in painted.data.color_attributes.new("Paint", "BYTE_COLOR", "POINT").data:
        color.color_srgb = (1, 0, 0, 1)
    for block in (bare, painted):
        block.select_set(True)
    bpy.context.view_layer.objects.active = bare
    assert bpy.ops.object.join() == {"FINISHED"}
    (surface,) = load(export_bytes(tmp_path / f"b.{name}", what="SCENE")).surfaces
    said = capfd.readouterr().out
    assert "has no UV map" not in said and "'Paint'" not in said
    assert surface.colors is not None and surface.colors[:, 0].max() > 0.99
    assert np.ptp(surface.corner_uvs.reshape(-1, 2), axis=0).max() > 0.5
