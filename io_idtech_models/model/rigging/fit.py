"""Bones that follow moving points: weights, poses and places at rest, each the best by least squares for the others.

This is skinning decomposed with rigid bones (Le and Deng 2012). Sums over points are made once, as moments; poses are
then found of these alone. All heavy sums are products of matrices, which BLAS makes: the last digits differ from
processor to processor, what bones there are doesn't.

Letters in shapes: F frames, P points, B bones, K candidates, E edges. A transform is (3, 4), from rest to a frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import steady
from .products import product

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

INFLUENCES = 3  # bones of a point; a fourth gains nothing
CANDIDATES = 6  # bones that are tried for a point
LEAST_WEIGHT = 0.05  # less than that is nothing
HOLD = 1e-3  # how strongly a place at rest stays where it was, against what one frame says
FLATTEST = 0.01  # how small a blend may make a volume of 1, so that it can be taken back
SHARES = (0.05, 0.1, 0.2, 0.4, 1.0)  # of a blend that one bone takes over, until it is flat no more
CHUNK = 2_000_000  # numbers of one product where there are very many points


@dataclass(eq=False)
class PointSkin:
    """Points at rest, the bones that move them, and these bones' transforms in every frame."""

    rest: Doubles  # (P, 3)
    weights: Doubles  # (P, B)
    poses: Doubles  # (F, B, 3, 4)

    @property
    def num_bones(self) -> int:
        """Return B."""
        return self.weights.shape[1]

    def shown(self) -> Doubles:
        """Return where the bones have the points, (F, P, 3)."""
        frames, bones = self.poses.shape[:2]
        source = (self.weights[:, :, None] * homogeneous(self.rest)[:, None, :]).reshape(len(self.rest), -1)
        flat = self.poses.transpose(0, 2, 1, 3).reshape(frames * 3, bones * 4)
        shown: Doubles = product(flat, source.T).reshape(frames, 3, -1).transpose(0, 2, 1)
        return shown

    def rms(self, places: Doubles) -> float:
        """Return how far points are from where they ought to be (F, P, 3)."""
        return float(np.sqrt(((self.shown() - places) ** 2).sum(axis=2).mean()))


def homogeneous(points: Doubles) -> Doubles:
    """Return points (..., 3) with a 1 behind, (..., 4)."""
    return np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)


def best_turns(moments: Doubles) -> Doubles:
    """Return the rotations (..., 3, 3) nearest to sums of targets with sources (Kabsch 1976)."""
    left, _, right = np.linalg.svd(moments)
    left[..., 2] *= np.where(np.linalg.det(left @ right) < 0, -1.0, 1.0)[..., None]
    turns: Doubles = left @ right
    return turns


def best_poses(moments: Doubles) -> Doubles:
    """Return the rigid transforms (..., 3, 4) of moments (..., 4, 4) of targets (rows) with sources."""
    mass = np.maximum(moments[..., 3, 3], 1e-12)[..., None]
    target, source = moments[..., :3, 3] / mass, moments[..., 3, :3] / mass
    turns = best_turns(moments[..., :3, :3] - mass[..., None] * target[..., :, None] * source[..., None, :])
    ways = target - (turns @ source[..., None])[..., 0]
    return np.concatenate([turns, ways[..., None]], axis=-1)


def moments_of(places: Doubles, rest: Doubles, weights: Doubles) -> Doubles:
    """Return the moments (F, B, 4, 4) of where points are with where they rest, by their weights."""
    frames, count = places.shape[:2]
    source = (weights[:, :, None] * homogeneous(rest)[:, None, :]).reshape(count, -1)
    top = product(places.transpose(0, 2, 1).reshape(-1, count), source).reshape(frames, 3, -1, 4)
    low = np.broadcast_to(source.sum(axis=0).reshape(1, 1, -1, 4), (frames, 1, weights.shape[1], 4))
    moments: Doubles = np.concatenate([top, low], axis=1).transpose(0, 2, 1, 3)
    return moments


def pair_products(poses: Doubles) -> Doubles:
    """Return the products of all pairs of bones' transforms, summed over frames, (B, B, 4, 4)."""
    frames, bones = poses.shape[:2]
    flat = poses.transpose(0, 2, 1, 3).reshape(frames * 3, bones * 4)
    products: Doubles = product(flat.T, flat).reshape(bones, 4, bones, 4).transpose(0, 2, 1, 3)
    return products


def agreement(poses: Doubles, places: Doubles, rest: Doubles) -> Doubles:
    """Return the products of where bones take points with where these are, summed over frames, (P, B)."""
    frames, bones = poses.shape[:2]
    flat = poses.transpose(0, 2, 1, 3).reshape(frames * 3, bones * 4)
    side = product(places.transpose(1, 0, 2).reshape(len(rest), -1), flat).reshape(len(rest), bones, 4)
    found: Doubles = (side * homogeneous(rest)[:, None]).sum(axis=-1)
    return found


