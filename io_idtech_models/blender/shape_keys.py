"""Frames as shape keys, one each: absolute (exact and fast), or relative (which other exporters know)."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .compat import Block, curve_collection, curves_for

LINEAR, CONSTANT = 1, 0
BASIS = "Basis"
Floats = NDArray[np.float32]


def add_curve(
    curves: Any, path: str, index: int, times: NDArray[Any], values: NDArray[Any], kind: int = LINEAR
) -> None:
    """Add an F-curve with the given keys (n,), all of one kind of interpolation."""
    points = curves.new(path, index=index).keyframe_points
    points.add(len(times))
    points.foreach_set("co", np.stack((times, values), axis=1).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(times), kind, np.int32))


def curve_points(curve: Any) -> tuple[Floats, Floats]:
    """Return the times and values of an F-curve's keys, (n,) each."""
    points = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[0::2], points[1::2]


def add_absolute(block: Block, names: list[str], frames: Floats) -> None:
    """Add a key per frame (F, P, 3) at positions 0, 1, 2 ...; `names` must be unique and short enough.

    The evaluation time decides where a key lands: set before each, the positions are exact.
    """
    block.shape_key_add(name=names[0], from_mix=False)
    keys = block.data.shape_keys
    keys.use_relative = False
    for frame, name in enumerate(names[1:], 1):
        keys.eval_time = frame
        block.shape_key_add(name=name, from_mix=False)
    keys.eval_time = 0.0
    _fill(keys, keys.key_blocks, frames)


def add_relative(block: Block, names: list[str], frames: Floats) -> None:
    """Add a `Basis` key, which is no frame, and a key per frame (F, P, 3)."""
    for name in (BASIS, *names):
        block.shape_key_add(name=name, from_mix=False)
    keys = block.data.shape_keys
    _fill(keys, list(keys.key_blocks)[1:], frames)


def _fill(keys: Block, blocks: Any, frames: Floats) -> None:
    # 5.2 gives new keys the value 1, and exporters of other formats then write a destroyed mesh.
    keys.key_blocks.foreach_set("value", np.zeros(len(keys.key_blocks), np.float32))
    for key, row in zip(blocks, frames, strict=True):
        if row.size:
            key.points.foreach_set("co", row.ravel())


def animate_absolute(keys: Block, action: bpy.types.Action, name: str, num_frames: int) -> None:
    """Show frame f at scene frame f: one curve from (0, 0) to (F - 1, F - 1)."""
    ends = np.array([0, num_frames - 1], np.float32)
    add_curve(curves_for(action, keys, name), "eval_time", 0, ends, ends)


def animate_relative(keys: Block, action: bpy.types.Action, name: str, names: list[str]) -> None:
    """Show frame f at scene frame f: each key's value is 1 in its own frame and 0 in the neighbours'."""
    _add_value_curves(curves_for(action, keys, name), names)


def _add_value_curves(curves: Any, names: list[str]) -> None:
    for frame, key in enumerate(names):
        times = np.array([t for t in (frame - 1, frame, frame + 1) if 0 <= t < len(names)], np.float32)
        add_curve(curves, value_path(key), 0, times, (times == frame).astype(np.float32))


def value_path(key: str) -> str:
    """Return the data path of a relative key's value."""
    return f'key_blocks["{bpy.utils.escape_identifier(key)}"].value'


def frame_blocks(keys: Block | None) -> list[Any]:
    """Return the keys that are frames, in order: all but a `Basis` before relative ones."""
    if keys is None:
        return []
    blocks = list(keys.key_blocks)
    return blocks[1:] if keys.use_relative and blocks and blocks[0].name == BASIS else blocks


def positions(blocks: list[Any]) -> list[float]:
    """Return where absolute keys lie on the evaluation time. Blender stores hundredths: 15 reads as 15.000001."""
    frames = [key.frame for key in blocks]
    return [float(round(f)) if abs(f - round(f)) < 1e-3 else f for f in frames]


def read(blocks: list[Any], num_points: int) -> Floats:
    """Return the positions of keys, (F, P, 3)."""
    frames = np.empty((len(blocks), num_points * 3), np.float32)
    if num_points:
        for key, row in zip(blocks, frames, strict=True):
            key.points.foreach_get("co", row)
    return frames.reshape(len(blocks), num_points, 3)


def rewrite(block: Block, order: list[int], names: list[str]) -> None:
    """Make the mesh's frames those of `order` (indices of present frames, repeats allowed), called `names`.

    Keys get whole positions 0, 1, 2 ... again; the curve that plays absolute ones is stretched to their new number,
    a curve of a relative key that is gone goes with it.
    """
    keys = block.data.shape_keys
    relative, animation = keys.use_relative, keys.animation_data
    frames = read(frame_blocks(keys), len(block.data.vertices))[order]
    binding = None if animation is None else (animation.action, getattr(animation, "action_slot", None))
    block.shape_key_clear()
    (add_relative if relative else add_absolute)(block, names, frames)
    if binding is not None and binding[0] is not None:
        animation = block.data.shape_keys.animation_data_create()
        animation.action = binding[0]
        if binding[1] is not None:
            animation.action_slot = binding[1]


def rewrite_curves(keys: Block, old_names: list[str], order: list[int], names: list[str]) -> None:
    """Adapt the curves that play the keys to a new list of frames; see `rewrite`. Once per action, not per mesh."""
    curves = curve_collection(keys)
    if curves is None:
        return
    if not keys.use_relative:
        for curve in [c for c in curves if c.data_path == "eval_time"]:
            _stretch(curve, len(old_names), order)
        return
    paths = {value_path(name) for name in old_names}
    for curve in [c for c in curves if c.data_path in paths]:
        curves.remove(curve)
    _add_value_curves(curves, names)


def _stretch(curve: Any, old_count: int, order: list[int]) -> None:
    """Let an `eval_time` curve reach the keys' new positions; one that shows frame f at f goes on doing so."""
    times, values = curve_points(curve)
    new = {old: place for place, old in reversed(list(enumerate(order)))}
    count = len(order)
    if np.array_equal(times, values):
        last = times >= old_count - 1
        times[last], values[last] = count - 1, count - 1
        keep = times <= count - 1
    else:
        values[:] = [new.get(round(v), min(round(v), count - 1)) if v == round(v) else v for v in values.tolist()]
        keep = np.ones(len(times), np.bool_)
    for index in np.flatnonzero(~keep)[::-1].tolist():
        curve.keyframe_points.remove(curve.keyframe_points[index], fast=True)
    curve.keyframe_points.foreach_set("co", np.stack((times[keep], values[keep]), axis=1).ravel())
    curve.update()
