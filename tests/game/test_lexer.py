"""Words of scripts, as the engines take them apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.lexer import DECL_WORDS, WORDS, Cursor, clean, decode, fold, number, unquoted, without_suffix


def test_comments_are_blanks_of_the_same_length():
    """COM_Compress, outside of quotes."""
    assert clean("a // b\nc /* d\ne */ f") == "a     " + "\nc" + " " * 11 + "f"
    assert clean('"a // b" c//d') == '"a // b" c   '
    assert clean("a/* open") == "a       "
    assert clean('"open // x\n// y') == '"open // x\n    '
    assert clean("\ufeffa\0b") == " a"


@given(st.text(st.sampled_from('ab"/*\n ')))
def test_places_stay(text):
    assert len(clean(text)) == len(text)


def test_words_of_scripts():
    """COM_ParseExt: blanks part words, and nothing else."""
    assert WORDS.findall('a{ {b}\t"c d"e\r\n,f "g') == ["a", "{", "{", "b", "}", '"c d"', "e", "\n", ",f", '"g']


def test_words_of_declarations():
    """idLexer::ReadToken with DECL_LEXER_FLAGS."""
    text = 'models/a_b.tga{blend GL_ONE,GL_ZERO}add(a,-1.5e2)\n"x y"parm3>=.5 && time * 2 models/a-b.tga a-1 2x'
    assert DECL_WORDS.findall(text) == [
        "models/a_b.tga", "{", "blend", "GL_ONE", ",", "GL_ZERO", "}", "add", "(", "a", ",", "-", "1.5e2", ")", "\n",
        '"x y"', "parm3", ">=", ".5", "&&", "time", "*", "2", "models/a-b.tga", "a", "-", "1", "2x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "value"),
    [("1.5x", 1.5), ("-.5", -0.5), ("+2e1", 20), ("x", 0), ("", 0), ("1e999", 0), ("nan", 0), ("1_0", 1),
     ("9" * 5000, 0)],
)  # fmt: skip
def test_numbers_are_those_of_atof(word, value):
    assert number(word) == value


def test_names():
    assert fold("AÄ.TGA") == "aÄ.tga"
    assert without_suffix("a.b/c.d.tga") == "a.b/c.d"
    assert without_suffix("a.b/c") == "a.b/c"
    assert [unquoted(word) for word in ('"a"', '"a', "a", '"', '""')] == ["a", "a", "a", "", ""]


@given(st.binary(max_size=40))
def test_bytes_come_back(data):
    text, encoding = decode(data)
    assert text.encode(encoding) == data


def test_a_cursor():
    cursor = Cursor(["\n", "a", '"b"', "\n", "c", "}", "d"])
    assert cursor.argument() == ""
    assert cursor.peek() == cursor.word() == "a"
    assert (cursor.argument(), cursor.argument()) == ("b", "")
    assert cursor.rest() == []
    assert cursor.rest() == []
    assert (cursor.word(), cursor.rest(), cursor.argument()) == ("c", [], "")
    assert [cursor.word() for _ in range(4)] == ["}", "d", "", ""]
    assert cursor.peek() == ""


def test_hostile_words_take_linear_time():
    for piece in ("1", "1.", "a-", "a/-", '"', "&", "/", ".", "-", "{"):
        text = piece * (120_000 // len(piece)) + "x"
        assert "".join(DECL_WORDS.findall(text)) == text
        assert number(text) >= 0
