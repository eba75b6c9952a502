"""Positions as bytes in a box per frame."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats.common.quake import Boxes, fit_boxes
from io_idtech_models.formats.common.quake3 import encode_places
from io_idtech_models.model.arrays import decode_positions
from io_idtech_models.reporting import LimitError


def boxes(*rows):
    """Return boxes of rows (scale, offset), three numbers each or one for all."""
    scale, offset = (np.array([np.broadcast_to(row[i], 3) for row in rows], np.float32) for i in range(2))
    return Boxes(scale, offset)


def points(*rows):
    return np.array([rows], np.float32)


def decoded(codes, box):
    return decode_positions(codes, box.scale, box.offset)


def test_boxes_are_the_extents():
    fitted = fit_boxes(np.array([[(0, -5, 2), (255, 5, 2)], [(1, 1, 1), (2, 3, 4)]], np.float32))
    np.testing.assert_allclose(fitted.scale, [(1, 10 / 255, 0), (1 / 255, 2 / 255, 3 / 255)], rtol=1e-6)
    assert fitted.offset.tolist() == [[0, -5, 2], [1, 1, 1]]


def test_one_box_for_all_frames():
    fitted = fit_boxes(np.array([[(0, -5, 2), (255, 5, 2)], [(1, 1, 1), (2, 3, 4)]], np.float32), shared=True)
    assert (fitted.scale[0] == fitted.scale[1]).all()
    assert fitted.offset.tolist() == [[0, -5, 1]] * 2
    np.testing.assert_allclose(fitted.scale[0] * 255, (255, 10, 3), rtol=1e-6)


def test_no_vertices():
    fitted = fit_boxes(np.zeros((3, 0, 3), np.float32), shared=True)
    assert (fitted.scale.shape, fitted.encode(np.zeros((3, 0, 3), np.float32)).shape) == ((3, 3), (3, 0, 3))


def test_the_closest_byte():
    box = boxes((2.0, -10.0))
    assert box.encode(points((-10, -8.9, -9.1), (500.0, -8, 499.0), (900, -90, 0.1))).tolist() == [
        [[0, 1, 0], [255, 1, 254], [255, 0, 5]],
    ]  # fmt: skip


def test_a_flat_axis_and_one_too_thin_have_bytes_0():
    assert boxes(((0, -0.0, 1e-42), 5.0)).encode(points((5, 5, 5), (9, 9, 9))).tolist() == [[[0] * 3] * 2]


def test_a_box_that_runs_backwards():
    box = boxes((-0.5, 10.0))
    shown = points((10, 7.5, -117.5))
    assert box.encode(shown).tolist() == [[[0, 5, 255]]]
    assert decoded(box.encode(shown), box).tolist() == shown.tolist()
    assert box.near_box(points((10.2, 5, -117.7), (10.3, 5, 5), (5, 5, -118))).tolist() == [[True, False, False]]


def test_within_half_a_step_of_the_box_is_inside():
    box = boxes((2.0, -10.0))
    inside = points((-10, 500, 0), (-10.99, 500.99, 0), (-11.01, 0, 0), (0, 0, 501.01), (0, np.nan, 0))
    assert box.near_box(inside).tolist() == [[True, True, False, False, False]]


def test_a_flat_box_holds_what_float32_can_not_tell_apart():
    box = boxes((0.0, 1000.0))
    assert box.near_box(points((1000, 1000, 1000.0005), (1000, 1000, 1000.01))).tolist() == [[True, False]]


def test_what_agrees_is_within_half_a_step():
    box = boxes(((2.0, -2.0, 0.0), 0.0))
    one = points((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0))
    other = points((0.99, -0.99, 0), (1.01, 0, 0), (0, 1.01, 0), (0, 0, 0.001))
    assert box.within_half_step(one, other).tolist() == [[True, False, False, False]]
    far = points((0, 0, 1000.0005), (0, 0, 1000.002))
    assert box.within_half_step(far, points((0, 0, 1000), (0, 0, 1000))).tolist() == [[True, False]], "but for rounding"


@pytest.mark.parametrize(
    ("place", "code"),
    [(511.992, 32767), (511.993, None), (-512.007, -32768), (-512.009, None), (np.nan, None), (np.inf, None)],
)
def test_places_in_64ths_of_a_unit(place, code):
    """MD3's are no bytes: what rounds to one that an int16 holds is held."""
    positions = np.zeros((2, 3, 3), np.float32)
    positions[1, 2, 1] = place
    if code is not None:
        assert encode_places(positions, "x", "MD3")[1, 2].tolist() == [0, code, 0]
        return
    with pytest.raises(LimitError, match=f"'x' has a vertex at Y = {np.float32(place):g} in frame 1: MD3 holds -512"):
        encode_places(positions, "x", "MD3")


@pytest.mark.filterwarnings("error")
@given(
    st.integers(1, 4),
    st.integers(1, 9),
    st.floats(1e-6, 1e6),
    st.floats(-1e6, 1e6),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_fitted_boxes_hold_all_and_bytes_are_the_closest(frames, vertices, size, middle, shared, seed):
    positions = np.random.default_rng(seed).normal(middle, size, (frames, vertices, 3)).astype(np.float32)
    fitted = fit_boxes(positions, shared)
    assert fitted.near_box(positions).all()
    assert fitted.within_half_step(positions, positions).all()
    codes = fitted.encode(positions)
    off = np.abs(decoded(codes, fitted).astype(np.float64) - positions)
    rounding = np.abs(positions).max() * 4e-7
    assert (off <= fitted.scale[:, None] * 0.5001 + rounding).all()
    again = fitted.encode(decoded(codes, fitted))
    thick = np.broadcast_to(fitted.scale[:, None] > rounding, codes.shape)
    np.testing.assert_array_equal(again[thick], codes[thick], err_msg="codes come back from what they decode to")
