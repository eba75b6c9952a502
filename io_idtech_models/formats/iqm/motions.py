"""Animations of an IQM: slices of its frames to motions, and back.

Games know frames by their numbers. So an animation stays where it was while that is possible: all of the source are
there, as long as they were; new ones come behind. Frames that no animation has stay, too, then.

**Channels.** A joint has ten: translation x y z, rotation x y z w, scale x y z, relative to its parent, scale first. A
channel is offset + code x scale, of 16 bits, if its bit in the mask is set, else the offset. All animations of a file
share this table. So it stays the source's for every channel whose numbers it can still hold, and its codes stay; a
channel that leaves it gets a range of its own (the iqm compiler: the offset is the least, the scale the extent in 65535
parts), and all its codes anew.

Letters in shapes: F frames of the file, J joints.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.joint_scales import as_inherited, stretches, warn_of_shear, with_rest_scale, without_rest_scale
from ...model.records import pack_names, unpack_names
from ...model.skeletal import Animation, AnimationSource, Scales, Skeleton
from ...model.source import Facts
from ...reporting import listed, plural
from ..common.records import Wanted, all_fit, as_bytes, finite, passes, records_of, sound
from .channels import PARTS, Known, decode_frames, encode_frames, join_channels, split_channels, spread
from .file import ANIM, BOUNDS, CHANNELS, JOINT, LOOP, POSE, Iqm, TextWriter, channels_of, check_joints, name_at

log = logging.getLogger(__name__)

FORMAT = "iqm"
Doubles = NDArray[np.float64]
SAME_REST = 1e-4  # of a joint's stretch at rest: no scale that anyone sets is closer
NO_RECORD = -1  # the number of all frames of a file that lists no animation
NEW = -2  # of an animation that the file had not


def to_animations(iqm: Iqm, name: str, skeleton: Skeleton | None, facts: Facts) -> list[Animation]:
    """Return the animations of a file; those of one without joints hold what joints are scaled at rest.

    `facts` are the file's, for those that have nobody else who keeps them.
    """
    poses, found = iqm.poses, []
    slices = [(int(a["first_frame"]), int(a["num_frames"])) for a in iqm.anims]
    named = [name_at(iqm.text, int(anim["name"])) for anim in iqm.anims]
    rates, loops = finite(iqm.anims["framerate"]).tolist(), (iqm.anims["flags"] & LOOP != 0).tolist()
    numbers = list(range(len(slices)))
    if not slices and len(iqm.frames):
        slices, named, rates, loops, numbers = [(0, len(iqm.frames))], [name], [0.0], [False], [NO_RECORD]
    for number, (first, count), written, rate, loop in zip(numbers, slices, named, rates, loops, strict=True):
        if not count or not len(poses):
            continue
        codes = iqm.frames[first : first + count]
        own: Facts = {"poses": as_bytes(poses), "codes": codes, "index": np.array([number], np.int32)} | facts
        called = written or f"{name}{number}"
        own |= {"anims": as_bytes(iqm.anims), "called": pack_names([called])}
        if len(iqm.bounds):
            own["bounds"] = as_bytes(iqm.bounds[first : first + count])
        made = _animation(called, poses, codes, max(rate, 0.0), own)
        if skeleton is not None:
            made.joint_names, made.parents = list(skeleton.names), skeleton.parents.copy()
        made.loops = loop
        if len(iqm.bounds):
            made.bounds = np.stack([finite(iqm.bounds[n][first : first + count]) for n in ("min", "max")], axis=1)
            made.bounds = made.bounds.astype(np.float64)
        found.append(made if skeleton is None else without_rest_scale(made, skeleton))
    return found


def _animation(name: str, poses: NDArray[Any], codes: NDArray[Any], rate: float, facts: Facts) -> Animation:
    places, turns, scales = split_channels(decode_frames(poses, codes))
    frames, joints = places.shape[:2]
    parents, nobody = poses["parent"].astype(np.int32), np.zeros(joints, np.bool_)
    names = [""] * joints
    source = AnimationSource(FORMAT, names, parents, places.copy(), turns.copy(), rate, facts, scales.copy())
    hints = np.tile(np.arange(frames, dtype=np.int32)[:, None, None], (1, joints, len(PARTS)))
    made = Animation(name, names, parents.copy(), places, turns, rate, np.zeros((frames, 2, 3)), source, hints)
    made.source_joints, made.scales = np.arange(joints, dtype=np.int32), Scales(scales, nobody, True)
    made.holds_rest_scale = True
    return made


@dataclass(eq=False)
class Frames:
    """What comes of animations: the lumps that hold them."""

    poses: NDArray[Any]  # POSE (J,)
    anims: NDArray[Any]  # ANIM (anims,)
    codes: NDArray[np.uint16]  # (F, channels)
    bounds: NDArray[Any]  # BOUNDS (F,)
    changed: NDArray[np.bool_]  # (F,) frames whose bounds are not the source's
    channels: Doubles  # (F, J, CHANNELS)


def _fits(source: AnimationSource) -> bool:
    """Tell whether the facts are what `to_animations` writes: a .blend can come from a stranger."""
    frames, joints = source.positions.shape[:2]
    wanted: Wanted = {
        "poses": (POSE, (joints,)), "codes": ("u2", (frames, -1)), "index": ("i4", (1,)), "anims": (ANIM, (-1,)),
        "called": ("u1", (-1,)),
    }  # fmt: skip
    if not all_fit(source.facts, wanted) or source.scales is None:
        return False
    poses = records_of(source.facts, "poses", POSE)
    whole = passes(check_joints, poses, "pose", ("offset", "scale"))
    if "bounds" in source.facts and not all_fit(source.facts, {"bounds": (BOUNDS, (frames,))}):
        return False
    if "rest" in source.facts and not all_fit(source.facts, {"rest": ("f8", (joints, 3, 3))}):
        return False
    return bool(whole and int(channels_of(poses).sum()) == source.facts["codes"].shape[1])


def source_of(animation: Animation) -> AnimationSource | None:
    """Return an animation's source if it is an IQM, and sound."""
    source = animation.source_of(FORMAT)
    return source if source is not None and _fits(source) else None


