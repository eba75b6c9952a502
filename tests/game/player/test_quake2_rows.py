"""Which actions play the animations of Quake II's players, and at which times they are looked at."""

import pytest

from io_idtech_models.game.character.quake2 import LENGTHS, NUM_FRAMES
from io_idtech_models.game.player.quake2_rows import ROWS, shots_of
from io_idtech_models.game.player.row_layout import Length
from io_idtech_models.game.player.row_matching import chosen_rows, match_rows
from io_idtech_models.reporting import LimitError


def matched(*actions, chosen=""):
    return match_rows(list(actions), chosen_rows(chosen, list(actions), ROWS), ROWS)


def test_actions_by_their_names():
    found = matched("Armature|Idle", "Run", "Shoot", "Crouch", "CrouchWalk", "Crouch Attack", "Die", "Die2", "Wave")
    assert {row: match.action for row, match in found.items() if not match.instead} == {
        "stand": "Armature|Idle", "run": "Run", "attack": "Shoot", "crstnd": "Crouch", "crwalk": "CrouchWalk",
        "crattak": "Crouch Attack", "death1": "Die", "death2": "Die2", "wave": "Wave",
    }  # fmt: skip
    assert (found["pain1"].action, found["pain1"].still) == ("Armature|Idle", True)
    assert found["death3"].action == "Die2"
    assert found["crdeath"].instead == "death1"


def test_those_of_the_game_itself():
    assert {row: match.action for row, match in matched(*LENGTHS).items()} == {name: name for name in LENGTHS}


def test_no_action_at_all():
    assert {match.action for match in matched().values()} == {""}
    assert {match.action for match in matched("xyz").values()} == {"xyz"}


def test_chosen_ones():
    assert matched("Idle", "Trot", chosen="RUN=trot")["run"].action == "Trot"
    with pytest.raises(LimitError, match="'LEGS_RUN' is no row"):
        matched("Run", chosen="LEGS_RUN=Run")


def test_frames_are_looked_at_evenly():
    matches = matched("stand", "run", "attack", "death1")
    shots, names = shots_of(matches, {"stand": Length(1, 41, True), "run": Length(0, 5), "attack": Length(0, 14),
                                      "death1": Length(3, 3)})  # fmt: skip
    assert len(shots) == len(names) == NUM_FRAMES
    assert [names[n] for n in (0, 39, 40, 54, 197)] == ["stand01", "stand40", "run01", "pain101", "death308"]
    assert shots[:3] == [("stand", 1.0), ("stand", 2.0), ("stand", 3.0)]
    assert shots[39] == ("stand", 40.0), "the last of a loop is the one before its first"
    assert shots[40:46] == [("run", float(n)) for n in range(6)]
    assert shots[46:54] == [("attack", float(2 * n)) for n in range(8)]
    assert set(shots[178:184]) == {("death1", 3.0)}
