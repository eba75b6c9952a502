"""A table of weights: which joints move a vertex, and where it lies in their space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .transforms import rotate, to_matrices

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
LEAST = 1e-3  # of a sum of turns, whose normals would be noise


@dataclass(eq=False)
class Weights:
    """What moves a mesh's vertices: vertex v has the weights starts[v] to starts[v] + counts[v] of one table."""

    starts: NDArray[Any]  # (V,) whole numbers, as are
    counts: NDArray[Any]  # (V,)
    joints: NDArray[Any]  # (W,)
    factors: Floats  # (W,) the file's biases
    offsets: Floats  # (W, 3) in the joint's space
    still: Floats | None = None  # (V, 3) where vertices without weights lie, which nothing moves; None: at the origin

    def of(self, vertices: NDArray[Any]) -> Weights:
        """Return the weights of some vertices (n,), in the same table."""
        still = None if self.still is None else self.still[vertices]
        return Weights(self.starts[vertices], self.counts[vertices], self.joints, self.factors, self.offsets, still)

    def copy(self) -> Weights:
        """Return the same as arrays of its own."""
        still = None if self.still is None else self.still.copy()
        places = self.starts.copy(), self.counts.copy()
        return Weights(*places, self.joints.copy(), self.factors.copy(), self.offsets.copy(), still)

    def first_joints(self) -> NDArray[np.int64]:
        """Return the joint of each vertex's first weight, (V,); 0 for one without any."""
        joints = self.joints if len(self.joints) else np.zeros(1, np.int64)
        return np.where(self.counts > 0, joints[np.where(self.counts > 0, self.starts, 0)], 0).astype(np.int64)

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the vertex and the weight (n,) of everything that moves a vertex, vertex by vertex."""
        counts = self.counts.astype(np.int64)
        vertices = np.repeat(np.arange(len(counts)), counts)
        steps = np.arange(len(vertices)) - np.repeat(np.cumsum(counts) - counts, counts)
        return vertices, self.starts.astype(np.int64)[vertices] + steps


def skin(
    weights: Weights, positions: NDArray[Any], rotations: NDArray[Any], scales: NDArray[Any] | None = None
) -> Doubles:
    """Return where a pose of the joints, positions (J, 3) and rotations (J, 4) in model space, puts vertices, (V, 3).

    `scales` (J,) say how large joints are, 1 without.

    The sum of factor x (rotation x offset + position) over a vertex's weights (dhewm3, `TransformVerts`).
    """
    axes = to_matrices(rotations)
    return skin_by(weights, positions, axes if scales is None else axes * scales[:, None, None])


def skin_by(weights: Weights, positions: NDArray[Any], axes: NDArray[Any]) -> Doubles:
    """Return where joints put vertices, (V, 3): at positions (J, 3), and what they do to their space, (J, 3, 3)."""
    vertices, entries = weights.entries()
    joints = weights.joints[entries]
    turned = steady.applied(axes[joints], weights.offsets[entries])
    moved = (turned + positions[joints]) * weights.factors[entries, None].astype(np.float64)
    sums = [np.bincount(vertices, moved[:, axis], len(weights.starts)) for axis in range(3)]
    places = np.stack(sums, axis=1).astype(np.float64)  # numpy counts nothing in whole numbers
    if weights.still is not None:
        bare = weights.counts == 0
        places[bare] = weights.still[bare]
    return places


def normal_turns(weights: Weights, rotations: NDArray[Any]) -> NDArray[Any]:
    """Return what turns each vertex's normal, (..., V, 4), where joints are turned by rotations (..., J, 4).

    That is its first weight's joint; nothing where it has none.
    """
    bare = weights.counts == 0
    if not bare.any():
        first: NDArray[Any] = rotations[..., weights.first_joints(), :]
        return first
    found = np.zeros((*rotations.shape[:-2], len(bare), 4), np.float64)
    found[..., 0] = 1.0
    found[..., ~bare, :] = rotations[..., weights.first_joints()[~bare], :]
    return found


def summed(owners: NDArray[Any], matrices: NDArray[Any], count: int) -> Doubles:
    """Return the sums (count, 3, 3) of the matrices (n, 3, 3) of each owner, their numbers (n,)."""
    columns = [np.bincount(owners, part, count) for part in matrices.reshape(-1, 9).T]
    return np.asarray(np.stack(columns, axis=1).reshape(-1, 3, 3), np.float64)


def weighted_turns(weights: Weights, turns: NDArray[Any]) -> Doubles:
    """Return the sums (V, 3, 3) of weight x turn of its joint, of `turns` (J, 3, 3); none where there is no weight."""
    vertices, entries = weights.entries()
    parts = turns[weights.joints[entries]] * weights.factors[entries].astype(np.float64)[:, None, None]
    found = summed(vertices, parts, len(weights.counts))
    found[weights.counts == 0] = np.eye(3)
    return found


def turned_alike(rest: NDArray[Any], turns: Doubles, first: Doubles) -> Doubles:
    """Return the vectors (V, 3) that sums of weight x turn, (V, 3, 3), take to normals at rest, (V, 3), of some length.

    Where these sums are as good as none the turn of the `first` weight's joint does, (V, 3, 3).
    """
    flat = np.abs(steady.determinants(turns)) < LEAST
    return steady.applied(steady.inverses(np.where(flat[:, None, None], first, turns)), rest)


def alike_normals(weights: Weights, normals: NDArray[Any], bind: NDArray[Any], axes: NDArray[Any]) -> Doubles:
    """Return the normals (F, V, 3) of vertices of which all joints turn one and the same vector, as their weights say.

    As `RB_MDRSurfaceAnim` of ioquake3 does. `normals` and the others are as `blended_normals` has them.
    """
    rest, first = normal_turns(weights, bind), to_matrices(normal_turns(weights, bind))
    stored = turned_alike(rotate(rest, normals), weighted_turns(weights, to_matrices(bind)), first)
    bare = weights.counts == 0
    found = np.empty((len(axes), len(normals), 3))
    for frame, own in zip(found, axes, strict=True):
        turned = np.where(bare[:, None], normals, steady.applied(weighted_turns(weights, own), stored))
        frame[:] = turned / np.maximum(steady.lengths(turned), steady.TINY)[:, None]
    return found


def blended_normals(weights: Weights, normals: NDArray[Any], bind: NDArray[Any], axes: NDArray[Any]) -> Doubles:
    """Return the normals (F, V, 3) of vertices that all their joints turn, as their weights say.

    `normals` (V, 3) are in the space of each first weight's joint, which is turned by `bind` (J, 4) at rest; `axes`
    (F, J, 3, 3) are what joints do to their space. By the cofactors of the blend: so they stay upright where it scales.
    """
    back = np.swapaxes(to_matrices(bind), -1, -2)
    rest = rotate(normal_turns(weights, bind), normals)
    found = np.empty((len(axes), len(normals), 3))
    for frame, own in zip(found, axes, strict=True):
        blend = weighted_turns(weights, steady.products(own, back))
        cofactors = steady.cofactors(blend) * np.where(steady.determinants(blend) < 0, -1.0, 1.0)[:, None, None]
        turned = steady.applied(cofactors, rest)
        frame[:] = turned / np.maximum(steady.lengths(turned), steady.TINY)[:, None]
    return found
