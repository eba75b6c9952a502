"""Frames as shape keys, one each: absolute (exact and fast), or relative (which other exporters know)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..compat import Block, curves_for
from ..curves import LINEAR, add_curve, add_points, curve_points, plays, value_path
from ..names import stem_of
from ..provenance import MODEL_ID

BASIS = "Basis"
UNTIMED = 10.0  # frames behind the last key (BKE_keyblock_add)
Floats = NDArray[np.float32]


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
    take_strokes(block)


def add_shown(block: Block, times: list[int]) -> None:
    """Add a key of what absolute ones show at each of some times, where none lies, called as the one before it."""
    keys = block.data.shape_keys
    shown, active = keys.eval_time, block.active_shape_key
    for time in times:
        keys.eval_time = time
        before = [key.name for key in keys.key_blocks if key.frame < time] or [keys.key_blocks[0].name]
        block.shape_key_add(name=f"{stem_of(before[-1])}.001", from_mix=True).value = 0.0
    keys.eval_time = shown
    block.active_shape_key_index = list(keys.key_blocks).index(active) if active is not None else 0


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


def take_strokes(block: Block) -> None:
    """Let the active one of absolute keys have the value 1, and others of an import 0.

    Strokes in sculpt mode move the active key by as much as that says, and so do edits with Shape Key Edit Mode, though
    absolute keys are shown whole: of 0 nothing is left. Exporters of other formats, for which values are weights, see
    the active one, which is the frame that shows.
    """
    keys = block.data.shape_keys
    if keys is None or keys.use_relative or block.active_shape_key is None:
        return
    values = np.empty(len(keys.key_blocks), np.float32)
    keys.key_blocks.foreach_get("value", values)
    wanted = np.zeros_like(values) if MODEL_ID in block.data else values.copy()
    wanted[block.active_shape_key_index] = 1.0
    for number in np.flatnonzero(values != wanted).tolist():
        keys.key_blocks[number].value = wanted[number]


def animate_absolute(keys: Block, action: bpy.types.Action, name: str, num_frames: int) -> None:
    """Show frame f at scene frame f: one curve from (0, 0) to (F - 1, F - 1)."""
    _add_time_curve(curves_for(action, keys, name), 0, num_frames)


def animate_relative(keys: Block, action: bpy.types.Action, name: str, names: list[str]) -> None:
    """Show frame f at scene frame f: each key's value is 1 in its own frame and 0 in the neighbours'."""
    _add_value_curves(curves_for(action, keys, name), names, 0, len(names))


def add_stretch(curves: Any, keys: Block, first: int, count: int) -> None:
    """Add the curves that show `count` frames from `first` on at scene frames 0, 1, 2 ..., exactly."""
    if keys.use_relative:
        _add_value_curves(curves, [key.name for key in frame_blocks(keys)], first, count)
    else:
        _add_time_curve(curves, first, count)


def _add_time_curve(curves: Any, first: int, count: int) -> None:
    times = np.array([0, count - 1] if count > 1 else [0], np.float32)
    add_curve(curves, "eval_time", 0, times, times + np.float32(first))


def _add_value_curves(curves: Any, names: list[str], first: int, count: int) -> None:
    """Let `count` keys from `first` on have their turn. The others are held at 0: what was shown before would stay."""
    for place, key in enumerate(names):
        frame = place - first
        if 0 <= frame < count:
            times = np.arange(max(frame - 1, 0), min(frame + 2, count), dtype=np.float32)
            add_curve(curves, value_path(key), 0, times, (times == frame).astype(np.float32))
        else:
            curves.new(value_path(key)).keyframe_points.add(1)  # 0 at 0


class KeyFinder:
    """Finds which frame's key of a mesh (see `frame_blocks`) curves show."""

    def __init__(self, keys: Block) -> None:
        blocks = frame_blocks(keys)
        self.keys = keys
        if keys.use_relative:
            self.paths = [value_path(key.name) for key in blocks]
            self.values = np.array([[key.value] for key in blocks], np.float32)
            self.on = np.array([[not key.mute] for key in blocks])
            self.exact = all(key.relative_key == keys.key_blocks[0] for key in blocks)  # joining can leave none at all
        else:
            self.places = {position: i for i, position in enumerate(positions(blocks))}
            self.exact = are_reached(blocks)

    def at(self, curves: list[Any], times: list[float]) -> list[int]:
        """Return the frame of the key that shows at each time; -1 where it is none exactly."""
        playing = {curve.data_path: curve for curve in curves if plays(curve)}
        if not self.exact or (self.keys.use_relative and not self.paths):  # a base alone shows none
            return [-1] * len(times)
        if self.keys.use_relative:
            return self._lone(playing, times)
        curve, still = playing.get("eval_time"), self.keys.eval_time
        return [self.places.get(still if curve is None else curve.evaluate(time), -1) for time in times]

    def _lone(self, playing: dict[str, Any], times: list[float]) -> list[int]:
        """Return for each time the one relative key whose value is 1 while all others' are 0, or -1."""
        wanted = np.array(times, np.float32)
        values = np.repeat(self.values, len(times), axis=1)
        for row, path in zip(values, self.paths, strict=True):
            if path in playing:
                row[:] = values_at(playing[path], wanted)
        values *= self.on
        lone = ((values == 1.0).sum(axis=0) == 1) & ((values == 0.0).sum(axis=0) == len(values) - 1)
        shown: list[int] = np.where(lone, values.argmax(axis=0), -1).tolist()
        return shown


