"""Frames of MDX and MDS: poses to codes, the source's where a bone still stands as it does there."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model import steady
from ....model.arrays import most_frequent
from ....model.bounds import grown, still_hold
from ....model.skeletal import Animation, AnimationSource, changed_frames
from ....model.transforms import chain, conjugate, rotate
from ..records import Wanted, all_fit, finite, records_of, sound
from .bones import BONE, FRAME_INFO, Kind, frame_dtype
from .ways import HALF_CODE, decode_rotations, decode_ways, encode_rotations, encode_ways, mixing

Doubles = NDArray[np.float64]
SAME_PLACE, SAME_PART = 1e-4, 1e-6  # units, and of a coordinate: closer is Blender's own rounding
STEP = 1e-6  # radians, likewise
SAME = math.cos((HALF_CODE + STEP) / 2)


TURNED = "turned"  # the fact which bones are shown turned the other way: see `Take`


def _fits(source: AnimationSource, kind: Kind) -> bool:
    """Tell whether the facts are what `to_animation` writes: a .blend can come from a stranger."""
    frames, joints = source.positions.shape[:2]
    wanted: Wanted = {
        "header": (kind.header, ()),
        "bones": (BONE, (joints,)),
        "infos": (FRAME_INFO, (frames,)),
        "angles": ("i2", (frames, joints, 4)),
        "ofs_angles": ("i2", (frames, joints, 2)),
    }
    if TURNED in source.facts:
        wanted[TURNED] = ("u1", (joints,))
    if not all_fit(source.facts, wanted):
        return False
    bones, infos = records_of(source.facts, "bones", BONE), records_of(source.facts, "infos", FRAME_INFO)
    numbers = (bones["parent_dist"], bones["torso_weight"], infos["parent_offset"])
    return all(bool(np.isfinite(each).all()) for each in numbers)


class Take:
    """One animation on its way into a file: its poses in model space, and what of the source each may keep.

    Of bones that are `turned` (B,) the file's codes say the inverse of the rotation that is shown.
    """

    def __init__(self, animation: Animation, kind: Kind, turned: NDArray[np.bool_]) -> None:
        self.animation, self.kind, self.turned = animation, kind, turned
        source = animation.source_of(kind.name)
        self.source = sound(source, lambda found: _fits(found, kind), animation.name)
        self.parents = animation.parents
        self.joints = animation.joints_in(self.source)

    @cached_property
    def _poses(self) -> tuple[Doubles, Doubles]:
        animation = self.animation
        places, turns = chain(animation.parents, animation.positions, animation.rotations)
        return places, turns / np.sqrt(sum(turns[..., i] ** 2 for i in range(4)))[..., None]

    @property
    def places(self) -> Doubles:
        """Return where bones are in model space, (F, B, 3)."""
        return self._poses[0]

    @property
    def turns(self) -> Doubles:
        """Return how bones are turned in model space, unit quaternions (F, B, 4)."""
        return self._poses[1]

    @cached_property
    def coded_turns(self) -> Doubles:
        """Return the rotations that the file's codes say, (F, B, 4)."""
        return turned_back(self.turns, self.turned)

    @cached_property
    def ways(self) -> Doubles:
        """Return the ways from the parents to bones, (F, B, 3), in model space."""
        children = np.flatnonzero(self.parents >= 0)
        found = np.zeros_like(self.places)
        # Not the difference of two places: far from the origin that is noise.
        found[:, children] = rotate(self.turns[:, self.parents[children]], self.animation.positions[:, children])
        return found

    @cached_property
    def sizes(self) -> Doubles:
        """Return how long the ways are, (F, B)."""
        return np.asarray(np.sqrt(sum(self.ways[..., i] ** 2 for i in range(3))))

    def is_source(self) -> bool:
        """Tell whether all frames and bones are the source's, one by one: then nothing has to be coded again."""
        animation, source, hints = self.animation, self.source, self.animation.source_frames
        if source is None or hints is None or animation.positions.shape != source.positions.shape:
            return False
        if not np.array_equal(self.joints, np.arange(len(source.joint_names))):
            return False
        if not np.array_equal(self.parents, source.parents):
            return False
        before = source.facts.get(TURNED, np.zeros(len(self.turned), np.uint8))
        if not (hints == np.arange(len(hints))[:, None, None]).all() or (before.astype(np.bool_) != self.turned).any():
            return False
        near = np.maximum(SAME_PLACE, SAME_PART * np.abs(source.positions))
        return bool(
            (np.abs(animation.positions - source.positions) <= near).all()
            and _same_turns(animation.rotations, source.rotations).all()
        )

    @cached_property
    def between(self) -> NDArray[np.bool_]:
        """Tell which bones (B,) mix legs and torso; see `wolf.ways`."""
        traits = self.animation.traits
        return np.zeros(len(self.parents), np.bool_) if traits is None else mixing(traits.torso_weights)

    def source_between(self) -> NDArray[np.bool_]:
        """Tell which bones (B,) mixed legs and torso in the source; new ones are as they are."""
        found, known = self.between.copy(), self.joints >= 0
        if self.source is not None:
            weights = records_of(self.source.facts, "bones", BONE)["torso_weight"]
            found[known] = mixing(weights)[self.joints[known]]
        return found

    def source_lengths(self) -> Doubles:
        """Return the file's parent_dist (B,), NaN where a bone has none."""
        lengths = np.full(len(self.joints), np.nan)
        known = self.joints >= 0
        if self.source is not None:
            lengths[known] = records_of(self.source.facts, "bones", BONE)["parent_dist"][self.joints[known]]
        return lengths


