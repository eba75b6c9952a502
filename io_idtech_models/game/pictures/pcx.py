"""PCX pictures, which are Quake II's skins: bytes to pixels.

The header's 128 bytes are `pcx_t` of Quake II's qfiles.h, after ZSoft's "PCX Technical Reference Manual". Scan lines
follow from the top, each with `bytes_per_line` bytes of every plane in turn. With encoding 1 they are one stream of
runs: a byte of 0xC0 or more has a count in its lower six bits and is followed by the value that it repeats, any other
byte stands for itself. With 8 bits on one plane the values are numbers in a palette of 256 colours, the file's last 768
bytes, which a byte 0x0C announces; with fewer bits in the header's own; three planes of 8 bits are red, green, blue.

What games take is taken: Quake II's LoadPCX looks for no 0x0C and skins have no transparent colour (255 is one in
sprites and on the screen only); runs go on over the ends of scan lines; `bytes_per_line` is what was written, odd or
not, but never less than a line needs, for some files have 0 there.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError, ModelError
from ..store import GameFile

log = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]

HEADER = np.dtype(
    [
        ("manufacturer", "u1"), ("version", "u1"), ("encoding", "u1"), ("bits_per_pixel", "u1"),
        ("xmin", "<u2"), ("ymin", "<u2"), ("xmax", "<u2"), ("ymax", "<u2"), ("hres", "<u2"), ("vres", "<u2"),
        ("palette", "u1", (16, 3)), ("reserved", "u1"), ("color_planes", "u1"), ("bytes_per_line", "<u2"),
        ("palette_type", "<u2"), ("filler", "u1", (58,)),
    ]
)  # fmt: skip
FACTS = (
    "manufacturer", "encoding", "bits_per_pixel", "color_planes", "xmin", "ymin", "xmax", "ymax", "bytes_per_line",
)  # fmt: skip
MANUFACTURER, PALETTE_MARK, PALETTE_SIZE = 0x0A, 0x0C, 768
RUN, COUNT_MASK = 0xC0, 0x3F
DEPTHS = {(8, 1), (8, 3), (8, 4), (4, 1), (2, 1), (1, 1), (1, 2), (1, 3), (1, 4)}  # bits, planes
MAX_SIDE = 4096  # Quake II's own limit is 640 x 480; replacements are larger
MAX_SIZE = 4 * MAX_SIDE**2  # bytes of all scan lines
MAX_FILE = 2 * MAX_SIZE + HEADER.itemsize + PALETTE_SIZE + 1  # every byte a run of its own
MIN_SHARE = 4  # a file that has less than a quarter of its picture is none that was cut off
CHUNK = 1 << 15  # bytes of runs that are taken apart at once; larger ones leave the processor's cache


@dataclass(frozen=True)
class _Layout:
    """What the header says: pixels, bits of a value, planes, bytes of a plane's line, and whether there are runs."""

    width: int
    height: int
    bits: int
    planes: int
    stride: int
    runs: bool

    @property
    def used(self) -> int:
        """Bytes of a plane's line that show something."""
        return (self.width * self.bits + 7) // 8

    @property
    def size(self) -> int:
        """Bytes of all scan lines."""
        return self.stride * self.planes * self.height


def read(file: GameFile) -> Pixels | None:
    """Return the pixels of a PCX file as `decode` does; None for a file that is none, by its name or its first byte.

    Raises:
        ModelError: it can't be read, or its content is bad; the caller says which file.
    """
    if file.suffix.lower() != ".pcx":
        return None
    try:
        with file.open() as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise ModelError(f"can't read the picture: {error.strerror}") from error
    if len(data) > MAX_FILE:
        raise FormatError("too many bytes for a PCX picture", "", f"{MAX_FILE} at most", "more")
    return decode(data, file.name) if data[:1] == bytes([MANUFACTURER]) else None


