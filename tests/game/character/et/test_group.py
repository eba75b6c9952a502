"""Animation groups: rows that stand in them and rows that they include, however these are nested."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.character.et.group import read_group
from io_idtech_models.reporting import FormatError, LimitError
from tests.samples_character import GROUP_TEXT, TABLE

MOST_BYTES = 1 << 22
ROW = "walk 1 2 3 4 5 6 0\n"


def group(text, **files):
    """Return the group of a text; `files` are those that it includes, by their names without the suffix."""

    def include(name):
        if name.removesuffix(".aninc") not in files:
            raise LimitError(f"there is no '{name}'")
        return files[name.removesuffix(".aninc")].encode()

    return read_group(text, "g.anim", include)


def block(body):
    return f'animgroup {{\nanimfile "a.mdx" {{\n{body}\n}}\n}}'


def names(found):
    return [[row.name for row in motion.rows] for motion in found.motions]


def test_rows_that_are_included_and_rows_that_stand_there():
    found = read_group(GROUP_TEXT, "g.anim", lambda name: f"// {name}\nrun 0 4 4 15 0 0 0".encode())
    motions = [(motion.name, motion.line, motion.tables) for motion in found.motions]
    assert motions == [("animations/toys/body.mdx", 3, [TABLE]), ("animations/toys/extra.mdx", 7, [])]
    assert names(found) == [["run"], ["crawl"]]
    assert found.motions[0].rows[0].before == f"// {TABLE}\n", "a table's comments stay"
    assert not found.motions[1].rows[0].before.startswith("\n\n\n"), "nothing is added to what stands before a row"
    assert found.complaints == []


def test_words_whatever_their_case_and_without_quotes():
    assert names(group("AnimGroup{ANIMFILE a.mdx{ " + ROW + "}}")) == [["walk"]]


def test_rows_around_includes_come_in_order():
    text = block('a 1 1 1 1 1 1 0\n#include "x.aninc"\nb 1 1 1 1 1 1 0')
    found = group(text, x='c 1 1 1 1 1 1 0\n#include "y.aninc"', y=ROW)
    assert names(found) == [["a", "c", "walk", "b"]]


def test_of_rows_of_one_name_the_last_counts():
    (motion,) = group(block(ROW + "WALK 7 2 3 4 5 6 0")).motions
    assert [(row.name, row.first) for row in motion.rows] == [("WALK", 7)]


def test_a_circle_is_told_of_and_left():
    found = group(block('#include "x.aninc"'), x=f'{ROW}#include "y.aninc"', y='#include "X.aninc"\n')
    assert names(found) == [["walk"]]
    assert found.complaints == ["'y.aninc' includes 'X.aninc', which is in a circle: it is not followed again"]


def test_a_group_that_includes_itself():
    found = read_group(block('#include "g.anim"'), "g.anim", lambda _: pytest.fail("it is known already"))
    assert found.complaints == ["'g.anim' includes 'g.anim', which is in a circle: it is not followed again"]


def test_what_is_missing_is_said_once():
    assert group(block('#include "x.aninc"\n#include "x.aninc"')).complaints == ["there is no 'x.aninc'"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (block("walk 1 2"), "'g.anim': animation 'walk' lacks a number at line 4: expected loop, found the end"),
        (block(f"{ROW}\n7 12"), "'g.anim': unexpected text at line 5: expected the name of an animation, found '12'"),
        ("animgroup {\n\nanimfile", "'g.anim', line 3: expected animfile or a closing brace, found 'animfile'"),
        ("animgroup {\n\n", "'g.anim', line 3: expected animfile or a closing brace, found the end"),
        ('animgroup { animfile "a.mdx" { ' + ROW, "'g.anim', line 1: 'a.mdx' lacks its closing brace"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, complaint):
    assert complaint in group(text).complaints


def test_a_broken_table_is_named_and_the_others_are_read():
    text = 'animgroup { animfile a { #include "x.aninc"\n} animfile b { #include "y.aninc"\n} }'
    found = group(text, x="\nwalk 1", y=ROW)
    assert names(found) == [[], ["walk"]]
    assert found.complaints == ["'x.aninc': animation 'walk' lacks a number at line 2: expected length, found the end"]


def test_what_is_no_group():
    with pytest.raises(FormatError) as caught:
        group("characterDef {")
    assert str(caught.value) == "this is no animation group at line 1: expected animgroup {, found 'characterDef {'"


HOSTILE = {
    "includes that double": (block('#include "0.aninc"'),
                             {str(n): f'#include "{n + 1}.aninc"\n' * 2 for n in range(64)}, "256 included files"),
    "many includes": (block('#include "x.aninc"\n' * 50000), {"x": ""}, "256 included files"),
    "many rows": (block("".join(f"a{n} 1 1 1 1 1 1 0\n" for n in range(20_001))), {}, "20000 rows"),
    "many files of frames": ("animgroup {" + "animfile a { }\n" * 100000, {}, "1024 files of frames"),
    "long tables": (block('#include "x.aninc"\n' * 3), {"x": "//" + "x" * (MOST_BYTES // 2)}, f"{MOST_BYTES} bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_would_take_for_ever_is_cut(name):
    text, files, most = HOSTILE[name]
    found = read_group(text, "g.anim", lambda wanted: files.get(wanted.removesuffix(".aninc"), "").encode())
    assert found.complaints == [f"'g.anim' has more than {most}: the rest is left out"]


def test_nothing_is_read_behind_what_is_cut():
    rows = "".join(f"a{n} 1 1 1 1 1 1 0\n" for n in range(20_001))
    text = f"animgroup {{ animfile a {{ {rows} }} animfile b {{ last 1 1 1 1 1 1 0 }} }}"
    found = read_group(text, "g.anim", lambda _: b"")
    assert [(motion.name, len(motion.rows)) for motion in found.motions] == [("a", 0)]


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(FormatError, match="too long for an animation group"):
        group("animgroup {" + " " * MOST_BYTES)


@given(st.text(max_size=80), st.integers(0, len(GROUP_TEXT)))
def test_broken_groups_are_sentences(text, place):
    def check(whole):
        try:
            found = read_group(whole, "g.anim", lambda _: whole.encode())
        except FormatError as error:
            assert "\n" not in str(error)
        else:
            assert not any("\n" in sentence for sentence in found.complaints)

    check(text)
    check(GROUP_TEXT[:place] + text + GROUP_TEXT[place:])
