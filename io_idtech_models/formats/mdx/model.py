"""MDX structs to animations and back; the files themselves are `mdx`."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import LARGEST, Animation, AnimationSource, Traits
from ...model.source import Facts
from ...model.transforms import chain, conjugate, multiply, rotate
from ...model.wording import listed
from ...reporting import LimitError
from ..common.angles import decode_directions, decode_rotations
from ..common.hints import as_bytes, layout_of, records_of
from ..common.records import encode_name, header_name
from .file import BONE, HEADER, IDENT, NAME_SIZE, VERSION, Mdx, names_of, parents_of
from .frames import FORMAT, Take, encode_frames, source_frames

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
STRETCH = 0.01  # units that a bone may be longer or shorter than the file's before it is worth a word
PART = 1e-6  # of a length: rounding, too
FRAME_RATE = 15.0  # MDX has none; the rate of most of the games' rows


def to_model(mdx: Mdx, name: str = "") -> Animation:
    """Return the animation of a file, its source included; inverse of `from_model`."""
    parents, names = parents_of(mdx), names_of(mdx)
    positions, rotations = _poses(mdx, parents)
    frames, joints = len(mdx.frames), len(mdx.bones)
    infos = np.ascontiguousarray(mdx.frames["info"])
    facts: Facts = {
        "header": as_bytes(mdx.header),
        "bones": as_bytes(mdx.bones),
        "infos": as_bytes(infos),
        "angles": np.ascontiguousarray(mdx.frames["bones"]["angles"]),
        "ofs_angles": np.ascontiguousarray(mdx.frames["bones"]["ofs_angles"]),
    } | mdx.layout
    source = AnimationSource(FORMAT, names, parents, positions, rotations, FRAME_RATE, facts)
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
        traits=traits_of(mdx),
        lengths=np.abs(mdx.bones["parent_dist"].astype(np.float64)),
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


def traits_of(mdx: Mdx) -> Traits:
    """Return what the file says of its bones beside their poses."""
    return Traits(
        np.ascontiguousarray(mdx.bones["torso_weight"], np.float32),
        np.ascontiguousarray(mdx.bones["flags"], np.int32),
        int(mdx.header["torso_parent"]),
    )


def _shown_bounds(infos: NDArray[Any]) -> Doubles:
    """Return low and high corners, (F, 2, 3), of frames' infos, whose order is that of no rule."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        corners = np.nan_to_num(infos["bounds"].astype(np.float64))
    return np.stack((corners.min(axis=1), corners.max(axis=1)), axis=1)


def _poses(mdx: Mdx, parents: NDArray[np.int32]) -> tuple[Doubles, Doubles]:
    """Return positions (F, B, 3) and rotations (F, B, 4) relative to the parent."""
    codes, dists = mdx.frames["bones"], mdx.bones["parent_dist"].astype(np.float64)
    turns = decode_rotations(codes["angles"])
    positions = np.empty((*turns.shape[:2], 3))
    rotations = turns.copy()
    roots, children = np.flatnonzero(parents < 0), np.flatnonzero(parents >= 0)
    above = parents[children]
    positions[:, roots] = mdx.frames["info"]["parent_offset"][:, None, :].astype(np.float64)
    ways = decode_directions(codes["ofs_angles"][:, children]) * dists[children, None]
    back = conjugate(turns[:, above])
    positions[:, children] = np.clip(rotate(back, ways), -LARGEST, LARGEST)
    rotations[:, children] = multiply(back, turns[:, children])
    return positions, rotations


def poses_of(mdx: Mdx, frames: slice | NDArray[Any] = slice(None)) -> tuple[Doubles, Doubles]:
    """Return positions (F, B, 3) and rotations (F, B, 4) in model space of some frames."""
    part = Mdx(mdx.header, mdx.frames[frames], mdx.bones)
    parents = parents_of(mdx)
    places, turns = chain(parents, *_poses(part, parents))
    return np.clip(places, -LARGEST, LARGEST), turns


