"""How far a step of a mesh that loses its vertices moves the texture on its surface.

On each triangle the texture coordinate is a linear function of the place. A vertex that goes to another takes the
functions of its triangles along; what they say of the other's place differs from the coordinate that it has by how far
the texture slips there (Hoppe 1999, New quadric metric for simplifying meshes with appearance attributes). Where a
picture is mirrored along a line, as on most chests and faces, no seam tells, and this alone keeps the line.

Letters in shapes: V vertices, T triangles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady

Doubles = NDArray[np.float64]

THIN = 0.05  # height of a triangle by its longest edge, below which it says nothing of its surroundings
ROWS, COLUMNS = np.triu_indices(5)


class Texture:
    """What the texture coordinates around each vertex say, of U and of V, as quadrics.

    Args:
        points: (V, 3), in one pose.
        uvs: (V, 2).
        corners: triangles (T, 3).
    """

    def __init__(self, points: Doubles, uvs: Doubles, corners: NDArray[np.int64]) -> None:
        a, b, c = (points[corners[:, k]] for k in range(3))
        normals = steady.crossed(b - a, c - a)
        doubled = steady.lengths(normals)
        longest = np.maximum.reduce([steady.lengths(end) for end in (b - a, c - b, a - c)])
        good = doubled > THIN * longest * longest
        size = _size(uvs[corners], doubled, good)
        # What changes along the triangle for each way off its first corner: gradients of U and V.
        along = np.where(good, doubled * doubled, 1.0)[:, None]
        terms = np.zeros((len(corners), 31))
        for side in range(2):
            value = uvs[corners, side] * size
            rise = (value[:, 1] - value[:, 0])[:, None], (value[:, 2] - value[:, 0])[:, None]
            slope = (rise[0] * steady.crossed(c - a, normals) + rise[1] * steady.crossed(normals, b - a)) / along
            start = value[:, 0] - steady.dots(slope, a)
            row = np.column_stack((slope, start, np.full(len(corners), -1.0)))
            terms[:, 15 * side : 15 * side + 15] = row[:, ROWS] * row[:, COLUMNS]
        terms[:, 30] = 1.0
        terms *= np.where(good, doubled, 0.0)[:, None]
        every = corners.T.reshape(-1)
        sums = [np.bincount(every, np.tile(term, 3), len(points)) for term in terms.T]
        self.quadrics: list[list[float]] = np.stack(sums, axis=1).tolist()
        self.points: list[Any] = np.concatenate((points, uvs * size), axis=1).tolist()

    def slip(self, vertex: int, target: int) -> float:
        """Return the mean square of how far the texture slips around a vertex that goes to a target."""
        quadric = self.quadrics[vertex]
        weight = quadric[30]
        if not weight:
            return 0.0
        x, y, z, u, v = self.points[target]
        total = 0.0
        for first, value in ((0, u), (15, v)):
            xx, xy, xz, xw, xs, yy, yz, yw, ys, zz, zw, zs, ww, ws, ss = quadric[first : first + 15]
            total += x * (xx * x + 2 * (xy * y + xz * z + xw + xs * value))
            total += y * (yy * y + 2 * (yz * z + yw + ys * value))
            total += z * (zz * z + 2 * (zw + zs * value)) + ww + value * (2 * ws + ss * value)
        return max(total, 0.0) / weight

    def add(self, target: int, vertex: int) -> None:
        """Let a target stand for a vertex that went there."""
        pair = zip(self.quadrics[target], self.quadrics[vertex], strict=True)
        self.quadrics[target] = [a + b for a, b in pair]


def _size(uvs: Doubles, doubled: Doubles, good: NDArray[np.bool_]) -> float:
    """Return the length of the texture's side on the surface, by the areas of triangles (T, 3, 2) on both."""
    right, up = uvs[:, 1] - uvs[:, 0], uvs[:, 2] - uvs[:, 0]
    shown = np.abs(right[:, 0] * up[:, 1] - right[:, 1] * up[:, 0])
    total = float(shown[good].sum())
    return float(np.sqrt(float(doubled[good].sum()) / total)) if total > 0.0 else 0.0
