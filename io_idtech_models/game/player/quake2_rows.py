"""Which of a character's actions plays which animation of Quake II's players, and which frames they are made of."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.clips import numbered
from ..character.quake2 import LENGTHS, LOOPING
from .row_layout import Length, Shot
from .row_matching import Match, Rows

CROUCHED = "crouch {0}, crouched {0}, crouching {0}, cr {0}, duck {0}"
ROWS = Rows(
    {
        "stand": "stand, idle, standing, idle 1, stand 1, breathing",
        "run": "run, running, run forward, jog, jogging, sprint, walk, walking, walk forward, forward",
        "attack": "attack 1, attack, shoot, shooting, fire, firing, gunplay",
        "pain1": "pain 1, pain a, pain, hit 1, hit, hurt, flinch",
        "pain2": "pain 2, pain b, hit 2",
        "pain3": "pain 3, pain c, hit 3",
        "jump": "jump, jumping, jump start, jump up, leap",
        "flip": "flip, flip off, insult, backflip",
        "salute": "salute, greet, bow",
        "taunt": "taunt, gesture, cheer, laugh",
        "wave": "wave, waving, hello",
        "point": "point, pointing",
        "crstnd": "crouch idle, crouch, crouching, crouched, squat, duck, idle cr, cr stand, crouch stand",
        "crwalk": f"{CROUCHED.format('walk')}, walk cr, crawl, crawling, sneak, sneaking, crouch forward",
        "crattak": f"{CROUCHED.format('attack')}, {CROUCHED.format('shoot')}, {CROUCHED.format('fire')}",
        "crpain": f"{CROUCHED.format('pain')}, {CROUCHED.format('hit')}",
        "crdeath": f"{CROUCHED.format('death')}, {CROUCHED.format('die')}",
        "death1": "death 1, death a, death, die 1, die, dying, killed",
        "death2": "death 2, death b, die 2, dying 2",
        "death3": "death 3, death c, die 3, dying 3",
    },
    {
        "stand": ".run", "run": "stand", "attack": ".stand", "pain1": "pain2 pain3 .stand", "pain2": "pain1",
        "pain3": "pain2 pain1", "jump": ".run .stand", "flip": "taunt salute wave point .stand",
        "salute": "wave flip taunt point .stand", "taunt": "flip wave salute point .stand",
        "wave": "salute taunt flip point .stand", "point": "taunt wave salute flip .stand",
        "crstnd": ".crwalk .stand", "crwalk": "run", "crattak": "attack", "crpain": "pain1", "crdeath": "death1",
        "death1": "death2 death3 .crstnd", "death2": "death1", "death3": "death2 death1",
    },
    "stand",
)  # fmt: skip


def shots_of(matches: Mapping[str, Match], lengths: Mapping[str, Length]) -> tuple[list[Shot], list[str]]:
    """Return at which times of which actions the frames of a player are, all that the game has, and their names.

    An action is looked at evenly, as often as the game's animation has frames. Of what the game repeats the last frame
    is the one before its first.
    """
    shots: list[Shot] = []
    names: list[str] = []
    for name, count in LENGTHS.items():
        match = matches[name]
        length = lengths[match.action]
        span = 0.0 if match.still else max(length.last - length.first, 0.0)
        steps = max(count - 1, 1)
        if name in LOOPING:
            span, steps = (span if length.closed or not span else span + 1), count
        times = [length.first + span * n / steps for n in range(count)]
        shots += [(match.action, time) for time in (times[::-1] if match.backwards else times)]
        names += numbered(name, count)
    return shots, names
