"""Actions of an armature that was made of frames: one that shows them all, the whole, and one for each animation.

So an animation's poses exist twice. What was changed in one of the two is taken to the other when it is looked at:
before another plays, and before an export. Each clip has a stamp of what both held when they were last alike; where
both have changed since, and not alike, the one that plays counts. The whole has those stamps, too: an export is no step
of Blender's undo, which then takes back the one of the two that was edited, and leaves the other as the export left it.

What an armature's action holds at whole frames is one array (`Poses`), which becomes keys of curves again.

Letters in shapes: C curves, F frames.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any
from zlib import crc32

import bpy
import numpy as np
from numpy.typing import NDArray

from ..reporting import listed, plural
from . import names, spans
from .compat import Block, is_muted, new_curves, play, slot_curves, slot_name
from .curves import (
    BONE_PATH,
    LINEAR,
    Keys,
    add_curves,
    curve_points,
    group_by_bone,
    moved_bones,
    playing_strips,
    read_keys,
)
from .frame_rigs import (
    CLIP,
    RIG,
    RIG_ALL,
    RIG_KEYS,
    RIG_WHOLE,
    is_copy,
    is_frame_rig,
    no_copies,
    partner_of,
    pose_part,
    posed_by,
    rig_actions,
    rig_id,
    twins_of,
    whole_of,
)
from .linked import is_from_library, is_linked
from .part_rests import own_rests
from .playback import call_tracks, has_path, keep, let_go
from .roots import bone_root
from .scene import bending

log = logging.getLogger(__name__)

FRAMES = "idtech_rig_frames"  # on a clip: when the whole shows its first frame, and how many frames it has
STAMP = "idtech_rig_stamp"  # on a clip: checksums of its own and the whole's poses when they were alike, and how often
SETTLED = "idtech_rig_settled"  # on the whole: of each clip which it is, what the whole held there, and how often
UNNAMED = "frames"  # what an animation without a name is called
Floats = NDArray[np.float32]
Channel = tuple[str, int]  # data path and index
NONE_SETTLED: Mapping[str, tuple[str, int]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class ClipWanted:
    """An animation of a model: what it is called, when the whole shows it, and the action that plays its keys alone."""

    name: str
    first: int
    count: int
    keys: Block | None = None

    def is_of(self, clip: Block) -> bool:
        """Tell whether a clip is this animation's: by the action of its keys, or where that has none by its name."""
        if self.keys is not None:
            return bool(clip.get(RIG_KEYS) == self.keys)
        same = names.file_name_of(clip) == self.name
        return RIG_KEYS not in clip and same and frames_in_whole(clip) == (self.first, self.count)


def pair(rig: Block, wanted: Iterable[ClipWanted]) -> None:
    """Let an armature have a clip for each animation of its keys, called as that is, and no other."""
    whole = whole_of(rig)
    if whole is None:
        return
    left, every = clips_of(rig), ActionPoses(whole)
    for each in wanted:
        clip = next((clip for clip in left if each.is_of(clip)), None)
        if clip is None:
            _add(rig, each, every, whole)
            continue
        left.remove(clip)
        if names.file_name_of(clip) != each.name:
            old, clip.name = clip.name, names.fit(each.name) or UNNAMED
            names.remember(clip, each.name)
            call_tracks(rig, old, clip)
    for clip in left:
        _remove(rig, clip)
    _note_settled(rig, whole)


def _add(rig: Block, wanted: ClipWanted, every: ActionPoses, whole: Block) -> None:
    """Make an action of an animation's frames; the armature keeps it."""
    action: Block = bpy.data.actions.new(names.fit(wanted.name) or UNNAMED)
    names.remember(action, wanted.name)
    new_curves(action, "OBJECT", slot_name(rig))
    action[RIG], action[RIG_ALL], action[FRAMES] = rig_id(rig), whole, [wanted.first, wanted.count]
    action[CLIP] = uuid.uuid4().hex[:8]
    if wanted.keys is not None:
        action[RIG_KEYS] = wanted.keys
    action.use_fake_user = True
    spans.set_range(action, 0, wanted.count - 1)
    keep(rig, action)
    _renew(action, every)


