"""Vertex arrays of an IQM: components of any kind to numbers, and back; tangents and neighbours made anew.

Whole numbers of weights and colours are parts of the largest; elsewhere they mean themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ..common.hints import finite

Doubles = NDArray[np.float64]
NOBODY = 0xFFFFFFFF  # the neighbour of an edge that has none


def decode_array(components: NDArray[Any], width: int, parts: bool = False, missing: float = 0.0) -> NDArray[Any]:
    """Return components (V, k) as finite numbers (V, width); `missing` ones are filled in.

    `parts`: whole numbers are parts of the largest of their kind.
    """
    found: NDArray[np.float32] = np.full((len(components), width), missing, np.float32)
    most = np.iinfo(components.dtype).max if parts and components.dtype.kind in "iu" else 1
    own = components[:, :width]
    with np.errstate(over="ignore", invalid="ignore"):
        found[:, : own.shape[1]] = finite(own.astype(np.float64) / most if most != 1 else own)
    return found


def encode_array(values: NDArray[Any], dtype: np.dtype[Any], size: int, parts: bool = False) -> NDArray[Any]:
    """Return numbers (V, width) as components (V, size) of a kind; inverse of `decode_array`."""
    found = np.zeros((len(values), size), dtype)
    own = values[:, :size].astype(np.float64)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            found[:, : own.shape[1]] = own
        return found
    limits = np.iinfo(dtype)
    own = np.rint(own * limits.max) if parts else np.rint(own)
    found[:, : own.shape[1]] = np.clip(own, limits.min, limits.max)
    return found


def make_tangents(
    places: NDArray[Any], normals: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]
) -> NDArray[np.float32]:
    """Return tangents (V, 4) with the sign of the bitangent (the iqm compiler, `calctangents`).

    A triangle's are the ways in which s and t grow, as long as its area in them; those of a vertex are added up and
    made upright to its normal. `uvs` are as in the file.
    """
    places, normals, uvs = (values.astype(np.float64) for values in (places, normals, uvs))
    sums = np.zeros((2, len(places), 3))
    a, b, c = triangles.T
    edges = places[b] - places[a], places[c] - places[a]
    ways = uvs[b] - uvs[a], uvs[c] - uvs[a]
    tangent = ways[0][:, 1:] * edges[1] - ways[1][:, 1:] * edges[0]
    bitangent = ways[0][:, :1] * edges[1] - ways[1][:, :1] * edges[0]
    turned = steady.dots(steady.crossed(bitangent, tangent), steady.crossed(edges[1], edges[0])) < 0
    for total, values in zip(sums, (tangent, bitangent), strict=True):
        signed = np.where(turned[:, None], -values, values)
        for axis in range(3):
            parts = [np.bincount(corner, signed[:, axis], len(places)) for corner in (a, b, c)]
            total[:, axis] = parts[0] + parts[1] + parts[2]
    along = sums[0] - normals * steady.dots(normals, sums[0])[:, None]
    found = np.zeros((len(places), 4), np.float32)
    lengths = steady.lengths(along)
    found[:, :3] = np.where(lengths[:, None] > 0, along / np.where(lengths > 0, lengths, 1.0)[:, None], (1.0, 0.0, 0.0))
    found[:, 3] = np.where(steady.dots(steady.crossed(normals, along), sums[1]) < 0, -1.0, 1.0)
    return found


def make_adjacency(triangles: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return each triangle's neighbours over its three edges, (T, 3): by place, where just two triangles share one."""
    alike = np.unique(np.ascontiguousarray(places, np.float32).view("V12"), return_inverse=True)[1].reshape(-1)
    points = alike[triangles.astype(np.int64)]
    ends = np.stack((points, np.roll(points, -1, axis=1)), axis=-1).reshape(-1, 2)
    keys = ends.min(axis=1) * (len(places) + 1) + ends.max(axis=1)
    order = np.argsort(keys, kind="stable")
    _, firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    pairs = firsts[counts == 2]
    one, other = order[pairs], order[pairs + 1]
    found = np.full(len(keys), NOBODY, np.uint32)
    found[one], found[other] = other // 3, one // 3
    return found.reshape(-1, 3)


def rounded_weights(factors: Doubles, total: int) -> NDArray[np.int64]:
    """Return weights (V, k), heaviest first, as whole numbers that add up to `total` where there are any.

    They are rounded; what that takes or adds too much is taken from or added to the heaviest, one each in turn.
    """
    sums = factors.sum(axis=1, keepdims=True)
    found: NDArray[np.int64] = np.rint(factors / np.where(sums > 0, sums, 1.0) * total).astype(np.int64)
    left = np.where(sums[:, 0] > 0, total - found.sum(axis=1), 0)
    while left.any():
        for nth in range(found.shape[1]):
            step = np.where(found[:, nth] > 0, np.sign(left), 0)
            found[:, nth] += step
            left -= step
    return found
