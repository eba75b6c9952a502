"""Arithmetic that is the same on every processor: as right as numpy's own, and ties go to the lowest number."""

import warnings

import numpy as np
import pytest

from io_idtech_models.model import steady

RNG = np.random.default_rng(7)
MATRICES = np.concatenate((
    RNG.normal(size=(200, 3, 3)), RNG.normal(size=(20, 3, 1)) * RNG.normal(size=(20, 1, 3)), np.zeros((1, 3, 3)),
    np.eye(3)[None], np.eye(3)[None, ::-1], np.diag([2.0, 0.0, 0.0])[None], np.diag([1e-8, 1.0, 1e8])[None],
))  # fmt: skip


def test_products_and_lengths():
    a, b, v = RNG.normal(size=(5, 7, 4, 4)), RNG.normal(size=(7, 4, 4)), RNG.normal(size=(5, 1, 4))
    np.testing.assert_allclose(steady.products(a, b), a @ b, atol=1e-14)
    np.testing.assert_allclose(steady.products(a, b, a), a @ b @ a, atol=1e-13)
    np.testing.assert_allclose(steady.applied(b, v), (b @ v[..., None])[..., 0], atol=1e-14)
    points = np.concatenate((v[..., :3], np.ones((*v.shape[:-1], 1))), axis=-1)[..., None]
    np.testing.assert_allclose(steady.applied(b[:, :3], v[..., :3]), (b[:, :3] @ points)[..., 0], atol=1e-14)
    np.testing.assert_allclose(steady.lengths(v), np.linalg.norm(v, axis=-1))
    np.testing.assert_allclose(steady.applied(b[0, :3, :3], v[0, 0, :3]), b[0, :3, :3] @ v[0, 0, :3])


def test_crossed_cofactors_determinants_inverses():
    m = MATRICES[:200]
    np.testing.assert_allclose(steady.determinants(m), np.linalg.det(m), rtol=1e-9)
    np.testing.assert_allclose(steady.inverses(m), np.linalg.inv(m), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(steady.crossed(m[:, 0], m[:, 1]), np.cross(m[:, 0], m[:, 1]))


def test_singular_values_are_those_of_the_matrix():
    left, values, right = steady.singular_values(MATRICES)
    np.testing.assert_allclose(values, np.linalg.svd(MATRICES)[1], rtol=1e-9, atol=1e-12)
    whole = left * values[:, None] @ np.swapaxes(right, 1, 2)
    np.testing.assert_allclose(whole, MATRICES, rtol=1e-9, atol=1e-12)
    for part in (left, right):
        np.testing.assert_allclose(np.swapaxes(part, 1, 2) @ part, np.broadcast_to(np.eye(3), part.shape), atol=1e-12)


def test_nearest_rotations():
    turned = steady.nearest_rotations(MATRICES)
    np.testing.assert_allclose(np.linalg.det(turned), 1.0, atol=1e-12)
    rotations = turned[:50]
    np.testing.assert_allclose(steady.nearest_rotations(rotations * 3.0), rotations, atol=1e-12)
    mirrored = rotations * np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(steady.nearest_rotations(mirrored, mirrored=True), mirrored, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(steady.nearest_rotations(mirrored)), 1.0, atol=1e-12)


def test_matrices_of_very_uneven_columns_have_rotations():
    odd = np.array([[-8.7e-35, 1.4e31, -4.7e-38], [3.4e-41, 0.0, 0.0], [0.0, 0.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = steady.nearest_rotations(odd)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-12)


def test_angles():
    radians = np.concatenate((RNG.uniform(-30, 30, 5000), np.arange(-8, 9) * np.pi / 4, [0.0, 1e4]))
    cosines, sines = steady.cosines_and_sines(radians)
    np.testing.assert_allclose(cosines, np.cos(radians), atol=1e-12)
    np.testing.assert_allclose(sines, np.sin(radians), atol=1e-12)
    assert np.abs(cosines[:5000] - np.cos(radians[:5000])).max() < 4e-16
    corners = np.array([[0, 0, 0, 1, -1, 1, 1e-300], [0, 1, -1, 0, 0, 1, 1]])
    y, x = np.concatenate((RNG.normal(size=(2, 5000)), corners), axis=1)
    np.testing.assert_allclose(steady.angles_of(y, x), np.arctan2(y, x), atol=1e-15)


@pytest.mark.parametrize("step", [1e-3, 2 * np.pi / 65536])
def test_whole_steps_and_their_middles(step):
    wanted = np.arange(-500, 500)
    y, x = np.sin(wanted * step), np.cos(wanted * step)
    assert (steady.whole_steps(y, x, step) == wanted).all()
    for nudge in (-1e-14, 0.0, 1e-14):  # noise does not decide which way the middle goes
        middle = (wanted + 0.5) * step + nudge * step
        assert (steady.whole_steps(np.sin(middle), np.cos(middle), step) == np.rint(wanted + 0.5)).all()


def test_cube_roots():
    values = np.concatenate((RNG.uniform(-100, 100, 1000), [1e-30, 1e30]))
    np.testing.assert_allclose(steady.cube_roots(values), np.cbrt(values), rtol=1e-15)
    short = np.array([0.0, 1.0, -8.0, 0.125, 3.375, 1e6])
    assert (steady.cube_roots(short) == [0.0, 1.0, -2.0, 0.5, 1.5, 100.0]).all()
    parts = np.arange(1, 4097) / 1024  # of a tenth of these the last step alone hits the root
    assert (steady.cube_roots(parts * parts * parts) == parts).all()


def test_of_equal_products_the_first_wins():
    table = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    vectors = np.array([[1.0, 1.0 + 1e-15, 0.0], [0.0, 1.0 - 1e-15, 1.0], [0.2, 0.3, 0.3 + 1e-5]])
    assert steady.largest_products(vectors, table).tolist() == [0, 1, 2]


def test_of_equally_near_points_the_first_wins():
    points = np.array([[1.0, 0, 0], [-1.0 - 1e-15, 0, 0], [0, 0, 0], [0, 1.0, 0], [1.0 + 1e-5, 0, 0]])
    assert steady.nearest_before(points, 1, 5).tolist() == [0, 0, 2, 0]