def decode(data: bytes, name: str = "picture") -> Pixels:
    """Return the pixels of a PCX file, uint8 (height, width, 3), top row first; with a plane of alpha (.., .., 4).

    Lines that are missing at its end are black, colours without a palette grey, and a warning says so of `name`.

    Raises:
        FormatError: no PCX, a kind that is unknown, or a size that does not fit the file's.
    """
    if len(data) < HEADER.itemsize:
        raise FormatError("too short for a PCX picture", "", f"{HEADER.itemsize} bytes", len(data))
    header = np.frombuffer(data, HEADER, 1)[0]
    layout = _layout(header, len(data))
    body = np.frombuffer(data, np.uint8, offset=HEADER.itemsize)
    values, filled, palette = _values_and_palette(body, layout, header["palette"])
    if palette is None and layout.planes * layout.bits <= 8:
        palette = _grey(1 << (layout.planes * layout.bits), name)
    pixels = _pixels(values, layout, palette)
    rows = (filled + layout.stride - layout.used) // (layout.stride * layout.planes)  # the last may lack its padding
    if rows < layout.height:
        log.warning("'%s' ends after %d of its %d lines: the rest is black", name, rows, layout.height)
        pixels[rows:] = 0
    return pixels


def numbers_of(data: bytes) -> tuple[Pixels, Pixels] | None:
    """Return the numbers (height, width) of a PCX file, and its palette (256, 3); None without 256 colours.

    Raises:
        FormatError: no PCX, a kind that is unknown, or a size that does not fit the file's.
    """
    if len(data) < HEADER.itemsize:
        return None
    header = np.frombuffer(data, HEADER, 1)[0]
    layout = _layout(header, len(data))
    body = np.frombuffer(data, np.uint8, offset=HEADER.itemsize)
    values, _, palette = _values_and_palette(body, layout, header["palette"])
    if palette is None or layout.bits * layout.planes != 8 or layout.planes != 1:
        return None
    return values.reshape(layout.height, layout.stride)[:, : layout.width].copy(), palette.copy()


