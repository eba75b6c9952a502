"""Levels of detail of vertex-animated models: the same model with fewer triangles, which games draw from afar.

Quake III and its kin take a level from a file of its own: NAME_1.md3, NAME_2.md3 (Enemy Territory: _3, too) beside
NAME.md3 (`R_RegisterMD3`, ioquake3's tr_model.c). The levels' numbers have no gaps; all have the frames of NAME.md3 in
its order, for the game asks them for those; tags and the bounds that choose the level come from NAME.md3 alone; a skin
finds the surfaces of all by the same names.

So a level has the model's frames, tags, surfaces and shaders. Its vertices are some of the model's, each with its own
texture coordinate, and its own positions and normals in all frames (half-edge collapses): nothing is interpolated. What
is at one place in all frames, both sides of a seam of the texture, or two surfaces that meet, goes together or stays,
so that seams stay closed. How far the surface moves is judged by the frame in which that shows most.

Letters in shapes: F frames, V vertices of a surface, T its triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError
from .. import steady
from ..edits.conform import split_surface, with_vertices
from ..limits.games import MOST_LEVELS
from ..vertex import Surface, VertexModel
from .decimate import Mesh, Texture
from .poses import find_places

MOST_PLACES = 1 << 20  # vertices in all frames that are looked at; of more, frames evenly spread are
STEPS = 1.75  # of the file's precision: so far apart are vertices of a seam that were rounded by themselves
WIDEST = 2e-3  # of the model's diagonal, beyond which that is no rounding
FARTHEST = 1e6  # of texture coordinates
Fixed = Sequence[NDArray[np.bool_]]  # (V,) of each surface: vertices that stay


def shares_of(text: str) -> list[float]:
    """Return the shares, 0 to 1, that a list of percentages says: "50, 25".

    Raises:
        LimitError: it says something else, or more levels than games take.
    """
    words = text.replace(",", " ").replace("%", " ").split()
    try:
        percentages = [float(word) for word in words]
    except ValueError:
        percentages = []
    falling = all(a > b for a, b in zip([100.0, *percentages], [*percentages, 0.0], strict=True))
    if not percentages or not falling:
        raise LimitError(f"levels of detail are percentages that fall, as 50, 25: '{text}' is not that")
    if len(percentages) > MOST_LEVELS:
        raise LimitError(f"games take {MOST_LEVELS} levels of detail beside the model, these are {len(percentages)}")
    return [percentage / 100.0 for percentage in percentages]


def make_level(model: VertexModel, share: float, fixed: Fixed | None = None) -> VertexModel:
    """Return a model with a share, 0 to 1, of its triangles, or more where no more can go without a tear.

    `fixed` are vertices that stay where they are, as those at which another model goes on.

    Raises:
        LimitError: the model has no triangles.
    """
    return make_levels(model, [share], fixed)[0]


def make_levels(model: VertexModel, shares: Sequence[float], fixed: Fixed | None = None) -> list[VertexModel]:
    """Return a model with each of some shares of its triangles, which fall; see `make_level`."""
    surfaces = [split_surface(surface) for surface in model.surfaces]
    total = sum(len(surface.triangles) for surface in surfaces)
    if not total:
        raise LimitError("there are no faces that a level of detail could have fewer of")
    whole = _Whole(surfaces, model, fixed)
    whole.mesh.start()
    levels = []
    for share in shares:
        whole.mesh.shrink(round(share * total))
        levels.append(replace(model, surfaces=whole.left()))
    return levels


def share_left(level: VertexModel, model: VertexModel) -> float:
    """Return which share of a model's triangles a level has."""
    counts = [sum(len(surface.triangles) for surface in each.surfaces) for each in (level, model)]
    return counts[0] / max(counts[1], 1)


