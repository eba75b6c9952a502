"""Further sets of texture coordinates in Blender: shown as UV maps, and written as they are there."""

from functools import partial

import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes
from io_idtech_models.blender.mesh.uv_maps import SETS
from tests import samples_ase, samples_lwo
from tests.blender.case import in_edit_mode
from tests.samples import load, put
from tests.ui import scene
from tests.ui.scene import activate, add_cube, bpy, export_bytes, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
FILES = {"ase": samples_ase.several_sets(), "lwo": samples_lwo.several_sets()}
LONE = {"ase": samples_ase.pyramid(), "lwo": samples_lwo.pyramid()}
MANY = {"ase": samples_ase.many_sets(10), "lwo": samples_lwo.many_sets(10)}
each_format = pytest.mark.parametrize("name", FILES)


def opened(tmp_path, name, data=b""):
    """Import a file, and return its meshes by the names of their objects."""
    blocks = scene.opened(tmp_path / f"a.{name}", data or FILES[name])
    return {title: block.data for title, block in blocks.items()}


def exported(tmp_path, name):
    """Export; return the coordinates of each set by the names of surfaces."""
    return {surface.name: sets_of(surface) for surface in load(export_bytes(tmp_path / f"b.{name}")).surfaces}


def maps_of(mesh):
    """Return the coordinates of each UV map, (C, 2)."""
    return {layer.name: attributes.uvs_of(mesh, layer) for layer in mesh.uv_layers}


def sets_of(surface):
    """Return the coordinates of each set of a surface, (C, 2), the drawn one first."""
    sets = {surface.uv_name: surface.corner_uvs, **surface.further_uvs}
    return {name: corners.reshape(-1, 2) for name, corners in sets.items()}


def set_uvs(mesh, name, values):
    mesh.uv_layers[name].uv.foreach_set("vector", np.ascontiguousarray(values, np.float32).ravel())


@each_format
def test_all_sets_are_uv_maps_and_the_drawn_one_is_rendered(tmp_path, name):
    meshes = opened(tmp_path, name)
    for surface in load(FILES[name]).surfaces:
        mesh, sets = meshes[surface.name], sets_of(surface)
        assert list(maps_of(mesh)) == list(sets) and len(sets) > 1
        assert all(np.array_equal(uvs, sets[layer]) for layer, uvs in maps_of(mesh).items())
        assert [layer.name for layer in mesh.uv_layers if layer.active_render] == [surface.uv_name]
        assert mesh.uv_layers.active.name == surface.uv_name


@each_format
def test_what_blender_shows_of_every_map_is_written(tmp_path, name):
    rng = np.random.default_rng(3)
    for title, mesh in opened(tmp_path, name).items():
        for layer in [layer.name for layer in mesh.uv_layers]:
            values = maps_of(mesh)[layer]
            values[:2] = rng.random((2, 2))
            set_uvs(mesh, layer, values)
        block = bpy.data.objects[title]
        warp = block.modifiers.new("warp", "UV_WARP")
        warp.uv_layer, warp.scale = mesh.uv_layers[-1].name, (2, 0.5)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = {block.name: maps_of(block.evaluated_get(graph).data) for block in bpy.data.objects if block.type == "MESH"}
    assert_same(exported(tmp_path, name), shown)


def assert_same(found, wanted):
    """Assert that the same surfaces have the same sets, in their order."""
    assert {title: list(sets) for title, sets in found.items()} == {title: list(sets) for title, sets in wanted.items()}
    for title, sets in wanted.items():
        for layer, values in sets.items():
            assert np.abs(found[title][layer] - values).max() < 1e-5, (title, layer)


