"""A character's arrays taken apart: who gets which face, and where parts begin."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.model.player import cutting
from io_idtech_models.model.transforms import as_matrices
from io_idtech_models.model.vertex import Surface

TURN = np.array(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))  # a quarter about Z


def surface(positions) -> Any:
    points = np.array(positions, np.float32)
    triangles = np.arange(points.shape[1], dtype=np.int32).reshape(-1, 3)
    normals = np.broadcast_to(np.array((1, 0, 0), np.float32), points.shape).copy()
    return Surface("a", points, triangles, np.zeros((points.shape[1], 2), np.float32), [], normals)


def test_surfaces_that_meet_at_a_place_share_what_is_used_there():
    one = surface([[(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5), (6, 5, 5), (5, 6, 5)]])
    other = surface([[(1, 0, 0), (1, 1, 0), (0, 1, 0)]])
    used = cutting.used_by([one, other], [np.array((0, 2)), np.array((1,))], 3)
    first, both, second, third = (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)
    assert used[0].tolist() == np.array((first, both, both, third, third, third), bool).tolist()
    assert used[1].tolist() == np.array((both, second, both), bool).tolist()


def test_a_face_is_of_the_part_with_most_weight_and_of_equals_the_first():
    weights = np.array(((1.0, 0), (0.4, 0.6), (0, 1.0), (0.5, 0.5)))
    faces = cutting.regions_of_faces(weights, np.array((0, 1, 3, 1, 2, 3, 0, 2, 3)), np.repeat(np.arange(3), 3))
    assert faces.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("left", "quarters"), [((1, 0), 1), ((0, 1), 0), ((-1, 0.2), 3), ((0.1, -1), 2), ((0, 0), 1)])
def test_what_is_left_says_where_a_character_looks(left, quarters):
    """What is nearly along an axis does not turn: bones are not quite even."""
    turn = cutting.facing(np.array((*left, 0.0)))
    assert turn == cutting.QUARTERS[quarters]
    if any(left):
        turned = cutting.into_game(turn, 1.0, np.zeros(3))[:3, :3] @ np.round((*left, 0.0))
        np.testing.assert_array_equal(turned, (0, 1, 0))


@pytest.mark.parametrize("degrees", [30, 45, -120, 200])
def test_who_stands_askew_is_turned_as_far(degrees):
    left = np.array((np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0))
    turned = cutting.into_game(cutting.facing(3 * left), 1.0, np.zeros(3))[:3, :3]
    np.testing.assert_allclose(turned @ left, (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-12)


def test_fitted_is_as_high_as_a_player_and_stands():
    points = np.array(((0, 0, 1.0), (2, 2, 3.0)))
    into = cutting.fitted(cutting.QUARTERS[1], points, np.array((2.0, 1.0, 2.0)))
    np.testing.assert_allclose(into @ (0, 0, 1, 1), (28, -56, -24, 1))
    np.testing.assert_allclose((into @ (2, 1, 3, 1))[:3], (0, 0, 32))


def test_triangles_keep_their_vertices_together():
    whole = surface(np.arange(18).reshape(1, 6, 3))
    part = cutting.chosen_triangles(whole, np.array((False, True)))
    assert part is not None
    np.testing.assert_array_equal(part.positions, whole.positions[:, 3:])
    assert part.triangles.tolist() == [[0, 1, 2]]
    assert cutting.chosen_triangles(whole, np.zeros(2, np.bool_)) is None


def test_normals_turn_and_do_not_grow():
    moved: Any = cutting.in_frames(
        surface([[(1, 0, 0), (0, 1, 0), (0, 0, 1)]]), cutting.into_game(cutting.QUARTERS[1], 2.0, np.ones(3))[None], [0]
    )
    np.testing.assert_allclose(moved.positions[0], [(1, 3, 1), (-1, 1, 1), (1, 1, 3)])
    np.testing.assert_allclose(moved.normals[0], np.broadcast_to((0, 1, 0), (3, 3)))


def test_what_follows_a_joint_stays_where_it_is_in_one_frame():
    own = surface([[(1, 0, 0), (5, 5, 5), (0, 0, 1)], [(9, 9, 9), (6, 6, 6), (9, 9, 9)]])
    joint = cutting.Joint(as_matrices(np.stack((np.eye(3), TURN)), np.array(((0, 0, 0), (0, 0, 2.0)))))
    cutting.follow(own, np.array((True, False, True)), joint, 0)
    np.testing.assert_allclose(own.positions[1], [(0, 1, 2), (6, 6, 6), (0, 0, 3)])
    np.testing.assert_allclose(own.normals[1], [(0, 1, 0), (1, 0, 0), (0, 1, 0)])


@pytest.mark.parametrize("apart", range(7))
def test_vertices_that_part_in_some_frame_are_not_at_one_place(apart):
    """Four frames are looked at: the first, the last, and two between."""
    still, shut = [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(1, 0, 0), (0, 1, 0), (1, 1, 0)]
    opened = [[(x + 9 * (nth == apart), y, z) for x, y, z in shut] for nth in range(7)]
    used = cutting.used_by([surface([still] * 7), surface(opened)], [np.array([0]), np.array([1])], 2)
    assert used[0].all(axis=1).any() == (apart not in {0, 2, 4, 6})


def test_surfaces_that_meet_know_it():
    one, other = surface([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]]), surface([[(1, 0, 0), (0, 1, 0), (1, 1, 0)]])
    used = cutting.used_by([one, other], [np.array([0]), np.array([1])], 2)
    assert [each.all(axis=1).tolist() for each in used] == [[False, True, True], [True, True, False]]


def test_a_joint_is_not_turned_at_rest_and_may_lie_along_its_bone():
    rest = as_matrices(TURN, np.array((1.0, 0, 0)))
    poses = np.stack((rest, as_matrices(TURN @ TURN, np.array((2.0, 0, 0)))))
    poses[:, :3, :3] *= 3.0
    found = cutting.joint(poses, poses[0], 0.5)
    np.testing.assert_allclose(found.matrices[:, :3, :3], (np.eye(3), TURN), atol=1e-12)
    np.testing.assert_allclose(found.matrices[:, :3, 3], ((-0.5, 0, 0), (2, -1.5, 0)), atol=1e-12)
    assert cutting.joint(poses, poses[0]).matrices[:, :3, 3].tolist() == [[1, 0, 0], [2, 0, 0]]


def test_a_weapon_points_ahead_in_the_frame_in_which_it_is_aimed():
    held = as_matrices(np.stack((np.eye(3), TURN)), np.zeros((2, 3)))
    torso = as_matrices(TURN, np.zeros(3))
    found = cutting.aimed(held, 1, torso)
    np.testing.assert_allclose(torso[:3, :3] @ found[1, :3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found[1, :3, :3] @ found[0, :3, :3].T, TURN, atol=1e-12)


def test_a_joint_as_another_sees_it_and_as_a_tag():
    one = cutting.Joint(as_matrices(np.stack((TURN, np.eye(3))), np.array(((1.0, 2, 3), (4, 5, 6)))))
    np.testing.assert_allclose(one.beside(one), [np.eye(4)] * 2, atol=1e-12)
    still = cutting.Joint(as_matrices(np.stack((np.eye(3),) * 2), np.ones((2, 3))))
    np.testing.assert_allclose(one.beside(still)[:, :3, 3], ((0, 1, 2), (3, 4, 5)), atol=1e-12)
    found = cutting.tag("tag_a", one.matrices)
    assert (found.name, found.origins.tolist()) == ("tag_a", [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(found.axes, (TURN.T, np.eye(3)), atol=1e-7)
