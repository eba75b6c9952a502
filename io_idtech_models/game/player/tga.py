"""Pictures as games of Quake III's kin read them everywhere: uncompressed TGA.

Layout: 18 bytes of header (kind 2, width and height at byte 12, bits per pixel), then rows from the bottom up, each
pixel blue, green, red, and how opaque it is where that is said.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (height, width, 3 or 4), the bottom row first
LARGEST = 2048  # texels of a side: engines shrink what is larger than the card takes
ICON = 64  # texels of an icon's side


def write(picture: Picture) -> bytes:
    """Return a picture's file; where all is opaque it has three channels."""
    if picture.shape[2] == 4 and (picture[:, :, 3] == 255).all():
        picture = picture[:, :, :3]
    height, width, channels = picture.shape
    header = struct.pack("<3B5xHHHHBB", 0, 0, 2, 0, 0, width, height, 8 * channels, 8 if channels == 4 else 0)
    order = [2, 1, 0, 3][:channels]
    return header + np.ascontiguousarray(picture[:, :, order]).tobytes()
