"""Whole arrays: places, choices of frames and vertices, and numbers of a source's elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Choice = NDArray[Any] | slice  # of frames or vertices
Floats = NDArray[np.float32]
LARGEST = float(np.finfo(np.float32).max)  # of a number in single precision: what lies beyond is shown there


def equal_rows(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return a class number (n,) for each row of integers (n, k): equal rows, equal numbers."""
    if not rows.size:
        return np.zeros(len(rows), np.int64)
    if rows.shape[1] == 3:
        low, high = int(rows.min()), int(rows.max())
        span = high - low + 1
        if span < 2**20:  # three such numbers make one, which sorts faster
            x, y, z = (rows.astype(np.int64) - low).T
            classes: NDArray[np.int64] = np.unique((x * span + y) * span + z, return_inverse=True)[1].reshape(-1)
            return classes
    rows = np.ascontiguousarray(rows)
    packed = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return np.unique(packed, return_inverse=True)[1].reshape(-1)


def places_of(positions: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number (V,) for each vertex of codes (F, V, 3) that vertices at one place in all frames share."""
    if not positions.size:
        return np.zeros(positions.shape[1], np.int64)
    places = equal_rows(positions[0])
    # Only those that share their first place with another can share all.
    shared = np.flatnonzero(np.bincount(places)[places] > 1)
    if not len(shared) or len(positions) == 1:
        return places
    others = np.empty((len(shared), 3, len(positions)), positions.dtype)
    for axis in range(3):  # numpy is slow along an axis of three
        others[:, axis] = positions[:, shared, axis].T
    places[shared] = equal_rows(others.reshape(len(shared), -1)) + len(places)
    return np.unique(places, return_inverse=True)[1].reshape(-1)


def chosen_vertices(values: NDArray[Any], vertices: Choice) -> NDArray[Any]:
    """Return values (F, V, k) of some vertices, (F, n, k)."""
    if isinstance(vertices, slice):
        return values[:, vertices]
    size = values.itemsize * values.shape[2]
    if size in {4, 8}:  # one whole number is taken three times as fast as its parts
        whole = values.view(f"i{size}")[..., 0].take(vertices, axis=1)
        return np.ascontiguousarray(whole)[..., None].view(values.dtype)
    return values.take(vertices, axis=1)


def decode_positions(codes: NDArray[Any], scale: Floats, offset: Floats) -> Floats:
    """Return code * scale + offset as float32 (F, V, 3) for integer codes of that shape."""
    positions = np.empty(codes.shape, np.float32)
    moved = offset.any()
    for axis in range(3):  # numpy is slow along an axis of three
        part = positions[..., axis]
        np.multiply(codes[..., axis], scale[:, axis, None], out=part, dtype=np.float32)
        if moved:
            part += offset[:, axis, None]
    return positions


def numbers_in(numbers: NDArray[Any] | None, firsts: NDArray[np.int64], part: int, count: int) -> NDArray[np.int64]:
    """Return which element of a part each of the model-wide numbers (n,) is, or -1; None has `count` that are none.

    `firsts` are those of `vertex.split_by_part`.
    """
    if numbers is None or part < 0:
        return np.full(count, -1, np.int64)
    first, end = firsts[part : part + 2]
    return np.where((numbers >= first) & (numbers < end), numbers - first, -1).astype(np.int64)


def numbers_below(numbers: NDArray[Any] | None, limit: int, count: int) -> NDArray[np.int64]:
    """Return numbers (count,) below a limit, -1 for others; None are none."""
    if numbers is None:
        return np.full(count, -1, np.int64)
    return np.where((numbers >= 0) & (numbers < limit), numbers, -1).astype(np.int64)


def most_frequent(numbers: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return which number of 0 to `count` - 1 most of each row (n, m) are, (n,); of several the lowest, else -1."""
    own = numbers.astype(np.int64)
    if not own.shape[1]:
        return np.full(len(own), -1, np.int64)
    found = own[:, 0].copy()
    for row in np.flatnonzero((own != found[:, None]).any(axis=1)).tolist():  # few: what was edited
        known = own[row][(own[row] >= 0) & (own[row] < count)]
        found[row] = np.bincount(known).argmax() if len(known) else -1
    return np.where((found >= 0) & (found < count), found, -1)
