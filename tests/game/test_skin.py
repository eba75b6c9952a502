"""Skins are read as the engines read them, and written as they were but for what an edit is about."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from io_idtech_models.game.skin import SURFACE, SkinFile, make, read, read_skin, surface_key
from io_idtech_models.reporting import LimitError
from tests.game.packs import packed
from tests.samples import CORPUS

FILES = sorted(CORPUS.rglob("*.skin"))


# -- reading: RE_RegisterSkin and CommaParse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", {"a": "b"}),
        ("a,b c,d", {"a": "b", "c": "d"}),  # line ends mean nothing
        ("a,\r\n\tb\nc\n,d", {"a": "b", "c": ",d"}),
        ("a b\nc\td", {"a": "b", "c": "d"}),  # a missing comma
        ("a ,b", {"a": ",b"}),  # a comma is taken only if it follows at once
        ("a, b", {"a": "b"}),
        ('"a b","c,d"', {"a b": "c,d"}),  # quotes
        ('"a""b" "c"d', {"a": "b", "c": "d"}),
        ("a//x,b//y c,d", {"a//x": "b//y", "c": "d"}),  # inside a word there is no comment
        ("// x,y\na,b // c,d\n/* e,f */g,h/* i", {"a": "b", "g": "h/*", "i": ""}),
        ("a,b /* open", {"a": "b"}),
        ("/a,/b", {"/a": "/b"}),
        ("A_B,Pic.TGA", {"a_b": "Pic.TGA"}),  # surfaces in lower case, shaders as they are
        ("a,1 A,2 a,3", {"a": "1"}),  # the first match
        ("\u00c4,x", {"\u00c4": "x"}),  # tolower knows ASCII
        ("a,", {"a": ""}),
        ("a", {"a": ""}),
        ('a,b "" c,d', {"a": "b"}),  # an empty name ends it
        ('a,"" c,d', {"a": "", "c": "d"}),
        ("a,b\0c,d", {"a": "b"}),  # C's strings end so
        ("\ufeffa,b", {"a": "b"}),
        ("", {}),
        (" // nothing", {}),
        ('"a', {"a": ""}),
        (",,x,y", {",": "x", ",y": ""}),
    ],
)
def test_pairs(text, expected):
    assert read(text) == expected


def test_tags_have_no_value():
    found = [(entry.kind, entry.name, entry.value) for entry in read_skin(b"tag_head,\na,b\nmy_tag_x").entries]
    assert found == [("tag", "tag_head", ""), (SURFACE, "a", "b"), ("tag", "my_tag_x", "")]
    assert read('tag_weapon,"x"\na,b') == {"x": "a", ",b": ""}, "a value of a tag shifts the rest"
    assert read("TAG_head,a b,c") == {"tag_head": "a", "b": "c"}, "strstr knows case"


def test_models_to_attach_and_the_size_are_no_surfaces():
    skin = read_skin(b'"md3_hat", "models/hat.md3"\n//md3_back,x\nmd3_part,head.md3\nplayerscale 1.25\na,b')
    assert skin.shaders() == {"a": "b"}
    assert skin.attached() == {"md3_hat": "models/hat.md3", "md3_part": "head.md3"}
    assert skin.scale == 1.25
    assert read_skin(b"a,b").scale == 1
    assert read_skin(b"playerscale 2\nplayerscale 3").scale == 3, "the last is set last"


def test_how_many_count():
    skin = read_skin(b"".join(b"md3_%d,m%d\ns%d,x\n" % (n, n, n) for n in range(300)))
    assert [len(skin.attached(game)) for game in ("rtcw", "et")] == [5, 7]
    assert [len(skin.shaders(game=game)) for game in ("rtcw", "et", "")] == [5, 7, 256], "they stop reading there"
    assert len(skin.shaders(32)) == 32
    assert read_skin(b"a,1 a,2 b,3").shaders(2) == {"a": "1"}, "repeated ones take room"


@pytest.mark.parametrize(
    ("name", "key"),
    [("u_Torso", "u_torso"), ("arm_L", "arm"), ("Head_1", "head"), ("a_b", "a"), ("_b", "_b"), ("", ""), ("a__", "a")],
)
def test_what_skins_call_a_surface(name, key):
    """R_LoadMD3: two characters go where the second last is `_`, whatever the last is."""
    assert surface_key(name) == key


# -- writing


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORPUS)))
def test_real_files_come_back(path):
    skin = read_skin(path.read_bytes())
    assert skin.write() == path.read_bytes()
    assert skin.shaders()


@pytest.mark.skipif(not packed(".skin"), reason="no real packs here")
def test_real_packs_come_back():
    for name, data in packed(".skin").items():
        skin = read_skin(data)
        assert skin.write() == data, name
        assert skin.shaders(), name
        for surface in list(skin.shaders()):
            edited = skin.set_shader(surface, "models/new.tga")
            assert edited.shaders() == {**skin.shaders(), surface_key(surface): "models/new.tga"}, name
            assert lines_apart(data, edited.write()) == (surface_key(surface) in skin.shaders(), 1), name


def lines_apart(old, new):
    """Return how many lines differ, of the old and of the new."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    while a and b and a[0] == b[0]:
        del a[0], b[0]
    while a and b and a[-1] == b[-1]:
        del a[-1], b[-1]
    return len(a), len(b)


