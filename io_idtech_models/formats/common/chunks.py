"""Binary files declared as data: a header, the lumps that it points to, and chains of parts that are made alike.

A lump is an array whose offset and lengths stand in a header. A chain is a row of parts, each a header with lumps (and
chains) of its own, which lie where its fields say from its start, and the next part at its `end`. A codec declares its
file as a `File`; `read` and `write` do the rest: bounds, offsets, the source's order of lumps.

Structs are the codec's dataclasses: a `header`, an attribute for each lump and chain, and of the whole file a `layout`
(see `survey`) and for each chain `source_NAME`, which of the source's parts each one was, -1 for none. Parts of a chain
that lies in others are numbered through the file.

**Layout.** A file is a set of lumps (header, frames, tags, each surface's header and arrays), addressed by offsets, in
any order, with any bytes between them. `survey` describes that as small arrays that travel as a hint, so that an
unchanged model gives the same bytes; `assemble` lays lumps out again, wherever the hint still applies, even when lumps
have grown, gone or are new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...reporting import FormatError
from .records import Array, decode_name, place_of, raw_bytes, take

Header = Any  # a record of one of the codec's dtypes
Struct = TypeVar("Struct")
FILE = "file."  # before a field of the file's header, where a part's own is not meant
MAX_PARTS = 1 << 20  # in the numbering of lumps: more parts than a file can have
Arrays = dict[str, NDArray[Any]]
EMPTY: NDArray[np.uint8] = np.zeros(0, np.uint8)


@dataclass(eq=False)
class Place:
    """A header in a file that is being read; what it points to lies so and so far from its start."""

    data: bytes
    header: Header
    start: int
    index: int  # among the parts of its chain
    of: str  # of which part an error speaks: " of surface 0 'name'"
    file: Place | None = None  # of the file's own header
    sums: Counter[str] = field(default_factory=Counter)  # what checks add up over the whole file

    def __post_init__(self) -> None:
        """Take the header apart once: single fields of records are slow."""
        self._numbers: dict[str, Any] = dict(zip(self.header.dtype.names, self.header.item(), strict=True))

    def number(self, name: str) -> int:
        """Return the whole number in a field of the header, or of the file's."""
        if self.file is not None and name.startswith(FILE):
            return self.file.number(name.removeprefix(FILE))
        found: int = self._numbers[name]
        return found


@dataclass(frozen=True, eq=False)
class Lump:
    """An array of one shape. A codec that has another kind of lump derives a class that takes and packs it."""

    name: str  # the struct's attribute
    dtype: DTypeLike | Callable[[Header], DTypeLike]  # of what kind of header it depends
    shape: tuple[str | int, ...]  # numbers, and fields that hold them
    called: str = ""  # in errors; else as its name
    offset: str | int = ""  # the field that holds it, else ofs_NAME; or itself, of a lump without a field
    last: bool = False  # it is read after all others

    def __post_init__(self) -> None:
        """Name what is called as usual."""
        object.__setattr__(self, "called", self.called or self.name)
        object.__setattr__(self, "offset", self.offset or f"ofs_{self.name}")

    def begin(self, place: Place) -> int:
        """Return its offset, in the file."""
        return place.start + (self.offset if isinstance(self.offset, int) else place.number(self.offset))

    def taken(self, place: Place, offset: int) -> dict[str, Array]:
        """Return what a file has at an offset, by attributes of the struct; raises FormatError."""
        dtype = self.dtype(place.header) if callable(self.dtype) else self.dtype
        shape = tuple([n if isinstance(n, int) else place.number(n) for n in self.shape])
        return {self.name: take(place.data, dtype, shape, offset, self.called + place.of)}

    def packed(self, struct: Any) -> NDArray[np.uint8]:
        """Return a struct's bytes (n,); inverse of `taken`."""
        return raw_bytes(getattr(struct, self.name))

    def count(self, header: Header, struct: Any) -> None:
        """Write into a header the lengths that its fields hold."""
        for name, length in zip(self.shape, getattr(struct, self.name).shape, strict=True):
            if isinstance(name, str) and not name.startswith(FILE):
                header[name] = length


@dataclass(frozen=True, eq=False)
class Kind:
    """What a file and the parts of chains have in common."""

    struct: Callable[..., Any]  # of a header, lumps and chains by name
    header: np.dtype[Any]
    members: tuple[Lump | Chain, ...]  # in the order that we write
    # Raises FormatError for what is wrong with lumps, given by the struct's attributes.
    check: Callable[[dict[str, Array], Place], None] | None = field(default=None, kw_only=True)
    end: str = field(default="ofs_end", kw_only=True)  # field that holds where it ends, from its start

    @cached_property
    def width(self) -> int:
        """Return how many numbers its lumps take in the layout: first the header's, then those of the members."""
        return 1 + len(self.members)

    @cached_property
    def lumps(self) -> list[tuple[int, Lump]]:
        """Return the lumps in the order in which they are read, each with its number."""
        found = [(number, member) for number, member in enumerate(self.members, 1) if isinstance(member, Lump)]
        return sorted(found, key=lambda pair: pair[1].last)

    @cached_property
    def chains(self) -> list[tuple[int, Chain]]:
        """Return the chains, each with the number that stands for it where it has no part."""
        return [(number, member) for number, member in enumerate(self.members, 1) if isinstance(member, Chain)]


