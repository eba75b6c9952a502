"""How an MDL looks in Blender, and what edits of it change; what all formats have in common is in test_round_trip."""

import re
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.properties import TIMES
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.shading.images import image_of
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.shading.pixels import pixels_of
from io_idtech_models.blender.vertex import edit_frames
from io_idtech_models.blender.vertex.build import BuildSettings, build
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.model.pictures import quake_palette
from tests import samples_mdl
from tests.blender.case import CONTEXT, activate, edited, open_case, reopen, show_image
from tests.samples import SENTINEL, corpus, sample
from tests.ui.scene import add_cube

pytestmark = pytest.mark.usefixtures("empty_scene")


def opened(name, **settings):
    return open_case(sample(name, "mdl"), **settings)


def real(name):
    found = next((file for file in corpus(".mdl") if file.path.name == name), None)
    if found is None:
        pytest.skip("the corpus of real files is not here")
    return open_case(found.data, name.removesuffix(".mdl"))


def image(case, slot=0):
    return image_of(case.surface().data.materials[slot])


def shown(block):
    pixels = pixels_of(block)
    assert pixels is not None
    return pixels[::-1, :, :3]


def paint(block, row, column, color):
    """Set a pixel of an image, counted from the top."""
    pixels = np.empty(4 * block.size[0] * block.size[1], np.float32)
    block.pixels.foreach_get(pixels)
    pixels.reshape(block.size[1], block.size[0], 4)[::-1][row, column, :3] = np.array(color) / 255
    block.pixels.foreach_set(pixels)
    block.update()
    block.pack()  # else it is lost where the .blend is saved


# -- what is there


@pytest.mark.parametrize("data", [False, True])
def test_linear_pixels_are_written_as_screens_show_them(data):
    """By the formula of IEC 61966-2-1; what is no colour stays as it is."""
    image: Any = bpy.data.images.new("bake", 16, 16, float_buffer=True)
    image.colorspace_settings.is_data = data
    linear = np.linspace(0.0, 1.0, 256, dtype=np.float32)
    image.pixels.foreach_set(np.repeat(linear, 4))
    found = pixels_of(image)
    assert found is not None
    shown = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    wanted = np.round(255 * (linear if data else shown))
    assert np.abs(found[..., 0].ravel() - wanted).max() <= 1
    assert np.mean(found[..., 0].ravel() == wanted) > 0.98
    assert np.abs(found[..., 3].ravel() - np.round(255 * linear)).max() <= 1, "alpha is linear"


def test_every_skin_is_a_material_with_its_picture_and_the_headers_numbers_are_properties():
    case = opened("animated")
    found = {name: case.collection[f"idtech_game_{name}"] for name in ("flags", "sync_type", "bounding_radius", "size")}
    assert found == {"flags": 8, "sync_type": 1, "bounding_radius": 81.5, "size": 7.625}
    assert list(case.collection["idtech_game_eye_position"]) == [1.25, -2.5, 22.75]
    materials = case.surface().data.materials
    assert [material.name for material in materials] == ["model_0", "model_1"]
    for slot, numbers in enumerate(case.before.pictures):
        assert image(case, slot).packed_file is not None
        assert (shown(image(case, slot)) == quake_palette()[numbers]).all()
    faces = np.empty(len(case.surface().data.polygons), np.int32)
    case.surface().data.polygons.foreach_get("material_index", faces)
    assert not faces.any()


def test_holes_that_are_painted_into_a_skin_are_there_when_the_blend_is_opened():
    case = opened("animated")
    case.collection["idtech_game_flags"] = 0x4000
    painted = image(case, 0)
    pixels = np.empty((painted.size[1], painted.size[0], 4), np.float32)
    painted.pixels.foreach_get(pixels.ravel())
    pixels[0, :2, 3] = 0.0
    painted.pixels.foreach_set(pixels.ravel())
    painted.update()
    painted.pack()
    before = case.dump()
    assert np.count_nonzero(mdl.read(before).pictures[0][-1] == 255) == 2
    reopen(case)
    assert case.dump() == before


