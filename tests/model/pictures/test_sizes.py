"""Pictures of other sizes."""

import numpy as np

from io_idtech_models.model.pictures import fitting, resized


def test_smaller_is_the_mean_and_larger_the_nearest():
    picture = np.zeros((4, 4, 3), np.uint8)
    picture[:2, :2] = 100
    assert resized(picture, 2, 2)[:, :, 0].tolist() == [[100, 0], [0, 0]]
    assert resized(picture, 1, 1)[0, 0, 0] == 25
    assert resized(picture, 8, 8)[0, :, 0].tolist() == [100, 100, 100, 100, 0, 0, 0, 0]


def test_what_is_too_large_shrinks():
    assert fitting(np.zeros((4, 8192, 3), np.uint8), 2048).shape == (1, 2048, 3)


def test_numbers_are_never_mixed():
    numbers = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    assert resized(numbers, 3, 2) is numbers
    assert resized(numbers, 1, 1).tolist() == [[5]]
    assert resized(numbers, 6, 2).tolist() == [[1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6]]
