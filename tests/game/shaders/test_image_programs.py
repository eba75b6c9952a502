"""Doom 3's image programs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.lexer import DECL_WORDS, Cursor
from io_idtech_models.game.shaders.image_programs import Call, Picture, is_normal_map, names, parse, text


def program(source):
    return parse(Cursor(DECL_WORDS.findall(source)))


def test_plain_names():
    assert program("models/a.tga") == Picture("models/a.tga")
    assert program('"models/a b.tga"') == Picture("models/a b.tga")
    assert program('"add"(a, b)') == Picture("add")
    assert program("") is None
    assert program("}") is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("heightmap(a, 4)", Call("heightmap", (Picture("a"),), ("4",))),
        ("HeightMap ( a , 0.5 )", Call("heightmap", (Picture("a"),), ("0.5",))),
        ("addnormals(a, heightmap(b, 4))",
         Call("addnormals", (Picture("a"), Call("heightmap", (Picture("b"),), ("4",))))),
        ("smoothnormals(a)", Call("smoothnormals", (Picture("a"),))),
        ("add(a, b)", Call("add", (Picture("a"), Picture("b")))),
        ("scale(a, 1, .5, -1, 0)", Call("scale", (Picture("a"),), ("1", ".5", "-1", "0"))),
        ("invertAlpha(a)", Call("invertalpha", (Picture("a"),))),
        ("invertColor(a)", Call("invertcolor", (Picture("a"),))),
        ("makeIntensity(a)", Call("makeintensity", (Picture("a"),))),
        ("makeAlpha(a)", Call("makealpha", (Picture("a"),))),
        ("downsize(a, 2)", Call("downsize", (Picture("a"),), ("2",))),  # of another game
        ("add(a", Call("add", (Picture("a"),))),
        ("add()", Call("add", ())),
    ],
)  # fmt: skip
def test_functions(source, expected):
    """R_ParseImageProgram_r."""
    assert program(source) == expected


def test_numbers():
    assert program("scale(a, 1, .5, -1, 0)").numbers == (1, 0.5, -1, 0)


def test_what_follows_a_program_stays():
    words = Cursor(DECL_WORDS.findall("add(a, b) c\nd( e\nf"))
    assert parse(words) == Call("add", (Picture("a"), Picture("b")))
    assert words.word() == "c"
    assert parse(words) == Call("d", (Picture("e"),))
    assert words.word() == "f", "a parenthesis that is missing ends with the line"
    words = Cursor(DECL_WORDS.findall("add(a, b odd ( c ( d ) ) e ) f"))
    assert parse(words) == Call("add", (Picture("a"), Picture("b")))
    assert words.word() == "f", "behind its own parenthesis"


def test_the_names_in_a_program():
    assert list(names(program("addnormals(a, heightmap(add(b, c), 4))"))) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("source", "normals"),
    [("a", True), ("addnormals(a, heightmap(b, 1))", True), ("heightmap(a, 1)", False), ("smoothnormals(a)", True),
     ("addnormals(heightmap(a, 1), b)", False)],
)  # fmt: skip
def test_heights(source, normals):
    assert is_normal_map(program(source)) is normals


def test_the_engines_name_of_a_program():
    """R_ParsePastImageProgram."""
    assert text(program("AddNormals(a,heightmap( b,4 ))")) == "addnormals( a, heightmap( b, 4))"


pieces = st.sampled_from(["add", "(", ")", ",", "a", "1", "-", "{", "}", "\n", '"', "heightmap("])


@given(st.lists(pieces, max_size=30).map(" ".join))
def test_any_text_is_read_forwards(source):
    words = Cursor(DECL_WORDS.findall(source))
    found = parse(words)
    assert found is None or isinstance(text(found), str)
    assert 0 <= words.place <= len(words.words) + 1


@pytest.mark.parametrize(("deep", "read"), [(32, 32), (33, 32)])
def test_programs_are_read_as_deep_as_names_may_be(deep, read):
    found, levels = program("invertColor(" * deep + "a" + ")" * deep), 0
    while isinstance(found, Call):
        found, levels = (found.pictures[0] if found.pictures else None), levels + 1
    assert levels == read


def test_deep_programs_neither_hang_nor_break():
    for piece in ("add(", "add(a,", "(", "heightmap(a,1),", "add(1,"):
        found = program(piece * 50_000)
        assert found is None or len(list(names(found))) < 50_000
