"""Pictures that example models wear: noise to paint with, and the files that games read.

A picture is an array (height, width) or (height, width, 3) of numbers from 0 to 1, painted with plus, minus, times,
divide and square root only, which are exact on every machine.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RUN = 0xC0  # a PCX byte from here on is a count, of the byte that follows


def noise(seed: int, cell: int, height: int, width: int) -> Array:
    """Return smooth noise (height, width) of 0 to 1 whose lumps are `cell` pixels wide; it repeats at the borders."""
    rows, columns = height // cell, width // cell
    bits = np.arange(rows * columns, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed * 7919)
    for shift_, factor in ((16, 0x45D9F3B), (15, 0x2C1B3C6D)):
        bits = (bits ^ (bits >> np.uint32(shift_))) * np.uint32(factor)
    knots = ((bits ^ (bits >> np.uint32(16))) % np.uint32(1024)).reshape(rows, columns) / 1023.0
    low, high, part = _between(height, cell)
    lines = knots[low] * (1 - part)[:, None] + knots[high] * part[:, None]
    low, high, part = _between(width, cell)
    smooth: Array = lines[:, low] * (1 - part) + lines[:, high] * part
    return smooth


def _between(size: int, cell: int) -> tuple[Array, Array, Array]:
    """Return for each pixel the knots before and behind it, and how far it is from the first, smoothed."""
    at = np.arange(size) / cell
    low = at.astype(np.int64)
    part = at - low
    return low, (low + 1) % (size // cell), part * part * (3 - 2 * part)


def to_bytes(values: Array) -> NDArray[np.uint8]:
    """Return numbers of 0 to 1 as bytes."""
    return np.floor(np.clip(values, 0, 1) * 255 + 0.5).astype(np.uint8)


def tga(image: Array) -> bytes:
    """Return an image (height, width, 3), or 4 with alpha, as a true-colour TGA, bottom row first as id's tools do."""
    height, width, channels = image.shape
    header = struct.pack("<3B5xHHHHBB", 0, 0, 2, 0, 0, width, height, 8 * channels, 8 * (channels - 3))
    return header + to_bytes(image)[::-1, :, [2, 1, 0, 3][:channels]].tobytes()


def png(indices: NDArray[np.uint8], palette: Array) -> bytes:
    """Return a PNG with a palette (256, 3). Stored, not deflated: zlib's versions pack differently."""
    height, width = indices.shape
    raw = b"".join(b"\0" + row.tobytes() for row in indices)
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(raw), len(raw) ^ 0xFFFF) + raw
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", to_bytes(palette).tobytes()),
        (b"IDAT", stored + struct.pack(">I", zlib.adler32(raw))),
        (b"IEND", b""),
    )
    parts = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def pcx(indices: NDArray[np.uint8], palette: Array) -> bytes:
    """Return a PCX of 8 bits with a palette (256, 3), as Quake II's skins are: runs, the palette at the end."""
    height, width = indices.shape
    header = struct.pack("<4B6H48sBBHH58x", 10, 5, 1, 8, 0, 0, width - 1, height - 1, 72, 72, b"", 0, 1, width, 1)
    return header + b"".join(map(_runs, indices)) + b"\x0c" + to_bytes(palette).tobytes()


def _runs(line: NDArray[np.uint8]) -> bytes:
    """Return a line as PCX packs it: a count from 1 to 63 above `RUN` before each byte that repeats, or is above it."""
    starts = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
    out = bytearray()
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(line)], strict=True):
        value = int(line[start])
        for count in (min(end - at, 63) for at in range(start, end, 63)):
            out += bytes((RUN + count, value)) if count > 1 or value >= RUN else bytes((value,))
    return bytes(out)