def _remove(rig: Block, action: Block) -> None:
    """Remove the action of an animation, and the track that keeps it."""
    let_go(rig, action)
    bpy.data.actions.remove(action)


def clips_of(rig: Block) -> list[Block]:
    """Return the actions of an armature's animations."""
    return [action for action in rig_actions(rig) if frames_in_whole(action)[1]]


def frames_in_whole(action: Block) -> tuple[int, int]:
    """Return when the whole shows a clip's first frame, and how many it has: none of what is no clip."""
    found = action.get(FRAMES)
    try:
        first, count = (int(number) for number in found) if found is not None else (0, 0)
    except (TypeError, ValueError):  # not as `_add` writes it
        return 0, 0
    return first, max(count, 0)


def play_along(rigs: Iterable[Block], action: Block, whole: bool = False) -> None:
    """Let armatures play what goes along with an action of their keys, or all frames where it shows the `whole`.

    What was changed until now is settled. Of a weapon beside its bearer the whole is an action of its own.
    """
    every = list(rigs)
    settle(every)
    play_partners(every, action, whole)


def play_partners(rigs: Iterable[Block], action: Block, whole: bool = False) -> None:
    """Do so without a look at what was changed."""
    for rig in rigs:
        partner = whole_of(rig) if whole else partner_of(rig, action)
        if partner is not None and rig.animation_data is not None:
            play(rig, partner)


def settle(rigs: Iterable[Block], decides: bool = True) -> None:
    """Take what was changed in clips to the wholes, and what was changed in these to clips.

    Where both were an armature stays as it is unless this `decides` which counts.
    """
    for rig in rigs:
        own_rests(rig)
        whole = _own_whole(rig)
        if whole is None and decides:
            whole = _made_anew(rig)
        if whole is not None:
            _adopt(rig, whole)
            _own_clips(rig, whole)
            keep_whole(rig, whole)
            _settle(rig, whole, decides)


def settle_all() -> None:
    """Do so with all armatures of this .blend that were made of frames: who links them finds both alike."""
    settle([rig for rig in bpy.data.objects if is_frame_rig(rig) and not is_from_library(rig)], decides=False)


def say_muted(rigs: Iterable[Block]) -> None:
    """Name animations of armatures that have muted curves, which are taken to the wholes all the same."""
    muted = [clip.name for rig in rigs for clip in clips_of(rig) if any(map(is_muted, curves_of(clip)))]
    if muted:
        log.warning("muted curves count as if they were not, delete them if they are not meant, of: %s", listed(muted))


def settle_near(blocks: Iterable[Block]) -> None:
    """Do so with armatures that were made of frames, among objects, or that bend some: meshes of one's own, too."""
    settle(dict.fromkeys(rig for block in blocks for rig in (block, *bending(block)) if is_frame_rig(rig)))


def _own_whole(rig: Block) -> Block | None:
    """Return the action of all frames: of a copy of an armature (Shift+D) that shares the first one's, one of its own.

    Blender copied the action alone that it played, which was an animation's. That becomes the copy's.
    """
    whole = whole_of(rig)
    twins = [twin for twin in twins_of(rig) if twin.data != rig.data and whole_of(twin) == whole]
    if whole is None or is_from_library(rig.data) or not any(_place(twin) < _place(rig) for twin in twins):
        return whole
    clips = [clip for clip in rig_actions(twins[0]) if clip != whole]
    own, rig.data[RIG] = whole.copy(), uuid.uuid4().hex
    for mesh in posed_by(rig):
        if mesh.data.users == 1:
            mesh.data.shape_keys[RIG] = rig.data[RIG]
    own[RIG], own.use_fake_user = rig.data[RIG], True
    playing: Any = None if rig.animation_data is None else rig.animation_data.action
    if playing == whole:
        play(rig, own)
    elif playing in clips:
        play(rig, playing := playing.copy())
    is_clip = playing is not None and playing.get(RIG_ALL) == whole
    if is_clip:
        let_go(rig, playing)
        playing[RIG], playing[RIG_ALL] = rig.data[RIG], own
    given = playing.get(names.GIVEN) if is_clip else None
    known = playing.get(RIG_KEYS) if is_clip else None
    _add_like(rig, [c for c in clips if c.name != given and (known is None or c.get(RIG_KEYS) != known)], own)
    for clip in (whole, *clips):
        let_go(rig, clip)
    return own


