"""Rows of parts that are each one thing or a group of such things: MDL's skins, and its frames.

A part begins with its kind. 0 says that one payload follows. Anything else says that a group does: how many payloads
it has, some bytes of its own, when each payload ends (seconds from the group's start), and then the payloads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.records import raw_bytes, take

Bytes = NDArray[np.uint8]
WORD = np.dtype("<i4")
TIME = np.dtype("<f4")
AT_ONCE = 64  # parts whose kinds are looked at together; twice as many while all of them are single


@dataclass(eq=False)
class Parts:
    """Parts as arrays: N of them, of which G are groups, with P payloads in all."""

    kinds: NDArray[np.int32]  # (N,) as written: 0 is a lone payload
    counts: NDArray[np.int32]  # (N,) how many payloads each has
    heads: Bytes  # (G, n) what groups have of their own
    times: NDArray[np.float32]  # ends of the groups' payloads, one group after another
    payloads: Bytes  # (P, size)

    @cached_property
    def grouped(self) -> NDArray[np.bool_]:
        """Tell which parts (N,) are groups."""
        return np.asarray(self.kinds != 0)

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """Return the number of each part's first payload, and how many there are: (N + 1,)."""
        return np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))

    @cached_property
    def _time_ends(self) -> NDArray[np.int64]:
        return np.cumsum(np.where(self.grouped, self.counts, 0), dtype=np.int64)

    @cached_property
    def _group_counts(self) -> NDArray[np.int64]:
        return np.cumsum(self.grouped, dtype=np.int64)

    def times_of(self, part: int) -> NDArray[np.float32]:
        """Return when the payloads of a part end; of a lone one nothing is said."""
        end = int(self._time_ends[part])
        return self.times[end - int(self.counts[part]) : end] if self.grouped[part] else self.times[:0]

    def head_of(self, part: int) -> Bytes:
        """Return what a group has of its own, (n,)."""
        found: Bytes = self.heads[int(self._group_counts[part]) - 1]
        return found


@dataclass
class _Reader:
    """Parts that are being read, as lists of pieces."""

    data: bytes
    place: int
    size: int  # of a payload
    head: int  # bytes that a group has of its own
    what: str
    kinds: list[NDArray[np.int32]] = field(default_factory=list)
    counts: list[NDArray[np.int32]] = field(default_factory=list)
    heads: list[Bytes] = field(default_factory=list)
    times: list[NDArray[np.float32]] = field(default_factory=list)
    payloads: list[Bytes] = field(default_factory=list)

    def singles(self, most: int) -> int:
        """Read the lone payloads that come next, at most so many; returns how many there were."""
        stride = WORD.itemsize + self.size
        most = min(most, (len(self.data) - self.place) // stride)
        if most <= 0:
            return 0
        rows = take(self.data, np.uint8, (most, stride), self.place, self.what)
        lone = np.ascontiguousarray(rows[:, : WORD.itemsize]).view(WORD)[:, 0] == 0
        count = most if lone.all() else int(np.argmin(lone))
        if count:
            self.kinds.append(np.zeros(count, np.int32))
            self.counts.append(np.ones(count, np.int32))
            self.payloads.append(rows[:count, WORD.itemsize :])
            self.place += count * stride
        return count

    def group(self) -> None:
        """Read the group that comes next; raises FormatError."""
        called = f"groups of {self.what}"
        kind, count = take(self.data, WORD, (2,), self.place, called).tolist()
        if kind == 0:  # a lone payload, for which there was no room
            take(self.data, np.uint8, (1, self.size), self.place + WORD.itemsize, self.what)
        if count < 1:
            raise FormatError(f"group of {self.what} without any", f"byte {self.place + 4}", "1 or more", count)
        start = self.place + 2 * WORD.itemsize
        times_at = start + self.head
        payloads_at = times_at + TIME.itemsize * count
        times = take(self.data, TIME, (count,), times_at, f"times of {called}")
        self.payloads.append(take(self.data, np.uint8, (count, self.size), payloads_at, called))
        self.times.append(times)
        self.heads.append(take(self.data, np.uint8, (1, self.head), start, called))
        self.kinds.append(np.array([kind], np.int32))
        self.counts.append(np.array([count], np.int32))
        self.place = payloads_at + count * self.size

    def parts(self) -> Parts:
        """Return what was read."""
        return Parts(
            np.concatenate([np.zeros(0, np.int32), *self.kinds]),
            np.concatenate([np.zeros(0, np.int32), *self.counts]),
            np.concatenate([np.zeros((0, self.head), np.uint8), *self.heads]),
            np.concatenate([np.zeros(0, np.float32), *self.times]),
            np.concatenate([np.zeros((0, self.size), np.uint8), *self.payloads]),
        )


def read(data: bytes, place: int, number: int, size: int, head: int, what: str) -> tuple[Parts, int]:
    """Return so many parts with payloads of `size` bytes, whose groups have `head` bytes, and where they end.

    Raises:
        FormatError: they run past the end of the file, or a group is empty.
    """
    if number < 0:
        raise FormatError(f"negative number of {what}", expected="0 or more", found=number)
    reader, done, look = _Reader(data, place, size, head, what), 0, AT_ONCE
    while done < number:
        found = reader.singles(min(look, number - done))
        done += found
        look = look * 2 if found == look else AT_ONCE
        if not found:
            reader.group()
            done += 1
    return reader.parts(), reader.place


def write(parts: Parts) -> bytes:
    """Return the bytes of parts; inverse of `read`."""
    pieces: list[bytes] = []
    firsts = parts.firsts.tolist()
    groups = np.flatnonzero(parts.grouped)
    times_at = np.concatenate(([0], np.cumsum(parts.counts[groups]))).tolist()
    done = 0
    for nth, part in enumerate(groups.tolist()):
        pieces.append(_singles(parts.payloads[firsts[done] : firsts[part]]))
        head = np.array([parts.kinds[part], parts.counts[part]], WORD)
        times = np.asarray(parts.times[times_at[nth] : times_at[nth + 1]], TIME)
        inside = parts.payloads[firsts[part] : firsts[part + 1]]
        pieces += [raw_bytes(piece).tobytes() for piece in (head, parts.heads[nth], times, inside)]
        done = part + 1
    return b"".join([*pieces, _singles(parts.payloads[firsts[done] :])])


def _singles(payloads: Bytes) -> bytes:
    kinds = np.zeros((len(payloads), WORD.itemsize), np.uint8)
    return np.concatenate((kinds, payloads), axis=1).tobytes()
