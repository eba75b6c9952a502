"""Frames of an MDR: matrices of bones to poses, and poses to matrices, the source's where a bone still stands so."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.arrays import LARGEST
from ...model.bounds import grown, still_hold
from ...model.skeletal import (
    Animation,
    AnimationSource,
    Scales,
    changed_frames,
)
from ...model.source import Facts
from ...model.transforms import chain, from_matrices, to_matrices
from ...reporting import listed
from ..common.records import Wanted, all_fit, as_bytes, finite, records_of, sound
from .file import FRAME_NAME_SIZE, PACKED_INFO, PLAIN_INFO, Mdr, are_packed, frame_dtype

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
FORMAT = "mdr"
FRAME_RATE = 15.0  # MDR has none; animation.cfg of ioquake3's players says it for each of their animations
PLACEHOLDER = "bone_{:03d}"
MIDDLE, PLACE_STEP, TURN_STEP = 32768, 1 / 64, 1 / 32766  # of packed codes: MC_UnCompress
FARTHEST = 65535 - MIDDLE  # code that is the farthest from the middle on both sides
# Closer is Blender's own rounding: units, and of a coordinate; a component of a turn; a part of a scale.
SAME_PLACE, SAME_PART, SAME_TURN = 1e-4, 1e-6, 1e-5
Part = tuple[Any, ...]
PACKED: tuple[Part, Part] = (..., slice(0, 3)), (..., slice(3, 12))  # where the place and the turn lie in packed codes,
PLAIN: tuple[Part, Part] = (..., 3), (..., slice(0, 3))  # and in matrices
UPRIGHT = 2e-3  # by which a matrix's entries may be off a turn's, times its scale, before it is worth a word
EVEN = 1e-3  # by which a scale may be off 1: the rounding of packed codes


def decode_matrices(mdr: Mdr) -> Doubles:
    """Return the matrices of bones, (F, B, 3, 4)."""
    codes = mdr.frames["bones"]
    if not are_packed(mdr.frames):
        return np.clip(codes.astype(np.float64), -LARGEST, LARGEST)
    numbers = codes.astype(np.float64) - MIDDLE
    turns = (numbers[..., 3:] * TURN_STEP).reshape(*codes.shape[:2], 3, 3)
    return np.concatenate((turns, numbers[..., :3, None] * PLACE_STEP), axis=-1)


@dataclass(eq=False)
class Poses:
    """Where bones are in model space, as far as a pose can say."""

    places: Doubles  # (F, B, 3)
    turns: Doubles  # (F, B, 4)
    scales: Doubles | None  # (F, B); None: 1
    skewed: NDArray[np.bool_]  # (B,) matrices that do more than that in some frame


def to_poses(matrices: Doubles) -> Poses:
    """Return the poses nearest to matrices (F, B, 3, 4); one that mirrors has a scale below 0."""
    axes = matrices[..., :3]
    found = steady.determinants(axes)
    scales = steady.cube_roots(np.clip(found, -LARGEST, LARGEST))
    rigid = steady.nearest_rotations(np.where(scales[..., None, None] < 0, -axes, axes))
    size = np.where(np.abs(scales - 1.0) < EVEN, 1.0, scales)
    off = np.abs(axes - rigid * size[..., None, None]).max(axis=(2, 3))
    skewed = (off > UPRIGHT * np.maximum(np.abs(size), 1.0)).any(axis=0)
    return Poses(matrices[..., 3], from_matrices(rigid), None if (size == 1.0).all() else size, skewed)


def to_animation(mdr: Mdr, name: str) -> Animation:
    """Return the motion of a file, its source included."""
    frames, bones = mdr.frames["bones"].shape[:2]
    poses = to_poses(decode_matrices(mdr))
    if poses.skewed.any():
        text = "bones are shown without the shear or uneven scale that their matrices have: %s"
        log.warning(text, listed([PLACEHOLDER.format(bone) for bone in np.flatnonzero(poses.skewed).tolist()]))
    names, parents = [PLACEHOLDER.format(bone) for bone in range(bones)], np.full(bones, -1, np.int32)
    infos = np.ascontiguousarray(mdr.frames["info"])
    codes = np.ascontiguousarray(mdr.frames["bones"])
    facts: Facts = {"infos": as_bytes(infos), "codes": codes if are_packed(mdr.frames) else codes.view(np.int32)}
    source = AnimationSource(FORMAT, names, parents, poses.places, poses.turns, FRAME_RATE, facts)
    corners = finite(infos["bounds"]).astype(np.float64)
    return Animation(
        name, list(names), parents.copy(), poses.places.copy(), poses.turns.copy(), FRAME_RATE,
        np.stack((corners.min(axis=1), corners.max(axis=1)), axis=1), source,
        np.tile(np.arange(frames, dtype=np.int32)[:, None, None], (1, bones, 2)),
        np.arange(bones, dtype=np.int32),
        scales=None if poses.scales is None else Scales(poses.scales, np.zeros(bones, np.bool_)),
    )  # fmt: skip


def _fits(source: AnimationSource) -> bool:
    """Tell whether the facts are what `to_animation` writes: a .blend can come from a stranger."""
    frames, bones = source.positions.shape[:2]
    packed: Wanted = {"codes": ("u2", (frames, bones, 12)), "infos": (PACKED_INFO, (frames,))}
    plain: Wanted = {"codes": ("i4", (frames, bones, 3, 4)), "infos": (PLAIN_INFO, (frames,))}
    if all_fit(source.facts, packed):
        return True
    return all_fit(source.facts, plain) and bool(np.isfinite(source.facts["codes"].view(np.float32)).all())


def encode_frames(animations: list[Animation], packed: bool) -> NDArray[Any]:
    """Return the frames' records of motions, one after another, (F,); packed where their sources or `packed` say so.

    Where a bone is too far out for packed frames they are written plain, and a warning says so.
    """
    takes = [_Take(animation) for animation in animations]
    packed = packed or any(take.is_packed for take in takes)
    matrices = [take.matrices() for take in takes]
    places = np.concatenate([own[..., 3].reshape(-1) for own in matrices])
    codes = np.rint(places / PLACE_STEP)
    if packed and not ((codes >= -MIDDLE) & (codes <= FARTHEST)).all():
        text = "a bone is %.4g units from the origin, packed frames hold %.5g: the frames are written plain"
        log.warning(text, np.abs(places).max(), FARTHEST * PLACE_STEP)
        packed = False
    parts = [take.frames(own, packed) for take, own in zip(takes, matrices, strict=True)]
    return np.concatenate(parts)


class _Take:
    """One motion on its way into a file, and what of the source each bone may keep."""

    def __init__(self, animation: Animation) -> None:
        self.animation = animation
        self.source = sound(animation.source_of(FORMAT), _fits, animation.name)

    @property
    def is_packed(self) -> bool:
        """Tell whether the source's frames are packed."""
        return self.source is not None and self.source.facts["codes"].dtype == np.uint16

    def matrices(self) -> Doubles:
        """Return what bones show, (F, B, 3, 4), in model space."""
        own = self.animation
        ways = own.positions if own.scales is None else own.positions * own.scales.of_ways()[..., None]
        places, turns = chain(own.parents, ways, own.rotations)
        turns = turns / steady.lengths(turns)[..., None]
        axes = to_matrices(turns)
        if own.scales is not None:
            axes = axes * own.scales.values[..., None, None]
        return np.concatenate((axes, places[..., None]), axis=-1)

    def frames(self, matrices: Doubles, packed: bool) -> NDArray[Any]:
        """Return the records of frames whose bones show these matrices, (F,)."""
        count, bones = matrices.shape[:2]
        frames = np.zeros(count, frame_dtype(bones, packed))
        codes = frames["bones"]
        codes[...] = _packed(matrices) if packed else np.clip(matrices, -LARGEST, LARGEST)
        self._infos(frames["info"], matrices)
        if self.source is not None and self.is_packed == packed:
            self._take_source(codes, matrices, self.source)
        return frames

    def _take_source(self, codes: NDArray[Any], matrices: Doubles, source: AnimationSource) -> None:
        """Write the source's own codes of places and turns that bones still show; `codes` are of its kind."""
        joints, hints = self.animation.joints_in(source), self.animation.source_frames
        if hints is None:
            return
        before = self.shown
        stored = source.facts["codes"] if self.is_packed else source.facts["codes"].view(np.float32)
        for part, (lie, shown) in enumerate(zip(PACKED if self.is_packed else PLAIN, PLAIN, strict=True)):
            known = (joints >= 0) & (hints[..., part] >= 0) & (hints[..., part] < len(before))
            which = np.where(known, hints[..., part], 0), np.maximum(joints, 0)
            own = before[which][shown]
            sizes = np.abs(own).reshape(*own.shape[:2], -1).max(axis=-1)
            near = np.maximum(SAME_PLACE, SAME_PART * sizes) if part == 0 else SAME_TURN * np.maximum(sizes, 1.0)
            off = np.abs(matrices[shown] - own).reshape(*own.shape[:2], -1).max(axis=-1)
            same = known & (off <= near)
            place: NDArray[Any] = codes[lie]
            place[same] = stored[which][lie][same]

    @cached_property
    def shown(self) -> Doubles:
        """Return what the source's bones are shown as, (F, B, 3, 4)."""
        assert self.source is not None
        return _shown_matrices(self.source)

    def _infos(self, infos: NDArray[Any], matrices: Doubles) -> None:
        """Write bounds and names: the source's of frames whose pose is one of its, in which bones are as large."""
        own = self.animation
        _write_bounds(infos, own.bounds)
        names = infos.dtype.names or ()
        if "name" in names:
            made = [f"{own.name}{number}" for number in range(own.num_frames)]
            infos["name"] = [name.encode("utf-8", errors="replace")[: FRAME_NAME_SIZE - 1] for name in made]
        if self.source is None or own.source_frames is None or own.source_joints is None:
            return
        known = np.flatnonzero(own.source_joints >= 0)
        if not len(known):
            return
        came = own.source_frames[:, known[0], 0]
        kept = np.flatnonzero(~changed_frames(own) & (came >= 0) & (came < len(self.source.positions)))
        written = records_of(self.source.facts, "infos", PACKED_INFO if self.is_packed else PLAIN_INFO)[came[kept]]
        if "name" in names and not self.is_packed:
            infos["name"][kept] = written["name"]
        if own.keep_bounds:
            now, then = _sizes(matrices[kept][:, known]), _sizes(self.shown[came[kept]][:, own.source_joints[known]])
            reached = own.bounds[kept].any(axis=(1, 2))  # of what was scaled it is known what its meshes reach
            resized = (np.abs(now - then) > EVEN * then).any(axis=1) & reached
            kept, written = kept[~resized], written[~resized]
            hold = still_hold(own, kept, written["bounds"])
            _write_bounds(written, grown(own, kept, written["bounds"]), ~hold)
            for name in ("bounds", "local_origin", "radius"):
                infos[name][kept] = written[name]


