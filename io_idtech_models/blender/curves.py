"""F-curves: made and read as whole arrays."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

LINEAR, CONSTANT = 1, 0  # kinds of interpolation
Floats = NDArray[np.float32]


def add_curve(
    curves: Any, path: str, index: int, times: NDArray[Any], values: NDArray[Any], kind: int = LINEAR
) -> None:
    """Add an F-curve with the given keys (n,), all of one kind of interpolation."""
    add_points(curves.new(path, index=index), times, values, kind)


def add_curves(curves: Any, wanted: list[tuple[str, int]], times: Floats, values: Floats, kind: int = LINEAR) -> None:
    """Add F-curves, path and index each, with keys at the same times (n,); `values` (curves, n)."""
    points = np.empty((len(times), 2), np.float32)
    points[:, 0] = times
    flat, kinds, count = points.ravel(), np.full(len(times), kind, np.int32), len(times)
    for (path, index), row in zip(wanted, values, strict=True):
        points[:, 1] = row
        keys = curves.new(path, index=index).keyframe_points
        keys.add(count)
        keys.foreach_set("co", flat)
        keys.foreach_set("interpolation", kinds)


def add_points(curve: Any, times: NDArray[Any], values: NDArray[Any], kind: int = LINEAR) -> None:
    """Give an F-curve without keys the given ones (n,)."""
    points = curve.keyframe_points
    points.add(len(times))
    points.foreach_set("co", np.stack((times, values), axis=1).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(times), kind, np.int32))


def curve_points(curve: Any) -> tuple[Floats, Floats]:
    """Return the times and values of an F-curve's keys, (n,) each."""
    points = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[0::2], points[1::2]


def value_path(key: str) -> str:
    """Return the data path of a relative key's value."""
    return f'key_blocks["{bpy.utils.escape_identifier(key)}"].value'
