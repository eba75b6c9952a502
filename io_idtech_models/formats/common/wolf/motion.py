"""Bones and frames of MDX and MDS to animations and back; two of them as the game mixes them, by `model.torso`."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model import steady, torso
from ....model.arrays import LARGEST
from ....model.skeletal import (
    Animation,
    AnimationSource,
    Traits,
)
from ....model.source import Facts
from ....model.transforms import chain, conjugate, multiply, rotate, unchain
from ....reporting import LimitError, listed
from ..records import as_bytes, encode_name, records_of
from .bones import BONE, NAME_SIZE, Kind, Moved, names_of, parents_of
from .frames import TURNED, Take, encode_frames, source_frames, turned_back
from .ways import coarse_directions, decode_rotations, decode_ways, fast_inverse_roots, fitted_lengths, mixing, sizes

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
STRETCH = 0.01  # units that a bone may be longer or shorter than the file's before it is worth a word
PART = 1e-6  # of a length: rounding, too
COARSE_PART = 1e-3  # likewise, of ways from a table: see `wolf.ways`
FITTED = 64  # frames of each animation that a length is fitted to
EARLY = 1e-6  # of a frame: rounding of a quotient of rates
MOST_TIMES = 60  # as many frames as the torso has: legs that play faster than that are no animation
FRAME_RATE = 15.0  # files have none; the rate of most of the games' rows


@dataclass(eq=False)
class Coded:
    """Bones and frames on their way into a file."""

    frames: NDArray[Any]  # frame_dtype(B) (F,)
    bones: NDArray[Any]  # BONE (B,)
    torso_parent: int
    source: AnimationSource | None  # of the first animation


def to_animation(file: Moved, kind: Kind, name: str, turned: NDArray[np.bool_], layout: Facts) -> Animation:
    """Return the animation of a file, its source included; inverse of `join`. See `frames.Take` about `turned` (B,)."""
    parents, names = parents_of(file), names_of(file)
    between = mixing(file.bones["torso_weight"])
    positions, rotations = _poses(file, kind, turned, between)
    frames, joints = len(file.frames), len(file.bones)
    infos = np.ascontiguousarray(file.frames["info"])
    facts: Facts = {
        "header": as_bytes(file.header),
        "bones": as_bytes(file.bones),
        "infos": as_bytes(infos),
        "angles": np.ascontiguousarray(file.frames["bones"]["angles"]),
        "ofs_angles": np.ascontiguousarray(file.frames["bones"]["ofs_angles"]),
    } | layout
    if turned.any():
        facts[TURNED] = turned.astype(np.uint8)
    source = AnimationSource(kind.name, names, parents, positions, rotations, FRAME_RATE, facts)
    return Animation(
        name,
        list(names),
        parents.copy(),
        positions.copy(),
        rotations.copy(),
        FRAME_RATE,
        _shown_bounds(infos),
        source,
        np.tile(np.arange(frames, dtype=np.int32)[:, None, None], (1, joints, 2)),
        np.arange(joints, dtype=np.int32),
        traits=traits_of(file),
        lengths=np.abs(file.bones["parent_dist"].astype(np.float64)) * sizes(between, kind.coarse),
    )


def part(animation: Animation, name: str, frames: range, frame_rate: float) -> Animation:
    """Return some frames of an animation that was just read as one of its own, with its own source."""
    source, which = animation.source, slice(frames.start, frames.stop)
    count = len(frames)
    own = None
    if source is not None:
        facts = dict(source.facts) | {n: source.facts[n][which] for n in ("infos", "angles", "ofs_angles")}
        own = replace(
            source, positions=source.positions[which], rotations=source.rotations[which], frame_rate=frame_rate,
            facts=facts,
        )  # fmt: skip
    joints = len(animation.joint_names)
    return replace(
        animation,
        name=name,
        positions=animation.positions[which],
        rotations=animation.rotations[which],
        frame_rate=frame_rate,
        bounds=animation.bounds[which],
        source=own,
        source_frames=np.tile(np.arange(count, dtype=np.int32)[:, None, None], (1, joints, 2)),
    )


def cut(file: Moved, frames: range) -> Any:
    """Return a file's structs with some of its frames alone: of thousands a row needs a few."""
    return replace(file, frames=file.frames[frames.start : frames.stop])  # type: ignore[type-var]


def traits_of(file: Moved) -> Traits:
    """Return what the file says of its bones beside their poses."""
    return Traits(
        np.ascontiguousarray(file.bones["torso_weight"], np.float32),
        np.ascontiguousarray(file.bones["flags"], np.int32),
        int(file.header["torso_parent"]),
    )


