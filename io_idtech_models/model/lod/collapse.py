"""Level of detail by collapsing vertices: the maps of MDM (and MDS), checked, simulated and made.

A game draws a surface from afar with its first n vertices only. Corners of triangles that name others are looked up in
the collapse map until they name one of those; triangles that then use a vertex twice are left out. So vertices stand
in the order of their importance, and each is mapped to one before it.

Facts (ET: Legacy's `tr_animation_mdm.c`, `RB_MDM_SurfaceAnim`):

- n is the surface's vertices times the level of detail, 0 to 1, at least `min_lod`, at most all. Where all are drawn
  the map is not looked at.
- Entities with `REFLAG_DEAD_LOD` go below `min_lod`, down to 35 % of the vertices.
- The map is resolved in one pass upwards from entry n, which is right only if each entry is below its own number.

Letters in shapes: V vertices, T triangles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady
from .decimate import Mesh

Ints = NDArray[np.int32]
Doubles = NDArray[np.float64]

DEAD_SHARE = 0.35  # of the vertices that are drawn of the dead at least (REFLAG_DEAD_LOD)
TOLERANCE = 0.0125  # of the surface's diagonal: how far it may move at the lowest level
FARTHEST = 1e6  # of texture coordinates: farther ones are as unlike as can be
CHUNK = 256  # rows of distances at a time


@dataclass(eq=False)
class Order:
    """How a surface loses its vertices. New numbers are places in `order`."""

    order: Ints  # (V,) the old number of each vertex, the most important first
    collapse: Ints  # (V,) in new numbers
    min_lod: int  # the fewest vertices that still show what it is
    errors: Doubles  # (V,) how far the surface moves where a vertex goes, in its units; infinite: it tears


def problems(collapse: NDArray[Any], num_vertices: int, min_lod: int) -> list[str]:
    """Return a sentence for each thing in a collapse map (V,) over which the game would trip."""
    if len(collapse) != num_vertices:
        return [f"the collapse map has {len(collapse)} entries for {num_vertices} vertices"]
    found = []
    if num_vertices and min_lod < 1:
        found.append(f"min_lod is {min_lod}: from afar no vertex would be left to draw (1 or more)")
    lowest = max(1, min(min_lod, int(num_vertices * DEAD_SHARE)))
    entries = np.asarray(collapse, np.int64)[lowest:]
    wrong = np.flatnonzero((entries < 0) | (entries >= np.arange(lowest, num_vertices)))
    if len(wrong):
        vertex = int(wrong[0]) + lowest
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        found.append(f"vertex {vertex} collapses to {entries[wrong[0]]}, not to one before it{more}")
    return found


def drawn(triangles: NDArray[Any], collapse: NDArray[Any], count: int) -> Ints:
    """Return the triangles (n, 3) that a game draws of (T, 3) with the first `count` vertices.

    Raises:
        ValueError: the map leads to no vertex below `count` (see `problems`).
    """
    total = len(collapse)
    if count >= total:
        return np.array(triangles, np.int32).reshape(-1, 3)
    numbers = np.arange(total)
    steps = np.where(numbers < count, numbers, collapse)
    if count < 1 or steps.min() < 0 or steps.max() >= total:
        raise ValueError(f"the collapse map leads out of {total} vertices, of which {count} are drawn")
    for _ in range(total.bit_length()):
        steps = steps[steps]
    if (steps >= count).any():
        raise ValueError(f"the collapse map goes round in circles above {count}")
    corners = steps[np.asarray(triangles, np.int64).reshape(-1, 3)]
    apart = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return np.asarray(corners[apart], np.int32)


def identity(num_vertices: int, positions: NDArray[Any] | None = None) -> Ints:
    """Return a valid map (V,) for vertices in any order, of a surface that is always drawn in full.

    With `min_lod` of all vertices only the dead are drawn with less, and then without any order of importance. Given
    positions (V, 3), each vertex goes to the nearest before it, so that no triangle reaches across the surface.
    """
    if positions is None or num_vertices < 2:
        return np.asarray(np.arange(-1, num_vertices - 1, dtype=np.int32).clip(0))
    points = np.nan_to_num(np.asarray(positions, np.float64), posinf=0.0, neginf=0.0)
    points = points - points.mean(axis=0)
    result = np.zeros(num_vertices, np.int32)
    for start in range(1, num_vertices, CHUNK):
        end = min(start + CHUNK, num_vertices)
        result[start:end] = steady.nearest_before(points, start, end)
    return result


def simplify(
    positions: NDArray[Any],
    uvs: NDArray[Any],
    normals: NDArray[Any] | None,
    triangles: NDArray[Any],
    tolerance: float = TOLERANCE,
) -> Order:
    """Return an order of importance of a surface's vertices, and to which neighbour each goes.

    Vertices go one by one to a neighbour, the one that moves the surface least first: the error is the quadric of the
    planes of the triangles around both (Garland and Heckbert 1997), with planes upright on borders and on seams of the
    texture. Vertices at one position go together, each along an edge of its own side of a seam. What would fold over,
    join what is apart, or leave a border or a seam comes last, below `min_lod`. Vertices that no triangle uses go
    first.

    Equal input gives an equal result.

    Args:
        positions: (V, 3).
        uvs: (V, 2).
        normals: (V, 3) or None; like the texture coordinates they say which of several vertices at one position is
            the nearest to one that must leave its side of a seam.
        triangles: (T, 3); degenerate ones, repeats and edges of many triangles are allowed.
        tolerance: how far the surface may move at `min_lod`, as a share of its diagonal.

    Raises:
        ValueError: a triangle names a vertex that is not there.
    """
    corners = np.asarray(triangles, np.int64).reshape(-1, 3)
    total = len(positions)
    if len(corners) and (corners.min() < 0 or corners.max() >= total):
        raise ValueError(f"triangles name vertices {corners.min()} to {corners.max()} of {total}")
    points = np.nan_to_num(np.asarray(positions, np.float64), posinf=0.0, neginf=0.0).reshape(total, 3)
    parts = [uvs] if normals is None else [uvs, normals]
    traits = np.concatenate([np.nan_to_num(np.asarray(part, np.float64)) for part in parts], axis=1)
    traits = np.clip(traits, -FARTHEST, FARTHEST)
    mesh = Mesh(points, traits, corners)
    mesh.run()
    return _order(mesh, tolerance)


def _order(mesh: Mesh, tolerance: float) -> Order:
    """Return the steps that a mesh took, the last one first."""
    order, targets = (np.array([step[k] for step in reversed(mesh.steps)], np.int32) for k in range(2))
    errors = np.array([step[2] for step in reversed(mesh.steps)], np.float64)
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return Order(order, numbers[targets], _lowest(errors, tolerance), errors * mesh.size)


def _lowest(errors: Doubles, most: float) -> int:
    """Return how many vertices are left when the next to go moves the surface too far."""
    far = np.flatnonzero(errors > most)
    return int(far[-1]) + 1 if len(far) else min(len(errors), 1)