@dataclass(eq=False)
class Origin:
    """The file that animations, or their model, came from, as far as the present joints are its."""

    facts: Facts
    joints: NDArray[np.int64]  # (J,) which joint of it each is, or -1

    @property
    def anims(self) -> NDArray[Any]:
        """Return its animations, ANIM (anims,)."""
        found: NDArray[Any] = records_of(self.facts, "anims", ANIM)
        return found

    @property
    def num_frames(self) -> int:
        """Return how many frames it has."""
        return int(self.facts["num_frames"][0])

    @property
    def spare(self) -> NDArray[np.int64]:
        """Return its frames that no animation has, (n,)."""
        return self.facts["spare_frames"].astype(np.int64)

    def same_parents(self, parents: NDArray[Any]) -> bool:
        """Tell whether joints are the file's, in its order, and hang on one another as there: (J,)."""
        joints, poses = records_of(self.facts, "joints", JOINT), records_of(self.facts, "poses", POSE)
        above = joints["parent"] if len(joints) else poses["parent"]
        return np.array_equal(self.joints, np.arange(len(poses))) and np.array_equal(parents, above)

    def poses(self) -> NDArray[Any]:
        """Return the poses of the present joints, POSE (J,); of those that are new, nothing."""
        found = np.zeros(len(self.joints), POSE)
        written = records_of(self.facts, "poses", POSE)
        known = (self.joints >= 0) & (self.joints < len(written))
        found[known] = written[self.joints[known]]
        return found


@dataclass(eq=False)
class _Part:
    """An animation on its way into a file."""

    animation: Animation
    number: int  # the animation of the file that it was; or NO_RECORD, or NEW
    source: AnimationSource | None
    channels: Doubles  # (F, J, CHANNELS)
    codes: NDArray[np.int32]  # (F, J, CHANNELS)
    holds: NDArray[np.bool_]  # (F, J, CHANNELS) where the codes are still due


