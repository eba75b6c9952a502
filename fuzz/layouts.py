"""Where the records of a binary file lie, as far as a damaged file says: for mutations that know the structure.

The files are the codecs' own declarations, so that a new format or field is mutated without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from fuzz import packs
from io_idtech_models.formats.codecs import CODECS
from io_idtech_models.formats.common.chunks import FILE, Chain, File, Kind, Lump
from io_idtech_models.formats.common.weighted import WEIGHT, WeightedVertices
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.game.pictures import pcx

MOST_PARTS = 64  # surfaces or tags that are followed
MOST_FIELDS = 1 << 16  # of a record whose size the header says
Dtype = np.dtype[Any]
WORD: Dtype = np.dtype("<i4")
CHUNK: Dtype = np.dtype([("ident", "S4"), ("size", ">u4")])
# Records at the begin of a lump's, which are bytes to the declaration; and the field that says how far apart they are.
INNER: dict[tuple[str, str], tuple[Dtype, str]] = {("md2", "frames"): (md2.FRAME, "frame_size")}


@dataclass(frozen=True)
class Records:
    """Records of one kind, one after another; where the file says how many there are and where they begin."""

    offset: int
    dtype: Dtype
    count: int
    stride: int
    count_at: int = -1  # of an int32; -1: nowhere
    offset_at: int = -1
    base: int = 0  # from which the offset counts


@cache
def declared(kind: str) -> File[Any]:
    """Return what the codec of a binary format declares."""
    codec = CODECS[kind]()[0]
    return next(value for value in vars(codec).values() if isinstance(value, File))


def records(kind: str, data: bytes) -> list[Records]:
    """Return the records of a file of a format that lie in the file, at least in part; empty for a cut header."""
    if kind == "pcx":
        found: Iterator[Records] = iter((Records(0, pcx.HEADER, 1, pcx.HEADER.itemsize),))
    elif kind in packs.KINDS:
        found = _packs(kind, data)
    elif kind == "mdl":
        found = _mdl(data)
    elif kind == "lwo":
        found = _chunks(data)
    else:
        found = _Walk(kind, data).records(declared(kind), 0)
    return [each for each in found if 0 <= each.offset < len(data) and each.count > 0]


def _packs(kind: str, data: bytes) -> Iterator[Records]:
    for offset, dtype, count in packs.records(kind, data):
        most = max(len(data) - offset, 0) // dtype.itemsize
        yield Records(offset, dtype, min(count, most), dtype.itemsize)


def _chunks(data: bytes) -> Iterator[Records]:
    """Yield the heads of chunks, and what is in them as numbers of 16 and 32 bits."""
    place = 0
    for _ in range(MOST_PARTS):
        if not 0 <= place < len(data):
            return
        size = int(_head(data, CHUNK, place)["size"])
        yield Records(place, CHUNK, 1, CHUNK.itemsize)
        if place:
            most = min(size, len(data) - place)
            yield Records(place + CHUNK.itemsize, np.dtype(">u2"), most // 2, 2)
            yield Records(place + CHUNK.itemsize, np.dtype(">f4"), most // 4, 4)
        place += 12 if not place else CHUNK.itemsize + size + (size & 1)


def _mdl(data: bytes) -> Iterator[Records]:
    """Yield the records of a file without offsets: what comes first says where the others lie."""
    header = _head(data, mdl.HEADER, 0)
    yield Records(0, mdl.HEADER, 1, mdl.HEADER.itemsize)
    size = max(int(header["skin_width"]), 0) * max(int(header["skin_height"]), 0)
    place = mdl.HEADER.itemsize
    for part, end in _parts(data, place, int(header["num_skins"]), size, 0):
        yield part
        place = end
    for dtype, count in ((mdl.ST, int(header["num_verts"])), (mdl.TRIANGLE, int(header["num_tris"]))):
        yield Records(place, dtype, min(max(count, 0), MOST_FIELDS), dtype.itemsize)
        place += max(count, 0) * dtype.itemsize
    pose = mdl.POSE.itemsize + 4 * max(int(header["num_verts"]), 0)
    for part, _ in _parts(data, place, int(header["num_frames"]), pose, mdl.GROUP_HEAD):
        yield part


def _parts(data: bytes, place: int, number: int, size: int, head: int) -> Iterator[tuple[Records, int]]:
    """Yield the kinds, counts and payloads of an MDL's skins or frames, and where the next one begins."""
    for _ in range(min(number, MOST_PARTS)):
        kind, count = (int(_head(data, WORD, place + 4 * n)) for n in range(2))
        grouped, count = bool(kind), min(max(count, 0), MOST_FIELDS) if kind else 1
        words = 2 + count if grouped else 1
        start = place + 4 * words + head * grouped
        yield Records(place, WORD, words, 4), start + count * size
        yield Records(start, np.dtype("u1"), min(count * size, len(data)), 1), start + count * size
        place = start + count * size


