"""Actions of an armature back to animations: the way back of `build.add_animations` and `channels`.

Where nothing but curves of location and rotation moves the bones they are read as arrays; constraints, drivers, other
channels or a stretch of the scene are sampled by stepping. Either way joints name the source's frames whose poses they
have: see `source_frames`.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from mathutils import Euler, Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.alignment import Origin, homes
from ...model.clips import Clip
from ...model.skeletal import LEAST, Animation, Scales
from ...model.transforms import from_matrices, same_turns
from ...reporting import LimitError, advance, collected_warnings
from .. import names, playback
from ..compat import Block, is_muted, playing_curves
from ..curves import Keys, read_keys
from ..joints import TURN_BACK
from ..leaders import alone, cast
from ..properties import FRAME_RATE
from ..provenance import Claims
from ..roots import FRAME_PATH, frame_root, is_carried, posed_parts
from ..scene import positioned, showing, unstretched
from ..spans import Span, span_between, warn_of_length
from ..takes import Take
from . import armature, bone_scales
from . import channels as pose_channels
from .bones import KINDS, REST_CHANNELS, SCALES, WIDTHS, BonesInMotion
from .made_keys import frames_as_made
from .rig_scene import RigScene
from .source import StoredAction, find_action
from .source_frames import SAME_PLACE, SAME_TURN, find_frames

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
FAR = 100.0  # units from the origin, beyond which that rounding grows
LED = 1e-3  # of an armature's size, and of axes: what stands off by less is Blender's rounding
PROBES = ((0.0, 0.0, 0.0), (0.9, 0.6, -0.7))  # poses in which bones show whether anything else moves them
CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
SAME_SCALE = 1e-4  # part of it: Blender's own rounding, down a chain of bones


@dataclass(eq=False)
class Shown:
    """What an armature shows in F frames, and how."""

    channels: NDArray[np.float32]  # (F, J, 7), or (F, J, 10) with the bones' scale
    positions: Doubles  # (F, J, 3) relative to parents
    rotations: Doubles  # (F, J, 4)
    total: Doubles | None = None  # (F, J) how large bones are; None: as they are at rest
    scales: Scales | None = None  # inherited ones, of formats that have such


def gather_action(export: RigScene, take: Take, direct: bool = True) -> Animation:
    """Return the animation that a take (see `blender.leaders`) is on an armature, whose view layer is up to date.

    Raises:
        LimitError: there is no bone to export, or no frame.
    """
    action = take.action
    known = find_action(action)
    count = 0 if known is None else len(known.source.positions)
    keys = read_keys([curve for role in take.roles for curve in role.curves])
    span = span_between(action, keys.ends(), count)
    if span is None:
        raise LimitError(f"'{action.name}' has no whole frame")
    name = names.file_name_of(action, export.settings.keep_suffixes)
    clip = Clip(name, span.first, span.last + 1 - span.first, rate_of(action, export))
    found = _in_frames(export, take, keys if direct else None, clip, known)
    frames = _counting(export, action, found, span, count)
    warn_of_length(action, span.first + int(frames[0]), span.first + int(frames[-1]), count)
    found.loops = bool(action.use_cyclic)
    return found if len(frames) == found.num_frames else found.of_frames(frames)


def origin_of(export: RigScene, action: Block | None, shown: Animation) -> Origin | None:
    """Return which frames of its file an action still has, of which an animation was gathered; None of one's own.

    At another scale than that of its import nothing is as in the file: then they are looked for at that one.
    """
    known = None if action is None else find_action(action)
    if action is not None and known is not None and known.scale != export.settings.scale:
        with collected_warnings():  # what there is to say was said of what is written
            shown = gather_action(export.asking(scale=known.scale), cast(export.rig, action))
    if shown.source is None or shown.source_frames is None:
        return None
    count = len(shown.source.positions)
    return Origin(homes(shown.source_frames, count), count)


def rate_of(action: Block, export: RigScene) -> float:
    """Return the frames a second that an action says, else the scene's."""
    rate = action.get(FRAME_RATE)
    return float(rate) if isinstance(rate, int | float) and rate >= 0 else export.frame_rate


