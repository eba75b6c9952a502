"""Actions as people call them: which rows they are taken for, and how these lie in the models, is what was."""

from random import Random

import pytest

from io_idtech_models.game.player import quake2_rows
from io_idtech_models.game.player.row_layout import Length, lay_out
from io_idtech_models.game.player.row_matching import QUAKE3, chosen_rows, match_rows, words_of
from io_idtech_models.reporting import LimitError
from tests.damaged import digest

PACKS = {
    "plain": "Idle Walk Run Jump Death Attack Pain Crouch Swim Gesture",
    "mixamo": "mixamo.com|Idle Armature|Walking Armature|Running.001 mixamorig:Jump Standing_Death_Forward Dying "
    "Sword_Slash Crouched_Walking Hit_Reaction Waving Taunt Swimming Strafe_Left Walking_Backwards Landing",
    "game": "LEGS_RUN LEGS_WALKCR TORSO_ATTACK TORSO_STAND both_death1 legs_back Legs_Jump LEGS_LAND TORSO_GESTURE",
    "cycles": "walkcycle runcycle idle1 idle2 death_a death_b die_2 run_back turn_left attack2 shoot_rifle reload "
    "raise drop weapon_up weapon_down crouch_idle crouch_walk sneak swim_idle fall fall_land backflip point salute",
    "crouched": "crstand crwalk crattack crouch_pain crouch_death duck duck_walk pain1 pain2 pain3 flip wave",
    "words": "the_run my_new_run Run_old run.fast RunTPose a|b|c walk2run jog sprint dash trot",
    "none": "A B C",
    "nothing": "",
    "of kinds": "torso_run legs_wave upper_attack lower_walk head_nod TORSO_DEATH legs_idle_2",
}
QUAKE2 = quake2_rows.ROWS
CHOSEN = [
    "", "LEGS_RUN=Run @ 20", "BOTH_DEATH1=Idle; torso_attack = Run", "death1=Run, run=Idle@9.5", "x=Run", "LEGS_RUN=y",
    "LEGS_RUN", "LEGS_RUN=Run@0", "LEGS_RUN=Run@1.2.3", "LEGS_RUN=Run @ 1001", "LEGS_RUN=Run\nLEGS_WALK=Idle",
]  # fmt: skip


def shown(match):
    """Return what a row plays, in short."""
    how = f"{' backwards' * match.backwards}{' still' * match.still}"
    return f"{match.row}: {match.action}{how}{f' @ {match.fps:g}' * bool(match.fps)} ({match.instead})"


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("rows", [QUAKE3, QUAKE2], ids=["quake3", "quake2"])
def test_rows_play_what_they_did(pack, rows, as_before):
    actions = PACKS[pack].split()
    found = match_rows(actions, {}, rows)
    as_before([shown(match) for match in found.values()])
    as_before([f"{name}: {' '.join(words_of(name))}" for name in actions])
    rng = Random(pack)
    lengths = {
        name: Length(rng.choice([0, 1, 2.5]), rng.choice([1, 7, 20.5, 30]), rng.random() < 0.5)
        for name in [*actions, ""]
    }
    if rows is QUAKE2:
        as_before([digest(quake2_rows.shots_of(found, lengths))])
        return
    for fps, scene in ((15.0, 24.0), (10.0, 30.0), (40.0, 25.0)):
        layout = lay_out(found, lengths, fps, scene)
        as_before([digest([(row.name, row.first, row.count, row.loop, row.fps) for row in layout.rows])])
        as_before([digest((layout.shots, layout.lower, layout.upper, layout.names))])


@pytest.mark.parametrize("rows", [QUAKE3, QUAKE2], ids=["quake3", "quake2"])
def test_rows_that_are_chosen_are_read_as_they_were(rows, as_before):
    said = []
    for text in CHOSEN:
        try:
            said.append(f"{text}: {list(map(shown, chosen_rows(text, ['Run', 'Idle'], rows).values()))}")
        except LimitError as error:
            said.append(f"{text}: {error}")
    as_before(said)