def turned_back(rotations: Doubles, turned: NDArray[np.bool_]) -> Doubles:
    """Return rotations (F, B, 4) with those of the bones that are `turned` (B,) the other way round."""
    if not turned.any():
        return rotations
    found = rotations.copy()
    found[:, turned] = conjugate(found[:, turned])
    return found


def source_frames(take: Take) -> NDArray[Any]:
    """Return the source's records, (F,), of a take that is the source; bounds anew where that is asked for."""
    source, animation = take.source, take.animation
    assert source is not None
    frames = np.zeros(animation.num_frames, frame_dtype(len(animation.parents)))
    frames["info"] = records_of(source.facts, "infos", FRAME_INFO)
    frames["bones"]["angles"], frames["bones"]["ofs_angles"] = source.facts["angles"], source.facts["ofs_angles"]
    if animation.keep_bounds:
        _grow_bounds(frames["info"], np.arange(len(frames)), animation, take.kind)
    else:
        _encode_bounds(frames["info"], animation.bounds, take.kind)
    return frames


def encode_frames(take: Take, lengths: Doubles) -> NDArray[Any]:
    """Return the frames' records, (F,)."""
    animation = take.animation
    frames = np.zeros(animation.num_frames, frame_dtype(len(animation.parents)))
    codes = frames["bones"]
    root = int(np.flatnonzero(animation.parents < 0)[0])
    frames["info"]["parent_offset"] = take.places[:, root]
    _encode_bounds(frames["info"], animation.bounds, take.kind)
    fresh = np.ones((2, *codes.shape), np.bool_)  # which directions, and which angles, are no longer the source's
    if take.source is not None and animation.source_frames is not None:
        _take_source(frames, take, take.source, lengths, root, fresh)
    ways, turns = np.nonzero(fresh[0]), np.nonzero(fresh[1])
    units = np.where(lengths != 0, lengths, 1.0)[ways[1], None]
    codes["ofs_angles"][ways] = encode_ways(take.ways[ways] / units, take.between[ways[1]], take.kind.coarse)
    codes["angles"][turns[0], turns[1], :3] = encode_rotations(take.coded_turns[turns])
    return frames


def _encode_bounds(infos: NDArray[Any], bounds: Doubles, kind: Kind) -> None:
    """Write bounds (F, 2, 3) into frames' infos (F,), as real files of a kind have them."""
    low, high = bounds[:, 0], bounds[:, 1]
    with np.errstate(over="ignore"):
        infos["local_origin"] = origin = finite((low + high) / 2)
        if kind.cubes:
            radius = finite(steady.lengths((high - low) / 2))
            corners = finite(origin + radius[:, None]), finite(origin - radius[:, None])
        else:
            radius = finite(steady.lengths(np.maximum(np.abs(low), np.abs(high))))
            corners = finite(low), finite(high)
    infos["radius"] = radius
    infos["bounds"][:, 0], infos["bounds"][:, 1] = corners


def _grow_bounds(infos: NDArray[Any], kept: NDArray[np.int64], animation: Animation, kind: Kind) -> None:
    """Let the source's bounds, which frames `kept` (n,) of all have, hold vertices that were edited, too.

    A cube goes on to lie around its middle.
    """
    wider = kept[~still_hold(animation, kept, infos["bounds"][kept])]
    if not len(wider):
        return
    part = infos[wider]
    if kind.cubes and animation.edited is not None:
        origin = part["local_origin"]
        farthest = steady.lengths(np.abs(animation.edited[wider] - origin[:, None]).max(axis=1))
        part["radius"] = radius = np.maximum(part["radius"], finite(farthest))
        part["bounds"] = np.stack((origin + radius[:, None], origin - radius[:, None]), axis=1)
    else:
        _encode_bounds(part, grown(animation, wider, part["bounds"]), kind)
    infos[wider] = part


