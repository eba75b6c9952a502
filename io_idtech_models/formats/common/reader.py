"""Reading of files that are declared as `chunks`, bounds-checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from ...reporting import FormatError
from .chunks import Chain, File, Kind, Place, Struct
from .layout import Piece, check_overlap, survey
from .records import decode_name, place_of, take


def read(file: File[Struct], data: bytes) -> Struct:
    """Return a file's structs; inverse of `writer.write`.

    Raises:
        FormatError: the file is of another kind or version, is cut off, or its counts and offsets contradict it.
    """
    header = take(data, file.header, (1,), 0, "header")[0]
    if header["ident"] != file.ident and not file.any_ident:
        raise FormatError(f"not an {file.label} file", "byte 0", file.ident.decode(), repr(bytes(header["ident"]))[1:])
    if header["version"] != file.version:
        raise FormatError(f"unsupported {file.label} version", "byte 4", file.version, header["version"])
    if file.needs_frames and header["num_frames"] < 1:
        place = f"byte {place_of(file.header, 'num_frames')}"
        raise FormatError("model without frames", place, "1 or more", int(header["num_frames"]))
    found: Struct = _Reader(file, data).file(Place(data, header, 0, 0, ""))
    return found


class _Reader:
    """What was found in a file so far."""

    def __init__(self, file: File[Any], data: bytes) -> None:
        self.declared, self.data = file, data
        self.pieces: list[Piece] = []
        self.absent: list[Piece] = []  # chains without parts
        self.total = 0  # bytes of pieces
        self.firsts = {chain.name: first for first, chain in file.all_chains}
        self.counts: Counter[str] = Counter()  # parts of each chain
        self.last_end = [0, 0]  # what the last part of the chain that keeps it has there, and how far that is off

    def file(self, place: Place) -> Any:
        """Return the structs of the whole file; raises FormatError."""
        found, kind = self.part(self.declared, place, 0), self.declared
        self.pieces.sort(key=lambda piece: piece.key)
        size = self.pieces[0].size
        ends = [place.number(kind.end) - len(self.data) if size == kind.header.itemsize else 0]
        ends += self.last_end if any(chain.keeps_end for _, chain in kind.chains) else []
        ends += [size] if kind.may_lack_end else []
        layout = survey(self.pieces + self.absent, self.data) | {"layout_ends": np.array(ends, np.int64)}
        return replace(found, layout=layout, **{f"source_{n}": list(range(self.counts[n])) for n in self.firsts})

    def part(self, kind: Kind, place: Place, key: int) -> Any:
        """Return the structs of a part whose header has this number in the layout; raises FormatError."""
        found: dict[str, Any] = {}
        own, size = [], kind.header.itemsize
        for number, lump in kind.lumps:
            offset = lump.begin(place)
            arrays = lump.taken(place, offset)
            length = sum(array.nbytes for array in arrays.values())
            # The offset of an empty lump is kept as written.
            own.append(Piece(key + number, offset if length else offset - place.start, length))
            found |= arrays
        if kind.check is not None:
            kind.check(found, place)
        if kind is self.declared and self.declared.may_lack_end:
            first = min((piece.offset for piece in own if piece.size), default=size)
            size = first if first == size - 4 else size
        own.append(Piece(key, place.start, size))
        self.pieces += own
        self.total = check_overlap(own, len(self.data), self.total)
        for number, chain in kind.chains:
            found[chain.name] = self.chain(chain, place, key + number)
        return kind.struct(header=place.header, **found)

    def chain(self, chain: Chain, place: Place, key: int) -> list[Any]:
        """Return the parts of a chain; `key` stands for it in the layout where it has none. Raises FormatError."""
        count, offset = _count(chain, place), place.number(chain.offset)
        start, parts = place.start + offset, []
        for index in range(count):
            own, mark = _part_at(chain, place, index, start), len(self.pieces)
            number = self.firsts[chain.name] + self.counts[chain.name] * chain.width
            self.counts[chain.name] += 1
            parts.append(self.part(chain, own, number))
            end = own.number(chain.end)
            if index + 1 < count and end < chain.header.itemsize:
                text = f"{chain.called} {index} ends inside its header"
                raise FormatError(text, f"byte {start}", chain.header.itemsize, end)
            if index + 1 == count and chain.keeps_end:
                true_end = max(piece.offset + piece.size for piece in self.pieces[mark:] if piece.size) - start
                self.last_end = [end, end - true_end]
            start += end
        if not parts:
            self.absent.append(Piece(key, offset, 0))
        return parts


def _count(chain: Chain, place: Place) -> int:
    """Return how many parts of a chain hang on a header; raises FormatError."""
    found, byte = place.number(chain.count), f"byte {place.start + place_of(place.header.dtype, chain.count)}"
    if found < 0 and not chain.most:
        raise FormatError(f"negative number of {chain.name}", byte, "0 or more", found)
    if chain.most and not 0 <= found <= chain.most:
        raise FormatError(chain.count, byte, f"0 to {chain.most}", found)
    return found


def _part_at(chain: Chain, place: Place, index: int, start: int) -> Place:
    """Return where a part begins; raises FormatError."""
    header = take(place.data, chain.header, (1,), start, f"{chain.heading}{chain.called} {index}")[0]
    name = f" '{decode_name(header['name'])}'" if "name" in (chain.header.names or ()) else ""
    of = f" of {chain.called} {index}{name}{place.of}"
    return Place(place.data, header, start, index, of, place.file or place, place.sums)
