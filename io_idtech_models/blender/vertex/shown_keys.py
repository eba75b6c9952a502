"""Which shape keys show: now, at which times of the scene, and whether that is one after another.

What a scene plays of keys may be a run of them, as import lets it, or something else that its animator meant. What
shows now is what is edited.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError, listed
from ..compat import Block, playing_curves
from ..curves import LINEAR, curve_points, playing_strips, plays, value_path
from ..provenance import MODEL_ID
from ..roots import follows_frame, time_of, times_of
from ..scene import ExportScene, bending, is_stretched, showing, unstretched
from ..takes import Take
from .shape_keys import KeyFinder, are_reached, frame_blocks, num_before, positions, take_strokes, values_at

NEAR = 1e-4  # of an evaluation time, or a value: closer is the same
HUNDREDTH = 1e-3  # of a key's place: Blender stores hundredths

Floats = NDArray[np.float64]


def has_frames(block: Block | None) -> bool:
    """Tell whether an object is a mesh whose shape keys are frames: absolute ones, or an import's, unless of bones."""
    if block is None or block.type != "MESH" or block.data.shape_keys is None:
        return False
    keys, model = block.data.shape_keys, block.data.get(MODEL_ID)
    if len(keys.key_blocks) < 2 or not keys.use_relative:
        return len(keys.key_blocks) > 1
    return model is not None and not any(rig.data.get(MODEL_ID) == model for rig in bending(block))


def shown_key(keys: Block) -> int:
    """Return the number of the key that shows now, -1 where it is none alone. Blender is asked for whole arrays."""
    if not keys.use_relative:
        nearest, away = _nearest_key(keys)
        return nearest if away < HUNDREDTH else -1
    values = np.empty(len(keys.key_blocks), np.float32)
    keys.key_blocks.foreach_get("value", values)
    lone = np.flatnonzero(values[1:] > 0) + 1
    return int(lone[0]) if len(lone) == 1 and values[lone[0]] == 1.0 else -1


def _nearest_key(keys: Block) -> tuple[int, float]:
    """Return the number of the absolute key that is the nearest to what shows now, and how far it is."""
    away = np.abs(_places(keys) - time_of(keys))
    return int(away.argmin()), float(away.min())


def _places(keys: Block) -> NDArray[np.float32]:
    """Return the evaluation times (K,) of absolute keys, all of them."""
    places = np.empty(len(keys.key_blocks), np.float32)
    keys.key_blocks.foreach_get("frame", places)
    return places


def follow(blocks: list[Block], to_frame: bool = True, chosen: dict[int, float] | None = None) -> dict[int, int]:
    """Let the active key of each object be sculpted; returns which it is, by the objects' `session_uid`.

    That is the key that shows. Between two, where rows play at other frames per second than the scene, it is the
    nearest, unless one was `chosen` at the evaluation time that is still the present one; another time ends that. A mix
    of relative ones, and whatever shows if not `to_frame`, leaves the one that is active.
    """
    found, chosen = {}, {} if chosen is None else chosen
    for block in filter(has_frames, blocks):
        keys = block.data.shape_keys
        index = shown_key(keys) if to_frame else -1
        if index >= 0 or chosen.get(block.session_uid) != time_of(keys):
            chosen.pop(block.session_uid, None)
            if index < 0 and to_frame and not keys.use_relative:
                index, _ = _nearest_key(keys)
        if index not in (-1, block.active_shape_key_index):
            block.active_shape_key_index = index
        found[block.session_uid] = int(block.active_shape_key_index)
        take_strokes(block)
    return found


def frame_that_shows(block: Block, scene: bpy.types.Scene) -> int | None:
    """Return the first frame of a scene's range that shows an object's active key; None if that shows now, or never.

    Of keys that follow a root it is one that shows it as nearly as any.
    """
    keys: Any = block.data.shape_keys
    index = block.active_shape_key_index
    if shown_key(keys) == index:
        return None
    based = num_before(keys)
    frames = range(scene.frame_start, scene.frame_end + 1)
    if follows_frame(keys):
        return _nearest_frame(keys, index, frames)
    shown = KeyFinder(keys).at(playing_curves(keys), [float(frame) for frame in frames])
    return next((frame for frame, key in zip(frames, shown, strict=True) if key == index - based), None)


def _nearest_frame(keys: Block, index: int, frames: range) -> int | None:
    """Return which frame shows a key that follows a root, or most nearly so of those in which it is edited; or None."""
    away = np.abs(times_of(keys, frames)[:, None] - _places(keys))
    edited = np.flatnonzero(away.argmin(axis=1) == index)
    return frames[int(edited[away[edited, index].argmin()])] if len(edited) else None


def is_driven(keys: Block) -> bool:
    """Tell whether more than an action decides what shape keys show: drivers, strips, a scene's Time Stretching."""
    animation = keys.animation_data
    return animation is not None and bool(len(animation.drivers) or playing_strips(animation) or is_stretched())


