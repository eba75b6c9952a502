"""Maps that took points as a whole, and those that most of them took."""

from itertools import product

import numpy as np
import pytest

from io_idtech_models.model.edits import affine

RANDOM = np.random.default_rng(5)
POINTS = RANDOM.uniform(-30, 30, (60, 3))
MAP = np.array([[2.0, 0.1, 0.0], [0.0, -1.5, 0.3], [0.2, 0.0, 1.0]])
SLACK = 1e-4


def moved():
    return POINTS @ MAP.T + [5.0, -6.0, 7.0]


@pytest.mark.parametrize("edited", [0, 1, 7, 20, 27])
def test_most_points_took_one_map(edited):
    after = moved()
    after[:edited] += np.random.default_rng(2).uniform(0.5, 8.0, (edited, 3))
    found, follows = affine.common_map(POINTS, after, SLACK)
    np.testing.assert_allclose(found, MAP, atol=1e-5)
    assert follows.tolist() == [False] * edited + [True] * (60 - edited)


@pytest.mark.parametrize(("off", "is_moved"), [(0.0, True), (2.0, True), (5.0, False)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_all_points_took_a_map(axis, off, is_moved):
    """Each axis by as much as rounding of the points before can be: 2.1, 1.8 and 1.2 times that, and of those after."""
    after = moved()
    after[17, axis] += off * SLACK
    assert affine.is_moved_by(MAP, POINTS, after, SLACK) == is_moved
    assert not affine.is_moved_by(MAP, POINTS[:0], after[:0], SLACK)


def test_no_map_of_a_few():
    after = moved()
    after[:40] = RANDOM.uniform(-30, 30, (40, 3))
    found, follows = affine.common_map(POINTS, after, SLACK)
    assert not follows.any()
    np.testing.assert_array_equal(found, np.eye(3))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_points(count):
    assert not affine.common_map(POINTS[:count], moved()[:count], SLACK)[1].any()


BOX = np.array(list(product((-15.0, 15.0), (-10.0, 10.0), (-5.0, 5.0))))
FLAT_BOX = BOX[::2] * (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("points", "stretch", "is_found"),
    [
        (BOX, (1, 2, 3), True),
        (BOX[:7], (1, 2, 3), False),
        (np.repeat(BOX[:7], 3, axis=0), (1, 2, 3), False),  # in no more places
        (BOX * (1, 1, 0.241), (1, 2, 3), True),  # half as thick as 12 times the slack, and a little
        (BOX * (1, 1, 0.239), (1, 2, 3), False),
        (FLAT_BOX, (2, 2, 1), True),
        (FLAT_BOX[:3], (2, 2, 1), False),
        (FLAT_BOX * (1, 0.041, 1), (2, 2, 1), True),  # half as wide as 4 times the slack, and a little
        (FLAT_BOX * (1, 0.039, 1), (2, 2, 1), False),
        (BOX, (0.01, 0.01, 0.01), True),
        (BOX, (1e-4, 1e-4, 1e-4), False),  # nothing is left
    ],
)
def test_what_tells_no_map(points, stretch, is_found):
    """Few points do not, nor does what is too thin to be told from rounding across it: of a plane that is made up."""
    triangles = np.arange(len(points) - 2)[:, None] + np.arange(3)
    maps, found = affine.linear_maps_at(points, points * stretch, triangles, np.arange(len(points)), 0.1)
    assert found.tolist() == [is_found] * len(points)
    if is_found:
        wanted = [*stretch[:2], stretch[2] if np.ptp(points[:, 2]) else np.prod(stretch) ** 0.5]
        np.testing.assert_allclose(maps, np.tile(np.diag(wanted), (len(points), 1, 1)), atol=1e-9)


@pytest.mark.parametrize(
    ("turn", "bent", "mirrors"),
    [
        ((-1, 1, 1), 0.0, True),
        ((-1, -1, 1), 0.0, False),
        ((2, 3, -1), 0.0, True),
        ((1, -1, 1), 0.25, True),
        ((1, -1, 1), 0.5, False),  # nobody can tell any more
    ],
)
@pytest.mark.parametrize("size", [1.0, 0.01])
def test_what_was_mirrored(turn, bent, mirrors, size):
    points = POINTS * size
    noise = np.random.default_rng(3).normal(0.0, bent * points.std(), points.shape)
    assert affine.mirrors(points, points * turn + noise + 7.0) == mirrors


@pytest.mark.parametrize("size", [100.0, 0.01])
@pytest.mark.parametrize(
    ("shape", "turn", "mirrors"),
    [
        ((1, 1, 1e-5), (1, 1, -1), True),
        ((1, 1, 1e-7), (1, 1, -1), False),  # a plane looks the same from both sides
        ((1, 1e-3, 1e-7), (1, 1, -1), False),
        ((1, 1e-5, 1e-5), (1, -1, 1), True),
        ((1, 1e-7, 1e-7), (1, -1, 1), False),  # as does a line
    ],
)
def test_what_has_no_width_was_not_mirrored(shape, turn, mirrors, size):
    points = POINTS * shape * size
    assert affine.mirrors(points, points * turn) == mirrors
    assert not affine.mirrors(points[:0], points[:0])
    assert not affine.mirrors(points[:3], points[:3] * turn)


@pytest.mark.parametrize(("count", "mirrors"), [(3, False), (0, True)])
def test_a_few_that_moved_far_mirror_nothing(count, mirrors):
    """A cloth that is nearly a plane; `count` 0: all of it is mirrored."""
    points = np.random.default_rng(4).normal(size=(60, 3)) * (20.0, 20.0, 0.05)
    after = points.copy() if count else points * (1, 1, -1)
    after[:count] = points[:count] * (1, 1, -60)
    assert affine.mirrors(points, after) == mirrors


BEFORE = [(0, 1, 2), (1, 3, 2), (4, 5, 6), (6, 6, 5)]


@pytest.mark.parametrize(
    ("triangles", "faces", "over"),
    [
        ([(0, 1, 2), (3, 2, 1)], [0, 1], []),
        ([(0, 2, 1), (1, 2, 3)], [0, 1], [0, 1, 2, 3, 4, 5, 6]),  # those without a triangle as most of the others
        ([(2, 1, 0), (1, 3, 2)], [0, 1], [0]),
        ([(2, 1, 0), (1, 3, 2), (6, 5, 4)], [0, 1, 2], [0, 4, 5, 6]),
        ([(2, 1, 0), (4, 6, 5), (1, 2, 3)], [0, -1, 1], [0, 1, 2, 3, 4, 5, 6]),
        ([(1, 0, 2), (5, 6, 6)], [0, 3], [0, 1, 2, 3, 4, 5, 6]),  # one without area looks alike from both sides
        ([(5, 6, 6)], [3], []),
        ([(0, 1, 4)], [0], []),  # other vertices by now
    ],
)
def test_what_was_turned_over(triangles, faces, over):
    """A vertex of which all of the source's triangles were."""
    found = affine.turned_over(np.array(triangles), np.arange(7), np.array(faces), np.array(BEFORE))
    assert found.tolist() == [vertex in over for vertex in range(7)]


def test_what_lies_beside():
    moved = np.arange(7) == 3
    assert np.flatnonzero(affine.beside(moved, np.array(BEFORE))).tolist() == [1, 2, 3]


@pytest.mark.parametrize(("farthest", "slack"), [(0.0, 1e-5), (0.25, 1e-5), (-4000.0, 0.04)])
def test_single_precision_is_off_by_a_part_of_what_is_large(farthest, slack):
    assert affine.rounding(np.array([[0.0, farthest, 0.1]])) == pytest.approx(slack)
    assert affine.rounding(np.zeros((0, 3))) == 1e-5


def test_the_map_of_each_part():
    """Two parts that triangles connect, each moved by its own map, one that was torn, and what has no triangles."""
    triangles = np.concatenate([[(i, i + 1, i + 2) for i in range(first, first + 18)] for first in (0, 20, 40)])
    after = np.concatenate((moved()[:20], POINTS[20:40] * 3.0, RANDOM.uniform(-30, 30, (20, 3)), POINTS[:9] * 7.0))
    before = np.concatenate((POINTS, POINTS[10:19] + 100.0))
    maps, found = affine.linear_maps_at(before, after, triangles, np.arange(69), SLACK)
    assert found.tolist() == [True] * 40 + [False] * 29
    np.testing.assert_allclose(maps[:20], np.tile(MAP, (20, 1, 1)), atol=1e-5)
    np.testing.assert_allclose(maps[20:40], np.tile(3 * np.eye(3), (20, 1, 1)), atol=1e-5)


def test_parts_that_were_moved_as_one_have_the_map_of_the_whole():
    """Also across them, of which planes alone say nothing."""
    sheets, turned = BOX[np.argsort(BOX[:, 2], kind="stable")], np.array([(0, 1, 2), (1, 2, 3), (4, 5, 6), (5, 6, 7)])
    maps, found = affine.linear_maps_at(sheets, sheets * (1, 2, 3), turned, np.arange(8), SLACK)
    assert found.all()
    np.testing.assert_allclose(maps, np.tile(np.diag([1.0, 2.0, 3.0]), (8, 1, 1)), atol=1e-9)
    normals, found = affine.maps_at(sheets, sheets * (1, 2, 3), turned, np.arange(8), SLACK)
    assert found.all()
    np.testing.assert_allclose(normals, np.tile(np.diag([6.0, 3.0, 2.0]), (8, 1, 1)), atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_what_triangles_and_places_connect(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 30))
    triangles, places = random.integers(0, count, (int(random.integers(0, 9)), 3)), random.integers(0, count, count)
    places = np.unique(places, return_inverse=True)[1].reshape(-1)
    parts = [{vertex} for vertex in range(count)]
    together = [*triangles.tolist(), *(np.flatnonzero(places == place).tolist() for place in range(count))]
    for group in together:
        whole = set().union(*(part for part in parts if part & set(group)))
        parts = [*(part for part in parts if not part & whole), *([whole] if whole else [])]
    found = affine.connected(triangles, places)
    assert {frozenset(np.flatnonzero(found == part).tolist()) for part in found} == set(map(frozenset, parts))


def test_frames_are_looked_at_together_as_one_by_one():
    triangles = np.arange(60).reshape(-1, 3)[:-1]  # the last points are nobody's
    before = np.stack([POINTS, POINTS * (1, 1, 0), POINTS[::-1], POINTS * 1e-7])
    after = np.stack([moved(), moved() * (1, 1, 0), POINTS, POINTS * 1e-7])
    after[0, -3:] += 50.0
    maps, found = affine.whole_maps(before, after, triangles, SLACK)
    assert found.tolist() == [True, False, False, False]
    for frame in range(4):
        whole = maps[frame : frame + 1], found[frame : frame + 1]
        given = before[frame], after[frame], triangles, np.arange(60), SLACK
        for told, alone in zip(affine.linear_maps_at(*given, whole), affine.linear_maps_at(*given), strict=True):
            np.testing.assert_array_equal(told, alone)


def test_a_line_has_no_map():
    line = POINTS * (1, 1e-7, 1e-7)
    found = affine.linear_maps_at(line, line * 2, np.arange(60).reshape(-1, 3), np.arange(60), 1e-12)[1]
    assert not found.any()
