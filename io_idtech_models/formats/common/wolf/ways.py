"""Ways from parents to bones as the games show them: exact of an MDS, by a table of sines of an MDX.

Facts (ET: Legacy's `tr_animation_mdm.c`: `LocalIngleVector`, `SLerp_Normal`; `tr.sinTable` of its `tr_init.c`):

- Wolfenstein: Enemy Territory looks the sines of a direction up in a table of 4,096, which steps by 360 / 4095 degrees
  and is entered with the upper 12 bits of a code; a cosine lies 1,024 places further. So a direction is up to 0.12
  degrees beside what its codes say, and up to a thousandth too long or too short: 0.04 units at the ends of a soldier's
  limbs. Turns it computes exactly.
- A bone of torso weight between 0 and 1 mixes legs and torso, and its direction is made a unit vector again, also where
  both play the same. The game's inverse root (`Q_rsqrt`) is a fast one: such a bone is 0.17 % nearer to its parent.
- Return to Castle Wolfenstein does the same with exact sines and roots (`tr_animation_mds.c` of the same source).

A direction is called coarse here if it is one of the table's. Letters in shapes: n ways, B bones.

Rotations and directions are int16 angles, of which a code is 360 / 65536 degrees: a rotation is pitch, yaw and roll, a
direction pitch and yaw. The engine (ET: Legacy, `R_CalcBone`) takes forward, left and up of `AnglesToAxis` as the rows
of a matrix M that turns column vectors: the inverse of what these angles mean elsewhere in Quake.

Quaternions are (..., 4) as w, x, y, z.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model import steady, torso

Doubles = NDArray[np.float64]
Codes = NDArray[np.int16]
SINES = 4096  # in the table
LOW_BITS = 4  # of a code, that the game leaves out
BUCKET = 1 << LOW_BITS  # codes that are one direction
NEARBY = 2  # places on either side, among which the nearest is: a code says more than 4,095 steps, and two ends meet
MAGIC = np.int32(0x5F3759DF)  # of `Q_rsqrt`
BLOCK = 1 << 14  # ways that are compared with all that are near at once
CODE = 2 * np.pi / 65536.0  # radians
HALF_CODE = CODE / 2
UPRIGHT = 1e-9  # nearer to straight up or down a direction's yaw is noise: it is 0


def mixing(torso_weights: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which bones (B,) mix legs and torso."""
    shares = torso.shares_of(torso_weights)
    return np.asarray((shares != 0.0) & (shares != 1.0))


def decode_ways(codes: NDArray[Any], between: NDArray[np.bool_], coarse: bool) -> Doubles:
    """Return the ways (..., 3) that codes (..., 2), pitch and yaw, say, in units of the bones' distances.

    `between` (...) says which are of bones that mix legs and torso. Inverse of `encode_ways`.
    """
    if not coarse:
        return decode_directions(codes)
    ways = coarse_directions(codes)
    if between.any():
        mixed: NDArray[np.bool_] = np.broadcast_to(between, codes.shape[:-1])
        ways[mixed] *= fast_inverse_roots(steady.dots(ways[mixed], ways[mixed]))[..., None]
    return ways


def encode_ways(ways: Doubles, between: NDArray[np.bool_], coarse: bool) -> Codes:
    """Return the codes (n, 2) whose ways are nearest to ways (n, 3), in units of the bones' distances.

    Of 16 codes that are one coarse direction it is the one that says the way best: who is exact shows it there, too.
    """
    exact = encode_directions(ways)
    if not coarse:
        return exact
    codes = exact.copy()
    for start in range(0, len(ways), BLOCK):
        part = slice(start, start + BLOCK)
        codes[part] = _nearest(exact[part], ways[part], between[part])
    # No way is as near to one direction as to another.
    return np.where(np.asarray(ways.any(axis=1))[:, None], codes, exact)


def fitted_lengths(ways: Doubles, lengths: Doubles, between: NDArray[np.bool_]) -> Doubles:
    """Return the distances (B,) near to some that show the ways (F, B, 3) of frames best, by least squares.

    What is coarse already gets its own distances back: a table's ways are a little too long or too short.
    """
    given = ways / lengths[:, None]
    shown = encode_ways(given.reshape(-1, 3), np.tile(between, len(ways)), True).reshape(*given.shape[:-1], 2)
    found = decode_ways(shown, between, True)
    return np.asarray(lengths * steady.dots(given, found).sum(axis=0) / steady.dots(found, found).sum(axis=0))


def sizes(between: NDArray[np.bool_], coarse: bool) -> Doubles:
    """Return how long the ways of bones (B,) are, in units of their distances; coarse ones are so but for a part."""
    shrunk = fast_inverse_roots(np.array([1.0]))[0] if coarse else 1.0
    return np.where(between, shrunk, 1.0)


