"""LWO: LightWave's objects, of which Doom 3 and map compilers read points, polygons, vertex maps and surfaces.

    "FORM" size "LWO2"  chunks, each: four letters, size (32 bits), data, and a byte more where the size is odd

| chunk | data |
| --- | --- |
| TAGS | names |
| LAYR | number, flags (16 bits each), pivot (3 floats), name, parent (16 bits, may be missing) |
| PNTS | points, 3 floats each |
| BBOX | least and largest coordinates of the points |
| VMAP | kind (TXUV, RGBA ...), floats of a row (16 bits), name, rows: point, floats |
| VMAD | the same with rows: point, polygon, floats; for one corner of a polygon instead of all |
| POLS | kind (FACE ...), polygons: number of corners (ten bits of 16), points |
| PTAG | kind (SURF, PART, SMGP ...), rows: polygon, tag |
| SURF | name, name of its source, chunks with sizes of 16 bits: COLR, SMAN (angle in radians) ... |

All is big-endian; see `numbers`. LWOB, the format before, has SRFS in the place of TAGS, polygons that name their
surfaces (from 1 on), no LAYR, VMAP and PTAG, and a flag (4) for a smoothing angle of 89.5 degrees.

What engines read (dhewm3's `Model_lwo.cpp`, and `ConvertLWOToModelSurfaces` in its `Model.cpp`; GtkRadiant's and so
q3map2's picomodel, `pm_lwo.c` and `lwo/`, which are the same loader by LightWave's makers):

- Chunks up to the size of the FORM; what lies behind is nobody's. Chunks that they don't know are skipped.
- The first layer alone. What precedes the first LAYR is part of it. Of its pivot, nothing.
- Polygons of three corners alone; Doom 3 of any kind, picomodel of kind FACE.
- PTAG counts polygons from the POLS before it on; VMAD, in spite of LightWave's own rule, all in the layer. Tags are
  counted from those of the last TAGS on. A polygon without a row in a PTAG SURF has tag 0.
- A polygon's surface is the first SURF that is called as its tag. Without any TAGS both crash, as at an empty name.
- The last TXUV that has a row for a corner's point counts, whatever its name, then the last that has one for the
  corner; of several corners of a polygon at one point, for the first. Doom 3 takes the first row of all for corners
  without, picomodel a projection.
- A second PNTS in a layer overwrites the points of the first: refused here.

Nothing is left out of the struct: the bytes are kept, and every chunk that means something knows where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from .numbers import (
    CutError,
    Ints,
    floats_at,
    name_at,
    old_polygons_at,
    polygons_at,
    rows_at,
)

FORM, LWO2, LWOB = b"FORM", b"LWO2", b"LWOB"
FACES = (b"FACE", b"PTCH", b"SUBD")  # polygons that are surfaces, and no curves or bones
LARGEST = 1e9  # a coordinate, which is more than any map
SMOOTH_FLAG, SMOOTH_OLD = 4, 1.56207  # of an LWOB (`lwGetSurface5`, dhewm3)
GREY = (0.78431, 0.78431, 0.78431)  # `lwDefaultSurface`


@dataclass(eq=False)
class Chunk:
    """A chunk: where it begins, where its data do, where these end, and where the next one begins."""

    ident: bytes
    start: int
    data: int
    end: int
    stop: int


@dataclass(eq=False)
class Polygons:
    """The polygons of a POLS: n of them."""

    chunk: int
    kind: bytes
    first: int  # its first polygon, among those of the layer
    heads: Ints  # (n,) flags and count
    counts: Ints  # (n,)
    corners: Ints  # (sum of counts,) points


@dataclass(eq=False)
class VertexMap:
    """The rows of a VMAP, or VMAD: n of them."""

    chunk: int
    kind: bytes
    name: bytes
    width: int  # floats of a row
    points: Ints  # (n,)
    polygons: Ints | None  # (n,) of a VMAD, among those of the layer
    places: Ints  # (n,) where the floats of each row begin in the file


@dataclass(eq=False)
class PolygonTags:
    """The rows of a PTAG: n of them."""

    chunk: int
    kind: bytes
    list: int  # of polygons, from whose first one its rows count
    first_tag: int  # from which its tags count
    polygons: Ints  # (n,) among those of the layer
    tags: Ints  # (n,) among those of the file


@dataclass(eq=False)
class Layer:
    """A layer: P points, N polygons."""

    name: bytes = b""
    points_chunk: int | None = None
    box_chunk: int | None = None
    points: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 3), np.float32))  # (P, 3)
    lists: list[Polygons] = field(default_factory=list)
    maps: list[VertexMap] = field(default_factory=list)
    tags: list[PolygonTags] = field(default_factory=list)
    surfaces: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (N,) the tag of each polygon's surface

    @property
    def last_chunk(self) -> int | None:
        """Return the chunk that is the layer's last, by number; None where there is none."""
        own = [each.chunk for kind in (self.lists, self.maps, self.tags) for each in kind]
        return max([n for n in (self.points_chunk, self.box_chunk, *own) if n is not None], default=None)

    @property
    def num_polygons(self) -> int:
        """Return N."""
        return sum(len(each.heads) for each in self.lists)

    @property
    def counts(self) -> Ints:
        """Return how many corners polygons have, (N,)."""
        return np.concatenate([np.zeros(0, np.int64), *(each.counts for each in self.lists)])

    @property
    def corners(self) -> Ints:
        """Return the points of all corners, (sum of counts,)."""
        return np.concatenate([np.zeros(0, np.int64), *(each.corners for each in self.lists)])

    def tags_of(self, kind: bytes, missing: int) -> Ints:
        """Return the tags of some kind that polygons have, (N,)."""
        found = np.full(self.num_polygons, missing, np.int64)
        for each in self.tags:
            if each.kind == kind:
                found[each.polygons] = each.tags
        return found


