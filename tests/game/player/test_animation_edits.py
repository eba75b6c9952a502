"""Rows are added to tables of animations, tables made, and frames inserted, as games read them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.player.animation_cfg import LEAST, NAMES, Row, read, read_text
from io_idtech_models.game.player.animation_edits import (
    GESTURE,
    WALKCR,
    check_begin,
    make,
    shifted,
    with_change,
    with_row,
)
from io_idtech_models.model.clips import Clip
from io_idtech_models.reporting import FormatError, LimitError
from tests.game.packs import PACKS, packed
from tests.game.player.test_animation_cfg import PLAIN, TEXTS, numbers, table
from tests.samples import CORPUS

# -- adding


def test_a_row_behind_the_last_takes_the_style_of_its_neighbour():
    text = PLAIN.replace("\n", "\r\n").removesuffix("\r\n") + " \t(x)\r\n// end"
    found = with_row(table(text), "TORSO_GETFLAG", first=60, count=4, loop=0, fps=12.5)
    assert found.text == text.replace("// end", "60\t4\t0\t12.5\t// TORSO_GETFLAG\r\n// end")
    other = text.replace("// LEGS_TURN", "// turns")
    assert other != text
    assert with_row(table(other), "TORSO_GETFLAG", first=60, count=4).text.endswith("\r\n60\t4\t0\t15\r\n// end")
    again = with_row(found, "TORSO_GETFLAG", first=61, count=4)
    assert again.text == found.text.replace("60\t4\t0\t12.5", "61\t4\t0\t15")


def test_rows_that_may_be_missing_before_it_are_what_games_take_for_them():
    found = with_row(table(PLAIN), "TORSO_AFFIRMATIVE", first=1, count=2, loop=3, fps=4.0)
    assert found.text.startswith(PLAIN)
    assert [numbers(row) for row in found.rows[LEAST:]] == [ROW_6] * 4 + [(1, 2, 3, 4)]
    assert found.rows[-1].name == "TORSO_AFFIRMATIVE"


ROW_6 = numbers(table(PLAIN).by_name["TORSO_GESTURE"])


def test_rows_that_may_not_be_missing():
    few = table("1 2 3 4\n" * 10)
    with pytest.raises(LimitError, match="LEGS_WALKCR comes behind others that are missing: add TORSO_RAISE, TORSO_S"):
        with_row(few, "LEGS_WALKCR", first=0, count=1)
    assert with_row(few, "TORSO_RAISE", first=0, count=1).text == "1 2 3 4\n" * 10 + "0 1 0 15\n"
    for name in ("LEGS_NONE", "torso_getflag", "NSPA_RUN"):
        with pytest.raises(LimitError, match="is no animation of such a table"):
            with_row(table(PLAIN), name, first=0, count=1)
    with pytest.raises(LimitError, match="is no number"):
        with_row(table(PLAIN), "TORSO_GETFLAG", first=1 << 20, count=1)


def test_a_row_with_a_name_stands_behind_its_kind():
    text = "sex m\nLEGS_RUN            1 2 0 3 // x\nLEGS_WALK   \t1 2 3 4\nBOTH_A 1 2 3 4"
    found = with_row(table(text), "LEGS_IDLE_LONG", first=5, count=6, loop=7, fps=8.0)
    assert found.text == text.replace("\nBOTH", "\nLEGS_IDLE_LONG\t5 6 7 8\nBOTH")
    other = with_row(table(text), "TORSO_B", first=5, count=6, loop=7, fps=8.0)
    assert other.text == text + "\nTORSO_B 5 6 7 8"
    column = with_row(table("LEGS_RUN    1 2 3 4\n"), "LEGS_BACK", first=1, count=1)
    assert column.text == "LEGS_RUN    1 2 3 4\nLEGS_BACK   1 1 0 15\n"
    indented = with_row(table("  LEGS_RUN 1 2 3 4\n"), "LEGS_BACK", first=1, count=1)
    assert indented.text == "  LEGS_RUN 1 2 3 4\n  LEGS_BACK 1 1 0 15\n"
    assert numbers(table("LEGS_RUN 1 2 3 4 5\n").rows[0]) == (1, 2, 3, 4), "what is behind is no row's"
    for name in ("LEGS RUN", "LEGS_x", "IDLE"):
        with pytest.raises(LimitError, match="no name for a row"):
            with_row(table(text), name, first=0, count=1)
    with pytest.raises(LimitError, match="no name for a row"):
        with_row(table("STARTANIMS\nidle 1 2 3 4 5\n"), "LEGS_B", first=0, count=1)


def test_a_row_goes_where_it_can_be_read():
    for end in ("/* a\nb */", "// x", "/* open", "\0 1 1 1 1", "/* a */ // b\0", "foo", ""):
        found = table("1 2 3 4\n1 2 3 4 " + end)
        new = with_row(found, "BOTH_DEATH2", first=9, count=8, loop=7, fps=6.0)
        assert [numbers(row) for row in new.rows] == [(1, 2, 3, 4)] * 2 + [(9, 8, 7, 6)]


@pytest.mark.parametrize("end", ["", "\0", "\0 1 1 1 1"])
def test_the_first_row_of_a_table_without_any_stands_at_its_end(end):
    new = with_row(read_text("sex m" + end), NAMES[0], first=9, count=8, loop=7, fps=6.0)
    assert new.text == f"sex m\n9\t8\t7\t6\t\t// {NAMES[0]}\n{end}"


@given(TEXTS, st.sampled_from(NAMES))
def test_a_row_is_added_to_any_file_or_refused(text, name):
    try:
        found = read(text.encode())
        new = with_row(found, name, first=3, count=2, loop=1, fps=9.0)
    except (FormatError, LimitError):
        return
    old = [numbers(row) for row in found.rows if row.name != name]
    assert [numbers(row) for row in new.rows if row.name != name][: len(old)] == old
    row = new.by_name[name]
    assert (row.first, row.count, row.repeats, row.fps) == (3, 2, 1, 9)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, "45 -6 6 0"),
        ({"first": 16}, "47 -6 6 0"),
        ({"count": 4, "loop": 2}, "45 4 2 0"),
        ({"frame_rate": 1.5}, "45 -6 6 1.5"),
        ({"frame_rate": 1.0 + 1e-7}, "45 -6 6 0"),
    ],
)
def test_a_row_that_means_something_else_changes_in_these_numbers_alone(change, wanted):
    """Legs count on behind the torso, and keep their place there."""
    rows = "LEGS_WALKCR 37 4 4 20\nLEGS_RUN 45 -6 6 0 // runs\nTORSO_GESTURE 6 3 0 18\n"
    found = table(rows)
    row = found.by_name["LEGS_RUN"]
    old = found.clip(row)
    assert old.first == 14
    assert with_change(found, row, old, replace(old, **change)).text == rows.replace("45 -6 6 0", wanted)


# -- making


def made_rows():
    firsts = {"BOTH": 0, "TORSO": 6, "LEGS": 6}
    rows = []
    for nth, name in enumerate(NAMES[:LEAST]):
        kind = name.partition("_")[0]
        rows.append(Row(name, firsts[kind], nth + 1, nth % 2, 10.0))
        firsts[kind] += nth + 1
    return rows


def test_a_new_table_says_what_its_rows_are():
    rows = made_rows()
    found = make(reversed(rows), ("sex\tf", "footsteps\tmech"))
    assert found.lacking() == ""
    assert found.keyword("sex") == ("f",)
    assert read(found.write()) == found
    assert [numbers(row) for row in found.of_part("lower") if row.name[0] == "L"] == [numbers(r) for r in rows[13:]]
    assert [numbers(row) for row in found.of_part("upper")] == [numbers(row) for row in rows[:13]]
    assert found.by_name["LEGS_WALKCR"].first == rows[12].first + rows[12].count
    for row in found.rows:
        assert found.text.split("\n")[row.line - 1].endswith(f"\t\t// {row.name}")
    more = make([*rows, Row("TORSO_PATROL", 8, 1, 0, 5.0)])
    assert [numbers(row) for row in more.rows[LEAST:]] == [numbers(rows[6])] * 2 + [(8, 1, 0, 5)]
    groups = [part.partition("// ")[2].partition("\n")[0] for part in more.text.split("\n\n")[3:]]
    assert groups == [
        "BOTH_DEATH1", "TORSO_GESTURE", "TORSO_ATTACK", "TORSO_DROP", "TORSO_STAND", "LEGS_WALKCR", "LEGS_JUMP",
        "LEGS_JUMPB", "LEGS_IDLE", "LEGS_TURN", "TORSO_GETFLAG",
    ]  # fmt: skip


def test_tables_that_no_game_takes_are_not_made():
    rows = made_rows()
    with pytest.raises(LimitError, match="rows are missing: BOTH_DEAD1, LEGS_TURN"):
        make([row for row in rows if row.name not in {"BOTH_DEAD1", "LEGS_TURN"}])
    with pytest.raises(LimitError, match="'LEGS_X' is no animation"):
        make([*rows, Row("LEGS_X", 0, 1, 0, 1.0)])
    with pytest.raises(LimitError, match="WALKCR begins at frame 7 of the legs, TORSO_GESTURE at frame 6 of the torso"):
        make([Row(r.name, r.first + (r.name[0] == "L"), r.count, r.loop, r.fps) for r in rows])


# -- frames inserted


@pytest.mark.parametrize(
    ("clip", "place", "inserts", "wanted"),
    [
        ((10, 5, 5), 9, True, (11, 5, 5)),
        ((10, 5, 5), 12, True, (10, 6, 6)),
        ((10, 5, 5), 15, True, (10, 5, 5)),
        ((10, 5, 2), 12, True, (10, 6, 2)),
        ((10, 5, 2), 13, True, (10, 6, 3)),
        ((10, -5, 5), 12, True, (10, -6, 6)),
        ((10, 5, 3), 11, False, (10, 4, 3)),
        ((10, 5, 3), 12, False, (10, 4, 2)),
        ((10, 5, 0), 9, False, (9, 5, 0)),
        ((10, 1, 0), 10, True, (10, 1, 0)),
        ((0, 1, 0), 0, False, (0, 1, 0)),
    ],
)
def test_a_row_grows_and_shrinks(clip, place, inserts, wanted):
    first, count, loop = clip
    row = Clip("LEGS_RUN", first, count, 15.0, loop, parts=("lower",))
    new = shifted(row, place, inserts, [row])
    assert (new.first, new.count, new.loop) == wanted


def test_a_row_of_one_frame_grows_if_it_plays_and_ends_no_other():
    stand, still = (Clip(name, 10, 1, loop=loop, parts=("upper",)) for name, loop in (("STAND", 0), ("STILL", 1)))
    for row in (stand, still):
        new = shifted(row, 10, True, [stand, still], True)
        assert (new.first, new.count, new.loop) == (10, 2, 2 * row.loop)
        assert shifted(row, 10, False, [stand, still], True) == replace(row, first=9)
    attack = Clip("ATTACK", 5, 6, parts=("upper",))
    assert shifted(stand, 10, True, [attack, stand], True) == replace(stand, first=11)


def test_a_body_lies_in_the_last_frame_of_its_death():
    rows = ("BOTH_DEATH1", 0, 30), ("BOTH_DEAD1", 29, 1)
    death, dead = (Clip(name, first, count, parts=("lower", "upper")) for name, first, count in rows)
    others = [death, dead]
    assert shifted(dead, 29, True, others).first == shifted(death, 29, True, others).last == 30
    assert shifted(dead, 29, False, others).first == shifted(death, 29, False, others).last == 28


@given(st.integers(0, 40), st.integers(0, 30), st.integers(2, 12), st.booleans(), st.data())
def test_a_row_shows_the_frames_that_it_showed(place, first, length, backwards, data):
    loop = data.draw(st.integers(0, length))
    row = Clip("LEGS_RUN", first, -length if backwards else length, 10.0, loop, parts=("lower",))
    new = shifted(row, place, True, [row])
    moved = {frame: frame + (frame > place) for frame in range(99)}
    assert [frame for frame in new.frames if frame != place + 1] == [moved[frame] for frame in row.frames]


@pytest.mark.skipif(not CORPUS.exists(), reason="no real files")
def test_real_tables():
    (path,) = CORPUS.rglob("animation.cfg")
    don = read(path.read_bytes())
    new = with_row(don, "TORSO_NEW", first=9, count=1, loop=0, fps=30.0)
    assert b"TORSO_NEW                         \t9\t1\t0\t30" in new.write().splitlines()


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_tables_take_rows():
    for data in packed("animation.cfg").values():
        found = read(data)
        new = with_row(found, "TORSO_GETFLAG", first=1, count=2)
        assert [numbers(row) for row in new.rows[:LEAST]] == [numbers(row) for row in found.rows]
        assert b"1\t2\t0\t15\t\t// TORSO_GETFLAG" in new.write()


# -- where legs and torso begin


@pytest.mark.parametrize(
    ("shown", "before", "refused"),
    [
        ({WALKCR: 7}, {WALKCR: 5, GESTURE: 5}, True),
        ({WALKCR: 7, GESTURE: 7}, {WALKCR: 5, GESTURE: 5}, False),
        ({GESTURE: 7}, {WALKCR: 5, GESTURE: 6}, False),  # as it was
        ({WALKCR: 7}, {WALKCR: 5}, False),  # a part alone
        ({}, {WALKCR: 5, GESTURE: 5}, False),
    ],
)
def test_legs_begin_where_the_torso_does(shown, before, refused):
    said = ""
    try:
        check_begin(shown, before)
    except LimitError as error:
        said = str(error)
    assert ("LEGS_WALKCR begins at frame 7 of lower.md3, and TORSO_GESTURE at 5 of upper.md3" in said) == refused
    assert bool(said) == refused
