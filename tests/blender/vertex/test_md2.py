"""How an MD2 looks in Blender; what all formats have in common is in test_round_trip."""

import bpy
import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.formats.md2 import file as md2
from tests.blender.case import CONTEXT, open_case, positions_at, vertices_of
from tests.samples import corpus, load, sample, sample_params

pytestmark = pytest.mark.usefixtures("empty_scene")
REAL = [pytest.param(file.data, id=file.entry["path"]) for file in corpus(".md2")]


def opened(name, **settings):
    return open_case(sample(name, "md2"), **settings)


@pytest.mark.parametrize("data", [*sample_params(format_name="md2"), *REAL])
def test_one_object_with_exactly_the_files_vertices(data):
    case = open_case(data, "thing")
    file = case.before
    (block,) = case.collection.all_objects
    assert (block.name, block.type, case.collection.name) == ("thing", "MESH", "thing")
    assert len(block.data.vertices) == file.vertices.shape[1]
    solid = [len(set(row)) == 3 for row in file.triangles["xyz"].tolist()]
    assert len(block.data.polygons) == sum(solid), "those that use a vertex twice stay in the source"
    wanted = file.triangles["xyz"][solid][:, ::-1].astype(int)
    assert meshes.corner_points(block.data).reshape(-1, 3).tolist() == wanted.tolist()


def test_frames_are_absolute_keys_with_the_files_names_and_each_animation_an_action_and_a_marker():
    case = opened("animated")
    keys = case.surface().data.shape_keys
    assert not keys.use_relative
    assert [key.name for key in keys.key_blocks] == ["stand01", "stand02", "stand03", "run1", "run2"]
    assert [curve.data_path for curve in playing_curves(keys)] == ["eval_time"]
    assert (CONTEXT.scene.frame_start, CONTEXT.scene.frame_end) == (0, 4)
    assert {"stand", "run"} <= {action.name for action in bpy.data.actions}
    assert [(m.name, m.frame) for m in CONTEXT.scene.timeline_markers] == [("stand", 0), ("run", 3)]
    model = load(sample("animated", "md2"))
    for frame in range(5):
        assert np.array_equal(positions_at(case.surface(), frame), model.surfaces[0].positions[frame])


def test_names_that_keys_can_not_have_come_back_all_the_same():
    case = opened("repeated_names")
    names = [key.name for key in case.surface().data.shape_keys.key_blocks]
    assert len(set(names)) == 5
    assert names[0] == "run1"
    assert case.after().frames["name"].tolist() == case.before.frames["name"].tolist()


def test_texture_coordinates_of_corners():
    case = opened("seams")
    block, file = case.surface(), case.before
    assert (len(block.data.vertices), len(block.data.loops)) == (8, 36)
    uvs = meshes.corner_uvs(block.data)
    assert uvs is not None
    texels = file.st[file.triangles["st"][:, ::-1]].reshape(-1, 2)
    np.testing.assert_allclose(uvs, (texels + 0.5) / (60, 32) * (1, -1) + (0, 1), atol=1e-7)


def test_the_skins_are_materials_in_order():
    case = opened("many_skins")
    slots = [slot.material.name for slot in case.surface().material_slots]
    assert slots == [f"models/many/skin{i % 33}.pcx" for i in range(40)]
    assert all(polygon.material_index == 0 for polygon in case.surface().data.polygons), "it wears the first"
    assert not opened("no_skins").surface().material_slots


def test_vertices_that_no_triangle_uses_are_there():
    block = opened("unused").surface()
    points, _ = vertices_of(block)
    assert sorted(set(range(9)) - set(points.tolist())) == [0, 2, 8]


@pytest.mark.parametrize("name", ["odd_numbers", "no_size", "outside"])
def test_what_is_shown_is_finite(name):
    block = opened(name).surface()
    uvs = meshes.corner_uvs(block.data)
    assert uvs is not None
    assert np.isfinite(uvs).all()
    assert np.isfinite(meshes.positions(block.data)).all()


# -- options


@pytest.mark.parametrize("name", ["animated", "seams", "unused"])
def test_one_box_for_all_frames(name):
    """In which what holds still has one byte in all frames."""
    case = opened(name)
    file = case.after({"same_box": True})
    for field in ("scale", "translate"):
        assert (file.frames[field] == file.frames[field][0]).all()
    found = {path.split(".")[-1].split("[")[0] for path in case.changed({"same_box": True})}
    assert found <= {"scale", "translate", "xyz"}
    for key in case.surface().data.shape_keys.key_blocks:
        key.points[2].co = (1.0, 2.0, 3.0)
        key.points[3].co.x += 60.0
    file = case.after({"same_box": True})
    assert (file.vertices[:, 2, :3] == file.vertices[0, 2, :3]).all()


def test_another_skin_size():
    case = opened("seams")
    file = case.after({"skin_width": 120, "skin_height": 96})
    assert (file.header["skin_width"], file.header["skin_height"]) == (120, 96)
    texels = case.before.st[case.before.triangles["st"]]
    wanted = (texels + 0.5) * (2, 3) - 0.5
    assert (np.abs(file.st[file.triangles["st"]] - wanted) <= 0.5).all()
    assert case.dump({"skin_width": 60, "skin_height": 32}) == case.data


def test_commands_made_anew():
    case = opened("no_commands")
    assert case.changed({"remake_commands": True}) == {"commands"}
    assert len(case.after({"remake_commands": True}).glcmds) == 20, "a strip of six, and the end"
    assert case.dump() == case.data


def test_a_key_keeps_its_frame_when_it_moves_in_the_list():
    case = opened("animated")
    block = case.surface()
    block.active_shape_key_index = 4
    CONTEXT.view_layer.objects.active = block
    bpy.ops.object.shape_key_move(type="UP")
    file = md2.read(case.dump(direct=False))
    order = [0, 1, 2, 4, 3]
    names = case.before.frames["name"][order].tolist()
    assert file.frames["name"].tolist() == names
    assert file.vertices.tobytes() == case.before.vertices[order].tobytes()