def _shown_bounds(infos: NDArray[Any]) -> Doubles:
    """Return low and high corners, (F, 2, 3), of frames' infos, whose order is that of no rule."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        corners = np.nan_to_num(infos["bounds"].astype(np.float64))
    return np.stack((corners.min(axis=1), corners.max(axis=1)), axis=1)


def _poses(
    file: Moved, kind: Kind, turned: NDArray[np.bool_], between: NDArray[np.bool_], frames: slice = slice(None)
) -> tuple[Doubles, Doubles]:
    """Return positions (F, B, 3) and rotations (F, B, 4) of some frames relative to the parent.

    `between` (B,) says which bones mix legs and torso.
    """
    parents = parents_of(file)
    chosen = file.frames[frames]
    codes, dists = chosen["bones"], file.bones["parent_dist"].astype(np.float64)
    turns = turned_back(decode_rotations(codes["angles"]), turned)
    positions = np.empty((*turns.shape[:2], 3))
    rotations = turns.copy()
    roots, children = np.flatnonzero(parents < 0), np.flatnonzero(parents >= 0)
    above = parents[children]
    positions[:, roots] = chosen["info"]["parent_offset"][:, None, :].astype(np.float64)
    ways = decode_ways(codes["ofs_angles"][:, children], between[children], kind.coarse) * dists[children, None]
    back = conjugate(turns[:, above])
    positions[:, children] = np.clip(rotate(back, ways), -LARGEST, LARGEST)
    rotations[:, children] = multiply(back, turns[:, children])
    return positions, rotations


def poses_of(
    file: Moved, kind: Kind, turned: NDArray[np.bool_], frames: slice = slice(None)
) -> tuple[Doubles, Doubles]:
    """Return positions (F, B, 3) and rotations (F, B, 4) in model space of some frames."""
    parents = parents_of(file)
    between = mixing(file.bones["torso_weight"])
    places, turns = chain(parents, *_poses(file, kind, turned, between, frames))
    return np.clip(places, -LARGEST, LARGEST), turns


def nothing_turned(count: int) -> NDArray[np.bool_]:
    """Return that of so many bones none is turned; see `frames.Take`."""
    return np.zeros(count, np.bool_)


def join(animations: list[Animation], kind: Kind, turned: NDArray[np.bool_]) -> Coded:
    """Return animations of one skeleton, one after another in one file, coded.

    Raises:
        LimitError: they differ in their bones, or have none.
    """
    first = animations[0]
    if not first.joint_names:
        raise LimitError(f"'{first.name}' has no bones: {kind.name.upper()} holds one or more")
    for other in animations[1:]:
        if other.joint_names != first.joint_names or not np.array_equal(other.parents, first.parents):
            raise LimitError(f"'{other.name}' has other bones than '{first.name}'")
    takes = [Take(animation, kind, turned) for animation in animations]
    if len(takes) == 1 and takes[0].is_source():
        lengths, frames = takes[0].source_lengths(), source_frames(takes[0])
    else:
        lengths = _lengths(takes)
        frames = np.concatenate([encode_frames(take, lengths) for take in takes])
    return Coded(frames, _encode_bones(takes[0], lengths), _torso_parent(takes[0]), takes[0].source)


def _torso_parent(take: Take) -> int:
    """Return the torso parent; the source's number while it means no bone there either."""
    traits = take.animation.traits
    found = -1 if traits is None else traits.torso_parent
    if found < 0 and take.source is not None:
        written = int(records_of(take.source.facts, "header", take.kind.header)["torso_parent"])
        if not 0 <= written < len(take.source.joint_names):
            return written
    return max(found, 0)


def _lengths(takes: list[Take]) -> Doubles:
    """Return the one length (B,) that each bone has in all frames, and name those that have another in some.

    The source's where it fits, else that at rest, else the frames' own if they agree. Where none fits all frames it is
    the first that some frame has, and without such the middle: what was scaled whole has no bone as the source has it.
    """
    first, coarse = takes[0], takes[0].kind.coarse
    low = np.min([take.sizes.min(axis=0) for take in takes], axis=0)
    high = np.max([take.sizes.max(axis=0) for take in takes], axis=0)
    written, rest, middle = first.source_lengths(), first.animation.lengths, (low + high) / 2
    rest = middle if rest is None else rest
    before, after = sizes(first.source_between(), coarse), sizes(first.between, coarse)
    # What a file may say, and how long the game shows that.
    choices = [(written, np.abs(written) * before), (rest / after, rest), (middle / after, middle)]
    lengths, shown = np.full(len(low), np.nan), np.full(len(low), np.nan)
    for (choice, size), most in zip(choices, (STRETCH, STRETCH, STRETCH / 2), strict=True):  # to either side
        off = np.maximum(np.abs(high - size), np.abs(low - size))
        open_ = np.isnan(lengths) & (off < most + _slack(first) * size)
        lengths[open_], shown[open_] = choice[open_], size[open_]
    if coarse:
        _fit_to_ways(takes, lengths, np.flatnonzero((lengths != written) & (lengths > 0.0)))
    for choice, size in choices:  # nothing fits
        near = STRETCH + _slack(first) * size
        open_ = np.isnan(lengths) & (low - near <= size) & (size <= high + near)
        lengths[open_], shown[open_] = choice[open_], size[open_]
    roots = first.parents < 0
    lengths[roots] = np.where(np.isnan(written[roots]), 0.0, written[roots])
    for take in takes:
        _warn_of_stretched(take, shown, roots)
    return lengths.astype(np.float32).astype(np.float64)