def coarse_directions(codes: NDArray[Any]) -> Doubles:
    """Return the directions (..., 3) of codes (..., 2), pitch and yaw, that the game finds in its table."""
    cosines, sines = _game_table()
    pitch, yaw = (_places(codes[..., axis]) for axis in range(2))
    cp, cy, sp, sy = cosines[pitch], cosines[yaw], sines[pitch], sines[yaw]
    return np.stack((cp * cy, cp * sy, -sp), axis=-1)


def fast_inverse_roots(values: NDArray[Any]) -> Doubles:
    """Return one over the roots of numbers as the game makes it up: `Q_rsqrt`, up to 0.18 % too small."""
    single = np.ascontiguousarray(values, np.float32)
    guess = (MAGIC - (single.view(np.int32) >> 1)).astype(np.int32).view(np.float32)
    half = single * np.float32(0.5)
    return (guess * (np.float32(1.5) - half * guess * guess)).astype(np.float64)


@cache
def _game_table() -> tuple[Doubles, Doubles]:
    """Return the game's cosines and sines (4096,), in its own single precision."""
    sines = steady.cosines_and_sines(np.arange(SINES) * (2 * np.pi / (SINES - 1)))[1]
    sines = sines.astype(np.float32).astype(np.float64)
    return np.roll(sines, -SINES // 4), sines


def _places(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return where in the table codes (...) are looked up."""
    return np.asarray(np.ascontiguousarray(codes, np.int16).view(np.uint16) >> LOW_BITS, np.int64)


def _nearest(exact: Codes, ways: Doubles, between: NDArray[np.bool_]) -> Codes:
    """Return the codes (n, 2) near to exact ones that the game shows nearest to ways (n, 3); of equals the lowest.

    Both spellings are tried, the second beyond the pole: to the table they are two directions.
    """
    codes, off = _nearest_to(exact, ways, between)
    half = np.array([32768, 32768])
    others, theirs = _nearest_to(_wrapped(half + exact * np.array([-1, 1])), ways, between)
    return np.where((theirs < off)[:, None], others, codes)


def _nearest_to(start: Codes, ways: Doubles, between: NDArray[np.bool_]) -> tuple[Codes, Doubles]:
    """Return the codes (n, 2) around some (n, 2) of which the game shows ways nearest, and a measure of how near."""
    cosines, sines = _game_table()
    near = (_places(start)[..., None] + np.arange(-NEARBY, NEARBY + 1)) % SINES  # (n, 2, 5)
    pitch, yaw = near[:, 0], near[:, 1]
    x, y, z = (ways[:, axis, None] for axis in range(3))
    # All that a yaw says of a way: how far it goes along it, and how long it is itself.
    along = (cosines[yaw] * x + sines[yaw] * y)[:, None, :]  # (n, 1, 5)
    level = (cosines[yaw] * cosines[yaw] + sines[yaw] * sines[yaw])[:, None, :]
    cp, sp = cosines[pitch][..., None], sines[pitch][..., None]  # (n, 5, 1)
    squares = cp * cp * level + sp * sp  # (n, 5, 5)
    factors = np.ones_like(squares)
    factors[between] = fast_inverse_roots(squares[between])
    off = factors * (factors * squares - 2.0 * (cp * along - sp * z[..., None]))  # but for the way's own square
    off = off.reshape(len(ways), -1)
    best = off.argmin(axis=1)
    chosen = np.stack(np.unravel_index(best, (2 * NEARBY + 1,) * 2), axis=-1)
    first = np.take_along_axis(near, chosen[..., None], axis=2)[..., 0] << LOW_BITS
    low = (start.astype(np.int64) - first + 32768) % 65536 - 32768
    return _wrapped(first + np.clip(low, 0, BUCKET - 1)), off[np.arange(len(off)), best]


def _wrapped(codes: NDArray[np.int64]) -> Codes:
    return ((codes + 32768) % 65536 - 32768).astype(np.int16)


@cache
def _angle_table(part: float) -> tuple[Doubles, Doubles]:
    """Return the cosines and sines of a part of the angle of each code, by the code as an unsigned number."""
    angles = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.float64) * (CODE * part)
    return steady.cosines_and_sines(angles)


def _looked_up(codes: NDArray[Any], part: float) -> tuple[list[Doubles], list[Doubles]]:
    """Return cosines and sines of a part of the angles of codes (..., n): n arrays (...) each."""
    found = [np.ascontiguousarray(codes[..., i], np.int16).view(np.uint16) for i in range(codes.shape[-1])]
    cosines, sines = _angle_table(part)
    return [cosines[index] for index in found], [sines[index] for index in found]


def _codes(y: Doubles, x: Doubles) -> NDArray[np.int64]:
    """Return the angles of points from the X axis as codes."""
    return steady.whole_steps(y, x, CODE)


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