def encode(numbers: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Return the file of a picture (height, width) of numbers of a palette (256, 3): runs, lines of an even length.

    Runs end with their line, as the reference has them: games' readers go on over it, other programs' do not.
    """
    height, width = numbers.shape
    header = np.zeros((), HEADER)
    header["manufacturer"], header["version"], header["encoding"], header["bits_per_pixel"] = MANUFACTURER, 5, 1, 8
    header["xmax"], header["ymax"], header["color_planes"], header["palette_type"] = width - 1, height - 1, 1, 1
    header["hres"], header["vres"], header["bytes_per_line"] = width, height, width + width % 2
    lines = np.concatenate([numbers, numbers[:, -1:]], axis=1) if width % 2 else numbers
    mark, table = bytes([PALETTE_MARK]), np.ascontiguousarray(palette, np.uint8).tobytes()
    return header.tobytes() + _encode_runs(lines).tobytes() + mark + table


def _encode_runs(lines: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return lines (height, stride) as runs, of COUNT_MASK values at most; inverse of `decode_runs`."""
    stride = lines.shape[1]
    values = np.ascontiguousarray(lines).ravel()
    begins = np.ones(len(values), np.bool_)
    begins[1:] = values[1:] != values[:-1]
    begins[::stride] = True
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(values))
    pieces = -(-lengths // COUNT_MASK)
    counts = np.full(int(pieces.sum()), COUNT_MASK, np.int64)
    counts[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * COUNT_MASK
    worth = np.repeat(values[starts], pieces)
    counted = (counts > 1) | (worth >= RUN)
    found = np.zeros((len(counts), 2), np.uint8)
    found[:, 0], found[:, 1] = RUN | counts, worth
    kept = np.stack([counted, np.ones_like(counted)], axis=1)
    return found[kept]


def _layout(header: np.void, length: int) -> _Layout:
    """Return what a header says, checked; `length` is the file's."""
    manufacturer, encoding, bits, planes, *box, bytes_per_line = (int(header[key]) for key in FACTS)
    if manufacturer != MANUFACTURER:
        raise FormatError("not a PCX picture", "byte 0", MANUFACTURER, manufacturer)
    if encoding > 1:
        raise FormatError("unknown PCX encoding", "byte 2", "0 or 1", encoding)
    if (bits, planes) not in DEPTHS:
        raise FormatError("unknown kind of PCX", "byte 3", "8 bits on 1, 3 or 4 planes", f"{bits} bits on {planes}")
    width, height = box[2] - box[0] + 1, box[3] - box[1] + 1
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise FormatError("bad PCX size", "byte 4", f"1 to {MAX_SIDE} pixels", f"{width} x {height}")
    stride = max(bytes_per_line, (width * bits + 7) // 8)
    layout = _Layout(width, height, bits, planes, stride, encoding == 1)
    held = (length - HEADER.itemsize) * (COUNT_MASK / 2 if layout.runs else 1)
    if layout.size > min(MAX_SIZE, MIN_SHARE * held):
        raise FormatError("PCX larger than its file can hold", "byte 4", f"{int(held)} bytes at most", layout.size)
    return layout


def _values_and_palette(body: Pixels, layout: _Layout, own: Pixels) -> tuple[Pixels, int, Pixels | None]:
    """Return the bytes of all scan lines, how many of them the file has, and the palette (n, 3) or None.

    Without its mark a palette is where games look for it, if the picture is complete before that. The header's `own`
    is one of several colours: files of version 3 leave it empty.
    """
    if layout.bits < 8:
        own = own[: 1 << (layout.planes * layout.bits)]
        return *_values(body, layout), own if (own != own[0]).any() else None
    if layout.planes == 1 and len(body) > PALETTE_SIZE:
        palette = body[-PALETTE_SIZE:].reshape(256, 3)
        if body[-PALETTE_SIZE - 1] == PALETTE_MARK:
            return *_values(body[: -PALETTE_SIZE - 1], layout), palette
        values, filled = _values(body[:-PALETTE_SIZE], layout)
        if filled == layout.size:
            return values, filled, palette
    return *_values(body, layout), None


def _values(body: Pixels, layout: _Layout) -> tuple[Pixels, int]:
    """Return the bytes of all scan lines, 0 where the file has ended, and how many it has."""
    values = np.zeros(layout.size, np.uint8)
    if layout.runs:
        return values, decode_runs(body, values)
    filled = min(len(body), layout.size)
    values[:filled] = body[:filled]
    return values, filled


def decode_runs(body: Pixels, values: Pixels) -> int:
    """Write what runs stand for into `values`, until either ends; returns how many values were written.

    A count makes the next byte a value, whatever that is. So in a stretch of bytes >= 0xC0 counts and values take
    turns, and it begins with a count: the byte before it is below 0xC0, and a value in either case.
    """
    done = start = 0
    while done < len(values) and start < len(body):
        piece = body[start : start + CHUNK]
        high = np.flatnonzero(piece >= RUN)
        begins = np.flatnonzero(np.diff(high, prepend=-2) != 1)  # of stretches, in `high`
        lengths = np.diff(begins, append=len(high))
        counts = high[(np.arange(len(high)) - np.repeat(begins, lengths)) % 2 == 0]
        if len(counts) and counts[-1] == len(piece) - 1:  # its value lies beyond the piece
            counts, piece = counts[:-1], piece[:-1]
            if not len(piece):
                break
        repeats = np.ones(len(piece), np.intp)
        repeats[counts + 1] = piece[counts] & COUNT_MASK
        repeats[counts] = 0
        part = np.repeat(piece, repeats)[: len(values) - done]
        values[done : done + len(part)] = part
        done += len(part)
        start += len(piece)
    return done


def _grey(levels: int, name: str) -> Pixels:
    """Return shades of grey (levels, 3) as a palette; only for black and white no warning is needed."""
    if levels > 2:
        log.warning("'%s' has no palette: it is shown in grey", name)
    return np.repeat(np.linspace(0, 255, levels).round().astype(np.uint8)[:, None], 3, axis=1)


def _pixels(values: Pixels, layout: _Layout, palette: Pixels | None) -> Pixels:
    """Return the colours (height, width, 3 or 4) of the bytes of all scan lines."""
    lines = values.reshape(layout.height, layout.planes, layout.stride)[:, :, : layout.used]
    if palette is None:
        return np.ascontiguousarray(lines.transpose(0, 2, 1))
    if layout.bits < 8:
        bits = np.unpackbits(lines, axis=2).reshape(layout.height, layout.planes, -1, layout.bits)
        lines = np.packbits(bits, axis=3)[:, :, : layout.width, 0] >> np.uint8(8 - layout.bits)
        places = np.arange(layout.planes, dtype=np.uint8)[:, None]
        lines = np.asarray(np.bitwise_or.reduce(lines << places, axis=1, keepdims=True), np.uint8)
    return np.take(palette, lines[:, 0], axis=0)
