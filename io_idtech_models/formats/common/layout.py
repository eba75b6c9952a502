"""Where the lumps of a file lie: kept from the source, so that an unchanged model gives the same bytes.

A file is a set of lumps (header, frames, tags, each surface's header and arrays), addressed by offsets, in any order,
with any bytes between them. `survey` describes that as small arrays that travel as a hint; `assemble` lays lumps out
again, wherever the hint still applies, even when lumps have grown, gone or are new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError

Arrays = dict[str, NDArray[Any]]


class Piece(NamedTuple):
    """A piece of a file: what it is (a number that the codec chooses), and where it was found."""

    key: int
    offset: int
    size: int


def check_overlap(lumps: Iterable[Piece], file_size: int, before: int = 0) -> int:
    """Refuse files whose lumps share bytes so much that a small file would decode to a huge model.

    `before` is the size of lumps that were checked already; returns it with these.

    Raises:
        FormatError: the lumps together are four times the file's size or more.
    """
    total = before + sum(lump.size for lump in lumps)
    if total >= 4 * max(file_size, 1):
        raise FormatError("lumps overlap", expected=f"{file_size} bytes in all", found=total)
    return total


def survey(lumps: list[Piece], data: bytes) -> Arrays:
    """Return the layout of a file as arrays: order of lumps, bytes before each, bytes behind the last.

    Empty lumps have an offset that means nothing; it is kept as it is.
    """
    solid = sorted((lump for lump in lumps if lump.size), key=lambda lump: (lump.offset, lump.key))
    filler, gaps, end = [], [], 0
    for lump in solid:
        gap = data[end : lump.offset]
        gaps.append(len(gap))
        filler.append(gap)
        end = max(end, lump.offset + lump.size)
    empty = [(lump.key, lump.offset) for lump in lumps if not lump.size]
    return {
        "layout_order": np.array([lump.key for lump in solid], np.int32),
        "layout_gaps": np.array(gaps, np.int64),
        "layout_filler": np.frombuffer(b"".join(filler), np.uint8),
        "layout_tail": np.frombuffer(data[end:], np.uint8),
        "layout_empty": np.array(empty, np.int64).reshape(-1, 2),
    }


@dataclass
class Plan:
    """What to write: keys in the order of the file, the bytes before each, the bytes behind all."""

    order: list[int]
    gaps: dict[int, bytes]
    empty: dict[int, int]
    tail: bytes = b""

    def places(self, sizes: dict[int, int]) -> tuple[dict[int, int], int]:
        """Return the offset of every lump and the size of the file, for lumps of the given sizes."""
        offsets, end = {}, 0
        for key in self.order:
            end += len(self.gaps.get(key, b""))
            offsets[key] = end
            end += sizes[key]
        return offsets, end + len(self.tail)


def plan(default_order: list[int], sizes: dict[int, int], hint: Arrays, renamed: dict[int, int]) -> Plan:
    """Lay lumps out as the hint says; those that it does not know follow their neighbour in `default_order`.

    `renamed` maps the hint's keys to present ones; keys that it lacks are gone, together with the gap before them.
    """
    solid = [key for key in default_order if sizes[key]]
    order, gaps, empty, place = [], {}, {}, 0
    filler = hint["layout_filler"].tobytes() if hint else b""
    for old, gap in zip(hint["layout_order"].tolist(), hint["layout_gaps"].tolist(), strict=True) if hint else ():
        key = renamed.get(old, -1)
        if sizes.get(key) and key not in gaps:
            order.append(key)
            gaps[key] = filler[place : place + gap]
        place += gap
    order = _with_new(order, solid)
    gaps |= dict.fromkeys((key for key in solid if key not in gaps), b"")
    if hint:
        empty = {renamed[old]: offset for old, offset in hint["layout_empty"].tolist() if old in renamed}
    empty = {key: offset for key, offset in empty.items() if not sizes.get(key)}
    return Plan(order, gaps, empty, hint["layout_tail"].tobytes() if hint else b"")


def _with_new(order: list[int], solid: list[int]) -> list[int]:
    """Return an order with those of `solid` that it lacks, each behind the one before it there."""
    known = set(order)
    behind = {before: key for before, key in pairwise(solid) if key not in known}
    found: list[int] = []
    for key in [*(key for key in solid[:1] if key not in known), *order]:
        found.append(key)
        while found[-1] in behind:
            found.append(behind[found[-1]])
    return found


def assemble(lumps: Mapping[int, Any], layout: Plan) -> bytes:
    """Return the file: every lump, bytes or an array of these, in its place, the gaps filled."""
    pieces = [piece for key in layout.order for piece in (layout.gaps[key], lumps[key])]
    return b"".join([*pieces, layout.tail])
