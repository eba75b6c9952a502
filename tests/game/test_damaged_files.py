"""Pictures and archives with any byte another, or cut off there: what is read of them is what was."""

import io
import struct
import zlib

import numpy as np
import pytest

from io_idtech_models.game.archives import read_directory
from io_idtech_models.game.pictures import pcx, png, tga
from io_idtech_models.reporting import ModelError
from tests.damaged import damaged_bytes, outcomes
from tests.packs import Entry, pak_bytes, zip_bytes

MEMBERS = {"models/a.md3": b"a model", "scripts/b.shader": b"text " * 20, "C.tga": b""}


def png_bytes(kind, depth, size, rows, table=b""):
    """Return a .png."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, 0))
    colors = chunk(b"PLTE", table) + chunk(b"tRNS", b"\x80") if table else b""
    return png.SIGNATURE + head + colors + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def tga_bytes(kind, depth, body, size=(2, 2), flags=0, table=b"", entry=0):
    """Return a .tga with a text of two bytes."""
    count = len(table) * 8 // entry if entry else 0
    return struct.pack("<3BHHB4H2B", 2, int(bool(table)), kind, 1, count, entry, 0, 0, *size, depth, flags) + (
        b"ab" + table + body
    )


def pcx_bytes(bits, planes, width, body, tail=b""):
    """Return a .pcx of two lines."""
    line = (width * bits + 7) // 8
    facts = (10, 5, 1, bits, 0, 0, width - 1, 1, 300, 301, bytes(range(48)), 0, planes, line, 1)
    return struct.pack("<4B6H48sBBHH58x", *facts) + body + tail


def members(data):
    """Return what an archive holds, and each file in it or why that can't be read."""
    stream = io.BytesIO(data)
    found = read_directory(stream, len(data))
    files = [member for _, own in found.folders.values() for _, member in own.values()]
    return [found.folders, found.refused, found.count, [content(found.codec, stream, len(data), m) for m in files]]


def content(codec, stream, size, member):
    """Return a member's bytes, or why there are none."""
    try:
        return codec.read_member(stream, size, member).hex()
    except ModelError as error:
        return str(error)


STORED = b"\1\x05\0\xfa\xfftext!"  # as a deflated block, the same whoever packs it
ZIP = zip_bytes(
    [*(Entry(name, data, 0) for name, data in MEMBERS.items()), Entry("d", b"text!", packed=STORED)],
    comment=b"made by us",
)
PALETTE = b"\x0c" + bytes(np.arange(768) % 251)
FILES = {
    "zip": (ZIP, members),
    "pak": (pak_bytes(MEMBERS), members),
    "png of colours": (png_bytes(2, 8, (2, 3), bytes([0, *range(6), 1, *range(6), 4, *range(9, 3, -1)])), png.decode),
    "png of a table": (png_bytes(3, 4, (3, 2), b"\0\x01\x20\x02\x11\x10", bytes(range(9))), png.decode),
    "png of greys": (png_bytes(4, 16, (1, 2), b"\0\x80\0\x40\0\x03\1\2\3\4"), png.decode),
    "tga of colours": (tga_bytes(2, 24, bytes(range(12))), tga.decode),
    "tga of runs": (tga_bytes(10, 32, bytes((0x82, 9, 8, 7, 6, 0, 1, 2, 3, 4)), flags=0x20), tga.decode),
    "tga of a table": (tga_bytes(1, 8, bytes((1, 2, 2, 1)), table=bytes(range(6)), entry=24), tga.decode),
    "pcx of a palette": (pcx_bytes(8, 1, 4, b"\xc3\x07\x01\x02\xc1\xff\xc2\x05", PALETTE), pcx.decode),
    "pcx of planes": (pcx_bytes(8, 3, 2, b"\x01\x02\xc4\x03" * 2), pcx.decode),
    "pcx of bits": (pcx_bytes(1, 4, 9, b"\xc2\xff\x01\x02" * 4), pcx.decode),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_read_of_a_damaged_file_is_what_was(name, as_before):
    data, read = FILES[name]
    # Of what is long, or packed otherwise elsewhere, only the beginning.
    end = min((data.index(mark) + 4 for mark in (PALETTE, b"IDAT") if mark in data), default=len(data))
    cases = ((what, changed + data[end:]) for what, changed in damaged_bytes(data[:end]))
    for found in outcomes([("nothing", data), *cases], read):
        as_before(found)
