"""From a modeller's mesh back to a file's vertices and triangles.

A file's vertex has one position, one texture coordinate and one normal; a mesh has points whose corners may differ in
both. Corners that came from a file carry the number of their source vertex. Here corners are grouped into the fewest
vertices, source vertices keep their numbers and order, and triangles the order and first corner of the source.

Letters in shapes: C corners, V vertices, T triangles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady

Indices = NDArray[np.int64]
# Corners whose shown normals differ by less belong to one vertex: half the mean error of a coded normal.
SAME_NORMAL = math.cos(math.radians(0.25))
LARGEST = 2**62  # of numbers that are made of several
UV_STEP = 2.0**20  # texture coordinates closer than a millionth are one


@dataclass(eq=False)
class Corners:
    """The corners of a mesh: which point, which source vertex (-1 = none), and what is shown there."""

    points: Indices  # (C,)
    numbers: Indices  # (C,) source vertex or -1
    uvs: NDArray[np.float32]  # (C, 2)
    normals: NDArray[np.float32]  # (C, 3) unit, or (C, K, 3) in several frames
    own: NDArray[np.bool_]  # (C,) the normal was edited, so it counts for splitting


@dataclass(eq=False)
class Vertices:
    """The vertices that corners were grouped into: winners of a source vertex first, in its order; then new ones."""

    of_corner: Indices  # (C,)
    points: Indices  # (V,)
    numbers: Indices  # (V,) source vertex or -1; losers at the winner's point have it too, behind the winners
    corners: Indices  # (V,) the first corner of each; -1 for a loose vertex
    winners: NDArray[np.bool_]  # (V,)


def group_corners(corners: Corners, claims: Callable[[Indices, Indices, Indices], NDArray[Any]]) -> Vertices:
    """Group corners into vertices.

    `claims(points, numbers, corners)` says how well candidates (n,) for a source vertex fit it, (n,), higher is better;
    it is only asked about numbers that several candidates claim. First a point wins a number, whose other points get
    new vertices; then one of the texture coordinates and normals at that point, the others become further vertices
    from the same source. Ties go to the unedited, then to the lowest corner.
    """
    plain = _group_unedited(corners)
    if plain is not None:
        return plain
    corners = replace(corners, numbers=_settle_points(corners, claims))
    shades = _normal_clusters(corners)
    u, v = np.rint(np.nan_to_num(corners.uvs).astype(np.float64) * UV_STEP).T
    columns = corners.points, corners.numbers, _to_int(u), _to_int(v), shades
    first, of_corner = _unique(columns)
    points, numbers, u, v = (column[first] for column in columns[:4])
    winners = _winners(points, numbers, first, shades[first], claims)
    target = _join_new((points, u, v), numbers, corners, first)
    kept = np.flatnonzero(target == np.arange(len(first)))
    order = kept[np.lexsort((first[kept], np.where(winners[kept], numbers[kept], 0), ~winners[kept]))]
    place = np.full(len(first), -1, np.int64)
    place[order] = np.arange(len(order))
    return Vertices(place[target][of_corner], points[order], numbers[order], first[order], winners[order])


def _group_unedited(corners: Corners) -> Vertices | None:
    """Group corners that all have a source, with one point and texture coordinate for each; None for any others."""
    numbers, points, uvs = corners.numbers, corners.points, corners.uvs
    if not len(numbers) or corners.own.any() or int(numbers.min()) < 0:
        return None
    lowest = int(numbers.min())
    first = np.full(int(numbers.max()) + 1 - lowest, -1, np.int64)
    first[numbers[::-1] - lowest] = np.arange(len(numbers))[::-1]
    leaders = first[numbers - lowest]
    if not (np.array_equal(points, points[leaders]) and np.array_equal(uvs, uvs[leaders])):
        return None
    present = np.flatnonzero(first >= 0)
    place = np.empty(len(first), np.int64)
    place[present] = np.arange(len(present))
    chosen = first[present]
    return Vertices(place[numbers - lowest], points[chosen], present + lowest, chosen, np.ones(len(present), np.bool_))


def _settle_points(corners: Corners, claims: Callable[[Indices, Indices, Indices], NDArray[Any]]) -> Indices:
    """Return the corners' numbers (C,), without those of points that lost the number to another point."""
    settled = np.full(len(corners.numbers), -1, np.int64)
    known = np.flatnonzero(corners.numbers >= 0)
    if len(known):
        points, numbers = corners.points[known], corners.numbers[known]
        first, of_corner = _unique((points, numbers))
        won = _winners(points[first], numbers[first], known[first], np.zeros(len(first), np.int64), claims)
        settled[known] = np.where(won[of_corner], numbers, -1)
    return settled


