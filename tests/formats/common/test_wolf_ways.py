"""Ways of bones as Enemy Territory looks them up, against a second reading of its rules, a number at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from io_idtech_models.formats.common.wolf import ways
from io_idtech_models.formats.common.wolf.ways import HALF_CODE, decode_directions, encode_directions
from tests.samples_mdm import fast_unit, way_of

EDGES = [-32768, -32753, -32752, -16385, -16384, -16369, -1, 0, 15, 16, 16383, 16384, 16399, 16400, 32751, 32752, 32767]
CODE = st.one_of(st.sampled_from(EDGES), st.integers(-32768, 32767))
CODES = arrays.arrays(np.int16, (9, 2), elements=CODE)
MIXED = np.arange(9) % 3 == 1
HALF_STEP = np.pi / 4095  # of the table
NONE = np.zeros(1, np.bool_)


@given(CODES)
def test_codes_are_the_games_ways(codes):
    found = ways.decode_ways(codes, MIXED, True)
    for way, (pitch, yaw), mixed in zip(found, codes.tolist(), MIXED.tolist(), strict=True):
        wanted = fast_unit(way_of(pitch, yaw)) if mixed else way_of(pitch, yaw)
        np.testing.assert_allclose(way, wanted, atol=2e-7)  # the game's own are of single precision


@given(CODES)
def test_exact_ways_are_the_codes(codes):
    np.testing.assert_array_equal(ways.decode_ways(codes, MIXED, False), decode_directions(codes))
    found = decode_directions(codes) * 5
    np.testing.assert_array_equal(ways.encode_ways(found, MIXED, False), encode_directions(found))


@given(CODES)
def test_what_the_game_shows_comes_back(codes):
    """Others may be as near: beyond the pole, and where the table's two ends meet."""
    shown = ways.decode_ways(codes, MIXED, True)
    again = ways.encode_ways(shown, MIXED, True)
    np.testing.assert_allclose(ways.decode_ways(again, MIXED, True), shown, atol=1e-8)


def nearest(way, mixed):
    """Return how near the game can show a way, by trying every pitch with the yaws that come near."""
    flat = np.arctan2(way[1], way[0]) / (2 * np.pi) * 4095
    yaws = np.concatenate([(round(flat + turn) + np.arange(-9, 10)) % 4096 for turn in (0, 4095 / 2)])
    every = np.stack(np.meshgrid(np.arange(4096), yaws, indexing="ij"), axis=-1) << 4
    codes = every.reshape(-1, 2).astype(np.uint16).view(np.int16)
    shown = ways.decode_ways(codes, np.full(len(codes), mixed), True)
    return np.sqrt(((shown - way) ** 2).sum(axis=1)).min()


@pytest.mark.parametrize("mixed", [False, True])
def test_no_code_shows_a_way_nearer(mixed):
    rng = np.random.default_rng(5)
    given_ways = rng.normal(size=(30, 3))
    given_ways[:10, 2] *= 40  # nearly upright
    given_ways[10:14, 1] *= 1e-3  # along the seams of the table
    given_ways[14:18, 0] *= 1e-3
    given_ways /= np.linalg.norm(given_ways, axis=1, keepdims=True)
    given_ways *= rng.uniform(0.998, 1.002, (30, 1))
    between = np.full(30, mixed)
    codes = ways.encode_ways(given_ways, between, True)
    off = np.linalg.norm(ways.decode_ways(codes, between, True) - given_ways, axis=1)
    np.testing.assert_allclose(off, [nearest(way, mixed) for way in given_ways], atol=1e-12)


def test_who_is_exact_shows_a_new_code_there_too():
    """Of the 16 codes that are one direction to the game it is the one that says the way best."""
    rng = np.random.default_rng(6)
    given_ways = rng.normal(size=(5000, 3)) * [1, 1, 0.3]
    given_ways /= np.linalg.norm(given_ways, axis=1, keepdims=True)
    codes = ways.encode_ways(given_ways, np.zeros(5000, np.bool_), True)
    off = np.linalg.norm(decode_directions(codes) - given_ways, axis=1)
    assert off.max() < 2 * HALF_STEP
    assert np.median(off) < 4 * HALF_CODE  # without, they are half of 16 codes off


def test_no_way_has_the_code_of_none():
    assert ways.encode_ways(np.zeros((1, 3)), NONE, True).tolist() == [[0, 0]]


def test_more_ways_than_are_compared_at_once():
    codes = np.random.default_rng(7).integers(-32768, 32768, (ways.BLOCK + 9, 2)).astype(np.int16)
    between = np.arange(len(codes)) % 2 == 0
    shown = ways.decode_ways(codes, between, True)
    again = ways.decode_ways(ways.encode_ways(shown, between, True), between, True)
    np.testing.assert_allclose(again, shown, atol=1e-8)


def test_weights_that_mix():
    """A weight of 1 sticks, up to the next bone that follows the legs alone."""
    assert ways.mixing(np.array([0, 0.5, 1, 0.5, 0, 0.25, 1.0])).tolist() == [0, 1, 0, 0, 0, 1, 0]


def test_lengths_that_show_frames_best():
    codes = np.random.default_rng(8).integers(-32768, 32768, (40, 3, 2)).astype(np.int16)
    between, lengths = np.array([False, True, False]), np.array([20.0, 7.5, 0.125])
    shown = ways.decode_ways(codes, between, True) * lengths[:, None]
    found = ways.fitted_lengths(shown, lengths * [1.0004, 0.9997, 1.0], between)
    np.testing.assert_allclose(found, lengths, rtol=4e-5)  # a tenth of what they were off
    assert ways.sizes(between, True).tolist() == pytest.approx([1, 0.998307, 1], abs=1e-6)
    assert ways.sizes(between, False).tolist() == [1, 1, 1]