def test_a_skin_of_several_pictures_shows_them_in_turn():
    case = opened("groups")
    material = case.surface().data.materials[0]
    turns = [node for node in material.node_tree.nodes if re.match(r"turn \d", node.label)]
    assert sorted(node.label for node in turns) == ["turn 1", "turn 2"]
    assert material[TIMES].to_list()[0] == 0.25
    spec = samples_mdl.groups()
    spec.skins[0].times = [0.25, 0.75]
    case = open_case(spec.pack())
    tree = case.surface().data.materials[0].node_tree
    (curve,) = tree.animation_data.drivers
    CONTEXT.scene.render.fps = 10
    found = []
    for frame in (0, 2, 3, 7, 8):
        CONTEXT.scene.frame_set(frame)
        evaluated = case.surface().data.materials[0].evaluated_get(CONTEXT.evaluated_depsgraph_get()).node_tree
        mix = next(node for node in evaluated.nodes if node.type == "MIX")
        found.append(next(s for s in mix.inputs if s.identifier == "Factor_Float").default_value)
    assert curve.driver.is_valid
    assert found == [0.0, 0.0, 1.0, 1.0, 0.0]


def test_groups_and_animations_are_actions():
    case = opened("groups")
    found = {a.name: a.get(TIMES) for a in bpy.data.actions if not a.get("idtech_whole")}
    assert sorted(found) == ["burn", "burn.001", "glow", "glow.001"]
    assert found["burn.001"].to_list() == pytest.approx([0.1, 0.1])
    assert [curve.data_path for curve in playing_curves(case.surface().data.shape_keys)] == ["eval_time"]


# -- edits


def test_properties_reach_the_file():
    case = opened("animated")
    case.collection["idtech_game_flags"] = 1
    case.collection["idtech_game_eye_position"] = (0.0, 0.5, 1.0)
    reopen(case)
    assert case.changed() == {"flags", "eye_position"}


@pytest.mark.parametrize("value", ["eight", [1, 2], {"a": 1}])
def test_properties_that_can_not_be_are_left(value, caplog):
    case = opened("animated")
    case.collection["idtech_game_flags"] = value
    assert case.changed() == set()
    assert "flags" in caplog.text


def test_moving_a_vertex_in_a_frame_changes_that_and_renaming_a_skin_nothing():
    case = opened("animated")
    case.surface().data.materials[1].name = "red"
    case.surface().name = "thing"
    assert case.changed() == set()
    case.surface().data.shape_keys.key_blocks[1].points[4].co.x += 2.5
    assert "frames[1].xyz[4]" in case.changed()
    assert all(path.startswith("frames[1].") for path in case.changed())


def test_a_painted_pixel_and_nothing_else():
    case = real("h_ogre.mdl")
    paint(image(case, 1), 3, 5, quake_palette()[208])
    reopen(case)
    before, after = case.before.pictures, case.after().pictures
    assert case.changed() == {"pictures[1]"}
    assert np.argwhere(before != after).tolist() == [[1, 3, 5]]
    assert after[1, 3, 5] == 208


def test_a_picture_that_takes_the_place_of_another():
    case = opened("animated")
    made = bpy.data.images.new("new", 32, 16)
    made.generated_color = (1.0, 0.0, 0.0, 1.0)
    next(n for n in case.surface().data.materials[0].node_tree.nodes if n.type == "TEX_IMAGE").image = made
    after = case.after()
    assert after.pictures.shape == (2, 16, 32)
    assert set(after.pictures[0].ravel().tolist()) == {251}
    small = case.after({"skin_width": 16, "skin_height": 8})
    assert (small.pictures[1] == case.before.pictures[1]).all()


def test_skins_are_added_taken_away_and_put_in_another_order():
    case = opened("animated")
    mesh = case.surface().data
    made = bpy.data.materials.new("third")
    show_image(made, image(case))
    mesh.materials.append(made)
    assert len(case.after().skins.kinds) == 3
    mesh.materials.pop(index=2)
    first, second = mesh.materials
    mesh.materials[0], mesh.materials[1] = second, first
    assert case.after().pictures.tolist() == case.before.pictures[::-1].tolist()
    mesh.materials.pop(index=0)
    assert case.after().pictures.tolist() == case.before.pictures[:1].tolist()


def test_a_copy_of_a_skin_is_one_as_soon_as_it_shows_another_picture():
    case = opened("animated")
    mesh = case.surface().data
    made = mesh.materials[0].copy()
    mesh.materials.append(made)
    assert case.dump() == case.data
    show_image(made, image(case, 1).copy())
    assert image_of(made) != image(case)
    assert len(case.after().skins.kinds) == 3


def test_times_may_be_a_text():
    case = opened("animated")
    bpy.data.actions["run"][TIMES] = "0.1, 0.2"
    assert case.after().frames.kinds.tolist() == [0, 0, 0, 1]


