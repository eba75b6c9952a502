"""PNG pictures, read."""

import struct
import zlib

import numpy as np
import pytest

from io_idtech_models.game.pictures import png
from io_idtech_models.reporting import FormatError


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(rows, kind=2, depth=8, size=(4, 3), interlaced=0, extra=b""):
    head = struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, interlaced)
    return png.SIGNATURE + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def filtered(picture, kinds):
    """Return rows with what each of the filters takes away, byte by byte."""
    height, width, step = picture.shape
    flat = picture.reshape(height, width * step).astype(int)
    out = b""
    for row, kind in enumerate(kinds):
        line = []
        for i in range(width * step):
            left = flat[row, i - step] if i >= step else 0
            up = flat[row - 1, i] if row else 0
            corner = flat[row - 1, i - step] if row and i >= step else 0
            guess = left + up - corner
            paeth = min((abs(guess - v), n, v) for n, v in enumerate((left, up, corner)))[2]
            line.append((flat[row, i] - (0, left, up, (left + up) // 2, paeth)[kind]) % 256)
        out += bytes([kind, *line])
    return out


@pytest.mark.parametrize("channels", [3, 4])
def test_every_filter(channels):
    picture = np.random.default_rng(2).integers(0, 256, (6, 5, channels)).astype(np.uint8)
    data = packed(filtered(picture, (4, 1, 2, 3, 4, 0)), {3: 2, 4: 6}[channels], size=(5, 6))
    assert (png.decode(data) == picture).all()


def test_numbers_and_greys():
    palette, alphas = chunk(b"PLTE", bytes(range(12))), chunk(b"tRNS", b"\x80")
    rows = b"\0\x1b" * 3
    assert png.decode(packed(rows, 3, 2, extra=palette))[0].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert png.decode(packed(rows, 3, 2, extra=palette + alphas))[0, :2].tolist() == [[0, 1, 2, 128], [3, 4, 5, 255]]
    assert png.decode(packed(rows, 0, 2))[0, :, 0].tolist() == [0, 85, 170, 255]
    assert png.decode(packed(b"\0\x07\x01\x08\x02" * 3, 4, 8, (2, 3)))[1].tolist() == [[7, 7, 7, 1], [8, 8, 8, 2]]
    assert png.decode(packed(b"\0\x07\xff\x08\xff" * 3, 0, 16, (2, 3)))[1, :, 0].tolist() == [7, 8]


@pytest.mark.parametrize(
    "data",
    [
        b"", png.SIGNATURE, packed(b"\0" * 3), packed(b"\x09" + bytes(12)), packed(bytes(39), interlaced=1),
        packed(b"\0\x1b" * 3, 3, 2), packed(bytes(39), kind=5), packed(bytes(39), size=(0, 3)),
        packed(bytes(39))[:-30],
    ],
)  # fmt: skip
def test_broken_ones_are_refused(data):
    with pytest.raises(FormatError):
        png.decode(data)