@dataclass(frozen=True, eq=False)
class Chain(Kind):
    """Parts that follow one another, each at the end of the one before it; num_NAME and ofs_NAME say where."""

    name: str  # the struct's attribute, a list
    called: str  # one of them, in errors
    heading: str = "header of "  # before that, in errors that speak of a header
    back: str = ""  # field that holds minus the part's place in the file
    most: int = 0  # parts; 0: any number
    keeps_end: bool = False  # nobody looks at the last one's end: what the source has there is kept; of one chain only

    @cached_property
    def count(self) -> str:
        """Return the field that holds how many there are."""
        return f"num_{self.name}"

    @cached_property
    def offset(self) -> str:
        """Return the field that holds where the first begins."""
        return f"ofs_{self.name}"


@dataclass(frozen=True, eq=False)
class File(Kind, Generic[Struct]):
    """A whole file."""

    struct: Callable[..., Struct]
    label: str  # in errors
    ident: bytes
    version: int
    needs_frames: bool = False  # num_frames is 1 or more
    any_ident: bool = False  # no game looks at it
    may_lack_end: bool = False  # some writers leave the header's last field out: there a lump begins in its place

    @cached_property
    def all_chains(self) -> list[tuple[int, Chain]]:
        """Return all chains, those within others behind them, and the layout's number of the first part's header."""
        kinds: list[Kind] = [self]
        found, first = [], self.width
        while kinds:
            for _, chain in kinds.pop(0).chains:
                found.append((first, chain))
                kinds.append(chain)
                first += chain.width * MAX_PARTS
        return found


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
class LayoutPlan:
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


def plan_layout(default_order: list[int], sizes: dict[int, int], hint: Arrays, renamed: dict[int, int]) -> LayoutPlan:
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
    return LayoutPlan(order, gaps, empty, hint["layout_tail"].tobytes() if hint else b"")


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


def assemble(lumps: Mapping[int, Any], layout: LayoutPlan) -> bytes:
    """Return the file: every lump, bytes or an array of these, in its place, the gaps filled."""
    pieces = [piece for key in layout.order for piece in (layout.gaps[key], lumps[key])]
    return b"".join([*pieces, layout.tail])


def read(file: File[Struct], data: bytes) -> Struct:
    """Return a file's structs; inverse of `write`.

    Raises:
        FormatError: the file is of another kind or version, is cut off, or its counts and offsets contradict it.
    """
    first = bytes(data[: len(file.ident)])  # before the length: what is no such file at all is not cut off
    if first != file.ident and not file.any_ident:
        raise FormatError(f"not an {file.label} file", "byte 0", file.ident.decode(), repr(first)[1:])
    header = take(data, file.header, (1,), 0, "header")[0]
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
        count, offset = place.number(chain.count), place.number(chain.offset)
        byte = f"byte {place.start + place_of(place.header.dtype, chain.count)}"
        if count < 0 and not chain.most:
            raise FormatError(f"negative number of {chain.name}", byte, "0 or more", count)
        if chain.most and not 0 <= count <= chain.most:
            raise FormatError(chain.count, byte, f"0 to {chain.most}", count)
        start, parts = place.start + offset, []
        for index in range(count):
            header = take(self.data, chain.header, (1,), start, f"{chain.heading}{chain.called} {index}")[0]
            name = f" '{decode_name(header['name'])}'" if "name" in (chain.header.names or ()) else ""
            of = f" of {chain.called} {index}{name}{place.of}"
            own = Place(self.data, header, start, index, of, place.file or place, place.sums)
            mark = len(self.pieces)
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


def write(file: File[Struct], struct: Struct) -> bytes:
    """Return the file of structs; inverse of `read`, byte for byte while the layout's hint applies."""
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
            known, own = self.parts[chain.name], part.chains.setdefault(number, [])
            for one in getattr(struct, chain.name):
                own.append(self._add(chain, one, self._firsts[chain.name] + len(known) * chain.width))
                known.append(own[-1])
            part.header[chain.count] = len(own)
        return part

    def _renamed(self, struct: Any) -> dict[int, int]:
        """Return the present number of every lump of the source."""
        renamed = {key: key for key in range(self.file.width)}
        for first, chain in self.file.all_chains:
            for new, old in enumerate(getattr(struct, f"source_{chain.name}")):
                before, now = first + old * chain.width, first + new * chain.width
                renamed |= {before + i: now + i for i in range(chain.width) if old >= 0}
        return renamed

    def _lay_out(self, hint: Arrays, renamed: dict[int, int]) -> None:
        self._plan = plan_layout(list(self.lumps), self.sizes, hint, renamed)
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