def _head(data: bytes, dtype: Dtype, offset: int) -> Any:
    """Return the record at an offset, zeros where it does not lie in the file."""
    if 0 <= offset <= len(data) - dtype.itemsize:
        return np.frombuffer(data, dtype, 1, offset)[0]
    return np.zeros((), dtype)


def _place(dtype: Dtype, name: str) -> int:
    assert dtype.fields is not None
    return int(dtype.fields[name][1])


class _Walk:
    def __init__(self, kind: str, data: bytes) -> None:
        self.kind, self.data = kind, data
        self.file = _head(data, declared(kind).header, 0)

    def number(self, head: Any, name: str | int) -> int:
        """Return a number, or what a field of a part's header, or of the file's, says."""
        if isinstance(name, int):
            return name
        return int(self.file[name.removeprefix(FILE)] if name.startswith(FILE) else head[name])

    def records(self, kind: Kind, start: int) -> Iterator[Records]:
        """Yield a header at `start`, and the records that it points to."""
        yield Records(start, kind.header, 1, kind.header.itemsize)
        head = _head(self.data, kind.header, start)
        for member in kind.members:
            if isinstance(member, Lump):
                yield from self.lump(kind, member, start, head)
            else:
                yield from self.chain(member, start + self.number(head, member.offset), self.number(head, member.count))

    def lump(self, kind: Kind, lump: Lump, start: int, head: Any) -> Iterator[Records]:
        """Yield a lump's records, and those that lie in them."""
        offset = start + self.number(head, lump.offset)
        dtype = self.dtype(lump, head)
        most = max(len(self.data) - offset, 0) // dtype.itemsize
        own = [name for name in lump.shape if isinstance(name, str) and not name.startswith(FILE)]
        count_at = start + _place(kind.header, own[0]) if own else -1
        offset_at = start + _place(kind.header, lump.offset) if isinstance(lump.offset, str) else -1

        def found(dtype: Dtype, count: int, stride: int = 0) -> Records:
            return Records(offset, dtype, min(count, most), stride or dtype.itemsize, count_at, offset_at, start)

        lengths = [self.number(head, name) for name in lump.shape if isinstance(name, str)]
        yield found(dtype, prod(lengths))
        if isinstance(lump, WeightedVertices):
            yield found(WEIGHT, lengths[0])
        elif (self.kind, lump.name) in INNER:
            inner, apart = INNER[self.kind, lump.name]
            yield found(inner, lengths[0], max(int(head[apart]), inner.itemsize))

    def dtype(self, lump: Lump, head: Any) -> Dtype:
        """Return what a lump's records are; of what a header makes beyond all the least there is."""
        if not callable(lump.dtype):
            fixed = tuple(n for n in lump.shape if isinstance(n, int))
            return np.dtype((lump.dtype, fixed)) if fixed else np.dtype(lump.dtype)
        bounded = head.copy()
        for name in head.dtype.names:
            if name.startswith("num_"):
                bounded[name] = min(max(int(head[name]), 1), MOST_FIELDS)
        return np.dtype(lump.dtype(bounded))

    def chain(self, chain: Chain, start: int, count: int) -> Iterator[Records]:
        """Yield what parts hold that follow one another."""
        for _ in range(min(count, MOST_PARTS)):
            if not 0 <= start < len(self.data):
                return
            yield from self.records(chain, start)
            start += int(_head(self.data, chain.header, start)[chain.end])
