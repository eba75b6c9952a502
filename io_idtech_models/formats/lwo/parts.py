"""What a model shows of an LWO: its first layer, as games do; and which rows of the file each vertex comes from.

A surface is what of the layer wears one material, part by part where the file has parts. A vertex is a point with a row
of texture coordinates, or none, one of colours, and a normal. LightWave's space is left-handed, with Y up: games swap Y
and Z, and what was clockwise from outside is counter-clockwise.

Positions are coded in steps of 2**-32 units, of which every float32 from 2**-9 on is a whole number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...model.source import corner_uvs
from ..common.static import encode_normals
from .file import FACES, GREY, LARGEST, Layer, Lwo, Surf
from .normals import Faces, corner_normals, triangles_of
from .numbers import Ints, floats_at, shown_name

STEPS = float(1 << 32)
STEP = np.float32(1 / STEPS)
SWAPPED = [0, 2, 1]
NONE = -1
UVS, COLORS = b"TXUV", b"RGBA"  # kinds of maps that games look at
MAP_NAME = b"Texture"  # of texture coordinates that have no name yet
SUFFIX = re.compile(r"\.[^./]*$")
BEYOND = np.float32(LARGEST)  # texture coordinates are shown up to here


@dataclass(eq=False)
class Part:
    """What of the layer is one surface: V vertices, T triangles."""

    surface: int  # tag of its SURF
    tag: int  # of its PART; NONE
    name: str
    shader: str
    polygons: Ints  # (n,) of the layer
    owners: Ints  # (T,) which polygon each triangle is of
    triangles: NDArray[np.int32]  # (T, 3)
    points: Ints  # (V,)
    rows: Ints  # (V,) of `Mapped`
    codes: NDArray[np.int64]  # (1, V, 4)
    uvs: NDArray[np.float32]  # (V, 2)
    color_rows: Ints  # (V,) of `Mapped`, RGBA
    base_color: NDArray[np.float32]  # (4,) of what has no row
    colors: NDArray[np.float32] | None  # (V, 4); None: no vertex has a row
    corners: Ints  # (T, 3) of the layer
    uv_name: str = ""  # of the set that games draw, or most of it
    # Other sets that say something else: (T, 3, 2) of corners, what is drawn where they have no row, which (T, 3) have.
    further: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    rows_of: dict[str, NDArray[np.bool_]] = field(default_factory=dict)


@dataclass(eq=False)
class Mapped:
    """The rows of all maps of one kind of a layer: R of them."""

    places: Ints  # (R,) where they stand in the file
    values: NDArray[np.float32]  # (R, width)
    of_corners: Ints  # (C,) the row of each corner; NONE
    maps: Ints  # (R,) which of the layer's maps each row is of

    def taken(self, rows: Ints) -> NDArray[np.float32]:
        """Return the values (n, width) of some rows (n,); 0 without one.

        What games make of a corner without texture coordinates depends on other rows, or on the box: nothing to edit.
        """
        found = np.zeros((len(rows), self.values.shape[1]), np.float32)
        found[rows >= 0] = self.values[rows[rows >= 0]]
        return found


def shader_of(name: bytes) -> str:
    """Return a surface's name as games look it up: with slashes, without what follows its last dot.

    `idDeclManager` (dhewm3) and picomodel's `_pico_setfext` both cut there.
    """
    return SUFFIX.sub("", shown_name(name).replace("\\", "/"))


def surfs_of(lwo: Lwo) -> list[Surf | None]:
    """Return the SURF that each tag names, the first of that name; one that is None of a file without tags."""
    named = {surf.name: surf for surf in reversed(lwo.surfs)}
    return [named.get(name) for name in lwo.tags] or [None]


def mapped(lwo: Lwo, layer: Layer, kind: bytes = UVS, width: int = 2, name: bytes | None = None) -> Mapped:
    """Return the rows of maps of a kind, texture coordinates or colours, and which of them counts for each corner.

    With a `name` of those alone that are called so.
    """
    chosen = [
        number
        for number, each in enumerate(layer.maps)
        if each.kind == kind and each.width >= width and name in (None, each.name)
    ]
    maps = [layer.maps[number] for number in chosen]
    firsts = np.cumsum([0, *(len(each.points) for each in maps)]).tolist()
    of_point = np.full(len(layer.points), NONE, np.int64)
    for each, first in zip(maps, firsts, strict=False):
        if each.polygons is None:
            of_point[each.points] = first + np.arange(len(each.points))
    of_corners = of_point[layer.corners]
    owners = np.repeat(np.arange(layer.num_polygons), layer.counts)
    keys = owners * len(layer.points) + layer.corners
    order = np.argsort(keys, kind="stable")
    for each, first in zip(maps, firsts, strict=False):
        if each.polygons is not None and len(keys):
            wanted = each.polygons * len(layer.points) + each.points
            places = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
            hit = np.flatnonzero(keys[order][places] == wanted)
            of_corners[order[places[hit]]] = first + hit
    places = np.concatenate([np.zeros(0, np.int64), *(each.places for each in maps)])
    values = np.clip(np.nan_to_num(floats_at(lwo.data, places, width)), -BEYOND, BEYOND)
    return Mapped(places, values, of_corners, np.repeat(np.array(chosen, np.int64), np.diff(firsts)))


def set_names(layer: Layer) -> dict[str, bytes]:
    """Return the names of a layer's sets of texture coordinates as they are shown, in their order."""
    found: dict[str, bytes] = {}
    for each in layer.maps:
        if each.kind == UVS and each.width >= 2:
            found.setdefault(shown_name(each.name) or shown_name(MAP_NAME), each.name)
    return found


