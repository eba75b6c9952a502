"""MD2 by its operators: what an import makes, any mesh written, what games refuse, and the way from and to MD3."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.formats.common.normals import decode_direction
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md2.strips import decode
from tests.blender.case import angle, show_image
from tests.facts import differences
from tests.samples import SENTINEL, load, put, sample, sample_params
from tests.ui.scene import (
    activate,
    add_cube,
    add_mesh,
    add_tag,
    bpy,
    error_of,
    export_bytes,
    export_model,
    export_structs,
    import_model,
    outward,
    png,
    settings,
    volume,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
export: Any = bpy.ops.export_scene.idtech_md2


def scene():
    return bpy.context.scene


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.md2"


# -- import


def test_what_an_import_makes(tmp_path):
    collection = import_model(put(tmp_path / "Walker.md2"))
    assert collection.name == "Walker"
    assert [b.name for b in collection.objects] == ["Walker"]
    assert settings(scene()) == (0, 4, 1, 10, 1.0), "ten frames a second, as Quake II plays them"
    assert bpy.context.view_layer.objects.active == collection.objects[0]
    collection = import_model(put(tmp_path / "models/monsters/grunt/tris.md2"))
    assert (collection.name, collection.objects[0].name) == ("grunt", "grunt"), "called after its folder"


def test_options_of_the_import(tmp_path):
    put(tmp_path / "a.md2")
    scene().render.fps = 30
    import_model(tmp_path / "a.md2", frame_rate=0, fit_range=False)
    assert settings(scene())[1:4] == (250, 1, 30)
    import_model(tmp_path / "a.md2", frame_rate=15, replace_range=True)
    assert settings(scene())[1:4] == (4, 1, 15)
    with pytest.raises(TypeError, match="weld"):
        import_model(tmp_path / "a.md2", weld=True)


def test_skins_show_the_pictures_that_the_game_would(tmp_path, capfd):
    put(tmp_path / "base/models/animated/tris.md2")
    png(tmp_path / "base/models/animated/body.png", (9, 8, 7))
    collection = import_model(tmp_path / "base/models/animated/tris.md2")
    first, second = (slot.material for slot in collection.objects[0].material_slots)
    assert (first.name, second.name) == ("models/animated/body.pcx", "models/animated/other.tga")
    (image,) = [n.image for n in first.node_tree.nodes if n.type == "TEX_IMAGE"]
    assert tuple(image.size) == (4, 4)
    assert "1 texture not found: 'models/animated/other.tga'" in capfd.readouterr().out
    assert export_bytes(tmp_path / "b.md2") == sample("animated", "md2")


def test_a_model_without_a_skin_wears_the_picture_of_its_name(tmp_path):
    put(tmp_path / "gun.md2", "no_skins")
    png(tmp_path / "gun.png")
    block = import_model(tmp_path / "gun.md2").objects[0]
    assert [slot.material.name for slot in block.material_slots] == ["gun"]
    assert export_bytes(tmp_path / "b.md2") == sample("no_skins", "md2")
    block.material_slots[0].material.name = "models/gun/skin.pcx"
    changed = differences(sample("no_skins", "md2"), export_bytes(tmp_path / "b.md2"))
    assert changed == {"skins[0]"}


# -- any mesh


def skin(name, width, height):
    """Return a material that shows a picture of this size."""
    material = bpy.data.materials.new(name)
    show_image(material, bpy.data.images.new(name, width, height))
    return material


def leaf(*coordinates):
    """Return a face of so many corners as there are texture coordinates, (u, v) each."""
    points = [(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)][: len(coordinates)]
    block = add_mesh("leaf", points, [range(len(points))])
    block.data.uv_layers[0].uv.foreach_set("vector", np.array(coordinates, np.float32).ravel())
    return block


def test_a_cube(path):
    add_cube()
    model = export_model(path)
    (surface,) = model.surfaces
    assert (surface.shaders, model.num_frames, model.tags, model.texture_size) == ([], 1, [], (256, 256))
    assert (surface.num_vertices, len(surface.triangles)) == (8, 12)
    assert volume(surface) == pytest.approx(16**3)
    assert outward(surface)
    file = md2.read(path.read_bytes())
    assert file.frames["translate"].tolist() == [[-8, -8, -8]]
    assert {tuple(v) for v in file.vertices[0, :, :3].tolist()} == set(product((0, 255), repeat=3))
    assert len(decode(file.glcmds, 8).triangles()) == 12


def test_the_picture_gives_the_skin_its_size_and_texels(path):
    block = leaf((0.5 / 80, 0.5 / 40), (79.5 / 80, 0.5 / 40), (79.5 / 80, 39.5 / 40), (10.4 / 80, 0.75))
    block.data.materials.append(skin("models/leaf/skin.pcx", 80, 40))
    file = export_structs(path)
    assert (file.header["skin_width"], file.header["skin_height"]) == (80, 40)
    assert {tuple(t) for t in file.st.tolist()} == {(0, 39), (79, 39), (79, 0), (10, 10)}
    assert file.skins.tolist() == [b"models/leaf/skin.pcx"]
    shown = (decode(file.glcmds, 4).coords * (80, 40)).round(4)
    assert {tuple(c) for c in shown.tolist()} == {(s + 0.5, t + 0.5) for s, t in file.st.tolist()}
    file = export_structs(path, skin_width=160)
    assert (file.header["skin_width"], file.header["skin_height"]) == (160, 40)


def test_two_objects_are_one_mesh_and_so_are_two_materials_of_one(path):
    first, second = add_cube("body"), add_cube("head")
    second.location.z = 40
    first.data.materials.append(skin("models/two/body.pcx", 64, 32))
    second.data.materials.append(skin("models/two/head.pcx", 200, 100))
    activate(first, second)
    model = export_model(path)
    (surface,) = model.surfaces
    assert (surface.num_vertices, len(surface.triangles)) == (16, 24)
    assert surface.shaders == ["models/two/body.pcx", "models/two/head.pcx"]
    assert model.texture_size == (64, 32), "of the first picture"
    assert volume(surface) == pytest.approx(2 * 16**3, rel=1e-2)
    low, high = surface.positions[0].min(axis=0), surface.positions[0].max(axis=0)
    assert (low.tolist(), high.tolist()) == ([-8, -8, -8], [8, 8, pytest.approx(48)])
    activate(first)
    first.data.materials.append(bpy.data.materials["models/two/head.pcx"])
    first.data.polygons[2].material_index = 1
    (surface,) = export_model(path, what="SELECTION").surfaces
    assert (surface.num_vertices, surface.shaders) == (8, ["models/two/body.pcx", "models/two/head.pcx"])


@pytest.mark.parametrize("smooth", [True, False], ids=["smooth", "flat"])
@pytest.mark.parametrize("normals", ["SOURCE", "SHOWN", "SMOOTH"])
def test_normals_of_points_are_the_mean_of_their_corners_and_say_so(path, smooth, normals, capfd):
    block = add_cube()
    block.data.polygons.foreach_set("use_smooth", np.full(6, smooth))
    file = export_structs(path, normals=normals)
    points = file.vertices[0, :, :3] / 127.5 - 1
    closeness = np.einsum("vi,vi->v", points, decode_direction(file.vertices[0, :, 3])) / np.sqrt(3)
    # "Smooth" weighs by area, of triangles: a quad's diagonal counts.
    assert closeness.min() > (0.93 if normals == "SMOOTH" else 0.982), "the closest of the 162"
    said = "hard edges will be smooth in the game at 8 vertices" in capfd.readouterr().out
    assert said == (not smooth and normals != "SMOOTH"), "unless that was asked for"


def test_a_sharp_edge_bends_the_normals_of_its_ends(path, capfd):
    points = [(0, 0, 0), (20, 0, 0), (20, 20, 0), (0, 20, 0), (0, 0, 20), (0, 20, 20)]
    block = add_mesh("fold", points, [(0, 1, 2, 3), (0, 3, 5, 4)])
    block.data.polygons.foreach_set("use_smooth", np.ones(2, bool))
    soft = export_structs(path).vertices[0, :, 3]
    for edge in block.data.edges:
        edge.use_edge_sharp = set(edge.vertices) == {0, 3}
    sharp = export_structs(path).vertices[0, :, 3]
    assert sharp.tolist() == soft.tolist(), "a point has one normal: between those of its faces, sharp or not"
    assert "at 2 vertices" in capfd.readouterr().out
    up, side = (int(code) for code in sharp[[1, 4]])
    assert decode_direction(np.array([up, side], np.uint8)).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert up not in sharp[[0, 3]] and side not in sharp[[0, 3]]


def test_animation_of_ones_own(path):
    block = add_cube()
    for frame, x in ((0, 0.0), (4, 64.0)):
        block.location.x = x
        block.keyframe_insert("location", frame=frame)
    scene().frame_start, scene().frame_end = 0, 4
    model = export_model(path)
    assert model.num_frames == 5
    starts = model.surfaces[0].positions[:, :, 0].min(axis=1)
    assert (starts[0], starts[-1]) == (-8, 56)
    same = export_structs(path, same_box=True)
    assert (same.frames["scale"] == same.frames["scale"][0]).all()
    assert same.vertices[0, :, 1:3].tolist() == same.vertices[3, :, 1:3].tolist()


def test_an_empty_mesh_is_refused(path):
    put(path, b"old")
    add_tag("tag_weapon")
    assert error_of(export, filepath=str(path), what="SCENE").startswith("out.md2: nothing to export")
    assert path.read_bytes() == b"old"


def test_a_far_texture_coordinate_is_refused(path):
    leaf((0, 0), (1, 0), (300.0, 1.0))
    text = error_of(export, filepath=str(path))
    assert text == "out.md2: 'leaf' has the texture coordinate (300, 1): MD2 holds texels -32768 to 32767"
    assert not path.exists()


# -- what games refuse


def many_skins(block):
    for i in range(33):
        block.data.materials.append(bpy.data.materials.new(f"models/many/{i}.pcx"))


def long_path(block):
    material = bpy.data.materials.new("models/long")
    names.remember(material, "models/" + "x" * 57)  # longer than Blender's own names may be
    block.data.materials.append(material)


LONG = f"'cube' has the skin 'models/{'x' * 57}', a name of 64 bytes, Quake II takes 63: rename it"
LIMITS = [(many_skins, "q2pro", "'cube' has 33 skins, Q2PRO takes 32"), (long_path, "quake2", LONG)]


@pytest.mark.parametrize(("change", "game", "sentence"), LIMITS)
def test_what_a_game_refuses_is_not_written(path, change, game, sentence):
    change(add_cube())
    put(path, b"old")
    assert error_of(export, filepath=str(path), game=game) == f"out.md2: {sentence}"
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == ["out.md2"]


def test_the_skin_height_of_an_option_counts(path):
    add_cube()
    assert "481 texels high" in error_of(export, filepath=str(path), game="quake2", skin_height=481)
    assert export(filepath=str(path), game="quake2", skin_height=480) == {"FINISHED"}


# -- from and to MD3


def corners_of(model):
    """Return the positions of all triangles' corners, (F, T, 3, 3), and their texture coordinates, (T, 3, 2)."""
    places = [surface.positions[:, surface.triangles] for surface in model.surfaces]
    return np.concatenate(places, axis=1), np.concatenate([surface.corner_uvs for surface in model.surfaces])


