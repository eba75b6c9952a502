"""Texts of a character with what was edited: one line of a table, one value; every other byte as it was."""

import pytest

from io_idtech_models.game import aninc
from io_idtech_models.game.aninc import RowEdit
from io_idtech_models.game.character.et import group, texts
from io_idtech_models.game.character.et.definition import MOST_BYTES
from io_idtech_models.reporting import LimitError
from tests.samples_character import DEFINITION

GROUP = b"""// rows
animgroup { // "animfile"
\tanimfile "a/body.mdx" { #include "a/body.aninc"
\t\tlast 9 8 7 6 5 4 0 }
\tanimfile a/other.mdx
\t{
\t\t/* run 1 2 3 4 5 6 0 */ run 1 2 3 4 5 6 0 // runs \xe9
\t\t#include "a/other.aninc"
\t}
}
"""
BODY = b"// \xff\r\nstand 0 40 40 20 0 0 0\r\n\twalk\t41\t 10 10 20 60 0 0\r\nstand 1 2 3 4 5 6 0 // again\r\n"
OTHER = b'#include "a/deep.aninc"\njump 3 3 3 3 3 3 0'
DEEP = b"dive 4 4 4 4 4 4 0 50"
TEXTS = {"a.anim": GROUP, "A/Body.aninc": BODY, "a/other.aninc": OTHER, "a/deep.aninc": DEEP}


def row(text: str) -> aninc.Row:
    return aninc.read_rows(text)[0]


def edited(motion: str, old: str, new: str) -> dict[str, bytes]:
    return texts.with_rows(TEXTS, "a.anim", [RowEdit(motion, row(old) if old else None, row(new))])


EDITS = {
    "a rate": ("a/body.mdx", "walk 41 10 10 20 60 0 0", "walk 41 10 10 25 60 0 0", b" 10 10 20", b" 10 10 25"),
    "a name": ("a/body.mdx", "stand 1 2 3 4 5 6 0", "rest 1 2 3 4 5 6 1",
               b"stand 1 2 3 4 5 6 0", b"rest 1 2 3 4 5 6 1"),
    "in the group": ("A\\BODY.mdx", "LAST 9 8 7 6 5 4 0", "last 90 8 7 6 5 4 0", b"last 9 8", b"last 90 8"),
    "no comment": ("a/other.mdx", "run 1 2 3 4 5 6 0", "run 1 2 3 4 5 7 0", b"6 0 // runs", b"7 0 // runs"),
    "included": ("a/other.mdx", "jump 3 3 3 3 3 3 0", "jump 0 3 3 3 3 3 0", b"jump 3", b"jump 0"),
    "by that": ("a/other.mdx", "dive 4 4 4 4 4 4 0 50", "dive 4 4 4 4 4 5 0 60", b"4 0 50", b"5 0 60"),
}  # fmt: skip


@pytest.mark.parametrize("which", EDITS)
def test_a_row_changes_its_own_words(which):
    motion, old, new, was, now = EDITS[which]
    assert sum(text.count(was) for text in TEXTS.values()) == 1
    name = next(name for name, text in TEXTS.items() if was in text)
    assert edited(motion, old, new) == {name: TEXTS[name].replace(was, now)}


@pytest.mark.parametrize(
    ("motion", "name", "before", "line"),
    [
        ("a/body.mdx", "a.anim", b"4 0 }", b"\n\t\tnew\t\t1\t2\t0\t15\t0\t0\t0"),
        ("a/other.mdx", "a/other.aninc", b"", b"\nnew\t\t1\t2\t0\t15\t0\t0\t0"),
    ],
)
def test_a_new_row_stands_behind_the_last(motion, name, before, line):
    found = edited(motion, "", "new 1 2 0 15 0 0 0")
    place = TEXTS[name].index(before) + 3 if before else len(TEXTS[name])
    assert found == {name: TEXTS[name][:place] + line + TEXTS[name][place:]}


def test_a_new_row_has_what_its_neighbours_have():
    only = {"a.anim": b'animgroup { animfile "a.mdx" {\r\n  one 1 2 3 4 5 6 0 77 // x\r\n} }'}
    found = texts.with_rows(only, "a.anim", [RowEdit("a.mdx", None, row("two 1 2 3 4 5 6 0"))])
    (line,) = only.values()
    assert found == {"a.anim": line.replace(b"// x\r\n", b"// x\r\n  two\t1\t2\t3\t4\t5\t6\t0\t77\r\n")}


@pytest.mark.parametrize("length", range(1, 14))
def test_a_new_rows_name_is_no_part_of_its_number_however_long(length):
    name = "n" * length
    found = edited("a/body.mdx", "", f"{name} 1 2 0 15 0 0 0")["a.anim"].decode("latin-1")
    assert f"\n\t\t{name}\t" in found


def test_several_edits_of_one_text():
    edits = [
        RowEdit("a/body.mdx", row("walk 41 10 10 20 60 0 0"), row("strolling 41 10 10 20 60 0 0")),
        RowEdit("a/body.mdx", row("stand 1 2 3 4 5 6 0"), row("stand 100 2 3 4 5 6 0")),
    ]
    found = texts.with_rows(TEXTS, "a.anim", edits)
    assert found == {"A/Body.aninc": BODY.replace(b"walk", b"strolling").replace(b"stand 1 ", b"stand 100 ")}


