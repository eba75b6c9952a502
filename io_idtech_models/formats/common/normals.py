"""Coded normals: MD3's pair of angles, and MD2's table of directions.

**Angles.** A code is two bytes, zenith in the low byte and azimuth in the high byte of a little-endian short:
x = cos(azimuth) sin(zenith), y = sin(azimuth) sin(zenith), z = cos(zenith).

The step is the one of ioquake3's renderer (`R_Init`, tr_init.c; `LerpMeshVertexes`, tr_surface.c): a sine table of
1024 entries that spans 0 to 360 degrees *inclusive*, of which a byte addresses every fourth entry, so that one unit is
4 x 360 / 1023 degrees. Cosines are read 256 entries further on, modulo 1024: a little more than 90 degrees, so that
decoded vectors have lengths of 0.9962 to 1.0013.

**Directions.** A code is an index into 162 unit vectors: the corners of an icosahedron whose faces were divided in four
twice, in the order and with the six decimals of id's `anorms.h` (Quake II; `r_avertexnormals` in its renderers).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady

TABLE_SIZE = 1024
NUM_DIRECTIONS = 162
UNIT = 2.0 * np.pi * 4.0 / (TABLE_SIZE - 1)
# A hint counts while it decodes to the value: within the rounding of a float32 rotation, far below half a code step.
SAME_NORMAL = 1.0 - 2e-7
SAME_DIRECTION = 1.0 - 1e-5  # six decimals are not quite unit length; neighbours are 9 degrees apart
CHUNK = 1 << 14  # vectors that are coded at once: what they are compared with takes memory


@cache
def latlong_table() -> NDArray[np.float32]:
    """Return what the engine makes of every code: vectors of nearly unit length, shape (65536, 3)."""
    _, exact = steady.cosines_and_sines(np.arange(TABLE_SIZE) * (2.0 * np.pi / (TABLE_SIZE - 1)))
    sine = exact.astype(np.float32)
    angle = np.arange(256) * 4
    cosine, sine_of = sine[(angle + TABLE_SIZE // 4) % TABLE_SIZE], sine[angle]
    cube = np.empty((256, 256, 3), np.float32)  # azimuth, zenith, axis
    cube[..., 0] = cosine[:, None] * sine_of[None, :]
    cube[..., 1] = sine_of[:, None] * sine_of[None, :]
    cube[..., 2] = cosine[None, :]
    table = cube.reshape(-1, 3)
    table.setflags(write=False)
    return table


@cache
def _directions() -> NDArray[np.float64]:
    """Return `latlong_table` with every vector of length 1: what closeness is measured against."""
    table = latlong_table().astype(np.float64)
    table /= steady.lengths(table)[:, None]
    return table


def decode_latlong(codes: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the vectors of codes (...,) as the engine computes them, shape (..., 3); nearly of unit length."""
    return latlong_table().take(codes, axis=0)


def encode_latlong(normals: NDArray[Any], hint: NDArray[np.uint16] | None = None) -> NDArray[np.uint16]:
    """Return for normals (n, 3) of any length the codes (n,) that decode closest; inverse of `decode_latlong`.

    The nearest code is among the 3 x 3 around the rounded angles: mean error 0.49, worst 1.00 degrees. A `hint` (n,)
    is returned where it still decodes to the normal: several codes decode to the same vector.
    A vector of length 0 becomes straight up.
    """
    codes: NDArray[np.uint16] = np.empty(len(normals), np.uint16)
    for start in range(0, len(normals), CHUNK):
        part = slice(start, start + CHUNK)
        codes[part] = _closest_latlong(normals[part], None if hint is None else hint[part])
    return codes


