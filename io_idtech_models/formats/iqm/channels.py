"""Channels of IQM's joints as codes: whole steps from an offset, and the source's codes where they hold.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from .file import CHANNELS, POSE, channels_of

Doubles = NDArray[np.float64]
MOST = 65535  # the largest code
PARTS = slice(0, 3), slice(3, 7), slice(7, 10)  # of the channels: translation, rotation, scale
ORDER = np.array([3, 0, 1, 2])  # of a quaternion's w, x, y, z among the file's
# Rounding of other programs: what is no farther from a channel that stands still stands still, too. Parts of the
# largest coordinate; components of a quaternion; a scale's.
STILL_PART, STILL_TURN, STILL_SCALE = 2e-6, 1e-5, 1e-5
SCALE_STEP = 65536.0  # scales are written in such parts, as Blender's exporter does
LEAST_RANGE = 1e-10  # of a channel that is not one number (the iqm compiler)


def decode_frames(poses: NDArray[Any], codes: NDArray[Any]) -> Doubles:
    """Return the channels (F, J, CHANNELS) of codes (F, channels)."""
    found = np.repeat(poses["offset"].astype(np.float64)[None], len(codes), axis=0)
    joints, which = np.nonzero(channels_of(poses))
    found[:, joints, which] += codes * poses["scale"].astype(np.float64)[joints, which]
    return found


def spread(poses: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the codes (F, channels) of channels by their joints, (F, J, CHANNELS), 0 where a channel has none."""
    found = np.zeros((len(codes), len(poses), CHANNELS), np.int32)
    found[:, channels_of(poses)] = codes
    return found


def split_channels(channels: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return places (F, J, 3), unit quaternions (F, J, 4) and scales (F, J, 3) of channels."""
    turns = channels[..., PARTS[1]][..., ORDER]
    lengths = steady.lengths(turns)[..., None]
    turns = np.where(lengths > 0, turns / np.where(lengths > 0, lengths, 1.0), np.array([1.0, 0.0, 0.0, 0.0]))
    return np.ascontiguousarray(channels[..., PARTS[0]]), turns, np.ascontiguousarray(channels[..., PARTS[2]])


def join_channels(places: Doubles, turns: Doubles, scales: Doubles) -> Doubles:
    """Return channels (F, J, CHANNELS); inverse of `split_channels`. Quaternions have w at most 0, as all writers'."""
    signed = turns * np.where(turns[..., :1] > 0, -1.0, 1.0)
    signed = np.concatenate((signed[..., 1:], signed[..., :1]), axis=-1)
    return np.concatenate((places, signed, np.rint(scales * SCALE_STEP) / SCALE_STEP), axis=-1)


@dataclass(eq=False)
class Known:
    """What the source says of channels on their way into a file."""

    poses: NDArray[Any]  # POSE (J,)
    joints: NDArray[np.bool_]  # (J,) it has
    codes: NDArray[np.int32]  # (F, J, CHANNELS)
    holds: NDArray[np.bool_]  # (F, J, CHANNELS) where the source's code still says the value


def encode_frames(
    channels: Doubles, parents: NDArray[Any], known: Known | None
) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Return poses, POSE (J,), and codes (F, channels); inverse of `decode_frames`."""
    poses = np.zeros(channels.shape[1], POSE)
    codes = np.zeros(channels.shape, np.int32)
    fits = np.zeros(channels.shape[1:], np.bool_)
    slack = _slack(channels)
    if known is not None:
        poses[known.joints] = known.poses[known.joints]
        fits = _codes_fit(channels, known, slack) & known.joints[:, None]
        offset, scale = (known.poses[name].astype(np.float64) for name in ("offset", "scale"))
        with np.errstate(all="ignore"):
            fresh = np.where(scale != 0, (channels - offset) / np.where(scale != 0, scale, 1.0), 0.0)
        fresh = np.clip(np.rint(np.nan_to_num(fresh)), 0, MOST).astype(np.int32)
        codes = np.where(known.holds, known.codes, fresh)
    mask = (channels_of(poses) & fits) if len(poses) else fits
    _encode_anew(channels, poses, codes, mask, ~fits, slack)
    poses["mask"] = (mask.astype(np.uint32) << np.arange(CHANNELS, dtype=np.uint32)).sum(axis=1)
    if known is not None and len(poses):  # bits that name no channel
        poses["mask"] |= np.where(known.joints, known.poses["mask"] >> CHANNELS << CHANNELS, 0).astype(np.uint32)
    poses["parent"] = parents
    return poses, codes[:, mask].astype(np.uint16)


def _slack(channels: Doubles) -> Doubles:
    """Return how far a channel may be off what stands still, (CHANNELS,)."""
    largest = float(np.abs(channels[..., PARTS[0]]).max(initial=0.0))
    return np.repeat([STILL_PART * largest, STILL_TURN, STILL_SCALE], [3, 4, 3])


def _codes_fit(channels: Doubles, known: Known, slack: Doubles) -> NDArray[np.bool_]:
    """Tell which of the source's channels can hold all numbers that are not its own, (J, CHANNELS)."""
    offset, scale = (known.poses[name].astype(np.float64) for name in ("offset", "scale"))
    bits = channels_of(known.poses)
    ends = offset + np.where(bits, scale * MOST, 0.0)
    off = np.where(bits, np.maximum(np.abs(scale) / 2, slack * 0.1), slack)
    low, high = np.minimum(offset, ends) - off, np.maximum(offset, ends) + off
    inside = (channels >= low) & (channels <= high)
    return np.asarray((inside | known.holds).all(axis=0))


def _encode_anew(
    channels: Doubles,
    poses: NDArray[Any],
    codes: NDArray[np.int32],
    mask: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    slack: Doubles,
) -> None:
    """Give the `wanted` channels (J, CHANNELS) a range that holds their numbers, and all codes in it."""
    joints, which = np.nonzero(wanted)
    values = channels[:, joints, which]
    if not values.size:
        return
    low, high = values.min(axis=0), values.max(axis=0)
    moving = high - low > np.maximum(LEAST_RANGE, slack[which])
    offset = np.where(moving, low, values[0]).astype(np.float32)
    scale = np.where(moving, (high - low) / MOST, 0.0).astype(np.float32)
    poses["offset"][joints, which], poses["scale"][joints, which] = offset, scale
    mask[joints, which] = moving
    steps = np.where(scale > 0, scale.astype(np.float64), 1.0)
    found = np.clip(np.rint((values - offset) / steps), 0, MOST)
    codes[:, joints, which] = found
