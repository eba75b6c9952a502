"""Pictures that our own code writes."""

import numpy as np

from io_idtech_models.game.player import tga


def test_the_header_and_the_order_of_bytes():
    picture = np.array([[[255, 2, 3], [4, 5, 6]]], np.uint8)
    data = tga.write(picture)
    assert data == bytes((0, 0, 2, *[0] * 9, 2, 0, 1, 0, 24, 0, 3, 2, 255, 6, 5, 4))


def test_smaller_is_the_mean_and_larger_the_nearest():
    picture = np.zeros((4, 4, 3), np.uint8)
    picture[:2, :2] = 100
    assert tga.resized(picture, 2, 2)[:, :, 0].tolist() == [[100, 0], [0, 0]]
    assert tga.resized(picture, 1, 1)[0, 0, 0] == 25
    assert tga.resized(picture, 8, 8)[0, :, 0].tolist() == [100, 100, 100, 100, 0, 0, 0, 0]


def test_what_is_too_large_shrinks():
    assert tga.fitting(np.zeros((4, 8192, 3), np.uint8)).shape == (1, 2048, 3)