def _closest_latlong(normals: NDArray[Any], hint: NDArray[np.uint16] | None) -> NDArray[np.uint16]:
    """Return the codes of some normals; see `encode_latlong`."""
    vectors = np.asarray(normals, np.float64)
    lengths = steady.lengths(vectors)
    usable = lengths > 1e-20
    unit = np.where(usable[:, None], vectors / np.where(usable, lengths, 1.0)[:, None], (0.0, 0.0, 1.0))
    x, y, z = unit.T
    zenith = steady.whole_steps(np.sqrt(x * x + y * y), z, UNIT)
    azimuth = np.rint(np.mod(steady.angles_of(y, x), 2.0 * np.pi) / UNIT).astype(np.int64)
    steps = np.array([(0, 0)] + [(a, z) for a in (0, -1, 1) for z in (0, -1, 1) if (a, z) != (0, 0)])
    candidates = ((azimuth[:, None] + steps[:, 0]) % 256) << 8 | np.clip(zenith[:, None] + steps[:, 1], 0, 128)
    closeness = steady.rounded(steady.dots(_directions()[candidates], unit[:, None]))
    # The poles have one spelling each: up is (0, 0), down is (128, 0).
    codes: NDArray[np.uint16] = candidates[np.arange(len(unit)), np.argmax(closeness, axis=1)].astype(np.uint16)
    codes[codes & 0xFF == 0] = 0
    codes[unit[:, 2] < -1.0 + 1e-12] = 128
    if hint is not None:
        kept = steady.dots(_directions()[hint], unit) > SAME_NORMAL
        codes = np.where(kept, hint, codes)
    return codes


@cache
def direction_table() -> NDArray[np.float32]:
    """Return the 162 directions, shape (162, 3)."""
    table = (np.array(_MILLIONTHS, np.float64) / 1e6).astype(np.float32)
    table.setflags(write=False)  # all who ask share it
    return table


