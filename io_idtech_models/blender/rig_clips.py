"""Actions of an armature that was made of frames: one that shows them all, the whole, and one for each animation.

So an animation's poses exist twice. What was changed in one of the two is taken to the other when it is looked at:
before another plays, and before an export. Each clip has a stamp of what both held when they were last alike; where
both have changed since, and not alike, the one that plays counts.

Letters in shapes: F frames of a clip.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import bpy
import numpy as np
from numpy.typing import NDArray

from . import names, spans
from .compat import Block, action_parts, new_curves, play, slot_curves, slot_name
from .curves import add_curve, curve_points
from .frame_rigs import RIG, RIG_KEYS, partner_of, rig_actions, rig_id, whole_of

log = logging.getLogger(__name__)

Floats = NDArray[np.float32]
Values = dict[tuple[str, int], Floats]  # (F,) by data path and index
FRAMES = "idtech_rig_frames"  # on a clip: when the whole shows its first frame, and how many frames it has
UNNAMED = "frames"  # what an animation without a name is called
STAMP = "idtech_rig_stamp"  # on a clip: checksums of its own and the whole's poses when they were alike


@dataclass(frozen=True, eq=False)
class ClipWanted:
    """An animation of a model: what it is called, when the whole shows it, and the action that plays its keys alone."""

    name: str
    first: int
    count: int
    keys: Block | None = None


def add_clip(rig: Block, wanted: ClipWanted) -> Block | None:
    """Make an action of the frames that the whole shows from a time on; the armature keeps it."""
    whole = whole_of(rig)
    if whole is None or wanted.count < 1:
        return None
    action: Block = bpy.data.actions.new(names.fit(wanted.name) or UNNAMED)
    names.remember(action, wanted.name)
    new_curves(action, "OBJECT", slot_name(rig))
    action[RIG], action[FRAMES] = rig_id(rig), [wanted.first, wanted.count]
    if wanted.keys is not None:
        action[RIG_KEYS] = wanted.keys
    action.use_fake_user = True
    spans.set_range(action, 0, wanted.count - 1)
    track = rig.animation_data.nla_tracks.new()  # Blender renames bones only in what an object uses
    track.name = action.name
    track.strips.new(action.name, 0, action)
    track.mute = True
    _renew(action, whole)
    return action


def pair(rig: Block, wanted: Iterable[ClipWanted]) -> None:
    """Let an armature have a clip for each animation of its keys, called as that is, and no other."""
    left = clips_of(rig)
    for each in wanted:
        clip = next((clip for clip in left if _is_of(clip, each)), None)
        if clip is None:
            add_clip(rig, each)
            continue
        left.remove(clip)
        if names.file_name_of(clip) != each.name:
            old, clip.name = clip.name, names.fit(each.name) or UNNAMED
            names.remember(clip, each.name)
            for track in rig.animation_data.nla_tracks:
                track.name = clip.name if track.name == old else track.name
    for clip in left:
        remove_clip(rig, clip)


def _is_of(clip: Block, wanted: ClipWanted) -> bool:
    """Tell whether a clip is that of an animation: by the action of its keys, or where that has none by name."""
    if wanted.keys is not None:
        return bool(clip.get(RIG_KEYS) == wanted.keys)
    own = names.file_name_of(clip) == wanted.name
    return RIG_KEYS not in clip and own and _frames(clip) == (wanted.first, wanted.count)


def clips_of(rig: Block) -> list[Block]:
    """Return the actions of an armature's animations."""
    return [action for action in rig_actions(rig) if _frames(action) is not None]


def remove_clip(rig: Block, action: Block) -> None:
    """Remove the action of an animation, and the track that keeps it."""
    tracks = rig.animation_data.nla_tracks
    for track in [track for track in tracks if any(strip.action == action for strip in track.strips)]:
        tracks.remove(track)
    bpy.data.actions.remove(action)


def settle(rigs: Iterable[Block]) -> None:
    """Take what was changed in clips to the wholes, and what was changed in these to clips."""
    for rig in rigs:
        whole = whole_of(rig)
        if whole is None:
            continue
        playing = None if rig.animation_data is None else rig.animation_data.action
        for clip, (own, others) in [(clip, _changes(clip, whole)) for clip in clips_of(rig)]:
            if own and others and len(set(_stamp(clip, whole))) > 1:
                text = "'%s' and '%s' were both changed: the one that plays counts, '%s'"
                log.warning(text, clip.name, whole.name, clip.name if clip == playing else whole.name)
            if own and (not others or clip == playing):
                _paste(clip, whole)
        for clip in clips_of(rig):
            if _changes(clip, whole)[1]:
                _renew(clip, whole)


def play_along(rigs: Iterable[Block], action: Block) -> None:
    """Let armatures play what goes along with an action of their keys; what was changed until now is settled."""
    listed = list(rigs)
    settle(listed)
    for rig in listed:
        partner = partner_of(rig, action)
        if partner is not None and rig.animation_data is not None:
            play(rig, partner)


def _changes(clip: Block, whole: Block) -> tuple[bool, bool]:
    """Tell whether a clip's poses were changed since they were the whole's, and whether the whole's were."""
    own, _, others = str(clip.get(STAMP, "")).partition(" ")
    stamp = _stamp(clip, whole)
    return stamp[0] != own, stamp[1] != others