@each_format
def test_maps_are_added_deleted_renamed_and_drawn(tmp_path, name):
    wanted = {}
    for title, mesh in opened(tmp_path, name).items():
        mesh.uv_layers.remove(mesh.uv_layers[1])
        added = mesh.uv_layers.new(name="UVChannel_9").name
        set_uvs(mesh, added, maps_of(mesh)[mesh.uv_layers[0].name] * 3)
        mesh.uv_layers[0].name = "UVChannel_8"
        mesh.uv_layers[added].active_render = True
        others = [layer.name for layer in mesh.uv_layers if layer.name != added]
        wanted[title] = {added: maps_of(mesh)[added]} | {other: maps_of(mesh)[other] for other in others}
    assert_same(exported(tmp_path, name), wanted)


@each_format
@pytest.mark.parametrize("turn", [1, -1])
def test_a_drawn_map_that_is_deleted_of_joined_objects_is_none_of_any(tmp_path, name, turn):
    opened(tmp_path, name)
    blocks = [block for block in bpy.context.scene.objects if block.type == "MESH"][::turn]
    activate(*blocks)
    assert bpy.ops.object.join() == {"FINISHED"}
    mesh = blocks[0].data
    lost = mesh.uv_layers[0].name
    mesh.uv_layers.remove(mesh.uv_layers[0])
    left = {layer.name for layer in mesh.uv_layers}
    for sets in exported(tmp_path, name).values():
        assert set(sets) <= left, lost


@each_format
def test_one_set_is_called_as_before_and_renamed_in_the_file_only_by_hand(tmp_path, name):
    (mesh,) = opened(tmp_path, name, LONE[name]).values()
    assert list(maps_of(mesh)) == ["UVMap"]
    added = mesh.uv_layers.new(name="UVChannel_3").name
    set_uvs(mesh, added, maps_of(mesh)[added] * 2)
    (sets,) = exported(tmp_path, name).values()
    assert list(sets) == [load(LONE[name]).surfaces[0].uv_name, "UVChannel_3"]


@each_format
def test_a_map_that_is_called_as_a_set_that_is_shown_is_another(tmp_path, name):
    data = LONE[name]
    (mesh,) = opened(tmp_path, name, data).values()
    drawn = load(data).surfaces[0].uv_name
    layer = mesh.uv_layers.new(name=drawn)
    set_uvs(mesh, layer.name, maps_of(mesh)[layer.name] + 1)
    ((shown, further),) = (sets.values() for sets in exported(tmp_path, name).values())
    assert np.array_equal(shown, load(data).surfaces[0].corner_uvs.reshape(-1, 2))
    assert np.abs(further - shown - 1).max() < 1e-5
    layer.active_render = True
    ((shown, further),) = (sets.values() for sets in exported(tmp_path, name).values())
    assert np.abs(further - shown + 1).max() < 1e-5


@each_format
def test_a_blend_of_before_keeps_the_sets_that_it_does_not_show(tmp_path, name):
    for mesh in opened(tmp_path, name).values():
        del mesh[SETS]
        while len(mesh.uv_layers) > 1:
            mesh.uv_layers.remove(mesh.uv_layers[1])
        mesh.uv_layers[0].name = "UVMap"
    assert export_bytes(tmp_path / f"b.{name}") == FILES[name]


@each_format
def test_more_sets_than_blender_has_room_for_come_back(tmp_path, name, capfd):
    data = MANY[name]
    (mesh,) = opened(tmp_path, name, data).values()
    assert len(mesh.uv_layers) == 8
    said = "has more sets of texture coordinates than Blender's 8: kept, but not shown: "
    assert said + "'UVChannel_8', 'UVChannel_9'" in capfd.readouterr().out
    assert export_bytes(tmp_path / f"b.{name}") == data
    mesh.uv_layers.remove(mesh.uv_layers[7])
    (surface,) = load(export_bytes(tmp_path / f"b.{name}")).surfaces
    assert [n for n in load(data).surfaces[0].further_uvs if n not in surface.further_uvs] == ["UVChannel_7"]


