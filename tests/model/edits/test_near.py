"""The surfaces of a source that a mesh has to do with, and numbers that count within them."""

import numpy as np
import pytest

from io_idtech_models.model.source import CodedSource, near, split_by_part
from io_idtech_models.model.vertex import ModelSource

SIZES = ((4, 2), (0, 0), (3, 1), (5, 4), (0, 0), (6, 3))  # vertices and triangles of each surface


def surface(vertices, triangles):
    codes = np.zeros((1, vertices, 4), np.int16)
    faces = np.arange(3 * triangles, dtype=np.int32).reshape(-1, 3) % max(vertices, 1)
    one, none = np.ones((1, 3), np.float32), np.zeros((1, 3), np.float32)
    return CodedSource("s", faces, np.zeros((vertices, 2), np.float32), [], codes, one, none)


def source(sizes=SIZES):
    origins, axes = np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32)
    return ModelSource([surface(*size) for size in sizes], "md3", ["frame"], [], origins, axes)


def plainly(numbers, firsts):
    """Return the same as `split_by_part`, part by part."""
    found = []
    for part in range(len(firsts) - 1):
        places = np.flatnonzero((numbers >= firsts[part]) & (numbers < firsts[part + 1]))
        if len(places):
            found.append((part, places.tolist(), (numbers[places] - firsts[part]).tolist()))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_numbers_are_split_by_the_part_that_they_are_of(seed):
    random = np.random.default_rng(seed)
    firsts = np.cumsum([0, *random.integers(0, 4, random.integers(1, 8))])
    numbers = random.integers(-2, firsts[-1] + 3, random.integers(0, 30)).astype(random.choice(["i4", "i8"]))
    found = split_by_part(numbers, firsts)
    assert [(part, places.tolist(), own.tolist()) for part, places, own in found] == plainly(numbers, firsts)


@pytest.mark.parametrize(
    ("numbers", "surfaces"),
    [([0, 3], [0]), ([4, 5], [2]), ([17, 1, -1, 8], [0, 3, 5]), ([-1], []), ([], []), ([0, 4, 7, 12], [0, 2, 3, 5])],
)
def test_a_mesh_has_to_do_with_the_surfaces_of_its_numbers(numbers, surfaces):
    whole, asked = source(), np.array(numbers, np.int64)
    part = near(whole, asked)
    assert part.surfaces.tolist() == surfaces
    assert part.source.surfaces == [whole.surfaces[i] for i in surfaces]
    own = part.own_vertices(asked)
    assert (own.max(initial=-1) < part.source.first_vertices[-1]) and ((own >= 0) == (asked >= 0)).all()
    assert part.vertices(own).tolist() == numbers


def test_triangles_count_likewise_and_those_of_others_are_none():
    whole = source()
    part = near(whole, np.array([5, 9], np.int64))  # the third and the fourth surface
    every = np.arange(-1, whole.first_triangles[-1])
    assert part.own_triangles(every).tolist() == [-1, -1, -1, 0, 1, 2, 3, 4, -1, -1, -1]
    assert part.triangles(np.arange(-1, 5, dtype=np.int32)).tolist() == [-1, 2, 3, 4, 5, 6]
    wanted = whole.triangles[2:7] - whole.first_vertices[2]
    assert np.array_equal(part.source.triangles, wanted)


def test_all_surfaces_are_the_source_itself():
    whole = source(((3, 1), (3, 1)))
    assert near(whole, np.array([4, 0], np.int64)).source is whole
