"""An LWO that is written: what was there, what changes in it, and which way gives the normals that are meant.

There are no normals in an LWO: engines make them (`normals`). What is new has a point for each normal at a place, so
that hard edges are hard, and its surface a smoothing angle of nearly half a turn, so that all else is smooth. It is not
the half turn itself: two sides of a leaf that share their points would have none. What was in the file keeps its points
and angle, unless its normals come out better so: of the ways of `WAYS` the first is taken that is near enough, else
the best.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...reporting import joined
from ..common.static import decode_normals
from .file import GREY, LWOB, Lwo, Surf, read
from .normals import corner_normals
from .numbers import Ints, name_at, packed_name, raw_name, shown_name
from .parts import COLORS, MAP_NAME, NONE, SWAPPED, UVS, faces_of, mapped, shader_of, surfs_of
from .rewrite import LayerEdit, NewPolygons
from .sets import WantedSets, with_sets
from .settled import NAMELESS, Known, Settled, moved_of, new_colors, painted_of, shifted_of, torn

log = logging.getLogger(__name__)

ALL_SMOOTH = 3.14159  # radians
ENOUGH, BETTER = 5.0, 1.0  # degrees: what normals may be off without a word, and what is worth another way
# The polygons of the file; its points and angle; points by normals; and the angle that smooths all.
STAY, KEPT, SPLIT, RAISED = range(4)
WAYS = (SPLIT, RAISED)  # to try where the file's own is not good enough


def best(known: Known, settled: list[Settled], looks: Mapping[str, Surf] | None = None) -> Lwo:
    """Return the file in which normals are nearest to those that are meant, and say which are not near."""

    def attempt(chosen: list[int]) -> tuple[Lwo, list[float], list[WantedSets]]:
        every = [replace(each, anew=way != STAY) for each, way in zip(settled, chosen, strict=True)]
        return _Writing(known, every, chosen, looks).result()

    ways = [_first_way(each) for each in settled]
    found, off, sets = attempt(ways)
    for way in WAYS:
        bad = [i for i, far in enumerate(off) if far > ENOUGH and (ways[i] != STAY or _is_retagged(settled[i]))]
        if not bad or not known.parts:
            break
        tried = _with_way(ways, settled, bad, way)
        again, now, more = attempt(tried)
        better = [i for i in bad if now[i] < off[i] - BETTER]
        if better and len(better) < len(bad):
            tried = _with_way(ways, settled, better, way)
            again, now, more = attempt(tried)
        if better:
            ways, found, off, sets = tried, again, now, more
    worst: dict[str, float] = {}  # by object, which has a surface for each of its materials
    for each, far in zip(settled, off, strict=True):
        if far > ENOUGH:
            worst[each.surface.name] = max(far, worst.get(each.surface.name, 0.0))
    if worst:
        named = [f"'{name}' (up to {far:.0f} degrees)" for name, far in worst.items()]
        log.warning("LWO holds no normals: games make others than are shown of %s", joined(named))
    return with_sets(found, sets)


def _first_way(each: Settled) -> int:
    """Return the way to begin with."""
    if not each.anew:
        return STAY
    return KEPT if each.part is not None and not _is_retagged(each) else SPLIT


def _is_retagged(each: Settled) -> bool:
    """Tell whether a surface of the file wears another SURF, which may smooth at another angle."""
    return each.part is not None and each.shader != each.part.shader


def _with_way(ways: list[int], settled: list[Settled], which: list[int], way: int) -> list[int]:
    """Return the ways with another one for some; where the angle is raised all that have it are written anew."""
    found = [way if i in set(which) else old for i, old in enumerate(ways)]
    if way == RAISED:
        raised = {settled[i].shader for i in which}
        found = [RAISED if each.shader in raised else old for each, old in zip(settled, found, strict=True)]
    return found


def _put(data: NDArray[np.uint8], places: Ints, now: NDArray[Any], before: NDArray[Any]) -> None:
    """Write floats (n, k) that are others than before into a file's bytes, at places (n,)."""
    where = places[:, None] + 4 * np.arange(now.shape[1])
    raw = np.ascontiguousarray(now, ">f4").view(np.uint8).reshape(*now.shape, 4)
    other = now != before
    data[where[other][:, None] + np.arange(4)] = raw[other]


