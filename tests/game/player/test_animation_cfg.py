"""Tables of a player's animations are read as games read them, and come back as they were."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.player.animation_cfg import LEAST, NAMES, WHOLE_NAMES, read
from io_idtech_models.reporting import FormatError, LimitError
from tests.game.packs import PACKS, packed
from tests.samples import CORPUS

ROWS = [(nth * 10, 10, 0, 15) for nth in range(LEAST)]
PLAIN = "sex m\n" + "".join("\t".join(map(str, row)) + f"\t// {NAMES[n]}\n" for n, row in enumerate(ROWS))


def table(text):
    return read(text.encode())


def numbers(row):
    return row.first, row.count, row.loop, row.fps


# -- reading


def test_a_rows_place_is_its_name():
    found = table(PLAIN)
    assert [row.name for row in found.rows] == list(NAMES[:LEAST])
    assert [numbers(row) for row in found.rows] == ROWS
    assert found.lacking() == ""
    assert found.keyword("SEX") == ("m",)
    assert found.keyword("footsteps") is None
    assert [row.line for row in found.rows] == list(range(2, LEAST + 2))
    more = table(PLAIN + "1 2 3 4\n" * 8)
    assert [row.name for row in more.rows[LEAST:]] == [*NAMES[LEAST:], "", ""]


@pytest.mark.parametrize(
    "text",
    [
        "5 6 7 8\n9 10 11 12",
        "5\t6  7 8 // 3 3 3 3\r\n\r\n  9 10 11 12\r\n",
        "5 6 7 8 9 10 11 12",
        "5 6\n7\n8 9\n10 11 12",
        "/* 1 1 1 1\n2 2 2 2 */5 6 7 8//x\n9/*\n*/10 11 12 /* open",
        "sex m\nheadscale 1.5\nmenumodeloffset 0 0 1\n5 6 7 8 BOTH_DEAD1\nfootsteps spurs\n9 10 11 12",
        "\ufeff5 6 7 8\n9 10 11 12",
        "5 6 7 8\n9 10 11 12\0 13 14 15 16",
        'soundpath "a//b"\n+5 6.5 7 8.0\n9 10 11 12',
        "5 6 7 8 both_dead1 1 2\n9 10 11 12",
        "sex m\rheadoffset 0 0 1\r5 6 7 8\r\r9 10 11 12\r",
        "sex m\r\r\n5 6 7 8\r\r\n9 10 11 12 // 3\r3 3 3 3",
    ],
)
def test_what_stands_around_numbers_means_nothing(text):
    found = table(text)
    assert [numbers(row) for row in found.rows] == [(5, 6, 7, 8), (9, 10, 11, 12)]
    assert found.write() == text.encode()


def test_named_rows_come_in_any_order():
    found = table(
        "// x\nLEGS_RUN 20 8 8 15\nBOTH_LADDER_UP\t3 4 5 6.5\ntorso_gesture 0 -8 0 0\nability tech\nBOTH_X 1 2\n"
    )
    assert [(row.name, *numbers(row)) for row in found.rows] == [
        ("LEGS_RUN", 20, 8, 8, 15), ("BOTH_LADDER_UP", 3, 4, 5, 6.5), ("TORSO_GESTURE", 0, -8, 0, 0),
    ]  # fmt: skip
    assert found.is_named
    assert found.head == (("ability", "tech"), ("BOTH_X", "1", "2"))
    assert [sorted(row.parts) for row in found.rows] == [["lower"], ["lower", "upper"], ["upper"]]
    assert found.lacking() == ""
    assert table("LEGS_RUN 1 2 3 4").lacking() == "it has no row for upper"


def test_tables_of_one_part():
    rows = "".join(f"{nth} 1 0 9\n" for nth in range(len(WHOLE_NAMES)))
    found = table("nonsegmented\n" + rows)
    assert [row.name for row in found.rows] == list(WHOLE_NAMES)
    assert not found.is_segmented
    assert [row.first for row in found.of_part("nonseg")] == list(range(len(WHOLE_NAMES)))
    assert found.of_part("lower") == []
    assert found.lacking() == ""


def test_wolfenstein():
    text = "sex m\nVERSION 3\nSTARTANIMS\nIdle_01 0 10 10 15 0\nover table 9 8 7 6 -1\nENDANIMS\nHEADFRAMES\n1 2 3 4\n"
    found = table(text)
    assert [(row.name, *numbers(row)) for row in found.rows] == [("idle_01", 0, 10, 10, 15), ("over table", 9, 8, 7, 6)]
    assert found.edited("idle_01", first=5).text == text.replace("01 0", "01 5")
    assert found.lacking() == ""


def test_elite_force_counts_what_repeats_in_its_own_way():
    found = table("BOTH_A 0 9 -1 5\nLEGS_B 0 9 0 5\nTORSO_C 0 -9 3 5\n")
    assert [row.repeats for row in found.rows] == [0, 9, 3]
    edited = found.edited("BOTH_A", loop=9).edited("LEGS_B", loop=0).edited("TORSO_C", loop=4)
    assert edited.text == "BOTH_A 0 9 0 5\nLEGS_B 0 9 -1 5\nTORSO_C 0 -9 4 5\n"
    assert found.edited("LEGS_B", loop=9) == found
    assert found.edited("LEGS_B", count=20).by_name["LEGS_B"].repeats == 20
    assert [row.repeats for row in table("0 9 -1 5\n0 9 0 5").rows] == [0, 0]


def test_legs_count_on_behind_the_torso():
    found = table(PLAIN)
    assert found.legs_skip == 70
    assert [row.first for row in found.of_part("lower")] == [*range(0, 60, 10), *range(60, 180, 10)]
    assert [row.first for row in found.of_part("upper")] == list(range(0, 130, 10))
    assert table("1 2 3 4").legs_skip == 0
    clips = [(clip.name, clip.parts, clip.first) for clip in map(found.clip, found.rows)]
    assert clips[0] == ("BOTH_DEATH1", ("lower", "upper"), 0)
    assert clips[6] == ("TORSO_GESTURE", ("upper",), 60)
    assert clips[13] == ("LEGS_WALKCR", ("lower",), 60)


def test_what_is_shown():
    (row,) = table("5 4 2 0").rows
    assert row.frames == [5, 6, 7, 8]
    assert row.outside(7) == 2
    assert row.rate == 1
    (back,) = table("-1 -3 2 24.5").rows
    assert back.frames == [1, 0, -1]
    assert back.rate == 24.5
    assert table("7 0 0 -5").rows[0].frames == [7]
    assert table("7 0 0 -5").rows[0].rate == 1


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(0, 20))
def test_what_lies_outside(first, count, num_frames):
    (row,) = table(f"{first} {count} 0 1").rows
    assert row.outside(num_frames) == sum(not 0 <= frame < num_frames for frame in row.frames)


def test_what_games_refuse():
    assert table("1 2 3 4\n" * 14).lacking() == "it has 14 rows, games ask for 25: the next is LEGS_WALK"
    assert table(PLAIN + " " * 20000).lacking().startswith("it has 20")
    assert table("nonsegmented\n" + "1 2 3 4\n" * 26).lacking().endswith("27: the next is NSPA_DEAD3")
    for nothing in (b"", b"sex m\n", b"1 2 3", b"// 1 2 3 4", b"BOTH_A 1 2 x 4"):
        with pytest.raises(FormatError, match="no animation in it"):
            read(nothing)


def test_rows_beyond_1024_are_no_rows():
    assert len(read(b"1 2 3 4\n" * 1027).rows) == 1024


def test_numbers_that_are_too_large():
    (row,) = table("99999999999999999999 -3000000000 1e9 1e300").rows
    assert numbers(row) == (65535, -65535, 1, 65535)
    assert len(row.frames) == 65535
    (row,) = table("1 2 3 1e999").rows
    assert row.rate == 1


# -- editing


def test_an_edit_changes_its_numbers_and_nothing_else():
    text = " 05\t+6 7  25.0 // BOTH_DEATH1\r\n\r\nfoo 1 2 3 4\r\n1 2 3 4 /* LAST"
    found = table(text)
    row = found.rows[0]
    assert found.edited(row, first=5, count=6, loop=7, fps=25.0) == found
    assert found.edited(row, first=123).text == text.replace("05", "123")
    assert found.edited(row, count=-6).text == text.replace("+6", "-6")
    assert found.edited(row, loop=0).text == text.replace(" 25", "!25").replace("7", "0", 1).replace("!25", " 25")
    assert found.edited("BOTH_DEATH1", fps=12.5).text == text.replace("25.0", "12.5")
    assert found.edited(row, fps=30.0).text == text.replace("25.0", "30")
    assert found.edited(found.rows[1], first=9, fps=1 / 3).text == text.replace("1 2 3 4 /", "9 2 3 0.333333 /")


def test_edits_follow_one_another_with_old_rows():
    found = table(PLAIN)
    legs = found.of_part("lower")[-1]
    assert legs.first == 170
    first = found.edited(found.rows[0], first=11111, count=-22222)
    assert numbers(first.edited(legs, first=999).rows[LEAST - 1]) == (999, 10, 0, 15)
    assert first.edited(legs, count=10) == first, "what a part's row says of its own frames is no edit"


def test_several_rows_are_edited_at_once():
    found = table(PLAIN)
    edits = [("LEGS_TURN", (1, 2, 3, 4.5)), (found.rows[0], (None, -7, None, None)), ("LEGS_RUN", (0, None, 0, None))]
    one = found.edited_rows(edits)
    each = found.edited("LEGS_TURN", first=1, count=2, loop=3, fps=4.5).edited("BOTH_DEATH1", count=-7)
    assert one == each.edited("LEGS_RUN", first=0, loop=0)
    assert found.edited_rows([]) == found


def test_rows_and_numbers_that_no_table_has():
    found = table(PLAIN)
    for value in (1 << 20, math.inf, math.nan):
        with pytest.raises(LimitError, match="is no number that a game reads"):
            found.edited("BOTH_DEATH1", fps=value)
    with pytest.raises(LimitError, match="no row LEGS_NONE"):
        found.edited("LEGS_NONE", first=1)
    with pytest.raises(LimitError, match="no row LEGS_TURN"):
        table("1 2 3 4").edited(found.by_name["LEGS_TURN"], first=1)


# -- any file

WORDS = st.sampled_from([
    "nonsegmented", "STARTANIMS", "ENDANIMS", "\ufeff", "\n", "\r\n", " ", "\t", "//", "/*", "*/", '"', "1", "-2", "30",
    "25.5", "BOTH_A", "LEGS_RUN", "sex m", "\0", "é",
])  # fmt: skip
TEXTS = st.lists(WORDS, max_size=60).map("".join) | st.text(string.printable, max_size=80)


@given(TEXTS, st.sampled_from(["utf-8", "latin-1", "utf-8-sig"]))
def test_any_file_comes_back(text, encoding):
    data = text.encode(encoding, errors="replace")
    try:
        found = read(data)
    except FormatError:
        return
    assert found.write() == data
    assert all(found.edited(row, first=row.first, count=row.count, fps=row.fps) == found for row in found.rows)


@given(TEXTS, st.integers(0, 9), st.integers(-999, 999), st.integers(-99, 99), st.floats(0, 1000))
def test_an_edit_of_any_file_is_read_back(text, nth, first, count, fps):
    try:
        found = read(text.encode())
    except FormatError:
        return
    row = found.rows[nth % len(found.rows)]
    new = found.edited(row, first=first, count=count, fps=fps)
    one, other = ([numbers(each) for each in rows if each.nth != row.nth] for rows in (new.rows, found.rows))
    assert one == other
    again = new.rows[row.nth]
    assert numbers(again) == (first, count, row.loop, pytest.approx(fps, abs=1e-6))


# -- real files


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_tables_come_back_and_are_whole():
    files = packed("animation.cfg")
    assert len(files) == 6
    for name, data in files.items():
        found = read(data)
        assert found.write() == data, name
        assert (len(found.rows), found.lacking()) == (LEAST, ""), name
    data = files["pak0.pk3/models/players/sarge/animation.cfg"]
    sarge = read(data)
    assert sarge.legs_skip == 63
    lower, upper = (max(r.first + r.count for r in sarge.of_part(part)) for part in ("lower", "upper"))
    assert (lower, upper) == (198, 153)
    assert sarge.edited("LEGS_RUN", fps=18.0).write() == data.replace(b"173\t9\t9\t15", b"173\t9\t9\t18")


@pytest.mark.skipif(not CORPUS.exists(), reason="no real files")
def test_a_real_table_with_names():
    (path,) = CORPUS.rglob("animation.cfg")
    found = read(path.read_bytes())
    assert found.write() == path.read_bytes()
    assert len(found.rows) == 54
    assert (found.legs_skip, found.lacking()) == (119, "")
    assert found.by_name["BOTH_ATTACK_SAI1_PRIMARY_C"].first == 132
    assert max(row.first + row.count for row in found.of_part("upper")) == 261
