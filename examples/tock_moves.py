"""How Tock moves: the poses of its legs and of its torso, for each frame of its two models, and the table's rows.

Legs and torso move apart, as the game plays them. Of the frames at the begin, which both have, both tell the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from examples.shapes import Point
from io_idtech_models.game.player.animation_cfg import Row


def wave(turns: float) -> float:
    """Return the sine of so many turns."""
    return math.sin(2 * math.pi * turns)


@dataclass(frozen=True)
class Legs:
    """A pose of the legs; angles in degrees, of left and right."""

    thighs: tuple[float, float] = (0.0, 0.0)  # forward
    knees: tuple[float, float] = (4.0, 4.0)  # how far they are bent
    lift: float | None = None  # of the hips above where they are in a stand; None: feet are on the ground
    yaw: float = 0.0  # of the hips
    waist: Point = (0.0, 0.0, 0.0)  # how the torso is turned about x, y, z
    fall: float = 0.0  # of all of it about its feet, backwards


@dataclass(frozen=True)
class Torso:
    """A pose of the torso; hands are where they reach for, from the waist."""

    right: Point = (10.0, -4.5, 8.0)
    left: Point = (8.5, 4.0, 7.0)
    weapon: Point = (0.0, 0.0, 0.0)  # how it is turned
    chest: Point = (0.0, 0.0, 0.0)
    head: Point = (0.0, 0.0, 0.0)
    key: float = 0.0  # how far it is wound


# -- legs


def step(time: float, swing: float, bend: float, crouch: float = 0.0) -> Legs:
    """Return a pose of walking: time in strides, how far thighs go, how far knees bend, and how low it walks."""
    phases = (time, time + 0.5)
    thighs = [swing * wave(phase) + crouch for phase in phases]
    knees = [6 + 2 * crouch + bend * max(0.0, wave(phase + 0.2)) for phase in phases]
    waist = (-3.0 * wave(time), 0.12 * swing, -0.3 * swing * wave(time))
    return Legs((thighs[0], thighs[1]), (knees[0], knees[1]), None, 0.25 * swing * wave(time), waist)


def swim(time: float) -> Legs:
    """Kick."""
    kick = 24 * wave(time)
    return Legs((kick - 18, -kick - 18), (22 - 0.5 * kick, 22 + 0.5 * kick), 0.0, 0.0, (0.0, 14.0, 0.0))


def jump(time: float) -> Legs:
    """Tuck the legs in."""
    return Legs((18 + 34 * time, 6 + 14 * time), (24 + 50 * time, 40 + 30 * time), 3.5 * time, 0.0, (0.0, 5.0, 0.0))


def land(time: float) -> Legs:
    """Go down on the knees, and up again."""
    deep = 36 * (1 - time)
    return Legs((deep, deep), (2 * deep + 4, 2 * deep + 4), None, 0.0, (0.0, 0.3 * deep, 0.0))


def idle(time: float) -> Legs:
    """Tick from side to side, as clockwork does."""
    tick = wave(time)
    return Legs((1.5 + tick, 1.5 - tick), (6 + tick, 6 - tick), None, 2 * tick, (2.5 * tick, 0.0, -2 * tick))


def crouch(time: float) -> Legs:
    """The same, low."""
    low = 44 + 1.5 * wave(time)
    return Legs((low, low - 8), (2 * low, 2 * low), None, 0.0, (1.5 * wave(time), 8.0, 0.0))


def turn_round(time: float) -> Legs:
    """Trip in place."""
    up = [26 * max(0.0, wave(time + late)) for late in (0.0, 0.5)]
    return Legs((up[0], up[1]), (5 + 2 * up[0], 5 + 2 * up[1]), None, 0.0, (3 * wave(time), 0.0, 0.0))


# -- torso


def gesture(time: float) -> Torso:
    """Wind itself up: the key turns fast, the left arm waves."""
    up = math.sin(math.pi * time)
    hand = (5.0 + 2 * up, 8.0 + 4 * up, 7.0 + 14 * up + 2.5 * up * wave(2 * time))
    nod = (8 * up * wave(time), -6 * up, 18 * up)
    return Torso(left=hand, chest=(0.0, -3 * up, 8 * up), head=nod, key=360 * time)


def attack(time: float) -> Torso:
    """Be kicked by the shot."""
    kick = max(0.0, 1 - 1.4 * time) * (1.0 if time > 0 else 0.3)
    aim = Torso(weapon=(0.0, -7 * kick, 0.0), chest=(0.0, -5 * kick, -4 * kick), key=60 * time)
    return replace(aim, right=(10 - 2.5 * kick, -4.5, 8 + kick), left=(8.5 - 2 * kick, 4.0, 7.0))


def strike(time: float) -> Torso:
    """Thrust the right hand forward."""
    out = math.sin(math.pi * time)
    return Torso(
        right=(8 + 4 * out, -6 + 3 * out, 6 + 3 * out),
        left=(4.0, 9.0, 3 - out),
        chest=(0.0, 5 * out, 4 - 22 * out),
        head=(0.0, -3 * out, 16 * out),
        key=60 * time,
    )


def lowered(share: float) -> Torso:
    """Return the torso with its weapon lowered by a share."""
    hand = (10 - 6 * share, -4.5 - 4 * share, 8 - 9 * share)
    left = (8.5 - 5 * share, 4 + 5 * share, 7 - 6 * share)
    return Torso(right=hand, left=left, weapon=(0.0, 65 * share, 0.0), chest=(0.0, 4 * share, 0.0))


# -- both


def tip(time: float, way: float) -> tuple[Legs, Torso]:
    """Fall over as stiff as a toy, backwards (1) or forward (-1), arms in the air."""
    angle = 90 * way * min(1.0, (time / 0.8) ** 2) - (6 * way if 0.8 < time < 1 else 0)
    up = min(1.0, 1.6 * time)
    legs = Legs((way * 8 * up, -way * 5 * up), (5.0, 5.0), None, 0.0, (0.0, -4 * way * up, 0.0), angle)
    arms = Torso(
        right=(10 - 6 * up, -4.5 - 7 * up, 8 + 9 * up),
        left=(8.5 - 4 * up, 4 + 8 * up, 7 + 8 * up),
        weapon=(40 * up, -30 * up, 0.0),
        head=(0.0, -12 * way * up, 10 * up),
        key=-50 * time,
    )
    return legs, arms


# -- the rows

Moves = list[tuple[str, int, bool, float, Callable[[float], Legs | Torso]]]
DEATHS = ((1.0, 5), (-1.0, 5))
BOTH = sum(count for _, count in DEATHS)
TORSO: Moves = [
    ("TORSO_GESTURE", 8, False, 12.0, gesture),
    ("TORSO_ATTACK", 6, False, 15.0, attack),
    ("TORSO_ATTACK2", 6, False, 15.0, strike),
    ("TORSO_DROP", 5, False, 20.0, lowered),
    ("TORSO_RAISE", 4, False, 20.0, lambda time: lowered(1 - time)),
    ("TORSO_STAND", 1, False, 15.0, lambda time: Torso()),
    ("TORSO_STAND2", 1, False, 15.0, lambda time: strike(0.0)),
]
LEGS: Moves = [
    ("LEGS_WALKCR", 6, True, 9.0, lambda time: step(time, 20, 30, 34)),
    ("LEGS_WALK", 8, True, 12.0, lambda time: step(time, 26, 44)),
    ("LEGS_RUN", 8, True, 15.0, lambda time: step(time, 40, 66, 6)),
    ("LEGS_SWIM", 6, True, 9.0, swim),
    ("LEGS_JUMP", 3, False, 12.0, jump),
    ("LEGS_LAND", 3, False, 12.0, land),
    ("LEGS_IDLE", 4, True, 4.0, idle),
    ("LEGS_IDLECR", 4, True, 4.0, crouch),
    ("LEGS_TURN", 4, True, 10.0, turn_round),
]
SAME = {"LEGS_JUMPB": "LEGS_JUMP", "LEGS_LANDB": "LEGS_LAND"} | dict.fromkeys(
    ("TORSO_GETFLAG", "TORSO_GUARDBASE", "TORSO_PATROL", "TORSO_FOLLOWME", "TORSO_AFFIRMATIVE"), "TORSO_GESTURE"
)
BACKWARDS = {"LEGS_BACK": "LEGS_WALK", "TORSO_NEGATIVE": "TORSO_GESTURE"}


def times(count: int, loops: bool) -> list[float]:
    """Return where its frames are in a move, 0 to 1; one that loops has its end in its begin."""
    return [nth / (count if loops else max(count - 1, 1)) for nth in range(count)]


def poses(part: int) -> list[Legs] | list[Torso]:
    """Return the poses of all frames of the legs (0) or of the torso (1)."""
    both = [tip(time, way)[part] for way, count in DEATHS for time in times(count, False)]
    own = TORSO if part else LEGS
    return both + [move(time) for _, count, loops, _, move in own for time in times(count, loops)]  # type: ignore[return-value]


def names(part: int) -> list[str]:
    """Return the names of all frames, as MD3 has room for them."""
    found = [f"death{nth + 1}_{frame}" for nth, (_, count) in enumerate(DEATHS) for frame in range(count)]
    for name, count, *_ in TORSO if part else LEGS:
        found += [f"{name.partition('_')[2].lower()}_{frame}" for frame in range(count)]
    return found


def rows() -> list[Row]:
    """Return the rows of the table, legs counted in their own frames."""
    found: dict[str, Row] = {}
    for nth, first in enumerate((0, DEATHS[0][1], 0), 1):  # the third death is the first
        count = DEATHS[(nth - 1) % 2][1]
        found[f"BOTH_DEATH{nth}"] = Row(f"BOTH_DEATH{nth}", first, count, 0, 12.0)
        found[f"BOTH_DEAD{nth}"] = Row(f"BOTH_DEAD{nth}", first + count - 1, 1, 0, 12.0)
    for moves in (TORSO, LEGS):
        first = BOTH
        for name, count, loops, fps, _ in moves:
            found[name] = Row(name, first, count, count if loops else 0, fps)
            first += count
    found |= {name: replace(found[other], name=name) for name, other in SAME.items()}
    found |= {name: replace(found[other], name=name, count=-found[other].count) for name, other in BACKWARDS.items()}
    return list(found.values())
