"""LWO to a model of one frame and back; the file itself is `file`.

Of an edited model the bytes of its file stay but for what the edit touched: floats of points and texture coordinates,
tags of polygons, names of surfaces. The polygons of a surface whose faces changed, or whose vertices parted, are
written anew, as triangles; all else stays (`rewrite`). An LWOB has no place for more than points that moved: what is
edited otherwise becomes an LWO2.

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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.source import CodedSource, Facts
from ...model.vertex import ModelSource, Surface, VertexModel
from ...model.wording import listed, plural
from ...reporting import FormatError, joined
from ..common.records import Wanted, all_fit, warn_damaged
from ..common.static import CODING, Scale, decode_normals, one_frame, settle
from .file import GREY, LARGEST, LWOB, Lwo, Surf, read
from .normals import corner_normals, triangles_of
from .numbers import Ints, name_at, packed_name, raw_name, shown_name
from .parts import NONE, STEP, STEPS, SWAPPED, Part, are_shown, faces_of, mapped, parts_of, shader_of, surfs_of
from .rewrite import SKELETON, LayerEdit, NewPolygons

log = logging.getLogger(__name__)

FORMAT = "lwo"
TRIANGULATE = "triangulate"
NAMELESS = "Default"  # as LightWave calls the surface of what has none
ALL_SMOOTH = 3.14159  # radians
ENOUGH, BETTER = 5.0, 1.0  # degrees: what normals may be off without a word, and what is worth another way
KEPT, SPLIT, RAISED = range(3)  # points and angle of the file; points by normals; and the angle that smooths all
WAYS = (SPLIT, RAISED)  # to try where the file's own is not good enough
OF_PART: Wanted = {"of_part": ("i8", (1,))}
FILE: Wanted = {"layout_file": ("u1", (-1,))}
SCALE = Scale("LWO", STEPS, LARGEST)

__all__ = ["CODING", "conform", "from_model", "problems", "to_model"]


def to_model(lwo: Lwo, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    _warn(lwo)
    known: list[Any] = [
        CodedSource(
            part.name, part.triangles, part.uvs, [part.shader] if part.shader else [], part.codes,
            np.full((1, 3), STEP, np.float32), np.zeros((1, 3), np.float32),
            facts={"of_part": np.array([number], np.int64)},
        )
        for number, part in enumerate(parts_of(lwo))
    ]  # fmt: skip
    facts: Facts = {"layout_file": np.frombuffer(lwo.data, np.uint8)}
    source = ModelSource(
        known, FORMAT, [""], [], np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32), facts
    )
    return source.shown(name, decode_normals)


def _warn(lwo: Lwo) -> None:
    """Say what of a file is not shown."""
    layer, others = lwo.layers[0], lwo.layers[1:]
    if others:
        names = listed([shown_name(each.name) or f"layer {number}" for number, each in enumerate(others, 2)])
        log.warning("games read the first layer alone: kept, but not shown: %s", names)
    hidden = int((~are_shown(layer)).sum())
    if hidden:
        text = "kept, but not shown: %s that are curves, bones, or of fewer than three corners"
        log.warning(text, plural(hidden, "polygon"))
    if layer.num_polygons and not lwo.tags:
        log.warning("the file names no surface: games crash")


def problems(model: VertexModel) -> list[str]:
    """Return what in a file that was read games leave out."""
    source = model.source_of(FORMAT)
    known = None if source is None else _known(source, model.name)
    if known is None:
        return []
    large = _large(known.lwo)
    count = int(large.sum())
    verb = "has" if count == 1 else "have"
    return [f"{plural(count, 'polygon')} {verb} more than three corners: games leave out such"] if count else []


def _large(lwo: Lwo) -> NDArray[np.bool_]:
    """Tell which polygons of the first layer have more than three corners, (N,)."""
    layer = lwo.layers[0]
    large: NDArray[np.bool_] = are_shown(layer) & (layer.counts > 3)
    return large


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as LWO can hold it: a frame, no tags, one material for a surface; itself if it is so."""
    return one_frame(model, "LWO")


@dataclass(eq=False)
class Known:
    """What a source tells of its file: what is in it, and which part of it each surface was."""

    lwo: Lwo
    parts: list[Part]
    owners: dict[int, int]  # by the surface's index: part