def keys_at(finder: KeyFinder, times: list[float], take: Take | None = None, present: bool = False) -> list[int]:
    """Return which frame's key the scene shows at each time, while it plays a take; -1 where it is none exactly.

    `present`: what it shows now, whatever curves say.
    """
    keys = finder.keys
    curves = None if take is None else take.curves_of(keys)
    if present:
        curves = []
    if is_driven(keys) and (curves is None or len(keys.animation_data.drivers)):
        return [-1] * len(times)
    return finder.at(playing_curves(keys) if curves is None else curves, times)


def covers(keys: Block, curves: list[Any]) -> bool:
    """Tell whether curves show the keys of all frames."""
    by_path = {curve.data_path: curve_points(curve)[1] for curve in curves}
    blocks = frame_blocks(keys)
    if keys.use_relative:
        paths = (value_path(key.name) for key in blocks)
        return all(path in by_path and by_path[path].max(initial=0.0) > 0.0 for path in paths)
    at, values = positions(blocks), by_path.get("eval_time", np.zeros(0, np.float32))
    return len(values) > 0 and bool(values.min() <= at[0] and values.max() >= at[-1])


def key_times(keys: Block, curves: list[Any]) -> list[float]:
    """Return when curves show each frame's key: where they reach it, else the key's own position."""
    blocks = frame_blocks(keys)
    by_path = {curve.data_path: curve for curve in curves}
    if keys.use_relative:
        paths = (value_path(key.name) for key in blocks)
        return [_peak(by_path[path], i) if path in by_path else float(i) for i, path in enumerate(paths)]
    places = positions(blocks)
    return _reached(by_path["eval_time"], places) if "eval_time" in by_path else places


def _peak(curve: Any, default: int) -> float:
    times, values = curve_points(curve)
    return float(times[values.argmax()]) if len(values) else float(default)


def _reached(curve: Any, positions: list[float]) -> list[float]:
    times, values = curve_points(curve)
    wanted = np.array(positions)
    if len(times) >= 2 and np.array_equal(times, values) and times[0] <= wanted.min() and times[-1] >= wanted.max():
        return positions
    if not len(times):
        return positions
    whole = np.arange(np.floor(times.min()), np.ceil(times.max()) + 1)
    found = _first_shown(whole, np.array([curve.evaluate(t) for t in whole.tolist()]), positions)
    return [position if time is None else time for time, position in zip(found, positions, strict=True)]


def strip_times(keys: Block, export: ExportScene[Any]) -> list[float] | None:
    """Return when NLA strips show each frame's key for the first time; None if they don't show all, or there are none.

    Asked are times at which strips show frames of their actions: before and behind these what they show is held.
    """
    own = [
        strip.frame_start + np.append(np.arange(length), length) * strip.scale
        for strip in playing_strips(keys.animation_data)
        for length in [strip.action_frame_end - strip.action_frame_start]
    ]
    if not own:
        return None
    times = np.unique(np.concatenate(own))
    with unstretched():
        shown = _stepped(keys, times.tolist(), export)
    if keys.use_relative:
        return times[shown.argmax(axis=0)].tolist() if (shown.max(axis=0) > 0.0).all() else None
    found = _first_shown(times, shown[:, 0], positions(frame_blocks(keys)))
    reached = [time for time in found if time is not None]
    return reached if len(reached) == len(found) else None


def _first_shown(times: Floats, shown: Floats, positions: list[float]) -> list[float | None]:
    """Return when evaluation times `shown` (F,) at `times` (F,) reach each position first; None for those never."""
    result: list[float | None] = []
    for position in positions:
        hits = np.flatnonzero(np.abs(shown - position) < NEAR)
        between = np.flatnonzero((shown[:-1] < position) & (shown[1:] > position))
        if len(hits):
            result.append(float(times[hits[0]]))
        elif len(between):
            at = int(between[0])
            share = (position - shown[at]) / (shown[at + 1] - shown[at])
            result.append(float(times[at] + share * (times[at + 1] - times[at])))
        else:
            result.append(None)
    return result


def plays_otherwise(keys: Block, export: ExportScene[Any]) -> bool:
    """Tell whether the scene plays keys in its range by other means than a player's, but not one after another.

    One after another is a run of them, one in each frame of the scene, which holds at its ends and may begin anew. It
    is that, too, where a key was deleted or lies between two frames: the time goes on as import lets it. The scene's
    Time Stretching is no way to play keys: it is of all that the scene shows.
    """
    if follows_frame(keys):
        return False
    with unstretched():
        return _plays_otherwise(keys, export)


def _plays_otherwise(keys: Block, export: ExportScene[Any]) -> bool:
    curves = playing_curves(keys)
    if not keys.use_relative and not are_reached(frame_blocks(keys)):
        return True
    if not keys.use_relative and not is_driven(keys) and all(_is_plain(c) for c in _of_time(curves)):
        return is_slowed(frame_blocks(keys))
    shown = _shown(keys, curves, export)
    if keys.use_relative:
        return not _is_run(_lone_keys(shown))
    times = shown[:, 0]
    places = {at: i for i, at in enumerate(positions(frame_blocks(keys)))}
    near = [next((i for at, i in places.items() if abs(at - time) < NEAR), -1.0) for time in times.tolist()]
    is_timed = _is_run(times.tolist()) and not is_slowed(frame_blocks(keys))
    return not (is_timed or (-1.0 not in near and _is_run(near)))


