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