@pytest.mark.parametrize(
    "data", [b"\xff,\xfe\r\n", b"\xc3\xa4,x\n// \xc3\n", "ä,ö".encode(), b"\xef\xbb\xbfa,b", b"a\0\xff"]
)
def test_other_encodings_come_back(data):
    assert read_skin(data).write() == data


def test_a_letter_that_the_file_cannot_hold():
    skin = read_skin(b"\xff,b")
    assert skin.set_shader("a", "\u00e4").write() == b"\xff,b\na,\xe4"
    with pytest.raises(LimitError, match="not in UTF-8"):
        skin.set_shader("a", "\u0416").write()


def edited(text, surface, shader):
    return read_skin(text.encode()).set_shader(surface, shader).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y\na,b // c\r\nz,w", "x,y\na,NEW // c\r\nz,w"),
        ('"a","b"', '"a","NEW"'),
        ('a,"b"', 'a,"NEW"'),
        ("a b", "a NEW"),
        ("a ,b", "a NEW"),
        ("a,\n\tb c,d", "a,\n\tNEW c,d"),
        ("A,b a,c", "A,NEW a,c"),
        ("a,", "a,NEW"),
        ("a", "a,NEW"),
        ('"a', '"a",NEW'),
        ('a,"b', 'a,"NEW"'),
        ("a // x", "a,NEW // x"),
        ('a,"" b,c', 'a,"NEW" b,c'),
    ],
)
def test_another_shader_changes_its_word(text, expected):
    assert edited(text, "a", "NEW") == expected


def test_a_surface_is_what_the_engine_calls_it():
    assert edited("arm_l,x\narm,y", "Arm_R", "NEW") == "arm_l,x\narm,NEW"
    assert edited("arm_l,x", "arm_l", "NEW") == "arm_l,x\narm,NEW"
    assert read_skin(b"arm_l,x\narm,y").remove("arm_l").text == "arm_l,x\n"


