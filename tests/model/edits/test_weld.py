"""Which vertices of a file become one point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.model.edits.weld import weld
from tests.samples import corpus_params, load, sample


def welded(name, surface=0):
    source = load(sample(name)).source.surfaces[surface]
    return weld(source.positions, source.triangles).tolist()


def triangles(*rows):
    return np.array(rows, np.int32).reshape(-1, 3)


def points(*rows):
    return np.array([rows], np.int16)


def test_a_cube_of_24_vertices_has_8_points():
    result = welded("seamed_cube")
    assert len(set(result)) == 8
    assert all(target <= vertex for vertex, target in enumerate(result)), "the lowest index represents"
    source = load(sample("seamed_cube")).source.surfaces[0]
    assert (source.positions[:, result] == source.positions).all()


def test_vertices_that_part_in_a_later_frame_stay_apart():
    assert welded("split_later") == [0, 1, 2, 3, 2, 5]


def test_equal_triangles_of_other_vertices_stay_apart():
    # 7, 8, 9 lie on 0, 1, 2, whose triangle is there already: they would make it twice.
    assert welded("duplicates") == list(range(10))


def test_repeats_that_the_file_has_do_no_harm():
    shared = points((0, 0, 0), (9, 0, 0), (0, 9, 0), (9, 0, 0), (0, 9, 0), (9, 9, 0))
    result = weld(shared, triangles((0, 1, 2), (0, 1, 2), (2, 1, 0), (3, 5, 4)))
    assert result.tolist() == [0, 1, 2, 1, 2, 5]


def test_a_triangle_seen_from_behind_stays_apart():
    shared = points((0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 0, 0), (9, 0, 0), (0, 9, 0))
    assert weld(shared, triangles((0, 1, 2), (5, 4, 3))).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_triangle_that_would_degenerate_stays_apart():
    shared = points((0, 0, 0), (0, 0, 0), (0, 9, 0), (9, 0, 0), (0, 9, 0), (0, 0, 0))
    result = weld(shared, triangles((0, 1, 2), (5, 3, 4)))
    assert result.tolist() == [0, 1, 2, 3, 4, 5]
    # Another triangle at the same place may still weld with a third.
    more = np.concatenate((shared, shared[:, 3:]), axis=1)
    result = weld(more, triangles((0, 1, 2), (5, 3, 4), (8, 7, 6)))
    assert result[:3].tolist() == [0, 1, 2]


def test_a_degenerate_triangle_of_the_file_does_no_harm():
    shared = points((0, 0, 0), (9, 0, 0), (0, 9, 0), (9, 0, 0), (0, 9, 0), (9, 9, 0))
    assert weld(shared, triangles((0, 1, 2), (3, 3, 4), (3, 5, 4))).tolist() == [0, 1, 2, 1, 2, 5]


def test_it_repeats_until_nothing_is_harmed():
    # Keeping the second triangle apart leaves the third's weld with the first, and so on.
    shared = points(*[(0, 0, 0), (9, 0, 0), (0, 9, 0)] * 4)
    result = weld(shared, triangles((0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)))
    assert result.tolist() == list(range(12))


def test_unused_vertices_stay_apart():
    shared = points((0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 0, 0), (0, 0, 0))
    assert weld(shared, triangles((0, 1, 2))).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("count", [0, 3])
def test_nothing_to_weld(count):
    assert weld(np.zeros((2, count, 3), np.int16), triangles()).tolist() == list(range(count))


def check_weld(positions, rows):
    """Assert what welding promises, in the plainest way."""
    result = weld(positions, rows)
    assert (result[result] == result).all()
    assert (result <= np.arange(len(result))).all()
    assert (positions[:, result] == positions).all()
    used = np.unique(rows)
    assert (np.delete(result, used) == np.delete(np.arange(len(result)), used)).all()
    seen: dict[frozenset[int], set[int]] = {}
    for before, after in zip(rows.tolist(), result[rows].tolist(), strict=True):
        if len(set(before)) == 3:
            assert len(set(after)) == 3, "a triangle degenerated"
            assert seen.setdefault(frozenset(after), set(before)) == set(before), "two triangles became equal"


@given(st.integers(1, 9), st.lists(st.tuples(*[st.integers(0, 8)] * 3), max_size=12), st.integers(0, 2**32))
def test_no_triangle_is_ever_lost(count, rows, seed):
    rng = np.random.default_rng(seed)
    check_weld(rng.integers(0, 2, (2, count, 3)).astype(np.int16), triangles(*rows) % count)


@pytest.mark.parametrize("file", corpus_params())
def test_corpus(file):
    for source in load(file.data).source.surfaces:
        check_weld(source.decoded_positions().view(np.int32), source.triangles)