def decode_direction(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the vectors of codes (...,), shape (..., 3); codes beyond the table, which no game draws, point up."""
    table = np.zeros((256, 3), np.float32)
    table[:, 2] = 1.0
    table[:NUM_DIRECTIONS] = direction_table()
    return table.take(codes, axis=0)


def encode_direction(normals: NDArray[Any], hint: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Return for normals (n, 3) of any length the codes (n,) of the closest directions; inverse of `decode_direction`.

    As id's qdata: the largest dot product, the first of equals. A `hint` (n,) is returned where it still decodes to the
    normal (codes beyond the table do). A vector of length 0 becomes the first direction, as in qdata.
    """
    vectors = np.nan_to_num(np.asarray(normals, np.float32))
    codes: NDArray[np.uint8] = np.empty(len(vectors), np.uint8)
    for start in range(0, len(vectors), CHUNK):
        part = vectors[start : start + CHUNK]
        codes[start : start + CHUNK] = steady.largest_products(part, direction_table())
    if hint is not None:
        closeness = steady.dots(decode_direction(hint), vectors) / np.maximum(steady.lengths(vectors), 1e-20)
        codes = np.where(closeness > SAME_DIRECTION, hint, codes)
    return codes


# fmt: off
_MILLIONTHS = (
    (-525731, 0, 850651), (-442863, 238856, 864188), (-295242, 0, 955423), (-309017, 500000, 809017),
    (-162460, 262866, 951056), (0, 0, 1000000), (0, 850651, 525731), (-147621, 716567, 681718),
    (147621, 716567, 681718), (0, 525731, 850651), (309017, 500000, 809017), (525731, 0, 850651), (295242, 0, 955423),
    (442863, 238856, 864188), (162460, 262866, 951056), (-681718, 147621, 716567), (-809017, 309017, 500000),
    (-587785, 425325, 688191), (-850651, 525731, 0), (-864188, 442863, 238856), (-716567, 681718, 147621),
    (-688191, 587785, 425325), (-500000, 809017, 309017), (-238856, 864188, 442863), (-425325, 688191, 587785),
    (-716567, 681718, -147621), (-500000, 809017, -309017), (-525731, 850651, 0), (0, 850651, -525731),
    (-238856, 864188, -442863), (0, 955423, -295242), (-262866, 951056, -162460), (0, 1000000, 0),
    (0, 955423, 295242), (-262866, 951056, 162460), (238856, 864188, 442863), (262866, 951056, 162460),
    (500000, 809017, 309017), (238856, 864188, -442863), (262866, 951056, -162460), (500000, 809017, -309017),
    (850651, 525731, 0), (716567, 681718, 147621), (716567, 681718, -147621), (525731, 850651, 0),
    (425325, 688191, 587785), (864188, 442863, 238856), (688191, 587785, 425325), (809017, 309017, 500000),
    (681718, 147621, 716567), (587785, 425325, 688191), (955423, 295242, 0), (1000000, 0, 0),
    (951056, 162460, 262866), (850651, -525731, 0), (955423, -295242, 0), (864188, -442863, 238856),
    (951056, -162460, 262866), (809017, -309017, 500000), (681718, -147621, 716567), (850651, 0, 525731),
    (864188, 442863, -238856), (809017, 309017, -500000), (951056, 162460, -262866), (525731, 0, -850651),
    (681718, 147621, -716567), (681718, -147621, -716567), (850651, 0, -525731), (809017, -309017, -500000),
    (864188, -442863, -238856), (951056, -162460, -262866), (147621, 716567, -681718), (309017, 500000, -809017),
    (425325, 688191, -587785), (442863, 238856, -864188), (587785, 425325, -688191), (688191, 587785, -425325),
    (-147621, 716567, -681718), (-309017, 500000, -809017), (0, 525731, -850651), (-525731, 0, -850651),
    (-442863, 238856, -864188), (-295242, 0, -955423), (-162460, 262866, -951056), (0, 0, -1000000),
    (295242, 0, -955423), (162460, 262866, -951056), (-442863, -238856, -864188), (-309017, -500000, -809017),
    (-162460, -262866, -951056), (0, -850651, -525731), (-147621, -716567, -681718), (147621, -716567, -681718),
    (0, -525731, -850651), (309017, -500000, -809017), (442863, -238856, -864188), (162460, -262866, -951056),
    (238856, -864188, -442863), (500000, -809017, -309017), (425325, -688191, -587785), (716567, -681718, -147621),
    (688191, -587785, -425325), (587785, -425325, -688191), (0, -955423, -295242), (0, -1000000, 0),
    (262866, -951056, -162460), (0, -850651, 525731), (0, -955423, 295242), (238856, -864188, 442863),
    (262866, -951056, 162460), (500000, -809017, 309017), (716567, -681718, 147621), (525731, -850651, 0),
    (-238856, -864188, -442863), (-500000, -809017, -309017), (-262866, -951056, -162460), (-850651, -525731, 0),
    (-716567, -681718, -147621), (-716567, -681718, 147621), (-525731, -850651, 0), (-500000, -809017, 309017),
    (-238856, -864188, 442863), (-262866, -951056, 162460), (-864188, -442863, 238856), (-809017, -309017, 500000),
    (-688191, -587785, 425325), (-681718, -147621, 716567), (-442863, -238856, 864188), (-587785, -425325, 688191),
    (-309017, -500000, 809017), (-147621, -716567, 681718), (-425325, -688191, 587785), (-162460, -262866, 951056),
    (442863, -238856, 864188), (162460, -262866, 951056), (309017, -500000, 809017), (147621, -716567, 681718),
    (0, -525731, 850651), (425325, -688191, 587785), (587785, -425325, 688191), (688191, -587785, 425325),
    (-955423, 295242, 0), (-951056, 162460, 262866), (-1000000, 0, 0), (-850651, 0, 525731), (-955423, -295242, 0),
    (-951056, -162460, 262866), (-864188, 442863, -238856), (-951056, 162460, -262866), (-809017, 309017, -500000),
    (-864188, -442863, -238856), (-951056, -162460, -262866), (-809017, -309017, -500000), (-681718, 147621, -716567),
    (-681718, -147621, -716567), (-850651, 0, -525731), (-688191, 587785, -425325), (-587785, 425325, -688191),
    (-425325, 688191, -587785), (-425325, -688191, -587785), (-587785, -425325, -688191), (-688191, -587785, -425325),
)
# fmt: on
