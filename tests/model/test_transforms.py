"""Quaternions, matrices and chains of joints: checked against matrices that numpy multiplies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from io_idtech_models.model.transforms import (
    chain,
    conjugate,
    from_matrices,
    multiply,
    rotate,
    same_turns,
    to_matrices,
    unchain,
)

HALF = np.sqrt(0.5)
X, Y, Z = np.eye(3)
# A quarter turn about each axis, and what it does to the axes.
QUARTERS = {
    "x": ([HALF, HALF, 0, 0], [X, Z, -Y]),
    "y": ([HALF, 0, HALF, 0], [-Z, Y, X]),
    "z": ([HALF, 0, 0, HALF], [Y, -X, Z]),
}


def units(*shape: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Return unit quaternions of a shape (..., 4), those near half turns and the axes among them."""
    numbers = st.sampled_from([0.0, 1.0, -1.0, 1e-9, -1e-5]) | st.floats(-1, 1)
    raw = hnp.arrays(np.float64, (*shape, 4), elements=numbers)
    raw = raw.filter(lambda q: bool((np.linalg.norm(q, axis=-1) > 1e-4).all()))
    return raw.map(lambda q: np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True)))


def vectors(*shape: int) -> st.SearchStrategy[NDArray[np.float64]]:
    return hnp.arrays(np.float64, (*shape, 3), elements=st.floats(-4096, 4096))


@pytest.mark.parametrize("axis", QUARTERS)
def test_a_quarter_turn_is_counter_clockwise(axis):
    q, turned = QUARTERS[axis]
    np.testing.assert_allclose(rotate(np.array([q] * 3), np.eye(3)), turned, atol=1e-12)
    np.testing.assert_allclose(to_matrices(np.array(q)).T, turned, atol=1e-12)  # columns are the turned axes


def test_the_second_turn_comes_first():
    about_x, about_z = (np.array(QUARTERS[axis][0]) for axis in "xz")
    np.testing.assert_allclose(rotate(multiply(about_x, about_z), X), Z, atol=1e-12)  # X to Y, then Y to Z
    np.testing.assert_allclose(rotate(multiply(about_z, about_x), X), Y, atol=1e-12)


@given(units(3), units(3), vectors(3))
def test_products_are_those_of_matrices(a, b, v):
    np.testing.assert_allclose(to_matrices(multiply(a, b)), to_matrices(a) @ to_matrices(b), atol=1e-9)
    np.testing.assert_allclose(rotate(a, v), np.einsum("nij,nj->ni", to_matrices(a), v), atol=1e-7)
    np.testing.assert_allclose(rotate(conjugate(a), rotate(a, v)), v, atol=1e-7)


@given(units(2, 3))
def test_matrices_are_rotations(q):
    m = to_matrices(q)
    assert m.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(m @ np.swapaxes(m, -1, -2), np.broadcast_to(np.eye(3), m.shape), atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(m), 1.0, atol=1e-9)


def test_a_longer_quaternion_stretches():
    twice = 2 * np.array(QUARTERS["z"][0])
    np.testing.assert_allclose(rotate(twice, X), 4 * Y, atol=1e-12)
    np.testing.assert_allclose(to_matrices(twice) @ X, 4 * Y, atol=1e-12)


