"""Actions found for a table's rows, by their names, by hand, and the nearest."""

import pytest

from io_idtech_models.game.player.animation_edits import make
from io_idtech_models.game.player.row_layout import Length, lay_out
from io_idtech_models.game.player.row_matching import Match, chosen_rows, match_rows
from io_idtech_models.reporting import LimitError

COMMON = ["Armature|Idle", "Walk", "Running", "RunBack", "jump_start", "Landing", "Crouch Walk", "Death2", "Shoot.001"]


def own(actions, chosen=""):
    found = match_rows(actions, chosen_rows(chosen, actions))
    return {row: match.action for row, match in found.items() if not match.instead}


def test_common_names():
    assert own(COMMON) == {
        "TORSO_STAND": "Armature|Idle", "LEGS_IDLE": "Armature|Idle", "LEGS_WALK": "Walk", "LEGS_RUN": "Running",
        "LEGS_BACK": "RunBack", "LEGS_JUMP": "jump_start", "LEGS_LAND": "Landing", "LEGS_WALKCR": "Crouch Walk",
        "BOTH_DEATH2": "Death2", "TORSO_ATTACK": "Shoot.001",
    }  # fmt: skip


def test_words_that_are_written_as_one_and_ways_without_a_gait():
    assert own(["runcycle", "walkloop", "crouchwalk", "runbackwards"]) == {
        "LEGS_RUN": "runcycle", "LEGS_WALK": "walkloop", "LEGS_WALKCR": "crouchwalk", "LEGS_BACK": "runbackwards",
    }  # fmt: skip
    assert own(["forward", "back"]) == {"LEGS_WALK": "forward", "LEGS_RUN": "forward", "LEGS_BACK": "back"}
    assert own(["Forward", "Walk", "Jump Forward", "Roll Forward", "Crouch Forward"]) == {
        "LEGS_WALK": "Walk", "LEGS_RUN": "Forward", "LEGS_JUMP": "Jump Forward", "LEGS_WALKCR": "Crouch Forward",
    }  # fmt: skip


def test_a_rows_own_name_is_for_that_row_alone():
    found = own(["Crouch|Run", "Death|"])
    assert found == {"LEGS_RUN": "Crouch|Run", "BOTH_DEATH1": "Death|"}, "behind an armature's name"
    assert own(["legs_run", "LEGS_RUN_fast", "TORSO_STAND", "torso idle"]) == {
        "LEGS_RUN": "legs_run", "TORSO_STAND": "TORSO_STAND",
    }  # fmt: skip


def test_a_rows_own_name_beats_what_says_the_same():
    assert own(["torso attack", "ATTACK", "legs walk", "WALK"]) == {
        "TORSO_ATTACK": "torso attack",
        "LEGS_WALK": "legs walk",
    }


def test_so_many_other_words_say_nothing():
    found = own(["a fast run", "walk this very way", "long swim"])
    assert found == {"LEGS_RUN": "a fast run", "LEGS_SWIM": "long swim"}


def test_what_is_chosen_counts():
    assert own(["Run", "Trot"], "legs_run=trot @ 20; BOTH_DEATH1=Run")["LEGS_RUN"] == "Trot"
    assert chosen_rows("LEGS_RUN = Trot@20", ["Trot"])["LEGS_RUN"].fps == 20.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("LEGS_RUN", "does not say"), ("LEGS_FLY=Run", "'LEGS_FLY' is no row"), ("LEGS_RUN=Fly", "called 'Fly'"),
        ("LEGS_RUN=Run @ 0", "no number of frames"), ("BOTH_DEAD1=Run", "'BOTH_DEAD1' is no row"),
    ],
)  # fmt: skip
def test_choices_that_make_no_sense(text, said):
    with pytest.raises(LimitError, match=said):
        chosen_rows(text, ["Run"])


def test_missing_rows_get_the_nearest():
    found = match_rows(["Idle", "Run"], {})
    assert found["LEGS_BACK"] == Match("LEGS_BACK", "Run", backwards=True, instead="LEGS_RUN backwards")
    assert found["TORSO_ATTACK"] == Match("TORSO_ATTACK", "Idle", still=True, instead="TORSO_STAND's first frame")
    assert found["BOTH_DEATH3"].action == "Idle"
    assert len(found) == 22


@pytest.mark.parametrize("actions", [[], ["Spin"], ["Jump"]])
def test_a_character_without_any_of_the_names_stands_still(actions):
    found = match_rows(actions, {})
    assert len(found) == 22
    assert found["LEGS_IDLE"].still and found["LEGS_IDLE"].instead


def layout(actions, **lengths):
    every = {name: lengths.get(name, Length(1, 25)) for name in ["", *actions]}
    return lay_out(match_rows(actions, {}), every, 15.0, 24.0)


def test_the_table_is_one_that_games_take():
    found = layout(COMMON)
    table = make(found.rows)
    assert table.lacking() == ""
    first = {row.name: row for row in found.rows}
    assert first["LEGS_WALKCR"].first == first["TORSO_GESTURE"].first == 16
    assert first["BOTH_DEAD2"].first == first["BOTH_DEATH2"].first + first["BOTH_DEATH2"].count - 1
    assert table.of_part("lower")[-1].first == first["LEGS_TURN"].first
    assert max(row.first + abs(row.count) for row in table.of_part("upper")) == len(found.upper)
    assert max(row.first + abs(row.count) for row in table.of_part("lower")) == len(found.lower)


def test_loops_leave_out_the_frame_that_is_the_first_again():
    closed, open_ = layout(["Run"], Run=Length(1, 25, True)), layout(["Run"], Run=Length(1, 24))
    for found in (closed, open_):
        (row,) = [row for row in found.rows if row.name == "LEGS_RUN"]
        assert (row.count, row.loop) == (15, 15)
        times = [found.shots[found.lower[frame]][1] for frame in row.frames]
        assert times == pytest.approx([1 + 1.6 * n for n in range(15)])


def test_loops_have_a_frame_and_what_is_played_once_two():
    """However short the action is, or slow the row."""
    for name, count in (("LEGS_RUN", 1), ("BOTH_DEATH1", 2)):
        found = layout(["Run", "Death1"], Run=Length(1, 1.5, True), Death1=Length(1, 1.5))
        assert next(row.count for row in found.rows if row.name == name) == count


def test_what_is_played_once_ends_with_its_last_frame():
    found = layout(["Death1"], Death1=Length(1, 25))
    (row,) = [row for row in found.rows if row.name == "BOTH_DEATH1"]
    assert (row.first, row.count, row.loop) == (0, 16, 0)
    assert found.shots[found.lower[15]] == ("Death1", 25.0) == found.shots[found.upper[15]]


def test_backwards_and_alike_take_no_further_frames():
    found = layout(["Idle", "Run"])
    rows = {row.name: row for row in found.rows}
    assert (rows["LEGS_BACK"].first, rows["LEGS_BACK"].count) == (rows["LEGS_RUN"].first, -rows["LEGS_RUN"].count)
    assert rows["LEGS_TURN"].first == rows["LEGS_IDLE"].first
    assert found.shot("LEGS_BACK") == found.lower[rows["LEGS_RUN"].first + rows["LEGS_RUN"].count - 1]