def faces_of(lwo: Lwo, layer: Layer) -> Faces:
    """Return the polygons of a layer, with the smoothing angles of their surfaces."""
    angles = np.array([0.0 if surf is None else surf.smooth for surf in surfs_of(lwo)])
    return Faces(layer.counts, layer.corners, angles[layer.surfaces], layer.tags_of(b"SMGP", 0))


def are_shown(layer: Layer) -> NDArray[np.bool_]:
    """Tell which polygons of a layer are surfaces, (N,): they have three corners, or more."""
    kinds = [np.full(len(each.heads), each.kind in FACES) for each in layer.lists]
    shown: NDArray[np.bool_] = np.concatenate([np.zeros(0, np.bool_), *kinds]) & (layer.counts >= 3)
    return shown


@dataclass(eq=False)
class _Shown:
    """What all parts of a layer are made of."""

    normals: Ints  # (C,) codes
    places: NDArray[np.int64]  # (P, 3) codes
    uvs: Mapped
    paint: Mapped
    sets: dict[str, Mapped]  # those of texture coordinates by their names; none of a layer with a single one
    names: list[str]  # of each of the layer's maps
    tags: Ints  # (N,) of PART
    surfs: list[Surf | None]  # by tags


def parts_of(lwo: Lwo) -> list[Part]:
    """Return the parts of the first layer, in the order in which its polygons name them."""
    layer = lwo.layers[0]
    faces, uvs, paint = faces_of(lwo, layer), mapped(lwo, layer), mapped(lwo, layer, COLORS, 4)
    normals = encode_normals(corner_normals(layer.points, faces)[:, SWAPPED]).astype(np.int64)
    places = np.rint(layer.points.astype(np.float64) * STEPS).astype(np.int64)[:, SWAPPED]
    names = {name: tag for tag, name in reversed(list(enumerate(lwo.tags)))}
    same = np.array([names[name] for name in lwo.tags] or [0])  # tags of one name are one surface
    tags = layer.tags_of(b"PART", NONE)
    tags[tags >= len(lwo.tags)] = NONE
    keys = same[layer.surfaces] * (len(lwo.tags) + 1) + tags + 1
    shown = np.flatnonzero(are_shown(layer))
    corners, owners = triangles_of(layer.points, faces, shown)
    order = np.argsort(keys[owners], kind="stable")
    starts = np.flatnonzero(np.diff(keys[owners][order], prepend=-1))
    groups = sorted(np.split(order, starts[1:]) if len(order) else [], key=lambda group: int(group[0]))
    called = set_names(layer)
    sets = {text: mapped(lwo, layer, name=name) for text, name in called.items()} if len(called) > 1 else {}
    texts = {name: text for text, name in called.items()}
    ready = _Shown(
        normals, places, uvs, paint, sets, [texts.get(each.name, "") for each in layer.maps], tags, surfs_of(lwo)
    )
    return [_part(lwo, corners[group], owners[group], ready) for group in groups]


