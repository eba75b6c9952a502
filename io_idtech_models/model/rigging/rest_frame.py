"""Which frame a skeleton rests in: a body that stands upright, limbs apart, nearly its own mirror image.

Letters in shapes: F frames.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .fit import best_turns
from .points import MovingPoints

SOME = 60  # points that tell of a pose
TALL = 0.75  # of the tallest: less lies or crouches
CONES = (90, 60, 35)  # degrees off the mean of what is left, by which those that lie are left out one after another
LOPSIDED = (1, 3)  # how much more a mirror image counts than limbs apart: both are tried
MIRROR = np.array([1.0, -1.0, 1.0])  # models look along X


def rest_frames(points: MovingPoints) -> list[int]:
    """Return the frames that may be good to rest in, the upright first and the best, nearly mirror images first."""
    places = points.places[:, :: max(1, points.places.shape[1] // SOME)]
    centred = places - places.mean(axis=1, keepdims=True)
    whole = ~points.torn
    first = int(points.whole[0])
    turns = best_turns(np.einsum("fpa,pb->fab", centred, centred[first]))
    upright = _upright(turns, np.ptp(places[:, :, 2], axis=1), whole)
    spread = np.linalg.norm(centred, axis=2).mean(axis=1)
    lopsided = np.empty(len(places))
    for frame, own in enumerate(centred):
        lopsided[frame] = np.linalg.norm(own[:, None] * MIRROR - own[None], axis=2).min(axis=1).mean()
    best = [int(np.argmax(np.where(upright, spread - factor * lopsided, -np.inf))) for factor in LOPSIDED]
    return sorted({int(np.flatnonzero(upright)[0]), *best}, key=lambda frame: float(lopsided[frame]))


def _upright(turns: NDArray[np.float64], tall: NDArray[np.float64], whole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which frames (F,) stand as most do: upright is their mean turn, found again without those that lie."""
    upright = whole & (tall >= TALL * np.quantile(tall[whole], 0.9))
    for degrees in CONES:
        mean = best_turns(turns[upright].sum(axis=0))
        near = (np.einsum("fab,ab->f", turns, mean) - 1) / 2 > np.cos(np.radians(degrees))
        if (upright & near).any():
            upright = upright & near
    return upright