class _Writing:
    """A file that is written: what was there, and what changes in it."""

    def __init__(
        self, known: Known, settled: list[Settled], ways: list[int], looks: Mapping[str, Surf] | None = None
    ) -> None:
        self.known, self.settled, self.looks = known, settled, looks or {}
        self.ways = {id(each): way for each, way in zip(settled, ways, strict=True)}
        self.lwo, self.layer = known.lwo, known.lwo.layers[0]
        self.names, self.surfs = list(self.lwo.tags), surfs_of(self.lwo)
        self.made: dict[int, Surf] = {}  # new surfaces by their tags, with what they are like
        self.pairs: set[tuple[int, int]] = set()  # tags of SURF and PART that surfaces have
        self.by_shader = {
            shader_of(name): tag for tag, name in reversed(list(enumerate(self.names))) if self.surfs[tag] is not None
        }
        taken = {tag for part in known.parts for tag in (part.tag, part.surface)} | set(self.by_shader.values())
        self.free = {name: tag for tag, name in reversed(list(enumerate(self.names))) if tag not in taken}

    def result(self) -> tuple[Lwo, list[float], list[WantedSets]]:
        """Return the file, by how many degrees each surface's normals are off at most, and what sets it is to have."""
        layer, settled = self.layer, self.settled
        kept = np.ones(layer.num_polygons, np.bool_)
        stay = {id(each.part): each for each in settled if each.part is not None and not each.anew}
        for part in self.known.parts:
            if id(part) not in stay:
                kept[part.polygons] = False
        data = self._patched([stay[id(part)] for part in self.known.parts if id(part) in stay])
        edit = LayerEdit(self.lwo, data, kept, layer.surfaces.copy(), layer.tags_of(b"PART", NONE))
        edit.box = data != self.lwo.data and layer.points_chunk is not None
        for each in stay.values():
            self._retag(each, edit)
        points = self._places_of(data)
        fresh = [each for each in settled if each.anew and len(each.surface.triangles)]
        self.smooth = {tag for each in fresh if (tag := self._surface(each)) in self.made or self._raises(each)}
        for each in fresh:
            edit.new.append(self._new(each, kept, points))
        self._surfaces(edit)
        edit.new_names = self.names[len(self.lwo.tags) :]
        same = kept.all() and np.array_equal(edit.surfaces, layer.surfaces)
        same = same and np.array_equal(edit.tags, layer.tags_of(b"PART", NONE))
        changed = not same or edit.box or bool(edit.new or edit.surfs or edit.new_names)
        whole = self.lwo.kind == LWOB or not changed
        written = read(data if whole else edit.result())
        numbers = np.arange(layer.num_polygons) if whole else edit.polygon_numbers
        spots = self._spots_of(written, numbers, list(stay.values()), fresh)
        return written, self._off(written, spots), self._sets([*stay.values(), *fresh], spots)

    def _spots_of(self, written: Lwo, numbers: Ints, stay: list[Settled], fresh: list[Settled]) -> dict[int, Ints]:
        """Return the corners (T, 3) of each surface's triangles as they are written, by its id.

        `numbers` (N,) are those of the polygons of before.
        """
        layer, old = written.layers[0], self.layer
        starts, old_starts = np.cumsum(layer.counts) - layer.counts, np.cumsum(old.counts) - old.counts
        found = {}
        for each in stay:
            assert each.part is not None
            owners = each.part.owners[:, None]
            found[id(each)] = starts[numbers[owners]] + each.part.corners - old_starts[owners]
        counts = [len(each.surface.triangles) for each in fresh]
        if fresh:  # behind all other faces, one surface after the other
            home = [each for each in layer.lists if each.kind == b"FACE"][-1]
            first = home.first + len(home.heads) - sum(counts)
            for each, count in zip(fresh, counts, strict=True):
                found[id(each)] = starts[first : first + count][:, None] + SWAPPED
                first += count
        return found

    def _sets(self, there: list[Settled], spots: Mapping[int, Ints]) -> list[WantedSets]:
        """Return what surfaces want of sets of texture coordinates; `spots` are those of `_spots_of`."""
        names = [each.name for each in self.layer.maps if each.kind == UVS and each.polygons is None]
        default = shown_name(names[-1] if names else MAP_NAME) or shown_name(MAP_NAME)
        found = []
        for each in there:
            surface, old_name = each.surface, (default if each.part is None else each.part.uv_name) or default
            gone = set(surface.shown_uvs) - each.further.keys() - {surface.uv_name or old_name}
            name = default if each.anew else old_name
            found.append(WantedSets(surface, old_name, name, each.further, each.before, each.rowless, gone))
        if all(each.is_plain for each in found):
            return []
        for each, wanted in zip(there, found, strict=True):
            wanted.spots = spots[id(each)]
        return found

    def _raises(self, each: Settled) -> bool:
        """Tell whether a surface that is written anew needs an angle that smooths all."""
        return self.ways[id(each)] == RAISED

    def _places_of(self, data: bytes) -> NDArray[np.float32]:
        """Return the points of the layer as they are now, (P, 3)."""
        if self.layer.points_chunk is None:
            return self.layer.points
        place = self.lwo.chunks[self.layer.points_chunk].data
        return np.frombuffer(data, ">f4", self.layer.points.size, place).astype(np.float32).reshape(-1, 3)

    def _patched(self, stay: list[Settled]) -> bytes:
        """Return the file's bytes with the floats that changed of surfaces whose polygons stay."""
        data = np.frombuffer(self.lwo.data, np.uint8).copy()
        uvs, paint = mapped(self.lwo, self.layer).places, mapped(self.lwo, self.layer, COLORS, 4).places
        first = 0 if self.layer.points_chunk is None else self.lwo.chunks[self.layer.points_chunk].data
        for each in stay:
            part, colors = each.part, each.surface.colors
            assert part is not None
            moved, shifted, painted = moved_of(each), shifted_of(each), painted_of(each)
            which = part.points[moved]
            _put(data, first + 12 * which, each.places[moved] + np.float32(0), self.layer.points[which])
            _put(data, uvs[part.rows[shifted]], each.surface.uvs[shifted], part.uvs[shifted])
            if colors is not None and part.colors is not None:
                _put(data, paint[part.color_rows[painted]], colors[painted], part.colors[painted])
        return data.tobytes()

    def _surface(self, each: Settled) -> int:
        """Return the tag of the SURF that a surface wears: its own, one that is there, or a new one."""
        part, shader = each.part, each.shader
        if part is not None and shader == part.shader and part.surface < len(self.names):
            return part.surface
        found = self.by_shader.get(shader, NONE)
        if found == NONE:
            found = self.by_shader[shader] = len(self.names)
            self.names.append(raw_name(shader) or raw_name(NAMELESS))
            like = self.surfs[part.surface] if part is not None and part.surface < len(self.surfs) else None
            self.made[found] = like or self.looks.get(shader) or Surf(NONE, b"")
        return found

    def _tag(self, each: Settled, surface: int) -> int:
        """Return the PART tag of a surface: what keeps its name, and it apart from others of its material."""
        part, name, usual = each.part, raw_name(each.surface.name), shader_of(self.names[surface])
        same = part is not None and each.surface.name == part.name and (surface, part.tag) not in self.pairs
        if part is not None and same and (part.tag != NONE or each.surface.name == usual):
            self.pairs.add((surface, part.tag))
            return part.tag
        found = NONE
        if name and (each.surface.name != usual or (surface, NONE) in self.pairs):
            found = self.free.pop(name, len(self.names))
            if found == len(self.names):
                self.names.append(name)
        self.pairs.add((surface, found))
        return found

    def _retag(self, each: Settled, edit: LayerEdit) -> None:
        """Write names that changed of a surface whose polygons stay."""
        part = each.part
        assert part is not None
        if (each.surface.name, each.shader) == (part.name, part.shader):
            self.pairs.add((part.surface, part.tag))
            return
        surface = self._surface(each)
        tag = self._tag(each, surface)
        if surface != part.surface:
            edit.surfaces[part.polygons] = surface
        if tag != part.tag:
            edit.tags[part.polygons] = tag

    def _new(self, each: Settled, kept: NDArray[np.bool_], points: NDArray[np.float32]) -> NewPolygons:
        """Return the polygons of a surface that are written anew; `points` (P, 3) are those of the file."""
        surface, shader = each.surface, self._surface(each)
        own = self._shared(each, kept, points)
        triangles = surface.triangles.astype(np.int64)
        painted = new_colors(each)
        shades = np.zeros((len(each.codes), 4)) if painted is None else np.rint(painted * 255)
        keys = np.concatenate((each.codes, np.full((len(each.codes), 1), NONE), shades.astype(np.int64)), axis=1)
        if self.ways[id(each)] == KEPT:
            keys[:, 3] = each.origins
        keys[:, 4] = self._lonely(np.delete(keys, 4, axis=1), triangles)
        used = np.zeros(len(own), np.bool_)
        used[triangles] = True
        fresh = np.flatnonzero((own == NONE) & used)
        _, first, inverse = np.unique(keys[fresh], axis=0, return_index=True, return_inverse=True)
        heads = fresh[first]
        own[fresh] = len(points) + inverse.reshape(-1)
        corners = triangles[:, SWAPPED]
        uvs = surface.uvs.astype(np.float32)
        of_point = np.full((len(points) + len(heads), 2), np.nan, np.float32)
        of_point[len(points) :] = uvs[heads]
        other = (uvs[corners] != of_point[own[corners]]).any(axis=2)
        tag = self._tag(each, shader)
        return NewPolygons(
            each.places[heads] + np.float32(0),
            each.origins[heads],
            uvs[heads],
            own[corners],
            each.owners,
            uvs[corners],
            other,
            shader,
            tag,
            None if painted is None else painted[heads],
        )

    def _lonely(self, codes: NDArray[np.int64], triangles: Ints) -> Ints:
        """Return a number for each vertex (V,): its own where a triangle has two corners alike, else NONE."""
        _, same = np.unique(codes, axis=0, return_inverse=True)
        of = same.reshape(-1)[triangles]
        flat = (of[:, 0] == of[:, 1]) | (of[:, 1] == of[:, 2]) | (of[:, 2] == of[:, 0])
        found = np.full(len(codes), NONE, np.int64)
        found[triangles[flat]] = triangles[flat]
        return found

    def _shared(self, each: Settled, kept: NDArray[np.bool_], points: NDArray[np.float32]) -> Ints:
        """Return the old points (V,) that vertices go on sharing with polygons that stay; NONE.

        Where normals are made by points alone, all of the surface at the point has to have the one that it had.
        """
        own = np.full(len(each.codes), NONE, np.int64)
        used = np.zeros(len(points), np.bool_)
        used[self.layer.corners[np.repeat(kept, self.layer.counts)]] = True
        known = np.flatnonzero(each.origins >= 0)
        where = each.origins[known]
        still = used[where] & (each.places[known] == points[where]).all(axis=1)
        if new_colors(each) is not None:  # which points have one of
            return own
        bad = np.zeros(len(points), np.bool_)
        if self.ways[id(each)] == KEPT:
            own[known] = np.where(still, where, NONE)
            return own
        bad[where[~(still & each.same_normals[known])]] = True
        bad[where[torn(where, each.codes[known])]] = True
        own[known] = np.where(bad[where], NONE, where)
        return own

    def _surfaces(self, edit: LayerEdit) -> None:
        """Write SURFs: new ones, those that nobody wears any more, and smoothing angles of what is written anew."""
        tags = np.concatenate([edit.surfaces[edit.kept], *(np.full(len(n.corners), n.surface) for n in edit.new)])
        others = [layer.surfaces for layer in self.lwo.layers[1:]]
        worn = {self.names[tag] for tag in np.unique(np.concatenate([tags, *others])).tolist() if tag < len(self.names)}
        before = {self.names[tag] for tag in np.unique(self.layer.surfaces).tolist() if tag < len(self.names)}
        for tag, like in self.made.items():
            angle = ALL_SMOOTH if tag in self.smooth else like.smooth
            edit.new_surfs.append(self._surf_data(self.names[tag], like, angle))
        seen, smooth = set(), {self.names[tag] for tag in self.smooth}
        for surf in self.lwo.surfs:
            if surf.name in before and surf.name not in worn:
                edit.surfs[surf.chunk] = None
            elif surf.name in smooth and surf.name not in seen and surf.smooth < ALL_SMOOTH:
                edit.surfs[surf.chunk] = self._surf_data(surf.name, surf, ALL_SMOOTH)
            seen.add(surf.name)

    def _surf_data(self, name: bytes, like: Surf, smooth: float) -> bytes:
        """Return the data of a SURF that is like one of the file, or a plain one."""
        angle = struct.pack(">f", smooth)
        if like.chunk == NONE or self.looks:
            head = packed_name(name) + packed_name(b"")
            color = struct.pack(">3fH", *(like.color if len(like.color) == 3 else GREY), 0)
            return head + b"COLR\0\x0e" + color + b"SMAN\0\4" + angle
        own = self.lwo.chunks[like.chunk]
        data, start = self.lwo.data, name_at(self.lwo.data, own.data, own.end)[1]
        if like.smooth_place is None:
            rest = data[start : own.end]
            return packed_name(name) + rest + b"\0" * (len(rest) & 1) + b"SMAN\0\4" + angle
        return packed_name(name) + data[start : like.smooth_place] + angle + data[like.smooth_place + 4 : own.end]

    def _off(self, written: Lwo, spots: Mapping[int, Ints]) -> list[float]:
        """Return by how many degrees the normals that games make of each surface are off at most; 0 without faces.

        `spots` are those of `_spots_of`. What nobody touched can be off, too: what it shares points with changed.
        """
        if written.data == self.lwo.data:
            return [0.0] * len(self.settled)
        layer = written.layers[0]
        made = corner_normals(layer.points, faces_of(written, layer))[:, SWAPPED]
        found = []
        for each in self.settled:
            wanted = decode_normals(each.codes[:, 3])[each.surface.triangles]  # (T, 3, 3)
            own = made[spots[id(each)]] if id(each) in spots else np.zeros_like(wanted)
            cosines = np.clip(steady.dots(wanted, own)[steady.lengths(own) > 0], -1.0, 1.0)
            angles = steady.angles_of(np.sqrt(1.0 - cosines * cosines), cosines)
            found.append(float(np.degrees(angles.max(initial=0.0))))
        return found
