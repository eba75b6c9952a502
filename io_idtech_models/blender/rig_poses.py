"""What an armature's action holds at whole frames: one array, which becomes keys of curves again.

Letters in shapes: C curves, F frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .compat import Block, slot_curves
from .curves import BONE_PATH, LINEAR, Keys, add_curves, curve_points, group_by_bone, read_keys
from .frame_rigs import pose_part

Floats = NDArray[np.float32]
Channel = tuple[str, int]  # data path and index


@dataclass(eq=False)
class Poses:
    """What curves hold in a run of whole frames."""

    channels: list[Channel]  # (C)
    values: Floats  # (C, F)

    def checksum(self) -> str:
        """Return a number of what they hold, in hexadecimal: the same whatever bones are called."""
        named = [f"{BONE_PATH.sub('', path)} {index}".encode() for path, index in self.channels]
        values = zip(named, self.values + np.float32(0), strict=True)
        each = sorted(crc32(own.tobytes(), crc32(name)) for name, own in values)
        return f"{crc32(np.array(each, '<u4').tobytes()):08x}"


class ActionPoses:
    """The curves of an action that pose an armature, read once."""

    def __init__(self, action: Block) -> None:
        self.action = action
        named = {(curve.data_path, curve.array_index): curve for curve in curves_of(action)}
        self.channels = sorted(named)
        self.curves = [named[channel] for channel in self.channels]
        self.keys: Keys = read_keys(self.curves)

    @cached_property
    def _times(self) -> Floats | None:
        """Return when all curves have their keys; None if one has others."""
        times = self.keys.table[:, 0::2]
        common = not self.keys.others and times.size and (times == times[:1]).all()
        return times[0] if common else None

    def at(self, first: int, count: int) -> Poses:
        """Return what they hold in whole frames from a time on: their keys, or what is between."""
        times = np.arange(first, first + count, dtype=np.float32)
        found = None if self._times is None else places_of(self._times, times)
        if found is not None:
            return Poses(self.channels, np.ascontiguousarray(self.keys.table[:, 1::2][:, found]))
        values = np.array([values_at(curve, times) for curve in self.curves], np.float32)
        return Poses(self.channels, values.reshape(len(self.curves), count))


def curves_of(action: Block) -> list[Any]:
    """Return the curves of an action that pose an armature."""
    return pose_part(action)[1]


def places_of(at: Floats, times: Floats) -> NDArray[np.intp] | None:
    """Return which of rising numbers (n,) each of some others is, (F,); None if one of these is missing."""
    if not len(at):
        return None
    places = np.minimum(np.searchsorted(at, times), len(at) - 1)
    return places if np.array_equal(at[places], times) else None


def values_at(curve: Any, times: Floats) -> Floats:
    """Return a curve's values at times (F,)."""
    at, values = curve_points(curve)
    places = places_of(at, times)
    if places is not None:
        return values[places]
    return np.array([curve.evaluate(time) for time in times.tolist()], np.float32)


def write(action: Block, poses: Poses, first: int, whole: bool = False, cut: bool = False) -> None:
    """Give an action's curves what others hold, from a time on.

    Elsewhere a bone that had no such curve rests; but if that is the `whole` action, it has no other curves then, and
    if it is `cut`, no other keys.
    """
    slot = pose_part(action)[0]
    curves = slot_curves(action, slot)
    known = {(curve.data_path, curve.array_index): curve for curve in curves}
    for channel in known.keys() - set(poses.channels) if whole else ():
        curves.remove(known[channel])
    times = np.arange(first, first + poses.values.shape[1], dtype=np.float32)
    new = [place for place, channel in enumerate(poses.channels) if channel not in known]
    added, around = poses.values[new], times
    if not whole:
        rest = np.array([[at_rest(poses.channels[place])] for place in new], np.float32).reshape(-1, 1)
        added, around = np.hstack((rest, added, rest)), np.r_[first - 1, times, times[-1:] + 1].astype(np.float32)
    add_curves(curves, [poses.channels[place] for place in new], around, np.ascontiguousarray(added))
    for channel, own in zip(poses.channels, poses.values, strict=True):
        curve = known.get(channel)
        if curve is not None and (cut or not np.array_equal(values_at(curve, times), own)):
            _overwrite(curve, times, own, cut)
    group_by_bone(action, slot)


def at_rest(channel: Channel) -> float:
    """Return what a channel is where a bone rests."""
    path, index = channel
    return float(path.endswith("scale") or (path.endswith("rotation_quaternion") and index == 0))


def _overwrite(curve: Any, times: Floats, wanted: Floats, cut: bool) -> None:
    """Give a curve values at times, where it has keys or not; `cut`: it keeps no other keys."""
    at, values = curve_points(curve)
    places = places_of(at, times)
    if places is not None and not (cut and len(at) != len(times)):
        values[places] = wanted
        curve.keyframe_points.foreach_set("co", np.stack((at, values), axis=1).ravel())
        curve.update()
        return
    kept = np.zeros(len(at), np.bool_) if cut else (at < times[0]) | (at > times[-1])
    points = np.stack((np.r_[at[kept], times], np.r_[values[kept], wanted]), axis=1)
    points = points[np.argsort(points[:, 0], kind="stable")].astype(np.float32)
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", points.ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
    curve.update()
