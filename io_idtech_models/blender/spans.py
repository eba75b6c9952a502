"""Which frames an action lasts: the modeller's word, or where its keys are.

An import gives its actions a manual frame range, so that Blender plays them as the game does, and notes it. While that
range stands as import set it, it says nothing that the modeller meant: the keys do, which may go beyond it or end
before it by now. A range that was set by hand is obeyed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

log = logging.getLogger(__name__)

IMPORTED = "idtech_range"  # on an action: the first and the last frame that import gave it
NEAR = 1e-4  # of a frame: keys that were moved lie a little beside whole ones


class Span(NamedTuple):
    """The whole frames of an action, and those among them where it has keys; both ends belong to them.

    Frames outside the keys hold still. They were the file's when it was imported, and count while they still are.
    """

    first: int
    last: int
    first_key: int
    last_key: int

    @property
    def is_open(self) -> bool:
        """Tell whether there are frames that may count or not."""
        return (self.first, self.last) != (self.first_key, self.last_key)


def set_range(action: Any, first: float, last: float) -> None:
    """Give an action the manual frame range of its file, and note it."""
    action.use_frame_range = True
    action.frame_start, action.frame_end = first, last
    action[IMPORTED] = [first, last]


def is_imported(action: Any) -> bool:
    """Tell whether an action lasts as long as import let it."""
    return bool(action.use_frame_range) and _imported(action, 0) == (action.frame_start, action.frame_end)


def gone(action: Any, span: Span | None) -> range:
    """Return the frames that import gave an action, and that are not written of it any more."""
    imported = _imported(action, 0)
    if imported is None:
        return range(0)
    return range(0 if span is None else span.last_key + 1, _whole(*imported)[1] + 1)


def resize(action: Any, frames: int) -> None:
    """Let an action whose frames were inserted or deleted last that many, from where it begins."""
    imported = is_imported(action)
    action.frame_end = action.frame_start + frames - 1
    if imported:
        action[IMPORTED] = [int(action.frame_start), int(action.frame_end)]


def span_of(action: Any, curves: Iterable[Any], frames: int = 0) -> Span | None:
    """Return the frames of an action of which someone plays `curves`; None if it has no whole frame.

    `frames` is how many the file had, where that is known otherwise: actions of older .blend files have no note.
    """
    return span_between(action, _keyed(curves), frames)


def span_between(action: Any, keyed: tuple[float, float] | None, frames: int = 0) -> Span | None:
    """Return the frames of an action whose first and last key are at some times; see `span_of`."""
    stated = (float(action.frame_start), float(action.frame_end)) if action.use_frame_range else None
    imported = _imported(action, frames)
    if stated is not None and (keyed is None or stated != imported):
        first, last = _whole(*stated)
        return Span(first, last, first, last) if first <= last else None
    if keyed is None:
        return Span(0, 0, 0, 0)
    first_key, last_key = _whole(*keyed)
    if last_key < first_key:
        return None
    first, last = (first_key, last_key) if stated is None else _whole(*stated)
    return Span(min(first, first_key), max(last, last_key), first_key, last_key)


def warn_of_length(action: Any, first: int, last: int, frames: int = 0) -> None:
    """Say that an action is written with other frames than import gave it."""
    imported = _imported(action, frames)
    stated = (float(action.frame_start), float(action.frame_end)) if action.use_frame_range else None
    if imported is not None and stated == imported and (first, last) != _whole(*imported):
        log.warning(
            "'%s' is written from frame %d to %d, where its keys are: import made it %d to %d; "
            "a manual frame range of other numbers chooses, or delete the keys that it should not have",
            action.name, first, last, *imported,
        )  # fmt: skip


def _keyed(curves: Iterable[Any]) -> tuple[float, float] | None:
    """Return the times of the first and the last key of all curves."""
    ends = [curve.range() for curve in curves if len(curve.keyframe_points) or len(curve.sampled_points)]
    return (min(float(end[0]) for end in ends), max(float(end[1]) for end in ends)) if ends else None


def _imported(action: Any, frames: int) -> tuple[float, float] | None:
    noted = action.get(IMPORTED)
    try:
        first, last = (float(end) for end in noted) if noted is not None else (0.0, frames - 1.0)
    except (TypeError, ValueError):  # not as `set_range` writes it
        return None
    return (first, last) if noted is not None or frames else None


def _whole(first: float, last: float) -> tuple[int, int]:
    return int(np.ceil(first - NEAR)), int(np.floor(last + NEAR))
