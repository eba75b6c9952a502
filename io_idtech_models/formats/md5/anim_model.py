"""md5anim structs to an animation and back; the file itself is `anim_file`.

What a file has that a pose does not say comes back: flags, starts, base frame, and bounds, which in real files are far
off the meshes. A channel is stored in frames once it leaves the base frame's value.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import most_frequent
from ...model.bounds import grown, still_hold, union
from ...model.records import pack_names
from ...model.skeletal import Animation, AnimationSource, changed_frames
from ...model.source import Facts
from ..common.records import Wanted, all_fit, warn_damaged
from .anim_file import CHANNELS, Md5Anim, stored_channels
from .common import command_line_of, could_be_read, full_quaternions, short_quaternions

log = logging.getLogger(__name__)

FORMAT = "md5anim"
# A channel that is no farther from the base frame stays there: other programs' rounding. Units and parts of the
# coordinate; components of a quaternion; a half turn's w, whose sign says nothing.
SAME_PLACE, SAME_PART, SAME_TURN, NO_W = 1e-4, 1e-6, 1e-5, 1e-6


def to_model(anim: Md5Anim, name: str = "") -> Animation:
    """Return the animation of a file, its source included; inverse of `from_model`.

    Raises:
        FormatError: the orientation of a joint is no rotation.
    """
    channels = anim.channels()
    rotations = full_quaternions(channels[..., 3:], anim.names, "orientation")
    facts: Facts = {
        "flags": anim.flags,
        "starts": anim.starts,
        "base": anim.base,
        "bounds": anim.bounds,
        "components": anim.components,
    }
    if anim.command_line is not None:
        facts["command_line"] = pack_names([anim.command_line])
    positions = np.ascontiguousarray(channels[..., :3])
    rate = float(anim.frame_rate)
    source = AnimationSource(FORMAT, list(anim.names), anim.parents, positions, rotations, rate, facts)
    frames, joints = channels.shape[:2]
    return Animation(
        name,
        list(anim.names),
        anim.parents.copy(),
        positions.copy(),
        rotations.copy(),
        rate,
        _filled_bounds(anim.bounds, frames),
        source,
        np.tile(np.arange(frames, dtype=np.int32)[:, None, None], (1, joints, 2)),
        np.arange(joints, dtype=np.int32),
    )


def _filled_bounds(bounds: NDArray[np.float64], frames: int) -> NDArray[np.float64]:
    """Return bounds for every frame, (F, 2, 3): those that the file lacks are its last."""
    if not len(bounds):
        return np.zeros((frames, 2, 3))
    return np.asarray(bounds[np.minimum(np.arange(frames), len(bounds) - 1)])


def _fitting(source: AnimationSource) -> NDArray[np.float64] | None:
    """Return a source's numbers in every frame (F, J, 6), None if the facts are not what `to_model` writes.

    A .blend can come from a stranger.
    """
    frames, joints = source.positions.shape[:2]
    facts = source.facts
    shapes: Wanted = {"flags": ("i4", (joints,)), "starts": ("i4", (joints,)), "base": ("f8", (joints, CHANNELS))}
    more: Wanted = {"bounds": ("f8", (-1, 2, 3)), "components": ("f8", (frames, -1))}
    if not all_fit(facts, shapes | more):
        return None
    bits = stored_channels(facts["flags"]).sum(axis=1)
    inside = (facts["starts"] >= 0) & (facts["starts"] + bits <= facts["components"].shape[1])
    if not ((facts["flags"] >= 0) & (facts["flags"] < 1 << CHANNELS) & (inside | (bits == 0))).all():
        return None
    numbers = (facts[name] for name in ("flags", "starts", "bounds", "base", "components"))
    written = Md5Anim(None, 0, source.joint_names, source.parents, *numbers).channels()
    return written if could_be_read(facts, written[..., 3:]) else None


def from_model(animation: Animation) -> Md5Anim:
    """Return the structs of an animation; inverse of `to_model`."""
    source, written = _usable_source(animation)
    channels = _channels(animation, source, written)
    base = channels[0].copy()
    flags: NDArray[np.int32] = np.zeros(len(base), np.int32)
    starts: NDArray[np.int32] = np.zeros(len(base), np.int32)
    command_line = command_line_of(source)
    joints = animation.joints_in(source)
    known = joints >= 0
    if source is not None:
        own = joints[known]
        base[known], flags[known], starts[known] = (source.facts[n][own] for n in ("base", "flags", "starts"))
    wanted = flags | _leaving(channels, base)
    components: NDArray[np.float64] = np.zeros((len(channels), 0))
    fresh: NDArray[np.bool_] = np.ones(len(base), np.bool_)
    had = known & (flags != 0)
    complete = source is not None and len(np.unique(joints[known])) == len(source.joint_names)
    if source is not None and complete and np.array_equal(wanted[known], flags[known]):
        components, fresh = source.facts["components"][_frames_of(animation)], ~known
    starts, count = _lay_out(wanted, starts, fresh, had, components.shape[1])
    components = np.concatenate((components, np.zeros((len(channels), count - components.shape[1]))), axis=1)
    anim = Md5Anim(
        command_line, _whole_rate(animation), list(animation.joint_names), animation.parents, wanted, starts,
        _encode_bounds(animation, source), base, components,
    )  # fmt: skip
    places = anim.stored()
    components[:, places[2]] = channels[:, places[0], places[1]]
    return anim


def _usable_source(animation: Animation) -> tuple[AnimationSource | None, NDArray[np.float64]]:
    """Return the source, if it is of this format and whole, and its numbers in every frame (F, J, 6)."""
    source = animation.source_of(FORMAT)
    written = None if source is None else _fitting(source)
    if written is not None:
        return source, written
    if source is not None:
        warn_damaged(animation.name)
    return None, np.zeros((0, 0, CHANNELS))


def _whole_rate(animation: Animation) -> int:
    rate = round(animation.frame_rate)
    if abs(rate - animation.frame_rate) > 1e-3:
        text = "'%s' has %g frames per second, MD5 only whole numbers: written as %d"
        log.warning(text, animation.name, animation.frame_rate, rate)
    return rate


def _channels(
    animation: Animation, source: AnimationSource | None, written: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the channels (F, J, 6): the source's own numbers, `written`, where a joint has a pose of the source."""
    joints, hints = animation.joints_in(source), animation.source_frames
    shape, frames = (*animation.positions.shape[:2], CHANNELS), np.arange(len(written))
    same = hints is not None and written.shape == shape and np.array_equal(joints, np.arange(len(joints)))
    if same and np.all(hints == frames[:, None, None]):  # as mostly: nothing was edited
        return written
    channels = np.concatenate((animation.positions, short_quaternions(animation.rotations)), axis=-1)
    _align_half_turns(channels, animation.rotations)
    if source is None or hints is None:
        return channels
    hinted = (hints >= 0) & (hints < len(written)) & (joints >= 0)[:, None]
    for part, which in enumerate((slice(0, 3), slice(3, 6))):  # position and rotation
        at, places = np.nonzero(hinted[..., part])
        chosen = hints[at, places, part]
        channels[at, places, which] = written[chosen, joints[places], which]
    return channels


