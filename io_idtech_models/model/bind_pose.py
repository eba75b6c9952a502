"""A pose in which a skeleton's meshes fit together, for files that have none.

An MDM says of each weight where its vertex lies in the space of a joint, and nothing of a pose in which it was said. In
no frame do the weights of a vertex agree. Blender needs a rest pose, and moves a vertex as the games do only as far as
its weights agree there. So the pose is sought in which they agree best, by least squares over all joints at once
(Gauss and Newton, six unknowns for each joint):

- the places that the weights of a vertex name should be one, pair by pair, each pair as far as it weighs;
- a joint should lie in its parent where it lies on average (`PLACE`);
- joints should be turned against their parents as in the pose that one starts from (`TURN`, at an arm of `ARM` units):
  where few vertices are shared by two joints these leave a hinge free, and the mesh would tear;
- roots stay as they are; where a file names no parents (MDR) joints hang on those that they share most vertices with.

Where bones of the pose that one starts from are turned far from where they were bound (an animation that was brought
from another skeleton) that ends in a pose which tears the mesh. Then it is begun anew, with each joint turned and moved
so that its vertices come where its parent, and others before it, have them.

The equations are summed and solved in an order that no processor changes (`steady`): vertices, levels of detail and
converted models depend on the pose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .skeletal import Pose, SkeletalModel, SkinnedMesh
from .transforms import conjugate, from_matrices, multiply, rotate, to_matrices

Doubles = NDArray[np.float64]
UNKNOWNS = 6  # of a joint: a small turn about its place, and a small way
PLACE, TURN, ARM = 1e-3, 1e-5, 8.0  # parts of a pair's weight; units
TORN = 1 / 32  # of the size of the skeleton: weights of a vertex that disagree by more are worth beginning anew
STEPS, STILL = 40, 1e-3  # at most so many steps; the last is one by which the sum falls by less than this part
MOST_JOINTS = 512  # beyond that the equations take seconds to solve
GROUND = 1e-9  # added to the diagonal: a joint that nothing holds stays where it is
SAMPLES = 64  # frames that the mean place of a joint is taken from


def fitted(model: SkeletalModel, start: Pose, places: NDArray[Any] | None = None) -> SkeletalModel:
    """Return a model that is bound in the pose that fits its weights best; itself if it has too many joints.

    `start` is the pose to begin with, in model space; `places` (J, 3) where joints lie in their parents on average,
    by default as in `start`.
    """
    if model.skeleton.num_joints > MOST_JOINTS:
        return model
    parents = model.skeleton.parents
    if (parents < 0).all():  # of a file that tells no parents
        parents, places = implied_parents(model.meshes, len(parents)), None
    if places is None:
        places = _relative_places(parents, start)
    return bound_in(model, fit(model.meshes, parents, start, places))


def implied_parents(meshes: list[SkinnedMesh], count: int) -> NDArray[np.int32]:
    """Return what joints would hang on, (J,), by what they move: each on the one with which it shares most of a mesh.

    That is the spanning tree of the largest weights (Prim); what shares nothing with those before is a root.
    """
    pairs = _pairs_of(meshes)
    cells = pairs.joints[0] * count + pairs.joints[1]
    shared = np.bincount(cells, pairs.weights, count * count).reshape(count, count)
    shared += shared.T
    parents = np.full(count, -1, np.int32)
    nearest, most = np.full(count, -1, np.int32), np.zeros(count)
    waiting = np.ones(count, np.bool_)
    while waiting.any():
        joint = int(np.argmax(np.where(waiting, most, -1.0)))
        parents[joint], waiting[joint] = nearest[joint], False
        better = waiting & (shared[joint] > most)
        nearest[better], most[better] = joint, shared[joint][better]
    return parents


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


def _relative_places(parents: NDArray[Any], start: Pose) -> Doubles:
    parents = np.maximum(parents, 0)
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
    problem = _Problem(_pairs_of(meshes), parents, start, np.asarray(places, np.float64))
    pose = Pose(start.positions.astype(np.float64), start.rotations.astype(np.float64))
    if not len(problem.free):
        return pose
    found, energy = _descended(problem, pose)
    size = float(np.ptp(pose.positions, axis=0).max())
    if problem.disagreement(found) > TORN * size:
        other, less = _descended(problem, problem.laid_on(pose))
        found = other if less < energy else found
    return found


def _descended(problem: _Problem, pose: Pose) -> tuple[Pose, float]:
    """Return the pose to which steps lead from one, and the sum of squares there."""
    equations = problem.at(pose)
    for _ in range(STEPS):
        step, scale = equations.solved(), 1.0
        for _ in range(8):
            tried = problem.moved(pose, step * scale)
            result = problem.at(tried)
            if result.energy <= equations.energy:
                break
            scale /= 2
        else:
            break
        fall, pose, equations = equations.energy - result.energy, tried, result
        if fall <= STILL * equations.energy:
            break
    return pose, equations.energy


@dataclass(eq=False)
class _Equations:
    """What a pose asks for: the sum of squares, and the matrix and vector of the step that makes it smallest."""

    energy: float
    blocks: Doubles  # (n, n, 6, 6)
    vector: Doubles  # (n, 6)

    def solved(self) -> Doubles:
        """Return the step (n, 6): joints are eliminated from the last, so that children go before their parents.

        Joints that share no vertices have no block in common: each meets a handful of others.
        """
        blocks, sums = self.blocks.copy(), -self.vector
        count = len(sums)
        pivots, others = np.empty((count, UNKNOWNS, UNKNOWNS)), []
        for joint in reversed(range(count)):
            near = np.flatnonzero(blocks[:joint, joint].any(axis=(1, 2)))
            pivots[joint] = _inverse(blocks[joint, joint])
            share = steady.products(blocks[near, joint], pivots[joint])
            blocks[np.ix_(near, near)] -= steady.products(share[:, None], blocks[joint, near][None])
            sums[near] -= steady.dots(share, sums[joint])
            others.append(near)
        step = np.zeros((count, UNKNOWNS))
        for joint, near in enumerate(reversed(others)):
            left = sums[joint] - steady.dots(blocks[joint, near], step[near][:, None]).sum(axis=0)
            step[joint] = steady.dots(pivots[joint], left)
        return step


def _inverse(matrix: Doubles) -> Doubles:
    """Return the inverse of a positive definite matrix (6, 6), by Gauss and Jordan: that needs no choice of rows."""
    size = len(matrix)
    table = np.concatenate((matrix, np.eye(size)), axis=1)
    for row in range(size):
        table[row] /= table[row, row]
        share = table[:, row].copy()
        share[row] = 0.0
        table -= share[:, None] * table[row]
    return table[:, size:]


class _Sums:
    """Which values (n, k) belong to one place (n,) of many, and their sums."""

    def __init__(self, places: NDArray[Any]) -> None:
        self.order = np.argsort(places, kind="stable")
        self.places, self.starts = np.unique(places[self.order], return_index=True)

    def add(self, table: Doubles, values: Doubles) -> None:
        """Add to the rows of a table (m, k) the sums of the values that belong there."""
        if len(self.starts):
            table[self.places] += np.add.reduceat(values[self.order], self.starts, axis=0)


@dataclass(eq=False)
class _Links:
    """Pairs of joints (n,) whose difference counts, and where that goes in the equations; roots have a last place."""

    columns: tuple[NDArray[Any], NDArray[Any]]
    size: int

    def __post_init__(self) -> None:
        """Find out once what every step needs."""
        self.rows = [_Sums(column) for column in self.columns]
        self.cells = [[_Sums(a * self.size + b) for b in self.columns] for a in self.columns]

    def add(self, rows: list[Doubles], off: Doubles, weights: Doubles, blocks: Doubles, vector: Doubles) -> float:
        """Add what two joints each do to a difference (n, 3), their rows being (n, 3, 6); returns the squares' sum."""
        table = blocks.reshape(-1, UNKNOWNS * UNKNOWNS)
        for a, row in enumerate(rows):
            weighted = np.swapaxes(row, 1, 2) * weights[:, None, None]
            self.rows[a].add(vector, steady.dots(weighted, off[:, None]))
            for b, other in enumerate(rows):
                self.cells[a][b].add(table, steady.products(weighted, other).reshape(-1, UNKNOWNS * UNKNOWNS))
        return float((weights * steady.dots(off, off)).sum())


