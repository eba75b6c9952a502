"""Expressions of Doom 3's materials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.lexer import DECL_WORDS, Cursor
from io_idtech_models.game.shaders.expressions import is_constant, read, value


def words_of(text):
    cursor = Cursor(DECL_WORDS.findall(text))
    found = read(cursor)
    return found, cursor.words[cursor.place :]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1.5", 1.5), ("-2", -2), ("2 + 3 * 4", 14), ("( 2 + 3 ) * 4", 20), ("8 - 4 - 2", 6), ("8 / 4 / 2", 4),
        ("7 % 4", 3), ("7.9 % 4.9", 3), ("7 % 0", 0), ("1 / 0", None), ("2 > 1", 1), ("2 <= 1", 0),
        ("1 == 1 && 0 || 1", 1), ("2 && 0", 0), ("2 && 3", 1), ("0 || 3", 1), ("0 || 0", 0),
        ("1 == 2", 0), ("2 != 2", 0), ("1 > 1", 0), ("1 >= 2", 0), ("2 <= 2", 1), ("2 < 2", 0),
        ("1 + -1", 0), ("time", 0), ("parm0 * 0.5", 0.5), ("Parm7 == 0", 1), ("global3", 0), ("sound", 0),
        ("fragmentPrograms", 1), ("sinTable[ time ]", None), ("nothing", None), ("1e300 * 1e300", None), ("", None),
        ("( 1", None), ("1 +", None), ("3 * ( 1 + ( 2 - 1 ) ) - 1", 5), ("1 != 2", 1), ("2 < 1", 0), ("2 >= 2", 1),
    ],
)  # fmt: skip
def test_values(text, result):
    """ParseTerm, ParseExpressionPriority, EvaluateRegisters."""
    assert value(words_of(text)[0]) == result


def test_where_an_expression_ends():
    assert words_of("1 2") == (["1"], ["2"])
    assert words_of("time * 0.1 , 3") == (["time", "*", "0.1"], [",", "3"])
    assert words_of("a[ b[ 1 ] ] + 2\nmap x") == (list("a[b[1]]+2"), ["\n", "map", "x"])
    assert words_of("_a[ 1 ] , 3") == (["_a", "[", "1", "]"], [",", "3"])
    assert words_of("( 1 ) )") == (["(", "1", ")"], [")"])
    assert words_of("} map") == ([], ["}", "map"])


def test_constants():
    assert is_constant(["1", "+", "2"])
    assert is_constant(["fragmentPrograms"])
    assert not is_constant(["time"])
    assert not is_constant(["x", "[", "1", "]"])


def test_what_else_is_known():
    assert value(["a", "+", "b"], {"a": 1.0, "b": 2.0}.get) == 3
    assert value(["1", ")"]) is value(["(", "1", "+", ")"]) is None


pieces = st.sampled_from(
    ["1", "-", "+", "*", "/", "(", ")", "[", "]", "time", "&&", "%", ",", "x", "\n", "1e308", "<="]
)


@given(st.lists(pieces, max_size=30))
def test_any_words_have_a_value_or_none(words):
    cursor = Cursor(list(words))
    found = read(cursor)
    result = value(found)
    assert result is None or abs(result) < float("inf")
    assert found == [word for word in cursor.words[: cursor.place] if word != "\n"]


def test_deep_expressions_neither_hang_nor_break():
    for piece in ("( ", "- ", "1 + ", "a[ ", "( 1 ) * "):
        value(words_of(piece * 50_000)[0])
