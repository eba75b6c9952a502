"""Tags as empties: one keyed transform per frame, and back.

A tag's axes are three rows (forward, left, up), in real files often no rotation: scaled, sheared, mirrored or zero.
Blender shows the closest location, rotation and scale; the rest lives in the source, and is written again where the
empty still stands as import put it.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Tag
from .. import names
from ..compat import Block, curves_for, playing_curves
from .shape_keys import add_curve, curve_points

DISPLAY = "ARROWS"
PREFIX = "tag_"
CHANNELS = (("location", 3), ("rotation_quaternion", 4), ("scale", 3))
# Blender composes matrices in float32: what it shows is this close to what import set.
SAME_AXES, SAME_ORIGIN = 2e-5, 1e-6
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

    Of the four quaternions that the matrix' sums give, each times another component, the longest is the most exact.
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


def make(tags: list[Tag], scale: float, size: float) -> list[tuple[Block, dict[str, Array]]]:
    """Return new empties that stand as the first frame, each with its channels: arrays (F, 3 or 4) by property."""
    if not tags:
        return []
    quaternions, scales = decompose(np.stack([tag.axes for tag in tags], axis=1))
    made = []
    for index, tag in enumerate(tags):
        block: Block = bpy.data.objects.new(names.fit(tag.name), None)
        block.empty_display_type = DISPLAY
        block.empty_display_size = size
        block.rotation_mode = "QUATERNION"
        channels = {
            "location": np.ascontiguousarray(tag.origins * np.float32(scale), np.float32),
            "rotation_quaternion": quaternions[:, index],
            "scale": scales[:, index],
        }
        for path, values in channels.items():
            setattr(block, path, values[0].tolist())
        made.append((block, channels))
    return made


def animate(block: Block, action: bpy.types.Action, channels: dict[str, Array]) -> None:
    """Key every frame of a tag; scale only if it is not 1 throughout."""
    curves = curves_for(action, block, block.name)
    for path, values in channels.items():
        if path == "scale" and (values == 1.0).all():
            continue
        times = np.arange(len(values), dtype=np.float32)
        for index in range(values.shape[1]):
            add_curve(curves, path, index, times, values[:, index])


def is_plain(block: Block) -> bool:
    """Tell whether an empty stands where its own curves (or, without any, its properties) put it, and no one else."""
    known = {(path, index) for path, count in CHANNELS for index in range(count)}
    moved = any(block.delta_location) or tuple(block.delta_rotation_quaternion) != (1, 0, 0, 0)
    return (
        block.parent is None
        and not block.constraints
        and block.rotation_mode == "QUATERNION"
        and not moved
        and tuple(block.delta_scale) == (1, 1, 1)
        and all((c.data_path, c.array_index) in known and not c.mute and not c.modifiers for c in playing_curves(block))
    )


def read_curves(block: Block, times: list[float]) -> tuple[Array, Array]:
    """Return what a plain empty's curves show at the given times: origins (n, 3) and axes (n, 3, 3) as rows."""
    curves = {(curve.data_path, curve.array_index): curve for curve in playing_curves(block)}
    channels = []
    for path, count in CHANNELS:
        values = np.empty((len(times), count), np.float32)
        values[:] = getattr(block, path)
        for index in range(count):
            if (path, index) in curves:
                values[:, index] = _values(curves[path, index], times)
        channels.append(values)
    location, rotation, scale = channels
    lengths = steady.lengths(rotation)
    unit = np.where(lengths[:, None] > 0, rotation / np.maximum(lengths, 1e-30)[:, None], (1.0, 0.0, 0.0, 0.0))
    return location, shown_axes(unit, scale).astype(np.float32)


def _values(curve: Any, times: list[float]) -> Array:
    """Return a curve's values (n,) at times: read where all have a key, evaluated otherwise."""
    keys, values = curve_points(curve)
    wanted = np.asarray(times, np.float32)
    if len(keys) and (np.diff(keys) > 0).all():
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if np.array_equal(keys[places], wanted):
            return np.ascontiguousarray(values[places])
    return np.array([curve.evaluate(t) for t in times], np.float32)


def exact_axes(block: Block, time: float) -> Array:
    """Return the axes (3, 3) that Blender's own arithmetic makes of a plain empty's curves, as rows."""
    curves = {(curve.data_path, curve.array_index): curve for curve in playing_curves(block)}
    found = {}
    for path, count in CHANNELS:
        own = getattr(block, path)
        found[path] = [curves[path, i].evaluate(time) if (path, i) in curves else own[i] for i in range(count)]
    turn = Quaternion(found["rotation_quaternion"]).normalized()
    matrix = Matrix.LocRotScale(Vector(found["location"]), turn, Vector(found["scale"]))
    return np.array(matrix, np.float32)[:3, :3].T
