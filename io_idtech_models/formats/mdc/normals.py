"""Normals of MDC: in base frames MD3's codes, in compressed ones a number of 256 directions.

The directions (RtCW's `anorms256.h`) are a formula: rings of 32 - 4k directions at an angle of 11.25k degrees from the
equator, for k = 0 to 7 downwards, then for k = 1 to 7 upwards. Neither pole is among them.

A code of a compressed frame is its number and `DELTA_NORMAL`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import NormalCoding
from ...model.source import DELTA_NORMAL
from ..common.normals import CHUNK, decode_latlong, encode_latlong

RINGS = (*(-k for k in range(8)), *range(1, 8))
RING_STEP = 11.25  # degrees
COUNT = 256


@cache
def direction_table() -> NDArray[np.float32]:
    """Return the 256 directions, (256, 3)."""
    turns = [(RING_STEP * k, 360 * j / n) for k in RINGS for n in [32 - 4 * abs(k)] for j in range(n)]
    cosines, sines = steady.cosines_and_sines(np.deg2rad(np.array(turns)))
    level = cosines[:, 0]
    table = np.stack((level * cosines[:, 1], level * sines[:, 1], sines[:, 0]), axis=1).astype(np.float32)
    table.setflags(write=False)
    return table


def decode(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vectors of codes (...,), shape (..., 3)."""
    of_steps = codes >= DELTA_NORMAL
    if of_steps.all():
        return direction_table().take(codes - DELTA_NORMAL, axis=0)
    found = decode_latlong(np.where(of_steps, 0, codes))
    found[of_steps] = direction_table()[codes[of_steps] - DELTA_NORMAL]
    return found


def encode(normals: NDArray[Any], hint: NDArray[Any] | None = None) -> NDArray[np.uint32]:
    """Return codes (n,) of normals (n, 3): those of a compressed frame where the `hint` (n,) is such a one.

    The hint is kept where it still decodes to the normal.
    """
    codes = np.zeros(len(normals), np.uint32)
    of_steps = np.zeros(len(normals), np.bool_) if hint is None else hint >= DELTA_NORMAL
    rest = np.flatnonzero(~of_steps)
    known = None if hint is None else hint[rest].astype(np.uint16)
    codes[rest] = encode_latlong(normals[rest], known)
    codes[of_steps] = nearest_directions(normals[of_steps]) + np.uint32(DELTA_NORMAL)
    return codes


def nearest_directions(normals: NDArray[Any]) -> NDArray[np.uint32]:
    """Return which direction (n,) is nearest to each of the normals (n, 3): the largest product, the first of equals.

    The game's own encoder (`R_MDC_GetAnorm`) looks for the ring first, and is up to two degrees worse.
    """
    vectors, found = np.nan_to_num(np.asarray(normals, np.float32)), np.empty(len(normals), np.uint32)
    for start in range(0, len(vectors), CHUNK):
        found[start : start + CHUNK] = steady.largest_products(vectors[start : start + CHUNK], direction_table())
    return found


def as_kind(codes: NDArray[Any], steps: bool) -> NDArray[np.uint32]:
    """Return codes (n,) as those of compressed frames (`steps`), or of base frames; those that are, as they are."""
    found = codes.astype(np.uint32)
    other = (found >= DELTA_NORMAL) != steps
    if other.any():
        vectors = decode(found[other])
        if steps:
            found[other] = nearest_directions(vectors) + np.uint32(DELTA_NORMAL)
        else:
            found[other] = encode_latlong(vectors)
    return found


CODING = NormalCoding(decode, encode, DELTA_NORMAL + COUNT)