@each_format
def test_new_meshes_have_theirs(tmp_path, name):
    cube = add_cube()
    cube.data.materials.append(bpy.data.materials.new("textures/x"))
    cube.data.uv_layers.new(name="UVChannel_4")
    cube.scale = (1, -1, 1)
    rng = np.random.default_rng(1)
    set_uvs(cube.data, "UVChannel_4", rng.random((24, 2)))
    data = export_bytes(tmp_path / f"b.{name}")
    bpy.ops.wm.read_homefile(use_empty=True)
    (mesh,) = opened(tmp_path, name, data).values()
    assert list(maps_of(mesh))[1:] == ["UVChannel_4"]
    places = [attributes.positions(each)[attributes.corner_points(each)] for each in (mesh, add_cube("other").data)]
    uvs = maps_of(mesh)["UVChannel_4"], np.random.default_rng(1).random((24, 2))
    found, wanted = (np.concatenate(pair, axis=1) for pair in zip(places, uvs, strict=True))
    far = np.abs(found[:, None] - (wanted * (1, -1, 1, 1, 1))[None]).max(axis=2)
    assert far.min(axis=0).max() < 1e-5 and far.min(axis=1).max() < 1e-5


@each_format
def test_quads_lose_nothing_but_their_own_corners(tmp_path, name):
    meshes = opened(tmp_path, name)
    for title in meshes:
        quads = partial(bpy.ops.mesh.tris_convert_to_quads, face_threshold=3.2, shape_threshold=3.2)
        in_edit_mode(bpy.data.objects[title], quads)
    assert any(len(mesh.loops) < 3 * 6 for mesh in meshes.values())
    again = {surface.name: surface for surface in load(export_bytes(tmp_path / f"b.{name}")).surfaces}
    for surface in load(FILES[name]).surfaces:
        for layer, corners in surface.further_uvs.items():
            found = again[surface.name].further_uvs[layer]
            assert {c.tobytes() for c in np.sort(corners, axis=1)} == {c.tobytes() for c in np.sort(found, axis=1)}


@each_format
def test_a_format_with_one_set_names_the_others(tmp_path, name, capfd):
    opened(tmp_path, name)
    capfd.readouterr()
    bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3"))
    first = next(iter(load(FILES[name]).surfaces[0].further_uvs))
    assert f"more than a file holds, left out: UV map '{first}'" in capfd.readouterr().out


def test_a_copy_that_differs_in_one_corner_of_a_surface_of_few_rows_is_another_set(tmp_path):
    """It says what is drawn at more corners than the drawn one, whose points without a row are at 0."""
    import_model(put(tmp_path / "a.lwo", samples_lwo.several()))
    layer = bpy.data.objects["right"].data.uv_layers.new(name="light")
    layer.uv[2].vector.y += 0.6
    export_bytes(tmp_path / "b.lwo")
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(tmp_path / "b.lwo")
    assert [each.name for each in bpy.data.objects["right"].data.uv_layers] == ["UV", "light"]


@pytest.mark.parametrize("edit", ["UV renamed", "Light renamed", "Light gone", "Detail gone"])
def test_a_set_that_one_surface_has_no_more_does_not_come_back_by_points_that_another_shares(tmp_path, edit, capfd):
    import_model(put(tmp_path / "a.lwo", FILES["lwo"]))
    name, how = edit.split()
    layers = bpy.data.objects["textures/wood"].data.uv_layers
    if how == "renamed":
        layers[name].name = "new"
    else:
        layers.remove(layers[name])
    shown = maps("textures/wood"), maps("textures/stone")
    export_bytes(tmp_path / "b.lwo")
    assert "Warning: b.lwo" not in capfd.readouterr().out
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(tmp_path / "b.lwo")
    assert (maps("textures/wood"), maps("textures/stone")) == shown


def maps(name):
    """Return the texture coordinates of an object's UV maps, by the maps' names."""
    return {title: uvs.tolist() for title, uvs in maps_of(bpy.data.objects[name].data).items()}
