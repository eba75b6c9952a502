"""F-curves: made and read as whole arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .compat import is_muted, playing_curves, slot_curves, slot_groups
from .simulations import is_pushed

BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
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


@dataclass(eq=False)
class Keys:
    """The keys of several F-curves, read once: times and values by turns."""

    curves: list[Any]
    table: Floats  # (curves, 2 n): of those with as many keys as the first has
    others: dict[int, Floats]  # of the others, by number

    def counts(self) -> NDArray[np.int64]:
        """Return how many keys each curve has."""
        counts = np.full(len(self.curves), self.table.shape[1] // 2)
        counts[list(self.others)] = [len(points) // 2 for points in self.others.values()]
        return counts

    def ends(self) -> tuple[float, float] | None:
        """Return the times of the first and the last key of all curves; None without any."""
        usual = np.delete(self.table, list(self.others), axis=0) if self.others else self.table
        keyed = [points for points in self.others.values() if len(points)]
        empty = np.flatnonzero(self.counts() == 0).tolist()
        ends = [self.curves[nth].range() for nth in empty if self.curves[nth].sampled_points]
        ends += [(points[0], points[-2]) for points in keyed]
        if usual.size:
            ends.append((usual[:, 0].min(), usual[:, -2].max()))
        return (float(min(first for first, _ in ends)), float(max(last for _, last in ends))) if ends else None

    def of_count(self, count: int) -> Floats:
        """Return the keys as an array (curves, 2 x count): those of curves with just so many, NaN for the others."""
        if self.table.shape[1] == 2 * count and not self.others:
            return self.table
        found = np.full((len(self.curves), 2 * count), np.nan, np.float32)
        if self.table.shape[1] == 2 * count:
            found[:] = self.table
        for nth, points in self.others.items():
            found[nth] = points if len(points) == 2 * count else np.nan
        return found


def read_keys(curves: list[Any]) -> Keys:
    """Return the keys of F-curves."""
    count = len(curves[0].keyframe_points) if curves else 0
    table = np.empty((len(curves), 2 * count), np.float32)
    others: dict[int, Floats] = {}
    for nth, curve in enumerate(curves):
        keys = curve.keyframe_points
        if len(keys) == count:
            keys.foreach_get("co", table[nth])
        else:
            others[nth] = np.empty(2 * len(keys), np.float32)
            keys.foreach_get("co", others[nth])
    return Keys(curves, table, others)


def curve_points(curve: Any) -> tuple[Floats, Floats]:
    """Return the times and values of an F-curve's keys, (n,) each."""
    points = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[0::2], points[1::2]


def plays(curve: Any) -> bool:
    """Tell whether Blender evaluates an F-curve: one that is muted, or has no key, moves nothing."""
    return not (is_muted(curve) or curve.is_empty)


def same_curves(curves: list[Any], others: list[Any]) -> bool:
    """Tell whether F-curves have the same keys as others, whose order may be another."""
    own, theirs = ({(curve.data_path, curve.array_index): curve for curve in each} for each in (curves, others))
    if own.keys() != theirs.keys():
        return False
    pairs = ((np.array(curve_points(curve)), np.array(curve_points(theirs[key]))) for key, curve in own.items())
    return all(np.array_equal(keys, there) for keys, there in pairs)


def bone_path(bone: str) -> str:
    """Return what the paths of a bone's channels begin with."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def moved_bones(curves: Iterable[Any]) -> set[str]:
    """Return the names of the bones that curves move."""
    named = (BONE_PATH.match(curve.data_path) for curve in curves)
    return {bpy.utils.unescape_identifier(match.group(1)) for match in named if match is not None}


def group_by_bone(action: Any, slot: Any) -> None:
    """Put the curves of bones into groups of the bones' names, as keys that a user sets are.

    An Action constraint plays the group that is called as its bone, where there is one, and no other curve of that.
    """
    groups = slot_groups(action, slot)
    for curve in list(slot_curves(action, slot)):
        named = BONE_PATH.match(curve.data_path)
        if named is not None and curve.group is None:
            name = bpy.utils.unescape_identifier(named.group(1))
            curve.group = groups.get(name) or groups.new(name)


def value_path(key: str) -> str:
    """Return the data path of a relative key's value."""
    return f'key_blocks["{bpy.utils.escape_identifier(key)}"].value'


def playing_tracks(animation: Any) -> list[Any]:
    """Return the NLA tracks that play: those not muted, or the solo one alone, which does even where it is muted."""
    tracks = list(animation.nla_tracks)
    return [track for track in tracks if track.is_solo] or [track for track in tracks if not track.mute]


def playing_strips(animation: Any | None) -> list[Any]:
    """Return the NLA strips that have a say, below an ID's action if it plays one: no muted ones."""
    if animation is None or not animation.use_nla:
        return []
    return [strip for track in playing_tracks(animation) for strip in track.strips if not strip.mute]


def is_still(block: Any) -> bool:
    """Tell whether no curve, driver or NLA strip plays on an ID."""
    animation = block.animation_data
    return animation is None or not (playing_curves(block) or len(animation.drivers) or playing_strips(animation))


def stays_put(block: Any) -> bool:
    """Tell whether nothing but what it hangs on moves an object: neither what plays, nor constraints, nor physics."""
    return is_still(block) and not block.constraints and not is_pushed(block)
