"""Parts of a mesh that move as one: found by splitting what moves least together, then by merging what hardly differs.

Letters in shapes: F frames, P points, B bones, E edges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .fit import (
    PointSkin,
    best_poses,
    errors_alone,
    fit_poses,
    fit_rest,
    fit_weights,
    moments_of,
    without_empty_bones,
)
from .products import product

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

LEAST_POINTS = 4  # of a part: fewer have no turn of their own
ROUNDS = 6  # of points choosing parts, and parts following them
MOST_SPLITS = 30
RINGS = 6  # of neighbours that a new part begins with
SMOOTH = 0.5  # how much a point gives to go with its neighbours, of what a part may be off
GIVEN_UP = 2.5  # times the error of all bones: fewer are not looked at
BEYOND = 2  # bones fewer than asked for that may do better all the same
GAIN = 0.99  # of the error: what an exchange has to better
SPLITS_TRIED = 3  # bones that are the worst
AT_ONCE, MOST_AT_ONCE = 0.1, 20  # of all bones that are merged before others are fitted anew; one by one below


def rigid_parts(places: Doubles, rest: Doubles, edges: Indices, tolerance: float, most: int) -> Indices:
    """Return the part of each point (P,): as many as it takes for each to keep within `tolerance` (rms), or `most`.

    The worst part is split first, about the point that is worst off (Linde, Buzo and Gray 1980).
    """
    part: Indices = np.zeros(len(rest), np.int64)
    parts, tried = 1, [0]
    for _ in range(MOST_SPLITS):
        part, errors = _settled(part, parts, places, rest, edges, tolerance)
        parts = int(part.max()) + 1
        own = errors[np.arange(len(rest)), part] / len(places)
        total, size = np.bincount(part, own, parts), np.bincount(part, minlength=parts)
        wanting = np.flatnonzero((size >= 2 * LEAST_POINTS) & (total > size * tolerance**2))
        room = min(most - parts, max(1, parts // 3))
        tried.append(parts)
        if not len(wanting) or room <= 0 or (len(tried) > 4 and tried[-4] >= parts):
            break
        for worst in wanting[np.argsort(-total[wanting], kind="stable")][:room]:
            part[_seed(part == worst, own, rest, edges)] = parts
            parts += 1
    return part


def _settled(
    part: Indices, parts: int, places: Doubles, rest: Doubles, edges: Indices, tolerance: float
) -> tuple[Indices, Doubles]:
    """Return which part fits each point best, and the errors (P, B) if it followed each alone."""
    smooth = SMOOTH * len(places) * tolerance**2
    for _ in range(ROUNDS):
        poses = best_poses(moments_of(places, rest, np.eye(parts)[part]))
        errors = errors_alone(poses, places, rest)
        ends = np.concatenate([edges[:, 0] * parts + part[edges[:, 1]], edges[:, 1] * parts + part[edges[:, 0]]])
        votes = np.bincount(ends, minlength=errors.size).reshape(errors.shape)
        cost = errors - smooth * votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
        chosen = cost.argmin(axis=1)
        large = np.bincount(chosen, minlength=parts) >= LEAST_POINTS
        if not large.all() and large.any():  # points of what is too small go to the best of the others
            chosen = np.where(large, cost, np.inf).argmin(axis=1)
        used, chosen = np.unique(chosen, return_inverse=True)
        same = len(used) == parts and np.array_equal(chosen, part)
        part, parts = chosen.ravel(), len(used)
        if same:
            return part, errors
    return part, errors_alone(best_poses(moments_of(places, rest, np.eye(parts)[part])), places, rest)


def _seed(inside: NDArray[np.bool_], own: Doubles, rest: Doubles, edges: Indices) -> Indices:
    """Return the points that a new part begins with: around the worst one that lies far from its part's middle."""
    points = np.flatnonzero(inside)
    away = np.linalg.norm(rest[points] - rest[points].mean(axis=0), axis=1)
    first = points[(np.sqrt(own[points]) * away).argmax()]
    wanted = max(LEAST_POINTS, min(12, len(points) // 3))
    ring = np.zeros(len(rest), np.bool_)
    ring[first] = True
    for _ in range(RINGS):
        if ring.sum() >= wanted:
            break
        reached = ring[edges].any(axis=1)
        ring[edges[reached].ravel()] = True
        ring &= inside
    if ring.sum() >= LEAST_POINTS:
        return np.flatnonzero(ring)
    distances = np.linalg.norm(rest[points] - rest[first], axis=1)
    return points[np.argsort(distances, kind="stable")[:LEAST_POINTS]]


def merged(
    skin: PointSkin, places: Doubles, edges: Indices, asked: int, bone_cost: float, allowed: Callable[[], None]
) -> PointSkin:
    """Return a skin of fewer bones: neighbours that cost least are merged, down to the number that is worth it.

    That is where one bone fewer costs more than it saves (see `worth`), or as many as are `asked` for, if any are.
    `allowed` is called once in a while, and raises where the user wants no more of it.
    """
    best, limit = skin, GIVEN_UP * skin.rms(places)
    cost = (lambda each: each.rms(places)) if asked else (lambda each: worth(each, places, bone_cost))
    while skin.num_bones > max(1, asked - BEYOND if asked else 1):
        allowed()
        room = skin.num_bones - max(asked, MOST_AT_ONCE)
        skin = _with_merged(skin, places, edges, max(1, min(room, int(AT_ONCE * skin.num_bones))))
        if skin.rms(places) > limit and not (asked and best.num_bones > asked):
            break
        if (asked and best.num_bones > asked) or cost(skin) <= cost(best):
            best = skin
    return best


def worth(skin: PointSkin, places: Doubles, bone_cost: float) -> float:
    """Return what a skin costs: its error, times what its bones cost whoever poses them."""
    return float(skin.rms(places) * skin.num_bones**bone_cost)


def exchanged(skin: PointSkin, places: Doubles, edges: Indices, most: int, allowed: Callable[[], None]) -> PointSkin:
    """Return a skin of as many bones that does better: one is split where it is worst, two are merged instead.

    At most so many times; it ends where an exchange gains nothing.
    """
    for _ in range(most):
        allowed()
        error = ((skin.shown() - places) ** 2).sum(axis=2).sum(axis=0)
        strongest = skin.weights.argmax(axis=1)
        size = np.bincount(strongest, minlength=skin.num_bones)
        total = np.where(size >= 2 * LEAST_POINTS, np.bincount(strongest, error, skin.num_bones), 0)
        for worst in np.argsort(-total, kind="stable")[:SPLITS_TRIED]:
            other = _exchanged_one(skin, places, edges, strongest == worst, error) if total[worst] else skin
            if other.num_bones <= skin.num_bones and other.rms(places) < GAIN * skin.rms(places):
                skin = other
                break
        else:
            break
    return skin


def _exchanged_one(
    skin: PointSkin, places: Doubles, edges: Indices, split: NDArray[np.bool_], error: Doubles
) -> PointSkin:
    """Return a skin in which the bone of some points is two, and two others are one."""
    weights = np.concatenate([skin.weights, np.zeros((len(skin.rest), 1))], axis=1)
    weights[_seed(split, error, skin.rest, edges)] = np.eye(skin.num_bones + 1)[-1]
    more = _refitted(
        PointSkin(skin.rest, weights, best_poses(moments_of(places, skin.rest, weights))), places, edges, 3
    )
    surplus = more.num_bones - skin.num_bones
    return _with_merged(more, places, edges, surplus) if surplus > 0 else more


def _with_merged(skin: PointSkin, places: Doubles, edges: Indices, count: int) -> PointSkin:
    """Return a skin in which so many pairs of bones are one each, those that it costs least."""
    into = _cheapest(skin, places, edges, count)
    kept = np.unique(into)
    weights = np.stack([skin.weights[:, into == bone].sum(axis=1) for bone in kept], axis=1)
    return _refitted(
        PointSkin(skin.rest, weights, best_poses(moments_of(places, skin.rest, weights))), places, edges, 2
    )


def _refitted(skin: PointSkin, places: Doubles, edges: Indices, rounds: int) -> PointSkin:
    """Return a skin that has settled after bones of it were changed."""
    for _ in range(rounds):
        skin.poses = fit_poses(skin, places)
        skin.weights = fit_weights(skin, places, edges)
        skin.rest = fit_rest(skin, places)
    skin = without_empty_bones(skin, LEAST_POINTS / 2)
    skin.poses = fit_poses(skin, places)
    return skin


def _cheapest(skin: PointSkin, places: Doubles, edges: Indices, count: int) -> Indices:
    """Return into which bone each is merged, (B,): the `count` pairs of neighbours that it costs least, by moments."""
    strongest = skin.weights.argmax(axis=1)
    pairs = np.sort(strongest[edges], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    moments = moments_of(places, skin.rest, skin.weights)
    squares = product((places**2).sum(axis=2), skin.weights) + (skin.rest**2).sum(axis=1) @ skin.weights
    alone = _rigid_errors(moments, squares)
    one, other = pairs[:, 0], pairs[:, 1]
    together = _rigid_errors(moments[:, one] + moments[:, other], squares[:, one] + squares[:, other])
    into, taken = np.arange(skin.num_bones), set[int]()
    for kept, gone in pairs[np.argsort(together - alone[one] - alone[other], kind="stable")].tolist():
        if len(taken) < 2 * count and not taken & {kept, gone}:
            into[gone] = kept
            taken |= {kept, gone}
    return into


def _rigid_errors(moments: Doubles, squares: Doubles) -> Doubles:
    """Return how far off (n,) what has these moments (F, n, 4, 4) is when it moves as one piece; squared, summed."""
    mass = np.maximum(moments[..., 3, 3], 1e-12)
    target, source = moments[..., :3, 3], moments[..., 3, :3]
    spread = moments[..., :3, :3] - target[..., :, None] * source[..., None, :] / mass[..., None, None]
    sizes = np.linalg.svd(spread, compute_uv=False)
    sizes[..., 2] *= np.sign(np.linalg.det(spread))
    explained = ((target**2).sum(axis=-1) + (source**2).sum(axis=-1)) / mass + 2 * sizes.sum(axis=-1)
    errors: Doubles = (squares - explained).sum(axis=0)
    return errors
