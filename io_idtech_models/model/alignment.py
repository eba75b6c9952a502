"""Where the frames of a file are among others that were made of them: inserted, deleted, moved, or edited in place."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Stretch = tuple[int, int, int]  # of frames that follow one another: where it is now, where it was, how many


@dataclass(frozen=True, eq=False)
class Origin:
    """Where in a file frames come from."""

    homes: NDArray[np.int64] | None  # (F,) see `homes`
    count: int  # how many frames the file has


def homes(hints: NDArray[np.integer[Any]], count: int) -> NDArray[np.int64] | None:
    """Return which of a file's `count` frames each of now is, (F,), -1 of none; None where they are all in their order.

    `hints` (F, ...) say it of each part of a frame: parts that were edited say nothing of it, others do, and what most
    of them say counts.
    """
    parts, own = hints.reshape(len(hints), -1), np.arange(len(hints))
    if len(own) == count and (parts == own[:, None]).any(axis=1).all():
        return None
    said = [each[each >= 0] for each in parts]
    return np.array([np.bincount(each).argmax() if len(each) else -1 for each in said], np.int64)


def spans(homes: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs of a file's frames are now, (`count`,) each: where one begins, and where one is over.

    `homes` says which frame of the file each of the frames of now is, (F,), -1 of none. A run from the file's frame `a`
    to its frame `b` has those from `begins[a]` to before `ends[b]`, none if that is not more.

    Longer stretches of frames that follow one another as in the file say more than shorter ones, which can't lie across
    them. Frames between two of these stretches were edited where they are as many as in the file; else what is before
    them holds where a run begins, what is behind them where one is over. Work grows with the frames' number, times its
    logarithm.
    """
    olds, news = _kept(homes, count)
    olds, news = np.r_[-1, olds, count], np.r_[-1, news, len(homes)]
    every = np.arange(count)
    before, behind = np.searchsorted(olds, every, "right") - 1, np.searchsorted(olds, every, "left")
    begins = np.minimum(news[before] + every - olds[before], news[behind])
    ends = np.maximum(news[behind] - (olds[behind] - every), news[before]) + 1
    return _with_held(homes, begins, ends)


def _with_held(
    homes: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs begin and are over whose first or last frame is held for longer: with all of its copies."""
    if not len(homes):
        return begins, ends
    every = np.arange(len(begins))
    changes = np.flatnonzero(homes[1:] != homes[:-1]) + 1
    first, last = np.r_[0, changes], np.r_[changes, len(homes)]
    begin, end = np.minimum(begins, len(homes) - 1), np.maximum(ends - 1, 0)
    held_from, held_to = (np.searchsorted(changes, each, "right") for each in (begin, end))
    begins = np.where(homes[begin] == every, first[held_from], begins)
    ends = np.where(homes[end] == every, last[held_to], ends)
    return np.minimum.accumulate(begins[::-1])[::-1], np.maximum.accumulate(ends)


def _kept(homes: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which frames of a file stayed in their order, and where they are now, (K,) each, both rising."""
    known = (homes >= 0) & (homes < count)
    shifts = np.where(known, homes - np.arange(len(homes)), count)  # a stretch has one shift, which none has of `count`
    starts = np.flatnonzero(np.r_[True, shifts[1:] != shifts[:-1]]) if len(homes) else np.zeros(0, np.int64)
    lengths = np.diff(np.r_[starts, len(homes)])
    chosen: list[Stretch] = []
    for nth in np.lexsort((np.abs(shifts[starts]), -lengths)).tolist():
        new, length = int(starts[nth]), int(lengths[nth])
        if not known[new]:
            continue
        place = bisect(chosen, (new, 0, 0))
        stretch = _between((new, int(homes[new]), length), chosen[place - 1 : place], chosen[place : place + 1])
        if stretch[2] > 0:
            chosen.insert(place, stretch)
    none = np.zeros(0, np.int64)
    news = np.concatenate([none, *(np.arange(new, new + length) for new, _, length in chosen)])
    olds = np.concatenate([none, *(np.arange(old, old + length) for _, old, length in chosen)])
    return olds, news


def _between(stretch: Stretch, before: list[Stretch], behind: list[Stretch]) -> Stretch:
    """Return what of a stretch lies between two others in the file, too: a frame that is held is in several."""
    new, old, length = stretch
    skipped = max([0, *(other[1] + other[2] - old for other in before)])
    beyond = max([0, *(old + length - other[1] for other in behind)])
    return new + skipped, old + skipped, length - skipped - beyond
