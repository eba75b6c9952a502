"""Surfaces that have more than a game takes, cut into pieces that it takes.

Quake III refuses surfaces of 1000 vertices or 2000 triangles and more (`R_LoadMD3`, ioquake3's tr_model.c): a figure
made in one piece must become several. Triangles are cut whole, along planes, where the fewest vertices must be in two
pieces; vertices keep their positions and normals in all frames on both sides, so that no seam shows. Of a model as its
file has it, that is: in codes, which the source keeps. Normals that would still have to be made would differ where the
triangles on the other side are not seen any more.

Letters in shapes: F frames, V vertices of a surface, T its triangles, n some of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import numbers_in
from ..limits.checks import engine_surface_name
from ..limits.games import VertexLimits
from ..skeletal import SkeletalModel
from ..vertex import Surface, VertexModel
from .conform import with_vertices

Indices = NDArray[np.int64]
# A cut leaves so many of the triangles on each side at least, where two pieces will do and where there will be more:
# no slivers, and each cut that follows sees much fewer.
OF_TWO, OF_MORE = 1 / 16, 1 / 4
APART = 1.5  # vertices to a place: more than usual seams make


def too_large(model: VertexModel, limits: VertexLimits) -> list[int]:
    """Return which surfaces have more vertices or triangles than a game takes.

    What it only is not made for is too large, too, but not if the surface is as the model's file has it.
    """
    found = []
    for index, surface in enumerate(model.surfaces):
        counts = {"vertices": surface.num_vertices, "triangles": len(surface.triangles)}
        over = {kind for kind, count in counts.items() if count > (getattr(limits, kind) or count)}
        if over - limits.soft or (over and not _is_sources(model, surface)):
            found.append(index)
    return found


def apart(surfaces: Sequence[Surface]) -> list[str]:
    """Return which surfaces have many vertices at one place, as flat faces and cut textures make them, in sentences."""
    found = []
    for surface in surfaces:
        places = len(np.unique(surface.some_positions(slice(0, 1), slice(None))[0], axis=0))
        if surface.num_vertices > APART * places:
            text = f"the vertices of '{surface.name}' stand in {places} places"
            found.append(f"{text}: shade it smooth, or unwrap it with fewer seams")
    return found


def _is_sources(model: VertexModel, surface: Surface) -> bool:
    """Tell whether a surface is one of the model's source, in whole and unedited."""
    source, frames = model.source, model.frames_from()
    if source is None or surface.source_index < 0 or (frames < 0).any():
        return False
    own = source.surfaces[surface.source_index]
    numbers = numbers_in(surface.source_vertices, source.first_vertices, surface.source_index, surface.num_vertices)
    same = np.array_equal(numbers, np.arange(own.num_vertices)) and np.array_equal(surface.triangles, own.triangles)
    return bool(same and np.array_equal(surface.positions, own.decoded_positions(frames)))


def split_surfaces(
    model: VertexModel, which: Sequence[int], limits: VertexLimits, room: int | None = None
) -> tuple[VertexModel, dict[str, list[str]]]:
    """Return a model, read from a file, with some of its surfaces cut into pieces, and these by the surface's name.

    The first piece keeps the surface's name, further ones are called x2, x3, and so on: as no other surface of the
    model is called for a game, in `room` bytes. Vertices that no triangle uses go with the last piece.
    """
    assert model.source is not None, "see the module's docstring"
    taken = {engine_surface_name(surface.name) for surface in model.surfaces}
    surfaces: list[Surface] = []
    pieces: dict[str, list[str]] = {}
    for index, surface in enumerate(model.surfaces):
        if index not in which:
            surfaces.append(surface)
            continue
        parts = cut(surface.triangles, surface.positions[0], limits.vertices, limits.triangles)
        names = [surface.name, *further_names(surface.name, len(parts) - 1, taken, room)]
        made = list(_pieces(surface, parts, limits.vertices))
        surfaces += [replace(piece, name=name) for piece, name in zip(made, names, strict=True)]
        pieces.setdefault(surface.name, []).extend(names)
    return replace(model, surfaces=surfaces), pieces


def further_names(name: str, count: int, taken: set[str], room: int | None) -> Iterator[str]:
    """Yield names of further pieces: x2, x3, and so on, that a game does not cut, nor has for others (`taken`)."""
    stem = name.rstrip("_")  # a game leaves a final "_x" out
    if stem and stem[-1].isdigit():
        stem += "-"
    number = 1
    for _ in range(count):
        while True:
            number += 1
            ending = str(number)
            raw = stem.encode("utf-8", errors="replace")
            fitting = raw if room is None else raw[: room - len(ending)]
            found = fitting.decode("utf-8", errors="ignore") + ending
            if engine_surface_name(found) not in taken and len(engine_surface_name(found)) == len(found.lower()):
                break
        taken.add(engine_surface_name(found))
        yield found


def named_apart(model: VertexModel | SkeletalModel, room: int) -> tuple[VertexModel | SkeletalModel, dict[int, str]]:
    """Return a model whose surfaces or meshes a game can tell apart by their names, and which are called otherwise now.

    Of several of one name the first keeps it; see `further_names`.
    """
    parts: list[Any] = [*(model.surfaces if isinstance(model, VertexModel) else model.meshes)]
    taken = {engine_surface_name(part.name) for part in parts}
    seen, found = set[str](), dict[int, str]()
    for nth, part in enumerate(parts):
        called = engine_surface_name(part.name)
        if called in seen:
            (found[nth],) = further_names(part.name, 1, taken, room)
            parts[nth] = replace(part, name=found[nth])
        seen.add(called)
    if not found:
        return model, found
    whole = replace(model, surfaces=parts) if isinstance(model, VertexModel) else replace(model, meshes=parts)
    return whole, found


