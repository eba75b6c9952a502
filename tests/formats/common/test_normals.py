"""Coded normals against the engine's own arithmetic."""

import math

import numpy as np
import pytest

from io_idtech_models.formats.common.normals import (
    NUM_DIRECTIONS,
    decode_direction,
    decode_latlong,
    direction_table,
    encode_direction,
    encode_latlong,
)

ALL = np.arange(65536, dtype=np.uint16)


def unit(vectors):
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def degrees_between(a, b):
    # The arc cosine of a float32 product is too coarse for small angles.
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(unit(a) - unit(b), axis=-1) / 2, 0, 1)))


def engine(code):
    """Return what LerpMeshVertexes computes: `tr.sinTable[i] = sin(DEG2RAD(i * 360.0f / (FUNCTABLE_SIZE - 1)))`."""
    table = [math.sin(math.radians(i * 360.0 / 1023)) for i in range(1024)]
    latitude, longitude = (code >> 8 & 0xFF) * 4, (code & 0xFF) * 4
    return (
        table[(latitude + 256) & 1023] * table[longitude],
        table[latitude] * table[longitude],
        table[(longitude + 256) & 1023],
    )


@pytest.mark.parametrize("code", [0, 1, 64, 128, 255, 256, 0x4040, 0x8040, 0xC040, 0x1234, 0xFEDC, 0xFFFF, 0xFF80])
def test_decoding_is_the_engines(code):
    assert decode_latlong(np.array([code], np.uint16))[0] == pytest.approx(engine(code), abs=1e-6)


def test_axes():
    codes = np.array([0, 128, 64, 0x4040, 0x8040, 0xC040], np.uint16)
    axes = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]
    assert degrees_between(decode_latlong(codes), axes).max() < 0.4
    assert degrees_between(decode_latlong(encode_latlong(np.array(axes, float))), axes).max() < 0.5


def test_shape_of_decoded_frames():
    assert decode_latlong(np.zeros((3, 5), np.uint16)).shape == (3, 5, 3)
    assert decode_latlong(np.zeros((0, 5), np.uint16)).shape == (0, 5, 3)


def test_error_of_encoding_is_what_the_docs_say():
    vectors = unit(np.random.default_rng(7).normal(size=(200_000, 3)))
    errors = degrees_between(decode_latlong(encode_latlong(vectors)), vectors)
    assert errors.mean() <= 0.5
    assert errors.max() <= 1.01


def test_every_neighbour_of_the_chosen_code_is_farther():
    vectors = unit(np.random.default_rng(8).normal(size=(20_000, 3)))
    codes = encode_latlong(vectors)
    best = degrees_between(decode_latlong(codes), vectors)
    for azimuth in (-1, 0, 1):
        for zenith in (-1, 0, 1):
            moved = np.clip((codes & 0xFF).astype(int) + zenith, 0, 128)
            other = ((codes >> 8).astype(int) + azimuth) % 256 << 8 | moved
            assert (degrees_between(decode_latlong(other.astype(np.uint16)), vectors) >= best - 1e-9).all()


def test_a_code_is_its_own_hint():
    np.testing.assert_array_equal(encode_latlong(decode_latlong(ALL), ALL), ALL)


def test_without_a_hint_a_code_decodes_to_its_vector_again():
    # Zeniths from 128 on go past the pole: shorter spellings, half a code away, stand for them.
    again = decode_latlong(encode_latlong(decode_latlong(ALL)))
    plain = (ALL & 0xFF) < 128
    np.testing.assert_array_equal(again[plain], decode_latlong(ALL)[plain])
    assert degrees_between(again, decode_latlong(ALL)).max() < 0.6


def test_a_hint_that_decodes_to_something_else_does_not_count():
    vectors = unit(np.random.default_rng(9).normal(size=(20_000, 3)))
    vectors = vectors[np.abs(vectors[:, 2]) < 0.9]
    codes = encode_latlong(vectors)
    for step in (1, -1, 256, -256):
        hint = (codes.astype(np.int64) + step).astype(np.uint16)
        np.testing.assert_array_equal(encode_latlong(vectors, hint), codes)


def test_a_hint_survives_the_rounding_of_a_rotation():
    turn = np.linalg.qr(np.random.default_rng(10).normal(size=(3, 3)))[0]
    there = (decode_latlong(ALL) @ turn.astype(np.float32)).astype(np.float32)
    back = (there @ turn.astype(np.float32).T).astype(np.float32)
    np.testing.assert_array_equal(encode_latlong(back, ALL), ALL)


