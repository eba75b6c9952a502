"""Legs and torso at once, against a second reading of the engine's rules, one bone and one number at a time."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.model.torso import Bones, Codes, axes, nearest_turns, play
from io_idtech_models.model.transforms import to_matrices
from tests.samples import CORPUS, corpus_params

# -- the second reading: plain numbers, nested lists


def rows_of(pitch, yaw, roll):
    sp, sy, sr = (math.sin(math.radians(a)) for a in (pitch, yaw, roll))
    cp, cy, cr = (math.cos(math.radians(a)) for a in (pitch, yaw, roll))
    forward = [cp * cy, cp * sy, -sp]
    left = [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp]
    up = [cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp]
    return [forward, left, up]


def mixed_angle(a, b, weight):
    a, b = int(a) * 360 / 65536, int(b) * 360 / 65536
    way = b - a
    if way > 180:
        way -= 360
    elif way < -180:
        way += 360
    return a + weight * way


def direction(codes):
    return rows_of(int(codes[0]) * 360 / 65536, int(codes[1]) * 360 / 65536, 0)[0]


def mixed_direction(a, b, weight):
    v = [x * (1 - weight) + y * weight for x, y in zip(direction(a), direction(b), strict=True)]
    size = math.sqrt(sum(x * x for x in v))
    return [x / size for x in v] if size else v


def one_pose(legs, torso, frame, rig, pitch, yaw):
    """Return the places and matrices of one frame, as lists; `rig` is parents, distances, weights, torso parent."""
    parents, dists, weights, torso_parent = rig
    places, matrices, full = [], [], False
    for j, weight in enumerate(weights):
        if weight == 0:
            full = False
        elif weight == 1:
            full = True
        a, b = legs.angles[frame, j], torso.angles[frame, j]
        u, v = legs.offset_angles[frame, j], torso.offset_angles[frame, j]
        if full:
            angles, way = [int(x) * 360 / 65536 for x in b], direction(v)
        elif weight:
            angles = [mixed_angle(x, y, weight) for x, y in zip(a, b, strict=True)]
            way = mixed_direction(u, v, weight)
        else:
            angles, way = [int(x) * 360 / 65536 for x in a], direction(u)
        matrices.append(rows_of(*angles))
        if parents[j] < 0:
            places.append([float(x) for x in legs.roots[frame]])
        else:
            places.append([p + dists[j] * w for p, w in zip(places[parents[j]], way, strict=True)])
    centre = list(places[torso_parent]) if 0 <= torso_parent < len(parents) else [0.0, 0.0, 0.0]
    aim = rows_of(pitch, yaw, 0)
    for j, weight in enumerate(weights):
        if weight > 0:
            turn = [[(1 - weight) * (r == c) + weight * aim[c][r] for c in range(3)] for r in range(3)]
            away = [p - c for p, c in zip(places[j], centre, strict=True)]
            places[j] = [centre[r] + sum(turn[r][k] * away[k] for k in range(3)) for r in range(3)]
            old = matrices[j]
            matrices[j] = [[sum(turn[r][k] * old[k][c] for k in range(3)) for c in range(3)] for r in range(3)]
    return places, matrices


def random_codes(rng, frames, joints):
    low, high = -32768, 32768
    angles = rng.integers(low, high, (frames, joints, 3)).astype(np.int16)
    ways = rng.integers(low, high, (frames, joints, 2)).astype(np.int16)
    return Codes(angles, ways, rng.normal(0, 20, (frames, 3)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(-90, 90), st.floats(-180, 180))
def test_it_equals_the_second_reading(seed, joints, pitch, yaw):
    rng = np.random.default_rng(seed)
    legs, torso = random_codes(rng, 3, joints), random_codes(rng, 3, joints)
    parents = np.array([rng.integers(-1, j) if j else -1 for j in range(joints)])
    dists = rng.normal(0, 9, joints)
    weights = rng.choice([0.0, 1.0, 0.5, 0.25, 0.9, -0.5], joints)
    torso_parent = int(rng.integers(-1, joints))
    places, matrices = play(legs, torso, Bones(parents, dists, weights, torso_parent), pitch, yaw)
    for frame in range(3):
        rig = (parents.tolist(), dists.tolist(), weights.tolist(), torso_parent)
        wanted = one_pose(legs, torso, frame, rig, pitch, yaw)
        np.testing.assert_allclose(places[frame], wanted[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(matrices[frame], wanted[1], rtol=0, atol=1e-9)


# -- by hand


def still(joints, frames=1):
    """Return codes of bones that all look forward, upright, each ahead of its parent."""
    zeros = np.zeros((frames, joints, 3), np.int16)
    return Codes(zeros, zeros[..., :2].copy(), np.zeros((frames, 3)))


CHAIN = np.array([-1, 0, 1, 2])


def test_yaw_turns_the_torso_to_the_left_about_its_parent():
    frames = still(4)
    frames.roots[0] = 1, 2, 3
    places, matrices = play(frames, frames, Bones(CHAIN, np.full(4, 10.0), np.array([0, 0, 1, 1.0]), 1), yaw=90.0)
    np.testing.assert_allclose(places[0], [(1, 2, 3), (11, 2, 3), (11, 12, 3), (11, 22, 3)], atol=1e-12)
    np.testing.assert_allclose(matrices[0, :2], [np.eye(3)] * 2, atol=1e-12)
    np.testing.assert_allclose(matrices[0, 2] @ (1, 0, 0), (0, 1, 0), atol=1e-12)


def test_half_a_turn_keeps_its_sign():
    legs, torso = still(1), still(1)
    torso.angles[0, 0, 1] = -32768
    _, matrices = play(legs, torso, Bones(np.array([-1]), np.zeros(1), np.array([0.5]), -1))
    np.testing.assert_allclose(matrices[0, 0, 0], (0, -1, 0), atol=1e-12)


def test_opposite_ways_blended_half_and_half_leave_none():
    legs, torso = still(2), still(2)
    torso.offset_angles[0, 1, 1] = -32768
    places, _ = play(legs, torso, Bones(np.array([-1, 0]), np.array([0, 10.0]), np.array([0, 0.5]), 0))
    np.testing.assert_allclose(places[0, 1], (0, 0, 0), atol=1e-12)
    assert np.isfinite(places).all()


def test_only_mds_turns_the_rows_of_tags():
    rng = np.random.default_rng(5)
    frames = random_codes(rng, 2, 2)
    rig = (np.array([-1, 0]), np.array([0, 4.0]), np.array([0, 1.0]), 0)
    plain = play(frames, frames, Bones(*rig))[1]
    turned = play(frames, frames, Bones(*rig), 10.0, 20.0, mds_tags=np.array([False, True]))[1]
    turn = axes(np.array((10.0, 20.0, 0.0))).T
    np.testing.assert_allclose(turned[:, 1], plain[:, 1] @ turn.T, atol=1e-12)
    np.testing.assert_allclose(play(frames, frames, Bones(*rig), 10.0, 20.0)[1][:, 1], turn @ plain[:, 1], atol=1e-12)


def test_what_is_given_stays_as_it_was():
    rng = np.random.default_rng(1)
    legs, torso = random_codes(rng, 2, 4), random_codes(rng, 2, 4)
    before = [array.copy() for codes in (legs, torso) for array in (codes.angles, codes.offset_angles, codes.roots)]
    play(legs, torso, Bones(CHAIN, np.ones(4), np.array([0, 0.5, 1, 1]), 1), 20.0, 30.0)
    after = [array for codes in (legs, torso) for array in (codes.angles, codes.offset_angles, codes.roots)]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_animations_of_different_length_are_refused():
    with pytest.raises(ValueError, match="legs"):
        play(still(2), still(2, frames=3), Bones(np.array([-1, 0]), np.ones(2), np.ones(2), 0))


def test_no_frames_and_no_joints():
    places, matrices = play(still(2, 0), still(2, 0), Bones(np.array([-1, 0]), np.ones(2), np.ones(2), 0))
    assert (places.shape, matrices.shape) == ((0, 2, 3), (0, 2, 3, 3))
    assert nearest_turns(matrices).shape == (0, 2, 4)
    assert play(still(0), still(0), Bones(np.zeros(0, int), np.zeros(0), np.zeros(0), 0))[0].shape == (1, 0, 3)


# -- nearest rotations


def test_rotations_are_their_own_nearest():
    rng = np.random.default_rng(2)
    matrices = axes(rng.uniform(-180, 180, (6, 4, 3)))
    np.testing.assert_allclose(to_matrices(nearest_turns(matrices)), matrices, atol=1e-12)


def test_the_nearest_rotation_is_the_nearest():
    rng = np.random.default_rng(3)
    for _ in range(20):
        bent = rng.normal(0, 1, (3, 3))
        found = to_matrices(nearest_turns(bent))
        np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(found) > 0
        others = axes(rng.uniform(-180, 180, (500, 3)))
        others = np.concatenate((others, found @ axes(rng.normal(0, 0.1, (500, 3)))))
        distances = np.linalg.norm(others - bent, axis=(-1, -2))
        assert np.linalg.norm(found - bent) <= distances.min() + 1e-9


# -- real files


def mdx(path):
    """Return the codes and the rig of an MDX: header 96 bytes, frame 52 + 12 per bone, bone 80."""
    data = path.read_bytes()
    frames, bones, ofs_frames, ofs_bones, torso_parent = struct.unpack_from("<5i", data, 72)
    size = 52 + 12 * bones
    table = np.frombuffer(data, np.uint8, frames * size, ofs_frames).reshape(frames, size)
    roots = table[:, 40:52].copy().view("<f4")
    codes = table[:, 52:].copy().view("<i2").reshape(frames, bones, 6)
    infos = [struct.unpack_from("<64siffi", data, ofs_bones + 80 * bone) for bone in range(bones)]
    parents, weights, dists = (np.array([info[k] for info in infos]) for k in (1, 2, 3))
    return Codes(codes[..., :3], codes[..., 4:], roots), (parents, dists, weights, torso_parent)


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_an_animation_on_legs_and_torso_is_itself(file):
    expected = file.expected()
    keys = [key for key in expected if key.endswith(".bone_matrices")]
    assert keys
    for key in keys:
        stem, frame = key.split(".")[:2]
        codes, rig = mdx(next(CORPUS.rglob(f"{stem}.mdx")))
        assert ((rig[2] >= 0) & (rig[2] <= 1)).all()
        assert (rig[2] > 0).any()
        places, matrices = play(codes, codes, Bones(*rig))
        number = int(frame.removeprefix("frame"))
        np.testing.assert_allclose(matrices[number], expected[key], atol=1e-5)
        np.testing.assert_allclose(places[number], expected[f"{stem}.{frame}.bone_translations"], atol=0.03)