def _part(lwo: Lwo, corners: Ints, owners: Ints, ready: _Shown) -> Part:
    """Return what some triangles (T, 3) of polygons (T,) show."""
    layer, uvs, paint = lwo.layers[0], ready.uvs, ready.paint
    of = corners[:, [0, 2, 1]].ravel()  # counter-clockwise
    vertices = np.stack((layer.corners[of], uvs.of_corners[of], ready.normals[of], paint.of_corners[of]), axis=1)
    _, first, inverse = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    vertices = vertices[first[order]]
    codes = np.concatenate((ready.places[vertices[:, 0]], vertices[:, 2:3]), axis=1)[None]
    surface, tag = int(layer.surfaces[owners[0]]), int(ready.tags[owners[0]])
    name = lwo.tags[surface] if surface < len(lwo.tags) else b""
    called = shown_name(lwo.tags[tag]) if tag != NONE else shader_of(name)
    base, color_rows = base_color(ready.surfs[surface]), vertices[:, 3]
    colors = np.where((color_rows >= 0)[:, None], np.clip(paint.taken(color_rows), 0.0, 1.0), base)
    triangles = rank[inverse.reshape(-1)].reshape(-1, 3).astype(np.int32)
    drawn = uvs.taken(vertices[:, 1])
    uv_name, further, rows_of = _sets(of.reshape(-1, 3), drawn, triangles, ready)
    return Part(
        surface=surface,
        tag=tag,
        name=called,
        shader=shader_of(name),
        polygons=np.unique(owners),
        owners=owners,
        triangles=triangles,
        points=vertices[:, 0],
        rows=vertices[:, 1],
        codes=np.ascontiguousarray(codes),
        uvs=drawn,
        color_rows=color_rows,
        base_color=base,
        colors=colors if (color_rows >= 0).any() else None,
        corners=of.reshape(-1, 3),
        uv_name=uv_name,
        further=further,
        rows_of=rows_of,
    )


def _sets(
    corners: Ints, uvs: NDArray[np.float32], triangles: NDArray[np.int32], ready: _Shown
) -> tuple[str, dict[str, NDArray[np.float32]], dict[str, NDArray[np.bool_]]]:
    """Return the name of the set that is drawn, and other sets that differ from it at some of the corners (T, 3).

    Of these what they say, (T, 3, 2), which is what is drawn at corners of which they have no row, and at which corners
    they have one, (T, 3). What is drawn are `uvs` (V, 2): so its set is one that contradicts them nowhere, if there is
    one, and of several the one that agrees at most corners.
    """
    rows = ready.uvs.of_corners[corners]
    rows = rows[rows >= 0]
    if not len(rows):
        return "", {}, {}
    if not ready.sets:
        return ready.names[int(ready.uvs.maps[rows[0]])], {}, {}
    drawn, maps = corner_uvs(uvs, triangles), ready.uvs.maps[rows]
    values, rows_of = {}, {}
    ranks = {}  # contradicts nowhere, agrees at how many corners, is how many corners' last, comes last
    counts = np.bincount(maps, minlength=len(ready.names)).tolist()
    for order, (name, rows_there) in enumerate(ready.sets.items()):
        there = rows_of[name] = rows_there.of_corners[corners] >= 0
        found = rows_there.taken(rows_there.of_corners[corners.ravel()]).reshape(-1, 3, 2)
        values[name] = np.where(there[..., None], found, drawn).astype(np.float32)
        same = (found == drawn).all(axis=2)
        says = int((there & same).sum())
        held = sum(n for n, called in zip(counts, ready.names, strict=True) if called == name)
        ranks[name] = not (there & ~same).any(), says, held, order
    uv_name = max(ranks, key=lambda name: ranks[name])
    further = {name: own for name, own in values.items() if name != uv_name and (own != drawn).any()}
    return uv_name, further, {name: rows_of[name] for name in further}


def base_color(surf: Surf | None) -> NDArray[np.float32]:
    """Return the colour (4,) that Doom 3 gives vertices of a surface which have none."""
    return np.clip(np.array([*(GREY if surf is None else surf.color), 1.0], np.float32), 0.0, 1.0)
