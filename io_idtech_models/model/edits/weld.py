"""Welding: which vertices of a file a modeller should see as one.

A file splits a vertex wherever its texture coordinate or normal jumps; in Blender these belong to corners. So vertices
whose coded positions are equal in **every** frame become one point, except where that would destroy a triangle.
Integers are compared, never floats or hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import equal_rows, places_of
from ..source import are_solid

Ints = NDArray[np.int32]


def weld(positions: NDArray[Any], triangles: Ints) -> Ints:
    """Return for each vertex the lowest vertex that it is welded with, (V,): itself where it stays apart.

    `positions` are codes, (F, V, 3); `triangles` (T, 3). Vertices that no triangle uses (or only one that uses a
    vertex twice) stay apart; so do the vertices of a triangle that welding would make degenerate, and of the later of
    two triangles that it would make equal.
    """
    return weld_classes(places_of(positions), triangles)


def weld_classes(classes: NDArray[Any], triangles: Ints) -> Ints:
    """Return for each vertex the lowest that it is welded with, where those of equal `classes` (V,) are; see `weld`."""
    count = len(classes)
    if int(np.bincount(classes).max(initial=0)) <= 1:
        return np.arange(count, dtype=np.int32)
    triangles = triangles[are_solid(triangles)]
    apart = np.ones(count, np.bool_)
    apart[triangles] = False
    while True:
        lowest = np.full(count, count, np.int64)
        together = np.flatnonzero(~apart)[::-1]
        lowest[classes[together]] = together  # of several the last one stays, here the lowest
        welded = np.where(apart, np.arange(count), lowest[classes]).astype(np.int32)
        harmed = _harmed(triangles, welded[triangles])
        if not harmed.any():
            return welded
        apart[triangles[harmed]] = True


def _harmed(before: Ints, after: Ints) -> NDArray[np.bool_]:
    """Tell which triangles (T, 3) became degenerate, or equal to an earlier one that they were not equal to."""
    harmed = ~are_solid(after)
    classes = equal_rows(np.sort(after, axis=1))
    count = int(classes.max(initial=-1)) + 1
    if count == len(after):
        return harmed
    first = np.empty(count, np.int64)
    first[classes[::-1]] = np.arange(len(after))[::-1]  # of several the last one stays, here the lowest
    earlier = first[classes]
    same_before = (np.sort(before, axis=1) == np.sort(before[earlier], axis=1)).all(axis=1)
    harmed |= (earlier < np.arange(len(after))) & ~same_before
    return harmed