def steps(model):
    """Return how far a position may be from where it was, (F, 1, 1, 3): half a step of either format."""
    scale = np.abs(model.source.surfaces[0].scale) if model.source.format == "md2" else np.full((1, 3), 1 / 64)
    return scale[:, None, None] / 2


def same_triangles(one, other, off):
    """Assert that two models show the same triangles in the same order, within what their formats round."""
    for a, b, most in zip(corners_of(one), corners_of(other), off, strict=True):
        assert a.shape == b.shape
        assert (np.abs(a - b) <= most).all()


@pytest.mark.parametrize("data", sample_params("animated", "seams", format_name="md2"))
def test_an_md2_import_exported_as_md3(tmp_path, data):
    before = load(data)
    import_model(put(tmp_path / "a.md2", data))
    after = export_model(tmp_path / "b.md3")
    assert after.source.format == "md3"
    assert after.frame_names == before.frame_names
    assert after.surfaces[0].shaders == before.surfaces[0].shaders
    assert len(after.surfaces) == 1
    same_triangles(after, before, (steps(after) + 1e-4, 1e-5))
    shown = [s.normals[:, s.triangles] for s in (after.surfaces[0], before.surfaces[0])]
    assert angle(*shown).max() <= 1.01, "the file's own, in each frame"


def test_an_md3_import_exported_as_md2_and_back(tmp_path, capfd):
    before = load(SENTINEL.read_bytes())
    import_model(put(tmp_path / "a.md3", SENTINEL.read_bytes()))
    capfd.readouterr()
    middle = export_model(tmp_path / "b.md2")
    said = capfd.readouterr().out
    assert "MD2 holds no tags, left out: 'tag_weapon', 'tag_eye', 'tag_jet'" in said
    assert "2 surfaces become one" in said
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_model(tmp_path / "b.md2")
    after = export_model(tmp_path / "c.md3")
    assert after.frame_names == before.frame_names
    assert after.tags == []
    assert [s.shaders for s in after.surfaces] == [["models/sentinel/hull.tga", "models/sentinel/glow.png"]]
    same_triangles(after, before, (steps(middle) + 1 / 128 + 1e-4, 0.51 / 256 + 1e-5))


def test_an_edited_import_is_converted_as_it_is_shown(tmp_path):
    block = import_model(put(tmp_path / "a.md2", "seams")).objects[0]
    block.data.shape_keys.key_blocks[1].points[6].co = (20.0, 20.0, 20.0)
    block.scale = (-1, 1, 1)
    (surface,) = export_model(tmp_path / "b.md3").surfaces
    assert surface.positions[1].min(axis=0)[0] == -20
    assert volume(surface, 1) > 0
    assert outward(surface, 0)


@pytest.mark.parametrize("suffix", ["md2", "mdl"])
def test_hard_edges_of_a_model_of_another_format_are_said(tmp_path, suffix, capfd):
    """Several vertices of its file are one point, and one vertex of this."""
    import_model(SENTINEL)
    export_bytes(tmp_path / f"a.{suffix}")
    assert "'hull': hard edges will be smooth in the game at" in capfd.readouterr().out
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_model(tmp_path / f"a.{suffix}")
    capfd.readouterr()
    export_bytes(tmp_path / f"b.{suffix}")
    assert "hard edges" not in capfd.readouterr().out