@given(units(4))
def test_matrices_come_back(q):
    back = from_matrices(to_matrices(q))
    assert (back[..., 0] >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(to_matrices(back), to_matrices(q), atol=1e-9)
    assert same_turns(back, q).max() < 1e-7


@pytest.mark.parametrize(
    "axis",
    [X, Y, Z, -X, (X + Y) * HALF, (Y - Z) * HALF, np.array([0.6, 0.0, -0.8]), np.array([-1.0, 1e-7, 1e-9])],
    ids=str,
)
@pytest.mark.parametrize("short_of", [0.0, 1e-12, 1e-8, 1e-4])
def test_half_turns_come_back(axis, short_of):
    angle = np.pi - short_of
    q = np.append(np.cos(angle / 2), np.sin(angle / 2) * axis)
    back = from_matrices(to_matrices(q))
    assert abs(abs(back @ q) / np.linalg.norm(q) - 1) < 1e-12
    np.testing.assert_allclose(to_matrices(back), to_matrices(q / np.linalg.norm(q)), atol=1e-12)


def test_matrices_in_single_precision_come_back_as_exactly_as_they_are():
    rng = np.random.default_rng(1)
    q = rng.normal(size=(1000, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    assert same_turns(from_matrices(to_matrices(q).astype(np.float32)), q).max() < 1e-6


def test_nothing_stays_nothing():
    assert from_matrices(np.zeros((0, 3, 3))).shape == (0, 4)
    assert to_matrices(np.zeros((5, 0, 4))).shape == (5, 0, 3, 3)
    places, turns = chain(np.zeros(0, np.int32), np.zeros((2, 0, 3)), np.zeros((2, 0, 4)))
    assert (places.shape, turns.shape) == ((2, 0, 3), (2, 0, 4))


@given(units(3), st.lists(st.sampled_from([1.0, -1.0]), min_size=3, max_size=3))
def test_a_sign_is_no_turn(q, signs):
    assert same_turns(q, q * np.array(signs)[:, None]).max() < 1e-7


@given(units(3), st.floats(0, np.pi))
def test_the_angle_between_turns(q, angle):
    further = multiply(np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]), q)
    np.testing.assert_allclose(same_turns(q, further), angle, atol=1e-7)
    np.testing.assert_allclose(same_turns(further, -q), angle, atol=1e-7)


def test_small_angles_are_told_apart():
    q = np.array([0.5, 0.5, -0.5, 0.5])
    for angle in (1e-6, 1e-9, 1e-12):
        other = multiply(np.array([1.0, 0.0, 0.0, angle / 2]), q)
        assert same_turns(q, other) == pytest.approx(angle, rel=1e-3)


# -- chains


PARENTS = np.array([-1, 0, 1, 0, -1, 4])


def matrices(places, turns):
    found = np.zeros((*places.shape[:-1], 4, 4))
    found[..., :3, :3], found[..., :3, 3], found[..., 3, 3] = to_matrices(turns), places, 1.0
    return found


@given(vectors(2, 6), units(2, 6))
def test_a_chain_multiplies_matrices(places, turns):
    own = matrices(places, turns)
    for joint, parent in enumerate(PARENTS):
        if parent >= 0:
            own[:, joint] = own[:, parent] @ own[:, joint]
    before = places.copy(), turns.copy()
    found = chain(PARENTS, places, turns)
    np.testing.assert_allclose(matrices(*found), own, atol=1e-6)
    assert np.array_equal(before[0], places)
    assert np.array_equal(before[1], turns)
    back = unchain(PARENTS, *found)
    np.testing.assert_allclose(back[0], places, atol=1e-6)
    assert same_turns(back[1], turns).max() < 1e-7


def test_a_chain_by_hand():
    about_z = np.array(QUARTERS["z"][0])
    places, turns = chain(np.array([-1, 0, 1]), np.array([[1.0, 0, 0], [2, 0, 0], [0, 3, 0]]), np.tile(about_z, (3, 1)))
    np.testing.assert_allclose(places, [[1, 0, 0], [1, 2, 0], [1, -1, 0]], atol=1e-12)
    np.testing.assert_allclose(np.abs(turns[1]), [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(rotate(turns[2], X), -Y, atol=1e-12)


def test_whole_numbers_become_fractions():
    places, _ = chain(np.array([-1, 0]), np.array([[1, 2, 3], [1, 0, 0]]), np.array([[HALF, 0, 0, HALF], [1, 0, 0, 0]]))
    np.testing.assert_allclose(places, [[1, 2, 3], [1, 3, 3]], atol=1e-12)
