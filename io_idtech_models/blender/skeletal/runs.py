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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model import alignment
from ...model.clips import Clip
from ...model.skeletal import Animation
from ...reporting import LimitError
from .. import names

RUNS = "idtech_runs"  # on an action: name, first frame, number of frames, rate, how many repeat, `told`, and `home`
FRAMES = "idtech_runs_frames"  # on an action: how many it had when runs were noted, or last went along with them
SAVED = "idtech_runs_saved"  # on an action: the table is a character's, and goes along with it
MOST = 4096  # of an action; games' tables have a few hundred
NAME = re.compile(r"(?!(?:start|end)anims\Z)[a-z_][a-z0-9_]*\Z", re.IGNORECASE)  # what such a table takes for one


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Clip):
    """A run of frames, and what the table that came with the model calls it: "" of one that it lacks.

    `home` are the frames that it had in the file as that came, and how many repeated; None of one that is of others.
    """

    told: str
    home: Clip | None

    @property
    def is_at_home(self) -> bool:
        """Tell whether it has the frames that it had in the file, or has been of others from the first."""
        return self.home is None or numbers(self) == numbers(self.home)


def note(action: Any, clips: Iterable[Clip], frames: int) -> None:
    """Note on an action which of its `frames` are which animation; they count as its file's do, from 0 on."""
    action[FRAMES] = frames
    _write(action, [_run(clip, told=clip.name, home=clip) for clip in clips])


def _run(clip: Clip, told: str, home: Clip | None) -> Run:
    return Run(clip.name, clip.first, clip.count, clip.frame_rate, clip.loop, told=told, home=home)


def numbers(clip: Clip) -> tuple[int, int, int]:
    """Return what a table says of a row's frames: the first, how many, and how many of these repeat."""
    return clip.first, clip.count, clip.loop


def _write(action: Any, found: Iterable[Run]) -> None:
    """Note runs on an action; of one that was removed there is no name but the table's."""
    action[RUNS] = json.dumps([_row(run) for run in found])


def _row(run: Run) -> list[Any]:
    """Return what is noted of a run: no more than its name and numbers where the file's table has these."""
    row = [run.name, run.first, run.count, run.frame_rate, run.loop]
    if run.home is not None and not (run.told and run.is_at_home):
        return [*row, run.told, *numbers(run.home)]
    return row if run.name == run.told else [*row, run.told]


def _noted(action: Any) -> list[Run]:
    """Return what is noted of an action, checked: a .blend can come from a stranger."""
    try:
        found = json.loads(str(action.get(RUNS, "[]")))
    except ValueError:
        return []
    rows = [each for each in found[:MOST] if _is_run(each)] if isinstance(found, list) else []
    return [_noted_run(each) for each in rows]


def _noted_run(found: list[Any]) -> Run:
    clip, told = Clip(*found[:5]), found[5] if len(found) > 5 else found[0]
    if len(found) > 6:
        first, count, loop = found[6:]
        return _run(clip, told, Clip("", first, count, clip.frame_rate, loop))
    return _run(clip, told, clip if told else None)


def _is_run(found: Any) -> bool:
    """Tell whether what was noted is a name and four numbers, and perhaps a name and three numbers more.

    The rate is any number, the others are whole.
    """
    if not isinstance(found, list) or len(found) not in (5, 6, 9) or not all(isinstance(n, str) for n in found[:6:5]):
        return False
    if type(found[3]) not in (int, float) or not math.isfinite(found[3]):
        return False
    whole = (*found[1:3], found[4], *found[6:])
    return all(type(each) is int and abs(each) < 1 << 31 for each in whole)


def runs_of(action: Any) -> list[Run]:
    """Return the animations that an action's frames are."""
    return [run for run in _noted(action) if run.name]


def whole_of(actions: Iterable[Any]) -> Any:
    """Return which of some actions has all frames of a file that a table takes apart, and is no copy; else None."""
    wholes = [action for action in actions if action is not None and _noted(action)]
    return min(wholes, key=names.is_renamed, default=None)


def gone_of(action: Any) -> list[str]:
    """Return the rows of its table that were removed, by their names there."""
    return [run.told for run in _noted(action) if not run.name and run.told]


def is_saved(action: Any) -> bool:
    """Tell whether runs can be edited: their table is written with what they are of."""
    return bool(action.get(SAVED))


def is_edited(action: Any) -> bool:
    """Tell whether an action's runs are others than the rows of the table."""
    return any(is_other(run) for run in _noted(action))


def is_other(run: Run) -> bool:
    """Tell whether a run is called otherwise than its row in the table, has other frames, or no row."""
    return run.name != run.told or not run.is_at_home


def add(action: Any, run: Clip) -> None:
    """Make a run of frames an animation, behind all others; raises LimitError for a name that it can't have.

    It is among the file's frames where all others are still where they were in the file.
    """
    _demand_name(action, run.name)
    found = _noted(action)
    is_in_file = all(each.is_at_home for each in found)
    _write(action, [*found, _run(run, told="", home=run if is_in_file else None)])


def follow(action: Any, shown: Animation, origin: alignment.Origin | None) -> list[Run]:
    """Let runs be where their frames are by now in what their action shows; returns those of which none is left.

    `origin` says which frames of the file those are.
    """
    if origin is None:
        return []
    count = origin.count
    begins, ends = alignment.spans(np.arange(count) if origin.homes is None else origin.homes, count)
    noted, now, gone = _noted(action), list[Run](), list[Run]()
    for run in noted:
        home = run.home
        if home is None or not 0 <= home.first < count:
            now.append(run)
            continue
        begin, inside = min(int(begins[home.first]), shown.num_frames - 1), min(home.last, count - 1)
        left = max(int(ends[inside] - begins[home.first]), 0)
        length = left + home.last - inside if left else min(home.length, shown.num_frames - begin)
        now.append(_moved(run, home, begin, length))
        gone += [] if left or not run.name else [run]
    if [numbers(run) for run in now] != [numbers(run) for run in noted]:
        _write(action, now)
    action[FRAMES] = shown.num_frames
    return gone


def _moved(run: Run, home: Clip, first: int, length: int) -> Run:
    """Return a run with other frames than it had at home; what repeated as a whole does so still."""
    if length == home.length:
        return replace(run, first=first, count=home.count, loop=home.loop)
    count = -length if home.count < 0 else length
    return replace(run, first=first, count=count, loop=length if home.loop == home.length else min(home.loop, length))


def is_stale(action: Any, frames: int) -> bool:
    """Tell whether runs may be elsewhere than when anyone looked last: their action has another number of frames."""
    return bool(runs_of(action)) and action.get(FRAMES) != frames


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
        found.append(replace(each, name=name) if same else each)
    _write(action, [each for each in found if each.name or each.told])


def _demand_name(action: Any, name: str) -> None:
    if not NAME.match(name):
        raise LimitError(f"'{name}' can't stand in the game's table: letters, digits and _ alone, no digit first")
    if any(run.name.lower() == name.lower() for run in runs_of(action)):
        raise LimitError(f"the game's table has a row '{name}' already")