@pytest.mark.parametrize(
    ("vector", "code"),
    [
        ((0, 0, 1), 0), ((0, 0, -1), 128), ((0, 0, 77), 0), ((1e-9, 0, -3), 128), ((0, 0, 0), 0), ((np.nan, 0, 1), 0),
        ((0, -1e-9, 1), 0),
    ],
)  # fmt: skip
def test_poles_have_one_spelling_and_nothing_is_up(vector, code):
    assert encode_latlong(np.array([vector], float)).tolist() == [code]


def test_length_does_not_matter():
    vectors = np.random.default_rng(11).normal(size=(1000, 3))
    np.testing.assert_array_equal(encode_latlong(vectors * 1000), encode_latlong(vectors / 1000))


def test_no_normals():
    assert encode_latlong(np.zeros((0, 3))).shape == (0,)


# -- MD2's table of directions


def divided_icosahedron():
    """Return the directions of the corners of an icosahedron whose flat faces were divided in four twice, (162, 3)."""
    golden = (1 + math.sqrt(5)) / 2
    signs = [(a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    corners = np.array([v for a, b in signs for v in ((a, 0, b), (0, b, a), (b, a, 0))], np.float64)
    for edge in (2.0, 1.0):
        gaps = np.linalg.norm(corners[:, None] - corners[None], axis=2)
        pairs = np.argwhere(np.triu(np.isclose(gaps, edge)))
        corners = np.concatenate((corners, corners[pairs].mean(axis=1)))
    return unit(corners)


def test_the_directions_are_those_of_a_divided_icosahedron():
    table = direction_table()
    assert table.shape == (NUM_DIRECTIONS, 3) == (162, 3)
    assert not table.flags.writeable, "all share it"
    np.testing.assert_allclose(np.linalg.norm(table.astype(np.float64), axis=1), 1, atol=2e-6)
    wanted = divided_icosahedron()
    assert len(wanted) == 162
    gaps = np.linalg.norm(table[:, None] - wanted[None], axis=2)
    assert gaps.min(axis=1).max() < 2e-6
    assert sorted(gaps.argmin(axis=1).tolist()) == list(range(162)), "each once"


@pytest.mark.parametrize(
    ("code", "direction"),
    [
        (0, (-0.525731, 0, 0.850651)), (5, (0, 0, 1)), (32, (0, 1, 0)), (52, (1, 0, 0)), (84, (0, 0, -1)),
        (104, (0, -1, 0)), (143, (-1, 0, 0)), (161, (-0.688191, -0.587785, -0.425325)),
    ],
)  # fmt: skip
def test_some_directions_by_number(code, direction):
    np.testing.assert_allclose(decode_direction(np.array([code], np.uint8))[0], direction, atol=1e-6)


def test_all_directions_come_back():
    codes = np.arange(162, dtype=np.uint8)
    assert encode_direction(decode_direction(codes)).tolist() == codes.tolist()
    assert encode_direction(decode_direction(codes) * 7.5).tolist() == codes.tolist(), "of any length"


def test_the_closest_direction_is_chosen():
    normals = np.random.default_rng(5).normal(size=(40000, 3))
    codes = encode_direction(normals)
    closeness = unit(normals) @ direction_table().T.astype(np.float64)
    assert np.abs(closeness[np.arange(len(codes)), codes] - closeness.max(axis=1)).max() < 1e-6
    assert degrees_between(decode_direction(codes), normals).max() < 11.1


def test_codes_beyond_the_table_point_up_and_are_kept_while_they_do():
    codes = np.array([162, 200, 255], np.uint8)
    assert decode_direction(codes).tolist() == [[0, 0, 1]] * 3
    up, side = np.tile(((0.0, 0.0, 1.0),), (3, 1)), np.tile(((0.0, 1.0, 0.0),), (3, 1))
    assert encode_direction(up, codes).tolist() == codes.tolist()
    assert encode_direction(up).tolist() == [5] * 3
    assert encode_direction(side, codes).tolist() == [32] * 3


def test_vectors_without_a_direction_are_the_first_as_in_qdata():
    assert encode_direction(np.array([(0, 0, 0), (np.nan, np.nan, np.nan)])).tolist() == [0, 0]
    assert encode_direction(np.zeros((0, 3))).tolist() == []
