"""Tags as empties: how they look, and which rotations and scales show their axes best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import steady

DISPLAY, PREFIX = "ARROWS", "tag_"
Array = NDArray[Any]


def decompose(axes: Array) -> tuple[Array, Array]:
    """Return the closest rotations, quaternions (F, ..., 4) w first, and the scales (F, ..., 3) of axes (F, ..., 3, 3).

    Axes are rows. Quaternions of neighbouring frames lie on one side, so that what is between two frames is the short
    way.
    """
    shape = axes.shape[:-2]
    axes = np.asarray(axes, np.float64).reshape(-1, 3, 3)
    scales = steady.lengths(axes)
    unit = np.where(scales[..., None] > 1e-12, axes / np.maximum(scales, 1e-12)[..., None], np.eye(3))
    mirrored = steady.determinants(unit) < 0
    unit[mirrored] *= -1
    scales[mirrored] *= -1
    rotations = np.swapaxes(unit, 1, 2).copy()
    skewed = np.abs(steady.products(unit, rotations) - np.eye(3)).max(axis=(1, 2)) > 1e-7
    if skewed.any():
        rotations[skewed] = _closest_rotations(rotations[skewed])
    quaternions = _quaternions(rotations).reshape(*shape, 4)
    flips = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=-1) < 0, -1.0, 1.0)
    quaternions[1:] *= np.cumprod(flips, axis=0)[..., None]
    scales[np.abs(np.abs(scales) - 1) < 1e-4] = np.sign(scales[np.abs(np.abs(scales) - 1) < 1e-4])
    return quaternions.astype(np.float32), scales.reshape(*shape, 3).astype(np.float32)


def _closest_rotations(m: Array) -> Array:
    """Return the rotations (n, 3, 3) closest to matrices with unit columns: their polar factors.

    Newton's iteration, the mean of a matrix and its inverse transpose (Higham 1986), is three times as fast as singular
    value decomposition, which remains for those that are nearly flat.
    """
    turned = m.copy()
    flat = np.abs(steady.determinants(m)) < 1e-3
    turned[flat] = np.eye(3)
    for _ in range(12):
        step = 0.5 * (steady.cofactors(turned) / steady.determinants(turned)[:, None, None] - turned)
        turned += step
        if np.abs(step).max() < 1e-12:
            break
    turned[flat] = steady.nearest_rotations(m[flat])
    return turned


def _quaternions(m: Array) -> Array:
    """Return unit quaternions (n, 4), w first, of rotation matrices (n, 3, 3).

    Of the four quaternions that the matrix's sums give, each times another component, the longest is the most exact.
    """
    d0, d1, d2 = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    a, b, c = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    p, q, r = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    rows = (
        (1 + d0 + d1 + d2, a, b, c),
        (a, 1 + d0 - d1 - d2, p, q),
        (b, p, 1 - d0 + d1 - d2, r),
        (c, q, r, 1 - d0 - d1 + d2),
    )
    candidates = np.stack([np.stack(row, axis=1) for row in rows], axis=1)
    lengths = steady.lengths(candidates)
    best: Array = candidates[np.arange(len(m)), lengths.argmax(axis=1)]
    best /= steady.lengths(best)[:, None]
    return best


def shown_axes(quaternions: Array, scales: Array) -> Array:
    """Return the axes (F, 3, 3), as rows, that location-rotation-scale channels show."""
    w, x, y, z = quaternions.astype(np.float64).T
    rows = np.stack((
        np.stack((1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)), axis=1),
        np.stack((2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)), axis=1),
        np.stack((2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)), axis=1),
    ), axis=1)  # fmt: skip
    return rows * scales.astype(np.float64)[..., None]
