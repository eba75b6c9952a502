"""Rotations and poses as arrays. Quaternions are (..., 4) as w, x, y, z; they turn column vectors.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady

Doubles = NDArray[np.float64]


def multiply(a: NDArray[Any], b: NDArray[Any]) -> Doubles:
    """Return the product of quaternions (..., 4): first `b`, then `a`."""
    aw, ax, ay, az = (a[..., i] for i in range(4))
    bw, bx, by, bz = (b[..., i] for i in range(4))
    result = np.empty(np.broadcast_shapes(a.shape, b.shape))
    result[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    result[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    result[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    result[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return result


def conjugate(q: NDArray[Any]) -> Doubles:
    """Return the inverse turns of unit quaternions (..., 4)."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: NDArray[Any], v: NDArray[Any]) -> Doubles:
    """Return vectors (..., 3) turned by quaternions (..., 4), scaled by their squared length.

    Component by component: numpy is slow along an axis of three.
    """
    w, x, y, z = (q[..., i] for i in range(4))
    vx, vy, vz = (v[..., i] for i in range(3))
    along = x * vx + y * vy + z * vz
    # The product with the vector as a quaternion without its real part, which is -along.
    ix, iy, iz = w * vx + y * vz - z * vy, w * vy + z * vx - x * vz, w * vz + x * vy - y * vx
    result = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 3))
    result[..., 0] = w * ix + y * iz - z * iy + x * along
    result[..., 1] = w * iy + z * ix - x * iz + y * along
    result[..., 2] = w * iz + x * iy - y * ix + z * along
    return result


def to_matrices(q: NDArray[Any]) -> Doubles:
    """Return the matrices (..., 3, 3) of quaternions (..., 4), times the square of their length."""
    w, x, y, z = (q[..., i] for i in range(4))
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrices(m: NDArray[Any]) -> Doubles:
    """Return unit quaternions (..., 4) of rotation matrices (..., 3, 3), with w >= 0.

    The largest of the four components is found from the diagonal (Shepperd 1978), the others from it.
    """
    d = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack(
        (1 + d[0] + d[1] + d[2], 1 + d[0] - d[1] - d[2], 1 - d[0] + d[1] - d[2], 1 - d[0] - d[1] + d[2]), axis=-1
    )
    yz, zy = m[..., 2, 1], m[..., 1, 2]
    xz, zx = m[..., 0, 2], m[..., 2, 0]
    xy, yx = m[..., 1, 0], m[..., 0, 1]
    rows = (
        (squares[..., 0], yz - zy, xz - zx, xy - yx),
        (yz - zy, squares[..., 1], xy + yx, xz + zx),
        (xz - zx, xy + yx, squares[..., 2], yz + zy),
        (xy - yx, xz + zx, yz + zy, squares[..., 3]),
    )
    table = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = squares.argmax(axis=-1)
    chosen = np.take_along_axis(table, best[..., None, None], axis=-2)[..., 0, :]
    chosen = chosen / steady.lengths(chosen)[..., None]
    return np.asarray(np.where(chosen[..., :1] < 0, -chosen, chosen))


def inverse(m: NDArray[Any]) -> Doubles:
    """Return the inverses of affine matrices (..., 4, 4), however far they move.

    Not as a whole: a move by 1e30 would leave nothing of the turn.
    """
    turns = steady.inverses(m[..., :3, :3])
    return as_matrices(turns, -steady.applied(turns, m[..., :3, 3]))


def as_matrices(turns: NDArray[Any], ways: NDArray[Any]) -> Doubles:
    """Return matrices (..., 4, 4) of what they do to directions (..., 3, 3), and how far they move (..., 3)."""
    found = np.zeros((*ways.shape[:-1], 4, 4))
    found[..., :3, :3], found[..., :3, 3], found[..., 3, 3] = turns, ways, 1.0
    return found


def axes_of_angles(angles: NDArray[Any]) -> Doubles:
    """Return forward, left and up as rows (..., 3, 3) of pitch, yaw and roll (..., 3) in radians (`AnglesToAxis`)."""
    (cp, cy, cr), (sp, sy, sr) = (np.moveaxis(part, -1, 0) for part in steady.cosines_and_sines(angles))
    rows = (
        (cp * cy, cp * sy, -sp),
        (sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp),
        (cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def chain(parents: NDArray[Any], positions: NDArray[Any], rotations: NDArray[Any]) -> tuple[Doubles, Doubles]:
    """Return poses in model space of poses relative to the parent: positions (..., J, 3), rotations (..., J, 4).

    `parents` (J,) come before their children; a root's is negative.
    """
    places, turns = np.array(positions, np.float64), np.array(rotations, np.float64)
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            places[..., joint, :] = places[..., parent, :] + rotate(turns[..., parent, :], places[..., joint, :])
            turns[..., joint, :] = multiply(turns[..., parent, :], turns[..., joint, :])
    return places, turns


def unchain(parents: NDArray[Any], positions: NDArray[Any], rotations: NDArray[Any]) -> tuple[Doubles, Doubles]:
    """Return poses relative to the parent of poses in model space; inverse of `chain`, for unit quaternions."""
    places, turns = np.array(positions, np.float64), np.array(rotations, np.float64)
    children = np.flatnonzero(parents >= 0)
    above = parents[children]
    back = conjugate(turns[..., above, :])
    relative = rotate(back, places[..., children, :] - places[..., above, :])
    turned = multiply(back, turns[..., children, :])
    places[..., children, :], turns[..., children, :] = relative, turned
    return places, turns


def same_turns(a: NDArray[Any], b: NDArray[Any]) -> Doubles:
    """Return the angles (...) in radians between the rotations of unit quaternions (..., 4), whatever their signs."""
    vector = multiply(conjugate(a), b)
    return np.asarray(2 * steady.angles_of(steady.lengths(vector[..., 1:]), np.abs(vector[..., 0])))
