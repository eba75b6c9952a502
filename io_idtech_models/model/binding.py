"""A pose in which a skeleton's meshes fit together, for files that have none.

An MDM says of each weight where its vertex lies in the space of a joint, and nothing of a pose in which it was said. In
no frame do the weights of a vertex agree. Blender needs a rest pose, and moves a vertex as the games do only as far as
its weights agree there. So the pose is sought in which they agree best, by least squares over all joints at once
(Gauss and Newton, six unknowns for each joint):

- the places that the weights of a vertex name should be one, pair by pair, each pair as far as it weighs;
- a joint should lie in its parent where it lies on average (`PLACE`);
- joints should be turned against their parents as in the pose that one starts from (`TURN`, at an arm of `ARM` units):
  where few vertices are shared by two joints these leave a hinge free, and the mesh would tear;
- roots stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .skeletal import Pose, SkeletalModel, SkinnedMesh
from .transforms import conjugate, multiply, rotate, to_matrices

Doubles = NDArray[np.float64]
PLACE, TURN, ARM = 0.01, 1e-4, 8.0  # parts of a pair's weight; units
STEPS, STILL = 40, 1e-3  # at most so many steps; the last is one by which the sum falls by less than this part
MOST_JOINTS = 512  # beyond that the equations take seconds to solve
SAMPLES = 64  # frames that the mean place of a joint is taken from


def fitted(model: SkeletalModel, start: Pose, places: NDArray[Any] | None = None) -> SkeletalModel:
    """Return a model that is bound in the pose that fits its weights best; itself if it has too many joints.

    `start` is the pose to begin with, in model space; `places` (J, 3) where joints lie in their parents on average,
    by default as in `start`.
    """
    if model.skeleton.num_joints > MOST_JOINTS:
        return model
    if places is None:
        places = _relative_places(model, start)
    return bound_in(model, fit(model.meshes, model.skeleton.parents, start, places))


def bound_in(model: SkeletalModel, pose: Pose) -> SkeletalModel:
    """Return a model that is bound in another pose, its source likewise."""
    source = model.source
    if source is not None:
        source = replace(source, skeleton=replace(source.skeleton, bound=pose))
    return replace(model, skeleton=replace(model.skeleton, bound=pose), source=source)


def mean_places(positions: NDArray[Any]) -> Doubles:
    """Return where joints lie in their parents on average, (J, 3), of positions (F, J, 3) relative to those."""
    step = max(1, len(positions) // SAMPLES)
    return np.asarray(positions[::step].mean(axis=0))


def _relative_places(model: SkeletalModel, start: Pose) -> Doubles:
    parents = np.maximum(model.skeleton.parents, 0)
    return rotate(conjugate(start.rotations[parents]), start.positions - start.positions[parents])


@dataclass(eq=False)
class _Pairs:
    """Weights of one vertex, two by two: the joints (n,), the offsets in them (n, 3), and what the pair weighs (n,)."""

    joints: tuple[NDArray[Any], NDArray[Any]]
    offsets: tuple[Doubles, Doubles]
    weights: Doubles


def _pairs_of(meshes: list[SkinnedMesh]) -> _Pairs:
    """Return all pairs of weights on different joints."""
    found = [_pairs_in(mesh) for mesh in meshes]
    a, b, x, y, w = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else _NONE
    return _Pairs((a, b), (x, y), w)


_NONE = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))


def _pairs_in(mesh: SkinnedMesh) -> tuple[NDArray[Any], ...]:
    table = mesh.weights
    owners, entries = table.entries()
    factors = np.maximum(table.factors[entries].astype(np.float64), 0.0)
    sums = np.maximum(np.bincount(owners, factors, len(table.counts)), 1e-12)
    parts = [_NONE]
    for step in range(1, int(table.counts.max(initial=0))):
        first = np.arange(len(owners) - step)
        first = first[owners[first] == owners[first + step]]
        a, b = entries[first], entries[first + step]
        weight = factors[first] * factors[first + step] / sums[owners[first]]
        good = (table.joints[a] != table.joints[b]) & (weight > 0)
        a, b = a[good], b[good]
        offsets = table.offsets.astype(np.float64)
        parts.append((table.joints[a].astype(np.int64), table.joints[b].astype(np.int64), offsets[a], offsets[b],
                      weight[good]))  # fmt: skip
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def fit(meshes: list[SkinnedMesh], parents: NDArray[Any], start: Pose, places: NDArray[Any]) -> Pose:
    """Return the pose, in model space, in which the weights of vertices agree best; see the module."""
    pairs = _pairs_of(meshes)
    problem = _Problem(pairs, parents, start, np.asarray(places, np.float64))
    pose = Pose(start.positions.astype(np.float64), start.rotations.astype(np.float64))
    if not len(problem.free):
        return pose
    energy, matrix, vector = problem.at(pose)
    for _ in range(STEPS):
        step: Doubles = np.asarray(np.linalg.solve(matrix, -vector).reshape(-1, 6), np.float64)
        scale = 1.0
        for _ in range(8):
            tried = problem.moved(pose, step * scale)
            result = problem.at(tried)
            if result[0] <= energy:
                break
            scale /= 2
        else:
            break
        fall, pose = energy - result[0], tried
        energy, matrix, vector = result
        if fall <= STILL * energy:
            break
    return pose


class _Problem:
    """The equations: unknowns are, for each joint but roots, a small turn about its place and a small way."""

    def __init__(self, pairs: _Pairs, parents: NDArray[Any], start: Pose, places: Doubles) -> None:
        self.pairs, self.parents, self.places = pairs, parents, places
        self.free = np.flatnonzero(parents >= 0)
        self.column = np.full(len(parents), -1, np.int64)
        self.column[self.free] = np.arange(len(self.free))
        above = parents[self.free]
        self.turns = multiply(conjugate(start.rotations[above]), start.rotations[self.free])

    def moved(self, pose: Pose, step: Doubles) -> Pose:
        """Return the pose after a step (joints, 6): turns in radians, ways in units."""
        positions, rotations = pose.positions.copy(), pose.rotations.copy()
        positions[self.free] += step[:, 3:]
        turned = multiply(_small_turns(step[:, :3]), rotations[self.free])
        rotations[self.free] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return Pose(positions, rotations)

    def at(self, pose: Pose) -> tuple[float, Doubles, Doubles]:
        """Return the sum of squares in a pose, and the matrix and vector of the step that makes it smallest."""
        count = len(self.free)
        blocks, sums = np.zeros((count + 1, count + 1, 6, 6)), np.zeros((count + 1, 6))
        energy = self._add_pairs(pose, blocks, sums) + self._add_joints(pose, blocks, sums)
        matrix = blocks[:count, :count].transpose(0, 2, 1, 3).reshape(6 * count, 6 * count)
        matrix[np.diag_indices(6 * count)] += 1e-9
        return energy, matrix, sums[:count].ravel()

    def _add_pairs(self, pose: Pose, blocks: Doubles, sums: Doubles) -> float:
        pairs = self.pairs
        if not len(pairs.weights):
            return 0.0
        matrices = to_matrices(pose.rotations)
        arms = [np.einsum("nij,nj->ni", matrices[j], o) for j, o in zip(pairs.joints, pairs.offsets, strict=True)]
        off = arms[0] + pose.positions[pairs.joints[0]] - arms[1] - pose.positions[pairs.joints[1]]
        rows = [_rows(arm) * sign for arm, sign in zip(arms, (1.0, -1.0), strict=True)]  # (n, 3, 6)
        self._add(rows, list(pairs.joints), off, pairs.weights, blocks, sums)
        return float((pairs.weights * (off * off).sum(axis=1)).sum())

    def _add_joints(self, pose: Pose, blocks: Doubles, sums: Doubles) -> float:
        """Add that joints keep their places in their parents, and their turns against them."""
        above = self.parents[self.free]
        arm = rotate(pose.rotations[above], self.places[self.free])
        way = pose.positions[self.free] - pose.positions[above] - arm
        ones = np.ones(len(self.free))
        own = np.zeros((len(self.free), 3, 6))
        own[:, :, 3:] = np.eye(3)
        self._add([own, -_rows(arm)], [self.free, above], way, PLACE * ones, blocks, sums)
        expected = multiply(pose.rotations[above], self.turns)
        bend = _turn_vectors(multiply(pose.rotations[self.free], conjugate(expected)))
        own = np.zeros((len(self.free), 3, 6))
        own[:, :, :3] = np.eye(3)
        weight = TURN * ARM * ARM
        self._add([own, -own], [self.free, above], bend, weight * ones, blocks, sums)
        return float(PLACE * (way * way).sum() + weight * (bend * bend).sum())

    def _add(
        self,
        rows: list[Doubles],
        joints: list[NDArray[Any]],
        off: Doubles,
        weights: Doubles,
        blocks: Doubles,
        sums: Doubles,
    ) -> None:
        """Add to the equations what two joints (n,) each do to a difference (n, 3), their rows being (n, 3, 6)."""
        size = len(blocks)
        columns = [np.where(self.column[j] < 0, size - 1, self.column[j]) for j in joints]
        for a, row in zip(columns, rows, strict=True):
            sums += _gathered(a, np.einsum("nki,nk,n->ni", row, off, weights), size)
            for b, other in zip(columns, rows, strict=True):
                product = np.einsum("nki,nkj,n->nij", row, other, weights)
                blocks += _gathered(a * size + b, product.reshape(-1, 36), size * size).reshape(size, size, 6, 6)


def _gathered(places: NDArray[Any], values: Doubles, count: int) -> Doubles:
    """Return the sums (count, k) of values (n, k) that have the same place (n,)."""
    order = np.argsort(places, kind="stable")
    found, starts = np.unique(places[order], return_index=True)
    result = np.zeros((count, values.shape[1]))
    result[found] = np.add.reduceat(values[order], starts, axis=0)
    return result


def _rows(arms: Doubles) -> Doubles:
    """Return what a small turn and a small way do to the end of an arm (n, 3): (n, 3, 6)."""
    rows = np.zeros((len(arms), 3, 6))
    x, y, z = arms.T
    # turn x arm, as a matrix of the arm
    rows[:, 0, 1], rows[:, 0, 2] = z, -y
    rows[:, 1, 0], rows[:, 1, 2] = -z, x
    rows[:, 2, 0], rows[:, 2, 1] = y, -x
    rows[:, :, 3:] = np.eye(3)
    return rows


def _small_turns(vectors: Doubles) -> Doubles:
    """Return quaternions (n, 4) of turns as vectors (n, 3) of radians."""
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.concatenate((np.cos(angles / 2), np.sinc(angles / (2 * np.pi)) / 2 * vectors), axis=1)


def _turn_vectors(rotations: Doubles) -> Doubles:
    """Return turns as vectors (n, 3) of radians of quaternions (n, 4), the short way."""
    short = np.where(rotations[:, :1] < 0, -rotations, rotations)
    length = np.linalg.norm(short[:, 1:], axis=1, keepdims=True)
    angle = 2 * np.arctan2(length, short[:, :1])
    return np.asarray(short[:, 1:] * np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 2.0))
