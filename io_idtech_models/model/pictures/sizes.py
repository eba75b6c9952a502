"""Pictures of other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def resized(picture: NDArray[Any], width: int, height: int) -> NDArray[np.uint8]:
    """Return a picture (H, W), of numbers that mean something, or (H, W, n), of levels, in another size.

    A texel of numbers is the one at its middle; one of levels is the mean of those that it covers, or the one that it
    lies in.
    """
    if picture.shape[:2] == (height, width):
        return picture
    old_height, old_width = picture.shape[:2]
    if picture.ndim == 2:
        rows = (2 * np.arange(height) + 1) * old_height // (2 * height)
        columns = (2 * np.arange(width) + 1) * old_width // (2 * width)
        return np.ascontiguousarray(picture[rows][:, columns])
    columns = np.arange(width + 1) * old_width // width
    rows = np.arange(height + 1) * old_height // height
    sums = np.zeros((old_height + 1, old_width + 1, picture.shape[2]), np.int64)
    sums[1:, 1:] = picture.astype(np.int64).cumsum(0).cumsum(1)
    top, bottom = rows[:-1], np.maximum(rows[1:], rows[:-1] + 1)
    left, right = columns[:-1], np.maximum(columns[1:], columns[:-1] + 1)
    total = sums[bottom][:, right] - sums[top][:, right] - sums[bottom][:, left] + sums[top][:, left]
    area = (bottom - top)[:, None, None] * (right - left)[None, :, None]
    return np.asarray((2 * total + area) // (2 * area), np.uint8)


def fitting(picture: NDArray[Any], largest: int) -> NDArray[np.uint8]:
    """Return a picture of which no side has more than so many texels."""
    height, width = picture.shape[:2]
    if max(height, width) <= largest:
        return picture
    scale = largest / max(height, width)
    return resized(picture, max(round(width * scale), 1), max(round(height * scale), 1))