def from_model(animation: Animation) -> Mdx:
    """Return the structs of an animation; inverse of `to_model`."""
    return join([animation])


def join(animations: list[Animation]) -> Mdx:
    """Return the structs of animations of one skeleton, one after another in one file.

    Raises:
        LimitError: they differ in their bones, or have none.
    """
    first = animations[0]
    if not first.joint_names:
        raise LimitError(f"'{first.name}' has no bones: MDX holds one or more")
    for other in animations[1:]:
        if other.joint_names != first.joint_names or not np.array_equal(other.parents, first.parents):
            raise LimitError(f"'{other.name}' has other bones than '{first.name}'")
    takes = [Take(animation) for animation in animations]
    if len(takes) == 1 and takes[0].is_source():
        lengths, frames = takes[0].source_lengths(), source_frames(takes[0])
    else:
        lengths = _lengths(takes)
        frames = np.concatenate([encode_frames(take, lengths) for take in takes])
    bones = _encode_bones(takes[0], lengths)
    header = np.zeros((), HEADER)
    header["ident"], header["version"] = IDENT, VERSION
    layout: Facts = {}
    source = takes[0].source
    if source is not None:
        header, layout = records_of(source.facts, "header", HEADER), layout_of(source.facts)
    else:
        header["name"] = header_name(first.name, NAME_SIZE)
    header["torso_parent"] = _torso_parent(takes[0])
    return Mdx(header, frames, bones, layout)


def _torso_parent(take: Take) -> int:
    """Return the torso parent; the source's number while it means no bone there either."""
    traits = take.animation.traits
    found = -1 if traits is None else traits.torso_parent
    if found < 0 and take.source is not None:
        written = int(records_of(take.source.facts, "header", HEADER)["torso_parent"])
        if not 0 <= written < len(take.source.joint_names):
            return written
    return max(found, 0)


def _lengths(takes: list[Take]) -> Doubles:
    """Return the one length (B,) that each bone has in all frames, and name those that have another in some.

    The source's where it fits, else that at rest, else the frames' own if they agree.
    """
    low = np.min([take.sizes.min(axis=0) for take in takes], axis=0)
    high = np.max([take.sizes.max(axis=0) for take in takes], axis=0)
    written = takes[0].source_lengths()
    rest = takes[0].animation.lengths
    middle = (low + high) / 2
    choices = [written, middle if rest is None else rest, middle]
    lengths = np.full(len(low), np.nan)
    for choice, most in zip(choices, (STRETCH, STRETCH, STRETCH / 2), strict=True):  # on either side of the middle
        off = np.maximum(np.abs(high - np.abs(choice)), np.abs(low - np.abs(choice)))
        open_ = np.isnan(lengths) & (off < most + PART * np.abs(choice))
        lengths[open_] = choice[open_]
    first = np.where(np.isnan(written), choices[1], written)
    roots = takes[0].parents < 0
    lengths[roots] = np.where(np.isnan(written[roots]), 0.0, written[roots])
    stored: Doubles = np.where(np.isnan(lengths), first, lengths).astype(np.float32).astype(np.float64)
    for take in takes:
        _warn_of_stretched(take, stored, roots)
    return stored


def _warn_of_stretched(take: Take, lengths: Doubles, roots: NDArray[np.bool_]) -> None:
    """Name the bones that are longer or shorter in some frame than the file can say."""
    off = np.abs(take.sizes - np.abs(lengths)).max(axis=0)
    off[roots] = 0.0
    if roots.sum() > 1:
        apart = take.places[:, roots] - take.places[:, roots][:, :1]
        off[roots] = steady.lengths(apart).max(axis=0)
    wrong = np.flatnonzero(off >= STRETCH + PART * np.abs(lengths))
    if len(wrong):
        worst = [f"{take.animation.joint_names[b]} by {off[b]:.3g}" for b in wrong[np.argsort(-off[wrong])]]
        text = "'%s' moves bones against their parents, whose distance MDX holds once for all frames: %s units off"
        log.warning(text, take.animation.name, listed(worst))


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