def _made_anew(rig: Block) -> Block | None:
    """Make the action of all frames anew of the animations where somebody deleted it; None where there are none."""
    clips = no_copies(_orphans(rig))
    if not clips or is_from_library(rig):
        return None
    playing = None if rig.animation_data is None else rig.animation_data.action
    clips.sort(key=lambda clip: clip == playing)  # which counts where several show the same frames
    whole = new_whole(rig)
    new_curves(whole, "OBJECT", slot_name(rig))
    for clip in clips:
        first, count = frames_in_whole(clip)
        write(whole, ActionPoses(clip).at(0, count), first)
    animation = rig.animation_data
    if animation is not None and animation.action is None and not playing_strips(animation):
        play(rig, whole)  # as before
    log.warning("the action of all frames of '%s' was gone: it is made anew of its animations", rig.name)
    shown = {frame for clip in clips for frame in range(*_span_in_whole(clip))}
    every = max((len(block.data.shape_keys.key_blocks) for block in posed_by(rig)), default=0)
    left = [frame for frame in range(every) if frame not in shown]
    if left:
        text = "%s of '%s' in no animation: there it rests (first: %d)"
        log.warning(text, plural(len(left), "frame"), rig.name, left[0])
    return whole


def keep_whole(rig: Block, whole: Block) -> None:
    """Keep the action of all frames with its armature: Blender renames bones only in what an object uses."""
    tracks = [] if rig.animation_data is None else rig.animation_data.nla_tracks
    kept = {strip.action for track in tracks for strip in track.strips if strip.action is not None and track.mute}
    if is_from_library(rig) or is_linked(whole):
        return
    for other in kept - {whole}:
        if other.get(RIG_WHOLE):  # of the armature that this is a copy of
            let_go(rig, other)
    if whole not in kept:
        keep(rig, whole)


def new_whole(rig: Block) -> Block:
    """Return a new action that is to show all frames of an armature, still without curves."""
    action: Block = bpy.data.actions.new(names.fit(rig.name))
    action[RIG], action[RIG_WHOLE] = rig_id(rig), True
    names.remember(action, action.name)
    action.use_fake_user = True
    return action


def _adopt(rig: Block, whole: Block) -> None:
    """Let clips be the whole's whose own one was deleted, of which this is a copy, or which this was made of."""
    for clip in _orphans(rig):
        if not is_linked(clip):
            clip[RIG_ALL] = whole


def _orphans(rig: Block) -> list[Block]:
    """Return the clips of an armature, and their copies, that name no action of all frames.

    Of copies of an armature that have one id nobody knows whose they are.
    """
    if twins_of(rig):
        return []
    own = [action for action in bpy.data.actions if action.get(RIG) == rig_id(rig) and rig_id(rig)]
    return [action for action in own if frames_in_whole(action)[1] and action.get(RIG_ALL) is None]


def _span_in_whole(clip: Block) -> tuple[int, int]:
    """Return when the whole shows a clip's frames: the first, and the one behind the last."""
    first, count = frames_in_whole(clip)
    return first, first + count


def _place(rig: Block) -> tuple[int, str]:
    return names.place_among_copies(rig.data.name)


def _own_clips(rig: Block, whole: Block) -> None:
    """Give a copy of an armature (Shift+D) clips of its own: Blender copied the action alone that it played."""
    if clips_of(rig) or not is_copy(rig):  # someone copied the action alone
        return
    others: dict[Any, Block] = {}
    for action in bpy.data.actions:
        if action.get(RIG) == rig_id(rig) and action.get(RIG_ALL) not in (None, whole):
            others.setdefault((action.get(RIG_KEYS), names.file_name_of(action)), action)
            let_go(rig, action)
    _add_like(rig, others.values(), whole)


def _add_like(rig: Block, clips: Iterable[Block], whole: Block) -> None:
    """Make clips of an armature's own whole, of the animations that another's clips are of."""
    every = ActionPoses(whole)
    for clip in clips:
        wanted = ClipWanted(names.file_name_of(clip), *frames_in_whole(clip), clip.get(RIG_KEYS))
        _add(rig, wanted, every, whole)


