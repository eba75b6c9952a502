"""The codec of .md5scale: JSON beside an animation, checked like any file."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import MOTION, rows_of
from io_idtech_models.formats.md5 import scale_file as md5scale
from io_idtech_models.model.skeletal import LEAST, Scales, from_shown
from io_idtech_models.reporting import FormatError

NAMES = ["origin", "upper arm", "hand", "hand"]
FILE = b"""{
    "upper arm": { "scale_positions": true, "0": 1.5, "2": 0 },
    "hand": { "scale_positions": false, "1": 1, "3": -2.5e-1 }
}"""


def test_a_file_is_read_entry_by_entry():
    scales = md5scale.read(FILE, NAMES, 4)
    assert scales.values.tolist() == [[1, 1.5, 1, 1], [1, 1, 1, 1], [1, 0, 1, 1], [1, 1, -0.25, 1]]
    assert scales.ways.tolist() == [False, True, False, False]


def test_what_is_read_is_written():
    written = md5scale.write(md5scale.read(FILE, NAMES, 4), NAMES)
    tree = {"upper arm": {"scale_positions": True, "0": 1.5, "2": 0}, "hand": {"3": -0.25}}
    assert json.loads(written) == tree
    assert written.count(b"\n") == 4, "a line for each joint"


@given(
    st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=2, max_size=2),
)
def test_all_values_come_back(values, ways):
    names = ['a "b"\\', "ä\n"]
    scales = Scales(np.array(values).reshape(3, 2), np.array(ways))
    again = md5scale.read(md5scale.write(scales, names), names, 3)
    np.testing.assert_array_equal(again.values.astype(np.float32), scales.values.astype(np.float32))
    assert again.ways.tolist() == ways


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"{", "no JSON at line 1"),
        (b"{\n\n]", "no JSON at line 3"),
        (b"", "no JSON"),
        (b"[]", "the file: expected an object with joints, found []"),
        (b'{"hand": 2}', "scale of joint 'hand': expected an object, found 2"),
        (b'{"hand": {"x": 2}}', "scale of joint 'hand': expected a frame's number, found 'x'"),
        (b'{"hand": {"-1": 2}}', "a frame's number"),
        (b'{"hand": {"\xc2\xb2": 2}}', "a frame's number"),
        (b'{"hand": {"99999999999999999999": 2}}', "a frame's number"),
        (b'{"hand": {"0": "2"}}', "scale of joint 'hand' in frame 0: expected a finite number"),
        (b'{"hand": {"0": true}}', "expected a finite number"),
        (b'{"hand": {"0": null}}', "expected a finite number"),
        (b'{"hand": {"0": NaN}}', "expected a finite number"),
        (b'{"hand": {"0": 1e999}}', "expected a finite number"),
        (b'{"hand": {"0": 1e39}}', "expected a finite number"),
        (b'{"hand": {"scale_positions": 1}}', "scale_positions: expected true or false"),
        (b'{"nobody": []}', "expected an object"),
        (b"[" * 100000, "unreadable JSON"),
        (b'{"hand": {"0": ' + b"9" * 10000 + b"}}", "expected a finite number"),
        (b"\xff\xfe{", "no JSON"),
    ],
)
def test_damaged_files(data, error):
    with pytest.raises(FormatError) as caught:
        md5scale.read(data, NAMES, 4)
    assert error in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_joints_and_frames_are_said(caplog):
    scales = md5scale.read(b'\xef\xbb\xbf{"nobody": {"0": 2}, "hand": {"4": 3}}', NAMES, 4)
    assert (scales.values == 1).all()
    assert "scale of joints that the animation does not have: nobody" in caplog.text
    assert "scale of joint 'hand' in frame 4, which the animation does not have" in caplog.text


def test_what_the_game_can_not_read_is_said(caplog):
    values = np.full((1024, 2), 2.0)
    md5scale.write(Scales(values[:1022], np.zeros(2, bool)), ["a", "b"])
    assert not caplog.text
    md5scale.write(Scales(values, np.zeros(2, bool)), ["a", "b"])
    assert "takes 4101 tokens, Q2PRO reads 4096" in caplog.text


def test_a_second_joint_of_a_name_is_said(caplog):
    found = md5scale.write(Scales(np.full((1, 2), 2.0), np.zeros(2, bool)), ["a", "a"])
    assert json.loads(found) == {"a": {"0": 2.0}}
    assert "joint 'a' is not the first of its name" in caplog.text


def test_the_format_of_animations_knows_its_suffix():
    assert [row.motion.scales for row in rows_of(MOTION) if row.name == "md5anim"] == [md5scale.SUFFIX]


def test_zero_is_shown_as_something():
    scales = Scales(np.array([[0.0, 2.0]]), np.array([True, False]))
    assert scales.shown().tolist() == [[LEAST, 2.0]]
    assert scales.of_ways().tolist() == [[LEAST, 1.0]]
    back = from_shown(scales.shown().astype(np.float32), scales.ways)
    assert back is not None
    assert back.values.tolist() == [[0.0, 2.0]]
    assert from_shown(np.ones((2, 2)), scales.ways) is None


def test_scales_of_frames_and_joints():
    scales = Scales(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([True, False]))
    assert scales.of_frames(np.array([1, 0])).values.tolist() == [[3, 4], [1, 2]]
    other = scales.of_joints(np.array([-1, 1, 0]))
    assert other.values.tolist() == [[1, 2, 1], [1, 4, 3]]
    assert other.ways.tolist() == [False, False, True]