def test_a_file_of_frames_that_is_named_twice():
    twice = {"g": b"animgroup { animfile a { one 1 2 3 4 5 6 0 } animfile a { one 2 2 3 4 5 6 0 } }"}
    edit = RowEdit("a", row("one 1 2 3 4 5 6 0"), row("one 9 2 3 4 5 6 0"))
    assert texts.with_rows(twice, "g", [edit]) == {"g": twice["g"].replace(b"one 1", b"one 9")}


def test_what_a_game_does_not_read_any_more_is_no_row():
    many = b'#include "gone"\n' * 256 + b'one 1 2 3 4 5 6 0\n#include "x"\ntwo 1 2 3 4 5 6 0\n#include "x"'
    every = {"g": b"animgroup { animfile a {" + many + b"} }"}
    edit = RowEdit("a", row("one 1 2 3 4 5 6 0"), row("one 9 2 3 4 5 6 0"))
    assert texts.with_rows(every, "g", [edit]) == {"g": every["g"].replace(b"one 1", b"one 9")}
    with pytest.raises(LimitError, match="could have the row 'two'"):
        texts.with_rows(every, "g", [RowEdit("a", row("two 1 2 3 4 5 6 0"), row("two 9 2 3 4 5 6 0"))])


ALL = len(BODY) + len(OTHER) + len(DEEP)


@pytest.mark.parametrize(
    ("limit", "most", "wanted"),
    [("MOST_ROWS", 7, {"dive", "jump"}), ("MOST_ROWS", 6, {"dive"}), ("MOST_ROWS", 2, set()),
     ("MOST_INCLUDES", 3, {"dive", "jump"}), ("MOST_INCLUDES", 2, {"jump"}), ("MOST_MOTIONS", 2, {"dive", "jump"}),
     ("MOST_MOTIONS", 1, set()), ("MOST_BYTES", ALL, {"dive", "jump"}), ("MOST_BYTES", ALL - 1, {"jump"})],
)  # fmt: skip
def test_rows_that_can_change_are_those_that_the_group_has(monkeypatch, limit, most, wanted):
    every = {name.lower(): text for name, text in TEXTS.items()}
    for module in (group, texts):
        monkeypatch.setattr(module, limit, most)
    if limit == "MOST_BYTES":  # which is the most of the group's own text, too
        every["a.anim"] = b'animgroup { animfile a/other.mdx { #include "a/body.aninc" #include "a/other.aninc" } }'
    read = group.read_group(every["a.anim"].decode("latin-1"), "a.anim", lambda name: every[name])
    known = {found.name for motion in read.motions if motion.name == "a/other.mdx" for found in motion.rows}
    assert known & {"dive", "jump"} == wanted
    for old in (OTHER.splitlines()[-1].decode(), DEEP.decode()):
        edit = RowEdit("a/other.mdx", row(old), row(f"leap {old.partition(' ')[2]}"))
        if old.split()[0] in wanted:
            assert len(texts.with_rows(every, "a.anim", [edit])) == 1
        else:
            with pytest.raises(LimitError, match="could have the row"):
                texts.with_rows(every, "a.anim", [edit])


def test_what_stands_nowhere_is_refused():
    with pytest.raises(LimitError, match=r"no table of 'a/body.mdx' that could have the row 'fly'"):
        edited("a/body.mdx", "fly 1 2 3 4 5 6 0", "fly 1 2 3 4 5 6 0")
    with pytest.raises(LimitError, match=r"no table of 'x.mdx'"):
        edited("x.mdx", "", "fly 1 2 3 4 5 6 0")


def test_a_circle_ends():
    circle = {"a.anim": b'animgroup { animfile "a.mdx" { #include "b" } }', "b": b'#include "b"\none 1 2 3 4 5 6 0'}
    found = texts.with_rows(circle, "a.anim", [RowEdit("a.mdx", row("one 1 2 3 4 5 6 0"), row("two 1 2 3 4 5 6 0"))])
    assert found == {"b": b'#include "b"\ntwo 1 2 3 4 5 6 0'}


def test_another_skin():
    assert texts.with_skin(DEFINITION.encode(), "x") == DEFINITION.replace('"field"', '"x"').encode()
    assert texts.with_skin(b"characterDef { Skin a skin b/* c */}", "d") == b"characterDef { Skin a skin d/* c */}"
    assert texts.with_skin(b"characterDef { skin a }", "two words") == b'characterDef { skin "two words" }'
    assert texts.with_skin(b"characterDef { Skin Skin m }", "d") == b"characterDef { Skin d m }"
    with pytest.raises(LimitError, match="that could be another one"):
        texts.with_skin(b'characterDef {\nSkin odd" // c\n}', "d")
    full = b"characterDef { skin a }".ljust(MOST_BYTES)
    assert texts.with_skin(full, "b") == full.replace(b" a ", b" b ")
    for data, odd in ((b"characterDef { skin a }", "}"), (b"characterDef { skin a }", "/*"), (full, "longer")):
        with pytest.raises(LimitError, match="that could be another one"):
            texts.with_skin(data, odd)
    with pytest.raises(LimitError, match="names no skin"):
        texts.with_skin(b"characterDef { // skin a\n}", "d")
    with pytest.raises(LimitError, match="can't stand"):
        texts.with_skin(b"characterDef { skin a }", 'a"b')
