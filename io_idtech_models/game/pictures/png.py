"""PNG pictures, read: bytes to pixels, after the W3C's "Portable Network Graphics Specification", second edition.

Chunks of a length, a name, data and a sum follow eight bytes. IHDR has width, height, depth and kind (0 grey, 2
colours, 3 numbers, 4 and 6 with alpha), PLTE the colours of numbers, tRNS their alphas, and all IDATs one stream of
rows, each behind the number of what was taken from it: the byte to the left, the one above, their mean, or Paeth's
choice.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError

Pixels = NDArray[np.uint8]  # (height, width, 3 or 4), top row first

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
MAX_SIDE = 4096
NUMBERS = 3


def decode(data: bytes) -> Pixels:
    """Return the colours in a file.

    Raises:
        FormatError: it is no PNG, damaged, interlaced, or larger than games take.
    """
    if data[:8] != SIGNATURE:
        raise FormatError("not a PNG picture", "byte 0", SIGNATURE, data[:8])
    chunks = _chunks(data)
    head = chunks.get(b"IHDR", b"")
    if len(head) != 13:
        raise FormatError("PNG without a header", "byte 8", 13, len(head))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    if depth not in DEPTHS.get(kind, ()) or interlaced or not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        said = f"{width} x {height}, kind {kind} of {depth} bits" + (", interlaced" if interlaced else "")
        raise FormatError("kind of PNG that is not read", "byte 16", f"1 to {MAX_SIDE} pixels", said)
    rows = _rows(chunks.get(b"IDAT", b""), height, (width * depth * CHANNELS[kind] + 7) // 8, depth * CHANNELS[kind])
    values = _values(rows, width, depth, CHANNELS[kind])
    if kind == NUMBERS:
        return _from_table(values[..., 0], chunks.get(b"PLTE", b""), chunks.get(b"tRNS", b""))
    if CHANNELS[kind] < 3:
        values[..., 0] *= np.uint8(255 // (2 ** min(depth, 8) - 1))
        grey = np.repeat(values[..., :1], 3, axis=2)
        return np.concatenate((grey, values[..., 1:]), axis=2)
    return values


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """Return the data of chunks by name, those of one name joined."""
    found: dict[bytes, list[bytes]] = {}
    place = 8
    while place + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        found.setdefault(name, []).append(data[place + 8 : place + 8 + length])
        place += 12 + length
    return {name: b"".join(parts) for name, parts in found.items()}


def _rows(packed: bytes, height: int, stride: int, bits: int) -> NDArray[np.uint8]:
    """Return the bytes of all rows, (height, stride)."""
    wanted = height * (stride + 1)
    try:
        raw = zlib.decompressobj().decompress(packed, wanted)
    except zlib.error as error:
        raise FormatError(f"damaged PNG ({error})", "its data", "a stream of zlib") from error
    if len(raw) < wanted:
        raise FormatError("PNG picture is cut off", "its end", f"{wanted} bytes", len(raw))
    lines = np.frombuffer(raw, np.uint8).reshape(height, stride + 1)
    rows = np.zeros((height + 1, stride), np.uint8)
    step = max(bits // 8, 1)
    for nth, line in enumerate(lines):
        rows[nth + 1] = _unfiltered(int(line[0]), line[1:], rows[nth], step)
    return rows[1:]


def _unfiltered(kind: int, line: NDArray[np.uint8], above: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Return a row of which something was taken away; `step` bytes make a pixel."""
    if kind == 0:
        return line
    if kind == 1:
        padded = np.zeros(-(-len(line) // step) * step, np.uint8)
        padded[: len(line)] = line
        return np.cumsum(padded.reshape(-1, step), axis=0, dtype=np.uint8).reshape(-1)[: len(line)]
    if kind == 2:
        return line + above
    if kind > 4:
        raise FormatError("unknown filter of PNG", "its data", "0 to 4", kind)
    return np.frombuffer(_sequential(kind, line.tolist(), above.tolist(), step), np.uint8)


def _sequential(kind: int, line: list[int], above: list[int], step: int) -> bytes:
    """Return a row from each of whose bytes a mean was taken, or Paeth's choice: both of the byte before it."""
    row = [0] * step + line
    upper = [0] * step + above
    for place in range(step, len(row)):
        left, up, corner = row[place - step], upper[place], upper[place - step]
        if kind == 3:
            taken = (left + up) // 2
        else:
            guess = left + up - corner
            off = (abs(guess - left), abs(guess - up), abs(guess - corner))
            taken = (left, up, corner)[off.index(min(off))]
        row[place] = (row[place] + taken) & 255
    return bytes(row[step:])


def _values(rows: NDArray[np.uint8], width: int, depth: int, channels: int) -> NDArray[np.uint8]:
    """Return the values of pixels, (height, width, channels), of depth 8; numbers below 8 bits stay as they are."""
    if depth == 16:
        return rows[:, ::2].reshape(len(rows), width, channels).copy()
    if depth == 8:
        return rows.reshape(len(rows), width, channels).copy()
    bits = np.unpackbits(rows, axis=1)[:, : rows.shape[1] * 8 // depth * depth].reshape(len(rows), -1, depth)
    values = np.packbits(bits, axis=2)[:, :width, 0] >> np.uint8(8 - depth)
    return values[..., None]


def _from_table(numbers: NDArray[np.uint8], table: bytes, alphas: bytes) -> Pixels:
    """Return the colours of numbers; with their alphas where some are less than 255."""
    colors = np.frombuffer(table[: len(table) // 3 * 3], np.uint8).reshape(-1, 3)
    if int(numbers.max()) >= len(colors):
        raise FormatError("PNG names colours that it lacks", "its PLTE", f"below {len(colors)}", int(numbers.max()))
    if not alphas:
        return colors[numbers]
    shown = np.full((max(len(colors), len(alphas)), 1), 255, np.uint8)
    shown[: len(alphas), 0] = np.frombuffer(alphas, np.uint8)
    return np.concatenate((colors, shown[: len(colors)]), axis=1)[numbers]