def _fit_to_ways(takes: list[Take], lengths: Doubles, bones: NDArray[np.int64]) -> None:
    """Fit lengths (B,) of some bones (n,) to what a table makes of the ways of their frames, in place."""
    frames = [take.ways[:: -(-len(take.ways) // FITTED), bones] for take in takes]
    lengths[bones] = fitted_lengths(np.concatenate(frames), lengths[bones], takes[0].between[bones])


def _slack(take: Take) -> float:
    """Return by what part of its length a bone may be shown longer or shorter without being stretched."""
    return COARSE_PART if take.kind.coarse else PART


def _warn_of_stretched(take: Take, shown: Doubles, roots: NDArray[np.bool_]) -> None:
    """Name the bones that are longer or shorter in some frame than the file can say, which is `shown` (B,)."""
    off = np.abs(take.sizes - shown).max(axis=0)
    off[roots] = 0.0
    moved = "'%s' moves bones against their parents, whose distance %s holds once for all frames: %s units off"
    _warn_of(take, moved, off, STRETCH + _slack(take) * shown)
    apart = np.zeros(len(roots))
    places = take.places[:, roots]
    apart[roots] = steady.lengths(places - places[:, :1]).max(axis=0)
    several = (
        "'%s' has several root bones, which %s holds in one place: %s units off (Add Origin Joint gives all a parent)"
    )
    _warn_of(take, several, apart, np.full(len(roots), STRETCH))


def _warn_of(take: Take, text: str, off: Doubles, allowed: Doubles) -> None:
    """Name the bones that are as far off (B,) as is worth a word (B,), the worst first."""
    wrong = np.flatnonzero(off >= allowed)
    if len(wrong):
        worst = [f"'{take.animation.joint_names[b]}' by {off[b]:.3g}" for b in wrong[np.argsort(-off[wrong])]]
        log.warning(text, take.animation.name, take.kind.name.upper(), listed(worst, quoted=False))


def _encode_bones(take: Take, lengths: Doubles) -> NDArray[Any]:
    """Return the bones' infos, (B,)."""
    animation = take.animation
    bones: NDArray[Any] = np.zeros(len(animation.parents), BONE)
    written = records_of(take.source.facts, "bones", BONE) if take.source is not None else bones[:0]
    for bone, (name, joint) in enumerate(zip(animation.joint_names, take.joints.tolist(), strict=True)):
        hint = written["name"][joint] if joint >= 0 else b""
        bones["name"][bone] = encode_name(name, NAME_SIZE, "bone", hint)
    bones["parent"], bones["parent_dist"] = animation.parents, lengths
    if animation.traits is not None:
        bones["torso_weight"], bones["flags"] = animation.traits.torso_weights, animation.traits.flags
    return bones


def mixed(
    legs: Animation, upper: Animation, name: str, aim: tuple[float, float], kind: Kind, turned: NDArray[np.bool_]
) -> Animation:
    """Return what a player shows whose legs and torso play two animations, each again when it has ended.

    There is a frame for each of the legs', at their rate; the torso shows the frame that it has come to by then, at its
    own. `aim` is down and to the left against the legs, in degrees. `turned` (B,) are the bones that `frames.Take` has
    so; of an MDS the game turns these in a way of their own.

    Raises:
        LimitError: the animations are of different skeletons, or no bone follows the torso.
    """
    traits = legs.traits
    if traits is None or not (traits.torso_weights > 0).any():
        raise LimitError("no bone has a torso weight above 0: nothing would follow the torso")
    if upper.joint_names != legs.joint_names or not np.array_equal(upper.parents, legs.parents):
        raise LimitError(f"'{upper.name}' has other bones than '{legs.name}'")
    pace = upper.frame_rate / legs.frame_rate if upper.frame_rate > 0 and legs.frame_rate > 0 else 1.0
    frames = max(legs.num_frames, min(math.ceil(upper.num_frames / pace), MOST_TIMES * upper.num_frames))
    lower, above = (join([animation], kind, turned) for animation in (legs, upper))  # as the game has them: in codes
    playing = np.floor(np.arange(frames) * pace + EARLY).astype(np.int64)  # the torso's frame at each of the legs'
    places, matrices = torso.play(
        _codes(lower, np.arange(frames) % legs.num_frames),
        _codes(above, playing % upper.num_frames),
        torso.Bones(
            legs.parents,
            lower.bones["parent_dist"].astype(np.float64),
            traits.torso_weights,
            traits.torso_parent if 0 <= traits.torso_parent < len(legs.parents) else 0,
            coarse_directions if kind.coarse else None,
            fast_inverse_roots if kind.coarse else None,
        ),
        *aim,
        turned,
    )
    poses = unchain(legs.parents, places, turned_back(torso.nearest_turns(matrices), turned))
    names, bounds = list(legs.joint_names), np.zeros((frames, 2, 3))
    return Animation(name, names, legs.parents, *poses, legs.frame_rate, bounds, traits=traits)


def _codes(coded: Coded, frames: NDArray[np.int64]) -> torso.Codes:
    chosen = coded.frames[frames]
    bones = chosen["bones"]
    return torso.Codes(bones["angles"][..., :3], bones["ofs_angles"], chosen["info"]["parent_offset"])