def _counting(export: RigScene, action: Block, animation: Animation, span: Span, count: int) -> NDArray[np.int64]:
    """Return the frames (n,) of an action's animation, which has those of a span, that count: its source has `count`.

    Those beyond the keys do while they show just what the source's frames of the same number do, or what import's keys
    did there, which bones that were rolled show otherwise; where keys last as long as the source did, they were moved.
    """
    frames = np.arange(animation.num_frames)
    counts = (frames >= span.first_key - span.first) & (frames <= span.last_key - span.first)
    is_whole = span.last_key + 1 - span.first_key == count
    if span.is_open and not is_whole and count:
        made, numbers = frames_as_made(export.rig, action, np.arange(count)), frames + span.first
        same = made[np.clip(numbers, 0, count - 1)] & (numbers >= 0) & (numbers < count)
        if animation.source_frames is not None and animation.source_joints is not None:
            own = animation.source_frames[:, animation.source_joints >= 0]
            same |= (own == numbers[:, None, None]).all(axis=(1, 2))
        before, after = np.flatnonzero(counts)[[0, -1]].tolist()
        counts[:before] = np.logical_and.accumulate(same[:before][::-1])[::-1]
        counts[after + 1 :] = np.logical_and.accumulate(same[after + 1 :])
    return np.flatnonzero(counts)


def _in_frames(export: RigScene, take: Take, keys: Keys | None, clip: Clip, known: StoredAction | None) -> Animation:
    """Return what a take is in a run of frames: by the keys, or without these by stepping."""
    rig, bones = export.rig, export.bones
    frames = np.array(clip.frames, np.int64)
    world = export.place()
    found: Channels | None = None
    free = keys is not None and is_free(rig, bones)
    if keys is not None and free:  # without playing it, where the curves say all
        found = _told(export, read_channels(rig, bones, frames, keys, plays=False))
    if found is None:
        with playing(rig, take):
            found = read_channels(rig, bones, frames, read_keys(playing_curves(rig))) if free else None
            found = _told(export, found)
            if found is None:
                return _animation(export, clip, step(export, frames), known)
    if export.settings.holds.stretches:
        return _animation(export, clip, _stretched(bones, *found, world), known)
    total = None if found[1] is None else bones.even_total(found[1])
    poses = _given_poses(bones, bones.maps, found[0], total, world)
    return _animation(export, clip, Shown(found[0], *poses, total), known)


def _told(export: RigScene, found: Channels | None) -> Channels | None:
    """Return channels of curves where they tell what the format has of how bones are scaled."""
    if found is None or found[1] is None:
        return found
    bones = export.bones
    told = bones.grows if export.settings.holds.stretches else bones.even_total(found[1]) is not None
    return found if told else None


def _stretched(
    bones: BonesInMotion, channels: NDArray[np.float32], scales: NDArray[Any] | None, world: Doubles
) -> Shown:
    """Return what channels (F, J, 7) and scales of bones (F, J, 3) show, with inherited scales."""
    positions, rotations = pose_channels.from_channels(channels, bones.maps)
    held = bone_scales.inherited(scales, positions.shape)
    if not (world == np.eye(4)).all():
        whole = bone_scales.chained(positions, rotations, held, bones.parents)
        positions, rotations, held, _ = bone_scales.relative_poses(whole, world, bones.parents)
    own = np.ones((*channels.shape[:2], 3), np.float32) if scales is None else scales
    return Shown(np.concatenate((channels, own), axis=-1, dtype=np.float32), positions, rotations, None, held)


def gather_scene(export: RigScene, clip: Clip) -> Animation:
    """Return what the scene shows of an armature in a run of its frames; raises LimitError."""
    seen = step(export, np.array(clip.frames, np.int64))
    return _animation(export, clip, seen, None)


@contextmanager
def playing(rig: Block, take: Take) -> Iterator[None]:
    """Let a take be played alone for an armature meanwhile, even if this shows its rest else; see `playback`.

    The scene's frames are the action's, as where curves are read: Time Stretching is the scene's. Of an armature that
    was made of a player's parts these show their files' frames of the same numbers, whatever rows play.
    """
    with unstretched(), positioned(rig, "POSE"), _parts_in_step(rig, take), playback.playing(take):
        yield


