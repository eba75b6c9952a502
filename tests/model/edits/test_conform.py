"""Vertices split along seams, vertices joined, and several surfaces made one."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats.common.normals import decode_latlong, encode_latlong
from io_idtech_models.model.edits import conform
from io_idtech_models.model.edits.conform import with_vertices
from io_idtech_models.model.edits.normals import NormalCoding
from io_idtech_models.model.source import are_solid
from io_idtech_models.model.vertex import BaseNormals, Surface, VertexModel
from tests.samples import corpus_params, load, sample

join_vertices: Any = conform.join_vertices
joined: Any = partial(conform.joined, coding=NormalCoding(decode_latlong, encode_latlong, 1 << 16))
split_surface: Any = conform.split_surface
UP, SIDE = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


def surface(positions, triangles, uvs, normals=None, name="thing", **others) -> Surface:
    """Return a surface of arrays, of one frame where positions (V, 3) say no more."""
    places = np.array(positions, np.float32)
    places = places.reshape(-1, *places.shape[-2:]) if places.size else places.reshape(1, 0, 3)
    corners = np.array(triangles, np.int32).reshape(-1, 3)
    made = Surface(name, places, corners, np.array(uvs, np.float32), others.pop("shaders", ["skin"]))
    if normals is not None:
        made.normals = np.array(normals, np.float32).reshape(places.shape)
    for field, value in others.items():
        setattr(made, field, np.array(value, np.int32) if field.startswith("source_") else value)
    return made


SQUARE = [(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)]
HALVES = [(0, 1, 2), (0, 2, 3)]
WHOLE = [[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]]
TORN: list[list[tuple[float, float]]] = [[(0, 0), (1, 0), (1, 1)], [(0.5, 0), (0.5, 1), (0, 1)]]


# -- vertices with one texture coordinate each


def test_further_texture_coordinates_are_vertices_at_the_end():
    found = split_surface(surface(SQUARE, HALVES, TORN, [UP, UP, SIDE, UP], source_vertices=[9, 8, 7, 6]))
    assert found.triangles.tolist() == [[0, 1, 2], [4, 5, 3]]
    assert found.uvs.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0], [0.5, 1]]
    assert found.positions[0, [4, 5]].tolist() == [[0, 0, 0], [8, 8, 0]]
    assert found.normals[0, 5].tolist() == list(SIDE)
    assert found.source_vertices.tolist() == [9, 8, 7, 6, 9, 7]


def test_the_first_coordinate_that_appears_stays_with_the_vertex():
    found = split_surface(surface(SQUARE, HALVES[::-1], TORN[::-1]))
    assert found.uvs[0].tolist() == [0.5, 0]
    assert found.triangles.tolist() == [[0, 2, 3], [4, 1, 5]]


def test_zeros_of_both_signs_are_one():
    uvs = [[(0.0, 0.0), (1, 0), (1, 1)], [(-0.0, 0.0), (1, 1), (0, 1)]]
    assert split_surface(surface(SQUARE, HALVES, uvs)).num_vertices == 4


def test_a_surface_that_is_split_is_left_alone():
    plain = surface(SQUARE, HALVES, [(0, 0), (1, 0), (1, 1), (0, 1)])
    assert split_surface(plain) is plain


# -- vertices joined


SPLIT: list[tuple[int, int, int]] = [*SQUARE[:3], SQUARE[0], *SQUARE[2:]]
SPLIT_UVS = [(0, 0), (1, 0), (1, 1), (0.5, 0), (0.5, 1), (0, 1)]


def test_vertices_at_one_place_become_one():
    found = join_vertices(surface(SPLIT, [(0, 1, 2), (3, 4, 5)], SPLIT_UVS, source_vertices=list(range(6))))
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert found.uvs.tolist() == [[list(map(float, uv)) for uv in three] for three in TORN]
    assert found.source_vertices.tolist() == [0, 1, 2, 5]


@pytest.mark.parametrize(
    ("other", "mean"), [(SIDE, (0.707107, 0, 0.707107)), ((0.6, 0, -0.8), (0.948683, 0, 0.316228))]
)
def test_they_take_the_mean_of_their_normals(other, mean):
    normals = [other, UP, UP, UP, UP, UP]
    found = join_vertices(surface(SPLIT, [(0, 1, 2), (3, 4, 5)], SPLIT_UVS, normals))
    np.testing.assert_allclose(found.normals[0, 0], mean, atol=1e-6)
    assert found.normals[0, 1:].tolist() == [list(UP)] * 3


def test_normals_that_cancel_point_up():
    normals = [SIDE, UP, UP, (-1.0, 0.0, 0.0), UP, UP]
    found = join_vertices(surface(SPLIT, [(0, 1, 2), (3, 4, 5)], SPLIT_UVS, normals))
    assert found.normals[0, 0].tolist() == list(UP)


def test_edited_normals_stay_edited():
    own = np.array([False, False, False, True, False, False])
    found = join_vertices(surface(SPLIT, [(0, 1, 2), (3, 4, 5)], SPLIT_UVS, own_normals=own))
    assert found.own_normals.tolist() == [True, False, False, False]


def test_a_surface_of_corners_is_left_alone():
    plain = surface(SQUARE, HALVES, TORN)
    assert join_vertices(plain) is plain


# -- several surfaces made one


def model(*surfaces):
    return VertexModel("thing", ["f"], list(surfaces), [])


def test_a_lone_surface_of_corners_is_the_model():
    whole = model(surface(SQUARE, HALVES, TORN))
    assert joined(whole) is whole


def test_no_surfaces():
    assert joined(model()).surfaces == []


def test_surfaces_stand_behind_one_another():
    above = [(x, y, 9) for x, y, _ in SQUARE]
    first = surface(SQUARE, HALVES, TORN, [UP] * 4, "first", shaders=["a", "b"])
    second = surface(above, HALVES, WHOLE, [SIDE] * 4, "second", shaders=["b", "c"])
    (found,) = joined(model(first, second)).surfaces
    assert (found.name, found.shaders) == ("first and 1 more", ["a", "b", "c"])
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    assert found.positions[0].tolist() == [list(map(float, p)) for p in (*SQUARE, *above)]
    assert found.uvs.tolist() == np.array([*TORN, *WHOLE], float).tolist()
    assert found.normals[0].tolist() == [list(UP)] * 4 + [list(SIDE)] * 4


def test_parts_of_a_source_come_together_again():
    """Two parts of a mesh that was cut in two, each with its own copies of the cut's vertices."""
    first = surface(SQUARE[:1] + SQUARE[2:], [(0, 1, 2)], [WHOLE[1]], source_vertices=[0, 2, 3], source_triangles=[1])
    second = surface(SQUARE[:3], [(0, 1, 2)], [WHOLE[0]], source_vertices=[0, 1, 2], source_triangles=[0])
    second.source_index, second.name = 0, "body"
    (found,) = joined(model(first, second)).surfaces
    assert (found.source_index, found.name) == (0, "body and 1 more"), "those of the part that is the source's"
    assert found.source_vertices.tolist() == [0, 1, 2, 3]
    assert found.source_triangles.tolist() == [0, 1]
    assert found.triangles.tolist() == [list(t) for t in HALVES]
    assert found.positions[0].tolist() == [list(map(float, p)) for p in SQUARE]


