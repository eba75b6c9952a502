"""Actions of an armature back to animations: the way back of `actions`.

Where nothing but curves of location and rotation moves the bones they are read as arrays; constraints, drivers, other
channels or a stretch of the scene are sampled by stepping. Either way a joint that has, in some frame, the channels
that import wrote in any of the source's frames names that frame, if the source's pose still is the joint's: so frames
may be deleted, inserted and retimed, and a rolled bone is noticed.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from ..model.skeletal import Animation
from ..model.transforms import from_matrices, same_turns
from . import actions, armature, names, takes
from .compat import Block, action_parts, playing_curves
from .shape_keys import curve_points
from .skeletal_gather import SkeletalGatherSettings, listed_bones, same_rest
from .skeletal_source import KnownAction, find, find_action

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
SAME_TURN, SAME_PLACE = 2e-5, 1e-4  # radians, units: closer is Blender's own rounding
FAR = 100.0  # units from the origin, beyond which that rounding grows
REST_CHANNELS = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.float32)


@dataclass(frozen=True)
class Stretch:
    """What to export: the frames (F,) of the scene, and what is called how."""

    name: str
    frames: NDArray[np.int64]
    frame_rate: float


@dataclass(eq=False)
class Bones:
    """The bones to export, as joints, and their rest relative to their parents."""

    names: list[str]  # in Blender
    joints: list[str]  # in the file
    parents: NDArray[np.int32]  # (J,)
    rest: Doubles  # (J, 4, 4)
    numbers: NDArray[np.int32]  # (J,) the file's joint that each was, or -1


def gather_bones(rig: Block, settings: SkeletalGatherSettings) -> Bones:
    """Return an armature's bones; raises LimitError if there is none to export."""
    bones, parents = listed_bones(rig, settings.deform_only)
    if not bones:
        raise LimitError(f"'{rig.name}' has no bone to export")
    rest = armature.rest_matrices(rig.data)
    matrices = np.array([rest[bone.name] for bone in bones]).reshape(-1, 4, 4)
    numbers = armature.joint_numbers(bones)
    known = find(rig)
    if known is not None:  # what only came back with another rounding counts as it was
        held = np.array([n if 0 <= n < len(known.rest) else -1 for n in numbers])
        own = np.flatnonzero(held >= 0)
        own = own[same_rest(matrices[own], known.rest[held[own]], known.scale)]
        matrices[own] = known.rest[held[own]]
    return Bones(
        [bone.name for bone in bones],
        [armature.joint_name(bone) for bone in bones],
        parents,
        armature.relative(matrices, parents),
        np.array(numbers, np.int32),
    )


def gather_action(
    rig: Block,
    action: bpy.types.Action,
    slot: Any,
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    settings: SkeletalGatherSettings,
    direct: bool = True,
) -> Animation:
    """Return the animation that an action is on an armature, whose view layer is up to date.

    Raises:
        LimitError: there is no bone to export, or no frame.
    """
    bones = gather_bones(rig, settings)
    first, last = (int(f) for f in (np.ceil(action.frame_range[0]), np.floor(action.frame_range[1])))
    if last < first:
        raise LimitError(f"'{action.name}' has no whole frame")
    rate = action.get(actions.RATE)
    known = find_action(action)
    if not isinstance(rate, int | float) or rate < 0:
        rate = scene.render.fps / scene.render.fps_base
    stretch = Stretch(names.file_name_of(action, settings.keep_suffixes), np.arange(first, last + 1), float(rate))
    world = np.array(rig.matrix_world, np.float64)
    with playing(rig, action, slot):
        if direct and is_direct(rig, bones):
            channels = read_channels(rig, bones, stretch.frames)
            poses = _told(bones, channels, world)
        else:
            channels, poses = step(rig, bones, stretch.frames, scene, view_layer, settings.scale)
    return _animation(bones, stretch, channels, poses, known, settings.scale)


def gather_scene(
    rig: Block,
    stretch: Stretch,
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    settings: SkeletalGatherSettings,
) -> Animation:
    """Return what the scene shows of an armature in a stretch of frames; raises LimitError."""
    bones = gather_bones(rig, settings)
    channels, poses = step(rig, bones, stretch.frames, scene, view_layer, settings.scale)
    return _animation(bones, stretch, channels, poses, None, settings.scale)


@contextmanager
def playing(rig: Block, action: Any, slot: Any) -> Iterator[None]:
    """Let an armature play an action (or None) alone meanwhile, even if it shows its rest else; see `takes.playing`."""
    parts = [] if action is None else action_parts(action)
    curves = next((found for own, _, found in parts if own == slot), [])
    position = rig.data.pose_position
    try:
        rig.data.pose_position = "POSE"
        with takes.playing(takes.Take("", action, [takes.Role(rig, slot, curves)], [])):
            yield
    finally:
        rig.data.pose_position = position


