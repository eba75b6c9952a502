"""What the scene plays of a mesh's keys: one after another, or in some other way that its animator meant."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..compat import Block, playing_curves
from ..curves import LINEAR, curve_points, value_path
from ..roots import follows_frame
from ..scene import ExportScene, showing
from . import sampling, shape_keys

NEAR = 1e-4  # of an evaluation time, or a value: closer is the same


def plays_otherwise(keys: Block, export: ExportScene[Any]) -> bool:
    """Tell whether the scene plays keys in its range by other means than a player's, but not one after another.

    One after another is a run of them, one in each frame of the scene, which holds at its ends and may begin anew. It
    is that, too, where a key was deleted or lies between two frames: the time goes on as import lets it.
    """
    if follows_frame(keys):
        return False
    curves = playing_curves(keys)
    if not keys.use_relative and not sampling.is_driven(keys) and all(_is_plain(c) for c in _of_time(curves)):
        return False
    shown = _shown(keys, curves, export)
    if keys.use_relative:
        return not _is_run(_lone_keys(shown))
    times = shown[:, 0]
    places = {at: i for i, at in enumerate(shape_keys.positions(shape_keys.frame_blocks(keys)))}
    near = [next((i for at, i in places.items() if abs(at - time) < NEAR), -1.0) for time in times.tolist()]
    return not (_is_run(times.tolist()) or (-1.0 not in near and _is_run(near)))


def out_of_step(blocks: list[Block], export: ExportScene[Any]) -> Block | None:
    """Return a mesh whose absolute keys NLA strips or drivers show at other times than another's are shown; or None."""
    absolute = [block for block in blocks if not block.data.shape_keys.use_relative]
    moved = [b for b in absolute if sampling.is_driven(b.data.shape_keys) and not follows_frame(b.data.shape_keys)]
    for block in moved:
        keys = block.data.shape_keys
        own = _shown(keys, playing_curves(keys), export)
        for other in (each.data.shape_keys for each in absolute if each != block):
            if not np.allclose(own, _shown(other, playing_curves(other), export), atol=NEAR):
                return block
    return None


def is_still(block: Block, export: ExportScene[Any]) -> bool:
    """Tell whether nothing plays a mesh's absolute keys in the scene's range."""
    keys = block.data.shape_keys
    if keys.use_relative or follows_frame(keys):
        return False
    curves = playing_curves(keys)
    if not sampling.is_driven(keys):
        return not _of_time(curves)
    return bool((np.ptp(_shown(keys, curves, export), axis=0) < NEAR).all())


def _of_time(curves: list[Any]) -> list[Any]:
    return [curve for curve in curves if curve.data_path == "eval_time" and not curve.mute]


def _shown(keys: Block, curves: list[Any], export: ExportScene[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the evaluation time, or the values of all frames' keys, in each frame of the scene's range, (F, n)."""
    times = range(export.scene.frame_start, export.scene.frame_end + 1)
    blocks = shape_keys.frame_blocks(keys)
    paths = [value_path(key.name) for key in blocks] if keys.use_relative else ["eval_time"]
    if sampling.is_driven(keys):
        with showing(export.scene) as show:
            return np.array([_values_now(keys, export, show(time)) for time in times]).reshape(-1, len(paths))
    playing = {curve.data_path: curve for curve in curves if not curve.mute}
    still = [key.value for key in blocks] if keys.use_relative else [keys.eval_time]
    wanted = np.array(times, np.float32)
    shown = np.repeat(np.array([still], np.float64), len(times), axis=0)
    for column, path in enumerate(paths):
        if path in playing:
            shown[:, column] = shape_keys.values_at(playing[path], wanted)
    return shown


def _values_now(keys: Block, export: ExportScene[Any], _shown: None) -> list[float]:
    found = keys.evaluated_get(export.depsgraph)
    return [key.value for key in shape_keys.frame_blocks(found)] if keys.use_relative else [found.eval_time]


def _lone_keys(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Return which of relative keys (F, n) shows alone in each frame where any does, -1 for a mix of several."""
    some = values[(np.abs(values) > NEAR).any(axis=1)]
    alone = ((np.abs(some) > NEAR).sum(axis=1) == 1) & (np.abs(some.max(axis=1, initial=0.0) - 1.0) < NEAR)
    return [float(key) for key in np.where(alone, some.argmax(axis=1) if some.size else 0, -1)]


def _is_run(places: list[float]) -> bool:
    """Tell whether numbers go up by one, in a run that holds at its ends and may begin anew."""
    moved = [place for place, (a, b) in enumerate(pairwise(places)) if abs(a - b) > NEAR]
    if -1.0 in places or not moved:
        return -1.0 not in places
    run = places[moved[0] : moved[-1] + 2]
    starts = run[0], run[0] + 1.0  # a cycle's last frame is its first
    return all(any(abs(b - there) < NEAR for there in (a + 1.0, *starts)) for a, b in pairwise(run))


def _is_plain(curve: Any) -> bool:
    """Tell whether a curve goes from one whole time to a later one at the scene's pace, as import makes it."""
    times, values = curve_points(curve)
    if curve.modifiers or curve.extrapolation != "CONSTANT":
        return False
    kinds = np.empty(len(times), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    return bool((kinds == LINEAR).all() and (np.diff(values) == np.diff(times)).all())