def errors_alone(poses: Doubles, places: Doubles, rest: Doubles) -> Doubles:
    """Return the squared error of each point if it followed each bone alone, summed over frames, (P, B)."""
    bones = np.arange(poses.shape[1])
    own = pair_products(poses)[bones, bones].reshape(len(bones), 16)
    source = homogeneous(rest)
    squares = product((source[:, :, None] * source[:, None, :]).reshape(-1, 16), own.T)
    wanted = np.einsum("fpa,fpa->p", places, places)
    return np.asarray(np.maximum(squares - 2 * agreement(poses, places, rest) + wanted[:, None], 0))


def fit_poses(skin: PointSkin, places: Doubles, passes: int = 1) -> Doubles:
    """Return better transforms: of each bone in turn, given all others' (block coordinate descent)."""
    poses, weights = skin.poses.copy(), skin.weights
    moments, source = moments_of(places, skin.rest, weights), homogeneous(skin.rest)
    shared = shared_moments(weights, source)
    for _ in range(passes):
        for bone in range(skin.num_bones):
            if moments[0, bone, 3, 3] > 1e-6:
                poses[:, bone] = best_poses(without_others(moments, shared, poses, bone))
    return poses


def shared_moments(weights: Doubles, source: Doubles) -> Doubles:
    """Return the moments of points with themselves by the weights of each pair of bones, (B, B, 4, 4)."""
    count, bones = weights.shape
    flat = (weights[:, :, None] * source[:, None, :]).reshape(count, bones * 4)
    products: Doubles = product(flat.T, flat).reshape(bones, 4, bones, 4).transpose(0, 2, 1, 3)
    return products


def without_others(moments: Doubles, shared: Doubles, poses: Doubles, bone: int) -> Doubles:
    """Return the moments (F, 4, 4) of what a bone has to do when all others have done theirs."""
    left = moments[:, bone].copy()
    others = np.flatnonzero(shared[bone, :, 3, 3] > 1e-9)
    others = others[others != bone]
    if len(others):
        frames = len(poses)
        flat = poses[:, others].transpose(0, 2, 1, 3).reshape(frames * 3, -1)
        left[:, :3] -= product(flat, shared[others, bone].reshape(-1, 4)).reshape(frames, 3, 4)
        left[:, 3] -= shared[others, bone, 3].sum(axis=0)
    return left


def fit_rest(skin: PointSkin, places: Doubles) -> Doubles:
    """Return better places at rest (P, 3): by least squares over all frames, held a little where they were."""
    frames, bones = skin.poses.shape[:2]
    found = np.empty_like(skin.rest)
    flat = skin.poses.transpose(1, 0, 2, 3).reshape(bones, -1)
    for part in _chunks(len(found), frames):
        blend = product(skin.weights[part], flat).reshape(-1, frames * 3, 4)
        turns, ways = blend[..., :3], blend[..., 3]
        wanted = places[:, part].transpose(1, 0, 2).reshape(len(blend), -1) - ways
        system = np.swapaxes(turns, 1, 2) @ turns + HOLD * frames * np.eye(3)
        right = (np.swapaxes(turns, 1, 2) @ wanted[..., None])[..., 0] + HOLD * frames * skin.rest[part]
        found[part] = np.linalg.solve(system, right[..., None])[..., 0]
    return found