class _Whole:
    """Surfaces of a model as one mesh, in all frames that differ.

    Vertices of a surface that differ in nothing but their normals are one in it: a sharp edge goes where its shape lets
    it. A corner that comes to another place gets the vertex there whose normal is most like its own.
    """

    def __init__(self, surfaces: Sequence[Surface], model: VertexModel, fixed: Fixed | None) -> None:
        self.surfaces = surfaces
        counts = [surface.num_vertices for surface in surfaces]
        self.firsts = np.cumsum([0, *counts])
        parts = np.repeat(np.arange(len(surfaces)), [len(surface.triangles) for surface in surfaces])
        both = zip(surfaces, self.firsts, strict=False)
        self.corners = np.concatenate([s.triangles.astype(np.int64) + first for s, first in both])
        points = _points(surfaces, model.num_frames)
        uvs = np.nan_to_num(np.concatenate([surface.uvs for surface in surfaces]).astype(np.float64))
        reach = _reach(model, points)
        places = find_places(points, reach)[1]
        owners = np.repeat(np.arange(len(surfaces)), counts)
        rows = np.column_stack((owners, places, (uvs + 0.0).view(np.int64)))
        self.lowest, self.kinds = np.unique(rows, axis=0, return_index=True, return_inverse=True)[1:]
        self.kinds = self.kinds.reshape(-1)
        corners = self.lowest[self.kinds[self.corners]]
        held = None if fixed is None else np.concatenate(list(fixed))
        self.mesh = Mesh(points, uvs, corners, held, parts, reach)
        self.mesh.texture = Texture(points[0] / self.mesh.size, np.clip(uvs, -FARTHEST, FARTHEST), corners)

    def left(self) -> list[Surface]:
        """Return what the mesh has left of the surfaces; of those without triangles all."""
        drawn, numbers = self.mesh.drawn()
        corners = self._vertices(self.kinds[drawn], self.corners[numbers])
        found: list[Surface] = []
        triangle = 0
        for surface, first in zip(self.surfaces, self.firsts, strict=False):
            own = (numbers >= triangle) & (numbers < triangle + len(surface.triangles))
            of_surface = corners[own] - first
            found.append(_with_triangles(surface, of_surface, numbers[own] - triangle) if own.any() else surface)
            triangle += len(surface.triangles)
        return found

    def _vertices(self, kinds: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vertices of corners (n, 3) that are of some kinds now; `before` are those that they were."""
        found = before.copy()
        moved = np.flatnonzero(kinds.reshape(-1) != self.kinds[before.reshape(-1)])
        order = np.argsort(self.kinds, kind="stable")
        starts = np.searchsorted(self.kinds[order], np.arange(len(self.lowest) + 1))
        wanted = kinds.reshape(-1)[moved]
        sizes = starts[wanted + 1] - starts[wanted]
        rows = np.repeat(np.arange(len(moved)), sizes)  # each such corner with each vertex of its kind
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        vertices = order[starts[wanted][rows] + nth]
        normals = np.concatenate([_normals(surface) for surface in self.surfaces])
        own = normals[before.reshape(-1)[moved][rows]]
        unlike = -steady.rounded(steady.dots(normals[vertices], own))
        best = np.lexsort((vertices, unlike, rows))
        found.reshape(-1)[moved] = vertices[best[np.flatnonzero(np.diff(rows[best], prepend=-1))]]
        return found


def _normals(surface: Surface) -> NDArray[np.float64]:
    """Return the normals of a surface's vertices in the first frame, (V, 3); zeros where it does not say."""
    normals = surface.some_normals(slice(0, 1))
    if normals is None:
        return np.zeros((surface.num_vertices, 3))
    found: NDArray[np.float64] = np.nan_to_num(normals[0].astype(np.float64))
    return found


def _points(surfaces: Sequence[Surface], num_frames: int) -> NDArray[np.float64]:
    """Return where all vertices are in the frames that differ, (F, V, 3)."""
    count = sum(surface.num_vertices for surface in surfaces)
    most = max(MOST_PLACES // max(count, 1), 1)
    chosen = np.unique(np.linspace(0, num_frames - 1, min(num_frames, most)).astype(np.int64))
    points = np.concatenate([surface.some_positions(chosen) for surface in surfaces], axis=1)
    points = points[_different(points)].astype(np.float64)
    return np.nan_to_num(points, posinf=0.0, neginf=0.0)


def _reach(model: VertexModel, points: NDArray[np.float64]) -> float:
    """Return how far apart vertices (F, V, 3) may be at one place: what the model's file was rounded by."""
    steps = [own.step for own in model.source.surfaces] if model.source is not None else []
    size = float(steady.lengths(np.ptp(points.reshape(-1, 3), axis=0)))
    return min(STEPS * max(steps, default=0.0), WIDEST * size)


def _different(points: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the first of the frames (F, V, 3) that are alike, in their order."""
    rows = np.ascontiguousarray(points + np.float32(0.0)).reshape(len(points), -1)
    packed = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return np.sort(np.unique(packed, return_index=True)[1])


def _with_triangles(surface: Surface, corners: NDArray[np.int64], numbers: NDArray[np.int64]) -> Surface:
    """Return a surface with triangles (n, 3) of its vertices, and those alone; `numbers` (n,) say which they were."""
    kept, places = np.unique(corners, return_inverse=True)
    triangles = places.reshape(-1, 3).astype(np.int32)
    level = with_vertices(surface, kept, triangles, surface.uvs[kept])
    if surface.source_triangles is not None:
        same = (corners == surface.triangles[numbers]).all(axis=1)
        level.source_triangles = np.where(same, surface.source_triangles[numbers], -1).astype(np.int32)
    return level