def _settle(rig: Block, whole: Block, decides: bool) -> None:
    playing = None if rig.animation_data is None else rig.animation_data.action
    every = ActionPoses(whole)
    settled = _settled(whole)
    changes = [(clip, _Change(clip, every, settled)) for clip in clips_of(rig)]
    changes.sort(key=lambda pair: pair[0] == playing)  # which counts where several show the same frames
    if not decides and any(change.own and change.wholes and not change.alike for _, change in changes):
        return  # an export says so
    if is_linked(whole):  # Blender changes no curves there
        _say_apart(rig, whole, [clip.name for clip, change in changes if change.any and not change.alike])
        return
    for clip, change in changes:
        _take_over(clip, change, every, rig)
    if any(change.any for _, change in changes):
        every = ActionPoses(whole)
        for clip, _ in changes:
            if _Change(clip, every).any:
                _renew(clip, every)
        _note_settled(rig, whole)


def _say_apart(rig: Block, whole: Block, clips: list[str]) -> None:
    """Name the clips of a linked armature that hold other poses than its whole, of which exports are."""
    if clips:
        text = "poses that '%s' of the linked '%s' does not show are not written, open that .blend and save it: of %s"
        log.warning(text, whole.name, rig.name, listed(clips))


def _take_over(clip: Block, change: _Change, every: ActionPoses, rig: Block) -> None:
    """Take what was changed in a clip to the whole, whose poses were `every`; where both were, the one that plays."""
    whole, plays = every.action, rig.animation_data is not None and rig.animation_data.action == clip
    if change.own and change.wholes and not change.alike:
        text = "'%s' and '%s' were both changed: the one that plays counts, '%s'"
        log.warning(text, clip.name, whole.name, clip.name if plays else whole.name)
    if change.own and (not change.wholes or plays):
        first, count = frames_in_whole(clip)
        poses = ActionPoses(clip).at(0, count)
        if not change.wholes:
            poses = _without_gone(poses, every, rig, plays)
        write(whole, _edited(poses, every, first), first)


def _edited(poses: Poses, before: ActionPoses, first: int) -> Poses:
    """Return what a clip makes of its frames in the whole; where it is as that was `before`, what others did."""
    count = poses.values.shape[1]
    was, now = before.at(first, count), ActionPoses(before.action).at(first, count)
    if not was.channels == now.channels == poses.channels:
        return poses
    return Poses(poses.channels, np.where(poses.values == was.values, now.values, poses.values))


def _without_gone(poses: Poses, every: ActionPoses, rig: Block, plays: bool) -> Poses:
    """Return a clip's poses with channels that were deleted there: as shown if it `plays`, else at rest."""
    known = set(poses.channels)
    gone = [each for each in every.channels if each not in known and has_path(rig, each[0])]
    held = [_held(rig, channel) if plays else _rest(channel) for channel in gone]
    more = np.repeat(np.array(held, np.float32).reshape(-1, 1), poses.values.shape[1], axis=1)
    channels = [*poses.channels, *gone]
    order = sorted(range(len(channels)), key=channels.__getitem__)
    return Poses([channels[place] for place in order], np.concatenate((poses.values, more))[order])


def _held(rig: Block, channel: Channel) -> float:
    """Return what a channel of an armature's pose is just now."""
    path, index = channel
    found = rig.path_resolve(path)
    return float(found[index] if hasattr(found, "__len__") else found)


def _note_settled(rig: Block, whole: Block) -> None:
    """Note on the whole what clips' stamps say of it."""
    stamps = ((_called(clip), *_stamp_of(clip)[1:]) for clip in clips_of(rig))
    whole[SETTLED] = " ".join(f"{called}:{poses}:{times}" for called, poses, times in stamps)


def _settled(whole: Block) -> dict[str, tuple[str, int]]:
    """Return what the whole held of clips when they were settled, and how often they were, as it knows."""
    noted = (each.split(":") for each in str(whole.get(SETTLED, "")).split())
    return {each[0]: (each[1], int(each[2])) for each in noted if len(each) == 3 and each[2].isdecimal()}