@contextmanager
def playing_track(rig: Block, track: Any) -> Iterator[None]:
    """Let an armature play one NLA track alone meanwhile."""
    tracks = rig.animation_data.nla_tracks
    muted = [(other, other.mute) for other in tracks]
    try:
        with playing(rig, None, None):
            rig.animation_data.use_nla = True
            for other in tracks:
                other.mute = other != track
            yield
    finally:
        for other, mute in muted:
            other.mute = mute


def is_direct(rig: Block, bones: Bones) -> bool:
    """Tell whether curves of location and quaternion alone pose the bones."""
    pose = rig.pose.bones
    if len(rig.animation_data.drivers) or rig.data.animation_data is not None:
        return False
    if rig.parent is not None or rig.constraints:  # these may move it
        return False
    if any(bone.constraints or not bone.bone.use_inherit_rotation or bone.bone.use_connect for bone in pose):
        return False
    if any(bone.bone.inherit_scale != "FULL" or bone.bone.use_local_location is False for bone in pose):
        return False
    paths = {path + kind for path in _paths(bones.names) for kind in actions.PATHS}
    curves = playing_curves(rig)
    posed = [rig.pose.bones[name] for name in bones.names]
    still = all(tuple(bone.scale) == (1.0, 1.0, 1.0) and bone.rotation_mode == "QUATERNION" for bone in posed)
    others = [bone for bone in pose if bone.name not in set(bones.names)]
    return still and not others and all(c.data_path in paths and not c.mute and not c.modifiers for c in curves)


def _paths(bone_names: list[str]) -> list[str]:
    return [f'pose.bones["{bpy.utils.escape_identifier(name)}"].' for name in bone_names]


