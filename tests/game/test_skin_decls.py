"""Skins of Doom 3 and Quake 4."""

from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.dress import parse_decl
from io_idtech_models.game.shaders.library import DOOM3, SKIN, ShaderLibrary

BODY = """
    model models/a.md5mesh
    model "b"
    models/Body.tga skins/red
    "models/x y" "skins/x y"
    * skins/all
    late skins/no
"""


def test_pairs():
    """idDeclSkin::Parse."""
    skin = parse_decl(BODY, "skins/s")
    assert skin.models == ("models/a.md5mesh", "b")
    assert skin.pairs == (
        ("models/Body.tga", "skins/red"), ("models/x y", "skins/x y"), ("*", "skins/all"), ("late", "skins/no"),
    )  # fmt: skip


def test_what_is_worn():
    """RemapShaderBySkin: the first pair that fits, `*` fits all; names as MakeNameCanonical has them."""
    skin = parse_decl(BODY, "skins/s")
    assert skin.worn("Models\\body.jpg") == "skins/red"
    assert skin.worn("late") == "skins/all"
    assert parse_decl("a b", "s").worn("c") == "c"
    assert parse_decl("a b\na c", "s").worn("A") == "b"


def test_a_word_without_a_second_ends_it():
    assert parse_decl("a b c", "s").pairs == (("a", "b"),)
    assert parse_decl("a {", "s").pairs == ()


def test_skins_in_a_library():
    files = [
        ("skins/a.skin", lambda: b"skin one { a b }\ntwo { a c }"),
        ("materials/x.mtr", lambda: b"skin three { a d }"),
    ]
    library = ShaderLibrary(files, DOOM3)
    assert library.names(SKIN) == ["three", "one", "two"]
    found = library.find("TWO", SKIN)
    assert found
    assert parse_decl(found.body, found.name).worn("a") == "c"
    assert library.find("two") is None, "it is no material"


@given(st.text(st.sampled_from('ab*{}" \n')))
def test_any_text_gives_a_skin(text):
    assert parse_decl(text, "s").name == "s"
