"""Surfaces of an edited model as an LWO says them, and whose polygons stay: what is whole, and agrees with the others.

Surfaces share points, and rows of texture coordinates and colours. Where vertices at one of them say different things
those that say something new are written anew, with points of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.vertex import ModelSource, Surface
from ..common.static import SHADE, Scale, is_whole, known_further, settle_further
from .file import Lwo
from .normals import triangles_of
from .numbers import Ints
from .parts import NONE, SWAPPED, Part, are_shown, faces_of

NAMELESS = "Default"  # as LightWave calls the surface of what has none


@dataclass(eq=False)
class Known:
    """What a source tells of its file: what is in it, and which part of it each surface was."""

    lwo: Lwo
    parts: list[Part]
    owners: dict[int, int]  # by the surface's index: part


@dataclass(eq=False)
class Settled:
    """A surface as the file says it: V vertices."""

    surface: Surface
    codes: NDArray[np.int64]  # (V, 4)
    origins: Ints  # (V,) points of the file; NONE
    same_normals: NDArray[np.bool_]  # (V,) as in the file
    owners: Ints  # (T,) polygons of the file; NONE
    shades: NDArray[np.float32]  # (V, 4) colours in the file; NaN of new vertices
    part: Part | None = None
    anew: bool = True  # its polygons are written anew
    # Texture coordinates that games don't draw, by set: (T, 3, 2), those of the file, and corners (T, 3) without any.
    further: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    before: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    rowless: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def shader(self) -> str:
        """Return the name of its material; of what is not the file's and has none that of the surface."""
        found = self.surface.shaders[0] if self.surface.shaders else ""
        return found or ("" if self.part is not None and not self.part.shader else self.surface.name or NAMELESS)

    def is_whole(self, source: ModelSource) -> bool:
        """Tell whether it has the faces and vertices that it has in its file, in their order."""
        return self.part is not None and is_whole(self.surface, self.part.triangles, source)

    @property
    def places(self) -> NDArray[np.float32]:
        """Return where vertices are, as the file has it, (V, 3)."""
        return np.ascontiguousarray(self.surface.positions[0][:, SWAPPED])


def unclaimed(surface: Surface, codes: NDArray[np.int64]) -> Settled:
    """Return a surface that is new to the file, as far as is known yet."""
    nowhere, nobody = np.full(len(codes), NONE), np.full(len(surface.triangles), NONE)
    return Settled(
        surface, codes, nowhere, np.zeros(len(codes), np.bool_), nobody, np.full((len(codes), 4), np.nan, np.float32)
    )


def settle_sets(settled: list[Settled], source: ModelSource | None, known: Known, scale: Scale) -> None:
    """Tell each surface its further sets of texture coordinates; raises LimitError."""
    parts = {index: known.parts[part] for index, part in known.owners.items()}
    sets = {index: part.further for index, part in parts.items()}
    there = {index: _as_uvs(part.rows_of) for index, part in parts.items()}
    for each in settled:
        surface, rows = each.surface, dict[str, NDArray[np.float32]]()
        if source is not None:
            each.before = known_further(surface, source, lambda index: sets.get(index, {}))
            rows = known_further(surface, source, lambda index: there.get(index, {}))
        each.further = settle_further(surface, each.before, scale)
        for name in each.further.keys() & rows.keys():
            same = (each.further[name] == each.before[name]).all(axis=2)
            each.rowless[name] = same & (rows[name][..., 0] == 0)


def _as_uvs(rows: Mapping[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.float32]]:
    return {name: np.repeat(there[..., None], 2, axis=2).astype(np.float32) for name, there in rows.items()}


def claim(settled: list[Settled], source: ModelSource, known: Known) -> None:
    """Tell each surface which part of the file it is, and which points and polygons; a copy is no part."""
    taken = set()
    index_of = {id(part): index for index, part in enumerate(source.surfaces)}
    for each in settled:
        surface, index = each.surface, each.surface.source_index
        if index in known.owners and index not in taken:
            taken.add(index)
            each.part = known.parts[known.owners[index]]
        if surface.source_vertices is not None:
            for own, places, vertices in source.vertex_parts(surface.source_vertices):
                if index_of[id(own)] not in known.owners:
                    continue  # another file's
                part = known.parts[known.owners[index_of[id(own)]]]
                each.origins[places] = part.points[vertices]
                each.shades[places] = part.base_color if part.colors is None else part.colors[vertices]
                each.same_normals[places] = part.codes[0, vertices, 3] == each.codes[places, 3]
        if surface.source_triangles is not None:
            firsts = source.first_triangles
            for number, place in known.owners.items():
                mine = (surface.source_triangles >= firsts[number]) & (surface.source_triangles < firsts[number + 1])
                part = known.parts[place]
                each.owners[mine] = part.owners[surface.source_triangles[mine] - firsts[number]]


def large_polygons(lwo: Lwo) -> NDArray[np.bool_]:
    """Tell which polygons of the first layer have more than three corners, (N,)."""
    layer = lwo.layers[0]
    large: NDArray[np.bool_] = are_shown(layer) & (layer.counts > 3)
    return large


