"""F1 and F3: a model that goes through Blender unedited comes back as it was, and looks there as the game shows it."""

from typing import Any

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

from io_idtech_models.blender import mesh as meshes
from io_idtech_models.blender.compat import HAS_SLOTS, playing_curves
from io_idtech_models.blender.source import RECORD
from tests.blender.md3_case import CONTEXT, Case, angle, open_case, reopen
from tests.samples import SAMPLES, SENTINEL, corpus, corpus_params

pytestmark = pytest.mark.usefixtures("empty_scene")
OWN = [pytest.param(data, id=name) for name, data in SAMPLES["md3"].items()]
OWN.append(pytest.param(SENTINEL.read_bytes(), id="sentinel"))


def positions_at(block: Any, frame: int) -> NDArray[Any]:
    CONTEXT.scene.frame_set(frame)
    evaluated = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return meshes.positions(evaluated.data)


def vertices_of(block: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each corner its point and its vertex in the file's surface."""
    numbers = meshes.get_attribute(block.data, meshes.CORNER_SOURCE, "INT", "CORNER")
    assert numbers is not None
    return meshes.corner_points(block.data), numbers - 1


@pytest.mark.parametrize("weld", [True, False], ids=["weld", "apart"])
@pytest.mark.parametrize("data", OWN)
def test_own_samples_come_back_byte_for_byte(data, weld):
    case = open_case(data, weld=weld)
    assert case.dump() == data
    assert case.dump(direct=False) == data
    reopen(case)
    assert case.dump() == data


@pytest.mark.parametrize("weld", [True, False], ids=["weld", "apart"])
@pytest.mark.parametrize("file", corpus_params())
def test_real_files_come_back_byte_for_byte(file, weld):
    case = open_case(file.data, weld=weld)
    reopen(case)
    assert case.dump() == file.data
    assert case.dump(direct=False) == file.data


@pytest.mark.parametrize(
    "file", [c for c in corpus() if c.path.name in ("glasses.md3", "head.md3", "v_knife_hand.md3")]
)
def test_relative_keys_come_back_byte_for_byte(file):
    case = open_case(file.data, relative_keys=True)
    assert case.dump() == file.data


@pytest.mark.parametrize("file", [c for c in corpus() if c.expected()], ids=lambda c: c.path.name)
def test_scene_shows_what_the_engine_computes(file):
    case = open_case(file.data)
    base = 0
    for index, block in enumerate(case.built.surfaces):
        points, numbers = vertices_of(block)
        for name, wanted in file.expected().items():
            frame, surface, what = name.split(".")
            if surface == f"surface{index}" and what == "positions" and len(points):
                shown = positions_at(block, int(frame.removeprefix("frame")))
                assert np.array_equal(shown[points], wanted[numbers - base])
        base += case.before.surfaces[index].vertices.shape[1]


@pytest.mark.parametrize("file", [c for c in corpus() if c.expected()], ids=lambda c: c.path.name)
def test_base_normals_are_the_files(file):
    case = open_case(file.data)
    base, expected = 0, file.expected()
    for index, block in enumerate(case.built.surfaces):
        points, numbers = vertices_of(block)
        count = case.before.surfaces[index].vertices.shape[1]
        if len(points):
            corners = points.reshape(-1, 3)
            solid = np.linalg.norm(normals_of_faces(meshes.positions(block.data), corners), axis=1) > 1e-9
            off = angle(meshes.corner_normals(block.data), expected[f"frame0.surface{index}.normals"][numbers - base])
            assert off[np.repeat(solid, 3)].max(initial=0.0) < 0.5
        base += count


def normals_of_faces(points: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
    a, b, c = (points[corners[:, i]] for i in range(3))
    return np.asarray(np.cross(b - a, c - a))


def test_scene_frame_is_file_frame():
    case = open_case(SENTINEL.read_bytes())
    scene = CONTEXT.scene
    assert (scene.frame_start, scene.frame_end) == (0, len(case.before.frames) - 1)
    for surface, block in zip(case.before.surfaces, case.built.surfaces, strict=True):
        points, numbers = vertices_of(block)
        numbers = numbers - numbers.min()
        for frame in (0, 5, len(case.before.frames) - 1):
            wanted = surface.vertices["xyz"][frame].astype(np.float32) / 64
            assert np.array_equal(positions_at(block, frame)[points], wanted[numbers])
    for index, tag in enumerate(case.built.tags):
        CONTEXT.scene.frame_set(7)
        shown = np.array(tag.matrix_world, np.float32)
        assert np.array_equal(shown[:3, 3], case.before.tags["origin"][7, index])
        assert np.allclose(shown[:3, :3].T, case.before.tags["axis"][7, index], atol=1e-5)


def test_one_action_plays_the_model():
    case = open_case(SENTINEL.read_bytes())
    keys = [block.data.shape_keys for block in case.built.surfaces]
    actions = {key.animation_data.action for key in keys}
    assert len(actions) == 1
    assert [curve.data_path for curve in playing_curves(keys[1])] == ["eval_time"]
    if HAS_SLOTS:
        assert {tag.animation_data.action for tag in case.built.tags} == actions
        assert len(bpy.data.actions) == 1


def test_objects_are_named_after_surfaces_and_share_materials():
    case = open_case(SENTINEL.read_bytes())
    names = [s.header["name"].decode() for s in case.before.surfaces]
    assert [block.name for block in case.built.surfaces] == names
    assert [tag.name for tag in case.built.tags] == [n.decode() for n in case.before.tags[0]["name"]]
    assert all(tag.empty_display_type == "ARROWS" for tag in case.built.tags)
    shaders = {e.decode() for s in case.before.surfaces for e in s.shaders["name"]}
    assert {m.name for m in bpy.data.materials if m.users} == shaders


def test_weld_makes_a_cube_of_eight_points_and_export_splits_it():
    data = SAMPLES["md3"]["seamed_cube"]
    assert len(open_case(data).surface(0).data.vertices) == 8
    assert len(open_case(data, weld=False).surface(0).data.vertices) == 24


def test_second_import_of_the_same_file_exports_the_same():
    first, second = (open_case(SENTINEL.read_bytes()) for _ in range(2))
    assert first.surface(0).name != second.surface(0).name
    assert first.dump() == second.dump() == first.data


def test_undo_and_redo_keep_the_facts():
    bpy.ops.ed.undo_push(message="before")
    case = open_case(SENTINEL.read_bytes())
    bpy.ops.ed.undo_push(message="import")
    case.surface(0).location.x = 10.0
    bpy.ops.ed.undo_push(message="move")
    bpy.ops.ed.undo()
    case.built.collection = bpy.data.collections["model"]
    assert case.dump() == case.data


def test_scaled_import_comes_back():
    case = open_case(SENTINEL.read_bytes(), scale=0.0254)
    assert case.dump(scale=0.0254) == case.data


@pytest.mark.parametrize("damage", [b"", b"IDTR", b"IDTR\x01\x00\xff\xff", b"nonsense" * 9])
def test_damaged_record_is_dropped_with_a_warning(damage, caplog):
    case = open_case(SENTINEL.read_bytes())
    case.collection[RECORD] = damage
    for block in case.built.surfaces:
        block.data[RECORD] = damage
    after = case.after()
    assert "is ignored" in caplog.text
    assert len(after.surfaces) == len(case.before.surfaces)
    assert len(after.frames) == len(case.before.frames)


def test_lone_surface_keeps_its_codes():
    case = open_case(SENTINEL.read_bytes())
    before = case.before
    del case.collection[RECORD]
    after = case.after()
    for s, t in zip(before.surfaces, after.surfaces, strict=True):
        assert np.array_equal(s.vertices, t.vertices)
        assert np.array_equal(s.st, t.st)
        assert np.array_equal(s.triangles, t.triangles)


def import_counts() -> dict[str, int]:
    kinds = ("objects", "meshes", "materials", "actions", "collections", "images", "shape_keys")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def test_failed_build_leaves_nothing_behind(monkeypatch):
    from io_idtech_models.blender import vertex

    before = import_counts()

    def fail(*args):
        raise RuntimeError("stopped")

    monkeypatch.setattr(vertex, "_remember", fail)
    with pytest.raises(RuntimeError):
        open_case(SENTINEL.read_bytes())
    assert import_counts() == before


def test_case_helper_sees_a_difference():
    case: Case = open_case(SENTINEL.read_bytes())
    case.surface(0).data.shape_keys.key_blocks[1].points[0].co.x += 1.0
    assert case.dump() != case.data