@dataclass(eq=False)
class Surf:
    """A SURF."""

    chunk: int
    name: bytes
    smooth: float = 0.0  # radians
    smooth_place: int | None = None  # where this stands in the file
    color: tuple[float, ...] = GREY


@dataclass(eq=False)
class Lwo:
    """A file: its bytes, and what is in it."""

    data: bytes
    kind: bytes = LWO2
    chunks: list[Chunk] = field(default_factory=list)
    tags: list[bytes] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=lambda: [Layer()])
    surfs: list[Surf] = field(default_factory=list)

    @property
    def tail(self) -> NDArray[np.uint8]:
        """Return the bytes behind the last chunk, which are nobody's."""
        return np.frombuffer(self.data, np.uint8)[self.chunks[-1].stop if self.chunks else 12 :]


def read(data: bytes) -> Lwo:
    """Read a file.

    Raises:
        FormatError: it is no LWO, ends too early, or its rows contradict its lists; the byte is named.
    """
    return _Reader(data).file()


def write(lwo: Lwo) -> bytes:
    """Return the file of an LWO; inverse of `read`."""
    return lwo.data


class _Reader:
    """A file that is read chunk by chunk."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lwo = Lwo(data)
        self.layer = self.lwo.layers[0]
        self.layers = 0  # LAYR chunks so far
        self.first_tag = 0  # of the last TAGS

    def fail(self, what: str, place: int, expected: object = "", found: object = "") -> NoReturn:
        """Raise a FormatError that names a byte."""
        raise FormatError(what, f"byte {place}", expected, found)

    def number(self, place: int, size: int = 4) -> int:
        """Return the whole number at a place that is known to be in the file."""
        return int.from_bytes(self.data[place : place + size], "big")

    def real(self, place: int) -> float:
        """Return the float at a place that is known to be in the file, 0 for what is no number."""
        value = float(floats_at(self.data, np.array([place]), 1)[0, 0])
        return value if np.isfinite(value) else 0.0

    def file(self) -> Lwo:
        """Return all."""
        data = self.data
        if data[:4] != FORM:
            self.fail("not an LWO file", 0, "FORM", quoted(data[:4]))
        if data[8:12] not in (LWO2, LWOB):
            self.fail("not an LWO file", 8, "LWO2 or LWOB", quoted(data[8:12]))
        self.lwo.kind = data[8:12]
        end, place = 8 + self.number(4), 12
        if end > len(data):
            self.fail("the file ends too early", 4, f"{end} bytes", len(data))
        readers = {
            LWO2: {
                b"TAGS": self.tags, b"LAYR": self.new_layer, b"PNTS": self.points, b"BBOX": self.box,
                b"VMAP": self.map, b"VMAD": self.map, b"POLS": self.polygons, b"PTAG": self.polygon_tags,
                b"SURF": self.surf,
            },
            LWOB: {b"SRFS": self.tags, b"PNTS": self.points, b"POLS": self.polygons, b"SURF": self.surf},
        }[self.lwo.kind]  # fmt: skip
        while place < end:
            chunk = self.chunk(place)
            self.lwo.chunks.append(chunk)
            reader = readers.get(chunk.ident)
            if reader is not None:
                try:
                    reader(chunk)
                except CutError as error:
                    self.fail(f"{quoted(chunk.ident)} ends within a row", error.place, "", "")
            place = chunk.stop
        for layer in self.lwo.layers:
            self.check(layer)
        return self.lwo

    def chunk(self, place: int) -> Chunk:
        """Return the chunk that begins at a place; raises FormatError."""
        if place + 8 > len(self.data):
            self.fail("the file ends too early", place, "a chunk", f"{len(self.data) - place} bytes")
        ident, size = self.data[place : place + 4], self.number(place + 4)
        end = place + 8 + size
        if end > len(self.data):
            self.fail(f"{quoted(ident)} runs past the end of the file", place, f"{len(self.data)} bytes at most", end)
        return Chunk(ident, place, place + 8, end, min(end + (size & 1), len(self.data)))

    @property
    def here(self) -> int:
        """Return the index of the chunk that is read."""
        return len(self.lwo.chunks) - 1

    def tags(self, chunk: Chunk) -> None:
        """Read names."""
        self.first_tag, place = len(self.lwo.tags), chunk.data
        while place < chunk.end:
            name, place = name_at(self.data, place, chunk.end)
            self.lwo.tags.append(name)

    def new_layer(self, chunk: Chunk) -> None:
        """Read the head of a layer."""
        if chunk.end - chunk.data < 18:
            raise CutError(chunk.data)
        if self.layers:
            self.layer = Layer()
            self.lwo.layers.append(self.layer)
        self.layers += 1
        self.layer.name = name_at(self.data, chunk.data + 16, chunk.end)[0]

    def points(self, chunk: Chunk) -> None:
        """Read a layer's points."""
        if self.layer.points_chunk is not None:
            self.fail("a second PNTS in a layer, which games mix up with the first", chunk.start)
        count, rest = divmod(chunk.end - chunk.data, 12)
        if rest:
            raise CutError(chunk.end - rest)
        found = np.frombuffer(self.data, ">f4", 3 * count, chunk.data).astype(np.float32).reshape(-1, 3)
        wrong = np.flatnonzero(~(np.abs(found) <= LARGEST).all(axis=1))
        if len(wrong):
            place = chunk.data + 12 * int(wrong[0])
            self.fail("a point that is nowhere", place, f"numbers within {LARGEST:g}", found[wrong[0]].tolist())
        self.layer.points, self.layer.points_chunk = found, self.here

    def box(self, chunk: Chunk) -> None:
        """Note where the bounds of a layer stand."""
        if chunk.end - chunk.data < 24:
            raise CutError(chunk.data)
        self.layer.box_chunk = self.here

    def map(self, chunk: Chunk) -> None:
        """Read a vertex map."""
        if chunk.end - chunk.data < 8:
            raise CutError(chunk.data)
        kind, width = self.data[chunk.data : chunk.data + 4], self.number(chunk.data + 4, 2)
        name, place = name_at(self.data, chunk.data + 6, chunk.end)
        of_corners = chunk.ident == b"VMAD"
        rows, places = rows_at(self.data, place, chunk.end, 2 if of_corners else 1, width)
        polygons = rows[:, 1] if of_corners else None
        self.layer.maps.append(VertexMap(self.here, kind, name, width, rows[:, 0], polygons, places))

    def polygons(self, chunk: Chunk) -> None:
        """Read polygons."""
        first = self.layer.num_polygons
        if self.lwo.kind == LWOB:
            counts, corners, surfaces = old_polygons_at(self.data, chunk.data, chunk.end)
            self.layer.lists.append(Polygons(self.here, FACES[0], first, counts, counts, corners))
            self.layer.surfaces = np.concatenate((self.layer.surfaces, surfaces))
            return
        if chunk.end - chunk.data < 4:
            raise CutError(chunk.data)
        kind = self.data[chunk.data : chunk.data + 4]
        found = polygons_at(self.data, chunk.data + 4, chunk.end)
        self.layer.lists.append(Polygons(self.here, kind, first, *found))

    def polygon_tags(self, chunk: Chunk) -> None:
        """Read the tags of polygons."""
        if chunk.end - chunk.data < 4:
            raise CutError(chunk.data)
        kind, lists = self.data[chunk.data : chunk.data + 4], self.layer.lists
        rows, _ = rows_at(self.data, chunk.data + 4, chunk.end, 2, 0)
        first = lists[-1].first if lists else 0
        polygons, tags = first + rows[:, 0], self.first_tag + rows[:, 1]
        if polygons.size and int(polygons.max()) >= self.layer.num_polygons:
            self.fail(
                "a tag of a polygon that is missing", chunk.start, f"below {len(self.layer.counts)}", polygons.max()
            )
        self.layer.tags.append(PolygonTags(self.here, kind, len(lists) - 1, self.first_tag, polygons, tags))

    def surf(self, chunk: Chunk) -> None:
        """Read of a surface what games show."""
        name, place = name_at(self.data, chunk.data, chunk.end)
        found = Surf(self.here, name)
        if self.lwo.kind == LWO2:
            _, place = name_at(self.data, place, chunk.end)
        while place + 6 <= chunk.end:
            ident, size = self.data[place : place + 4], self.number(place + 4, 2)
            place += 6
            if place + size > chunk.end:
                self.fail(f"{quoted(ident)} runs past the end of its SURF", place - 6, chunk.end - place, size)
            self.property(found, ident, place, size)
            place += size + (size & 1)
        self.lwo.surfs.append(found)

    def property(self, surf: Surf, ident: bytes, place: int, size: int) -> None:
        """Read a chunk of a surface."""
        if ident == b"SMAN" and size >= 4:
            surf.smooth, surf.smooth_place = self.real(place), place
        elif ident == b"FLAG" and size >= 2 and self.lwo.kind == LWOB and self.number(place, 2) & SMOOTH_FLAG:
            surf.smooth = SMOOTH_OLD
        elif ident == b"COLR" and self.lwo.kind == LWOB and size >= 3:
            surf.color = tuple(byte / 255 for byte in self.data[place : place + 3])
        elif ident == b"COLR" and self.lwo.kind == LWO2 and size >= 12:
            surf.color = tuple(self.real(place + 4 * i) for i in range(3))

    def check(self, layer: Layer) -> None:
        """Refuse a layer whose rows name what it has not."""
        for each in layer.lists:
            self.in_range(each.corners, len(layer.points), each.chunk, "a polygon names a point")
        for vmap in layer.maps:
            self.in_range(vmap.points, len(layer.points), vmap.chunk, "a vertex map names a point")
            if vmap.polygons is not None:
                self.in_range(vmap.polygons, layer.num_polygons, vmap.chunk, "a vertex map names a polygon")
        if self.lwo.kind == LWO2:
            layer.surfaces = layer.tags_of(b"SURF", 0)
        tagged = max(len(self.lwo.tags), 1)  # a file without any is shown, with a word
        if layer.lists:
            self.in_range(layer.surfaces, tagged, layer.lists[0].chunk, "a polygon has a surface")

    def in_range(self, values: Ints, limit: int, chunk: int, what: str) -> None:
        """Refuse indices (n,) that are not 0 to `limit` - 1."""
        wrong = np.flatnonzero((values < 0) | (values >= limit))
        if len(wrong):
            place = self.lwo.chunks[chunk].start
            self.fail(f"{what} that is missing", place, f"0 to {limit - 1}", int(values[wrong[0]]))


def quoted(raw: bytes) -> str:
    """Return some bytes as a message shows them."""
    return repr(raw)[1:]