@contextmanager
def _parts_in_step(rig: Block, take: Take) -> Iterator[None]:
    roots = [] if take.action is None else list(dict.fromkeys(map(frame_root, posed_parts([rig]))))
    if not roots:
        yield
        return
    frames = range(int(take.action.frame_range[1]) + 1)
    with playback.value_takes(FRAME_PATH, [dict.fromkeys(roots, frames)]) as (shown,), playback.playing(shown):
        yield


@contextmanager
def playing_track(rig: Block, track: Any) -> Iterator[None]:
    """Let an armature play one NLA track alone meanwhile."""
    tracks = rig.animation_data.nla_tracks
    muted, solo = [(other, other.mute) for other in tracks], [other for other in tracks if other.is_solo]
    try:
        with playing(rig, alone(rig, None, None)):
            rig.animation_data.use_nla = True
            for other in tracks:
                other.is_solo, other.mute = False, other != track
            yield
    finally:
        for other, mute in muted:
            other.mute = mute
        for other in solo:
            other.is_solo = True


def is_free(rig: Block, bones: BonesInMotion) -> bool:
    """Tell whether nothing but curves moves the bones, and all of them are exported."""
    pose = rig.pose.bones
    driven = rig.animation_data is not None and len(rig.animation_data.drivers)
    if driven or rig.data.animation_data is not None or rig.constraints or is_carried(rig):
        return False
    held = any(not bone.use_inherit_rotation or not bone.use_local_location for bone in rig.data.bones)
    moved = any(bone.constraints or bone.rotation_mode != "QUATERNION" for bone in pose)
    return not held and not moved and len(pose) == len(bones.names)


def is_led(export: RigScene) -> bool:
    """Tell whether more than channels moves bones: in a pose that these say, at rest and turned, they are elsewhere.

    Blender is asked: constraints, drivers and what an armature follows lead them so, whatever action plays, and with
    none; what carries an armature does so in other frames. Its view layer is up to date.
    """
    rig, bones = export.rig, export.bones
    if is_free(rig, bones):
        return False
    return is_carried(rig) or any(_is_elsewhere(export, turn) for turn in PROBES)


def _is_elsewhere(export: RigScene, turn: tuple[float, float, float]) -> bool:
    """Tell whether bones are not where channels put them that turn each by an angle about each of its axes, radians."""
    rig, every = export.rig, export.rig.data.bones  # parents before children, which those of a file need not be
    own = Euler(turn).to_matrix().to_4x4()
    rest, number = armature.rest_matrices(rig.data), {bone.name: nth for nth, bone in enumerate(every)}
    parents = np.array([-1 if bone.parent is None else number[bone.parent.name] for bone in every])
    turned = steady.products(armature.relative(np.array(list(rest.values())), parents), np.array(own))
    wanted = dict[str, Any]()
    for bone, place in zip(every, turned, strict=True):
        wanted[bone.name] = place if bone.parent is None else steady.products(wanted[bone.parent.name], place)
    with playing(rig, alone(rig, None, None)), _posed(rig, own):
        export.view_layer.update()
        shown = export.evaluated(rig)
        poses = np.empty(16 * len(shown.pose.bones), np.float32)
        shown.pose.bones.foreach_get("matrix", poses)
        world, called = np.array(shown.matrix_world, np.float64), [bone.name for bone in shown.pose.bones]
    places = steady.products(world, poses.reshape(-1, 4, 4).transpose(0, 2, 1))
    off = np.abs(places - np.array([wanted[name] for name in called]))
    reach = float(np.ptp(places[:, :3, 3], axis=0).max(initial=1.0))
    return bool(off[:, :3, 3].max(initial=0.0) > LED * reach or off[:, :3, :3].max(initial=0.0) > LED)


