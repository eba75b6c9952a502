"""Parts of a surface that were moved as a whole: rotated, scaled, mirrored, sheared; and how their normals go along.

A modeller applies an object's scale, or mirrors a part in edit mode. Then one linear map takes all vertices of the part
from where the source has them to where they are, and what it does to normals follows exactly: the matrix of cofactors
keeps them upright on the surface, also where it is stretched, and turns them over with its faces.

Few points fit any map, and points that are nearly in a plane say nothing reliable of what happens across it: such parts
have no map, or one across that is made up.

Letters in shapes: V vertices, T triangles, L parts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]
LEAST_POINTS, LEAST_OF_PLANE = 8, 4  # different places that a map must hold for
ACROSS, ALONG = 12.0, 4.0  # a part is as much thicker than the slack, and as much wider; else it is a plane, or a line
FLAT = 1e-6  # and as a part of its largest extent
ROUGHLY = 0.1  # of the squared size: what a map may leave unexplained and still say that a surface was mirrored
MOST_FITS, TRIMMED = 24, 2.0  # how often to fit one map to most points; those farther off than so many medians are not
ROUNDED = 1e-5  # of a coordinate
VANISHED = 1e-9  # the volume that is left of a cube
SMOOTH = math.cos(math.radians(0.5))  # farther apart are normals of a crease


def maps_at(
    before: NDArray[Any], after: NDArray[Any], triangles: NDArray[Any], vertices: Indices, slack: float
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return what takes the normals of some vertices (n,) along, (n, 3, 3), and of which one map moves the part, (n,).

    See `linear_maps_at`.
    """
    maps, found = linear_maps_at(before, after, triangles, vertices, slack)
    return steady.cofactors(maps), found


