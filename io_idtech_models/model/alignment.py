"""Where the frames of a file are among others that were made of them: inserted, deleted, moved, or edited in place."""

from __future__ import annotations

from bisect import bisect

import numpy as np
from numpy.typing import NDArray

Stretch = tuple[int, int, int]  # of frames that follow one another: where it is now, where it was, how many


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
    return begins, ends


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
        stretch = (new, int(homes[new]), length)
        place = bisect(chosen, stretch)
        if _follows(chosen[place - 1 : place], [stretch]) and _follows([stretch], chosen[place : place + 1]):
            chosen.insert(place, stretch)
    none = np.zeros(0, np.int64)
    news = np.concatenate([none, *(np.arange(new, new + length) for new, _, length in chosen)])
    olds = np.concatenate([none, *(np.arange(old, old + length) for _, old, length in chosen)])
    return olds, news


def _follows(before: list[Stretch], behind: list[Stretch]) -> bool:
    """Tell whether a stretch, if there is one, lies before another one in both orders."""
    return all(one[1] + one[2] <= other[1] for one in before for other in behind)