def _called(clip: Block) -> str:
    """Return which clip one is; of an older .blend a checksum of its name. Several may be of the same frames."""
    found = clip.get(CLIP)
    return found if isinstance(found, str) else f"{crc32(clip.name.encode()):08x}"


def _stamp_of(clip: Block) -> tuple[str, str, int]:
    """Return what a clip and the whole held when they were last alike, and how often they were settled."""
    own, whole, times = (*str(clip.get(STAMP, "")).split(), "", "", "")[:3]
    return own, whole, int(times) if times.isdecimal() else 0


class _Change:
    """What was changed of a clip, and of the same frames in the whole, since they were last alike.

    A clip that was changed alone is one, too, that was taken back to how it was before it was settled the last time,
    while the whole is as it was `settled` then.
    """

    def __init__(self, clip: Block, every: ActionPoses, settled: Mapping[str, tuple[str, int]] = NONE_SETTLED) -> None:
        before, wholes, times = _stamp_of(clip)
        self.stamp = _stamp(clip, every)
        self.own, self.wholes = self.stamp[0] != before, self.stamp[1] != wholes
        self.alike = self.stamp[0] == self.stamp[1]
        then, often = settled.get(_called(clip), ("", 0))
        if not self.own and then == self.stamp[1] and often > times:
            self.own, self.wholes = True, False
        self.any = self.own or self.wholes


def _stamp(clip: Block, every: ActionPoses) -> tuple[str, str]:
    """Return the checksums of a clip's poses, and of those of the same frames in the whole."""
    first, count = frames_in_whole(clip)
    return ActionPoses(clip).at(0, count).checksum(), every.at(first, count).checksum()


def _renew(clip: Block, every: ActionPoses, cut: bool = False) -> None:
    """Give a clip the whole's poses; `cut`: and nothing before or behind its frames, or between two of them."""
    first, count = frames_in_whole(clip)
    write(clip, every.at(first, count), 0, whole=True, cut=cut)
    times = 1 + max([_stamp_of(clip)[2], *(often for _, often in _settled(clip[RIG_ALL]).values())])
    clip[STAMP] = " ".join((*_stamp(clip, every), str(times)))


def whole_curves(rigs: Iterable[Block], root: Block | None) -> list[Any]:
    """Return the curves that show all frames of a model, or of the part of a player that has a root."""
    found = []
    for rig in rigs:
        whole = whole_of(rig)
        others = {bone.name for bone in rig.pose.bones if bone_root(bone) not in (None, root)}
        curves = [] if whole is None else curves_of(whole)
        found += [curve for curve in curves if others.isdisjoint(moved_bones([curve]))]  # constraints of theirs, too
    return found


def rewrite(rigs: Iterable[Block], order: list[Any]) -> None:
    """Give clips the frames that they have in a new order of the whole's: places of frames by the old one's."""
    for rig in rigs:
        whole = whole_of(rig)
        every = None if whole is None else ActionPoses(whole)
        for clip in clips_of(rig) if every is not None else ():
            first, count = frames_in_whole(clip)
            places = [place for place, frame in enumerate(order) if first <= frame <= first + count - 1]
            if not places:
                _remove(rig, clip)
                continue
            clip[FRAMES] = [places[0], len(places)]
            if len(places) != count:
                spans.resize(clip, len(places))
            if every is not None:
                _renew(clip, every, cut=True)
        if whole is not None:
            _note_settled(rig, whole)


@dataclass(eq=False)
class Poses:
    """What curves hold in a run of whole frames."""

    channels: list[Channel]  # (C)
    values: Floats  # (C, F)

    def checksum(self) -> str:
        """Return a number of what they hold, in hexadecimal: the same whatever bones are called."""
        named = [f"{BONE_PATH.sub('', path)} {index}".encode() for path, index in self.channels]
        values = zip(named, self.values + np.float32(0), strict=True)
        each = sorted(crc32(own.tobytes(), crc32(name)) for name, own in values)
        return f"{crc32(np.array(each, '<u4').tobytes()):08x}"