def values_at(curve: Any, times: Floats) -> Floats | float:
    """Return a curve's values (n,) at times."""
    if len(curve.keyframe_points) == 1 and not curve.modifiers:
        return float(curve.keyframe_points[0].co.y)
    at, values = curve_points(curve)
    kinds = np.empty(len(at), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    if len(at) and (kinds == LINEAR).all() and curve.extrapolation == "CONSTANT" and not curve.modifiers:
        return np.interp(times, at, values).astype(np.float32)
    return np.array([curve.evaluate(time) for time in times.tolist()], np.float32)


def frame_blocks(keys: Block | None) -> list[Any]:
    """Return the keys that are frames, in order: all but a `Basis` before relative ones, and what `_is_left_over`."""
    if keys is None:
        return []
    blocks = list(keys.key_blocks)
    return blocks[num_before(keys) : len(blocks) - _is_left_over(keys, blocks)]


def num_before(keys: Block) -> int:
    """Return how many keys come before those that are frames: 1 with a `Basis`, which is none, else 0."""
    return int(keys.use_relative and len(keys.key_blocks) > 0 and keys.key_blocks[0].name == BASIS)


def _is_left_over(keys: Block, blocks: list[Any]) -> bool:
    """Tell whether the last key is a copy of the first that Blender 4.5 puts behind those of a part that is separated.

    It lies where Blender puts a key that has no time, `UNTIMED` behind the others; one that a modeller put there, to
    close a circle, lies as far away as these from one another.
    """
    if len(blocks) < 2 or stem_of(blocks[-1].name) != stem_of(blocks[0].name):
        return False
    if keys.use_relative:
        return bool(blocks[0].name == BASIS)
    gaps = np.diff([key.frame for key in blocks[-3:]])
    far = np.abs(gaps - UNTIMED) < 1e-2
    return bool(far[-1] and not far[:-1].any())


def are_reached(blocks: list[Any]) -> bool:
    """Tell whether the evaluation time of each absolute key shows that key.

    A B-spline passes by the keys, and Blender finds those alone that lie in the order of the list: objects of two
    animated models that are joined have the keys of one behind those of the other, at the same times.
    """
    places = positions(blocks)
    in_order = all(a < b for a, b in pairwise(places))
    return in_order and all(key.interpolation != "KEY_BSPLINE" for key in blocks)


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
    # A mesh is where its first key is; relative ones have their base, which is no frame. Without points it is nowhere.
    if not relative and frames.size:
        block.data.attributes["position"].data.foreach_set("vector", frames[0].ravel())
        block.data.update()
    (add_relative if relative else add_absolute)(block, names, frames)
    if binding is not None and binding[0] is not None:
        animation = block.data.shape_keys.animation_data_create()
        animation.action = binding[0]
        if binding[1] is not None:
            animation.action_slot = binding[1]


def reorder_curves(curves: Any, relative: bool, old_names: list[str], order: list[int], names: list[str]) -> int:
    """Adapt the curves of an action to a new list of frames; a copy is shown after its original.

    Returns how many frames an action as import makes them shows now, one by one; -1 for one of another kind. If that
    is 0 its curves are left as they were.
    """
    if not relative:
        curve = next((c for c in curves if c.data_path == "eval_time"), None)
        return -1 if curve is None else _stretch(curve, order)
    found = {curve.data_path: curve for curve in curves}
    shown = _turns([found.get(value_path(name)) for name in old_names])
    places = [place for place, frame in enumerate(order) if frame in shown]
    if shown and not places:
        return 0
    kept = set() if shown else {value_path(name) for name in names}
    for path in {value_path(name) for name in old_names} & found.keys() - kept:
        curves.remove(found[path])
    if not shown:
        return -1
    _add_value_curves(curves, names, places[0], len(places))
    return len(places)


def _turns(curves: list[Any]) -> range:
    """Return the frames that take turns at 0, 1, 2 ... by the curves of their keys' values; none if it is not so."""
    points = [None if curve is None else curve_points(curve) for curve in curves]
    peaks = {f: float(p[0][p[1].argmax()]) for f, p in enumerate(points) if p is not None and p[1].max(initial=0.0) > 0}
    frames = range(min(peaks, default=0), max(peaks, default=-1) + 1)
    return frames if [peaks.get(frame) for frame in frames] == list(range(len(frames))) else range(0)


def _stretch(curve: Any, order: list[int]) -> int:
    """Let an `eval_time` curve reach the keys' new positions; one that shows frame f, f + 1 ... goes on doing so."""
    times, values = curve_points(curve)
    if not len(times):
        return -1
    shift = float(values[0] - times[0])
    if shift != round(shift) or not np.array_equal(times + np.float32(shift), values):
        new = {old: place for place, old in reversed(list(enumerate(order)))}
        values[:] = [new.get(round(v), min(round(v), len(order) - 1)) if v == round(v) else v for v in values.tolist()]
        curve.keyframe_points.foreach_set("co", np.stack((times, values), axis=1).ravel())
        curve.update()
        return -1
    places = [place for place, frame in enumerate(order) if values[0] <= frame <= values[-1]]
    if places:
        end = times[0] + np.float32(len(places) - 1)
        times = np.unique(np.append(times[:-1][times[:-1] < end], [times[0], end])).astype(np.float32)
        curve.keyframe_points.clear()
        add_points(curve, times, times - times[0] + np.float32(places[0]))
    return len(places)
