"""Writing of files that are declared as `chunks`, with the source's layout wherever it still applies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chunks import Chain, File, Kind, Lump, Struct
from .layout import Arrays, assemble, plan
from .records import raw_bytes

EMPTY: NDArray[np.uint8] = np.zeros(0, np.uint8)


def write(file: File[Struct], struct: Struct) -> bytes:
    """Return the file of structs; inverse of `reader.read`, byte for byte while the layout's hint applies."""
    return Placed(file, struct).data()


@dataclass(eq=False)
class _Part:
    """A header on its way into a file."""

    kind: Kind
    header: NDArray[Any]  # (1,)
    key: int  # its number in the layout
    chains: dict[int, list[_Part]]  # what hangs on it, by the chain's number

    def first(self, number: int) -> int:
        """Return the number of a member's lump, or of the first header of a chain."""
        return next((part.key for part in self.chains.get(number, ())), self.key + number)


class Placed:
    """The lumps of structs, and where they lie in the file that will be written."""

    def __init__(self, file: File[Any], struct: Any) -> None:
        self.file, hint = file, struct.layout
        self.lumps: dict[int, NDArray[np.uint8]] = {}
        self.parts: dict[str, list[_Part]] = {chain.name: [] for _, chain in file.all_chains}
        self._firsts = {chain.name: first for first, chain in file.all_chains}
        self.root = self._add(file, struct, 0)
        self._ends = hint["layout_ends"].tolist() if hint else [0, 0, 0]
        if file.may_lack_end and hint:
            self.lumps[0] = self.lumps[0][: self._ends[1]]
        self.sizes = {key: len(lump) for key, lump in self.lumps.items()}
        self._lay_out(hint, self._renamed(struct))
        if not self._in_order():
            self._lay_out({}, {})

    def _add(self, kind: Kind, struct: Any, key: int) -> _Part:
        """Return a struct's header with what hangs on it, and note its lumps in the order that we write."""
        part = _Part(kind, np.array(struct.header, kind.header).reshape(1), key, {})
        self.lumps[key] = raw_bytes(part.header)  # the same memory
        for number, member in enumerate(kind.members, 1):
            self.lumps[key + number] = EMPTY
            if isinstance(member, Lump):
                self.lumps[key + number] = member.packed(struct)
                member.count(part.header, struct)
        for number, chain in kind.chains:
            part.chains[number] = [self._add_to(chain, one) for one in getattr(struct, chain.name)]
            part.header[chain.count] = len(part.chains[number])
        return part

    def _add_to(self, chain: Chain, struct: Any) -> _Part:
        known = self.parts[chain.name]
        known.append(self._add(chain, struct, self._firsts[chain.name] + len(known) * chain.width))
        return known[-1]

    def _renamed(self, struct: Any) -> dict[int, int]:
        """Return the present number of every lump of the source."""
        renamed = {key: key for key in range(self.file.width)}
        for first, chain in self.file.all_chains:
            for new, old in enumerate(getattr(struct, f"source_{chain.name}")):
                before, now = first + old * chain.width, first + new * chain.width
                renamed |= {before + i: now + i for i in range(chain.width) if old >= 0}
        return renamed

    def _lay_out(self, hint: Arrays, renamed: dict[int, int]) -> None:
        self._plan = plan(list(self.lumps), self.sizes, hint, renamed)
        self.offsets, self.size = self._plan.places(self.sizes)

    def _in_order(self) -> bool:
        """Tell whether the file begins with its header, and chains and lumps without a field lie as readers ask."""
        for part in (self.root, *(part for parts in self.parts.values() for part in parts)):
            for parts in part.chains.values():
                if any(self.offsets[b.key] - self.offsets[a.key] < a.header.nbytes for a, b in pairwise(parts)):
                    return False
            for number, lump in part.kind.lumps:
                begin = self.offsets.get(part.key + number)
                if isinstance(lump.offset, int) and begin not in (None, self.offsets[part.key] + lump.offset):
                    return False
        return self.offsets[0] == 0

    def begin(self, chain: str, index: int, lump: str) -> int:
        """Return the offset of a lump of a part, which is not empty."""
        part = self.parts[chain][index]
        names = [member.name for member in part.kind.members]
        return self.offsets[part.key + 1 + names.index(lump)]

    def data(self) -> bytes:
        """Return the file."""
        self._fill(self.root)
        # What is empty and new claims to lie where the next lump does, or the file ends.
        header, lump, chain = self.root.header, self.size, self.size - len(self._plan.tail)
        for number, member in reversed(list(enumerate(self.file.members, 1))):
            begin = self.offsets.get(self.root.first(number))
            if isinstance(member, Chain):
                chain = begin if begin is not None else self._plan.empty.get(number, chain)
                header[member.offset] = chain
            elif begin is None and isinstance(member.offset, str):
                header[member.offset] = self._plan.empty.get(number, lump)
            lump = lump if begin is None else begin
        header[self.file.end] = _as_int32(self.size + self._ends[0])
        return assemble(self.lumps, self._plan)

    def _fill(self, part: _Part) -> int:
        """Write a part's offsets into its header, and those of the parts on it; return where it ends."""
        start = self.offsets[part.key]
        place = end = start + part.header.nbytes
        for number, member in enumerate(part.kind.members, 1):
            begin = self.offsets.get(part.first(number))
            if isinstance(member.offset, str):  # what is empty and new claims to lie behind the lump before it
                offset = self._plan.empty.get(part.key + number, place - start) if begin is None else begin - start
                part.header[member.offset] = offset
            if begin is not None and isinstance(member, Chain):
                place = self._fill_chain(member, part.chains[number])
            elif begin is not None:
                place = begin + self.sizes[part.key + number]
            end = max(end, place)
        return end

    def _fill_chain(self, chain: Chain, parts: list[_Part]) -> int:
        """Write the headers of a chain's parts; return where the last one ends."""
        written, off = self._ends[1:3] if chain.keeps_end else (0, 0)
        for part, following in zip(parts, [*parts[1:], None], strict=True):
            start, end = self.offsets[part.key], self._fill(part)
            # The last one's is as far off the truth as the source's was.
            last = _as_int32(written if written <= 0 and off else end - start + off)
            part.header[chain.end] = last if following is None else self.offsets[following.key] - start
            if chain.back:
                part.header[chain.back] = -start
        return end


def _as_int32(value: int) -> int:
    return min(max(value, -(2**31)), 2**31 - 1)