class ActionPoses:
    """The curves of an action that pose an armature, read once."""

    def __init__(self, action: Block) -> None:
        self.action = action
        named = {(curve.data_path, curve.array_index): curve for curve in curves_of(action)}
        self.channels = sorted(named)
        self.curves = [named[channel] for channel in self.channels]
        self.keys: Keys = read_keys(self.curves)

    @cached_property
    def _times(self) -> Floats | None:
        """Return when all curves have their keys; None if one has others."""
        times = self.keys.table[:, 0::2]
        common = not self.keys.others and times.size and (times == times[:1]).all()
        return times[0] if common else None

    def at(self, first: int, count: int) -> Poses:
        """Return what they hold in whole frames from a time on: their keys, or what is between."""
        times = np.arange(first, first + count, dtype=np.float32)
        found = None if self._times is None else places_of(self._times, times)
        if found is not None:
            return Poses(self.channels, np.ascontiguousarray(self.keys.table[:, 1::2][:, found]))
        values = np.array([values_at(curve, times) for curve in self.curves], np.float32)
        return Poses(self.channels, values.reshape(len(self.curves), count))


def curves_of(action: Block) -> list[Any]:
    """Return the curves of an action that pose an armature."""
    return pose_part(action)[1]


def places_of(at: Floats, times: Floats) -> NDArray[np.intp] | None:
    """Return which of rising numbers (n,) each of some others is, (F,); None if one of these is missing."""
    if not len(at):
        return None
    places = np.minimum(np.searchsorted(at, times), len(at) - 1)
    return places if np.array_equal(at[places], times) else None


def values_at(curve: Any, times: Floats) -> Floats:
    """Return a curve's values at times (F,)."""
    at, values = curve_points(curve)
    places = places_of(at, times)
    if places is not None:
        return values[places]
    return np.array([curve.evaluate(time) for time in times.tolist()], np.float32)


def write(action: Block, poses: Poses, first: int, whole: bool = False, cut: bool = False) -> None:
    """Give an action's curves what others hold, from a time on.

    Elsewhere a bone that had no such curve rests; but if that is the `whole` action, it has no other curves then, and
    if it is `cut`, no other keys.
    """
    slot = pose_part(action)[0]
    curves = slot_curves(action, slot)
    known = {(curve.data_path, curve.array_index): curve for curve in curves}
    for channel in known.keys() - set(poses.channels) if whole else ():
        curves.remove(known[channel])
    times = np.arange(first, first + poses.values.shape[1], dtype=np.float32)
    new = [place for place, channel in enumerate(poses.channels) if channel not in known]
    added, around = poses.values[new], times
    if not whole:
        rest = np.array([[_rest(poses.channels[place])] for place in new], np.float32).reshape(-1, 1)
        added, around = np.hstack((rest, added, rest)), np.r_[first - 1, times, times[-1:] + 1].astype(np.float32)
    add_curves(curves, [poses.channels[place] for place in new], around, np.ascontiguousarray(added))
    for channel, own in zip(poses.channels, poses.values, strict=True):
        curve = known.get(channel)
        if curve is not None and (cut or not np.array_equal(values_at(curve, times), own)):
            _overwrite(curve, times, own, cut)
    group_by_bone(action, slot)


def _rest(channel: Channel) -> float:
    """Return what a channel is where a bone rests."""
    path, index = channel
    return float(path.endswith("scale") or (path.endswith("rotation_quaternion") and index == 0))


def _overwrite(curve: Any, times: Floats, wanted: Floats, cut: bool) -> None:
    """Give a curve values at times, where it has keys or not; `cut`: it keeps no other keys."""
    at, values = curve_points(curve)
    places = places_of(at, times)
    if places is not None and not (cut and len(at) != len(times)):
        values[places] = wanted
        curve.keyframe_points.foreach_set("co", np.stack((at, values), axis=1).ravel())
        curve.update()
        return
    kept = np.zeros(len(at), np.bool_) if cut else (at < times[0]) | (at > times[-1])
    points = np.stack((np.r_[at[kept], times], np.r_[values[kept], wanted]), axis=1)
    points = points[np.argsort(points[:, 0], kind="stable")].astype(np.float32)
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", points.ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
    curve.update()
