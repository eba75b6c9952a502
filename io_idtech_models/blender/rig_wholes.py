"""The action of all frames of an armature that was made of frames: whose it is, and what becomes of clips without one.

Blender copies with an armature the action alone that it plays, and lets anybody delete any. A copy gets a whole and
clips of its own here, a whole that is gone is made anew of its clips, and all of them are kept where bones are renamed.
"""

from __future__ import annotations

import logging
import uuid
from typing import Any

import bpy

from ..reporting import plural
from . import names
from .compat import Block, new_curves, play, slot_name
from .curves import playing_strips
from .frame_rigs import (
    RIG,
    RIG_ALL,
    RIG_KEYS,
    RIG_WHOLE,
    is_copy,
    no_copies,
    posed_by,
    rig_actions,
    rig_id,
    twins_of,
    whole_of,
)
from .linked import is_from_library, is_linked
from .playback import keep, let_go
from .rig_clips import add_like, clips_of, frames_in_whole, span_in_whole
from .rig_poses import ActionPoses, write

log = logging.getLogger(__name__)


def new_whole(rig: Block) -> Block:
    """Return a new action that is to show all frames of an armature, still without curves."""
    action: Block = bpy.data.actions.new(names.fit(rig.name))
    action[RIG], action[RIG_WHOLE] = rig_id(rig), True
    names.remember(action, action.name)
    action.use_fake_user = True
    return action


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


def own_whole(rig: Block) -> Block | None:
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
    add_like(rig, [c for c in clips if c.name != given and (known is None or c.get(RIG_KEYS) != known)], own)
    for clip in (whole, *clips):
        let_go(rig, clip)
    return own


def _place(rig: Block) -> tuple[int, str]:
    return names.place_among_copies(rig.data.name)


def own_clips(rig: Block, whole: Block) -> None:
    """Give a copy of an armature (Shift+D) clips of its own: Blender copied the action alone that it played."""
    if clips_of(rig) or not is_copy(rig):  # someone copied the action alone
        return
    others: dict[Any, Block] = {}
    for action in bpy.data.actions:
        if action.get(RIG) == rig_id(rig) and action.get(RIG_ALL) not in (None, whole):
            others.setdefault((action.get(RIG_KEYS), names.file_name_of(action)), action)
            let_go(rig, action)
    add_like(rig, others.values(), whole)


def made_anew(rig: Block) -> Block | None:
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
    shown = {frame for clip in clips for frame in range(*span_in_whole(clip))}
    every = max((len(block.data.shape_keys.key_blocks) for block in posed_by(rig)), default=0)
    left = [frame for frame in range(every) if frame not in shown]
    if left:
        text = "%s of '%s' in no animation: there it rests (first: %d)"
        log.warning(text, plural(len(left), "frame"), rig.name, left[0])
    return whole


def adopt(rig: Block, whole: Block) -> None:
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
