"""Sets of texture coordinates of an LWO that is written: each by its name, beside the one that games draw.

A set is what maps of one name say. Games take the last row whatever its name, and a corner's (VMAD) before a point's
(VMAP): see `file`. So maps of further sets are written before those that are drawn, and where a further one has a row
for a corner the drawn one gets a row behind it.

What `writing` made has the drawn coordinates right; here each set gets the name and the rows that are wanted, row by
row: all others stay.

Letters in shapes: C corners of the layer's polygons, T triangles of a surface, R rows of a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...model.vertex import Surface
from .file import Chunk, Lwo, VertexMap, read
from .numbers import Ints, chunk, floats_at, packed_name, packed_rows, raw_name, shown_name
from .parts import MAP_NAME, NONE, UVS, Mapped, mapped, set_names

NEAR = 1e-6  # texture coordinates at a point that are no further apart are one
KEEP, DROP, WRITE = -1, 0, 1  # what is wanted of a set at a corner
KINDS = (b"VMAD", b"VMAP")  # maps of corners, and of points
Floats = NDArray[np.float32]


@dataclass(eq=False)
class WantedSets:
    """What a surface wants of sets."""

    surface: Surface
    old_name: str  # what its drawn set was called in the file, or is by default
    written_as: str  # what it is called now
    further: dict[str, Floats]  # (T, 3, 2)
    before: dict[str, Floats]  # (T, 3, 2) what the file said of them; NaN of new triangles
    rowless: dict[str, NDArray[np.bool_]]  # (T, 3) corners that have no row, and want none
    gone: set[str]  # sets that were deleted
    spots: Ints = field(init=False)  # (T, 3) corners of the layer as it is written

    @property
    def is_plain(self) -> bool:
        """Tell whether there is one set, called as it is now."""
        return not (self.further or self.gone) and self.name == self.written_as

    @property
    def name(self) -> str:
        """Return what the drawn set is to be called."""
        return self.surface.uv_name or self.old_name


def with_sets(lwo: Lwo, wanted: list[WantedSets]) -> Lwo:
    """Return a file with the sets that its surfaces want."""
    wanted = [each for each in wanted if each.spots.size]
    if all(each.is_plain for each in wanted):
        return lwo
    lwo = _renamed(lwo, wanted)
    names = [name for each in wanted for name in (*each.further, each.name)]
    drawn = {each.name for each in wanted}
    edit = _MapsEdit(lwo, drawn)
    for name in dict.fromkeys([*set_names(lwo.layers[0]), *names]):
        edit.write(name, *_at_corners(lwo, name, wanted))
    found = _in_order(edit.result(), wanted)
    if found is lwo:
        return lwo
    return _drawn_last(found, wanted, drawn)


def _at_corners(lwo: Lwo, name: str, wanted: list[WantedSets]) -> tuple[Ints, Floats]:
    """Return what is wanted of a set at all corners of the layer, (C,), and with which values, (C, 2).

    Of a set that is not wanted these are what is drawn there.
    """
    count = len(lwo.layers[0].corners)
    what, values = np.full(count, KEEP, np.int64), np.zeros((count, 2), np.float32)
    for each in wanted:
        spots = each.spots.ravel()
        if name in each.further:
            there = ~each.rowless[name].ravel() if name in each.rowless else np.ones(len(spots), np.bool_)
            what[spots[there]] = WRITE
            values[spots[there]] = each.further[name].reshape(-1, 2)[there]
        elif name == each.name:
            if name != each.written_as:
                what[spots] = WRITE
                values[spots] = each.surface.corner_uvs.reshape(-1, 2)
        elif name in each.gone or name in (each.written_as, each.old_name):
            what[spots] = DROP
            values[spots] = each.surface.corner_uvs.reshape(-1, 2)
    return what, values


def _new_names(called: dict[str, bytes], wanted: list[WantedSets]) -> dict[bytes, bytes]:
    """Return what sets of a file are called now: those that all surfaces which have them call so.

    `called` has them by their names, and has the new ones afterwards.
    """
    now: dict[str, set[str]] = {}
    for each in wanted:
        for name in each.further:
            now.setdefault(name, set()).add(name)
        for name, values in each.before.items():
            fresh = [n for n, v in each.further.items() if n not in each.before and np.array_equal(v, values)]
            now.setdefault(name, set()).add(name if name in each.further else next(iter(fresh), ""))
        if each.surface.uv_name:
            now.setdefault(each.old_name, set()).add(each.surface.uv_name)
    found: dict[bytes, bytes] = {}
    for name, (new, *more) in now.items():
        if name in called and new and not more and new not in called:
            found[called[name]] = raw_name(new)
            called[new] = called.pop(name)
    return found


def _renamed(lwo: Lwo, wanted: list[WantedSets]) -> Lwo:
    """Return a file some of whose maps are called otherwise, and let surfaces know."""
    edits = _new_names(set_names(lwo.layers[0]), wanted)
    if not edits:
        return lwo
    texts = {shown_name(old) or shown_name(MAP_NAME): shown_name(new) for old, new in edits.items()}
    for each in wanted:
        each.old_name, each.written_as = (texts.get(name, name) for name in (each.old_name, each.written_as))
        each.rowless = {texts.get(name, name): rows for name, rows in each.rowless.items()}
    parts: dict[int, bytes] = {}
    for vmap in lwo.layers[0].maps:
        if vmap.kind == UVS and vmap.name in edits:
            own = lwo.chunks[vmap.chunk]
            head = lwo.data[own.data : own.data + 6] + packed_name(edits[vmap.name])
            rest = lwo.data[own.data + 6 + len(packed_name(vmap.name)) : own.end]
            parts[vmap.chunk] = chunk(own.ident, head + rest)
    return _assembled(lwo, parts, {})


def _assembled(lwo: Lwo, changed: dict[int, bytes], before: dict[int, list[bytes]]) -> Lwo:
    """Return a file with chunks that are others now, by their index, and new ones before some."""
    parts = list[bytes]()
    for index, each in enumerate(lwo.chunks):
        parts += before.get(index, [])
        parts.append(changed.get(index, _raw(lwo, each)))
    parts += before.get(len(lwo.chunks), [])
    body = lwo.data[8:12] + b"".join(parts)
    return read(lwo.data[:4] + len(body).to_bytes(4, "big") + body + lwo.tail.tobytes())


def _raw(lwo: Lwo, each: Chunk) -> bytes:
    """Return a chunk as it was, padded."""
    return lwo.data[each.start : each.end] + (lwo.data[each.end : each.stop] or b"\0" * ((each.end - each.data) & 1))


@dataclass(eq=False)
class _Rows:
    """The rows of a set that were there."""

    places: Ints  # (R,) where their numbers lie in the file
    says: Floats  # (R, 2) now
    stays: NDArray[np.bool_]  # (R,)


class _MapsEdit:
    """The maps of texture coordinates of a layer, of which some rows change."""

    def __init__(self, lwo: Lwo, drawn: set[str]) -> None:
        self.lwo, self.layer, self.drawn = lwo, lwo.layers[0], drawn
        self.raw = set_names(self.layer)
        self.owners = np.repeat(np.arange(self.layer.num_polygons), self.layer.counts)
        self.changed: dict[int, bytes] = {}
        self.before: dict[int, list[bytes]] = {}

    def result(self) -> Lwo:
        """Return the file."""
        return _assembled(self.lwo, self.changed, self.before) if self.changed or self.before else self.lwo

    def write(self, name: str, what: Ints, values: Floats) -> None:
        """Write what is wanted of a set at corners, (C,), with which values, (C, 2)."""
        raw = self.raw.get(name, raw_name(name))
        own = mapped(self.lwo, self.layer, name=raw)
        has_row, points = own.of_corners != NONE, self.layer.corners
        wrong = (what == WRITE) & (~has_row | (own.taken(own.of_corners) != values).any(axis=1))
        if not (wrong | ((what == DROP) & has_row)).any():
            return
        rows = _Rows(own.places, self._led(own, what, values, wrong), self._kept(raw, what))
        of_point, torn = self._torn(raw, what, values, rows.says)
        rows.stays[of_point[torn]] = False
        heads, bare = self._late(values, (what == WRITE) & ~has_row)
        # A corner gets a row of its own where none of its point's says it, or that one goes.
        said = np.append(rows.says, [[0, 0]], axis=0)[own.of_corners]
        other = (what == WRITE) & has_row & (np.abs(said - values) > NEAR).any(axis=1)
        left = torn[points] & (what != DROP) & has_row & (own.of_corners == of_point[points])
        corners = np.flatnonzero(bare | other | left)
        now = own.taken(own.of_corners[corners])
        shown = np.where((what == KEEP)[corners, None], now, values[corners])
        pairs = np.stack((points[corners], self.owners[corners]), axis=1)
        self._put(b"VMAP", name, raw, rows, (points[heads][:, None], values[heads]))
        self._put(b"VMAD", name, raw, rows, (pairs, shown))

    def _led(self, own: Mapped, what: Ints, values: Floats, wrong: NDArray[np.bool_]) -> Floats:
        """Return what the rows of a set say, (R, 2): of those that are `wrong` at corners, (C,), something new.

        A row says what those say that keep it, else what most of those say that write it; the others get their own.
        """
        rows, count, new = own.of_corners, len(own.values), own.values[:, :2].copy()
        users = rows != NONE
        lead = np.full(count, NONE, np.int64)
        for kind in (WRITE, KEEP):
            some = np.flatnonzero(users & (what == kind))[::-1]
            lead[rows[some]] = some
        stays = np.zeros(count, np.bool_)
        stays[rows[users & (what == WRITE) & ~wrong]] = True
        led = np.flatnonzero((lead != NONE) & ~stays)
        led = led[what[lead[led]] == WRITE]
        new[led] = values[lead[led]]
        return new

    def _late(self, values: Floats, bare: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the corners (n,) whose points get a row, and tell which get one of their own, (C,).

        A point without a row gets one where all of its corners want some, which are `bare`, (C,).
        """
        points, count = self.layer.corners, len(self.layer.points)
        open_: NDArray[np.bool_] = np.ones(count, np.bool_)
        open_[points[~bare]] = False
        at_point = np.full(count, NONE, np.int64)
        late = np.flatnonzero(bare & open_[points])[::-1]
        at_point[points[late]] = late
        differ = bare.copy()
        differ[late] = (np.abs(values[late] - values[at_point[points[late]]]) > NEAR).any(axis=1)
        return at_point[at_point != NONE], differ

    def _torn(self, raw: bytes, what: Ints, values: Floats, new: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        """Return which row of a set each point has, (P,), NONE, and tell at which it can be the point's no more, (P,).

        That is where a surface that has the set no more shares the point with one that has it, and what its row says,
        of `new` values, is not what is drawn there: the set would come back. So it becomes the other's corners'.
        """
        points = self.layer.corners
        of_point, first = np.full(len(self.layer.points), NONE, np.int64), 0
        for each in self._maps_of(raw):
            if each.polygons is None:
                of_point[each.points] = first + np.arange(len(each.points))
            first += len(each.points)
        held, torn = np.zeros((2, len(of_point)), np.bool_)
        held[points[what != DROP]] = True
        shown = np.flatnonzero((what == DROP) & (held & (of_point != NONE))[points])
        other = (new[of_point[points[shown]]] != values[shown]).any(axis=1)
        torn[points[shown[other]]] = True
        return of_point, torn

    def _kept(self, raw: bytes, what: Ints) -> NDArray[np.bool_]:
        """Tell which rows of a set stay, (R,): none of corners that drop it, or of points whose corners all do."""
        count, points = len(self.layer.points), self.layer.corners
        dropped = np.zeros(count, np.bool_)
        dropped[points[what == DROP]] = True
        dropped[points[what != DROP]] = False
        keys = (self.owners * count + points)[what == DROP]
        found: list[NDArray[np.bool_]] = [np.zeros(0, np.bool_)]
        for each in self._maps_of(raw):
            gone = dropped[each.points]
            if each.polygons is not None:
                gone = np.isin(each.polygons * count + each.points, keys)
            found.append(~gone)
        return np.concatenate(found)

    def _maps_of(self, raw: bytes) -> list[VertexMap]:
        """Return the maps of a set: VMAPs, and VMADs, which have polygons."""
        return [each for each in self.layer.maps if each.kind == UVS and each.width >= 2 and each.name == raw]

    def _put(self, kind: bytes, name: str, raw: bytes, rows: _Rows, added: tuple[Ints, Floats]) -> None:
        """Write the maps of a set of one kind, the last with the rows that are `added`; a new one for these alone."""
        own = [each for each in self._maps_of(raw) if KINDS[each.polygons is None] == kind]
        for each in own:
            self._map(each, rows, added if each is own[-1] else None)
        if not own and len(added[0]):
            place = self._place_of_points() if kind == KINDS[True] else self._place_of_corners(name)
            self.before.setdefault(place, []).append(_new_map(kind, raw, *added))

    def _place_of_points(self) -> int:
        """Return before which chunk a new VMAP goes: before those that are drawn."""
        maps = [each for each in self.layer.maps if each.kind == UVS and each.polygons is None]
        named = {self.raw.get(name, raw_name(name)) for name in self.drawn}
        assert self.layer.points_chunk is not None
        drawn = [each.chunk for each in maps if each.name in named]
        return min(drawn or [each.chunk for each in maps] or [self.layer.points_chunk + 1])

    def _place_of_corners(self, name: str) -> int:
        """Return before which chunk a new VMAD goes: before all others, that of a drawn set behind them."""
        maps = [each.chunk for each in self.layer.maps if each.kind == UVS and each.polygons is not None]
        assert self.layer.last_chunk is not None
        return min(maps) if maps and name not in self.drawn else self.layer.last_chunk + 1

    def _map(self, each: VertexMap, rows: _Rows, added: tuple[Ints, Floats] | None) -> None:
        """Write one map: rows of its set that stay, with what they say now, and some more."""
        order = np.argsort(rows.places, kind="stable")
        where = order[np.searchsorted(rows.places, each.places, sorter=order)]
        stay = rows.stays[where]
        indices = each.points[:, None] if each.polygons is None else np.stack((each.points, each.polygons), axis=1)
        floats = floats_at(self.lwo.data, each.places, each.width)
        known = np.clip(np.nan_to_num(floats[:, :2]), -1e9, 1e9)
        other = (known != rows.says[where]).any(axis=1)
        floats[other, :2] = rows.says[where][other]
        indices, floats = indices[stay], floats[stay]
        if added is not None:
            more = np.zeros((len(added[0]), each.width), np.float32)
            more[:, :2] = added[1]
            indices, floats = np.concatenate((indices, added[0])), np.concatenate((floats, more))
        own = self.lwo.chunks[each.chunk]
        head = self.lwo.data[own.data : own.data + 6] + packed_name(each.name)
        text = chunk(own.ident, head + packed_rows(indices, floats)) if len(indices) else b""
        self.changed[each.chunk] = text


def _new_map(ident: bytes, name: bytes, rows: Ints, floats: Floats) -> bytes:
    """Return a new map."""
    return chunk(ident, UVS + b"\0\2" + packed_name(name) + packed_rows(rows, floats + np.float32(0)))


def _off(lwo: Lwo, wanted: list[WantedSets]) -> tuple[Ints, Floats, Ints]:
    """Return corners (n,) where games draw something else than is wanted, with that, (n, 2), and by whom, (n,)."""
    drawn = mapped(lwo, lwo.layers[0])
    count = len(lwo.layers[0].corners)
    values, there = np.zeros((count, 2), np.float32), np.zeros(count, np.bool_)
    owners = np.zeros(count, np.int64)
    for nth, each in enumerate(wanted):
        spots = each.spots.ravel()
        values[spots], there[spots], owners[spots] = each.surface.corner_uvs.reshape(-1, 2), True, nth
    bad = np.flatnonzero(there & (drawn.taken(drawn.of_corners)[:, :2] != values).any(axis=1))
    return bad, values[bad], owners[bad]


def _in_order(lwo: Lwo, wanted: list[WantedSets]) -> Lwo:
    """Return a file whose further sets have the order that surfaces want, if they agree."""
    drawn = {each.name for each in wanted}
    lists = [[name for name in each.further if name not in drawn] for each in wanted]
    order = list(dict.fromkeys(name for names in lists for name in names))
    called = set_names(lwo.layers[0])
    before = [name for name in called if name in order]
    agreed = all(names == [name for name in order if name in names] for names in lists)
    if not agreed or before == [name for name in order if name in called]:
        return lwo
    return _turned(lwo, {called[name]: rank for rank, name in enumerate(order) if name in called})


def _turned(lwo: Lwo, ranks: Mapping[bytes, int]) -> Lwo:
    """Return a file with the VMAPs of some sets in the order of their ranks."""
    maps = [m for m in lwo.layers[0].maps if m.kind == UVS and m.polygons is None and m.name in ranks]
    ordered = sorted(maps, key=lambda each: ranks[each.name])
    raws = [_raw(lwo, lwo.chunks[each.chunk]) for each in ordered]
    return _assembled(lwo, {each.chunk: raw for each, raw in zip(maps, raws, strict=True)}, {})


def _drawn_last(lwo: Lwo, wanted: list[WantedSets], drawn: set[str]) -> Lwo:
    """Return a file in which games draw what is wanted: maps of points in that order, and rows of corners."""
    bad, values, whose = _off(lwo, wanted)
    if not len(bad):
        return lwo
    called = set_names(lwo.layers[0])
    turned = _turned(lwo, {raw: name in drawn for name, raw in called.items()})
    again = _off(turned, wanted)
    if len(again[0]) < len(bad):
        lwo, (bad, values, whose) = turned, again
    if not len(bad):
        return lwo
    layer = lwo.layers[0]
    owners = np.repeat(np.arange(layer.num_polygons), layer.counts)
    names, parts = [each.name for each in wanted], []
    for name in dict.fromkeys(names[nth] for nth in np.unique(whose).tolist()):
        mine = np.array([called_so == name for called_so in names])[whose]
        pairs = np.stack((layer.corners[bad[mine]], owners[bad[mine]]), axis=1)
        parts.append(_new_map(b"VMAD", called.get(name, raw_name(name) or MAP_NAME), pairs, values[mine]))
    assert layer.last_chunk is not None
    return _assembled(lwo, {}, {layer.last_chunk + 1: parts})
