"""TGA pictures: bytes to pixels, and back.

The header's 18 bytes are those of Truevision's "TGA File Format Specification", version 2.0: length of the text behind
it, whether there is a table of colours, the kind (1 numbers, 2 colours, 3 grey, and the same with runs from 9 on), the
table's first entry, length and depth, x, y, width, height, depth, and flags, of which 0x20 says that the top row comes
first and 0x10 that columns run to the left. Of a run's head the highest bit says that one pixel repeats, the others how
many pixels there are, less one.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError

Pixels = NDArray[np.uint8]  # (height, width, 3 or 4), top row first

HEADER = np.dtype([
    ("text", "u1"), ("has_table", "u1"), ("kind", "u1"), ("first", "<u2"), ("length", "<u2"), ("table_depth", "u1"),
    ("x", "<u2"), ("y", "<u2"), ("width", "<u2"), ("height", "<u2"), ("depth", "u1"), ("flags", "u1"),
])  # fmt: skip
NUMBERS, COLORS, GREY, RUNS = 1, 2, 3, 8
MAX_SIDE = 4096
Picture = NDArray[np.uint8]  # (height, width, 3 or 4), the bottom row first
LARGEST = 2048  # texels of a side that is written: engines shrink what is larger than the card takes
ICON = 64  # texels of an icon's side
TOP_FIRST, LEFTWARD = 0x20, 0x10


def shown_by_games(data: bytes) -> bool:
    """Tell whether games of Quake III's kin show a file, of which the header is enough, as it is meant.

    They stop at numbers of a table, at grey with runs and at other depths than 8 (of grey), 24 and 32 bits. The first
    row is the bottom one to them whatever the header says: what begins at the top they show upside down (LoadTGA).
    """
    if len(data) < HEADER.itemsize:
        return False
    header = np.frombuffer(data, HEADER, 1)[0]
    kind, depths = int(header["kind"]), {COLORS: (24, 32), COLORS | RUNS: (24, 32), GREY: (8,)}
    turned = int(header["flags"]) & (TOP_FIRST | LEFTWARD)
    return not header["has_table"] and not turned and int(header["depth"]) in depths.get(kind, ())


def for_games(data: bytes) -> bytes:
    """Return a file that games of Quake III's kin show as it is meant: itself, or the same picture encoded anew.

    Raises:
        FormatError: it is none of these, and can't be read.
    """
    return data if shown_by_games(data) else encode(decode(data)[::-1])


def decode(data: bytes) -> Pixels:
    """Return the colours in a file.

    Raises:
        FormatError: it is no TGA, cut off, or larger than games take.
    """
    if len(data) < HEADER.itemsize:
        raise FormatError("too short for a TGA picture", "byte 0", f"{HEADER.itemsize} bytes", len(data))
    header = np.frombuffer(data, HEADER, 1)[0]
    kind, runs = int(header["kind"]) & ~RUNS, bool(int(header["kind"]) & RUNS)
    size, depth = (int(header["height"]), int(header["width"])), int(header["depth"])
    known = {NUMBERS: (8,), COLORS: (15, 16, 24, 32), GREY: (8,)}
    if depth not in known.get(kind, ()) or not all(0 < side <= MAX_SIDE for side in size):
        found = f"{size[1]} x {size[0]}, kind {int(header['kind'])} of {depth} bits"
        raise FormatError("kind of TGA that is not read", "byte 2", f"1 to {MAX_SIDE} pixels", found)
    place = HEADER.itemsize + int(header["text"])
    entry = (int(header["table_depth"]) + 7) // 8 if header["has_table"] else 0
    table = np.frombuffer(data, np.uint8)[place : place + entry * int(header["length"])]
    body = data[place + entry * int(header["length"]) :]
    width = (depth + 7) // 8
    raw = _runs(body, size[0] * size[1], width) if runs else np.frombuffer(body, np.uint8)[: size[0] * size[1] * width]
    if len(raw) < size[0] * size[1] * width:
        raise FormatError("TGA picture is cut off", "its end", f"{size[0] * size[1] * width} bytes", len(raw))
    values: NDArray[np.uint8] = raw.reshape(*size, width)
    if kind == NUMBERS:
        values = _from_table(values[..., 0], table, entry, int(header["first"]))
    pixels = np.repeat(values, 3, axis=2) if kind == GREY else _colors(values)
    pixels = pixels if int(header["flags"]) & TOP_FIRST else pixels[::-1]
    return np.ascontiguousarray(pixels[:, ::-1] if int(header["flags"]) & LEFTWARD else pixels)


def _from_table(numbers: NDArray[np.uint8], table: NDArray[np.uint8], entry: int, first: int) -> NDArray[np.uint8]:
    """Return the entries of a table of colours, (height, width, bytes of one)."""
    rows = table.reshape(-1, entry) if entry in {2, 3, 4} and len(table) % entry == 0 else np.zeros((0, 3), np.uint8)
    places = numbers.astype(np.int64) - first
    if not len(rows) or int(places.min()) < 0 or int(places.max()) >= len(rows):
        raise FormatError("TGA names colours that it lacks", "its table", f"{len(rows)} colours", int(places.max()) + 1)
    return rows[places]


def _colors(values: NDArray[np.uint8]) -> Pixels:
    """Return red, green, blue, and alpha if there is one, of the bytes of pixels."""
    if values.shape[2] == 2:  # five bits each
        word = values[..., 0].astype(np.uint16) | (values[..., 1].astype(np.uint16) << 8)
        fives = np.stack([(word >> shift) & 31 for shift in (10, 5, 0)], axis=2)
        return np.asarray((fives * 255 + 15) // 31, np.uint8)
    order = [2, 1, 0, 3][: values.shape[2]]
    return values[..., order]


def _runs(body: bytes, count: int, width: int) -> NDArray[np.uint8]:
    """Return the bytes of pixels that runs stand for, as many as there are."""
    pieces: list[bytes] = []
    done = place = 0
    while done < count and place < len(body):
        head = body[place]
        length = (head & 127) + 1
        step = width if head & 128 else width * length
        piece = body[place + 1 : place + 1 + step]
        pieces.append(piece * length if head & 128 else piece)
        done += length
        place += 1 + step
    return np.frombuffer(b"".join(pieces), np.uint8)[: count * width]


def encode(picture: Picture) -> bytes:
    """Return a picture's file as games of Quake III's kin read it everywhere: uncompressed, rows from the bottom up.

    Where all is opaque it has three channels.
    """
    if picture.shape[2] == 4 and (picture[:, :, 3] == 255).all():
        picture = picture[:, :, :3]
    height, width, channels = picture.shape
    header = struct.pack("<3B5xHHHHBB", 0, 0, 2, 0, 0, width, height, 8 * channels, 8 if channels == 4 else 0)
    order = [2, 1, 0, 3][:channels]
    return header + np.ascontiguousarray(picture[:, :, order]).tobytes()


def text_of(data: bytes) -> bytes:
    """Return the text that a file has behind its header, up to 255 bytes which engines and editors skip."""
    return data[HEADER.itemsize : HEADER.itemsize + data[0]] if data else b""


def without_text(data: bytes) -> bytes:
    """Return a file without the text behind its header."""
    return b"\0" + data[1 : HEADER.itemsize] + data[HEADER.itemsize + len(text_of(data)) :]


def with_text(data: bytes, text: bytes) -> bytes:
    """Return a file, which has none yet, with a text of at most 255 bytes behind its header."""
    return bytes([len(text)]) + data[1 : HEADER.itemsize] + text + data[HEADER.itemsize :]
