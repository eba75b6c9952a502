"""Pictures as arrays: what of them is seen."""

import numpy as np

from io_idtech_models.model.pictures import is_opaque


def test_what_is_seen_is_asked_of_each_pixel():
    masked = np.full((2, 3, 4), 255, np.uint8)
    masked[0, 1, 3] = 0
    assert is_opaque(masked).tolist() == [[True, False, True], [True, True, True]]
    assert np.array_equal(is_opaque(np.full((2, 3, 3), 7, np.uint8)), np.ones((2, 3), np.bool_))
    assert is_opaque(np.array([[0, 255]], np.uint8)).tolist() == [[True, False]], "of numbers the last is not"
