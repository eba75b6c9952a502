"""Pictures as games of Quake III's kin read them everywhere: uncompressed TGA.

Layout: 18 bytes of header (kind 2, width and height at byte 12, bits per pixel), then rows from the bottom up, each
pixel blue, green, red.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (height, width, 3), the bottom row first
LARGEST = 2048  # texels of a side: engines shrink what is larger than the card takes
ICON = 64  # texels of an icon's side


def write(picture: Picture) -> bytes:
    """Return a picture's file."""
    height, width = picture.shape[:2]
    header = struct.pack("<3B5xHHHHBB", 0, 0, 2, 0, 0, width, height, 24, 0)
    return header + np.ascontiguousarray(picture[:, :, ::-1]).tobytes()


def resized(picture: Picture, width: int, height: int) -> Picture:
    """Return a picture of another size: each texel the mean of those that it covers, or the one that it lies in."""
    columns = np.arange(width + 1) * picture.shape[1] // width
    rows = np.arange(height + 1) * picture.shape[0] // height
    sums = np.zeros((picture.shape[0] + 1, picture.shape[1] + 1, 3), np.int64)
    sums[1:, 1:] = picture.astype(np.int64).cumsum(0).cumsum(1)
    top, bottom = rows[:-1], np.maximum(rows[1:], rows[:-1] + 1)
    left, right = columns[:-1], np.maximum(columns[1:], columns[:-1] + 1)
    total = sums[bottom][:, right] - sums[top][:, right] - sums[bottom][:, left] + sums[top][:, left]
    area = (bottom - top)[:, None, None] * (right - left)[None, :, None]
    return np.asarray((2 * total + area) // (2 * area), np.uint8)


def fitting(picture: Picture) -> Picture:
    """Return a picture that is no larger than games take."""
    height, width = picture.shape[:2]
    if max(height, width) <= LARGEST:
        return picture
    scale = LARGEST / max(height, width)
    return resized(picture, max(round(width * scale), 1), max(round(height * scale), 1))