def test_what_needs_quotes_gets_them():
    assert edited("a,b", "a", "with blank") == 'a,"with blank"'
    assert edited("a,b", "a", "//x") == 'a,"//x"'
    assert edited("a,b", "a", "") == 'a,""'
    assert edited("a,b c,d", "a", "x,y") == 'a,"x,y" c,d'
    with pytest.raises(LimitError, match="quote"):
        edited("a,b", "a", 'x"y')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\r\ntag_x,\r\n", "a,b\r\nNEW,pic\r\ntag_x,\r\n"),
        ('  "a", "b"\n', '  "a", "b"\n  "NEW", "pic"\n'),
        ("a\tb", "a\tb\nNEW\tpic"),
        ("tag_x,\ntag_y,\n", "NEW,pic\ntag_x,\ntag_y,\n"),
        ("// head\ntag_x,\n", "// head\nNEW,pic\ntag_x,\n"),
        ("", "NEW,pic\n"),
        ("// x", "NEW,pic\n// x"),
        ("a,b /* open", "a,b\nNEW,pic\n /* open"),
        ("a,b c,d tag_x, e", "a,b c,d tag_x, NEW,pic\ne"),
        ("a,b // x\n\nc", "a,b // x\n\nNEW,pic\nc"),
        ("a\n\u00a0 b", "a\n\u00a0 NEW,pic\nb"),
        ("1,a,b", "1,a\nNEW,pic\n,b"),
        ('x,y\na,"b', 'x,y\nNEW,"pic"\na,"b'),
    ],
)
def test_a_new_surface_stands_in_the_files_style(text, expected):
    skin = read_skin(text.encode())
    added = skin.add("new", "pic").text
    assert added.replace("new", "NEW") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y\na,b // c\nz,w", "x,y\nz,w"),
        ("a,b", ""),
        ("x,y a,b z,w", "x,y   z,w"),
        ("a,1\nx,y\nA,2\n", "x,y\n"),
        ("a,\n  b\nx,y", "x,y"),
        ("x,b", "x,b"),
    ],
)
def test_a_surface_goes_with_its_line(text, expected):
    assert read_skin(text.encode()).remove("a").text == expected


words = st.text(st.sampled_from('ab_,/*"\\ \t\n\r\0é') | st.characters(max_codepoint=300), max_size=6)
pieces = st.sampled_from(
    ["a,b\n", '"a" "b"', "tag_x,", "// x\n", "/* x */", ",", "\r\n", " ", '"', "md3_a,b ", "c", "/*"]
)
texts = st.lists(pieces | words, max_size=12).map("".join)
names = st.text(st.characters(codec="utf-8", exclude_characters='"\0\r\n'), min_size=1, max_size=8)
plain = st.text(st.characters(max_codepoint=126, exclude_characters='"\0\r\n'), min_size=1, max_size=8).filter(
    lambda name: not any(mark in surface_key(name) for mark in ("tag_", "md3_", "playerscale"))
)


@given(texts)
def test_any_text_comes_back(text):
    data = text.encode("utf-8")
    skin = read_skin(data)
    assert skin.write() == data
    ends = [0, *(place for entry in skin.entries for place in (entry.start, entry.end))]
    assert ends == sorted(ends)


@given(texts, plain, names)
@example("0,// x\n", "0", "0")
def test_an_edit_changes_what_it_is_about_alone(text, surface, shader):
    skin = read_skin(text.encode())
    many = len(text) + 2
    before = skin.shaders(many)
    changed = skin.set_shader(surface, shader)
    assert changed.shaders(many) == {**before, surface_key(surface): shader}
    assert changed.attached() == skin.attached()
    assert [e.name for e in changed.entries if e.kind != SURFACE] == [e.name for e in skin.entries if e.kind != SURFACE]


@given(texts, st.sampled_from("abc"))
def test_a_removed_surface_takes_nothing_along(text, surface):
    skin = read_skin(text.encode())
    many = len(text) + 2
    removed = skin.remove(surface)
    assert removed.shaders(many) == {key: value for key, value in skin.shaders(many).items() if key != surface}
    assert [e.name for e in removed.entries if e.kind != SURFACE] == [e.name for e in skin.entries if e.kind != SURFACE]


def test_what_already_names_the_shader_stays_as_it_is_spelt():
    assert read_skin(b'a,"b').set_shader("a", "b").write() == b'a,"b'


def test_a_surface_that_is_called_as_something_else():
    for name in ("tag_xy", "my_md3_part", "playerscale", ""):
        with pytest.raises(LimitError, match="no surface"):
            read_skin(b"a,b").set_shader(name, "x")
        with pytest.raises(LimitError, match="no surface"):
            make({name: "x"})