def _sizes(matrices: Doubles) -> Doubles:
    """Return how large matrices (..., 3, 4) make what they move, (...,), whichever way they turn it."""
    return steady.lengths(matrices[..., :3].reshape(*matrices.shape[:-2], 9))


def _write_bounds(infos: NDArray[Any], bounds: Doubles, which: Any = slice(None)) -> None:
    """Write the bounds (F, 2, 3) of some frames (all), and what follows from them, into infos (F,)."""
    low, high = bounds[which, 0], bounds[which, 1]
    middle = (low + high) / 2
    with np.errstate(over="ignore"):
        infos["bounds"][which] = np.stack((finite(low), finite(high)), axis=1)
        infos["local_origin"][which], infos["radius"][which] = finite(middle), finite(steady.lengths(high - middle))


def _shown_matrices(source: AnimationSource) -> Doubles:
    """Return what a source's bones are shown as, (F, B, 3, 4)."""
    codes = source.facts["codes"]
    packed = codes.dtype == np.uint16
    frames = np.zeros(len(codes), frame_dtype(codes.shape[1], packed))
    frames["bones"] = codes if packed else codes.view(np.float32)
    poses = to_poses(decode_matrices(Mdr(None, frames, np.zeros(0), [])))
    axes = to_matrices(poses.turns)
    if poses.scales is not None:
        axes = axes * poses.scales[..., None, None]
    return np.concatenate((axes, poses.places[..., None]), axis=-1)


def _packed(matrices: Doubles) -> NDArray[np.uint16]:
    """Return the codes (F, B, 12) of matrices (F, B, 3, 4) whose places are near enough; scales beyond 1 are cut."""
    places = np.rint(matrices[..., 3] / PLACE_STEP)
    turns = np.rint(matrices[..., :3].reshape(*matrices.shape[:2], 9) / TURN_STEP)
    if turns.size and float(np.abs(turns).max()) > FARTHEST:
        log.warning("bones larger than 1 are cut to that: packed frames hold no more")
    codes = np.clip(np.concatenate((places, turns), axis=-1), -MIDDLE, FARTHEST) + MIDDLE
    return np.asarray(codes, np.uint16)