def _align_half_turns(channels: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
    """Give half turns in channels (F, J, 6), whose sign is rounding, that of the joint's in the first frame."""
    turns, first = channels[..., 3:], channels[:1, :, 3:]
    away = (np.abs(rotations[..., 0]) <= NO_W) & ((turns * first).sum(axis=-1) < 0)
    turns[away] *= -1.0


def _leaving(channels: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the flags (J,) of channels that are not the base frame's in every frame."""
    tolerance = np.full(base.shape, SAME_TURN)
    tolerance[:, :3] = np.maximum(SAME_PLACE, SAME_PART * np.abs(base[:, :3]))
    moved = (np.abs(channels - base) > tolerance).any(axis=0)
    flags: NDArray[np.int32] = (moved << np.arange(CHANNELS)).sum(axis=1).astype(np.int32)
    return flags


def _lay_out(
    flags: NDArray[np.int32], starts: NDArray[np.int32], fresh: NDArray[np.bool_], had: NDArray[np.bool_], first: int
) -> tuple[NDArray[np.int32], int]:
    """Return where each joint's components start, (J,), and how many there are.

    Those of `fresh` joints follow the `first` ones that stay: in the order of `starts` where a joint `had` some, then
    the others.
    """
    bits = stored_channels(flags).sum(axis=1)
    order = np.lexsort((np.arange(len(flags)), np.where(had, starts, 0), ~had))
    order = order[fresh[order]]
    ends = first + np.cumsum(bits[order])
    laid = starts.copy()
    laid[order] = ends - bits[order]
    count = int(ends[-1]) if len(ends) else first
    still = bits == 0
    laid[still] = np.where(starts[still] < count, starts[still], 0)  # games want a number below the count there too
    return laid, count


def _frames_of(animation: Animation) -> NDArray[np.int64]:
    """Return the source's frame (F,) that each frame is most like: that of most joints, else its own number's."""
    frames = np.arange(animation.num_frames)
    assert animation.source is not None
    last = len(animation.source.positions) - 1
    if animation.source_frames is None or not animation.source_frames.size:
        return np.asarray(np.minimum(frames, last))
    best = most_frequent(animation.source_frames.reshape(len(frames), -1), last + 1)
    return np.asarray(np.clip(np.where(best >= 0, best, frames), 0, last))


def _encode_bounds(animation: Animation, source: AnimationSource | None) -> NDArray[np.float64]:
    """Return the bounds: the source's in frames that are one of its own; elsewhere the present, grown to hold those.

    A source with more or fewer bounds than frames gives them as they are, while no frame changed.
    """
    if source is None or not animation.keep_bounds:
        return animation.bounds
    stored: NDArray[np.float64] = source.facts["bounds"]
    changed, frames = changed_frames(animation), _frames_of(animation)
    bounds, every = animation.bounds.copy(), np.arange(len(frames))
    present = frames < len(stored)
    like = stored[np.minimum(frames, len(stored) - 1)] if len(stored) else bounds
    hold = still_hold(animation, every, like) & ~changed
    if hold.all() and np.array_equal(frames, np.arange(len(source.positions))):
        return stored
    wider = np.where(changed[:, None, None], union(bounds, like), grown(animation, every, like))
    bounds[present] = np.where(hold[:, None, None], like, wider)[present]
    return bounds