def read_channels(rig: Block, bones: Bones, frames: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the channels (F, J, 7) that an armature's curves give its bones; what has no curve is as it stands."""
    values = np.empty((len(frames), len(bones.names), 7), np.float32)
    place = {}
    for joint, (name, path) in enumerate(zip(bones.names, _paths(bones.names), strict=True)):
        bone = rig.pose.bones[name]
        values[:, joint, :3], values[:, joint, 3:] = bone.location, bone.rotation_quaternion
        for channel in range(7):
            place[path + actions.PATHS[channel > 2], channel - 3 * (channel > 2)] = joint, channel
    times = frames.astype(np.float32)
    for curve in playing_curves(rig):
        joint, channel = place[curve.data_path, curve.array_index]
        at, keyed = curve_points(curve)
        if np.array_equal(at, times):
            values[:, joint, channel] = keyed
        elif len(at):
            values[:, joint, channel] = [curve.evaluate(frame) for frame in frames.tolist()]
    return values


def step(
    rig: Block,
    bones: Bones,
    frames: NDArray[np.int64],
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    scale: float,
) -> tuple[NDArray[np.float32], Doubles]:
    """Return the channels (F, J, 7) and the poses (F, J, 4, 4), relative to parents, that the scene shows."""
    present, sub = scene.frame_current, scene.frame_subframe
    order = [rig.pose.bones.find(name) for name in bones.names]
    count = len(rig.pose.bones)
    matrices, worlds = np.empty((len(frames), len(order), 4, 4)), np.empty((len(frames), 1, 4, 4))
    channels = np.empty((len(frames), len(order), 7), np.float32)
    buffers = np.empty(16 * count, np.float32), np.empty(3 * count, np.float32), np.empty(4 * count, np.float32)
    try:
        for index, frame in enumerate(frames.tolist()):
            scene.frame_set(frame)
            evaluated = rig.evaluated_get(view_layer.depsgraph)
            if not evaluated.is_evaluated:
                raise LimitError(f"'{rig.name}' is hidden: Blender does not move it")
            worlds[index, 0] = evaluated.matrix_world
            pose = evaluated.pose.bones
            for name, buffer in zip(("matrix", *actions.PATHS), buffers, strict=True):
                pose.foreach_get(name, buffer)
            matrices[index] = buffers[0].reshape(-1, 4, 4).transpose(0, 2, 1)[order]
            channels[index, :, :3] = buffers[1].reshape(-1, 3)[order]
            channels[index, :, 3:] = buffers[2].reshape(-1, 4)[order]
    finally:
        scene.frame_set(present, subframe=sub)
    moved, lost = armature.placed(matrices @ np.linalg.inv(armature.TURN), worlds)
    if lost.any():
        bent = [frames[lost.any(axis=1)][0], bones.names[int(lost.any(axis=0).argmax())]]
        log.warning("'%s': scale of bones is lost, joints have none: in frame %d that of '%s'", rig.name, *bent)
    shown = armature.relative(moved, bones.parents)
    return channels, _exact(shown, _told(bones, channels, worlds), moved, scale)


def _told(bones: Bones, channels: NDArray[np.float32], world: Doubles) -> Doubles:
    """Return the poses (F, J, 4, 4), relative to parents, that channels (F, J, 7) give bones of an armature."""
    poses = actions.from_channels(channels, bones.rest, bones.parents)
    if (world == np.eye(4)).all():
        return poses
    return armature.relative(armature.placed(armature.chained(poses, bones.parents), world)[0], bones.parents)


def _exact(shown: Doubles, told: Doubles, moved: Doubles, scale: float) -> Doubles:
    """Return poses (F, J, 4, 4) as the channels tell them where the scene shows the same, in single precision.

    `moved` are the poses in the world, whose distance from its origin decides how exact Blender is.
    """
    turns = same_turns(from_matrices(shown[..., :3, :3]), from_matrices(told[..., :3, :3]))
    ways = np.abs(shown[..., :3, 3] - told[..., :3, 3]).max(axis=-1)
    far = np.abs(moved[..., :3, 3]).max(axis=(-1, -2), initial=0.0)[..., None]
    same = (turns <= SAME_TURN) & (ways <= SAME_PLACE * np.maximum(scale, far / FAR))
    return np.where(same[..., None, None], told, shown)


def _animation(
    bones: Bones,
    stretch: Stretch,
    channels: NDArray[np.float32],
    poses: Doubles,
    known: KnownAction | None,
    scale: float,
) -> Animation:
    positions, rotations = poses[..., :3, 3] / scale, from_matrices(poses[..., :3, :3])
    frames = len(positions)
    animation = Animation(
        stretch.name, bones.joints, bones.parents, positions, rotations, stretch.frame_rate, np.zeros((frames, 2, 3))
    )
    if known is not None and known.scale == scale:
        animation.source = known.source
        animation.source_joints = _joints_of(bones, known)
        animation.source_frames = _source_frames(animation, channels, animation.source_joints, known)
    return animation


def _joints_of(bones: Bones, known: KnownAction) -> NDArray[np.int32]:
    """Return the source's joint of each bone, by the number that import gave it or its name, if the parents agree."""
    joints = known.source.joint_names
    numbers = np.where((bones.numbers >= 0) & (bones.numbers < len(joints)), bones.numbers, -1)
    taken = set(numbers.tolist())
    called = {name: joint for joint, name in enumerate(joints) if joint not in taken}
    for bone in np.flatnonzero(numbers < 0).tolist():
        numbers[bone] = called.pop(bones.joints[bone], -1)
    above = np.where(bones.parents >= 0, numbers[bones.parents], -1)
    fits = (numbers >= 0) & (known.source.parents[numbers] == above)
    first = np.unique(numbers, return_index=True)[1]
    single = np.zeros(len(numbers), np.bool_)
    single[first] = True
    return np.where(fits & single, numbers, -1).astype(np.int32)


def _source_frames(
    animation: Animation, channels: NDArray[np.float32], numbers: NDArray[np.int32], known: KnownAction
) -> NDArray[np.int32]:
    """Return the source's frames (F, J, 2) whose position and whose rotation each joint has, or -1.

    A frame in which all joints have the channels of one of the source's is that one; else each joint finds its own.
    """
    found = np.full((*channels.shape[:2], 2), -1, np.int32)
    joints = np.flatnonzero(numbers >= 0)
    if not len(joints):
        return found
    own, source = numbers[joints], known.source
    whole = _equal_frames(channels[:, joints], known.channels[:, own])
    for joint, number in zip(joints.tolist(), own.tolist(), strict=True):
        for part, which in enumerate((slice(0, 3), slice(3, 7))):
            hints = whole.copy()
            open_ = np.flatnonzero(hints < 0)
            if len(open_):
                hints[open_] = _equal_frames(channels[:, joint, which], known.channels[:, number, which])[open_]
            chosen = np.maximum(hints, 0)
            if part:
                near = same_turns(animation.rotations[:, joint], source.rotations[chosen, number]) <= SAME_TURN
            else:
                way = animation.positions[:, joint] - source.positions[chosen, number]
                near = np.linalg.norm(way, axis=1) <= SAME_PLACE
            found[:, joint, part] = np.where(near, hints, -1)
    return found


def _equal_frames(values: NDArray[np.float32], written: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the frame (F,) of `written` (S, ...) that has the numbers of `values` (F, ...): its own, or the first."""
    rows = np.concatenate((written.reshape(len(written), -1), values.reshape(len(values), -1)))
    _, first, classes = np.unique(_classes(rows), return_index=True, return_inverse=True)
    found = first[classes.reshape(-1)][len(written) :]
    found = np.where(found < len(written), found, -1)
    shared = min(len(written), len(values))
    same = (rows[:shared] == rows[len(written) : len(written) + shared]).all(axis=1)
    found[:shared][same] = np.flatnonzero(same)
    return found


def _classes(rows: NDArray[np.float32]) -> NDArray[Any]:
    """Return rows (n, k) as single values (n,) that are equal where the rows are, bit for bit."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