def _known(source: ModelSource | None, name: str) -> Known | None:
    """Return what a source tells of its file; None where it does not, or where it is damaged, which is said."""
    if source is None:
        return None
    if "layout_file" not in source.facts:
        log.warning("'%s' is a part of its model: the file is made anew", name)
        return None
    fits = all(isinstance(s, CodedSource) and all_fit(s.facts, OF_PART) for s in source.surfaces)
    try:
        lwo = read(source.facts["layout_file"].tobytes()) if fits and all_fit(source.facts, FILE) else None
    except FormatError:
        lwo = None
    parts = [] if lwo is None else parts_of(lwo)
    owners = {} if lwo is None else {i: int(s.facts["of_part"][0]) for i, s in enumerate(source.surfaces)}
    sound = all(0 <= part < len(parts) and _same(source.surfaces[i], parts[part]) for i, part in owners.items())
    if lwo is None or not sound or len(set(owners.values())) < len(owners):
        warn_damaged(name)
        return None
    return Known(lwo, parts, owners)


def _same(surface: Any, part: Part) -> bool:
    """Tell whether a source's surface is what its file says: a .blend can come from a stranger."""
    pairs = ((surface.triangles, part.triangles), (surface.codes, part.codes), (surface.uvs, part.uvs))
    scaled = bool((surface.scale == STEP).all()) and not surface.offset.any()
    return scaled and all(np.array_equal(one, other) for one, other in pairs)


@dataclass(eq=False)
class Settled:
    """A surface as the file says it: V vertices."""

    surface: Surface
    codes: NDArray[np.int64]  # (V, 4)
    part: Part | None = None
    anew: bool = True  # its polygons are written anew
    origins: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (V,) points of the file; NONE
    same_normals: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))  # (V,) as in the file
    owners: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (T,) polygons of the file; NONE

    @property
    def shader(self) -> str:
        """Return the name of its material; of what is not the file's and has none that of the surface."""
        found = self.surface.shaders[0] if self.surface.shaders else ""
        return found or ("" if self.part is not None and not self.part.shader else self.surface.name or NAMELESS)

    def is_whole(self, source: ModelSource) -> bool:
        """Tell whether it has the faces and vertices that it has in its file, in their order."""
        surface = self.surface
        if self.part is None or surface.source_vertices is None or surface.source_triangles is None:
            return False
        vertices, triangles = source.numbers(surface.source_index)
        return (
            np.array_equal(surface.source_vertices, vertices)
            and np.array_equal(surface.source_triangles, triangles)
            and np.array_equal(surface.triangles, self.part.triangles)
        )

    @property
    def places(self) -> NDArray[np.float32]:
        """Return where vertices are, as the file has it, (V, 3)."""
        return np.ascontiguousarray(self.surface.positions[0][:, SWAPPED])


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Lwo:
    """Return the file of a model that `conform` gave; inverse of `to_model`.

    Options: "triangulate" writes polygons of more than three corners as triangles.

    Raises:
        LimitError: a position or texture coordinate that is no number, or beyond all; the sentence names the surface.
    """
    source = model.source_of(FORMAT)
    if source is not None and not all(
        isinstance(s, CodedSource) and s.codes.dtype == np.int64 for s in source.surfaces
    ):
        warn_damaged(model.name)
        source = None
    known = _known(source, model.name)
    bare = [surface.name for surface in model.surfaces if surface.source_index < 0 and not any(surface.shaders[:1])]
    if bare:
        log.warning("LWO has no surface without a material: they are called as their objects: %s", listed(bare))
    settled = [Settled(surface, settle(model, surface, source, SCALE)) for surface in model.surfaces]
    if known is None or source is None:
        return _best(Known(read(SKELETON), [], {}), settled)
    _claim(settled, source, known)
    _judge(settled, source, known, bool(options.get(TRIANGULATE)))
    if known.lwo.kind == LWOB and not _only_moved(settled, known):
        log.warning("'%s' is written anew as LWO2: LWOB has no place for what was edited", model.name)
        looks = {shader_of(surf.name): surf for surf in reversed(known.lwo.surfs)}
        for each in settled:
            each.anew, each.part, each.origins = True, None, np.full(len(each.codes), NONE)
            each.owners = np.full(len(each.owners), NONE)
        return _best(Known(read(SKELETON), [], {}), settled, looks)
    return _best(known, settled)


