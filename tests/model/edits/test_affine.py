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


@pytest.mark.parametrize("edited", [0, 1, 7, 20])
def test_most_points_took_one_map(edited):
    after = moved()
    after[:edited] += RANDOM.uniform(0.5, 8.0, (edited, 3))
    found, follows = affine.common_map(POINTS, after, SLACK)
    np.testing.assert_allclose(found, MAP, atol=1e-5)
    assert follows.tolist() == [False] * edited + [True] * (60 - edited)


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
        (BOX * (1, 1, 0.241), (1, 2, 3), True),  # half as thick as 12 times the slack, and a little
        (BOX * (1, 1, 0.239), (1, 2, 3), False),
        (FLAT_BOX, (2, 2, 1), True),
        (FLAT_BOX[:3], (2, 2, 1), False),
        (FLAT_BOX * (1, 0.041, 1), (2, 2, 1), True),  # half as wide as 4 times the slack, and a little
        (FLAT_BOX * (1, 0.039, 1), (2, 2, 1), False),
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
        (np.diag([-1.0, 1.0, 1.0]), 0.0, True),
        (np.diag([-1.0, -1.0, 1.0]), 0.0, False),
        (np.diag([2.0, 3.0, -1.0]), 0.0, True),
        (np.diag([1.0, -1.0, 1.0]), 0.25, True),
        (np.diag([1.0, -1.0, 1.0]), 0.5, False),  # nobody can tell any more
    ],
)
def test_what_was_mirrored(turn, bent, mirrors):
    noise = np.random.default_rng(3).normal(0.0, bent * POINTS.std(), POINTS.shape)
    assert affine.mirrors(POINTS, POINTS @ turn.T + noise + 7.0) == mirrors


def test_nothing_was_not_mirrored():
    assert not affine.mirrors(POINTS[:0], POINTS[:0])


@pytest.mark.parametrize(("farthest", "slack"), [(0.0, 1e-5), (0.25, 1e-5), (-4000.0, 0.04)])
def test_single_precision_is_off_by_a_part_of_what_is_large(farthest, slack):
    assert affine.rounding(np.array([[0.0, farthest, 0.1]])) == pytest.approx(slack)
    assert affine.rounding(np.zeros((0, 3))) == 1e-5


def test_the_map_of_each_part():
    """Two parts that triangles connect, each moved by its own map, and one that was torn."""
    triangles = np.concatenate([[(i, i + 1, i + 2) for i in range(first, first + 18)] for first in (0, 20, 40)])
    after = np.concatenate((moved()[:20], POINTS[20:40] * 3.0, RANDOM.uniform(-30, 30, (20, 3))))
    maps, found = affine.linear_maps_at(POINTS, after, triangles, np.arange(60), SLACK)
    assert found.tolist() == [True] * 40 + [False] * 20
    np.testing.assert_allclose(maps[:20], np.tile(MAP, (20, 1, 1)), atol=1e-5)
    np.testing.assert_allclose(maps[20:40], np.tile(3 * np.eye(3), (20, 1, 1)), atol=1e-5)