def from_animations(
    animations: Sequence[Animation], skeleton: Skeleton, text: TextWriter, origin: Origin | None
) -> Frames:
    """Return what comes of animations, in the order in which the file has them, or that a modeller gave them.

    They begin where the source's do if all of these are there, and as long; else they lie one after another.
    """
    table = None if origin is None or not len(origin.facts["poses"]) else origin.poses()
    if not animations:
        return _without_animations(skeleton, origin, table)
    rest, parents = stretches(skeleton), animations[0].parents
    parts = [_part(animation, number, table, rest) for animation, number in _ordered(animations, origin)]
    anims: dict[int, Any] = {}
    stays = _stay(parts, origin)
    if origin is not None and stays is not None:
        firsts, spare = stays
        every = _all_frames(parts, firsts, spare, origin, len(parents))
        if all(every.still_show(first, part) for first, part in zip(firsts, parts, strict=True)):
            anims = dict(enumerate(origin.anims))
        else:  # two animations shared frames, and are no longer alike there
            stays = None
    if stays is None:
        firsts, spare = _one_after_another(parts), np.zeros(0, np.int64)
        every = _all_frames(parts, firsts, spare, origin, len(parents))
    if origin is not None:
        _warn_of_moved(parts, firsts, origin, len(spare))
    places: dict[int, int] = {}
    for first, part in zip(firsts, parts, strict=True):
        if part.number != NO_RECORD:
            place = part.number if part.number in anims else len(anims)
            anims[place], places[id(part.animation)] = _record(part, first, text, origin), place
    given = [places[id(each)] for each in animations if each.in_place and id(each) in places]
    order = given if len(given) == len(anims) else list(anims)
    return _coded(every, parents, [anims[place] for place in order], origin, table)


def _without_animations(skeleton: Skeleton, origin: Origin | None, table: NDArray[Any] | None) -> Frames:
    """Return what comes of no animations: poses and frames of a source that had none either, else nothing."""
    stays, parents = _stay([], origin), skeleton.parents[: 0 if table is None else len(table)]
    anims = [] if origin is None or stays is None else list(origin.anims)
    if origin is None or stays is None or len(parents) != len(origin.facts["poses"]):
        return _coded(_all_frames([], [], np.zeros(0, np.int64), None, 0), parents[:0], anims, origin, table)
    found = _coded(_all_frames([], *stays, origin, len(parents)), parents, anims, origin, table)
    if not len(found.codes):
        found.codes = np.zeros((0, origin.facts["spare_codes"].shape[1]), np.uint16)
    return found


def _coded(
    every: _AllFrames, parents: NDArray[Any], anims: list[Any], origin: Origin | None, table: NDArray[Any] | None
) -> Frames:
    """Return the lumps of all frames of a file, in the source's codes where they hold."""
    known = None
    if origin is not None and table is not None and len(table) == len(parents):
        known = Known(table, origin.joints >= 0, every.codes, every.holds)
    poses, written = encode_frames(every.channels, parents, known)
    if origin is not None and origin.same_parents(parents):
        poses["parent"] = origin.poses()["parent"]
    return Frames(poses, np.array(anims, ANIM), written, every.bounds, every.changed, every.channels)


def _ordered(animations: Sequence[Animation], origin: Origin | None) -> list[tuple[Animation, int]]:
    """Return animations with the number of the file's that each was: those first, in its order, then the new ones."""
    numbers = [_number(animation, origin) for animation in animations]
    claimed: dict[int, int] = {}
    for place, number in enumerate(numbers):
        source = source_of(animations[place])
        named = source is not None and _called(source) == animations[place].name
        if number != NEW and (number not in claimed or named):
            claimed[number] = place
    numbers = [number if claimed.get(number) == place else NEW for place, number in enumerate(numbers)]
    order = sorted(range(len(numbers)), key=lambda place: (numbers[place] == NEW, numbers[place], place))
    return [(animations[place], numbers[place]) for place in order]


def _called(source: AnimationSource) -> str:
    """Return what import called an animation."""
    return next(iter(unpack_names(source.facts["called"])), "")


def _number(animation: Animation, origin: Origin | None) -> int:
    """Return the number of the file's animation that one was, NEW if it is of another file."""
    source = source_of(animation)
    if source is None or origin is None or not np.array_equal(source.facts["anims"], origin.facts["anims"]):
        return NEW
    number = int(source.facts["index"][0])
    return number if NO_RECORD <= number < len(origin.anims) and (number >= 0 or not len(origin.anims)) else NEW