@contextmanager
def _posed(rig: Block, own: Matrix) -> Iterator[None]:
    """Let the channels of each of an armature's bones say a turn against its rest (4, 4) meanwhile, and no more."""
    bones = rig.pose.bones
    kept = {path: np.empty((len(bones), width), np.float32) for path, width in CHANNELS.items()}
    for path, values in kept.items():
        bones.foreach_get(path, values.ravel())
    for bone in bones:
        bone.matrix_basis = own
    rig.update_tag()
    try:
        yield
    finally:
        for path, values in kept.items():
            bones.foreach_set(path, values.ravel())
        rig.update_tag()


Channels = tuple[NDArray[np.float32], NDArray[np.float32] | None]


def read_channels(
    rig: Block, bones: BonesInMotion, frames: NDArray[np.int64], keys: Keys, plays: bool = True
) -> Channels | None:
    """Return the channels (F, J, 7) that the keys of curves give bones, and their scale (F, J, 3), or None.

    What has no curve is as it stands, if the armature `plays` the curves; a connected bone has no location of its own.
    None if they do not say all, or more: then only the scene knows.
    """
    times, wide = frames.astype(np.float32), sum(WIDTHS)
    values, keyed = np.zeros((wide * len(bones.names), len(frames)), np.float32), np.zeros(len(bones.rows), np.bool_)
    found, number_of = [], bones.rows.get
    for curve in keys.curves:
        row = number_of((curve.data_path, curve.array_index), -1)
        if row < 0 or is_muted(curve) or curve.modifiers:
            return None
        found.append(row)
    rows = np.array(found, np.int64)
    keyed[rows] = keys.counts() > 0
    points = keys.of_count(len(frames))
    values[rows] = points[:, 1::2]
    for nth in np.flatnonzero((points[:, 0::2] != times).any(axis=1)).tolist():
        if keyed[rows[nth]]:
            values[rows[nth]] = [keys.curves[nth].evaluate(frame) for frame in frames.tolist()]
    connected = np.array([rig.data.bones[name].use_connect for name in bones.names], np.bool_)
    locations = connected[:, None] & (np.arange(wide) < WIDTHS[0])
    keyed |= locations.ravel()
    if not keyed.all():
        still = _standing(rig, bones)
        odd = still != REST_CHANNELS
        if not plays and (~keyed.reshape(-1, wide) & ((np.arange(wide) < SCALES) | odd)).any():
            return None
        values[~keyed] = still.reshape(-1, 1)[~keyed]
    by_bone = values.reshape(-1, wide, len(frames))
    by_bone[locations] *= np.abs(by_bone[locations]) <= SAME_PLACE  # a file's own rounding tells its frames
    scales = by_bone[:, SCALES:]
    channels = np.ascontiguousarray(by_bone[:, :SCALES].transpose(2, 0, 1))
    return channels, None if (scales == 1).all() else np.ascontiguousarray(scales.transpose(2, 0, 1))


def _order(rig: Block, bones: BonesInMotion) -> list[int]:
    """Return which of an armature's posed bones each bone is."""
    places = {bone.name: place for place, bone in enumerate(rig.pose.bones)}
    return [places[name] for name in bones.names]


def _standing(rig: Block, bones: BonesInMotion) -> NDArray[np.float32]:
    """Return location, quaternion and scale (J, 10) of the bones as they stand."""
    order = _order(rig, bones)
    found = [np.empty((len(rig.pose.bones), width), np.float32) for width in WIDTHS]
    for kind, values in zip(KINDS, found, strict=True):
        rig.pose.bones.foreach_get(kind, values.ravel())
    return np.concatenate(found, axis=1)[order]