def _take_source(
    frames: NDArray[Any], take: Take, source: AnimationSource, lengths: Doubles, root: int, fresh: NDArray[np.bool_]
) -> None:
    """Write the source's own numbers where a bone stands in model space as it does in a frame of the source.

    They are those of the frame that most bones have, else of the bone's own hint, which may be another. `fresh`
    (2, F, B) tells afterwards which directions and which angles are none of them.
    """
    hints, count = take.animation.source_frames, len(source.positions)
    assert hints is not None
    whole = most_frequent(hints[:, take.joints >= 0].reshape(len(hints), -1), count)  # the frame that most bones have
    bones, joints = np.flatnonzero(take.joints >= 0), take.joints[take.joints >= 0]
    codes, facts = frames["bones"], source.facts
    codes["angles"][:, bones, 3] = facts["angles"][np.maximum(whole, 0)[:, None], joints, 3]
    plain = np.array_equal(take.joints, np.arange(len(source.joint_names)))
    plain = plain and np.array_equal(whole, np.arange(count))  # as mostly: nothing has another place
    dists, between = take.source_lengths()[bones], take.source_between()[bones]
    mute = (lengths[bones] == 0) | (take.parents[bones] < 0)  # their directions mean nothing
    same_ways, same_turns = _comparers(dists, mute, between, take.kind.coarse)
    parts = (("ofs_angles", 2, take.ways, same_ways), ("angles", 3, take.coded_turns, same_turns))
    for part, (what, width, every, are_same) in enumerate(parts):
        shown, stored = every, facts[what]
        if not plain:
            shown, stored = shown[:, bones], stored[np.maximum(whole, 0)][:, joints]
        same = are_same(shown, stored, slice(None)) & (whole >= 0)[:, None]
        if plain and same.all():
            codes[what][..., :width], fresh[part] = stored[..., :width], False
            continue
        stored, own = stored.copy(), hints[:, bones, part]
        # Bones' own hints, where they are other frames than the one that most bones have.
        others = np.nonzero(~same & (own >= 0) & (own < count) & (own != whole[:, None]))
        stored[others] = facts[what][own[others], joints[others[1]]]
        same[others] = are_same(shown[others], stored[others], others[1])
        at = np.nonzero(same)
        codes[what][at[0], bones[at[1]], :width] = stored[at][:, :width]
        fresh[part, at[0], bones[at[1]]] = False
    _take_infos(frames["info"], take, source, whole, root)


Comparer = Callable[[Doubles, NDArray[Any], Any], NDArray[np.bool_]]  # what is shown, what is stored, and which bones


def _comparers(
    dists: Doubles, mute: NDArray[np.bool_], between: NDArray[np.bool_], coarse: bool
) -> tuple[Comparer, Comparer]:
    """Return what tells which codes say the ways and the turns that are shown; of `mute` bones any way does.

    `between` and `coarse` are those of `decode_ways`.
    """

    def same_ways(shown: Doubles, stored: NDArray[Any], which: Any) -> NDArray[np.bool_]:
        ways = decode_ways(stored, between[which], coarse)
        return np.asarray(_same_ways(shown, ways, dists[which]) | mute[which])

    def same_turns(shown: Doubles, stored: NDArray[Any], which: Any) -> NDArray[np.bool_]:
        return _same_turns(shown, decode_rotations(stored))

    return same_ways, same_turns


def _same_ways(a: Doubles, b: Doubles, dists: Doubles) -> NDArray[np.bool_]:
    """Tell which ways from the parent (..., 3), the second in units of distances, are within half a code of another."""
    off = a - b * dists[..., None]
    near = SAME_PLACE + HALF_CODE * np.abs(dists)
    squares = off[..., 0] ** 2 + off[..., 1] ** 2 + off[..., 2] ** 2
    return np.asarray(squares <= near * near)


def _same_turns(a: Doubles, b: Doubles) -> NDArray[np.bool_]:
    """Tell which rotations (..., 4) are within half a code of one another; the sign of a quaternion means nothing."""
    cosines = np.abs(sum(a[..., i] * b[..., i] for i in range(4)))
    return np.asarray(cosines >= SAME)


def _take_infos(infos: NDArray[Any], take: Take, source: AnimationSource, whole: NDArray[np.int64], root: int) -> None:
    """Write the source's bounds of frames whose pose is one of its, and the root's places that are."""
    written = records_of(source.facts, "infos", FRAME_INFO)
    place = written["parent_offset"][np.maximum(whole, 0)]
    tolerance = np.maximum(SAME_PLACE, SAME_PART * np.abs(place).max(axis=1))
    near = (whole >= 0) & (np.abs(take.places[:, root] - place).max(axis=1) <= tolerance)
    infos["parent_offset"][near] = place[near]
    animation = take.animation
    if animation.keep_bounds:
        kept = np.flatnonzero((whole >= 0) & ~changed_frames(animation))
        for name in ("bounds", "local_origin", "radius"):
            infos[name][kept] = written[name][whole[kept]]
        _grow_bounds(infos, kept, animation, take.kind)