def _pieces(surface: Surface, parts: list[Indices], most: int | None) -> Iterator[Surface]:
    """Yield the pieces of a surface that have some of its triangles each, their vertices in the surface's order."""
    idle = np.setdiff1d(np.arange(surface.num_vertices), surface.triangles)
    for nth, part in enumerate(parts):
        corners = surface.triangles[part]
        kept = np.unique(corners).astype(np.int64)
        if nth == len(parts) - 1 and len(idle):
            space = len(idle) if most is None else most - len(kept)
            kept = np.sort(np.concatenate((kept, idle[:space])))
        triangles = np.searchsorted(kept, corners).astype(np.int32)
        piece = with_vertices(surface, kept, triangles, surface.uvs[kept])
        if surface.source_triangles is not None:
            piece.source_triangles = surface.source_triangles[part]
        yield piece


def cut(
    triangles: NDArray[Any], positions: NDArray[Any], most_vertices: int | None, most_triangles: int | None
) -> list[Indices]:
    """Return the triangles (n,) of each piece, in their order: of (T, 3) with vertices at (V, 3).

    No piece has more vertices or triangles than the most there may be (3 and 1 at least); None: any number.
    """
    most = (most_vertices or len(positions) or 1, most_triangles or len(triangles) or 1)
    middles = np.asarray(positions, np.float64)[triangles].sum(axis=1)  # times three
    orders = np.argsort(middles, axis=0, kind="stable").T
    waiting = [_Part(np.arange(len(triangles)), *_numbered(triangles, len(positions)), orders)]
    found: list[Indices] = []
    while waiting:
        part = waiting.pop()
        if part.count <= most[0] and len(part.triangles) <= most[1]:
            found.append(part.triangles)
        else:
            left = _best_cut(part, most)
            waiting += [part.side(left), part.side(~left)]
    return sorted(found, key=lambda part: int(part[0]) if len(part) else 0)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of a surface's triangles."""

    triangles: NDArray[Any]  # (T,) which they are
    corners: NDArray[Any]  # (T, 3) vertices, by numbers for those that are used here
    count: int  # of these
    orders: NDArray[Any]  # (3, T) places in `triangles`, from one end of each axis to the other

    def side(self, chosen: NDArray[np.bool_]) -> _Part:
        """Return those of the triangles that are chosen, (T,)."""
        places = np.cumsum(chosen) - 1
        orders = np.stack([places[order[chosen[order]]] for order in self.orders])
        return _Part(self.triangles[chosen], *_numbered(self.corners[chosen], self.count), orders)


def _numbered(corners: NDArray[Any], count: int) -> tuple[Indices, int]:
    """Return triangles (T, 3) of some of `count` vertices with numbers for these alone, and how many they are."""
    used = np.zeros(count, np.bool_)
    used[corners] = True
    numbers = np.cumsum(used) - 1
    return numbers[corners], int(used.sum())


def _best_cut(part: _Part, most: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which triangles lie on one side of a plane, (T,): across the axis where least is needed twice."""
    total = len(part.corners)
    more = _needed(np.array([part.count]), np.array([total]), most)[0] > 2
    low = max(int(total * (OF_MORE if more else OF_TWO)), 1)
    counts = np.arange(low, total - low + 1)  # of triangles on the left
    best: tuple[Any, ...] = ()
    chosen: NDArray[np.bool_] = np.zeros(total, np.bool_)
    for order in part.orders:
        first, last = _reaches(part.corners[order], part.count)
        left = np.cumsum(np.bincount(first, minlength=total + 1))[counts - 1]
        right = part.count - np.cumsum(np.bincount(last, minlength=total + 1))[counts - 1]
        needed = _needed(left, counts, most) + _needed(right, total - counts, most)
        uneven = np.abs(2 * counts - total)
        fewest = np.flatnonzero(needed == needed.min())
        nth = int(fewest[np.lexsort((uneven[fewest], (left + right)[fewest]))[0]])
        key = (int(needed[nth]), int(left[nth] + right[nth]), int(uneven[nth]))
        if not best or key < best:
            best = key
            chosen = np.zeros(total, np.bool_)
            chosen[order[: counts[nth]]] = True
    return chosen


def _reaches(corners: NDArray[Any], count: int) -> tuple[Indices, Indices]:
    """Return the first and the last of triangles (T, 3) that use each of so many vertices, (V,)."""
    ranks, vertices = np.repeat(np.arange(len(corners)), 3), corners.reshape(-1)
    first, last = np.empty(count, np.int64), np.empty(count, np.int64)
    last[vertices] = ranks  # of several the last one stays
    first[vertices[::-1]] = ranks[::-1]
    return first, last


def _needed(vertices: Indices, triangles: Indices, most: tuple[int, int]) -> Indices:
    """Return how many pieces so many vertices (n,) and triangles (n,) make.

    Of several none is quite full: vertices along further cuts will be in two, and a sliver would be left over.
    """
    several = np.where(vertices > most[0], np.maximum(-(-vertices * 10 // (most[0] * 9)), 2), 1)
    return np.asarray(np.maximum(several, -(-triangles // most[1])))
