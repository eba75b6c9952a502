"""The frames of a player's models, and its table of animations, laid out for actions that are to be sampled.

Legs and torso are apart: rows of one kind take frames in one model alone, BOTH rows in both, at the same numbers and
before all others. The first row of the torso and the first of the legs begin at the same frame then, as games ask (see
`animation_cfg`). What two rows play alike is there once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .animation_cfg import NAMES, Row
from .row_matching import ROWS, Match

LOOPING = frozenset((
    "TORSO_STAND", "TORSO_STAND2", "LEGS_WALKCR", "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_IDLE",
    "LEGS_IDLECR", "LEGS_TURN",
))  # fmt: skip
STILL_FPS = 10.0  # of rows of one frame, where it says nothing
Shot = tuple[str, float]  # an action, and the time of the scene at which it is looked at


@dataclass(frozen=True)
class Length:
    """How long an action lasts, in frames of the scene; `closed`: its last frame is its first again."""

    first: float
    last: float
    closed: bool = False


@dataclass(eq=False)
class Layout:
    """What is to be sampled, and which of it each model shows in which frame."""

    shots: list[Shot] = field(default_factory=list)
    lower: list[int] = field(default_factory=list)  # by frame: which of the shots
    upper: list[int] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=lambda: {"lower": [], "upper": []})  # of the frames
    rows: list[Row] = field(default_factory=list)

    def shot(self, row: str, frame: int = 0) -> int:
        """Return which shot a row of the legs, or the torso, begins with, or another of its frames."""
        found = next(each for each in self.rows if each.name == row)
        frames = self.lower if "lower" in found.parts else self.upper
        return frames[found.frames[frame]]


def times_of(match: Match, length: Length, looping: bool, fps: float, scene_fps: float) -> list[float]:
    """Return the times at which an action is sampled: evenly, the last frame of a loop is the one before its first."""
    span = length.last - length.first
    if match.still or span <= 0:
        return [length.first]
    if looping:
        period = span if length.closed else span + 1
        count = max(round(period / scene_fps * fps), 1)
        return [length.first + period * n / count for n in range(count)]
    count = max(round(span / scene_fps * fps), 1)
    return [length.first + span * n / count for n in range(count + 1)]


def lay_out(matches: Mapping[str, Match], lengths: Mapping[str, Length], fps: float, scene_fps: float) -> Layout:
    """Return the frames of both models, and the table's rows, whose first frames are those of the models."""
    found = Layout()
    numbers: dict[Shot, int] = {}
    placed: dict[tuple[str, tuple[Shot, ...]], int] = {}
    for name in ROWS:
        match = matches.get(name)
        if match is None:
            found.rows.append(_dead(name, found.rows[-1]))
            continue
        rate = match.fps or fps
        looping = name in LOOPING
        times = times_of(match, lengths[match.action], looping, rate, scene_fps)
        shots = tuple((match.action, time) for time in times)
        for shot in shots:
            numbers.setdefault(shot, len(numbers))
        models = {"BOTH": ("lower", "upper"), "LEGS": ("lower",), "TORSO": ("upper",)}[match.kind]
        own = [getattr(found, model) for model in models]
        key = match.kind, shots
        if key not in placed:
            placed[key] = len(own[0])
            for model, frames in zip(models, own, strict=True):
                frames += [numbers[shot] for shot in shots]
                found.names[model] += [f"{name.partition('_')[2].lower()}_{n:03}" for n in range(len(shots))]
        count = len(shots)
        length = -count if match.backwards else count
        loop = count if looping and count > 1 else 0
        found.rows.append(Row(name, placed[key], length, loop, rate if count > 1 else STILL_FPS))
    found.shots = list(numbers)
    return found


def _dead(name: str, death: Row) -> Row:
    """Return the row of a body that lies: the last frame of its death."""
    assert NAMES.index(name) % 2
    last = death.first + (0 if death.count < 0 else abs(death.count) - 1)
    return Row(name, last, 1, 0, death.fps)
