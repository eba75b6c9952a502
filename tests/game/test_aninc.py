"""Animation tables are read as the game reads them, and written back as they were."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.aninc import FIELDS, Row, RowEdit, effective, read_rows, spelt, with_edits, write_rows
from io_idtech_models.reporting import FormatError
from tests.samples import CORPUS

HEAD = "\t\t// <animation name>\t<first frame> <length> <looping> <fps> <move speed> <transition> <reversed>"
FILE = f"{HEAD}\n\n\t\twalk\t1\t2\t3\t4\t5\t6\t1\t// hop\n\t\trun  7 8 9 10 -1 12 0\n\t\t// end\n"


def values(row):
    return [row.name, *(getattr(row, key) for key in FIELDS)]


# -- reading


def test_every_number_is_where_it_belongs():
    walk, run = read_rows(FILE)
    assert values(walk) == ["walk", 1, 2, 3, 4.0, 5, 6, True, None]
    assert values(run) == ["run", 7, 8, 9, 10.0, -1, 12, False, None]
    assert isinstance(walk.fps, float)


def test_a_byte_order_mark_is_a_blank_and_stays():
    rows = read_rows("\ufeff" + FILE)
    assert [values(row) for row in rows] == [values(row) for row in read_rows(FILE)]
    assert write_rows(rows) == "\ufeff" + FILE


def test_an_eighth_number_is_a_priority():
    rows = read_rows("a 1 2 3 21.5 5 6 0 8\nb 1 2 3 4 5 6 1\nc 1 2 3 4 5 6 0 -2")
    assert [(row.name, row.fps, row.priority) for row in rows] == [("a", 21.5, 8), ("b", 4, None), ("c", 4, -2)]


@pytest.mark.parametrize(
    "text",
    [
        "a 1 2 3 4 5 6 0 b 1 2 3 4 5 6 0",
        "a\n1\n2\n3 4\n5 6\n0\nb 1 2 3 4 5 6 0",
        "\r\n\ta\t1 2 3 4 5 6 0\r\nb 1 2 3 4 5 6 0\r\n",
        '"a"1 2 3 4 5 6 0"b"1 2 3 4 5 6 0',
        "a 1 2 3 4 5 6 0// c 1 2 3 4 5 6 0\nb/*\n*/1 2 3 4 5 6 0",
        "/* // */ a 1/* 9 */2 3 4 5 6 0 // /*\nb 1 2 3 4 5 6 0 // */",
        "a +1 2. 3.0 4 5 6 0 b 1 2 3 4 5 6 .0 /* open",
    ],
)
def test_line_ends_and_comments_mean_nothing(text):
    assert [values(row) for row in read_rows(text)] == [[name, 1, 2, 3, 4.0, 5, 6, False, None] for name in "ab"]
    assert write_rows(read_rows(text)) == text


def test_a_quoted_name_is_a_name_whatever_is_in_it():
    for name in ("12 // {x}", "#include", "-1", ""):
        (row,) = read_rows(f'"{name}" 1 2 3 4 5 6 0')
        assert row.name == name


def test_only_1_is_reversed():
    rows = read_rows("a 0 1 0 1 0 0 2 b 0 1 0 1 0 0 1 c 0 1 0 1 0 0 -1")
    assert [row.reversed for row in rows] == [False, True, False]


def test_what_plays_as_one():
    (row,) = read_rows("a 5 0 13 0 0 0 0")
    assert (row.length, row.fps, row.loop) == (0, 0, 13), "as they are written"
    assert (row.clip.length, row.clip.frame_rate) == (1, 1.0)
    assert (replace(row, length=4).clip.length, replace(row, fps=2.5).clip.frame_rate) == (4, 2.5)


def test_the_last_row_of_a_name_counts():
    rows = read_rows("Walk 1 1 1 1 1 1 0 run 2 2 2 2 2 2 0 wALK 3 3 3 3 3 3 1")
    assert [(row.name, row.first) for row in effective(rows)] == [("wALK", 3), ("run", 2)]
    assert rows[0].key == "walk"


@pytest.mark.parametrize("text", ["", "\n", " // nothing\n/* at all */", "/*", "\ufeff"[:0]])
def test_a_file_without_rows(text):
    assert read_rows(text) == []


# -- writing


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.aninc")), ids=lambda path: str(path.relative_to(CORPUS)))
def test_real_files_come_back(path):
    text = path.read_bytes().decode("latin-1")
    rows = read_rows(text)
    assert rows
    assert write_rows(rows) == text
    assert read_rows(write_rows([replace(row, text="") for row in rows])) == rows


def test_an_edit_changes_its_number_only():
    rows = read_rows(FILE)
    rows[0].fps = 21.5
    rows[1].name = "run it"
    rows[1].reversed = True
    text = FILE.replace("3\t4\t5", "3\t21.5\t5").replace("run  7", '"run it"  7').replace("12 0", "12 1")
    assert write_rows(rows) == text


def test_numbers_that_say_the_same_stay_as_they_are_spelt():
    text = "a +1 02 3.0 15.50 5 6 2"
    (row,) = read_rows(text)
    assert write_rows([replace(row, loop=9)]) == "a +1 02 9 15.50 5 6 2"


def test_a_priority_comes_and_goes():
    (row,) = read_rows("\t\ta 1 2 3 4 5 6 0 // x\n")
    assert write_rows([replace(row, priority=7)]) == "\t\ta\t1\t2\t3\t4\t5\t6\t0\t7 // x\n"
    (row,) = read_rows("a 1 2 3 4 5 6 0 7")
    assert write_rows([replace(row, priority=None)]) == "a\t1\t2\t3\t4\t5\t6\t0"


@pytest.mark.parametrize("length", range(1, 10))
@pytest.mark.parametrize("widest", [0, 4])
def test_a_name_is_no_part_of_its_number_however_long(length, widest):
    new = Row("n" * length, 1, 2)
    assert read_rows(spelt(new, widest)) == [new]


def test_comments_go_with_their_row():
    first, second = read_rows("// one\na 1 1 1 1 1 1 0 // x\n\n// two\nb 2 2 2 2 2 2 0 // y")
    text = write_rows([second, first])
    assert text == "\n// two\nb 2 2 2 2 2 2 0 // y\n// one\na 1 1 1 1 1 1 0 // x\n"
    assert write_rows([second]) == "\n// two\nb 2 2 2 2 2 2 0 // y"


@pytest.mark.parametrize("tail", ["", " ", " // x", " // x ", " /* x */", " /* x\n y", "\n/* // ", "\r\n", " //"])
def test_a_row_added_at_the_end_is_read(tail):
    rows = [*read_rows("a 1 1 1 1 1 1 0" + tail), Row("b", 3, 4)]
    assert read_rows(write_rows(rows)) == rows


def test_new_rows_stand_in_columns():
    rows = [Row("walk", 0, 10, 10, 15), Row("raise_akimbo", 12, 4, fps=21.5, move_speed=-1, transition=200)]
    text = write_rows([*rows, Row("x", 1, 2, reversed=True, priority=3)])
    assert text.splitlines() == [
        "\t\t// name first length loop fps move_speed transition reversed",
        "",
        "\t\twalk\t\t\t0\t10\t10\t15\t0\t0\t0",
        "\t\traise_akimbo\t12\t4\t0\t21.5\t-1\t200\t0",
        "\t\tx\t\t\t\t1\t2\t0\t15\t0\t0\t1\t3",
    ]


def test_new_rows_end_as_the_others_do():
    text = write_rows([*read_rows("a 1 1 1 1 1 1 0\r\n"), Row("b", 1, 1)])
    assert text == "a 1 1 1 1 1 1 0\r\n\t\tb\t1\t1\t0\t15\t0\t0\t0\r\n"
    assert write_rows([]).count("\n") == 2


names = st.text(max_size=9).map(lambda name: name.translate(dict.fromkeys(map(ord, '"\r\n'))))
whole = st.integers(-(2**31), 2**31 - 1)
counts = st.integers(0, 2**31 - 1)
rates = st.integers(0, 10**8).map(lambda value: value / 100)
rows = st.builds(
    Row, names, counts, counts, whole, rates, whole, whole, st.booleans(), st.one_of(st.none(), whole)
)  # fmt: skip


@given(st.lists(rows, max_size=6))
def test_any_rows_come_back(table):
    text = write_rows(table)
    found = read_rows(text)
    assert found == table
    assert write_rows(found) == text


@given(rows, rows)
def test_any_edit_comes_back(before, after):
    (row,) = read_rows(write_rows([before]))
    edited = replace(after, text=row.text, before=row.before, after=row.after)
    assert read_rows(write_rows([edited])) == [after]


def test_a_name_can_not_break_the_file():
    (row,) = read_rows(write_rows([Row('a"\r\nb 1 2', 3, 4)]))
    assert (row.name, row.first) == ("ab 1 2", 3)


@pytest.mark.parametrize("fps", [float("nan"), float("inf")])
def test_a_rate_that_is_no_number_is_not_written(fps):
    with pytest.raises(ValueError, match="'a'"):
        write_rows([Row("a", 1, 1, fps=fps)])


# -- what is refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2 3", "line 1: expected the name of an animation, found '1'"),
        ("a 1 2 3 4 5 6", "animation 'a' lacks a number at line 1: expected reversed, found the end"),
        ("\na 1 2\nb 1 2 3 4 5 6 0", "line 3: expected loop, found 'b'"),
        ('a 1 2 3 4 5 6 "0"', "expected reversed, found '0'"),
        ("a 1 2 3 4 5 6 0 8 9", "expected the name of an animation, found '9'"),
        ("a 1 2 x 4 5 6 0", "expected loop, found 'x'"),
        ("a 1 2 1e3 4 5 6 0", "expected loop, found '1e3'"),
        ("a 1 2 nan 4 5 6 0", "expected loop"),
        ("/*\n\n*/a -1 2 3 4 5 6 0", "first at line 3: expected 0 to 2147483647, found '-1'"),
        ("a 1 -2 3 4 5 6 0", "length"),
        ("a 1 2 3 -4 5 6 0", "fps"),
        ("a 1 2 3 4 5 6 2147483648", "reversed"),
        ("a 1 2 3 4 -2147483649 6 0", "move_speed"),
        ("a 1 2 3 4 5 6 0 }", "found '}'"),
        ('#include "x.aninc"', "the name of an animation, found '#include'"),
        ('\n"a 1 2\n', "a quote is not closed at line 2"),
        ('a" 1 2 3 4 5 6 0', "a quote is not closed at line 1"),
    ],
)
def test_what_is_no_table(text, words):
    with pytest.raises(FormatError) as caught:
        read_rows(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["a " + "9" * 10**6 + " 2 3 4 5 6 0", "a" * 10**6, "{" * 10**6, '"' + "a" * 10**6])
def test_hostile_sizes_are_refused_in_few_words(text):
    with pytest.raises(FormatError) as caught:
        read_rows(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["/* " * 10**6, " " * 10**6, "//" * 10**6, "\n" * 10**6, "/**/" * 10**5 + "/*"])
def test_large_files_of_nothing_are_read(text):
    assert read_rows(text) == []
    rows = read_rows("a 1 2 3 4 5 6 0" + text)
    assert write_rows(rows) == "a 1 2 3 4 5 6 0" + text


@given(st.text(alphabet='ab01.- "{}/*#\n\r\t'))
def test_any_text_is_rows_or_an_error(text):
    try:
        found = read_rows(text)
    except FormatError:
        return
    assert not found or write_rows(found) == text
    assert read_rows(write_rows([*found, Row("z", 1, 1)]))[-1].name == "z"


# -- edits of a table


def edited(text, edits=(), gone=()):
    rows = read_rows(text)
    before = {row.key: row for row in rows}
    made = [RowEdit("", before.get(old), replace(before[old], **new) if old else Row(**new)) for old, new in edits]
    return write_rows(with_edits(rows, made, gone))


def test_an_edit_is_of_the_row_that_counts():
    text = "a 1 2 0 4 5 6 0 // old\nb 1 2 0 4 5 6 0\nA 3 2 0 4 5 6 0 // new\n"
    assert edited(text, [("a", {"fps": 9.0})]) == text.replace("A 3 2 0 4", "A 3 2 0 9")
    renamed = "b 1 2 0 4 5 6 0\nc 3 2 0 9 5 6 0 // new\n"
    assert edited(text, [("a", {"name": "c", "fps": 9.0})]) == renamed, "the first would count then"


@pytest.mark.parametrize(("gone", "wanted"), [
    (["walk"], f"{HEAD}\n\n\t\trun  7 8 9 10 -1 12 0\n\t\t// end\n"),
    (["run"], f"{HEAD}\n\n\t\twalk\t1\t2\t3\t4\t5\t6\t1\t// hop\n\t\t// end\n"),
    (["RUN", "walk"], "\t\t// name first length loop fps move_speed transition reversed\n\n"),
])  # fmt: skip
def test_rows_go_and_comments_stay(gone, wanted):
    assert edited(FILE, gone=gone) == wanted


def test_all_rows_of_a_name_go():
    assert edited("a 1 2 0 4 5 6 0\nb 1 2 0 4 5 6 0\nA 3 2 0 4 5 6 0\n", gone=["a"]) == "b 1 2 0 4 5 6 0\n"


def test_new_rows_stand_behind_all_others():
    new = {"name": "new", "first": 9, "length": 2}
    assert edited(FILE, [(None, new)]) == FILE + "\t\tnew\t\t9\t2\t0\t15\t0\t0\t0\n"
    assert edited("a 1 2 0 4 5 6 0", [(None, new)]) == "a 1 2 0 4 5 6 0\n\t\tnew\t9\t2\t0\t15\t0\t0\t0\n"
    assert edited("a 1 2 0 4 5 6 0 7\n\t\t", [(None, new)]) == "a 1 2 0 4 5 6 0 7\n\t\tnew\t9\t2\t0\t15\t0\t0\t0\t7\n"
