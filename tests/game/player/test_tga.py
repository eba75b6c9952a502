"""Pictures that our own code writes."""

import numpy as np

from io_idtech_models.game.player import tga


def test_the_header_and_the_order_of_bytes():
    picture = np.array([[[255, 2, 3], [4, 5, 6]]], np.uint8)
    data = tga.write(picture)
    assert data == bytes((0, 0, 2, *[0] * 9, 2, 0, 1, 0, 24, 0, 3, 2, 255, 6, 5, 4))