def _to_int(values: NDArray[np.float64]) -> Indices:
    return np.clip(values, -(2.0**62), 2.0**62).astype(np.int64)


def _unique(columns: Sequence[Indices]) -> tuple[Indices, Indices]:
    """Return where each kind of row of the columns (n,) first appears, rising, and each row's kind, (n,)."""
    columns = _packed(columns)
    order = np.lexsort(columns)
    starts = np.zeros(len(order), np.bool_)
    starts[:1] = True
    for column in columns:
        ordered = column[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    first = np.minimum.reduceat(order, np.flatnonzero(starts)) if len(order) else order
    is_first = np.zeros(len(order), np.bool_)
    is_first[first] = True
    kinds = np.cumsum(is_first) - 1  # of the rows that are the first of theirs
    of_row = np.empty(len(order), np.int64)
    of_row[order] = kinds[first][np.cumsum(starts) - 1]
    return np.flatnonzero(is_first), of_row


def _packed(columns: Sequence[Indices]) -> list[Indices]:
    """Return fewer columns (n,) of which the same rows are equal, for sorting takes its time for each.

    They need not begin at 0: what all rows have more than that is the same for all, also beyond 64 bits.
    """
    found: list[Indices] = []
    room = 0  # the numbers that a column may still be multiplied by
    for column in columns:
        span = int(column.max()) - int(column.min()) + 1 if len(column) else 1
        if span > room:
            found.append(column)
            room = LARGEST
        else:
            found[-1] = found[-1] * span + column
        room //= span
    return found


def _normal_clusters(corners: Corners) -> Indices:
    """Return a number (C,) that is equal for corners of a point that show one normal; 0 where the source's counts.

    Numbers are counted anew at each point.
    """
    shades = np.zeros(len(corners.points), np.int64)
    left = np.flatnonzero((corners.numbers < 0) | corners.own)
    first = np.empty(int(corners.points.max(initial=-1)) + 1, np.int64)  # by point
    shade = 0
    while len(left):
        shade += 1
        first[corners.points[left][::-1]] = left[::-1]
        leaders = first[corners.points[left]]
        near = _same_normals(corners, leaders, left)
        near |= leaders == left  # a normal that is not a number leads a cluster of its own
        shades[left[near]] = shade
        left = left[~near]
    return shades


def _same_normals(corners: Corners, some: Indices, others: Indices) -> NDArray[np.bool_]:
    """Tell which corners (n,) show one normal, pair by pair, in all frames that are known."""
    same = steady.dots(corners.normals[some], corners.normals[others]) > SAME_NORMAL
    return np.asarray(same if same.ndim == 1 else same.all(axis=1))


def _winners(
    points: Indices,
    numbers: Indices,
    corners: Indices,
    shades: Indices,
    claims: Callable[[Indices, Indices, Indices], NDArray[Any]],
) -> NDArray[np.bool_]:
    """Return which candidates (n,) get the source vertex that they name."""
    winners = numbers >= 0
    counts = np.bincount(numbers[winners]) if winners.any() else np.zeros(0, np.int64)
    rivals = np.flatnonzero(winners & (counts[np.where(winners, numbers, 0)] > 1)) if len(counts) else corners[:0]
    if len(rivals):
        fit = claims(points[rivals], numbers[rivals], corners[rivals])
        order = rivals[np.lexsort((corners[rivals], shades[rivals] > 0, -fit, numbers[rivals]))]
        best = np.ones(len(order), np.bool_)
        best[1:] = numbers[order[1:]] != numbers[order[:-1]]
        winners[order[~best]] = False
    return winners


def _join_new(keys: Sequence[Indices], numbers: Indices, corners: Corners, first: Indices) -> Indices:
    """Return for each candidate the one that it becomes: a new one joins a source's that shows the same there.

    `keys` are columns (n,): its point and texture coordinates.
    """
    target = np.arange(len(numbers))
    old = np.flatnonzero(numbers >= 0)
    new = np.flatnonzero(numbers < 0)
    if not len(new) or not len(old):
        return target
    places = _unique(keys)[1]
    order = old[np.argsort(places[old], kind="stable")]
    start = np.searchsorted(places[order], places[new])
    end = np.searchsorted(places[order], places[new], side="right")
    for step in range(int((end - start).max(initial=0))):
        open_ = (start + step < end) & (target[new] == new)
        partner = order[start[open_] + step]
        same = _same_normals(corners, first[new[open_]], first[partner])
        target[new[open_][same]] = partner[same]
    return target


@dataclass(eq=False)
class Triangles:
    """Triangles in file order: three vertices each, and the source triangle that each was, or -1."""

    vertices: NDArray[np.int32]  # (T, 3)
    numbers: NDArray[np.int32]  # (T,)
    corners: Indices  # (T, 3) which of the corners given each was, or -1


def match_triangles(triangles: Indices, faces: Indices, vertices: Vertices, source: NDArray[np.int32]) -> Triangles:
    """Put triangles (T, 3) into the order of the source's, (S, 3) vertex numbers; new ones follow in their order.

    `faces` (T,) names the source triangle that Blender's face says it was, or -1; it breaks ties between repeats.
    A matched triangle starts at the corner at which the source's does.
    """
    numbers = vertices.numbers[triangles]
    if not len(source) or not len(numbers) or int(numbers.max()) < 0:
        none = np.full(len(triangles), -1, np.int32)
        return Triangles(triangles.astype(np.int32), none, np.arange(triangles.size).reshape(-1, 3))
    known = len(faces) and int(faces.min()) >= 0 and int(faces.max()) < len(source) and (np.diff(faces) > 0).all()
    corners: Indices = np.arange(triangles.size).reshape(-1, 3)
    if known and np.array_equal(numbers, source[faces]):
        return Triangles(triangles.astype(np.int32), faces.astype(np.int32), corners)
    sets = np.sort(numbers, axis=1)
    source_sets = np.sort(source, axis=1).astype(np.int64)
    matched = np.full(len(triangles), -1, np.int64)
    named = np.flatnonzero((faces >= 0) & (faces < len(source)) & (sets[:, 0] >= 0))
    named = named[(source_sets[faces[named]] == sets[named]).all(axis=1)]
    named = named[np.unique(faces[named], return_index=True)[1]]
    matched[named] = faces[named]
    rest = np.flatnonzero((matched < 0) & (sets[:, 0] >= 0))
    free = np.setdiff1d(np.arange(len(source)), matched[named])
    if len(rest) and len(free):
        matched[rest] = _pair_equal(sets[rest], source_sets[free], free)
    corners = _turn_like_source(corners, numbers, matched, source)
    order = np.argsort(np.where(matched < 0, len(source), matched), kind="stable")
    corners = corners[order]
    return Triangles(triangles.ravel()[corners].astype(np.int32), matched[order].astype(np.int32), corners)


def with_degenerate(triangles: Triangles, vertices: Vertices, source: NDArray[np.int32], which: Indices) -> Triangles:
    """Add those of the source's triangles `which` (degenerate: Blender was not shown them) whose vertices are here."""
    place = np.full(int(source.max(initial=-1)) + 1, -1, np.int64)
    won = np.flatnonzero(vertices.winners & (vertices.numbers < len(place)))
    place[vertices.numbers[won]] = won
    back = which[(place[source[which]] >= 0).all(axis=1)]
    back = np.setdiff1d(back, triangles.numbers)
    if not len(back):
        return triangles
    listed = np.concatenate((triangles.vertices, place[source[back]].astype(np.int32)))
    numbers = np.concatenate((triangles.numbers, back.astype(np.int32)))
    corners = np.concatenate((triangles.corners, np.full((len(back), 3), -1)))
    order = np.argsort(np.where(numbers < 0, len(source), numbers), kind="stable")
    return Triangles(listed[order], numbers[order], corners[order])


def restored_numbers(
    numbers: Indices, places: Indices, source: NDArray[np.int32], faces: NDArray[Any], named: NDArray[Any]
) -> tuple[Indices, Indices, NDArray[np.bool_]]:
    """Return triangles' vertex numbers (T, 3) as the source had them, and what that changes.

    Where two triangles became a quad across a seam of texture coordinates a corner was lost, and the triangles that
    come of it have their neighbour's. So a triangle that the source lacks, while the source has one at the same places
    that is missing here, is that one; and two that fill the gap of two of the source, with vertices lost, are those:
    the two of a quad, or what became of one that was cut again. `places` (numbers,) are equal for source vertices at
    one place in every frame, `faces` (T,) tell of which face each triangle is, and `named` (T,) which triangle of the
    source that says it was, or -1: a hole that is filled anew is of other faces, or has no corner of what was there.

    Also returns, as (T, 3), from which corner of all (3 T) each comes, and which triangles changed, (T,).
    """
    known = np.flatnonzero((numbers >= 0).all(axis=1))
    exact = _pair_equal(
        np.sort(numbers[known], axis=1), np.sort(source, axis=1).astype(np.int64), np.arange(len(source))
    )
    open_, free = known[exact < 0], np.setdiff1d(np.arange(len(source)), exact)
    restored, corners = numbers.copy(), np.arange(3 * len(numbers)).reshape(-1, 3)
    if len(open_) and len(free):
        found = _pair_equal(_turned_low(places[numbers[open_]]), _turned_low(places[source[free]]), free)
        there = np.zeros(len(source), np.bool_)
        there[np.concatenate((exact[exact >= 0], found[found >= 0]))] = True
        same = _at_home(numbers, there, source, named, np.stack((open_, found))[:, found >= 0])
        groups = [([mine], [theirs]) for mine, theirs in same.T.tolist()]
        halves = np.where(np.bincount(faces)[faces] == 1, -1, faces)
        gaps = _same_gaps(numbers, places, source, halves, open_[found < 0], np.setdiff1d(free, found))
        groups += [(mine, theirs) for mine, theirs in gaps if set(named[mine].tolist()) <= set(theirs)]
        for mine, theirs in groups:
            offered = {int(places[numbers[t, i]]): 3 * t + i for t in mine for i in range(3)}
            for triangle, was in zip(mine, theirs, strict=True):
                restored[triangle] = source[was]
                corners[triangle] = [offered[place] for place in places[source[was]].tolist()]
    changed = (restored != numbers).any(axis=1) | (corners != np.arange(3 * len(numbers)).reshape(-1, 3)).any(axis=1)
    return restored, corners, changed


def _at_home(
    numbers: Indices, there: NDArray[np.bool_], source: NDArray[np.int32], named: NDArray[Any], pairs: Indices
) -> Indices:
    """Return which of some pairs (2, n), of a triangle and one of the source at its places, may be one.

    They have a vertex in common, and the triangle's face says that it was that one. Or, as the other half of a quad,
    one that is `there` (S,) still, and of which all other vertices are.
    """
    mine, theirs = pairs
    told, other = named[mine], np.maximum(named[mine], 0)
    of_both = np.concatenate((source[theirs], source[other]), axis=1)
    shared = numbers[mine][:, :, None] == of_both[:, None, :]
    is_half = shared.any(axis=2).all(axis=1) & there[other]
    kept: Indices = pairs[:, shared[..., :3].any(axis=(1, 2)) & (told >= 0) & ((told == theirs) | is_half)]
    return kept


def _same_gaps(
    numbers: Indices, places: Indices, source: NDArray[np.int32], halves: Indices, open_: Indices, free: Indices
) -> list[tuple[list[int], list[int]]]:
    """Return pairs of triangles, and the source's pairs of the same outline some of whose vertices they lack.

    `halves` (T,) are the faces of which both have to be halves, -1 for a triangle that is one by itself.
    """
    open_outlines = _outlines(places[numbers[open_]], open_.tolist())
    groups: list[tuple[list[int], list[int]]] = []
    used: set[int] = set()
    for outline, theirs in _outlines(places[source[free]], free.tolist()).items():
        mine = open_outlines.get(outline)
        if mine is None or halves[mine[0]] != halves[mine[1]] or used & {*mine, *(-1 - t for t in theirs)}:
            continue
        if not set(source[theirs].ravel().tolist()) <= set(numbers[mine].ravel().tolist()):
            groups.append((mine, theirs))
            used |= {*mine, *(-1 - t for t in theirs)}
    return groups


def _outlines(triangles: Indices, names: list[int]) -> dict[frozenset[tuple[int, int]], list[int]]:
    """Return the pairs of triangles that share an edge, by the four directed edges around them."""
    edges = [[(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] for t in triangles.tolist()]
    owner = {edge: i for i, three in enumerate(edges) for edge in three}
    pairs = {}
    for i, three in enumerate(edges):
        for a, b in three:
            other = owner.get((b, a), -1)
            if other > i:
                around = frozenset((*three, *edges[other])) - {(a, b), (b, a)}
                if len(around) == 4:
                    pairs[around] = [names[i], names[other]]
    return pairs


def _turned_low(rows: Indices) -> Indices:
    """Return triples (n, 3) turned so that the lowest number comes first: equal for equal cycles."""
    turns = np.stack([np.roll(rows, -step, axis=1) for step in range(3)], axis=1)
    lowest: Indices = turns[np.arange(len(rows)), rows.argmin(axis=1)]
    return lowest


def _pair_equal(wanted: Indices, offered: Indices, names: Indices) -> Indices:
    """Return for each row of `wanted` the name of an equal row of `offered`, the k-th for the k-th, or -1."""
    if not len(offered):
        return np.full(len(wanted), -1, np.int64)
    classes = _unique(tuple(np.concatenate((wanted, offered)).T))[1]
    ranks = [_occurrence(part) for part in (classes[: len(wanted)], classes[len(wanted) :])]
    span = len(classes) + 1
    keys = classes[len(wanted) :] * span + ranks[1]
    order = np.argsort(keys)
    looked = classes[: len(wanted)] * span + ranks[0]
    place = np.minimum(np.searchsorted(keys[order], looked), len(order) - 1)
    return np.where(keys[order][place] == looked, names[order[place]], -1)


def _occurrence(classes: Indices) -> Indices:
    """Return how many equal values stand before each value, (n,)."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], classes[order])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - starts
    return ranks


def _turn_like_source(corners: Indices, numbers: Indices, matched: Indices, source: NDArray[np.int32]) -> Indices:
    """Return triangles' corners (T, 3) that start where the source's do; of repeats, the turn that fits all three."""
    turned = corners.copy()
    old = np.flatnonzero(matched >= 0)
    wanted = source[matched[old]]
    best: Indices = np.full(len(old), -1, np.int64)
    for step in range(3):
        shown = np.roll(numbers[old], -step, axis=1)
        fits = np.where((shown == wanted).all(axis=1), 2, (shown[:, 0] == wanted[:, 0]).astype(np.int64))
        better = fits > best
        turned[old[better]] = np.roll(corners[old[better]], -step, axis=1)
        best = np.where(better, fits, best)
    return turned


def source_cuts(numbers: Indices, source: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of corner triples (n, 3) of source numbers whether the source has a triangle of these vertices, (n,)."""
    return source_faces(numbers, source) >= 0


def source_faces(numbers: Indices, source: NDArray[Any]) -> Indices:
    """Return which of the source's triangles (S, 3) has the vertices of each corner triple (n, 3), (n,); -1: none."""
    none = np.full(len(numbers), -1, np.int64)
    if not len(source):
        return none
    limit = int(max(numbers.max(initial=0), source.max(initial=0))) + 1
    rising = (np.sort(triples.astype(np.int64), axis=1).T for triples in (numbers, source))
    wanted, offered = ((low * limit + middle) * limit + high for low, middle, high in rising)
    order = np.argsort(offered, kind="stable")
    place = order[np.minimum(np.searchsorted(offered[order], wanted), len(order) - 1)]
    return np.where((offered[place] == wanted) & (numbers >= 0).all(axis=1), place, none)
