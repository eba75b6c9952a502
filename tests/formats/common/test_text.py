"""id's text files as tokens and arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats.common.text import Reader, encode_text, format_rows
from io_idtech_models.reporting import FormatError


def tokens(text: bytes) -> list[bytes]:
    reader = Reader(text)
    found = []
    while reader.peek():
        found.append(reader.next("more"))
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"a 1 -2.5e-3", [b"a", b"1", b"-2.5e-3"]),
        (b'"two words"{( x )}', [b'"two words"', b"{", b"(", b"x", b")", b"}"]),
        (b"a // b\nc /* d\ne */ f", [b"a", b"c", b"f"]),
        (b'"http://x" /* " */ b', [b'"http://x"', b"b"]),
        (b"\tx\r\ny\x0b z ", [b"x", b"y", b"z"]),
        (b"", []),
        (b"a // b", [b"a"]),
        (b'a "x//y" "c // d" e', [b"a", b'"x//y"', b'"c // d"', b"e"]),
        (b'a // b "c\n"d" e', [b"a", b'"d"', b"e"]),
        (b"a /* b\nc */ d\ne f", [b"a", b"d", b"e", b"f"]),
        (b"a /* b */ c /* d\ne", [b"a", b"c", b"/*", b"d", b"e"]),
        (b"a /* b // c\nd */ e", [b"a", b"e"]),
        (b"a/**/b", [b"a", b"b"]),
    ],
)
def test_tokens(text, found):
    assert tokens(text) == found


def test_errors_name_the_line():
    reader = Reader(b"one // 1\n/* 2\n3 */ two\n\nthree")
    assert [reader.next("a word") for _ in range(3)] == [b"one", b"two", b"three"]
    with pytest.raises(FormatError, match="the file ends too early at line 5: expected more"):
        reader.next("more")
    with pytest.raises(FormatError, match="unreadable text at line 2: expected more, found '\"open x'"):
        Reader(b'\n"open\nx').next("more")
    with pytest.raises(FormatError, match=f"expected 'y', found '{'x' * 40}'$"):
        Reader(b"x" * 99).expect(b"y")
    reader.place = 0
    with pytest.raises(FormatError, match="unexpected text at line 1: expected 'two', found 'one'"):
        reader.expect(b"two")


@pytest.mark.parametrize("text", [b"1.5", b"x", b"nan", b"1e400", b"2147483648", b"-2147483648"])
def test_whole_numbers(text):
    assert Reader(b"12").integer("n") == Reader(b"12.0").integer("n") == 12
    assert Reader(b"2147483647").integer("n") == -Reader(b"-2147483647").integer("n") == 2147483647
    with pytest.raises(FormatError, match="line 1"):
        Reader(text).integer("n")


def test_negative_counts():
    with pytest.raises(FormatError, match="negative numverts at line 2: expected 0 or more, found -1"):
        Reader(b"\nnumverts -1").count(b"numverts")


def test_rows_and_blocks():
    rows = Reader(b"vert 0 ( 1 2 ) 3\nvert 1 ( 4 5 ) 6\nend").rows(b"vert", 2, 4, b"end")
    assert rows.tolist() == [[0, 1, 2, 3], [1, 4, 5, 6]]
    assert Reader(b"{ ( 1 2 ) ( 3 4 ) }").block(2).tolist() == [[1, 2], [3, 4]]
    assert Reader(b"{ }").block(6).shape == (0, 6)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"vert 0 1 2 3\nend", "damaged list at line 1: expected 2 lines 'vert' of 4 numbers, found 1 lines, 5 words"),
        (b"vert 0 1 2 3\nvart 0 1 2 3 end", "damaged list"),
        (b"vert 0 1 2 3\nvert 0 1 x 3 end", "not a number at line 2: expected a finite number, found 'x'"),
        (b"vert 0 1 2 3\nvert 0 1 nan 3 end", "not a number at line 2: expected a finite number, found 'nan'"),
        (b"vert 0 1 2 3\n\nvert 0 1 1e99 3 end", "not a number at line 3: expected a finite number, found '1e99'"),
        (b"vert 0 1 2 3\nvert 0 1 2 3", "the file ends too early"),
    ],
)
def test_damaged_rows(text, error):
    with pytest.raises(FormatError, match=error):
        Reader(text).rows(b"vert", 2, 4, b"end")


def test_a_hostile_count_costs_nothing():
    with pytest.raises(FormatError, match="damaged list"):
        Reader(b"end").rows(b"vert", 2**60, 4, b"end")


floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(floats, floats), max_size=30))
def test_numbers_come_back_as_the_same_single(values):
    array = np.array(values, np.float64).reshape(-1, 2)
    text = format_rows("( %s %s )\n", array)
    back = Reader(b"{" + text + b"}").block(2)
    assert np.array_equal(back.astype(np.float32), array.astype(np.float32))


def test_numbers_look_as_in_ids_files():
    assert format_rows("%s %s\n", np.array([[0.5, -0.25], [1e-12, 3.0]])) == b"0.5000000000 -0.2500000000\n" + (
        b"0.000000000001 3.0000000000\n"
    )


@given(st.text())
def test_texts_come_back_without_what_would_end_them(text):
    plain = "".join(c for c in text if c not in '"\r\n\0').encode("utf-8", "replace").decode()
    assert Reader(b'"' + encode_text(text) + b'"').string("text") == plain