@pytest.mark.parametrize(("cut", "left"), [(([1], [2, 4, 5]), [0, 1, 2, 3, 4, 5, 6]), (([1], [2]), [1, 2, 6])])
def test_triangles_without_area_come_back_with_their_vertices(cut, left):
    """No part of a mesh that was cut in two has all of some triangle's vertices; all some others have none."""
    whole = load(sample("degenerate", "md2"))
    (before,) = whole.surfaces
    assert np.flatnonzero(are_solid(before.triangles)).tolist() == [1, 2, 4, 5]
    parts = []
    for faces in cut:
        corners, uvs = before.triangles[faces], before.uvs[faces]
        used, places = np.unique(corners, return_inverse=True)
        part = with_vertices(before, used, places.reshape(-1, 3).astype(np.int32), uvs)
        part.source_triangles = np.array(faces, np.int32)
        parts.append(part)
    (found,) = joined(replace(whole, surfaces=parts)).surfaces
    assert found.source_triangles.tolist() == left
    check_same(found, replace(before, triangles=before.triangles[left], uvs=before.uvs[left]))


@pytest.mark.parametrize("moved", [(True,) * 4, (False, True, True, True), (False,) * 4])
def test_a_copys_vertices_stay_apart(moved):
    """Also those that lie where the original's do: their faces may go elsewhere."""
    first = surface(SQUARE, HALVES, WHOLE, source_vertices=[0, 1, 2, 3], source_triangles=[0, 1])
    moved = [(x + 20 * goes, y, z) for (x, y, z), goes in zip(SQUARE, moved, strict=True)]
    second = surface(moved, HALVES, WHOLE, source_vertices=[0, 1, 2, 3], source_triangles=[0, 1])
    (found,) = joined(model(first, second)).surfaces
    assert found.source_vertices.tolist() == [0, 1, 2, 3, -1, -1, -1, -1]
    assert found.source_triangles.tolist() == [0, 1, -1, -1]
    assert found.triangles.tolist() == [*map(list, HALVES), [4, 5, 6], [4, 6, 7]]
    assert found.positions[0].tolist() == [list(map(float, p)) for p in (*SQUARE, *moved)]


