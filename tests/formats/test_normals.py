"""Coded normals against the engine's own arithmetic."""

import math

import numpy as np
import pytest

from io_idtech_models.formats._normals import decode_latlong, encode_latlong

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
        ((0, 0, 1), 0),
        ((0, 0, -1), 128),
        ((0, 0, 77), 0),
        ((1e-9, 0, -3), 128),
        ((0, 0, 0), 0),
        ((np.nan, 0, 1), 0),
        ((0, -1e-9, 1), 0),
    ],
)
def test_poles_have_one_spelling_and_nothing_is_up(vector, code):
    assert encode_latlong(np.array([vector], float)).tolist() == [code]


def test_length_does_not_matter():
    vectors = np.random.default_rng(11).normal(size=(1000, 3))
    np.testing.assert_array_equal(encode_latlong(vectors * 1000), encode_latlong(vectors / 1000))


def test_no_normals():
    assert encode_latlong(np.zeros((0, 3))).shape == (0,)