def _chunks(count: int, frames: int) -> Iterator[slice]:
    """Yield so many points in parts whose blends of all frames fit into memory at once."""
    size = max(1, CHUNK // (12 * frames))
    for start in range(0, count, size):
        yield slice(start, start + size)


def fit_weights(skin: PointSkin, places: Doubles, edges: Indices) -> Doubles:
    """Return better weights (P, B): of each point among the best bones that it or its neighbours follow."""
    errors = errors_alone(skin.poses, places, skin.rest)
    chosen = _candidates(errors, skin.weights, edges)
    allowed = chosen >= 0
    pick = np.where(allowed, chosen, 0)
    pairs = pair_products(skin.poses)
    source = homogeneous(skin.rest)
    count, size = pick.shape
    system = np.empty((count, size, size))
    for i in range(size):
        for k in range(i, size):
            block = pairs[pick[:, i], pick[:, k]]
            system[:, i, k] = system[:, k, i] = np.einsum("pa,pab,pb->p", source, block, source)
    wanted = np.take_along_axis(agreement(skin.poses, places, skin.rest), pick, axis=1)
    solved = _solve_weights(system, wanted, allowed)
    weights = np.zeros(skin.weights.shape)
    points, columns = np.nonzero(allowed)
    weights[points, pick[points, columns]] = solved[points, columns]
    return weights


def _candidates(errors: Doubles, weights: Doubles, edges: Indices) -> Indices:
    """Return the best bones (P, K) of each point among those that it or points two edges away follow; -1 for none."""
    near = weights > LEAST_WEIGHT
    ends = np.concatenate([edges, edges[:, ::-1]])
    cells = (ends[:, :1] * near.shape[1] + np.arange(near.shape[1])).ravel()
    for _ in range(2):
        near |= np.bincount(cells, near[ends[:, 1]].ravel(), near.size).reshape(near.shape) > 0
    cost = np.where(near, errors, np.inf)
    order = np.argsort(cost, axis=1, kind="stable")[:, :CANDIDATES]
    return np.where(np.isfinite(np.take_along_axis(cost, order, axis=1)), order, -1)


def _solve_weights(system: Doubles, wanted: Doubles, allowed: NDArray[np.bool_]) -> Doubles:
    """Return weights (P, K) by least squares, none below 0, their sum 1, few of them: the least goes, one by one."""
    count, size = wanted.shape
    live = allowed.copy()
    scale = np.maximum(np.einsum("pkk->p", system) / size, 1e-12)
    system = system / scale[:, None, None] + 1e-5 * np.eye(size)
    wanted = wanted / scale[:, None]
    found = np.zeros_like(wanted)
    open_, diagonal = np.arange(count), np.arange(size)
    while len(open_):
        mask = live[open_]
        bordered = np.zeros((len(open_), size + 1, size + 1))
        bordered[:, :size, :size] = np.where(mask[:, :, None] & mask[:, None, :], system[open_], 0)
        bordered[:, diagonal, diagonal] += ~mask
        bordered[:, :size, size] = bordered[:, size, :size] = mask
        right = np.concatenate([np.where(mask, wanted[open_], 0), np.ones((len(open_), 1))], axis=1)
        solved = np.where(mask, np.linalg.solve(bordered, right[..., None])[:, :size, 0], np.inf)
        several = mask.sum(axis=1)
        over = ((solved.min(axis=1) < LEAST_WEIGHT) | (several > INFLUENCES)) & (several > 1)
        done = open_[~over]
        found[done] = np.where(mask[~over], solved[~over], 0)
        live[open_[over], solved[over].argmin(axis=1)] = False
        open_ = open_[over]
    return found


def without_empty_bones(skin: PointSkin, least: float) -> PointSkin:
    """Return a skin without bones that fewer points than so many hang on; theirs go to what else moves them."""
    alive = skin.weights.sum(axis=0) >= least
    if alive.all() or not alive.any():
        return skin
    weights = skin.weights[:, alive]
    lost = weights.sum(axis=1) <= 0
    weights[lost, int(weights.sum(axis=0).argmax())] = 1.0
    return PointSkin(skin.rest, weights / weights.sum(axis=1, keepdims=True), skin.poses[:, alive])


def without_flat_blends(skin: PointSkin, places: Doubles) -> PointSkin:
    """Return a skin from which all frames (F, P, 3) can be taken back to rest.

    Where bones turn against one another by half a turn the blend of both is flat. Such points follow the bone of
    theirs that alone does best more than they would, by as little as it takes.
    """
    flat = np.flatnonzero(_are_flat(skin))
    if not len(flat):
        return skin
    before = skin.weights[flat]
    errors = errors_alone(skin.poses, places[:, flat], skin.rest[flat])
    alone = np.eye(skin.num_bones)[np.where(before > 0, errors, np.inf).argmin(axis=1)]
    found = PointSkin(skin.rest.copy(), skin.weights.copy(), skin.poses)
    open_: Indices = np.arange(len(flat))
    for share in SHARES:
        found.weights[flat[open_]] = (1 - share) * before[open_] + share * alone[open_]
        open_ = open_[_are_flat(PointSkin(skin.rest[flat[open_]], found.weights[flat[open_]], skin.poses))]
    own = PointSkin(skin.rest[flat], found.weights[flat], skin.poses)
    found.rest[flat] = fit_rest(own, places[:, flat])
    return found


def _are_flat(skin: PointSkin) -> NDArray[np.bool_]:
    """Tell at which points (P,) a blend of some frame is all but flat."""
    flat = np.zeros(len(skin.rest), np.bool_)
    poses = skin.poses.transpose(1, 0, 2, 3).reshape(skin.num_bones, -1)
    for part in _chunks(len(flat), len(skin.poses)):
        turns = product(skin.weights[part], poses).reshape(-1, len(skin.poses), 3, 4)[..., :3]
        flat[part] = (np.abs(steady.determinants(turns)) < FLATTEST).any(axis=1)
    return flat