# -- new files


def test_a_new_skin():
    skin = make({"U_Torso": "models/a.tga", "arm_l": "b", "arm_r": "c", "x y": "d e"}, ["tag_head", "tag_torso"])
    assert skin.write() == b'u_torso,models/a.tga\narm,b\n"x y","d e"\ntag_head,\ntag_torso,\n'
    assert make({"a": "b"}, line_end="\r\n").write() == b"a,b\r\n"
    with pytest.raises(LimitError):
        make({'"': "b"})


@given(st.dictionaries(plain, names, max_size=5), st.lists(names.map(lambda name: "tag_" + name), max_size=3))
def test_a_new_skin_is_read_as_it_is_meant(shaders, tags):
    skin = make(shaders, tags)
    expected: dict[str, str] = {}
    for surface, shader in shaders.items():
        expected.setdefault(surface_key(surface), shader)
    assert skin.shaders() == expected
    assert [entry.name for entry in skin.entries if entry.kind == "tag"] == tags
    assert read_skin(skin.write()) == skin


def test_long_files_take_linear_time():
    assert read_skin(b"/* " * 60_000).entries == ()
    assert len(read_skin(b"/*" * 60_000).entries) == 1, "the second star closes the first comment"
    assert len(read_skin(b"a,b\n" * 30_000).entries) == 30_000
    assert len(read_skin(b"*/" * 30_000).entries) == 1
    assert read_skin(b"a,b\n" * 30_000).remove("a").text == ""
    assert isinstance(read_skin(b"/* " * 30_000 + b"*").set_shader("a", "b"), SkinFile)


# -- models that are attached


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"md3_hat",\t"a.md3" // x\r\nb,c\r\n', '"md3_hat",\t"a.md3" // x\r\n"md3_back",\t"p q.md3"\r\nb,c\r\n'),
        ("b,c", 'md3_back,"p q.md3"\nb,c'),
        ("", 'md3_back,"p q.md3"\n'),
        ("md3_hat a.md3 b,c", 'md3_hat a.md3\nmd3_back,"p q.md3"\n b,c'),
        ("b,c\nmd3_hat,a", 'b,c\nmd3_hat,a\nmd3_back,"p q.md3"'),
        ('b,c\nmd3_hat,"a', 'b,c\nmd3_back,"p q.md3"\nmd3_hat,"a'),
    ],
)
def test_attaching(text, expected):
    skin = read_skin(text.encode()).attach("md3_back", "p q.md3")
    assert skin.text == expected
    assert read_skin(skin.write()).attached()["md3_back"] == "p q.md3"
    assert skin.shaders() == read(text)


def test_detaching_and_how_many():
    text = b'md3_hat,a\n"MD3_HAT",b\nmd3_hat2,c\nx,y\n'
    assert read_skin(text).detach("md3_hat").text == '"MD3_HAT",b\nmd3_hat2,c\nx,y\n', "games' strstr knows case"
    full = "".join(f"md3_{n},a\n" for n in range(7))
    with pytest.raises(LimitError, match="7 models at most"):
        read_skin(full.encode()).attach("md3_hat", "a")


def test_shaders_in_order():
    text = 'a,"x"\ntag_y,\nmd3_hat,z\nb b2\n'
    assert read_skin(text.encode()).set_in_order([("x", "1"), ("y", "2")]).text == 'a,"1"\ntag_y,\nmd3_hat,z\nb 2\n'


@pytest.mark.parametrize("text", ["a,x", "a,x\nb,", 'a,x\nb,"y', "a,x\ntag_y,\nb", "", 'a,x\n"b', "a,x\nb,y\nc,z\nd,w"])
def test_shaders_in_order_are_as_many_as_asked_for(text):
    found = read_skin(text.encode()).set_in_order([("p", "1"), ("q", "y"), ("r", "3")])
    assert [entry.value for entry in found.entries if entry.kind == "surface"][:3] == ["1", "y", "3"]