def step(export: RigScene, frames: NDArray[np.int64]) -> Shown:
    """Return the channels and what the scene shows."""
    rig, bones = export.rig, export.bones
    order = _order(rig, bones)
    count = len(rig.pose.bones)
    matrices, worlds = np.empty((len(frames), len(order), 4, 4)), np.empty((len(frames), 1, 4, 4))
    channels = np.empty((len(frames), len(order), sum(WIDTHS)), np.float32)
    buffer, parts = np.empty(16 * count, np.float32), [np.empty((count, width), np.float32) for width in WIDTHS]
    with showing(export.scene) as show:
        for index, frame in enumerate(frames.tolist()):
            advance(index, len(frames))
            show(frame)
            evaluated = export.evaluated(rig)
            if not evaluated.is_evaluated:
                raise LimitError(f"'{rig.name}' is hidden: Blender does not move it")
            worlds[index, 0] = evaluated.matrix_world
            pose = evaluated.pose.bones
            pose.foreach_get("matrix", buffer)
            for kind, values in zip(KINDS, parts, strict=True):
                pose.foreach_get(kind, values.ravel())
            matrices[index] = buffer.reshape(-1, 4, 4).transpose(0, 2, 1)[order]
            channels[index] = np.concatenate(parts, axis=1)[order]
    return _shown(export, frames, channels, matrices, worlds)


def _shown(
    export: RigScene, frames: NDArray[np.int64], channels: NDArray[np.float32], matrices: Doubles, worlds: Doubles
) -> Shown:
    """Return what poses (F, J, 4, 4) in the armature show, as the channels (F, J, 10) tell it where they do."""
    rig, bones = export.rig, export.bones
    if export.settings.holds.stretches:
        return _shown_stretched(export, frames, channels, matrices, worlds)
    size = steady.cube_roots(steady.determinants(matrices[..., :3, :3]))
    gone = np.abs(size) < LEAST / 2
    unseen = np.abs(matrices[..., :3, :3]).max(axis=(-1, -2)) < LEAST / 2  # not flat alone
    hidden = unseen | ((bones.parents >= 0) & unseen[:, bones.parents])  # what can't be seen, nor what hangs on it
    whole = matrices.copy()
    whole[..., :3, :3] /= np.where(gone, 1.0, size)[..., None, None]
    moved, lost = armature.placed(steady.products(whole, TURN_BACK), worlds)
    lost &= ~hidden
    if lost.any():
        bent = [frames[lost.any(axis=1)][0], bones.names[int(lost.any(axis=0).argmax())]]
        log.warning("'%s': uneven scale of bones is lost: in frame %d that of '%s'", rig.name, *bent)
    relative = armature.relative(moved, bones.parents)
    even = bones.even_total(channels[..., SCALES:])
    total = np.ones(size.shape) if even is None else even
    total = np.where(hidden | (np.abs(total - size) <= SAME_SCALE * np.abs(total)), total, size)
    seen = Shown(channels[..., :SCALES], relative[..., :3, 3], from_matrices(relative[..., :3, :3]), total)
    given = [
        _given_poses(bones, by_rest, seen.channels, total, worlds)
        for by_rest in (pose_channels.maps(bones.present, bones.parents), bones.maps)
    ]
    same = hidden | _are_same(seen, *given[0], moved, export.settings.scale)
    for values, wanted in ((seen.positions, given[1][0]), (seen.rotations, given[1][1])):
        values[same] = wanted[same]
    return seen


def _shown_stretched(
    export: RigScene, frames: NDArray[np.int64], channels: NDArray[np.float32], matrices: Doubles, worlds: Doubles
) -> Shown:
    """Return what poses (F, J, 4, 4) in the armature show with inherited scales; see `_shown`."""
    rig, bones = export.rig, export.bones
    whole = steady.products(matrices, TURN_BACK)
    positions, rotations, scales, sheared = bone_scales.relative_poses(whole, worlds, bones.parents)
    if sheared.any():
        bent = [frames[sheared.any(axis=1)][0], bones.names[int(sheared.any(axis=0).argmax())]]
        log.warning("'%s': shear of bones is lost: in frame %d that of '%s'", rig.name, *bent)
    seen = Shown(channels, positions, rotations, None, scales)
    if bones.grows and (worlds == np.eye(4)).all():
        given = _stretched(bones, channels[..., :SCALES], channels[..., SCALES:], worlds[0, 0])
        assert given.scales is not None
        near = np.abs(given.scales.values - scales.values).max(axis=-1, initial=0.0)
        same = near <= SAME_SCALE * np.abs(given.scales.values).max(axis=-1, initial=0.0)
        moved = steady.products(whole, np.eye(4))
        same &= _are_same(seen, given.positions, given.rotations, moved, export.settings.scale)
        positions[same], rotations[same] = given.positions[same], given.rotations[same]
        scales.values[same] = given.scales.values[same]
    return seen


