"""Binary files declared as data: a header, the lumps that it points to, and chains of parts that are made alike.

A lump is an array whose offset and lengths stand in a header. A chain is a row of parts, each a header with lumps (and
chains) of its own, which lie where its fields say from its start, and the next part at its `end`. A codec declares its
file as a `File`; `reader.read` and `writer.write` do the rest: bounds, offsets, the source's order of lumps.

Structs are the codec's dataclasses: a `header`, an attribute for each lump and chain, and of the whole file a `layout`
(see `layout.survey`) and for each chain `source_NAME`, which of the source's parts each one was, -1 for none. Parts of
a chain that lies in others are numbered through the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .records import Array, raw_bytes, take

Header = Any  # a record of one of the codec's dtypes
Struct = TypeVar("Struct")
FILE = "file."  # before a field of the file's header, where a part's own is not meant
MAX_PARTS = 1 << 20  # in the numbering of lumps: more parts than a file can have


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

    @property
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

    @property
    def count(self) -> str:
        """Return the field that holds how many there are."""
        return f"num_{self.name}"

    @property
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
