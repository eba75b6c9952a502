"""The first layer of an LWO written anew: some polygons go, some come, and every other chunk stays as it was.

Points, polygons and rows of maps that stay keep their order and their floats, bit by bit. A point goes that only
polygons had which go. Rows of a new point, corner or polygon that was one of the file's are the old one's.

Doom 3 refuses a PNTS, POLS, VMAP or VMAD without rows (`getbytes`, dhewm3's `Model_lwo.cpp`): such a one is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .file import LWO2, Chunk, Layer, Lwo, Polygons, PolygonTags, VertexMap
from .numbers import Ints, chunk, floats_at, packed_name, packed_polygons, packed_rows
from .parts import COLORS, MAP_NAME, NONE, UVS

COLORS_NAME = b"Color"
SURF_TAGS, PART_TAGS = b"SURF", b"PART"
Floats = NDArray[np.float32]
EMPTY = LWO2 + chunk(b"LAYR", bytes(18))
SKELETON = b"FORM" + len(EMPTY).to_bytes(4, "big") + EMPTY  # of a new file


@dataclass(eq=False)
class NewPolygons:
    """Triangles of a surface: T of them, at n new points and some old ones."""

    points: Floats  # (n, 3) of the new points, as the file has them
    origins: Ints  # (n,) the old point that each new one was; NONE
    uvs: Floats  # (n, 2) of the new points
    corners: Ints  # (T, 3), old points by their numbers, new ones behind these
    owners: Ints  # (T,) the old polygon that each triangle was, or was of; NONE
    corner_uvs: Floats  # (T, 3, 2)
    mapped: NDArray[np.bool_]  # (T, 3) corners that have not the texture coordinates of their points
    surface: int  # tag
    tag: int  # of its PART; NONE
    colors: Floats | None = None  # (n, 4) of the new points; None: those that were there, if any


@dataclass(eq=False)
class LayerEdit:
    """What of the first layer of a file changes: P points, N polygons."""

    lwo: Lwo
    data: bytes  # of the file, with changed floats already in
    kept: NDArray[np.bool_]  # (N,) polygons that stay
    surfaces: Ints  # (N,) tags of all polygons
    tags: Ints  # (N,) PART tags of all polygons; NONE
    new: list[NewPolygons] = field(default_factory=list)
    new_names: list[bytes] = field(default_factory=list)  # tags behind those of the file
    surfs: dict[int, bytes | None] = field(default_factory=dict)  # data of SURFs by their chunks; None: it goes
    new_surfs: list[bytes] = field(default_factory=list)  # data of new ones
    box: bool = False  # it is made anew, even if no polygon goes or comes
    polygon_numbers: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (N,) in the `result`; NONE

    @property
    def layer(self) -> Layer:
        """Return the layer."""
        return self.lwo.layers[0]

    def result(self) -> bytes:
        """Return the file."""
        rebuilt = _Rebuilt(self)
        self.polygon_numbers = rebuilt.polygon_numbers
        return rebuilt.file()


class _Rebuilt:
    """The chunks of an edited layer."""

    def __init__(self, edit: LayerEdit) -> None:
        self.edit, self.lwo, self.layer, self.data = edit, edit.lwo, edit.layer, edit.data
        layer = self.layer
        self.counts, self.corners = layer.counts, layer.corners
        self._number_points()
        self._number_polygons()
        self.changed: dict[int, bytes] = {}  # whole chunks by their index; b"" of those that go
        self.after: dict[int, list[bytes]] = {}  # new chunks, by the chunk that they follow; -1: first

    def _number_points(self) -> None:
        """Find which points stay, and the numbers of all."""
        edit, count = self.edit, len(self.layer.points)
        before, after = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        before[self.corners] = True
        after[self.corners[np.repeat(edit.kept, self.counts)]] = True
        for each in edit.new:
            after[each.corners[each.corners < count]] = True
        self.stay = after | ~before
        self.point_numbers = np.where(self.stay, np.cumsum(self.stay) - 1, NONE)
        total, self.new_corners, self.new_points = int(self.stay.sum()), [], []
        for each in edit.new:
            numbers = np.concatenate((self.point_numbers, total + np.arange(len(each.points))))
            self.new_corners.append(numbers[each.corners].reshape(-1, 3))
            self.new_points.append(total + np.arange(len(each.points)))
            total += len(each.points)

    def _number_polygons(self) -> None:
        """Find the numbers of all polygons: new ones come behind those of the last POLS FACE."""
        lists = self.layer.lists
        faces = [number for number, each in enumerate(lists) if each.kind == b"FACE"]
        self.home = faces[-1] if faces else len(lists)
        self.polygon_numbers = np.full(len(self.counts), NONE, np.int64)
        self.list_firsts, total, self.first_new = [], 0, 0
        for number in range(max(len(lists), self.home + 1)):
            self.list_firsts.append(total)
            if number < len(lists):
                own = np.arange(lists[number].first, lists[number].first + len(lists[number].heads))
                own = own[self.edit.kept[own]]
                self.polygon_numbers[own] = total + np.arange(len(own))
                total += len(own)
            if number == self.home:
                self.first_new = total
                total += sum(len(each.corners) for each in self.edit.new)

    def file(self) -> bytes:
        """Return the file."""
        edit = self.edit
        rebuilt = bool(edit.new) or not bool(edit.kept.all())
        if rebuilt:
            self._points()
        if rebuilt or edit.box:
            self._box()
        if rebuilt:
            self._polygons()
            self._maps()
        self._polygon_tags()
        self._names()
        for index, data in edit.surfs.items():
            self.changed[index] = b"" if data is None else chunk(b"SURF", data)
        last = len(self.lwo.chunks) - 1
        self.after.setdefault(last, []).extend(chunk(b"SURF", data) for data in edit.new_surfs)
        parts = list(self.after.get(-1, []) if last >= 0 else [])
        for index, each in enumerate(self.lwo.chunks):
            parts.append(self.changed.get(index, self._raw(each)))
            parts += self.after.get(index, [])
        if last < 0:
            parts += self.after.get(-1, [])
        body = self.data[8:12] + b"".join(parts)
        rest = self.data[self.lwo.chunks[-1].stop if self.lwo.chunks else 12 :]
        return self.data[:4] + len(body).to_bytes(4, "big") + body + rest

    def _raw(self, each: Chunk) -> bytes:
        """Return a chunk as it was, padded."""
        return self.data[each.start : each.end] + (
            self.data[each.end : each.stop] or b"\0" * (each.end - each.data & 1)
        )

    def _begin(self) -> int:
        """Return the chunk that the layer's points follow where it had none: its LAYR, else -1."""
        first = next((i for i, each in enumerate(self.lwo.chunks) if each.ident == b"LAYR"), -1)
        return first if self.layer.last_chunk is None else min(first, self.layer.last_chunk)

    def _points(self) -> None:
        """Write PNTS."""
        number = self.layer.points_chunk
        place = 0 if number is None else self.lwo.chunks[number].data
        old = np.frombuffer(self.data, np.uint8, 12 * len(self.layer.points), place).reshape(-1, 12)
        new = [np.ascontiguousarray(each.points, ">f4").view(np.uint8).reshape(-1, 12) for each in self.edit.new]
        data = np.concatenate([old[self.stay], *new]).tobytes()
        whole = chunk(b"PNTS", data) if data else b""
        if number is None:
            self.after.setdefault(self._begin(), []).append(whole)
        else:
            self.changed[number] = whole
        self.placed = np.frombuffer(data, ">f4").astype(np.float32).reshape(-1, 3)

    def _box(self) -> None:
        """Write BBOX, if there was one, or all is new."""
        layer = self.layer
        if not hasattr(self, "placed"):
            assert layer.points_chunk is not None
            place = self.lwo.chunks[layer.points_chunk].data
            self.placed = np.frombuffer(self.data, ">f4", 3 * len(layer.points), place).reshape(-1, 3)
        if not len(self.placed):
            return
        box = np.concatenate((self.placed.min(axis=0), self.placed.max(axis=0))).astype(">f4").tobytes()
        if layer.box_chunk is not None:
            own = self.lwo.chunks[layer.box_chunk]
            self.changed[layer.box_chunk] = chunk(b"BBOX", box + self.data[own.data + 24 : own.end])
        elif layer.points_chunk is None:
            self.after.setdefault(self._begin(), []).append(chunk(b"BBOX", box))

    def _polygons(self) -> None:
        """Write every POLS."""
        for number, each in enumerate(self.layer.lists):
            self.changed[each.chunk] = self._list(number, each)
        if self.home == len(self.layer.lists) and self.edit.new:
            self._place_maps()
            self.after.setdefault(self._last(), []).append(self._list(self.home, None))

    def _last(self) -> int:
        """Return the chunk that new chunks of the layer follow."""
        return self._begin() if self.layer.last_chunk is None else self.layer.last_chunk

    def _home_end(self) -> int:
        """Return the chunk that a map of corners follows: the last that tells of the list with new polygons."""
        if self.home == len(self.layer.lists):
            return self._last()
        own = [each.chunk for each in self.layer.tags if each.list == self.home]
        return max([self.layer.lists[self.home].chunk, *own])

    def _list(self, number: int, each: Polygons | None) -> bytes:
        """Return a POLS; `each` is what it was."""
        heads: Ints = np.zeros(0, np.int64)
        counts, corners = heads, heads
        if each is not None:
            kept = self.edit.kept[each.first : each.first + len(each.heads)]
            heads, counts = each.heads[kept], each.counts[kept]
            corners = self.point_numbers[each.corners[np.repeat(kept, each.counts)]]
        if number == self.home:
            new = [corners.ravel() for corners in self.new_corners]
            count = sum(len(corners) for corners in self.new_corners)
            heads, counts = (np.append(values, np.full(count, 3)) for values in (heads, counts))
            corners = np.concatenate([corners, *new])
        kind = b"FACE" if each is None else each.kind
        return chunk(b"POLS", kind + packed_polygons(heads, counts, corners)) if len(heads) else b""

    def _map_of(self, of_corners: bool, kind: bytes = UVS, width: int = 2) -> VertexMap | None:
        """Return the map whose texture coordinates, or colours, games take last."""
        found = [m for m in self.layer.maps if m.kind == kind and (m.polygons is not None) == of_corners]
        return found[-1] if found and found[-1].width == width else None

    def _maps(self) -> None:
        """Write every VMAP and VMAD."""
        target, corners, paint = self._map_of(False), self._map_of(True), self._map_of(False, COLORS, 4)
        if target is not None and corners is not None and corners.name != target.name:
            corners = None
        for each in self.layer.maps:
            more = [self._kept_rows(each), self._inherited(each, target)]
            for own, new in ((target, self._new_uvs), (corners, self._new_corner_rows), (paint, self._new_colors)):
                more += [new()] if each is own else []
            rows, floats = (np.concatenate([pair[i] for pair in more]) for i in range(2))
            chunk_of = self.lwo.chunks[each.chunk]
            head = self.data[chunk_of.data : chunk_of.data + 6] + packed_name(each.name)
            self.changed[each.chunk] = chunk(chunk_of.ident, head + packed_rows(rows, floats)) if len(rows) else b""
        if self.home < len(self.layer.lists):
            self._place_maps()
        if corners is None:
            rows, floats = self._new_corner_rows()
            name = MAP_NAME if target is None else target.name
            self.after.setdefault(self._home_end(), []).append(_map(b"VMAD", UVS, name, rows, floats))

    def _place_maps(self) -> None:
        """Write maps of points, of kinds of which there is none."""
        place = self._begin() if self.layer.points_chunk is None else self.layer.points_chunk
        parts = []
        if self._map_of(False) is None:
            parts.append(_map(b"VMAP", UVS, MAP_NAME, *self._new_uvs()))
        if self._map_of(False, COLORS, 4) is None:
            parts.append(_map(b"VMAP", COLORS, COLORS_NAME, *self._new_colors()))
        self.after.setdefault(place, []).extend(parts)

    def _kept_rows(self, each: VertexMap) -> tuple[Ints, Floats]:
        """Return the rows of a map that stay: indices (n, 1 or 2), floats (n, width)."""
        points = self.point_numbers[each.points]
        polygons = None if each.polygons is None else self.polygon_numbers[each.polygons]
        kept = points >= 0 if polygons is None else (points >= 0) & (polygons >= 0)
        columns = [points[kept]] if polygons is None else [points[kept], polygons[kept]]
        return np.stack(columns, axis=1), floats_at(self.data, each.places[kept], each.width)

    def _inherited(self, each: VertexMap, target: VertexMap | None) -> tuple[Ints, Floats]:
        """Return rows that new points and corners have of a map because they were some of the file's."""
        nothing = np.zeros((0, 1 if each.polygons is None else 2), np.int64), np.zeros((0, each.width), np.float32)
        if each is target or not self.edit.new or (each.kind == b"TXUV" and each.polygons is not None):
            return nothing
        count = len(self.layer.points)
        # What has new colours inherits none.
        parts = [_without_origins(p) if each.kind == COLORS and p.colors is not None else p for p in self.edit.new]
        origins = np.concatenate([part.origins for part in parts])
        if each.polygons is None:
            keys, wanted = each.points, origins
            numbers = np.concatenate(self.new_points)[:, None]
        else:
            # Of corners: which old point and polygon each was.
            keys = each.polygons * count + each.points
            old = [np.append(np.arange(count), p.origins)[p.corners] for p in parts]
            wanted = np.concatenate(
                [np.where((o >= 0) & (p.owners[:, None] >= 0), p.owners[:, None] * count + o, NONE).ravel()
                 for o, p in zip(old, parts, strict=True)]
            )  # fmt: skip
            polygons = self.first_new + np.repeat(np.arange(len(wanted) // 3), 3)
            numbers = np.stack((np.concatenate([c.ravel() for c in self.new_corners]), polygons), axis=1)
        which, rows = matching(keys, wanted)
        return (numbers[which], floats_at(self.data, each.places[rows], each.width)) if len(which) else nothing

    def _new_uvs(self) -> tuple[Ints, Floats]:
        """Return the rows of texture coordinates of new points."""
        empty = np.zeros((0, 2), np.float32)
        floats = np.concatenate([empty, *(each.uvs for each in self.edit.new)])
        return np.concatenate([np.zeros(0, np.int64), *self.new_points])[:, None], floats

    def _new_colors(self) -> tuple[Ints, Floats]:
        """Return the rows of colours of new points that have some."""
        pairs = [(n, e.colors) for n, e in zip(self.new_points, self.edit.new, strict=True) if e.colors is not None]
        floats = np.concatenate([np.zeros((0, 4), np.float32), *(colors for _, colors in pairs)])
        return np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _ in pairs)])[:, None], floats

    def _new_corner_rows(self) -> tuple[Ints, Floats]:
        """Return the rows of texture coordinates of new corners that have others than their points."""
        rows, polygon = [np.zeros((0, 2), np.int64)], self.first_new
        floats: list[Floats] = [np.zeros((0, 2), np.float32)]
        for each, corners in zip(self.edit.new, self.new_corners, strict=True):
            face, corner = np.nonzero(each.mapped)
            rows.append(np.stack((corners[face, corner], polygon + face), axis=1))
            floats.append(each.corner_uvs[face, corner])
            polygon += len(corners)
        return np.concatenate(rows), np.concatenate(floats)

    def _polygon_tags(self) -> None:
        """Write every PTAG."""
        missing = {(kind, number) for kind in (SURF_TAGS, PART_TAGS) for number in range(len(self.list_firsts))}
        for each in self.layer.tags:
            first = (each.kind, each.list) in missing
            missing.discard((each.kind, each.list))
            text = self._tag_rows(each.kind, each.list, each, first)
            own = self.lwo.chunks[each.chunk]
            if text != self.data[own.start : own.end] + b"\0" * (own.end - own.data & 1):
                self.changed[each.chunk] = text
        for kind, number in sorted(missing, key=lambda pair: (pair[1], pair[0] != SURF_TAGS)):
            text = self._tag_rows(kind, number, None, first=True)
            if text:
                lists = self.layer.lists
                place = lists[number].chunk if number < len(lists) else self._last()
                self.after.setdefault(place, []).append(text)

    def _tag_rows(self, kind: bytes, number: int, each: PolygonTags | None, first: bool) -> bytes:
        """Return a PTAG; `each` is what it was, `first` tells whether it is where new rows of its kind go."""
        edit, lists = self.edit, self.layer.lists
        polygons = np.zeros(0, np.int64) if each is None else each.polygons
        tags = np.zeros(0, np.int64) if each is None else each.tags
        now = {SURF_TAGS: edit.surfaces, PART_TAGS: edit.tags}.get(kind)
        if now is not None:
            before = self.layer.tags_of(kind, 0 if kind == SURF_TAGS else NONE)
            other = now[polygons] != before[polygons]
            tags = np.where(other, now[polygons], tags)
            if first and 0 <= number < len(lists):
                own = np.arange(lists[number].first, lists[number].first + len(lists[number].heads))
                late = own[(now[own] != before[own]) & ~np.isin(own, self._tagged(kind))]
                polygons, tags = np.append(polygons, late), np.append(tags, now[late])
        kept = edit.kept[polygons] & (tags >= 0)
        rows = np.stack((self.polygon_numbers[polygons[kept]], tags[kept]), axis=1)
        if number == self.home and first:
            rows = np.concatenate((rows, self._new_tags(kind)))
        elif number == self.home and each is not None and now is None:
            rows = np.concatenate((rows, self._inherited_tags(each)))
        first_list = self.list_firsts[number] if 0 <= number < len(self.list_firsts) else 0
        first_tag = 0 if each is None else each.first_tag
        rows = rows - np.array([first_list, first_tag if each is not None else self._last_first_tag()])
        return chunk(b"PTAG", kind + packed_rows(rows, np.zeros((len(rows), 0)))) if len(rows) else b""

    def _last_first_tag(self) -> int:
        """Return from which tag on a new PTAG counts."""
        return max((each.first_tag for each in self.layer.tags), default=0)

    def _tagged(self, kind: bytes) -> Ints:
        """Return the polygons that have a tag of some kind."""
        return np.concatenate([np.zeros(0, np.int64), *(t.polygons for t in self.layer.tags if t.kind == kind)])

    def _new_tags(self, kind: bytes) -> Ints:
        """Return the rows (n, 2) of new polygons."""
        rows, polygon = [np.zeros((0, 2), np.int64)], self.first_new
        for each in self.edit.new:
            tag = each.surface if kind == SURF_TAGS else each.tag
            numbers = polygon + np.arange(len(each.corners))
            if tag >= 0:
                rows.append(np.stack((numbers, np.full(len(numbers), tag)), axis=1))
            polygon += len(numbers)
        return np.concatenate(rows)

    def _inherited_tags(self, each: PolygonTags) -> Ints:
        """Return the rows (n, 2) of some kind that new polygons have because they were some of the file's."""
        if not self.edit.new:
            return np.zeros((0, 2), np.int64)
        which, rows = matching(each.polygons, np.concatenate([part.owners for part in self.edit.new]))
        return np.stack((self.first_new + which, each.tags[rows]), axis=1)

    def _names(self) -> None:
        """Write new tags behind those of the last TAGS."""
        names = b"".join(map(packed_name, self.edit.new_names))
        if not names:
            return
        index = max((i for i, each in enumerate(self.lwo.chunks) if each.ident == b"TAGS"), default=-1)
        if index >= 0:
            own = self.lwo.chunks[index]
            data = self.data[own.data : own.end]
            self.changed[index] = chunk(b"TAGS", data + b"\0" * (len(data) & 1) + names)
        else:
            self.after.setdefault(-1, []).insert(0, chunk(b"TAGS", names))


def _map(ident: bytes, kind: bytes, name: bytes, rows: Ints, floats: Floats) -> bytes:
    """Return a map; nothing without rows."""
    head = kind + floats.shape[1].to_bytes(2, "big") + packed_name(name)
    return chunk(ident, head + packed_rows(rows, floats)) if len(rows) else b""


def _without_origins(part: NewPolygons) -> NewPolygons:
    """Return polygons that were none of the file's."""
    origins, owners = np.full(len(part.origins), NONE), np.full(len(part.owners), NONE)
    return replace(part, origins=origins, owners=owners)


def matching(keys: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return which of the `wanted` (n,) are among the keys (m,), and for each of these the last such row."""
    if not len(keys) or not len(wanted):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    places = np.searchsorted(keys[order], wanted, side="right") - 1
    hit = np.flatnonzero((places >= 0) & (keys[order][np.maximum(places, 0)] == wanted) & (wanted >= 0))
    return hit, order[places[hit]]
