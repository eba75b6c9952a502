"""Bounds-checked reading, and names of a fixed size."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import ROWS, VERTEX, by_name, by_suffix, identify, rows_of
from io_idtech_models.formats.common.records import (
    check_indices,
    cut_name,
    decode_name,
    encode_name,
    header_name,
    raw_bytes,
    take,
)
from io_idtech_models.reporting import FormatError, LimitError
from tests.samples import PROJECT, sample

DATA = bytes(range(16))


def test_take_is_a_view_of_the_given_shape():
    array = take(DATA, "<u2", (2, 3), 2, "things")
    assert array.tolist() == [[0x0302, 0x0504, 0x0706], [0x0908, 0x0B0A, 0x0D0C]]
    assert not array.flags.writeable
    assert np.shares_memory(array, np.frombuffer(DATA, np.uint8))


def test_take_reaches_the_last_byte():
    assert take(DATA, "u1", (1,), 15, "things").tolist() == [15]
    assert take(DATA, "<u4", (4,), 0, "things").shape == (4,)


def test_nothing_may_lie_anywhere():
    assert take(DATA, "<u4", (0, 5), 10**12, "things").shape == (0, 5)
    assert take(DATA, "<u4", (7, 0), -3, "things").shape == (7, 0)


@pytest.mark.parametrize(
    ("shape", "offset", "sentence"),
    [
        ((1,), 16, "things run past the end of the file at byte 16: expected 16 bytes at most, found 18"),
        ((8,), 1, "things run past the end of the file at byte 1: expected 16 bytes at most, found 17"),
        ((1,), -1, "things run past the end of the file at byte -1: expected 16 bytes at most, found 1"),
        ((-1, 2), 0, "negative number of things: expected 0 or more, found -1"),
        ((0, -2), 0, "negative number of things: expected 0 or more, found -2"),
    ],
)
def test_take_refuses_what_is_not_there(shape, offset, sentence):
    with pytest.raises(FormatError) as caught:
        take(DATA, "<u2", shape, offset, "things")
    assert str(caught.value) == sentence


def test_a_hostile_count_allocates_nothing():
    tracemalloc.start()
    with pytest.raises(FormatError):
        take(DATA, "<f8", (2**31 - 1, 2**31 - 1), 0, "things")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


def test_raw_bytes_are_the_memory_of_an_array():
    assert raw_bytes(np.array([[1, 2], [3, 4]], "<u2")).tolist() == [1, 0, 2, 0, 3, 0, 4, 0]
    assert raw_bytes(np.arange(6, dtype="u1").reshape(2, 3).T).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"", ""), (b"\0", ""), (b"plain\0\0", "plain"), (b"a\0garbage", "a"), (b"full", "full"),
        ("größe".encode(), "größe"), (b"gr\xf6\xdfe", "größe"), (b"\xc3", "Ã"), ("日本".encode() + b"\0\xff", "日本"),
    ],
)  # fmt: skip
def test_names(raw, name):
    assert decode_name(raw) == name
    assert encode_name(name, 64, "thing", raw or b"\0") == (raw or b"\0")
    assert decode_name(encode_name(name, 64, "thing")) == name


@given(st.binary(max_size=64))
def test_any_field_is_its_own_hint(raw):
    assert encode_name(decode_name(raw), 64, "thing", raw or b"\0") == (raw or b"\0")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=15))
def test_any_text_comes_back(name):
    assert decode_name(encode_name(name, 64, "thing")) == name


def test_a_hint_that_says_something_else_does_not_count():
    assert encode_name("new", 8, "thing", b"old\0trash") == b"new"


def test_a_name_holds_one_byte_less_than_its_field():
    assert encode_name("1234567", 8, "thing") == b"1234567"
    with pytest.raises(LimitError) as caught:
        encode_name("1234567ü", 8, "thing")
    assert str(caught.value) == "thing name '1234567ü' has 9 bytes, the format holds 7"
    with pytest.raises(LimitError):
        encode_name("12345678", 8, "thing")


@pytest.mark.parametrize(
    ("name", "cut"),
    [("1234567", b"1234567"), ("12345678", b"1234567"), ("123456ü", b"123456"), ("日本", "日本".encode())],
)
def test_names_of_frames_and_headers_are_cut_to_what_fits(name, cut):
    assert cut_name(name, 8) == header_name(name, 8) == cut
    assert cut_name("12345678", 8, b"12345678") == b"12345678", "as the file has it"


@pytest.mark.parametrize(("row", "found"), [((2, 5), "[2, 5]"), ((-1, 0), "[-1, 0]")])
def test_the_first_row_of_indices_that_is_wrong_is_named(row, found):
    rows = np.array([(0, 4), (4, 0), row, row], np.int32)
    check_indices(rows[:2], 5, 100, "edge {} of {x}", "vertices")
    for few in (rows[:1, 1], rows[1:2, :1], rows[:0]):
        check_indices(few, 5, 100, "edge {} of {x}", "vertices")
    with pytest.raises(FormatError) as caught:
        check_indices(rows, 5, 100, "edge {} of {x}", "vertices")
    assert str(caught.value) == f"edge 2 of {{x}} at byte 116: expected vertices 0 to 4, found {found}"


def test_a_name_without_a_spelling_in_utf8_is_written_somehow():
    assert encode_name("a\udcffb\0c", 8, "thing") == b"a?bc"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FormatError("bad"), "bad"),
        (FormatError("bad", "byte 4"), "bad at byte 4"),
        (FormatError("bad", "byte 4", 15, 7), "bad at byte 4: expected 15, found 7"),
        (FormatError("bad", expected=0, found=""), "bad: expected 0"),
    ],
)
def test_a_format_error_is_one_sentence(error, sentence):
    assert str(error) == sentence


# -- the table


def test_formats_are_found_by_name_suffix_and_first_bytes():
    for row in rows_of(VERTEX):
        assert by_name(row.name) is row
        for suffix in row.suffixes:
            assert by_suffix(PROJECT / f"Model{suffix.upper()}") is row
    assert identify(sample("minimal"), PROJECT / "wrong.md2").name == "md3"
    assert identify(b"nothing known", PROJECT / "cut.MD3").name == "md3"


def test_an_unknown_file_is_a_format_error():
    with pytest.raises(FormatError) as caught:
        identify(b"GIF89a", PROJECT / "picture.gif")
    known = ", ".join(suffix for row in ROWS for suffix in row.suffixes)
    assert known.startswith(".md2, .md3, ")
    assert str(caught.value) == f"unknown kind of file: expected {known}, found picture.gif"


def test_an_unknown_name_is_a_key_error():
    with pytest.raises(KeyError):
        by_name("md99")