def _claim(settled: list[Settled], source: ModelSource, known: Known) -> None:
    """Tell each surface which part of the file it is, and which points and polygons; a copy is no part."""
    taken = set()
    index_of = {id(part): index for index, part in enumerate(source.surfaces)}
    for each in settled:
        surface, index = each.surface, each.surface.source_index
        if index in known.owners and index not in taken:
            taken.add(index)
            each.part = known.parts[known.owners[index]]
        each.origins, each.same_normals = np.full(len(each.codes), NONE), np.zeros(len(each.codes), np.bool_)
        each.owners = np.full(len(surface.triangles), NONE)
        if surface.source_vertices is not None:
            for own, places, vertices in source.vertex_parts(surface.source_vertices):
                part = known.parts[known.owners[index_of[id(own)]]]
                each.origins[places] = part.points[vertices]
                each.same_normals[places] = part.codes[0, vertices, 3] == each.codes[places, 3]
        if surface.source_triangles is not None:
            firsts = source.first_triangles
            for number in range(len(source.surfaces)):
                mine = (surface.source_triangles >= firsts[number]) & (surface.source_triangles < firsts[number + 1])
                part = known.parts[known.owners[number]]
                each.owners[mine] = part.owners[surface.source_triangles[mine] - firsts[number]]


def _judge(settled: list[Settled], source: ModelSource, known: Known, triangulate: bool) -> None:
    """Decide whose polygons stay: what is whole, and agrees with all that shares its points and rows."""
    large = _large(known.lwo)
    for each in settled:
        part = each.part
        if part is None or not each.is_whole(source) or (triangulate and large[part.polygons].any()):
            continue
        own = each.surface.own_normals
        turned = (each.codes[:, 3] != part.codes[0, :, 3]) & (False if own is None else own)
        shifted = _shifted(each)
        each.anew = bool(turned.any()) or bool((part.rows[shifted] == NONE).any())
    for keys, values in (("points", _places), ("rows", _uvs)):
        stay = _staying(settled)
        if not stay:
            return
        numbers = np.concatenate([getattr(each.part, keys) for each in stay])
        torn = _torn(numbers, np.concatenate([values(each) for each in stay]))
        starts = np.cumsum([0, *(len(each.codes) for each in stay)])
        for each, start, end in zip(stay, starts, starts[1:], strict=False):
            changed = _moved(each) if keys == "points" else _shifted(each)
            each.anew = bool((torn[start:end] & changed).any())
    _recut(settled, known)


def _staying(settled: list[Settled]) -> list[Settled]:
    """Return the surfaces whose polygons stay."""
    return [each for each in settled if not each.anew and each.part is not None]


def _recut(settled: list[Settled], known: Known) -> None:
    """Write surfaces anew whose polygons of more corners would be cut into other triangles, since points moved."""
    layer, shown = known.lwo.layers[0], np.flatnonzero(are_shown(known.lwo.layers[0]))
    if not _large(known.lwo).any():
        return
    faces = faces_of(known.lwo, layer)
    before, owners = triangles_of(layer.points, faces, shown)
    while True:
        points = layer.points.copy()
        for each in _staying(settled):
            assert each.part is not None
            moved = _moved(each)
            points[each.part.points[moved]] = each.places[moved]
        other = np.zeros(layer.num_polygons, np.bool_)
        other[owners[(triangles_of(points, faces, shown)[0] != before).any(axis=1)]] = True
        bad = [each for each in _staying(settled) if each.part is not None and other[each.part.polygons].any()]
        if not bad:
            return
        for each in bad:
            each.anew = True


def _places(each: Settled) -> NDArray[np.int64]:
    return each.codes[:, :3]


def _uvs(each: Settled) -> NDArray[np.int32]:
    return np.ascontiguousarray(each.surface.uvs, np.float32).view(np.int32)


def _moved(each: Settled) -> NDArray[np.bool_]:
    """Tell which vertices lie elsewhere than in the file, (V,)."""
    assert each.part is not None
    moved: NDArray[np.bool_] = (each.codes[:, :3] != each.part.codes[0, :, :3]).any(axis=1)
    return moved


def _shifted(each: Settled) -> NDArray[np.bool_]:
    """Tell which vertices have other texture coordinates than in the file, (V,)."""
    assert each.part is not None
    shifted: NDArray[np.bool_] = (each.surface.uvs != each.part.uvs).any(axis=1)
    return shifted


