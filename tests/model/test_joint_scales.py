"""Joints that rest larger or smaller than others, and what that does to poses."""

from dataclasses import replace
from typing import Any

import numpy as np

from io_idtech_models.model.joint_scales import posed, stretches, taken_apart, without_rest_scale
from io_idtech_models.model.skeletal import Animation, Scales, Skeleton
from io_idtech_models.model.transforms import to_matrices

RANDOM = np.random.default_rng(3)


def test_axes_are_taken_apart_each_for_itself():
    """Some are mirrored, one is sheared, which leaves the others as they are."""
    turns, scales = RANDOM.normal(size=(8, 4)), RANDOM.uniform(0.5, 2.0, (8, 3))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    scales[::3, 0] *= -1.0
    axes = to_matrices(turns) * scales[:, None, :]
    sheared = axes.copy()
    sheared[5] = to_matrices(turns[5]) @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    for given, bent in ((axes, []), (sheared, [5])):
        found, sizes, off = taken_apart(given)
        assert np.flatnonzero(off).tolist() == bent
        shown = to_matrices(found) * sizes[:, None, :]
        away = np.abs(shown - given).max(axis=(1, 2))
        assert (away[~off] < 1e-9).all() and (away[off] > 0.01).all()
        np.testing.assert_allclose(np.linalg.det(to_matrices(found)), 1.0)
        for axes, turn in zip(given[off], to_matrices(found)[off], strict=True):
            left, _, right = np.linalg.svd(axes / np.linalg.norm(axes, axis=0))
            np.testing.assert_allclose(turn, left @ right, atol=1e-6, err_msg="the nearest")
        along = np.einsum("nij,nij->nj", to_matrices(found), given)
        np.testing.assert_allclose(sizes[off], along[off], err_msg="as long as the axes are along those of the turn")


def test_what_joints_do_is_what_they_did_with_their_scale_at_rest():
    """Of joints that are not turned, as nothing is sheared: each has an uneven scale of its own at rest."""
    parents, still = np.array([-1, 0, 1], np.int32), np.tile([1.0, 0, 0, 0], (3, 1))
    names = list("abc")
    rest: Any = np.arange(9.0).reshape(3, 3)
    skeleton = Skeleton(names, parents, rest, still, scales=RANDOM.uniform(0.5, 2.0, (3, 3)))
    scales = Scales(RANDOM.uniform(0.5, 2.0, (4, 3, 3)), np.zeros(3, np.bool_), True)
    moved = RANDOM.uniform(-9, 9, (4, 3, 3))
    whole = Animation("x", names, parents, moved, np.tile(still, (4, 1, 1)), 10.0, np.zeros((4, 2, 3)), scales=scales)
    whole = replace(whole, holds_rest_scale=True)
    found = without_rest_scale(whole, skeleton)
    assert not found.holds_rest_scale
    (places, axes), (was_at, was) = posed(found), posed(whole)
    np.testing.assert_allclose(places, was_at)
    np.testing.assert_allclose(axes @ stretches(skeleton), was)
