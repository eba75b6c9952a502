"""Rows are added to tables of animations, tables made, and frames inserted, as games read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.player.animation_cfg import LEAST, NAMES, Row, read
from io_idtech_models.game.player.animation_edits import inserted, make, with_row
from io_idtech_models.reporting import FormatError, LimitError
from tests.game.packs import PACKS, packed
from tests.game.player.test_animation_cfg import PLAIN, TEXTS, numbers, table
from tests.samples import CORPUS


def parts_rows(found):
    return {(part, row.name): numbers(row) for part in ("lower", "upper") for row in found.of_part(part)}


# -- adding


def test_a_row_behind_the_last_takes_the_style_of_its_neighbour():
    text = PLAIN.replace("\n", "\r\n").removesuffix("\r\n") + " \t(x)\r\n// end"
    found = with_row(table(text), "TORSO_GETFLAG", first=60, count=4, loop=0, fps=12.5)
    assert found.text == text.replace("// end", "60\t4\t0\t12.5\t// TORSO_GETFLAG\r\n// end")
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
    assert "\n\n" in found.text
    more = make([*rows, Row("TORSO_PATROL", 8, 1, 0, 5.0)])
    assert [numbers(row) for row in more.rows[LEAST:]] == [numbers(rows[6])] * 2 + [(8, 1, 0, 5)]


def test_tables_that_no_game_takes_are_not_made():
    rows = made_rows()
    with pytest.raises(LimitError, match="rows are missing: BOTH_DEAD1, LEGS_TURN"):
        make([row for row in rows if row.name not in {"BOTH_DEAD1", "LEGS_TURN"}])
    with pytest.raises(LimitError, match="'LEGS_X' is no animation"):
        make([*rows, Row("LEGS_X", 0, 1, 0, 1.0)])
    with pytest.raises(LimitError, match="WALKCR begins at frame 7 of the legs, TORSO_GESTURE at frame 6 of the torso"):
        make([Row(r.name, r.first + (r.name[0] == "L"), r.count, r.loop, r.fps) for r in rows])


# -- frames inserted


def test_frames_inserted_in_the_legs_move_what_follows_there():
    found = table(PLAIN)  # LEGS_WALKCR is 60 to 69 of the legs
    new = inserted(found, 62, 5, ["lower"])
    was, now = parts_rows(found), parts_rows(new)
    assert now.pop(("lower", "LEGS_WALKCR")) == (60, 15, 0, 15)
    del was["lower", "LEGS_WALKCR"]
    legs = [key for key in was if key[1].startswith("LEGS")]
    assert len(legs) == 11
    assert all(now[key] == (was[key][0] + 5, *was[key][1:]) for key in legs)
    assert all(now[key] == was[key] for key in was if key not in legs)
    assert inserted(new, 62, -5, ["lower"]) == found


def test_frames_inserted_in_the_torso_leave_the_legs_as_they_are():
    found = table(PLAIN)
    new = inserted(found, 65, 5, ["upper"])
    was, now = parts_rows(found), parts_rows(new)
    assert now["upper", "TORSO_GESTURE"] == (60, 15, 0, 15)
    assert now["upper", "TORSO_ATTACK"] == (75, 10, 0, 15)
    assert all(now[key] == was[key] for key in was if key[0] == "lower")
    assert new.by_name["LEGS_WALKCR"].first == 135, "the legs' rows count on behind the torso's"
    assert inserted(found, 999, 5, ["upper"]) == found
    together = table(PLAIN.replace("130\t", "60\t"))  # legs' rows that share numbers with the torso's
    assert inserted(together, 65, 5, ["upper"]).by_name["LEGS_WALKCR"].first == 60


def test_frames_of_both():
    found = table(PLAIN)
    new = inserted(found, 3, 2)
    was, now = parts_rows(found), parts_rows(new)
    assert now["lower", "BOTH_DEATH1"] == now["upper", "BOTH_DEATH1"] == (0, 12, 0, 15)
    rest = [key for key in was if key[1] != "BOTH_DEATH1"]
    assert all(now[key][0] == was[key][0] + 2 for key in rest)
    with pytest.raises(LimitError, match="row BOTH_DEATH1 plays on upper, too: it needs the same frames there"):
        inserted(found, 3, 2, ["lower"])
    with pytest.raises(LimitError, match="LEGS_WALKCR has to begin at the same frame as TORSO_GESTURE"):
        inserted(found, 60, 2, ["upper"])
    with pytest.raises(LimitError, match="row TORSO_GESTURE has no frame left"):
        inserted(found, 60, -10, ["upper"])


@pytest.mark.parametrize(
    ("row", "at", "count", "wanted"),
    [
        ("10 5 5 1", 10, 2, (12, 5, 5, 1)),
        ("10 5 5 1", 12, 2, (10, 7, 7, 1)),
        ("10 5 5 1", 15, 2, (10, 5, 5, 1)),
        ("10 5 2 1", 13, 2, (10, 7, 2, 1)),
        ("10 5 2 1", 14, 2, (10, 7, 4, 1)),
        ("10 -5 2 1", 11, 2, (10, -7, 4, 1)),
        ("10 -5 2 1", 12, 2, (10, -7, 2, 1)),
        ("10 5 9 1", 12, 2, (10, 7, 9, 1)),
        ("10 0 0 1", 10, 2, (12, 0, 0, 1)),
        ("10 5 3 1", 11, -3, (10, 2, 1, 1)),
        ("10 5 3 1", 8, -3, (8, 4, 3, 1)),
        ("10 5 3 1", 13, -9, (10, 3, 1, 1)),
        ("10 5 3 1", 0, -4, (6, 5, 3, 1)),
    ],
)
def test_a_row_grows_and_shrinks(row, at, count, wanted):
    assert numbers(inserted(table(row), at, count).rows[0]) == wanted


@given(st.integers(0, 40), st.integers(1, 9), st.data())
def test_a_row_shows_the_frames_that_it_showed(at, count, data):
    first, length = data.draw(st.integers(0, 30)), data.draw(st.integers(1, 12))
    loop, sign = data.draw(st.integers(0, length)), data.draw(st.sampled_from((1, -1)))
    row = table(f"{first} {sign * length} {loop} 10").rows[0]
    new = inserted(table(f"{first} {sign * length} {loop} 10"), at, count).rows[0]
    moved = {frame: frame + count * (frame >= at) for frame in range(99)}
    added = set(range(at, at + count))
    assert [frame for frame in new.frames if frame not in added] == [moved[frame] for frame in row.frames]
    repeated = [frame for frame in new.frames[len(new.frames) - new.repeats :] if frame not in added]
    assert repeated == [moved[frame] for frame in row.frames[length - loop :]]


@pytest.mark.skipif(not CORPUS.exists(), reason="no real files")
def test_real_tables():
    (path,) = CORPUS.rglob("animation.cfg")
    don = read(path.read_bytes())
    new = with_row(don, "TORSO_NEW", first=9, count=1, loop=0, fps=30.0)
    assert b"TORSO_NEW                         \t9\t1\t0\t30" in new.write().splitlines()
    was, now = parts_rows(don), parts_rows(inserted(don, 200, 4, ["upper"]))
    assert {key for key in was if was[key] != now[key]} == {
        key for key in was if key[0] == "upper" and was[key][0] + was[key][1] > 200
    }


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_tables_take_rows():
    for data in packed("animation.cfg").values():
        found = read(data)
        new = with_row(found, "TORSO_GETFLAG", first=1, count=2)
        assert [numbers(row) for row in new.rows[:LEAST]] == [numbers(row) for row in found.rows]
        assert b"1\t2\t0\t15\t\t// TORSO_GETFLAG" in new.write()
