"""Where names and bodies lie, in sound scripts and in those that games choke on."""

import pytest

from io_idtech_models.game.shaders.index import scan, scan_decls
from tests.game.packs import packed


def shaders(text):
    clean, found = scan(text)
    return [(each.name, " ".join(clean[each.start : each.end].split())) for each in found]


def decls(text, default="material"):
    clean, found = scan_decls(text, default)
    return [(each.kind, each.name, " ".join(clean[each.start : each.end].split())) for each in found]


def test_names_and_bodies():
    """FindShaderInShaderText, SkipBracedSection."""
    text = '// x { y\ntextures/a\n{\n\t{\n map b // }\n}\n}\n"b c" { cull none }\nd{ x }\n'
    assert shaders(text) == [("textures/a", "{ map b }"), ("b c", "cull none"), ("d", "x")]
    assert shaders("") == shaders("a b c") == []
    assert shaders("a\u00a0b { }") == [("a\u00a0b", "")], "blanks are bytes up to 32"
    assert shaders('a { "{" }') == [("a", '"{"')]
    assert shaders("textures/{a { map textures/{b }") == [("textures/{a", "map textures/{b")]


@pytest.mark.parametrize(
    ("text", "names", "faulty"),
    [
        ("a/a {\n{ map x }\n\nb/b\n{\n{ map y }\n}\nc/c { }", ["a/a", "b/b", "c/c"], ["a/a"]),  # a brace is missing
        ("a/a {\n{ map x\n}\n b/b\n{ map y\n}\n", ["a/a", "b/b"], ["a/a"]),
        ("a/a { { map x } } }\nb/b { }", ["a/a", "b/b"], []),  # one too many
        ("a/a { { map x\n", ["a/a"], ["a/a"]),
        ("{ x }\nb/b { }", ["b/b"], []),
        ("a/a { { map x }}\nb/b { }", ["a/a", "b/b"], []),
    ],
)
def test_braces_that_do_not_match(text, names, faulty):
    _, found = scan(text)
    assert [each.name for each in found] == names
    assert [each.name for each in found if each.faults] == faulty
    assert all("brace is missing" in fault for each in found for fault in each.faults)


def test_a_stage_is_no_shader():
    text = "a/a {\n implicitMap b/b\n{ map c/c\n}\nnomipmaps\n{\nmap d/d\n}\n}"
    assert [name for name, _ in shaders(text)] == ["a/a"]


def test_declarations():
    """idDeclFile::LoadAndParse: the kind may be left out; braces are words wherever they stand."""
    text = 'a/b{{map x}}material "c d" {}\ntable sin { { 0, 1 } }\nskin\ns { m { } }\nfoo/bar // x\n{ }'
    assert decls(text) == [
        ("material", "a/b", "{map x}"), ("material", "c d", ""), ("table", "sin", "{ 0, 1 }"), ("skin", "s", "m { }"),
        ("material", "foo/bar", ""),
    ]  # fmt: skip
    assert decls("skin\u00a0x { }\nskin\u2003 a\u00a0b { }") == [
        ("material", "skin\u00a0x", ""), ("material", "a\u00a0b", ""),
    ]  # fmt: skip
    assert decls("a { }", "skin") == [("skin", "a", "")]


def test_a_declaration_that_is_not_closed():
    text = "material a/a {\n{ map x }\nmaterial b/b\n{\n diffusemap c/c\n{ map addnormals(d/d, e/e)\n}\n}\n"
    assert [name for _, name, _ in decls(text)] == ["a/a", "b/b"]


@pytest.mark.skipif(not packed(".shader"), reason="no real packs here")
def test_real_scripts_are_whole():
    for name, data in packed(".shader").items():
        _, found = scan(data.decode("latin-1"))
        assert not [each.faults for each in found if each.faults], name
        assert all(" " not in each.name for each in found), name


def test_hostile_scripts_take_linear_time():
    for piece in ("{ ", "} ", "a { ", "a/b\n{ ", '"', "\n", "/*", " ", "a ", "a/b { } ", '"{ '):
        assert len(scan(piece * 30_000)[1]) <= 30_000
        assert len(scan_decls(piece * 30_000, "material")[1]) <= 30_000