def test_parts_without_normals_of_their_own():
    first = surface(SQUARE, HALVES, WHOLE, source_vertices=[0, 1, 2, 3])
    second = surface(SQUARE, HALVES, WHOLE, [SIDE] * 4, own_normals=np.ones(4, np.bool_))
    (found,) = joined(model(first, second)).surfaces
    assert found.own_normals.tolist() == [False] * 4 + [True] * 4
    assert found.normals[0, 4:].tolist() == [list(SIDE)] * 4


@pytest.mark.parametrize(("frames", "base"), [((0, 0), 0), ((2, 2), 2), ((0, 2), None), ((2, None), None)])
def test_the_base_is_the_parts_where_they_show_one_frame(frames, base):
    parts = [surface(SQUARE, HALVES, WHOLE, source_vertices=order) for order in ([1, -1, 0, 4], [3, 2, -1, -1])]
    shown = np.arange(24, dtype=np.float32).reshape(8, 3)
    for part, frame, own in zip(parts, frames, (shown[:4], shown[4:]), strict=True):
        part.base = None if frame is None else BaseNormals(frame, own)
    (found,) = joined(model(*parts)).surfaces
    assert (None if found.base is None else found.base.frame) == base
    if found.base is not None:
        assert found.base.normals.tolist() == shown[[2, 0, 5, 4, 3, 1, 6, 7]].tolist(), "in the order of their vertices"


# -- nothing is lost


def shown(whole):
    """Return what each triangle shows, in order: positions in all frames and texture coordinates of its corners."""
    corners = whole.positions[:, whole.triangles].transpose(1, 2, 0, 3)
    return corners, whole.corner_uvs + np.float32(0.0)


def check_same(one, other):
    for a, b in zip(shown(one), shown(other), strict=True):
        np.testing.assert_array_equal(a, b)


@st.composite
def surfaces(draw):
    count, frames = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    triangles = rng.integers(0, count, (draw(st.integers(0, 12)), 3))
    positions = rng.integers(0, 3, (frames, count, 3))
    uvs = rng.integers(0, 2, (len(triangles), 3, 2)) / 2
    return surface(
        positions, triangles, uvs, rng.normal(size=positions.shape), own_normals=rng.random(count) < 0.5,
        colors=rng.random((count, 4), np.float32), base=BaseNormals(1, rng.random((count, 3), np.float32)),
        source_vertices=rng.integers(-1, 9, count),
    )  # fmt: skip


def of_corners(whole):
    """Return what is known of the vertex of each corner of the triangles."""
    known = whole.own_normals, whole.colors, whole.base.normals, whole.source_vertices
    return [values[whole.triangles].tolist() for values in (whole.normals.transpose(1, 0, 2), *known)]


@given(surfaces())
def test_splitting_keeps_every_triangle(whole):
    found = split_surface(whole)
    check_same(found, whole)
    assert found.uvs.shape == (found.num_vertices, 2)
    assert of_corners(found) == of_corners(whole)
    corners = zip(whole.triangles.ravel().tolist(), (whole.uvs + 0.0).reshape(-1, 2).tolist(), strict=True)
    pairs = {(v, *uv) for v, uv in corners}
    unused = whole.num_vertices - len(np.unique(whole.triangles))
    assert found.num_vertices == len(pairs) + unused, "the fewest possible"


@given(surfaces())
def test_joining_keeps_every_triangle(whole):
    split = split_surface(whole)
    found = join_vertices(split)
    check_same(found, whole)
    solid = [len(set(t)) == 3 for t in split.triangles.tolist()]
    assert [len(set(t)) == 3 for t in found.triangles.tolist()] == solid, "no triangle lost its area"


@given(st.lists(surfaces(), min_size=1, max_size=4))
def test_surfaces_made_one_keep_every_triangle(parts):
    frames = min(len(part.positions) for part in parts)
    for part in parts:
        part.positions, part.normals = part.positions[:frames], part.normals[:frames]
    (found,) = joined(VertexModel("", ["f"] * frames, list(parts), [])).surfaces
    wanted = [np.concatenate(arrays) for arrays in zip(*(shown(part) for part in parts), strict=True)]
    for a, b in zip(shown(found), wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_real_models_are_split_and_joined_again(file):
    whole = load(file.data).surfaces[0]
    split = split_surface(whole)
    check_same(split, whole)
    again = join_vertices(split)
    check_same(again, whole)
    # Triangles that the file has several times, or that use a vertex twice, stay apart with the vertices that they got.
    sets = np.sort(whole.triangles, axis=1)
    odd = len(sets) - len(np.unique(sets[are_solid(sets)], axis=0))
    assert again.num_vertices <= whole.num_vertices + 3 * odd
