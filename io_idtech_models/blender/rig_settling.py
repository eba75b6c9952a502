"""Poses that two actions of an armature hold, its whole and a clip, are made alike again.

What was changed in one of the two is taken to the other when it is looked at: before another plays, and before an
export. Where both have changed since they were alike, and not alike, the one that plays counts. The whole has the
clips' stamps, too: an export is no step of Blender's undo, which then takes back the one of the two that was edited,
and leaves the other as the export left it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import bpy
import numpy as np

from ..reporting import listed
from .compat import Block, is_muted, play
from .frame_rigs import is_frame_rig, partner_of, whole_of
from .linked import is_from_library, is_linked
from .part_rests import own_rests
from .rig_clips import checksums, clips_of, frames_in_whole, id_of, note_settled, renew, settled_of, stamp_of
from .rig_poses import ActionPoses, Channel, Poses, at_rest, curves_of, write
from .rig_wholes import adopt, keep_whole, made_anew, own_clips, own_whole
from .scene import bending
from .takes import has_path

log = logging.getLogger(__name__)

NONE_SETTLED: Mapping[str, tuple[str, int]] = MappingProxyType({})


def settle(rigs: Iterable[Block], decides: bool = True) -> None:
    """Take what was changed in clips to the wholes, and what was changed in these to clips.

    Where both were an armature stays as it is unless this `decides` which counts.
    """
    for rig in rigs:
        own_rests(rig)
        whole = own_whole(rig)
        if whole is None and decides:
            whole = made_anew(rig)
        if whole is not None:
            adopt(rig, whole)
            own_clips(rig, whole)
            keep_whole(rig, whole)
            _settle(rig, whole, decides)


def settle_near(blocks: Iterable[Block]) -> None:
    """Do so with armatures that were made of frames, among objects, or that bend some: meshes of one's own, too."""
    settle(dict.fromkeys(rig for block in blocks for rig in (block, *bending(block)) if is_frame_rig(rig)))


def settle_all() -> None:
    """Do so with all armatures of this .blend that were made of frames: who links them finds both alike."""
    settle([rig for rig in bpy.data.objects if is_frame_rig(rig) and not is_from_library(rig)], decides=False)


def say_muted(rigs: Iterable[Block]) -> None:
    """Name animations of armatures that have muted curves, which are taken to the wholes all the same."""
    muted = [clip.name for rig in rigs for clip in clips_of(rig) if any(map(is_muted, curves_of(clip)))]
    if muted:
        log.warning("muted curves count as if they were not, delete them if they are not meant, of: %s", listed(muted))


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


def _settle(rig: Block, whole: Block, decides: bool) -> None:
    playing = None if rig.animation_data is None else rig.animation_data.action
    every = ActionPoses(whole)
    settled = settled_of(whole)
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
                renew(clip, every)
        note_settled(rig, whole)


class _Change:
    """What was changed of a clip, and of the same frames in the whole, since they were last alike.

    A clip that was changed alone is one, too, that was taken back to how it was before it was settled the last time,
    while the whole is as it was `settled` then.
    """

    def __init__(self, clip: Block, every: ActionPoses, settled: Mapping[str, tuple[str, int]] = NONE_SETTLED) -> None:
        before, wholes, times = stamp_of(clip)
        self.stamp = checksums(clip, every)
        self.own, self.wholes = self.stamp[0] != before, self.stamp[1] != wholes
        self.alike = self.stamp[0] == self.stamp[1]
        then, often = settled.get(id_of(clip), ("", 0))
        if not self.own and then == self.stamp[1] and often > times:
            self.own, self.wholes = True, False
        self.any = self.own or self.wholes


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
    held = [_held(rig, channel) if plays else at_rest(channel) for channel in gone]
    more = np.repeat(np.array(held, np.float32).reshape(-1, 1), poses.values.shape[1], axis=1)
    channels = [*poses.channels, *gone]
    order = sorted(range(len(channels)), key=channels.__getitem__)
    return Poses([channels[place] for place in order], np.concatenate((poses.values, more))[order])


def _held(rig: Block, channel: Channel) -> float:
    """Return what a channel of an armature's pose is just now."""
    path, index = channel
    found = rig.path_resolve(path)
    return float(found[index] if hasattr(found, "__len__") else found)


def _say_apart(rig: Block, whole: Block, clips: list[str]) -> None:
    """Name the clips of a linked armature that hold other poses than its whole, of which exports are."""
    if clips:
        text = "poses that '%s' of the linked '%s' does not show are not written, open that .blend and save it: of %s"
        log.warning(text, whole.name, rig.name, listed(clips))
