"""Named runs of the frames that an action shows, where the game's table says which are which animation.

The action is all of a file; a run has no action of its own: to play one is to let the scene play that part of the
whole, so that what is edited there is edited in the file. Where the table is saved with its character, runs can be
named otherwise, removed and added, too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...model.clips import Clip
from ...reporting import LimitError

RUNS = "idtech_runs"  # on an action: name, first frame, number of frames, rate, how many repeat, and `told` of each
SAVED = "idtech_runs_saved"  # on an action: the table is a character's, and goes along with it
MOST = 4096  # of an action; games' tables have a few hundred
NAME = re.compile(r"(?!(?:start|end)anims\Z)[a-z_][a-z0-9_]*\Z", re.IGNORECASE)  # what such a table takes for one


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Clip):
    """A run of frames, and what the table that came with the model calls it: "" of one that it lacks."""

    told: str


def note(action: Any, clips: Iterable[Clip]) -> None:
    """Note on an action which of its frames are which animation; frames count as its file's do, from 0 on."""
    _write(action, [Run(c.name, c.first, c.count, c.frame_rate, c.loop, told=c.name) for c in clips])


def _write(action: Any, found: Iterable[Run]) -> None:
    """Note runs on an action; of one that was removed there is no name but the table's."""
    rows = ([run.name, run.first, run.count, run.frame_rate, run.loop, run.told] for run in found)
    action[RUNS] = json.dumps([row[:5] if row[0] == row[5] else row for row in rows])


def _noted(action: Any) -> list[Run]:
    """Return what is noted of an action, checked: a .blend can come from a stranger."""
    try:
        found = json.loads(str(action.get(RUNS, "[]")))
    except ValueError:
        return []
    rows = [each for each in found[:MOST] if _is_run(each)] if isinstance(found, list) else []
    return [Run(*each[:5], told=each[5] if len(each) > 5 else each[0]) for each in rows]


def _is_run(found: Any) -> bool:
    """Tell whether what was noted is a name and four numbers, the rate any and the others whole, and perhaps a name."""
    if not isinstance(found, list) or len(found) not in (5, 6) or not all(isinstance(n, str) for n in found[::5]):
        return False
    numbers = found[1:5]
    if not all(type(each) in (int, float) and math.isfinite(each) for each in numbers):
        return False
    return all(type(each) is int and abs(each) < 1 << 31 for each in (found[1], found[2], found[4]))


def runs_of(action: Any) -> list[Run]:
    """Return the animations that an action's frames are."""
    return [run for run in _noted(action) if run.name]


def gone_of(action: Any) -> list[str]:
    """Return the rows of its table that were removed, by their names there."""
    return [run.told for run in _noted(action) if not run.name and run.told]


def is_saved(action: Any) -> bool:
    """Tell whether runs can be edited: their table is written with what they are of."""
    return bool(action.get(SAVED))


def is_edited(action: Any) -> bool:
    """Tell whether an action's runs are others than the rows of the table."""
    return any(run.name != run.told for run in _noted(action))


def add(action: Any, run: Clip) -> None:
    """Make a run of frames an animation, behind all others; raises LimitError for a name that it can't have."""
    _demand_name(action, run.name)
    _write(action, [*_noted(action), Run(run.name, run.first, run.count, run.frame_rate, run.loop, told="")])


def rename(action: Any, run: Clip, name: str) -> None:
    """Give a run another name; raises LimitError for one that it can't have."""
    _demand_name(action, name)
    _change(action, run, name)


def remove(action: Any, run: Clip) -> None:
    """Let an animation be none any more; its frames stay."""
    _change(action, run, "")


def _change(action: Any, run: Clip, name: str) -> None:
    found = []
    for each in _noted(action):
        same = (each.name, each.first) == (run.name, run.first)
        found.append(Run(name, each.first, each.count, each.frame_rate, each.loop, told=each.told) if same else each)
    _write(action, [each for each in found if each.name or each.told])


def _demand_name(action: Any, name: str) -> None:
    if not NAME.match(name):
        raise LimitError(f"'{name}' can't stand in the game's table: letters, digits and _ alone, no digit first")
    if any(run.name.lower() == name.lower() for run in runs_of(action)):
        raise LimitError(f"the game's table has a row '{name}' already")
