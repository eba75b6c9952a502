"""Colours to numbers of a palette: the number that a pixel had where that still shows its colour, else the nearest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .palette import Palette

Numbers = NDArray[np.uint8]  # (H, W)
CHUNK = 1 << 12  # colours that are compared with a palette at once
SPREAD = 24  # of 256 levels, by which dithering lifts and lowers colours: about what lies between those of a palette
# Bayer's matrix: in which order the pixels of a tile become brighter.
TILE = np.array([
    [0, 32, 8, 40, 2, 34, 10, 42], [48, 16, 56, 24, 50, 18, 58, 26], [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22], [3, 35, 11, 43, 1, 33, 9, 41], [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37], [63, 31, 55, 23, 61, 29, 53, 21],
])  # fmt: skip


@dataclass(frozen=True)
class Matching:
    """How colours become numbers."""

    palette: Palette
    dither: bool = False
    avoided: Collection[int] = ()  # numbers that no pixel gets
    exact_only: Collection[int] = ()  # numbers that those pixels get alone which have just that colour


def match(colors: NDArray[np.uint8], how: Matching, hint: Numbers | None = None) -> Numbers:
    """Return the numbers (H, W) of colours (H, W, 3); `hint`, of the same size, is what they were.

    A number of the hint stays where it still shows the colour. A colour of the palette gets its number, the lowest of
    several, any other the nearest one by the sum of squares, or with dithering one of those nearby.
    """
    kept = np.zeros(colors.shape[:2], np.bool_)
    found: Numbers = np.zeros(colors.shape[:2], np.uint8)
    if hint is not None and hint.shape == kept.shape:
        kept = _packed(how.palette).take(hint) == _packed(colors)
        if kept.all():
            return hint.copy()
        found[kept] = hint[kept]
    places = np.nonzero(~kept)
    wanted = colors[places].astype(np.int64)
    if not len(wanted):
        return found
    numbers, exact = _nearest(wanted, how, set(how.avoided))
    others = ~exact
    if others.any() and (how.dither or how.exact_only):
        rows, columns = (each[others] for each in places)
        moved = wanted[others]
        if how.dither:
            shift = (2 * TILE[rows % 8, columns % 8] - 63) * SPREAD
            moved = np.clip(moved + np.floor_divide(shift + 64, 128)[:, None], 0, 255)
        numbers[others] = _nearest(moved, how, {*how.avoided, *how.exact_only})[0]
    found[places] = numbers
    return found


def _packed(colors: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return one number (...,) for each colour (..., 3)."""
    found = colors[..., 0].astype(np.uint32)
    for axis in (1, 2):
        found <<= np.uint32(8)
        found |= colors[..., axis]
    return found


def _nearest(colors: NDArray[np.int64], how: Matching, avoided: set[int]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the nearest numbers (n,) of colours (n, 3), and which of these are just those colours."""
    allowed = np.array([n for n in range(len(how.palette)) if n not in avoided], np.int64)
    if not len(allowed):
        allowed = np.arange(len(how.palette))
    table = how.palette[allowed].astype(np.int64)
    packed = _packed(colors.astype(np.uint8)).astype(np.int64)
    values, index = np.unique(packed, return_inverse=True)
    best, off = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    for start in range(0, len(values), CHUNK):
        part = slice(start, start + CHUNK)
        distances = _distances(values[part], table)
        best[part] = distances.argmin(axis=1)
        off[part] = distances.min(axis=1)
    index = index.reshape(-1)
    return allowed[best][index].astype(np.uint8), np.asarray(off[index] == 0)


def _distances(packed: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[Any]:
    """Return the squared distances (n, m) of packed colours (n,) from those of a table (m, 3)."""
    total = np.zeros((len(packed), len(table)), np.int64)
    for axis, shift in enumerate((16, 8, 0)):
        total += (((packed >> shift) & 255)[:, None] - table[:, axis]) ** 2
    return total
