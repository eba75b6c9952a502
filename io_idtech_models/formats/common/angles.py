"""Rotations and directions as the int16 angles of MDX.

A code is 360 / 65536 degrees. A rotation is pitch, yaw and roll, a direction pitch and yaw. The engine (ET: Legacy,
`R_CalcBone`) takes forward, left and up of `AnglesToAxis` as the rows of a matrix M that turns column vectors: the
inverse of what these angles mean elsewhere in Quake. Directions are exact here, as in Return to Castle Wolfenstein;
those of Enemy Territory, which looks them up in a table, are in `wolf.ways`.

Quaternions are (..., 4) as w, x, y, z.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady

Doubles = NDArray[np.float64]
Codes = NDArray[np.int16]
CODE = 2 * np.pi / 65536.0  # radians
HALF_CODE = CODE / 2
UPRIGHT = 1e-9  # nearer to straight up or down a direction's yaw is noise: it is 0


@cache
def _table(part: float) -> tuple[Doubles, Doubles]:
    """Return the cosines and sines of a part of the angle of each code, by the code as an unsigned number."""
    angles = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.float64) * (CODE * part)
    return steady.cosines_and_sines(angles)


def _looked_up(codes: NDArray[Any], part: float) -> tuple[list[Doubles], list[Doubles]]:
    """Return cosines and sines of a part of the angles of codes (..., n): n arrays (...) each."""
    found = [np.ascontiguousarray(codes[..., i], np.int16).view(np.uint16) for i in range(codes.shape[-1])]
    cosines, sines = _table(part)
    return [cosines[index] for index in found], [sines[index] for index in found]


def _codes(y: Doubles, x: Doubles) -> NDArray[np.int64]:
    """Return the angles of points from the X axis as codes."""
    return steady.whole_steps(y, x, CODE)


def _wrapped(codes: NDArray[np.int64]) -> Codes:
    return ((codes + 32768) % 65536 - 32768).astype(np.int16)


def decode_rotations(codes: NDArray[Any]) -> Doubles:
    """Return the rotations (..., 4) of codes (..., 3 or more): pitch, yaw, roll; inverse of `encode_rotations`."""
    (cp, cy, cr), (sp, sy, sr) = _looked_up(codes[..., :3], 0.5)
    q = np.empty((*codes.shape[:-1], 4))
    q[..., 0] = cr * cp * cy + sr * sp * sy
    q[..., 1] = cr * sp * sy - sr * cp * cy
    q[..., 2] = -cr * sp * cy - sr * cp * sy
    q[..., 3] = sr * sp * cy - cr * cp * sy
    return q


def encode_rotations(rotations: NDArray[Any]) -> Codes:
    """Return the closest codes (..., 3) of unit quaternions (..., 4), with pitch between -90 and 90 degrees.

    Where a bone points straight up or down only yaw and roll together say how it is turned. So roll is what the coded
    yaw leaves of the turn, there and everywhere.
    """
    w, x, y, z = (rotations[..., i] for i in range(4))
    # M's first row is forward: (cos pitch cos yaw, cos pitch sin yaw, -sin pitch).
    forward = w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)
    codes = np.empty((*rotations.shape[:-1], 3), np.int64)
    level = np.sqrt(forward[0] * forward[0] + forward[1] * forward[1])
    codes[..., 0] = _codes(-forward[2], level)
    codes[..., 1] = np.where(level > UPRIGHT, _codes(forward[1], forward[0]), 0)
    # The other rows along the level direction across the yaw: left says cos roll, up says -sin roll.
    (cosine,), (sine,) = _looked_up(_wrapped(codes[..., 1:2]), 1.0)
    left = (w * w - x * x + y * y - z * z) * cosine - 2 * (x * y + w * z) * sine
    up = 2 * (y * z + w * x) * cosine - 2 * (x * z - w * y) * sine
    codes[..., 2] = _codes(-up, left)
    return _wrapped(codes)


def decode_directions(codes: NDArray[Any]) -> Doubles:
    """Return the unit vectors (..., 3) of codes (..., 2): pitch and yaw; inverse of `encode_directions`."""
    (cp, cy), (sp, sy) = _looked_up(codes, 1.0)
    return np.stack((cp * cy, cp * sy, -sp), axis=-1)


def encode_directions(vectors: NDArray[Any]) -> Codes:
    """Return the closest codes (..., 2) of the directions of vectors (..., 3) of any length."""
    x, y, z = (vectors[..., i] for i in range(3))
    level = np.sqrt(x * x + y * y)
    codes = np.empty((*vectors.shape[:-1], 2), np.int64)
    codes[..., 0] = _codes(-z, level)
    codes[..., 1] = np.where(level > UPRIGHT * np.abs(z), _codes(y, x), 0)
    return _wrapped(codes)