def _given_poses(
    bones: BonesInMotion,
    by_rest: pose_channels.Maps,
    channels: NDArray[np.float32],
    total: Doubles | None,
    world: Doubles,
) -> tuple[Doubles, Doubles]:
    """Return the poses, relative to parents, that channels (F, J, 7) give bones with a certain rest.

    Positions (F, J, 3) and rotations (F, J, 4); `total` (F, J) is how large bones are, which moves their children.
    """
    positions, rotations = pose_channels.from_channels(channels, by_rest)
    if total is not None:
        positions = positions * bone_scales.above(bones.parents, total)[..., None]
    if (world == np.eye(4)).all():
        return positions, rotations
    poses = armature.chained(armature.joint_matrices(positions, rotations), bones.parents)
    poses = armature.relative(armature.placed(poses, world)[0], bones.parents)
    return poses[..., :3, 3], from_matrices(poses[..., :3, :3])


def _are_same(seen: Shown, positions: Doubles, rotations: Doubles, moved: Doubles, scale: float) -> NDArray[np.bool_]:
    """Tell which poses (F, J) the scene shows as the channels tell them, in single precision.

    `moved` are the poses in the world, whose distance from its origin decides how exact Blender is.
    """
    distances = np.abs(seen.positions - positions).max(axis=-1)
    far = np.abs(moved[..., :3, 3]).max(axis=(-1, -2), initial=0.0)[..., None]
    turned = same_turns(seen.rotations, rotations) <= SAME_TURN
    return np.asarray(turned & (distances <= SAME_PLACE * np.maximum(scale, far / FAR)))


def _animation(export: RigScene, clip: Clip, shown: Shown, known: StoredAction | None) -> Animation:
    bones, scale = export.bones, export.settings.scale
    marked = np.zeros(len(bones.joints), np.bool_) if bones.scales_way is None else bones.scales_way
    scales = shown.scales or bone_scales.from_bones(shown.total, marked)
    ways = 1.0 if scales is None or scales.inherited else scales.of_ways()[..., None]
    positions, rotations, channels = shown.positions / (scale * ways), shown.rotations, shown.channels
    frames = len(positions)
    animation = Animation(
        clip.name, bones.joints, bones.parents, positions, rotations, clip.frame_rate, np.zeros((frames, 2, 3))
    )
    animation.scales, animation.times = scales, np.array(clip.frames, np.float64)
    size = steady.cube_roots(np.abs(steady.determinants(np.array(export.rig.matrix_world, np.float64)[None, :3, :3])))
    animation.traits, animation.lengths = bones.traits, steady.lengths(bones.rest[:, :3, 3]) * (size / scale)
    if known is not None and known.scale == scale:
        animation.source = known.source
        animation.source_joints = _joints_of(bones, known)
        animation.source_frames = find_frames(animation, channels, animation.source_joints, known)
    return animation


def _joints_of(bones: BonesInMotion, known: StoredAction) -> NDArray[np.int32]:
    """Return the source's joint of each bone, by the number that import gave it or its name, if the parents agree."""
    joints = known.source.joint_names
    numbers = np.where((bones.numbers >= 0) & (bones.numbers < len(joints)), bones.numbers, -1)
    taken = set(numbers.tolist())
    called = {name: joint for joint, name in enumerate(joints) if joint not in taken}
    for bone in np.flatnonzero(numbers < 0).tolist():
        numbers[bone] = called.pop(bones.joints[bone], -1)
    above = np.where(bones.parents >= 0, numbers[bones.parents], -1)
    fits = (numbers >= 0) & (known.source.parents[numbers] == above)
    claims = Claims()
    first = np.array([claims.take(number) for number in numbers.tolist()], np.bool_)
    return np.where(fits & first, numbers, -1).astype(np.int32)