def judge(settled: list[Settled], source: ModelSource, known: Known, triangulate: bool) -> None:
    """Decide whose polygons stay: what is whole, and agrees with all that shares its points and rows."""
    large = large_polygons(known.lwo)
    for each in settled:
        part = each.part
        if part is None or not each.is_whole(source) or (triangulate and large[part.polygons].any()):
            continue
        own = each.surface.own_normals
        turned = (each.codes[:, 3] != part.codes[0, :, 3]) & (False if own is None else own)
        shifted = shifted_of(each)
        bare = (part.rows[shifted] == NONE).any() or (part.color_rows[painted_of(each)] == NONE).any()
        corners = part.corners.ravel()
        split = any(torn(corners, values.reshape(-1, 2)).any() for values in each.further.values())
        each.anew = bool(turned.any() or bare or split)
    for shared in SHARED:
        stay = _staying(settled)
        if not stay:
            return
        numbers = np.concatenate([getattr(each.part, shared.rows) for each in stay])
        apart = torn(numbers, np.concatenate([shared.said(each) for each in stay]))
        starts = np.cumsum([0, *(len(each.codes) for each in stay)])
        for each, start, end in zip(stay, starts, starts[1:], strict=False):
            each.anew = bool((apart[start:end] & shared.changed(each)).any())
    _recut(settled, known)


def _staying(settled: list[Settled]) -> list[Settled]:
    """Return the surfaces whose polygons stay."""
    return [each for each in settled if not each.anew and each.part is not None]


def _recut(settled: list[Settled], known: Known) -> None:
    """Write surfaces anew whose polygons of more corners would be cut into other triangles, since points moved."""
    layer, shown = known.lwo.layers[0], np.flatnonzero(are_shown(known.lwo.layers[0]))
    if not large_polygons(known.lwo).any():
        return
    faces = faces_of(known.lwo, layer)
    before, owners = triangles_of(layer.points, faces, shown)
    while True:
        points = layer.points.copy()
        for each in _staying(settled):
            assert each.part is not None
            moved = moved_of(each)
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


def moved_of(each: Settled) -> NDArray[np.bool_]:
    """Tell which vertices lie elsewhere than in the file, (V,)."""
    assert each.part is not None
    moved: NDArray[np.bool_] = (each.codes[:, :3] != each.part.codes[0, :, :3]).any(axis=1)
    return moved


def shifted_of(each: Settled) -> NDArray[np.bool_]:
    """Tell which vertices have other texture coordinates than in the file, (V,)."""
    assert each.part is not None
    shifted: NDArray[np.bool_] = (each.surface.uvs != each.part.uvs).any(axis=1)
    return shifted


def painted_of(each: Settled) -> NDArray[np.bool_]:
    """Tell which vertices have another colour than in the file, (V,), as far as Blender holds colours."""
    part, colors = each.part, each.surface.colors
    assert part is not None
    if colors is None:
        return np.zeros(len(each.codes), np.bool_)
    known = part.base_color if part.colors is None else part.colors
    painted: NDArray[np.bool_] = (np.abs(colors - known) > SHADE).any(axis=1)
    return painted


def _colors(each: Settled) -> NDArray[np.int64]:
    """Return the new colours of vertices in 255 steps, (V, 4); NONE of those that have the file's."""
    painted, colors = painted_of(each), each.surface.colors
    found = np.full((len(painted), 4), NONE, np.int64)
    if colors is not None:
        found[painted] = np.rint(colors[painted].astype(np.float64) * 255)
    return found


def new_colors(each: Settled) -> NDArray[np.float32] | None:
    """Return the colours (V, 4) of a surface that is written anew; None where what was there says them, or nothing.

    What corners of old polygons say goes with these: no corner of a new one has a colour by that.
    """
    colors = each.surface.colors
    if colors is None:
        return None
    same = (np.abs(colors - each.shades) <= SHADE).all(axis=1)
    by_corner = torn(each.origins, each.shades)
    said = same.all() and not by_corner[each.surface.triangles[each.owners == NONE]].any()
    return None if said else np.where(same[:, None], each.shades, colors).astype(np.float32)


class Shared(NamedTuple):
    """Rows of the file that several surfaces may share."""

    rows: str  # the field of `Part` that says which row each vertex has
    said: Callable[[Settled], NDArray[Any]]  # what vertices say of theirs, (V, k)
    changed: Callable[[Settled], NDArray[np.bool_]]  # which vertices say something new, (V,)


SHARED = (
    Shared("points", _places, moved_of),
    Shared("rows", _uvs, shifted_of),
    Shared("color_rows", _colors, painted_of),
)


def torn(numbers: Ints, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of which of some numbers (n,) the values (n, k) differ, (n,); NONE is nobody's."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    other = (values != values[first][inverse]).any(axis=1)
    found: NDArray[np.bool_] = (np.bincount(inverse, other, len(first)) > 0)[inverse] & (numbers != NONE)
    return found


def only_moved(settled: list[Settled], known: Known) -> bool:
    """Tell whether all that was edited are places of points: surfaces are all there, and called as they were."""
    same = all(
        each.part is not None and (each.surface.name, each.shader) == (each.part.name, each.part.shader)
        for each in settled
    )
    return (
        same
        and len(settled) == len(known.parts)
        and not any(e.anew or shifted_of(e).any() or painted_of(e).any() or e.further for e in settled)
    )