def whole_curves(rigs: Iterable[Block]) -> list[Any]:
    """Return the curves that show all frames."""
    return [curve for whole in map(whole_of, rigs) if whole is not None for curve in _curves(whole)]


def rewrite(rigs: Iterable[Block], order: list[Any]) -> None:
    """Give clips the frames that they have in a new order of the whole's: places of frames by the old one's."""
    for rig in rigs:
        whole = whole_of(rig)
        if whole is not None:
            _rewrite(rig, whole, order)


def _rewrite(rig: Block, whole: Block, order: list[Any]) -> None:
    for clip in clips_of(rig):
        first, count = _frames(clip) or (0, 0)
        places = [place for place, frame in enumerate(order) if first <= frame < first + count]
        if not places:
            remove_clip(rig, clip)
            continue
        clip[FRAMES] = [places[0], len(places)]
        if len(places) != count:
            spans.resize(clip, len(places))
        _renew(clip, whole)


def _frames(action: Block) -> tuple[int, int] | None:
    found = action.get(FRAMES)
    try:
        first, count = (int(number) for number in found) if found is not None else (0, 0)
    except (TypeError, ValueError):  # not as `add_clip` writes it
        return None
    return (first, count) if count > 0 else None


def _curves(action: Block) -> list[Any]:
    return next((curves for _, kind, curves in action_parts(action) if kind in ("", "OBJECT") and curves), [])


def read_values(action: Block, first: int, count: int) -> Values:
    """Return what an action's curves hold at whole frames from a time on."""
    times = np.arange(first, first + count, dtype=np.float32)
    return {(curve.data_path, curve.array_index): _values(curve, times) for curve in _curves(action)}


def _values(curve: Any, times: Floats) -> Floats:
    at, values = curve_points(curve)
    places = np.minimum(np.searchsorted(at, times), max(len(at) - 1, 0))
    if len(at) and np.array_equal(at[places], times):
        return np.ascontiguousarray(values[places])
    return np.array([curve.evaluate(time) for time in times.tolist()], np.float32)


def _checksum(values: Values) -> str:
    total = 0
    for (path, index), own in sorted(values.items()):
        total = crc32((own + np.float32(0)).tobytes(), crc32(f"{path} {index}".encode(), total))
    return f"{total:08x}"


def _stamp(clip: Block, whole: Block) -> tuple[str, str]:
    """Return the checksums of a clip's poses, and of those of the same frames in the whole."""
    first, count = _frames(clip) or (0, 0)
    return _checksum(read_values(clip, 0, count)), _checksum(read_values(whole, first, count))


def _paste(clip: Block, whole: Block) -> None:
    """Give the whole a clip's poses."""
    first, count = _frames(clip) or (0, 0)
    _write(whole, read_values(clip, 0, count), first)
    clip[STAMP] = " ".join(_stamp(clip, whole))


def _renew(clip: Block, whole: Block) -> None:
    """Give a clip the whole's poses; curves that the whole hasn't go."""
    first, count = _frames(clip) or (0, 0)
    values = read_values(whole, first, count)
    slot = next((slot for slot, kind, _ in action_parts(clip) if kind in ("", "OBJECT")), None)
    curves = slot_curves(clip, slot)
    for curve in [curve for curve in curves if (curve.data_path, curve.array_index) not in values]:
        curves.remove(curve)
    _write(clip, values, 0, count)
    clip[STAMP] = " ".join(_stamp(clip, whole))


def _write(action: Block, values: Values, first: int, count: int = 0) -> None:
    """Give an action's curves values at whole frames from a time on; with `count` that are all frames it has."""
    slot = next((slot for slot, kind, _ in action_parts(action) if kind in ("", "OBJECT")), None)
    curves = slot_curves(action, slot)
    known = {(curve.data_path, curve.array_index): curve for curve in curves}
    for (path, index), own in values.items():
        times = np.arange(first, first + len(own), dtype=np.float32)
        curve = known.get((path, index))
        if curve is None and count:
            add_curve(curves, path, index, times, own)
        elif curve is None:  # in other frames it rests
            rest = float(path.endswith("scale") or (path.endswith("rotation_quaternion") and index == 0))
            around = np.r_[times[:1] - 1, times, times[-1:] + 1], np.r_[rest, own, rest]
            add_curve(curves, path, index, *(each.astype(np.float32) for each in around))
        elif not np.array_equal(_values(curve, times), own) or (count and curve.range()[1] > count - 1):
            _overwrite(curve, times, own, bool(count))


def _overwrite(curve: Any, times: Floats, wanted: Floats, alone: bool) -> None:
    """Give a curve values at times, where it has keys or not; `alone`: it keeps no other keys."""
    at, values = curve_points(curve)
    places = np.minimum(np.searchsorted(at, times), max(len(at) - 1, 0))
    if len(at) and np.array_equal(at[places], times) and not (alone and len(at) != len(times)):
        values[places] = wanted
        curve.keyframe_points.foreach_set("co", np.stack((at, values), axis=1).ravel())
        curve.update()
        return
    kept = np.zeros(len(at), np.bool_) if alone else (at < times[0]) | (at > times[-1])
    points = np.stack((np.r_[at[kept], times], np.r_[values[kept], wanted]), axis=1)
    points = points[np.argsort(points[:, 0], kind="stable")].astype(np.float32)
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", points.ravel())
    curve.keyframe_points.foreach_set("interpolation", np.ones(len(points), np.int32))
    curve.update()
