"""Which frames of its source an animation still shows: found by value, joint by joint.

A joint that has, in some frame, the channels that import wrote in any of the source's frames names that frame, if the
source's pose still is the joint's: so frames may be deleted, inserted and retimed, and a rolled bone is noticed.

Letters in shapes: F frames, J joints, S the source's frames.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Animation
from .channels import runs
from .source import StoredAction

# Radians, units, and of how far from its parent a joint goes: closer is Blender's own rounding.
SAME_TURN, SAME_PLACE, SAME_PART = 2e-5, 1e-4, 1e-6
PARTS = slice(0, 3), slice(3, 7), slice(7, 10)  # of the channels: location, quaternion, inherited scale
SAME_SCALE = 1e-4  # part of it


def find_frames(
    animation: Animation, channels: NDArray[np.float32], numbers: NDArray[np.int32], known: StoredAction
) -> NDArray[np.int32]:
    """Return the source's frames (F, J, 2 or 3) whose position, rotation and inherited scale each joint has, or -1.

    `numbers` (J,) are the source's joints, or -1. A frame in which all joints have the channels (F, J, 7 or 10) of one
    of the source's is that one; else each joint finds its own.
    """
    grown = animation.scales is not None and animation.scales.inherited
    parts = PARTS if grown and known.source.scales is not None else PARTS[:2]
    found = np.full((*channels.shape[:2], len(parts)), -1, np.int32)
    channels = channels[..., : parts[-1].stop]
    joints = np.flatnonzero(numbers >= 0)
    if not len(joints):
        return found
    own = numbers[joints]
    present, written = _of_joints(channels, joints), _of_joints(known.channels[..., : channels.shape[-1]], own)
    whole = _equal_frames(present, written, np.arange(len(present)))
    hints = np.tile(whole[:, None, None], (1, len(joints), len(parts)))
    open_ = np.flatnonzero(whole < 0)
    for joint, (part, which) in product(range(len(joints)) if len(open_) else (), enumerate(parts)):
        hints[open_, joint, part] = _equal_frames(present[open_, joint, which], written[:, joint, which], open_)
    same = not len(open_) and np.array_equal(whole, np.arange(len(known.source.positions)))
    places, turns = (
        _of_joints(poses, own) if same else poses[np.maximum(hints[..., part], 0), own]
        for part, poses in enumerate((known.source.positions, known.source.rotations))
    )
    positions, rotations = (_of_joints(poses, joints) for poses in (animation.positions, animation.rotations))
    sizes = None if animation.scales is None or grown else animation.scales.of_ways()[:, joints, None]
    farthest = np.maximum(places.max(axis=0), -places.min(axis=0)).max(axis=1)
    near = np.maximum(SAME_PLACE, SAME_PART * farthest)
    for some in runs(len(hints), len(joints)):
        ways = positions[some] - places[some]
        ways = ways if sizes is None else ways * sizes[some]  # what counts is where it is shown
        hints[some, :, 0][_squares(ways) > near**2] = -1
        hints[some, :, 1][~_near_turns(rotations[some], turns[some])] = -1
    if grown and known.source.scales is not None:
        _check_scales(hints, animation, joints, known.source.scales[:, own])
    found[:, joints] = hints
    return found


def _check_scales(
    hints: NDArray[Any],
    animation: Animation,
    joints: NDArray[Any],
    written: NDArray[np.float64],
) -> None:
    """Take back the frames of scales, the last of `hints` (F, n, 3), in which joints (n,) are not so large any more."""
    assert animation.scales is not None
    at = np.maximum(hints[..., 2], 0)
    was, now = written[at, np.arange(len(joints))], animation.scales.values[:, joints]
    off = np.abs(now - was) > SAME_SCALE * np.maximum(np.abs(was), SAME_SCALE)
    hints[..., 2][off.any(axis=-1)] = -1


def _of_joints(values: NDArray[Any], joints: NDArray[Any]) -> NDArray[Any]:
    """Return the values (F, n, ...) of some joints; of all, in order, the array itself."""
    return values if np.array_equal(joints, np.arange(values.shape[1])) else values[:, joints]


def _squares(ways: NDArray[np.float64]) -> NDArray[np.float64]:
    return steady.dots(ways, ways)


def _near_turns(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell where unit quaternions (F, n, 4) are one rotation: they, or one and the other's negative, lie so close."""
    limit = (SAME_TURN / 2) ** 2  # the chord is half the angle, for angles as small
    near = _squares(a - b) <= limit
    return near if near.all() else near | (_squares(a + b) <= limit)


def _equal_frames(
    values: NDArray[np.float32], written: NDArray[np.float32], frames: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the frame (n,) of `written` (S, ...) that has the numbers of `values` (n, ...), or -1.

    That of the same number among several, `frames` (n,) are those of the values; else the first behind that of the
    value before, as where frames were deleted and the last is the first again; else the first.
    """
    rows, wanted = (np.ascontiguousarray(a).reshape(len(a), -1) for a in (written, values))
    found = np.full(len(wanted), -1, np.int64)
    inside = np.flatnonzero(frames < len(rows))
    at = frames[inside]
    mine = wanted if len(inside) == len(wanted) else wanted[inside]
    theirs = rows if np.array_equal(at, np.arange(len(rows))) else rows[at]
    same = (mine == theirs).all(axis=1)
    found[inside[same]] = at[same]
    left = np.flatnonzero(found < 0)
    if len(left):
        keys = (rows + 0.0, wanted[left] + 0.0)  # no -0, which is the same number in other bits
        equal: dict[bytes, list[int]] = {}
        for frame, row in enumerate(keys[0]):
            equal.setdefault(row.tobytes(), []).append(frame)
        for place, row in zip(left.tolist(), keys[1], strict=True):
            choices = equal.get(row.tobytes(), [-1])
            later = bisect_right(choices, int(found[place - 1])) if place else 0
            found[place] = choices[later if later < len(choices) else 0]
    return found