class _Problem:
    """The equations in any pose; roots do not move."""

    def __init__(self, pairs: _Pairs, parents: NDArray[Any], start: Pose, places: Doubles) -> None:
        self.pairs, self.places = pairs, places
        self.free = np.flatnonzero(parents >= 0)
        self.above = parents[self.free]
        self.size = len(self.free) + 1
        column = np.full(len(parents), len(self.free), np.int64)
        column[self.free] = np.arange(len(self.free))
        self.turns = multiply(conjugate(start.rotations[self.above]), start.rotations[self.free])
        self.shared = _Links((column[pairs.joints[0]], column[pairs.joints[1]]), self.size)
        self.hung = _Links((column[self.free], column[self.above]), self.size)

    def moved(self, pose: Pose, step: Doubles) -> Pose:
        """Return the pose after a step (joints, 6): turns in radians, ways in units."""
        positions, rotations = pose.positions.copy(), pose.rotations.copy()
        positions[self.free] += step[:, 3:]
        turned = multiply(_small_turns(step[:, :3]), rotations[self.free])
        rotations[self.free] = turned / steady.lengths(turned)[:, None]
        return Pose(positions, rotations)

    def disagreement(self, pose: Pose) -> float:
        """Return how far apart the places are at most, in units, that two weights of a vertex name."""
        return float(steady.lengths(self._apart(pose)[1]).max(initial=0.0))

    def _apart(self, pose: Pose) -> tuple[list[Doubles], Doubles]:
        """Return the ways from both joints of pairs to the places that they name, and how far these are apart."""
        pairs = self.pairs
        matrices = to_matrices(pose.rotations)
        arms = [steady.applied(matrices[j], o) for j, o in zip(pairs.joints, pairs.offsets, strict=True)]
        return arms, arms[0] + pose.positions[pairs.joints[0]] - arms[1] - pose.positions[pairs.joints[1]]

    def laid_on(self, pose: Pose) -> Pose:
        """Return a pose with one joint after another laid on those before it, by the vertices that it shares with them.

        A joint with few is where it is in its parent: its place there, and its turn, weigh as they do in the equations.
        """
        positions, rotations = pose.positions.copy(), pose.rotations.copy()
        joints, others = (np.concatenate(self.pairs.joints[::way]) for way in (1, -1))
        own, theirs = (np.concatenate(self.pairs.offsets[::way]) for way in (1, -1))
        weights = np.tile(self.pairs.weights, 2)
        order = np.argsort(joints, kind="stable")
        begins = np.searchsorted(joints[order], np.arange(len(positions) + 1))
        for joint, above, turn in zip(self.free.tolist(), self.above.tolist(), self.turns, strict=True):
            rows = order[begins[joint] : begins[joint + 1]]
            rows = rows[others[rows] < joint]
            known = others[rows]
            hung = positions[above] + rotate(rotations[above], self.places[joint])
            there = np.concatenate((rotate(rotations[known], theirs[rows]) + positions[known], hung[None]))
            here = np.concatenate((own[rows], np.zeros((1, 3))))
            shares = np.append(weights[rows], PLACE)[:, None]
            middles = [(shares * points).sum(axis=0) / shares.sum() for points in (there, here)]
            spread = (shares * (there - middles[0]))[:, :, None] * (here - middles[1])[:, None]
            expected = TURN * ARM * ARM * to_matrices(multiply(rotations[above], turn))
            matrix = steady.nearest_rotations(spread.sum(axis=0) + expected)
            rotations[joint] = from_matrices(matrix)
            positions[joint] = middles[0] - steady.applied(matrix, middles[1])
        return Pose(positions, rotations)

    def at(self, pose: Pose) -> _Equations:
        """Return the equations in a pose."""
        blocks = np.zeros((self.size, self.size, UNKNOWNS, UNKNOWNS))
        vector = np.zeros((self.size, UNKNOWNS))
        energy = self._add_pairs(pose, blocks, vector) + self._add_joints(pose, blocks, vector)
        count = self.size - 1
        blocks[np.arange(count), np.arange(count)] += GROUND * np.eye(UNKNOWNS)
        return _Equations(energy, blocks[:count, :count], vector[:count])

    def _add_pairs(self, pose: Pose, blocks: Doubles, vector: Doubles) -> float:
        arms, off = self._apart(pose)
        return self.shared.add([_rows(arms[0]), -_rows(arms[1])], off, self.pairs.weights, blocks, vector)

    def _add_joints(self, pose: Pose, blocks: Doubles, vector: Doubles) -> float:
        """Add that joints keep their places in their parents, and their turns against them."""
        arm = rotate(pose.rotations[self.above], self.places[self.free])
        way = pose.positions[self.free] - pose.positions[self.above] - arm
        ones = np.ones(len(self.free))
        own = np.zeros((len(self.free), 3, UNKNOWNS))
        own[:, :, 3:] = np.eye(3)
        energy = self.hung.add([own, -_rows(arm)], way, PLACE * ones, blocks, vector)
        expected = multiply(pose.rotations[self.above], self.turns)
        bend = _turn_vectors(multiply(pose.rotations[self.free], conjugate(expected)))
        own = np.zeros((len(self.free), 3, UNKNOWNS))
        own[:, :, :3] = np.eye(3)
        return energy + self.hung.add([own, -own], bend, TURN * ARM * ARM * ones, blocks, vector)


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
    angles = steady.lengths(vectors)[:, None]
    cosines, sines = steady.cosines_and_sines(angles / 2)
    shares = np.where(angles > 0, sines / np.where(angles > 0, angles, 1.0), 0.5)
    return np.concatenate((cosines, shares * vectors), axis=1)


def _turn_vectors(rotations: Doubles) -> Doubles:
    """Return turns as vectors (n, 3) of radians of quaternions (n, 4), the short way."""
    short = np.where(rotations[:, :1] < 0, -rotations, rotations)
    length = steady.lengths(short[:, 1:])[:, None]
    angle = 2 * steady.angles_of(length, short[:, :1])
    return np.asarray(short[:, 1:] * np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 2.0))