def plays_before(keys: Block, export: ExportScene[Any]) -> bool:
    """Tell whether an action plays times before the first of absolute keys, in the scene's range."""
    curves = [] if keys.use_relative or is_driven(keys) or follows_frame(keys) else _of_time(playing_curves(keys))
    curves = [curve for curve in curves if len(curve.keyframe_points)]
    begins = [max(float(curve_points(curve)[0].min()), export.scene.frame_start) for curve in curves]
    shown = [curve.evaluate(begin) for curve, begin in zip(curves, begins, strict=True)]
    return bool(shown) and min(shown) < positions(frame_blocks(keys))[0] - NEAR


def refuse_doubled(block: Block) -> None:
    """Raise LimitError where absolute keys lie at one place, but in order, as Blender 5's Duplicate puts them.

    One of them shows, and the scene plays as before: it would be a frame that nothing plays.
    """
    keys = frame_blocks(block.data.shape_keys)
    gaps = np.diff(positions(keys))
    doubled = np.flatnonzero(np.abs(gaps) < NEAR)
    if len(doubled) and (gaps > -NEAR).all():
        pairs = [f"'{keys[place].name}' and '{keys[place + 1].name}'" for place in doubled.tolist()]
        how = "remove one of each pair, Insert Frame makes a frame of a copy"
        raise LimitError(f"keys of '{block.name}' lie at one place of the time ({how}): {listed(pairs, quoted=False)}")


def is_slowed(blocks: list[Any]) -> bool:
    """Tell whether absolute keys all lie more than a frame apart, as Blender times new ones: most frames show none."""
    gaps = np.diff(positions(blocks))
    return len(gaps) > 0 and bool((gaps > 1.0 + NEAR).all())


def out_of_step(blocks: list[Block], export: ExportScene[Any]) -> Block | None:
    """Return a mesh whose absolute keys NLA strips or drivers show at other times than another's are shown; or None."""
    absolute = [block for block in blocks if not block.data.shape_keys.use_relative]
    moved = [b for b in absolute if is_driven(b.data.shape_keys) and not follows_frame(b.data.shape_keys)]
    for block in moved:
        keys = block.data.shape_keys
        own = _shown(keys, playing_curves(keys), export)
        for other in (each.data.shape_keys for each in absolute if each != block):
            if not np.allclose(own, _shown(other, playing_curves(other), export), atol=NEAR):
                return block
    return None


def keys_stand_still(block: Block, export: ExportScene[Any]) -> bool:
    """Tell whether nothing plays a mesh's keys in the scene's range; relative ones show one frame, or none, unmixed."""
    keys = block.data.shape_keys
    if follows_frame(keys):
        return False
    curves = playing_curves(keys)
    if keys.use_relative:
        *others, most = sorted(key.value for key in frame_blocks(keys))
        paths = {value_path(key.name) for key in keys.key_blocks}
        moved = is_driven(keys) or any(curve.data_path in paths and plays(curve) for curve in curves)
        return not moved and most in {0.0, 1.0} and not any(others)
    if not is_driven(keys):
        return not any(map(_varies, _of_time(curves)))
    return bool((np.ptp(_shown(keys, curves, export), axis=0) < NEAR).all())


def _varies(curve: Any) -> bool:
    return bool(len(curve.modifiers) or len(curve.sampled_points) or np.ptp(curve_points(curve)[1]) > 0)


def _of_time(curves: list[Any]) -> list[Any]:
    return [curve for curve in curves if curve.data_path == "eval_time" and plays(curve)]


def _shown(keys: Block, curves: list[Any], export: ExportScene[Any]) -> Floats:
    """Return the evaluation time, or the values of all frames' keys, in each frame of the scene's range, (F, n)."""
    times = range(export.scene.frame_start, export.scene.frame_end + 1)
    blocks = frame_blocks(keys)
    paths = [value_path(key.name) for key in blocks] if keys.use_relative else ["eval_time"]
    if is_driven(keys):
        return _stepped(keys, times, export)
    playing = {curve.data_path: curve for curve in curves if plays(curve)}
    still = [key.value for key in blocks] if keys.use_relative else [keys.eval_time]
    wanted = np.array(times, np.float32)
    shown = np.repeat(np.array([still], np.float64), len(times), axis=0)
    for column, path in enumerate(paths):
        if path in playing:
            shown[:, column] = values_at(playing[path], wanted)
    return shown


def _stepped(keys: Block, times: Iterable[float], export: ExportScene[Any]) -> Floats:
    """Return what `_shown` does for some times, as the scene shows them."""
    found = []
    with showing(export.scene) as show:
        for time in times:
            show(time)
            now = keys.evaluated_get(export.depsgraph)
            found.append([key.value for key in frame_blocks(now)] if keys.use_relative else [now.eval_time])
    return np.array(found).reshape(-1, len(frame_blocks(keys)) if keys.use_relative else 1)


def _lone_keys(values: Floats) -> list[float]:
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
