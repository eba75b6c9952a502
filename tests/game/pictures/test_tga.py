"""TGA pictures, read."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.pictures import tga
from io_idtech_models.game.pictures.tga import encode
from io_idtech_models.reporting import FormatError


def packed(kind, depth, body, size=(2, 2), flags=0, table=b"", entry=0, first=0, text=b""):
    count = len(table) * 8 // entry if entry else 0
    head = (len(text), int(bool(table)), kind, first, count, entry, 0, 0, *size, depth, flags)
    return struct.pack("<3BHHB4H2B", *head) + text + table + body


def test_what_we_write():
    picture = np.random.default_rng(1).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    assert (tga.decode(encode(picture)) == picture[::-1]).all()


def test_rows_and_columns_from_either_side():
    body = bytes(range(12))
    plain = tga.decode(packed(2, 24, body))
    assert plain[1, 0].tolist() == [2, 1, 0]
    assert (tga.decode(packed(2, 24, body, flags=0x20)) == plain[::-1]).all()
    assert (tga.decode(packed(2, 24, body, flags=0x10)) == plain[:, ::-1]).all()
    assert (tga.decode(packed(2, 24, body, flags=0xCF, text=b"made by us")) == plain).all()


def test_all_kinds():
    assert tga.decode(packed(3, 8, bytes((1, 2, 3, 4))))[0, 1].tolist() == [4, 4, 4]
    assert tga.decode(packed(2, 32, bytes(range(16))))[1, 0].tolist() == [2, 1, 0, 3]
    assert tga.decode(packed(2, 16, struct.pack("<4H", 0x7C00, 31, 0x3E0, 0)))[1].tolist() == [[255, 0, 0], [0, 0, 255]]
    table = bytes((1, 2, 3, 4, 5, 6))
    for first in (0, 7):
        data = packed(1, 8, bytes((first, first + 1, first + 1, first)), table=table, entry=24, first=first)
        assert tga.decode(data)[1].tolist() == [[3, 2, 1], [6, 5, 4]]


def test_runs():
    body = bytes((0x81, 9, 8, 7, 0x01, 1, 2, 3, 4, 5, 6))
    assert tga.decode(packed(10, 24, body)).tolist() == [[[3, 2, 1], [6, 5, 4]], [[7, 8, 9], [7, 8, 9]]]
    far = bytes((0xFF, 3, 0x7F, *range(128)))
    assert tga.decode(packed(11, 8, far, (256, 1)))[0, :, 0].tolist() == [3] * 128 + list(range(128))


@pytest.mark.parametrize(
    ("data", "stays"),
    [
        (packed(2, 24, bytes(range(12))), True),
        (packed(2, 32, bytes(range(16)), flags=8), True),
        (packed(10, 24, bytes((0x83, 9, 8, 7))), True),
        (packed(3, 8, bytes((1, 2, 3, 4))), True),
        (packed(2, 24, bytes(range(12)), flags=0x20), False),
        (packed(2, 32, bytes(range(16)), flags=0x28), False),
        (packed(2, 24, bytes(range(12)), flags=0x10), False),
        (packed(11, 8, bytes((0x83, 9))), False),
        (packed(2, 16, struct.pack("<4H", 0x7C00, 31, 0x3E0, 0)), False),
        (packed(1, 8, bytes((0, 1, 1, 0)), table=bytes((1, 2, 3, 4, 5, 6)), entry=24), False),
    ],
)
def test_what_games_would_turn_over_or_stop_at_is_encoded_anew(data, stays):
    assert tga.shown_by_games(data[:18]) is stays
    found = tga.for_games(data)
    assert (found == data) is stays
    assert tga.shown_by_games(found) and (tga.decode(found) == tga.decode(data)).all()
    with pytest.raises(FormatError):
        tga.for_games(data[:17])


@pytest.mark.parametrize(
    "data",
    [
        b"", bytes(18), packed(2, 24, bytes(11)), packed(10, 24, bytes(3)), packed(9, 8, bytes(99)),
        packed(4, 24, b"x"),
        *(packed(1, 8, bytes(body), table=bytes(6), entry=24, first=7) for body in ((6, 8, 8, 7), (7, 8, 9, 7))),
    ],
)  # fmt: skip
def test_broken_ones_are_refused(data):
    with pytest.raises(FormatError):
        tga.decode(data)


def test_what_is_written_has_the_header_and_the_order_of_bytes():
    picture = np.array([[[255, 2, 3], [4, 5, 6]]], np.uint8)
    data = tga.encode(picture)
    assert data == bytes((0, 0, 2, *[0] * 9, 2, 0, 1, 0, 24, 0, 3, 2, 255, 6, 5, 4))


def test_what_can_be_seen_through_has_a_fourth_channel():
    picture = np.array([[[255, 2, 3, 255], [4, 5, 6, 7]]], np.uint8)
    assert tga.encode(picture)[16:] == bytes((32, 8, 3, 2, 255, 255, 6, 5, 4, 7))
    picture[..., 3] = 255
    assert tga.encode(picture)[16:] == bytes((24, 0, 3, 2, 255, 6, 5, 4))


@given(st.binary(max_size=255))
def test_a_text_is_what_is_behind_the_header_and_no_pixel(text):
    plain = tga.encode(np.arange(24, dtype=np.uint8).reshape(2, 4, 3))
    data = tga.with_text(plain, text)
    assert tga.text_of(data) == text and tga.without_text(data) == plain
    assert (tga.decode(data) == tga.decode(plain)).all() and tga.shown_by_games(data)
    assert tga.text_of(b"") == b"", "of no file"