def linear_maps_at(
    before: NDArray[Any],
    after: NDArray[Any],
    triangles: NDArray[Any],
    vertices: Indices,
    slack: float,
    whole: tuple[Doubles, NDArray[np.bool_]] | None = None,
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the linear maps (n, 3, 3) that moved the surroundings of some vertices (n,), and of which there is one.

    `before`, `after`: positions (V, 3), within `slack` of what the map makes of them; `triangles` (T, 3). The part is
    the whole surface if that was moved as one, else what its triangles connect. Of a plane the map across is made up
    so that its normal follows. `whole` is what `whole_maps` says of this frame, if somebody asked that.
    """
    used = np.zeros(len(before), np.bool_)
    used[triangles] = True
    maps, found = np.zeros((len(vertices), 3, 3)), np.zeros(len(vertices), np.bool_)
    for is_whole in (True, False):
        labels = np.where(used, 0 if is_whole else connected(triangles, places_of(before)), -1)
        of_part, fits = whole if is_whole and whole is not None else _part_maps(before, after, labels, slack)
        own = labels[vertices]
        fitting = ~found & np.append(fits, False)[own]  # -1 is no part
        maps[fitting] = of_part[own[fitting]]
        found |= fitting
        if found.all():
            break
    return maps, found


def whole_maps(
    before: NDArray[Any], after: NDArray[Any], triangles: NDArray[Any], slack: float
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the linear map that moved all that triangles (T, 3) use in each frame, (F, 3, 3), and where one did, (F,).

    `before`, `after`: positions (F, V, 3); see `linear_maps_at`, which finds the same frame by frame.
    """
    used = np.unique(triangles)
    frames = np.repeat(np.arange(len(before)), len(used))
    return _part_maps(before[:, used].reshape(-1, 3), after[:, used].reshape(-1, 3), frames, slack)


def is_moved_by(linear: Doubles, before: NDArray[Any], after: NDArray[Any], slack: float) -> bool:
    """Tell whether a linear map (3, 3) and a shift moved all points, (..., 3), which are within `slack` before, too."""
    if not before.size:
        return False
    shifts = (after - steady.applied(linear, before.astype(np.float64))).reshape(-1, 3)
    off = np.abs(shifts - np.median(shifts, axis=0)).max(axis=0)
    return bool((off <= slack * (1.0 + np.abs(linear).sum(axis=1))).all())


def turned_over(
    triangles: NDArray[Any], numbers: NDArray[Any], faces: NDArray[Any], source: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell of which vertices (V,) all triangles that the source has are turned over; of one without any, if most are.

    `numbers` (V,) and `faces` (T,) say which vertex and which of the triangles `source` (S, 3) each was, or -1.
    """
    own = np.flatnonzero(faces >= 0)
    present, before = numbers[triangles[own]], source[faces[own]]
    if np.array_equal(present, before):  # as mostly
        return np.zeros(len(numbers), np.bool_)
    straight, back = (
        np.bincount(triangles[own[which]].ravel(), minlength=len(numbers)) for which in windings(present, before)
    )
    mostly = int(back.sum()) > int(straight.sum())
    return np.asarray(np.where(straight + back > 0, straight == 0, mostly))


def windings(triangles: NDArray[Any], others: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which triangles (n, 3) run as others do, and which the other way round, (n,) each.

    One that uses a vertex twice looks alike from both sides: it is neither.
    """
    turns = [np.roll(triangles, step, axis=1) for step in range(3)]
    same, over = (np.any([(turn == way).all(axis=1) for turn in turns], axis=0) for way in (others, others[:, ::-1]))
    return same & ~over, over & ~same


def beside(moved: NDArray[np.bool_], triangles: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which vertices (V,) are among those that `moved` (V,), or share a triangle with one."""
    near = moved.copy()
    near[triangles[moved[triangles].any(axis=1)]] = True
    return near


def with_twins(moved: NDArray[np.bool_], places: NDArray[Any], normals: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Tell which vertices (V,) are among those that `moved` (V,), or have such a one's place (V,) and normal (V, 3).

    So go both sides of a seam of texture coordinates, where Blender shows one smooth point, but not those of a crease.
    """
    found, leaders = moved.copy(), np.flatnonzero(moved)
    leaders = leaders[np.argsort(places[leaders], kind="stable")]
    others = np.flatnonzero(~moved)
    begins, ends = (np.searchsorted(places[leaders], places[others], side) for side in ("left", "right"))
    counts = ends - begins
    follower = np.repeat(others, counts)
    nth = np.arange(len(follower)) - np.repeat(np.cumsum(counts) - counts, counts)  # of those at its place
    leader = leaders[np.repeat(begins, counts) + nth]
    sizes = steady.lengths(normals[follower]) * steady.lengths(normals[leader])
    found[follower[steady.dots(normals[follower], normals[leader]) >= SMOOTH * sizes]] = True
    return found


def rounding(positions: NDArray[Any]) -> float:
    """Return how far single precision may put positions (V, 3) that a map moved from where it says, and a little."""
    return ROUNDED * float(np.abs(positions).max(initial=1.0))


def places_of(positions: NDArray[Any]) -> Indices:
    """Return a number (V,) for each position (V, n), shared by equal ones."""
    places: Indices = np.unique(positions, axis=0, return_inverse=True)[1].reshape(-1)
    return places


def connected(triangles: NDArray[Any], places: Indices) -> Indices:
    """Return the part of each vertex, (V,): those of one triangle belong together, and those at one place, (V,)."""
    lowest = np.arange(int(places.max(initial=-1)) + 1)
    corners = places[triangles]
    order = np.argsort(corners, axis=None, kind="stable")  # corners at one place follow one another
    in_order = corners.ravel()[order]
    firsts = np.flatnonzero(np.diff(in_order, prepend=-1))
    used = in_order[firsts]
    while True:
        low = np.repeat(lowest[corners].min(axis=1), 3)[order]
        before = lowest.copy()
        if len(used):
            lowest[used] = np.minimum(lowest[used], np.minimum.reduceat(low, firsts))
        lowest = lowest[lowest]
        if np.array_equal(before, lowest):
            parts: Indices = np.unique(lowest, return_inverse=True)[1].reshape(-1)
            return parts[places]


def _part_maps(
    before: NDArray[Any], after: NDArray[Any], parts: Indices, slack: float
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the linear map of each part, (L, 3, 3), and which parts one moves, (L,).

    `parts` (V,) has the part of each vertex, -1 = none. Of what lies in a line there is none.
    """
    inside = np.flatnonzero(parts >= 0)
    labels, count = parts[inside], int(parts.max(initial=-1)) + 1
    old, new = before[inside].astype(np.float64), after[inside].astype(np.float64)
    sizes = np.bincount(labels, minlength=count)
    from_, to = (_sums(labels, points, count) / np.maximum(sizes, 1)[:, None] for points in (old, new))
    old, new = old - from_[labels], new - to[labels]
    spread, carried = (
        _sums(labels, (a[:, :, None] * old[:, None]).reshape(-1, 9), count).reshape(-1, 3, 3) for a in (old, new)
    )
    maps, sound = _maps(spread, carried, sizes, _places_in(labels, old, count), slack)
    off = np.abs(new - steady.applied(maps[labels], old)).max(axis=1, initial=0.0)
    worst = np.zeros(count)
    np.maximum.at(worst, labels, off)
    return maps, sound & (worst <= slack)


def mirrors(before: NDArray[Any], after: NDArray[Any]) -> bool:
    """Tell whether positions (V, 3) were mirrored, by the map that comes nearest to what happened, if it comes near.

    They were not where most are as they were: of what is nearly a plane a few that moved far turn that map over.
    """
    if 2 * int((before != after).any(axis=1).sum()) <= len(before):
        return False
    old, new = (points.astype(np.float64) - points.mean(axis=0) for points in (before, after))
    spread, carried = ((a[:, :, None] * old[:, None]).sum(axis=0)[None] for a in (old, new))
    many = np.full(1, len(old))
    maps, sound = _maps(spread, carried, many, many, 0.0)
    off = new - steady.applied(maps[0], old)
    near = float(steady.dots(off, off).sum()) <= ROUGHLY * float(steady.dots(new, new).sum())
    return bool(sound[0] and near and steady.determinants(maps)[0] < 0)


def common_map(before: NDArray[Any], after: NDArray[Any], slack: float) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the linear map (3, 3) that most points took, and which did, (V,): none if those are no half of them.

    `before`, `after`: positions (V, 3). The map is fitted again and again to the points that were nearest to the last.
    """
    follows = np.ones(len(before), np.bool_)
    old, new = before.astype(np.float64), after.astype(np.float64)
    for _ in range(MOST_FITS):
        labels = np.zeros(int(follows.sum()), np.int64)
        if 2 * len(labels) < len(before) or not len(labels):
            break
        from_, to = (_sums(labels, points[follows], 1) / len(labels) for points in (old, new))
        a, b = old - from_, new - to
        spread, carried = (
            _sums(labels, (side[follows][:, :, None] * a[follows][:, None]).reshape(-1, 9), 1).reshape(-1, 3, 3)
            for side in (a, b)
        )
        sizes = np.full(1, len(labels))
        maps, sound = _maps(spread, carried, sizes, _places_in(labels, a[follows], 1), slack)
        if not sound[0]:
            break
        off = np.abs(b - steady.applied(maps[0], a)).max(axis=1)
        if (off[follows] <= slack).all():
            return maps[0], np.asarray(off <= slack)
        follows = off <= max(slack, TRIMMED * float(np.median(off)))
    return np.eye(3), np.zeros(len(before), np.bool_)


def _places_in(labels: Indices, points: Doubles, count: int) -> Indices:
    """Return at how many different places the points (n, 3) of each part lie, (count,)."""
    rows = np.concatenate((labels[:, None].astype(np.float64), points), axis=1)
    order = np.lexsort(rows.T)  # the like beside each other, in whatever order
    rows = rows[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.bincount(labels[order][first], minlength=count)


def _sums(labels: Indices, values: Doubles, count: int) -> Doubles:
    """Return the sums (count, k) of values (n, k) that have one label (n,)."""
    return np.stack([np.bincount(labels, column, count) for column in values.T], axis=1)


def _maps(
    spread: Doubles, carried: Doubles, sizes: NDArray[Any], places: NDArray[Any], slack: float
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return the linear maps (L, 3, 3) that covariances (L, 3, 3) tell, and which of them tell one.

    `sizes` and `places` (L,) count the points of each part, and where they lie.
    """
    axes, strengths, _ = steady.singular_values(spread)
    widths = np.sqrt(strengths / np.maximum(sizes, 1)[:, None])  # how far points are from the middle, along each axis
    thick = (widths[:, 2] > np.maximum(ACROSS * slack, FLAT * widths[:, 0])) & (places >= LEAST_POINTS)
    wide = (widths[:, 1] > np.maximum(ALONG * slack, FLAT * widths[:, 0])) & (places >= LEAST_OF_PLANE)
    # In the directions of the axes: what becomes of each.
    ends = steady.products(carried, axes) / np.where(strengths > 0, strengths, 1.0)[:, None]
    upright = steady.crossed(ends[..., 0], ends[..., 1])
    size = steady.lengths(upright)
    across = upright / np.sqrt(np.where(size > 0, size, 1.0))[:, None]
    across *= np.where(steady.determinants(axes) < 0, -1.0, 1.0)[:, None]
    ends[..., 2] = np.where(thick[:, None], ends[..., 2], across)
    maps = steady.products(ends, np.swapaxes(axes, 1, 2))
    return maps, wide & (np.abs(steady.determinants(maps)) > VANISHED)
