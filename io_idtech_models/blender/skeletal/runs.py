"""Named runs of the frames that an action shows, where the game's table says which are which animation.

The action is all of a file; a run has no action of its own: to play one is to let the scene play that part of the
whole, so that what is edited there is edited in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from ...model.clips import Clip

RUNS = "idtech_runs"  # on an action: name, first frame, number of frames, rate, and how many repeat, of each
MOST = 4096  # of an action; games' tables have a few hundred


def note(action: Any, clips: Iterable[Clip]) -> None:
    """Note on an action which of its frames are which animation; frames count as its file's do, from 0 on."""
    action[RUNS] = json.dumps([[clip.name, clip.first, clip.count, clip.frame_rate, clip.loop] for clip in clips])


def runs_of(action: Any) -> list[Clip]:
    """Return the animations that an action's frames are, checked: a .blend can come from a stranger."""
    try:
        found = json.loads(str(action.get(RUNS, "[]")))
    except ValueError:
        return []
    return [Clip(*each) for each in found[:MOST] if _is_clip(each)] if isinstance(found, list) else []


def _is_clip(found: Any) -> bool:
    """Tell whether what was noted is a name and four numbers, the rate any and the others whole."""
    if not isinstance(found, list) or len(found) != 5 or not isinstance(found[0], str):
        return False
    numbers = found[1:]
    if not all(type(each) in (int, float) and math.isfinite(each) for each in numbers):
        return False
    return all(type(each) is int and abs(each) < 1 << 31 for each in (found[1], found[2], found[4]))
