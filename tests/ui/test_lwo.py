"""LWO in Blender: what comes back byte for byte, and what an edit there changes in the file."""

import struct

import bmesh
import numpy as np
import pytest

from io_idtech_models.blender.mesh.surface_names import LOOKED_UP
from io_idtech_models.formats import ROWS, SKIN_FILES
from io_idtech_models.formats.lwo.file import read
from io_idtech_models.ui import cli
from tests.blender.case import edited
from tests.samples import load
from tests.samples_lwo import pyramid, several, smooth
from tests.ui.scene import bpy, export_bytes, opened

pytestmark = pytest.mark.usefixtures("empty_scene")


def changed(before, after):
    """Return the chunks that differ between files of the same ones."""
    pairs = zip(read(before).chunks, read(after).chunks, strict=True)
    return [a.ident for a, b in pairs if before[a.start : a.end] != after[b.start : b.end]]


def keys_of(mesh):
    return mesh.shape_keys.key_blocks[0].data if mesh.shape_keys else mesh.vertices


def test_a_moved_point_changes_its_floats_and_the_box(tmp_path):
    (block,) = opened(tmp_path / "a.lwo", pyramid()).values()
    keys = keys_of(block.data)
    (tip,) = [point for point in keys if point.co.z == 9.125]
    assert len(keys) == 5
    tip.co.z += 2
    data = export_bytes(tmp_path / "b.lwo")
    assert changed(pyramid(), data) == [b"PNTS", b"BBOX"]
    assert sum(one != other for one, other in zip(pyramid(), data, strict=True)) <= 8
    assert struct.pack(">f", 11.125) in data


def test_a_moved_coordinate_changes_its_row(tmp_path):
    (block,) = opened(tmp_path / "a.lwo", pyramid()).values()
    uvs = block.data.uv_layers[0].uv
    (corner,) = [corner for corner in uvs if tuple(corner.vector) == (2, 3)]
    corner.vector = (5, 3)
    assert changed(pyramid(), export_bytes(tmp_path / "b.lwo")) == [b"VMAD"]


def test_another_material_is_another_surface(tmp_path):
    (block,) = opened(tmp_path / "a.lwo", pyramid()).values()
    block.data.materials[0] = bpy.data.materials.new("textures/other")
    data = export_bytes(tmp_path / "b.lwo")
    assert [surf.name for surf in read(data).surfs] == [b"textures/other"]
    assert load(data).surfaces[0].shaders == ["textures/other"]


def test_parts_of_several_materials_get_names_of_their_own_where_games_look_these_up(tmp_path, capfd):
    """As `convert` calls them. In an LWO they stay alike: names of parts say nothing there of what is worn."""
    opened(tmp_path / "a.lwo", several())
    assert export_bytes(tmp_path / "b.lwo") == several()
    capfd.readouterr()
    found = load(export_bytes(tmp_path / "c.md3"))
    names = [surface.name for surface in found.surfaces]
    assert len(set(names)) == len(names) > len({surface.name for surface in load(several()).surfaces})
    said = "games look up what surfaces wear by names, so no two are called alike: 'left part' is now"
    assert said in capfd.readouterr().out
    cli.main(["convert", str(tmp_path / "a.lwo"), str(tmp_path / "d.md3")])
    assert [surface.name for surface in load((tmp_path / "d.md3").read_bytes()).surfaces] == names
    assert said in capfd.readouterr().out


def test_in_which_files_games_look_up_surfaces_by_their_names():
    suffixes = {suffix for row in ROWS if row.skins == SKIN_FILES for suffix in row.suffixes}
    assert suffixes == {*LOOKED_UP}


def test_an_object_that_is_deleted_leaves_the_others_polygons(tmp_path):
    blocks = opened(tmp_path / "a.lwo", several())
    bpy.data.objects.remove(blocks["right"])
    data = export_bytes(tmp_path / "b.lwo")
    old, new = read(several()), read(data)
    assert len(old.layers[1].points) == len(new.layers[1].points)
    assert new.layers[0].num_polygons == old.layers[0].num_polygons - 1
    assert 5 in new.layers[0].counts


def test_a_deleted_face_leaves_the_other_objects_alone(tmp_path):
    blocks = opened(tmp_path / "a.lwo", several())
    edited(blocks["textures/wood"], lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES_ONLY"))
    data = export_bytes(tmp_path / "b.lwo")
    assert 4 in read(data).layers[0].counts and 5 not in read(data).layers[0].counts
    found, before = (sum(len(surface.triangles) for surface in load(file).surfaces) for file in (data, several()))
    assert found == before - 1


def test_sharp_edges_are_hard_in_the_file(tmp_path):
    (block,) = opened(tmp_path / "a.lwo", smooth()).values()
    mesh = block.data
    mesh.normals_split_custom_set([tuple(mesh.polygons[loop // 3].normal) for loop in range(len(mesh.loops))])
    (surface,) = load(export_bytes(tmp_path / "b.lwo")).surfaces
    a, b, c = surface.positions[0][surface.triangles].transpose(1, 0, 2)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1)[:, None]
    assert np.abs(surface.normals[0][surface.triangles] - flat[:, None]).max() < 1e-4


def test_colors_of_vertices_are_shown_and_painted(tmp_path):
    (block,) = opened(tmp_path / "a.lwo", smooth()).values()
    layer = block.data.color_attributes[block.data.color_attributes.render_color_index]
    assert (layer.name, layer.domain, len(layer.data)) == ("Color", "POINT", 6)  # a corner has one of its own
    (tip,) = [nth for nth, point in enumerate(keys_of(block.data)) if point.co.z == 9.125]
    assert tuple(layer.data[tip].color_srgb)[:3] == (0, 0, 1)
    layer.data[tip].color_srgb = (1, 1, 0, 1)
    data = export_bytes(tmp_path / "b.lwo")
    assert changed(smooth(), data) == [b"VMAP"]
    assert struct.pack(">4f", 1, 1, 0, 1) in data


def test_polygons_are_triangulated_if_that_is_asked_for(tmp_path):
    opened(tmp_path / "a.lwo", several())
    assert export_bytes(tmp_path / "b.lwo") == several()
    assert set(read(export_bytes(tmp_path / "b.lwo", triangulate=True)).layers[0].counts.tolist()) == {1, 2, 3}
