"""Numbers and names of an LWO: all big-endian, names padded to even lengths, indices of two or four bytes.

An index (VX) has two bytes; from 0xFF00 on it has four, of which the first is 0xFF (`sgetVX`, dhewm3's
`Model_lwo.cpp`, which takes four bytes for small numbers, too).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.text import decode_text

Ints = NDArray[np.int64]
LONG = 0xFF  # the first byte of an index of four
SHORT_END = 0xFF00  # indices from here on have four bytes
FEW, NOT_KNOWN = 8, -1  # corners of a polygon whose length is found together with those of others


class CutError(Exception):
    """Bytes end within a row; `place` is where that begins."""

    def __init__(self, place: int) -> None:
        self.place = place


def name_at(data: bytes, place: int, end: int) -> tuple[bytes, int]:
    """Return the name that begins at a place, and where what follows it begins; raises CutError if nothing ends it."""
    close = data.find(b"\0", place, end)
    if close < 0:
        raise CutError(place)
    size = close + 1 - place
    return data[place:close], min(place + size + (size & 1), max(end, close + 1))


def packed_name(name: bytes) -> bytes:
    """Return a name with its end, padded to an even length; inverse of `name_at`."""
    raw = name.replace(b"\0", b"") + b"\0"
    return raw + b"\0" * (len(raw) & 1)


def shown_name(raw: bytes) -> str:
    """Return a name as text."""
    return decode_text(raw)


def raw_name(text: str) -> bytes:
    """Return a text as a name, which ends at a NUL; inverse of `shown_name`."""
    return text.replace("\0", "").encode("utf-8", errors="replace")


def chunk(ident: bytes, data: bytes) -> bytes:
    """Return a chunk, padded."""
    return ident + len(data).to_bytes(4, "big") + data + b"\0" * (len(data) & 1)


def rows_at(data: bytes, place: int, end: int, indices: int, floats: int) -> tuple[Ints, Ints]:
    """Return the rows that fill the bytes up to `end`: indices (n, indices), and where each row's floats begin, (n,).

    Raises:
        CutError: the last row is not whole.
    """
    width = 2 * indices + 4 * floats
    if not width or (end - place) % width == 0:
        count = (end - place) // max(width, 1)
        raw = np.frombuffer(data, np.uint8, count * width, place).reshape(count, width)
        firsts = raw[:, : 2 * indices : 2]
        if not (firsts == LONG).any():
            found = firsts.astype(np.int64) << 8 | raw[:, 1 : 2 * indices : 2]
            return found, place + 2 * indices + width * np.arange(count)
    words = _Words(data, place, end)
    after = words.beyond(np.arange(words.count), indices) + 2 * floats
    starts = words.records(after.tolist())
    found, at = np.zeros((len(starts), indices), np.int64), starts
    for nth in range(indices):
        found[:, nth], at = words.taken(at)
    return found, place + 2 * at


def polygons_at(data: bytes, place: int, end: int) -> tuple[Ints, Ints, Ints]:
    """Return the polygons that fill the bytes up to `end`: heads (n,), counts (n,), and all their corners, (sum,).

    A head is 16 bits, of which the low ten count corners (`lwGetPolygons`, dhewm3).
    """
    words = np.frombuffer(data, ">u2", (end - place) // 2, place)
    if len(words) % 4 == 0 and (end - place) % 8 == 0:
        table = words.reshape(-1, 4)
        if bool((table[:, 0] & 0x3FF == 3).all()) and not (table[:, 1:] >= SHORT_END).any():
            heads = table[:, 0].astype(np.int64)
            return heads, heads & 0x3FF, table[:, 1:].astype(np.int64).ravel()
    texts = _Words(data, place, end)
    after: Ints = np.arange(texts.count) + 1
    sizes = texts.words[: texts.count] & 0x3FF
    for nth in range(FEW):
        after = np.where(sizes > nth, texts.beyond(after, 1), after)
    after[sizes > FEW] = NOT_KNOWN
    starts = texts.records(after.tolist())
    heads = texts.words[starts]
    counts = heads & 0x3FF
    corners, firsts, at = np.zeros(int(counts.sum()), np.int64), np.cumsum(counts) - counts, starts + 1
    open_ = np.flatnonzero(counts > 0)
    for nth in range(int(counts.max(initial=0))):
        corners[firsts[open_] + nth], at[open_] = texts.taken(at[open_])
        open_ = open_[counts[open_] > nth + 1]
    return heads, counts, corners


class _Words:
    """Bytes as words of 16 bits, in which an index is one, or two whose first begins with 0xFF."""

    def __init__(self, data: bytes, place: int, end: int) -> None:
        self.place, self.count, self.odd = place, (end - place) // 2, (end - place) & 1
        found = np.frombuffer(data, ">u2", self.count, place).astype(np.int64)
        self.words = np.append(found, (0, 0))  # of what lies behind the end
        self.steps = 1 + (self.words >> 8 == LONG)

    def beyond(self, at: Ints, indices: int) -> Ints:
        """Return where what follows so many indices begins that begin at places (n,)."""
        for _ in range(indices):
            at = at + self.steps[np.minimum(at, self.count)]
        return at

    def records(self, after: list[int]) -> Ints:
        """Return where the records begin that fill all, if each would be followed by another at `after` (count,).

        Polygons of many corners, for which that is `NOT_KNOWN`, are gone through corner by corner.

        Raises:
            CutError: the last record is not whole.
        """
        starts, at = [], 0
        while at < self.count:
            starts.append(at)
            following = after[at]
            if following == NOT_KNOWN:
                following = at + 1
                for _ in range(int(self.words[at]) & 0x3FF):
                    following += int(self.steps[min(following, self.count)])
            if following > self.count:
                raise CutError(self.place + 2 * at)
            at = following
        if self.odd:
            raise CutError(self.place + 2 * self.count)
        return np.array(starts, np.int64)

    def taken(self, at: Ints) -> tuple[Ints, Ints]:
        """Return the indices that begin at places (n,), and what follows each."""
        first, steps = self.words[at], self.steps[at]
        return np.where(steps == 2, (first & 0xFF) << 16 | self.words[at + 1], first), at + steps


def old_polygons_at(data: bytes, place: int, end: int) -> tuple[Ints, Ints, Ints]:
    """Return the polygons of an LWOB: counts (n,), corners (sum,), and surfaces (n,) from 0 on.

    A surface below 0 has detail polygons, whose number follows and which follow as polygons of their own
    (`lwGetPolygons5`, dhewm3).
    """
    counts, corners, surfaces = [], [], []
    while place < end:
        start = place
        count = int.from_bytes(data[place : place + 2], "big")
        place += 4 + 2 * count
        if place > end:
            raise CutError(start)
        counts.append(count)
        corners.append(np.frombuffer(data, ">u2", count, start + 2).astype(np.int64))
        surface = int.from_bytes(data[place - 2 : place], "big", signed=True)
        if surface < 0:
            surface, place = -surface, place + 2
        surfaces.append(surface - 1)
    joined = np.concatenate([np.zeros(0, np.int64), *corners])
    return np.array(counts, np.int64), joined, np.array(surfaces, np.int64)


def floats_at(data: bytes, places: Ints, count: int) -> NDArray[np.float32]:
    """Return so many floats each at some places (n,), (n, count)."""
    if not len(places) or not count:
        return np.zeros((len(places), count), np.float32)
    where = places[:, None] + np.arange(4 * count)
    raw = np.frombuffer(data, np.uint8)[where]
    return np.ascontiguousarray(raw).view(">f4").astype(np.float32)


def packed_rows(indices: Ints, floats: NDArray[Any]) -> bytes:
    """Return rows of indices (n, i) and floats (n, f); inverse of `rows_at` and `floats_at`."""
    count, width = indices.shape
    raw, wanted = _packed_indices(indices.ravel())
    raw, wanted = raw.reshape(count, 4 * width), wanted.reshape(count, 4 * width)
    tail = np.ascontiguousarray(floats, ">f4").view(np.uint8).reshape(count, -1)
    whole = np.concatenate((raw, tail), axis=1)
    return bytes(whole[np.concatenate((wanted, np.ones(tail.shape, np.bool_)), axis=1)].tobytes())


def packed_polygons(heads: Ints, counts: Ints, corners: Ints) -> bytes:
    """Return polygons; inverse of `polygons_at`."""
    places = np.arange(len(heads)) + np.cumsum(counts) - counts  # of heads, among heads and corners
    values = np.zeros(len(heads) + len(corners), np.int64)
    inner = np.ones(len(values), np.bool_)
    inner[places] = False
    values[places], values[inner] = heads, corners
    raw, wanted = _packed_indices(values)
    raw[places, 2:] = heads[:, None] >> np.array([8, 0]) & 0xFF
    raw[places, :2] = 0
    wanted[places] = (False, False, True, True)
    return raw[wanted].tobytes()


def _packed_indices(values: Ints) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return indices (n,) as four bytes each, (n, 4), and which of these are written."""
    raw = (values[:, None] >> np.array([24, 16, 8, 0]) & 0xFF).astype(np.uint8)
    long = values >= SHORT_END
    raw[long, 0] = LONG
    wanted = np.ones(raw.shape, np.bool_)
    wanted[~long, :2] = False
    return raw, wanted
