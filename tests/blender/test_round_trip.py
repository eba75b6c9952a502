"""F1 and F3: a model that goes through Blender unedited comes back as it was, and looks there as the game shows it."""

from typing import Any

import bpy
import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.provenance import RECORD
from io_idtech_models.formats import VERTEX, rows_of
from tests.blender.case import CONTEXT, angle, append, open_case, positions_at, reopen, vertices_of
from tests.samples import SENTINEL, corpus, format_of, sample, sample_params

pytestmark = pytest.mark.usefixtures("empty_scene")
OWN = [*sample_params(), pytest.param(SENTINEL.read_bytes(), id="sentinel")]
SUFFIXES = [suffix for row in rows_of(VERTEX) for suffix in row.suffixes]
FILES = [file for suffix in SUFFIXES for file in corpus(suffix)]
REAL = [pytest.param(file.data, id=file.entry["path"]) for file in FILES] or [
    pytest.param(b"", marks=pytest.mark.skip("the corpus of real files is not here"), id="corpus")
]
EXPECTED = [pytest.param(file, id=file.entry["path"]) for file in FILES if file.expected()]
SINGLE = 2e-6  # by which the sum of two numbers in single precision may differ
TAGGED = [pytest.param(f, id=f.entry["path"]) for f in FILES if "frame0.tag0.origin" in f.expected()]
# One of each format, with frames, and seams or skins.
SOME = [*sample_params("animated"), pytest.param(SENTINEL.read_bytes(), id="sentinel")]


def ways(params: list[Any]) -> list[Any]:
    """Return the parameters with weld and without, where the format asks."""
    found = []
    for param in params:
        data = param.values[0]
        welds = (True, False) if data and format_of(data).vertex.uv_splits_vertices else (True,)
        found += [pytest.param(data, w, id=f"{param.id}-{'weld' if w else 'apart'}", marks=param.marks) for w in welds]
    return found


@pytest.mark.parametrize(("data", "weld"), ways(OWN))
def test_own_samples_come_back_from_curves_and_by_stepping(data, weld):
    assert open_case(data, weld=weld).both() == data


@pytest.mark.parametrize(("data", "weld"), ways(REAL))
def test_real_files_come_back_from_a_saved_blend(data, weld):
    case = open_case(data, weld=weld)
    reopen(case)
    assert case.both() == data


SMALL = ("glasses.md3", "head.md3", "v_knife_hand.md3", "flag.md2", "horse.md2", "gun.md2")


@pytest.mark.parametrize("file", [c for s in (".md2", ".md3", ".mdl") for c in corpus(s) if c.path.name in SMALL])
def test_relative_keys_of_real_files_come_back_byte_for_byte(file):
    assert open_case(file.data, relative_keys=True).dump() == file.data


def shown_arrays(file, block, index, what):
    """Yield (frame, what the engine computes for the vertices of a surface)."""
    for name, wanted in file.expected().items():
        frame, *surface, kind = name.split(".") if "." in name else ("", name)
        if kind == what and surface in ([], [f"surface{index}"]):
            yield int(frame.removeprefix("frame")), wanted


@pytest.mark.parametrize("file", EXPECTED)
def test_the_scene_shows_what_the_engine_computes(file):
    case = open_case(file.data)
    base, surfaces = 0, case.gather().source.surfaces
    for index, block in enumerate(case.built.surfaces):
        points, numbers = vertices_of(block)
        for frame, wanted in shown_arrays(file, block, index, "positions"):
            if len(points):
                np.testing.assert_allclose(positions_at(block, frame)[points], wanted[numbers - base], 0, SINGLE)
        base += surfaces[index].num_vertices


@pytest.mark.parametrize("file", TAGGED)
def test_tags_stand_where_the_engine_puts_them(file):
    built = open_case(file.data).built
    expected = file.expected()
    for frame in sorted({int(name.split(".")[0][5:]) for name in expected})[:4]:
        CONTEXT.scene.frame_set(frame)
        for index, tag in enumerate(built.tags):
            origin, axes = (expected[f"frame{frame}.tag{index}.{what}"] for what in ("origin", "axis"))
            found = np.array(tag.matrix_world)
            np.testing.assert_allclose(found[:3, 3], origin, atol=1e-4)
            if np.allclose(axes @ axes.T, np.eye(3), atol=1e-4) and np.linalg.det(axes) > 0:
                np.testing.assert_allclose(found[:3, :3].T, axes, atol=1e-4)


@pytest.mark.parametrize("file", EXPECTED)
def test_base_normals_are_the_files(file):
    case = open_case(file.data)
    base, surfaces = 0, case.gather().source.surfaces
    for index, block in enumerate(case.built.surfaces):
        points, numbers = vertices_of(block)
        ((_, wanted),) = [found for found in shown_arrays(file, block, index, "normals") if found[0] == 0]
        if len(points):
            a, b, c = (meshes.positions(block.data)[corners] for corners in points.reshape(-1, 3).T)
            # A face without area, of vertices at one place, throws Blender off at its neighbours' corners, too.
            flat = np.linalg.norm(np.cross(b - a, c - a), axis=1) <= 1e-9
            solid = ~np.isin(points, points.reshape(-1, 3)[flat])
            off = angle(meshes.corner_normals(block.data), wanted[numbers - base])
            assert off[solid].max(initial=0.0) < 1.0, "what Blender rounds where faces meet sharply"
        base += surfaces[index].num_vertices


@pytest.mark.parametrize("scale", [0.0254, 40.0])
@pytest.mark.parametrize("data", [*SOME, *sample_params("seams", "flat", "unused", "mirrored")])
def test_a_scaled_import_comes_back(data, scale):
    assert open_case(data, scale=scale).both(scale=scale) == data


@pytest.mark.parametrize("damage", [b"", b"IDTR", b"IDTR\x01\x00\xff\xff", b"nonsense" * 9])
@pytest.mark.parametrize("data", SOME)
def test_a_damaged_record_is_dropped_with_a_warning(data, damage, caplog):
    case = open_case(data)
    case.collection[RECORD] = damage
    for block in (*case.built.surfaces, *case.built.tags):
        (block.data or block)[RECORD] = damage
    before, after = case.gather(), case.row.load(case.both(), "")
    assert "is ignored" in caplog.text
    assert before.source is None
    assert len(after.surfaces) == len(case.built.surfaces)
    assert after.num_frames == case.row.load(data, "").num_frames


@pytest.mark.parametrize("data", SOME)
def test_where_the_models_record_is_damaged_its_parts_tell_the_same(data, caplog):
    case = open_case(data)
    case.collection[RECORD] = b"nonsense"
    assert case.both() == data
    assert "the source of collection 'model' is ignored" in caplog.text


@pytest.mark.parametrize("data", [*SOME, *sample_params("seams", "unused", "degenerate", "odd_layout")])
def test_an_appended_collection_exports_the_same(data, tmp_path):
    case = open_case(data)
    name = case.collection.name
    append(tmp_path, "collections", [name])
    case.built.collection = bpy.data.collections[name]
    CONTEXT.scene.collection.children.link(case.built.collection)
    CONTEXT.view_layer.update()
    assert case.dump() == data


def test_the_case_helper_sees_a_difference():
    for data in (SENTINEL.read_bytes(), sample("animated", "md2")):
        case = open_case(data)
        case.surface().data.shape_keys.key_blocks[1].points[0].co.x += 1.0
        assert case.dump() != case.data