def _torn(numbers: Ints, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of which of some numbers (n,) the values (n, k) differ, (n,); NONE is nobody's."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    other = (values != values[first][inverse]).any(axis=1)
    torn: NDArray[np.bool_] = (np.bincount(inverse, other, len(first)) > 0)[inverse] & (numbers != NONE)
    return torn


def _only_moved(settled: list[Settled], known: Known) -> bool:
    """Tell whether all that was edited are places of points: surfaces are all there, and called as they were."""
    same = all(
        each.part is not None and (each.surface.name, each.shader) == (each.part.name, each.part.shader)
        for each in settled
    )
    return same and len(settled) == len(known.parts) and not any(e.anew or _shifted(e).any() for e in settled)


def _best(known: Known, settled: list[Settled], looks: Mapping[str, Surf] | None = None) -> Lwo:
    """Return the file in which normals are nearest to those that are meant, and say which are not near."""

    def attempt(chosen: list[int]) -> tuple[Lwo, list[float]]:
        every = [replace(each, anew=each.anew or way == RAISED) for each, way in zip(settled, chosen, strict=True)]
        return _Writing(known, every, chosen, looks).result()

    ways = [KEPT if each.part is not None and each.shader == each.part.shader else SPLIT for each in settled]
    found, off = attempt(ways)
    for way in WAYS:
        bad = [i for i, far in enumerate(off) if far > ENOUGH]
        if not bad or not known.parts:
            break
        tried = _with_way(ways, settled, bad, way)
        again, now = attempt(tried)
        better = [i for i in bad if now[i] < off[i] - BETTER]
        if better and len(better) < len(bad):
            tried = _with_way(ways, settled, better, way)
            again, now = attempt(tried)
        if better:
            ways, found, off = tried, again, now
    worst = [
        f"'{e.surface.name}' (up to {far:.0f} degrees)" for e, far in zip(settled, off, strict=True) if far > ENOUGH
    ]
    if worst:
        log.warning("LWO holds no normals: games make others than are shown of %s", joined(worst))
    return found


def _with_way(ways: list[int], settled: list[Settled], which: list[int], way: int) -> list[int]:
    """Return the ways with another one for some; where the angle is raised all that have it are written anew."""
    found = [way if i in set(which) else old for i, old in enumerate(ways)]
    if way == RAISED:
        raised = {settled[i].shader for i in which}
        found = [RAISED if each.shader in raised else old for each, old in zip(settled, found, strict=True)]
    return found


class _Writing:
    """A file that is written: what was there, and what changes in it."""

    def __init__(
        self, known: Known, settled: list[Settled], ways: list[int], looks: Mapping[str, Surf] | None = None
    ) -> None:
        self.known, self.settled, self.looks = known, settled, looks or {}
        self.ways = {id(each): way for each, way in zip(settled, ways, strict=True)}
        self.lwo, self.layer = known.lwo, known.lwo.layers[0]
        self.names, self.surfs = list(self.lwo.tags), surfs_of(self.lwo)[: len(self.lwo.tags)]
        self.made: dict[int, Surf] = {}  # new surfaces by their tags, with what they are like
        self.pairs: set[tuple[int, int]] = set()  # tags of SURF and PART that surfaces have
        self.by_shader = {
            shader_of(name): tag for tag, name in reversed(list(enumerate(self.names))) if self.surfs[tag] is not None
        }
        taken = {tag for part in known.parts for tag in (part.tag, part.surface)} | set(self.by_shader.values())
        self.free = {name: tag for tag, name in reversed(list(enumerate(self.names))) if tag not in taken}

    def result(self) -> tuple[Lwo, list[float]]:
        """Return the file, and by how many degrees each surface' normals are off at most."""
        layer, settled = self.layer, self.settled
        kept = np.ones(layer.num_polygons, np.bool_)
        stay = {id(each.part): each for each in settled if each.part is not None and not each.anew}
        for part in self.known.parts:
            if id(part) not in stay:
                kept[part.polygons] = False
        data = self._patched([stay[id(part)] for part in self.known.parts if id(part) in stay])
        edit = LayerEdit(self.lwo, data, kept, layer.surfaces.copy(), layer.tags_of(b"PART", NONE))
        edit.box = data != self.lwo.data and layer.points_chunk >= 0
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
        return written, self._off(written, fresh)

    def _raises(self, each: Settled) -> bool:
        """Tell whether a surface that is written anew needs an angle that smooths all."""
        return self.ways[id(each)] == RAISED

    def _places_of(self, data: bytes) -> NDArray[np.float32]:
        """Return the points of the layer as they are now, (P, 3)."""
        if self.layer.points_chunk < 0:
            return self.layer.points
        place = self.lwo.chunks[self.layer.points_chunk].data
        return np.frombuffer(data, ">f4", self.layer.points.size, place).astype(np.float32).reshape(-1, 3)

    def _patched(self, stay: list[Settled]) -> bytes:
        """Return the file's bytes with the floats that changed of surfaces whose polygons stay."""
        data = np.frombuffer(self.lwo.data, np.uint8).copy()
        rows = mapped(self.lwo, self.layer).places
        for each in stay:
            part, moved, shifted = each.part, _moved(each), _shifted(each)
            assert part is not None
            if moved.any():
                first = self.lwo.chunks[self.layer.points_chunk].data
                values = each.places[moved]
                now = (values + 0.0).astype(">f4").view(np.uint8).reshape(-1, 3, 4)
                where = first + 12 * part.points[moved][:, None] + 4 * np.arange(3)
                other = values != self.layer.points[part.points[moved]]
                data[where[other][:, None] + np.arange(4)] = now[other]
            if shifted.any():
                now = np.ascontiguousarray(each.surface.uvs[shifted], ">f4").view(np.uint8).reshape(-1, 2, 4)
                where = rows[part.rows[shifted]][:, None] + 4 * np.arange(2)
                other = each.surface.uvs[shifted] != part.uvs[shifted]
                data[where[other][:, None] + np.arange(4)] = now[other]
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
        keys = np.concatenate((each.codes, np.full((len(each.codes), 1), NONE)), axis=1)
        if self.ways[id(each)] == KEPT:
            keys[:, 3] = each.origins
        keys[:, 4] = self._lonely(keys[:, :4], triangles)
        fresh = np.flatnonzero(own == NONE)
        _, first, inverse = np.unique(keys[fresh], axis=0, return_index=True, return_inverse=True)
        heads = fresh[first]
        own[fresh] = len(points) + inverse.reshape(-1)
        corners = triangles[:, SWAPPED]
        uvs = surface.uvs.astype(np.float32)
        of_point = np.full((len(points) + len(heads), 2), np.nan, np.float32)
        of_point[len(points) :] = uvs[heads]
        origins = each.origins[heads] if len(each.origins) else np.full(len(heads), NONE)
        owners = each.owners if len(each.owners) else np.full(len(triangles), NONE)
        other = (uvs[corners] != of_point[own[corners]]).any(axis=2)
        tag = self._tag(each, shader)
        return NewPolygons(
            each.places[heads] + np.float32(0),
            origins,
            uvs[heads],
            own[corners],
            owners,
            uvs[corners],
            other,
            shader,
            tag,
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
        if not len(each.origins) or not kept.any():
            return own
        used = np.zeros(len(points), np.bool_)
        used[self.layer.corners[np.repeat(kept, self.layer.counts)]] = True
        known = np.flatnonzero(each.origins >= 0)
        where = each.origins[known]
        still = used[where] & (each.places[known] == points[where]).all(axis=1)
        bad = np.zeros(len(points), np.bool_)
        if self.ways[id(each)] == KEPT:
            own[known] = np.where(still, where, NONE)
            return own
        bad[where[~(still & each.same_normals[known])]] = True
        bad[where[_torn(where, each.codes[known, 3:])]] = True
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
        if like.smooth_place < 0:
            rest = data[start : own.end]
            return packed_name(name) + rest + b"\0" * (len(rest) & 1) + b"SMAN\0\4" + angle
        return packed_name(name) + data[start : like.smooth_place] + angle + data[like.smooth_place + 4 : own.end]

    def _off(self, written: Lwo, fresh: list[Settled]) -> list[float]:
        """Return by how many degrees the normals that games make of each surface are off at most; 0 of what stays."""
        if not fresh:
            return [0.0] * len(self.settled)
        layer = written.layers[0]
        home = [each for each in layer.lists if each.kind == b"FACE"][-1]
        count = sum(len(each.surface.triangles) for each in fresh)
        end = home.first + len(home.heads)
        faces = faces_of(written, layer)
        corners = faces.starts[end - count : end][:, None] + SWAPPED
        made = corner_normals(layer.points, faces)[:, SWAPPED][corners]  # (T, 3, 3)
        off, first = {}, 0
        for each in fresh:
            wanted = decode_normals(each.codes[:, 3])[each.surface.triangles]
            own = made[first : first + len(wanted)]
            first += len(wanted)
            cosines = steady.dots(wanted, own) / np.maximum(steady.lengths(wanted), 1e-20)
            cosines = np.clip(cosines[steady.lengths(own) > 0], -1.0, 1.0)
            angles = steady.angles_of(np.sqrt(1.0 - cosines * cosines), cosines)
            off[id(each)] = float(np.degrees(angles.max(initial=0.0)))
        return [off.get(id(each), 0.0) for each in self.settled]