def _part(animation: Animation, number: int, table: NDArray[Any] | None, rest: Doubles) -> _Part:
    """Return an animation as channels: the source's own numbers and codes where a joint has a pose of the source."""
    source = sound(animation.source_of(FORMAT), _fits, animation.name)
    moving = as_inherited(animation)
    sheared = np.zeros(moving.positions.shape[:2], np.bool_)
    if not moving.holds_rest_scale:
        moving, sheared = with_rest_scale(moving, rest)
    scales = np.ones(moving.positions.shape) if moving.scales is None else moving.scales.values
    channels = join_channels(moving.positions, moving.rotations, scales)
    codes, holds = np.zeros(channels.shape, np.int32), np.zeros(channels.shape, np.bool_)
    part = _Part(animation, number, source, channels, codes, holds)
    hints = moving.source_frames
    if source is None or hints is None or len(animation.parents) != len(rest):
        warn_of_shear(animation, sheared)
        return part
    poses, joints = records_of(source.facts, "poses", POSE), animation.joints_in(source)
    decoded, coded = decode_frames(poses, source.facts["codes"]), spread(poses, source.facts["codes"])
    alike = (joints >= 0) & (_same_rest(source, joints, animation.parents, rest) | animation.holds_rest_scale)
    same, known = _same_channels(table, poses, joints), np.ones_like(sheared)
    for which, own in zip(range(hints.shape[2]), PARTS, strict=False):
        frames = hints[..., which]
        at, of = np.nonzero((frames >= 0) & (frames < len(decoded)) & alike)
        if len(at):
            from_source = frames[at, of], joints[of], own
            channels[at, of, own], part.codes[at, of, own] = decoded[from_source], coded[from_source]
            part.holds[at, of, own] = same[of, own]
        known[~((frames >= 0) & alike)] = False
    warn_of_shear(animation, sheared & ~known)
    return part


def _same_rest(
    source: AnimationSource, joints: NDArray[np.int64], parents: NDArray[Any], rest: Doubles
) -> NDArray[np.bool_]:
    """Tell which joints (J,), and their parents, do to their space at rest what they did in the source."""
    before = source.facts["rest"] if "rest" in source.facts else np.tile(np.eye(3), (len(source.parents), 1, 1))
    size = np.maximum(np.abs(rest).max(axis=(1, 2), initial=0.0), 1e-6)
    same = np.abs(before[joints] - rest).max(axis=(1, 2), initial=0.0) <= SAME_REST * size
    return np.asarray(same & ((parents < 0) | same[parents]))


