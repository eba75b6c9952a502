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
from ..compat import Block, curves_for, is_muted, playing_curves
from ..curves import add_curve, curve_points, plays
from ..empties import DISPLAY, decompose, shown_axes
from ..roots import own_constraints
from ..space import Space

CHANNELS = (("location", 3), ("rotation_quaternion", 4), ("scale", 3))
DELTA = ("delta_rotation_quaternion", 0)  # keyed as 1 for a constraint: see `blender.player.assembly`
# Blender composes matrices in float32: what it shows is this close to what import set.
SAME_AXES, SAME_ORIGIN = 2e-5, 1e-6
Array = NDArray[Any]


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


def is_plain(block: Block, space: Space) -> bool:
    """Tell whether an empty stands where its own curves (or, without any, its properties) put it, and no one else."""
    known = {(path, index) for path, count in CHANNELS for index in range(count)} | {DELTA}
    moved = any(block.delta_location) or tuple(block.delta_rotation_quaternion) != (1, 0, 0, 0)
    return (
        block.parent == space.root
        and (block.parent is None or (block.parent_type == "OBJECT" and block.matrix_parent_inverse == Matrix()))
        and own_constraints(block)
        and block.rotation_mode == "QUATERNION"
        and not moved
        and tuple(block.delta_scale) == (1, 1, 1)
        and all(
            (c.data_path, c.array_index) in known and not is_muted(c) and not c.modifiers for c in playing_curves(block)
        )
    )


def read_curves(block: Block, times: list[float]) -> tuple[Array, Array]:
    """Return what a plain empty's curves show at the given times: origins (n, 3) and axes (n, 3, 3) as rows."""
    curves = _channels(block)
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


def _channels(block: Block) -> dict[tuple[str, int], Any]:
    """Return the curves that move an empty, by path and index."""
    return {(curve.data_path, curve.array_index): curve for curve in playing_curves(block) if plays(curve)}


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
    curves = _channels(block)
    found = {}
    for path, count in CHANNELS:
        own = getattr(block, path)
        found[path] = [curves[path, i].evaluate(time) if (path, i) in curves else own[i] for i in range(count)]
    turn = Quaternion(found["rotation_quaternion"]).normalized()
    matrix = Matrix.LocRotScale(Vector(found["location"]), turn, Vector(found["scale"]))
    return np.array(matrix, np.float32)[:3, :3].T
