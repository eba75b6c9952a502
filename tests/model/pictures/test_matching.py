"""Colours to numbers of a palette."""

import numpy as np

from io_idtech_models.model.pictures import Matching, is_opaque, match, quake_palette

PLAIN = Matching(quake_palette())


def test_every_colour_of_the_palette_finds_itself():
    colors = quake_palette().reshape(16, 16, 3)
    found = match(colors, PLAIN)
    assert (quake_palette()[found] == colors).all()
    assert (match(colors, PLAIN, np.arange(256, dtype=np.uint8).reshape(16, 16)).ravel() == np.arange(256)).all()


def test_the_nearest_by_the_sum_of_squares():
    colors = np.random.default_rng(3).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    off = ((colors[:, :, None].astype(int) - quake_palette().astype(int)) ** 2).sum(axis=3)
    found = match(colors, PLAIN)
    assert (np.take_along_axis(off, found[..., None].astype(int), axis=2)[..., 0] == off.min(axis=2)).all()
    assert (found == off.argmin(axis=2)).all()


def test_dithering_comes_nearer_on_average_and_keeps_exact_colours():
    grey = np.full((16, 16, 3), 53, np.uint8)
    plain, dithered = (
        quake_palette()[match(grey, Matching(quake_palette(), dither=d))].mean(axis=(0, 1)) for d in (False, True)
    )
    assert np.abs(dithered - 53).sum() < np.abs(plain - 53).sum()
    exact = np.tile(quake_palette()[77], (8, 8, 1))
    assert (quake_palette()[match(exact, Matching(quake_palette(), dither=True))] == exact).all()


def test_dithering_repeats_after_eight_pixels():
    found = match(np.full((24, 20, 3), 53, np.uint8), Matching(quake_palette(), dither=True))
    assert (found == np.tile(found[:8, :8], (3, 3))[:, :20]).all()
    assert len({tuple(row) for row in found[:8].tolist()}) > 2


def test_what_is_avoided():
    reds = np.tile(quake_palette()[251], (2, 2, 1))
    assert set(match(reds, PLAIN).ravel().tolist()) == {251}
    assert not {251} & set(match(reds, Matching(quake_palette(), avoided={251})).ravel().tolist())
    assert set(match(reds, Matching(quake_palette(), exact_only={251})).ravel().tolist()) == {251}
    assert not {251} & set(match(reds - [1, 0, 0], Matching(quake_palette(), exact_only={251})).ravel().tolist())


def test_what_is_seen_of_a_picture():
    assert is_opaque(np.array([[0, 254, 255]], np.uint8)).tolist() == [[True, True, False]]
    assert is_opaque(np.zeros((1, 2, 3), np.uint8)).all(), "without alpha all is"
    assert is_opaque(np.array([[[0, 0, 0, 0], [0, 0, 0, 255]]], np.uint8)).tolist() == [[False, True]]