def test_a_new_model_has_the_numbers_of_the_collection_that_it_lies_in():
    home = bpy.data.collections.new("rocket")
    CONTEXT.scene.collection.children.link(home)
    home["idtech_game_flags"] = 1
    block = add_cube("rocket")
    home.objects.link(block)
    CONTEXT.scene.collection.objects.unlink(block)
    assert gather([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, GatherSettings())).traits == {
        "flags": 1
    }


def test_a_group_whose_times_are_edited_is_dissolved_and_a_new_one_made():
    case = opened("torch")
    bpy.data.actions["flame"][TIMES] = [0.5, 1.0, 1.5]
    assert case.changed() == {f"groups.time[{i}]" for i in range(3)}
    del bpy.data.actions["flame"][TIMES]
    assert case.after().frames.kinds.tolist() == [0, 0, 0]
    case = opened("animated")
    bpy.data.actions["run"][TIMES] = [0.1, 0.2]
    file = case.after()
    assert (file.frames.kinds.tolist(), file.frames.counts.tolist()) == ([0, 0, 0, 1], [1, 1, 1, 2])
    low, high = file.poses["bounds"][3:, 0].min(axis=0), file.poses["bounds"][3:, 1].max(axis=0)
    assert file.frames.heads.tolist() == [[*low, *high]]


@pytest.mark.parametrize("frames", ["KEYS", "ACTIONS"])
@pytest.mark.parametrize("name", ["groups", "torch"])
def test_groups_come_back_by_keys_and_by_actions(name, frames):
    case = opened(name)
    assert case.after(frames=frames).frames.counts.tolist() == case.before.frames.counts.tolist()


def test_frames_are_inserted_into_a_group_and_deleted():
    case = real("flame2.mdl")
    activate(case.surface())
    model = edit_frames.model_frames([case.surface()], case.collection, CONTEXT.scene)
    edit_frames.insert(model, 3)
    file = case.after()
    assert file.frames.counts.tolist() == [8, 7]
    assert file.frames.times[:8].tolist() == pytest.approx([0.1 * (i + 1) for i in range(8)])
    model = edit_frames.model_frames([case.surface()], case.collection, CONTEXT.scene)
    edit_frames.delete(model, 4)
    assert case.changed() == set()


def test_deleting_a_face_keeps_its_vertices():
    case = real("flag.mdl")
    edited(case.surface(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[7]], context="FACES_ONLY"))
    before, after = case.before, case.after()
    assert after.triangles.tobytes() == np.delete(before.triangles, 7).tobytes()
    assert after.st.tobytes() == before.st.tobytes()
    assert after.vertices.tobytes() == before.vertices.tobytes()


def test_a_texture_coordinate_that_moves_splits_its_vertex():
    case = real("flag.mdl")
    layer = case.surface().data.uv_layers[0].uv
    layer[0].vector = (0.125, 0.5)
    before, after = case.before, case.after()
    assert len(after.st) - len(before.st) in {0, 1}
    assert np.count_nonzero(after.st[: len(before.st)] != before.st) <= 1
    assert after.vertices[:, : len(before.st)].tobytes() == before.vertices.tobytes()


def test_a_new_model_with_and_without_a_picture():
    case = open_case(SENTINEL.read_bytes())
    file = mdl.read(case.dump_as("mdl", {"skin_width": 64, "skin_height": 32}))
    assert file.pictures.shape[1:] == (32, 64)
    assert len(file.poses) == len(case.before.frames)
    for block in case.built.surfaces:
        block.data.materials.clear()
    file = mdl.read(case.dump_as("mdl"))
    assert file.pictures.shape == (1, 256, 256)


def test_a_material_without_a_picture_gives_its_colour():
    case = opened("animated")
    material: Any = bpy.data.materials.new("plain")
    if material.node_tree is None:
        material.use_nodes = True
    surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (1.0, 0.0, 0.0, 1.0)
    case.surface().data.materials[1] = material
    assert set(case.after().pictures[1].ravel().tolist()) == {251}


def test_a_palette_of_a_games_own_travels():
    data = sample("animated", "mdl")
    case = opened("animated")
    assert case.gather().palette is None
    model = case.row.load(data, "other")
    grey = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    model.palette = model.source.facts["palette"] = grey
    scene = CONTEXT.scene
    case.built = build(model, BuildSettings(), Materials(), scene, scene.collection)
    CONTEXT.view_layer.update()
    assert (shown(image(case))[..., 0] == case.before.pictures[0]).all()
    reopen(case)
    assert case.changed() == set()
    paint(image(case), 1, 1, (200, 200, 201))
    assert case.after().pictures[0, 1, 1] == 200