def _same_channels(table: NDArray[Any] | None, poses: NDArray[Any], joints: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which channels (J, CHANNELS) the file's table codes as the source of an animation does."""
    if table is None or len(table) != len(joints):
        return np.zeros((len(joints), CHANNELS), np.bool_)
    own = poses[joints]
    same = channels_of(own) == channels_of(table)
    for name in ("offset", "scale"):
        same &= own[name].view(np.int32) == table[name].view(np.int32)
    return np.asarray(same)


def _stay(parts: list[_Part], origin: Origin | None) -> tuple[list[int], NDArray[np.int64]] | None:
    """Return where animations begin in the file, and its spare frames, while all of its are there and as long."""
    if origin is None:
        return None
    anims = origin.anims
    firsts = {n: int(anim["first_frame"]) for n, anim in enumerate(anims)}
    lengths = {n: int(anim["num_frames"]) for n, anim in enumerate(anims)}
    if not len(anims):
        firsts, lengths = {NO_RECORD: 0}, {NO_RECORD: origin.num_frames}
    if not len(origin.facts["poses"]):
        lengths = {}
    present = {part.number: part.animation.num_frames for part in parts if part.number != NEW}
    if present != {number: length for number, length in lengths.items() if length}:
        return None
    end, found = origin.num_frames, []
    for part in parts:
        found.append(firsts.get(part.number, end))
        end += part.animation.num_frames if part.number == NEW else 0
    return found, origin.spare


def _one_after_another(parts: list[_Part]) -> list[int]:
    ends = np.cumsum([0, *(part.animation.num_frames for part in parts)]).tolist()
    return [int(end) for end in ends[:-1]]


def _warn_of_moved(parts: list[_Part], firsts: list[int], origin: Origin, spare: int) -> None:
    """Name animations that begin at another frame than they did: games count frames through the file."""
    moved = [
        f"'{part.animation.name}' at {first}, was at {origin.anims['first_frame'][part.number]}"
        for part, first in zip(parts, firsts, strict=True)
        if part.number >= 0 and first != origin.anims["first_frame"][part.number]
    ]
    if moved:
        log.warning("animations begin at other frames of the file now: %s", listed(moved, quoted=False))
    if spare < len(origin.spare):
        log.warning("left out: %s that no animation has", plural(len(origin.spare) - spare, "frame"))


@dataclass(eq=False)
class _AllFrames:
    """All frames of a file, before they are coded."""

    channels: Doubles  # (F, J, CHANNELS)
    codes: NDArray[np.int32]  # (F, J, CHANNELS)
    holds: NDArray[np.bool_]  # (F, J, CHANNELS) where the codes are still due
    bounds: NDArray[Any]  # BOUNDS (F,)
    changed: NDArray[np.bool_]  # (F,) whose bounds are not the source's

    def still_show(self, first: int, part: _Part) -> bool:
        """Tell whether frames, once all animations are written there, are still those of one."""
        return np.array_equal(self.channels[first : first + len(part.channels)], part.channels)


def _all_frames(
    parts: list[_Part], firsts: list[int], spare: NDArray[np.int64], origin: Origin | None, joints: int
) -> _AllFrames:
    """Return all frames of a file: those of the source that no animation has, and over these the animations."""
    total = max([first + len(part.channels) for first, part in zip(firsts, parts, strict=True)] + [0])
    total = max(total, int(spare.max(initial=-1)) + 1)
    shape = (total, joints, CHANNELS)
    channels, codes, holds = np.zeros(shape), np.zeros(shape, np.int32), np.zeros(shape, np.bool_)
    bounds, changed = np.zeros(total, BOUNDS), np.ones(total, np.bool_)
    if origin is not None and "spare_bounds" in origin.facts and len(spare):
        bounds[spare], changed[spare] = records_of(origin.facts, "spare_bounds", BOUNDS), False
    if len(spare) and origin is not None and len(origin.facts["poses"]):
        known, written = origin.joints >= 0, records_of(origin.facts, "poses", POSE)
        own, spare_codes = origin.joints[known], origin.facts["spare_codes"]
        places = np.ix_(spare, np.flatnonzero(known))
        channels[places] = decode_frames(written, spare_codes)[:, own]
        codes[places], holds[places] = spread(written, spare_codes)[:, own], True
    for first, part in zip(firsts, parts, strict=True):
        place = slice(first, first + len(part.channels))
        channels[place], codes[place], holds[place] = part.channels, part.codes, part.holds
        bounds[place], changed[place] = _own_bounds(part)
    return _AllFrames(channels, codes, holds, bounds, changed)


def _own_bounds(part: _Part) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the bounds of an animation's frames, BOUNDS (F,), and of which they are not the source's, (F,)."""
    animation, source, hints = part.animation, part.source, part.animation.source_frames
    found, changed = np.zeros(len(part.channels), BOUNDS), np.ones(len(part.channels), np.bool_)
    whole = hints is not None and hints.shape[2] == len(PARTS) and (animation.joints_in(source) >= 0).all()
    if source is None or hints is None or not whole or not animation.keep_bounds or not hints.size:
        return found, changed
    frames = hints.reshape(len(hints), -1)
    same = (frames == frames[:, :1]).all(axis=1) & (frames[:, 0] >= 0) & (frames[:, 0] < len(source.positions))
    if "bounds" in source.facts:
        found[same] = records_of(source.facts, "bounds", BOUNDS)[frames[same, 0]]
        changed[same] = False
    return found, changed


def _record(part: _Part, first: int, text: TextWriter, origin: Origin | None) -> Any:
    """Return the record of an animation, ANIM."""
    record, animation = np.zeros((), ANIM), part.animation
    if origin is None or part.number < 0 or part.source is None:
        record["name"], record["framerate"] = text.offset(animation.name), animation.frame_rate
    else:
        record = origin.anims[part.number].copy()
        if _called(part.source) != animation.name:
            record["name"] = text.offset(animation.name, int(record["name"]))
        if max(float(finite(record["framerate"])), 0.0) != animation.frame_rate:
            record["framerate"] = animation.frame_rate
    record["first_frame"], record["num_frames"] = first, animation.num_frames
    record["flags"] = record["flags"] & ~np.uint32(LOOP) | np.uint32(LOOP if animation.loops else 0)
    return record
