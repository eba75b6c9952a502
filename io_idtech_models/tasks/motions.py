"""Which motions of an armature an export means."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import bpy

from ..blender import names
from ..blender.compat import action_parts, slot_claim
from ..blender.playback import used_actions
from ..blender.properties import PREVIEW
from ..blender.skeletal import gather_motion
from ..blender.skeletal.bones import moved_bones
from ..blender.skeletal.gather_rig import gather_rig
from ..blender.skeletal.rig_scene import RigScene
from ..formats import Row
from ..model.clips import Clip
from ..model.skeletal import Animation, at_rest
from ..model.wording import listed
from ..reporting import LimitError
from . import animation_tables
from .animations.rigs import in_order

log = logging.getLogger(__name__)


Names = str | tuple[str, ...]  # of actions; a text has commas between


class NoActionError(LimitError):
    """An armature has no action, or plays none."""


@dataclass(frozen=True)
class Source:
    """One motion to write: what it is called, how to gather it, and the action that it is, if it is one."""

    name: str
    gather: Callable[[], Animation]
    action: Any = None


def sources(export: RigScene, row: Row, what: str, asked: Names) -> list[Source]:
    """Return the motions that `what` means: ACTIVE, CHOSEN (the actions `asked` for), ALL, NLA, SCENE, or REST.

    Raises:
        NoActionError: there is none.
        LimitError: it is not to be exported, or the scene has no frames.
    """
    rig, scene = export.rig, export.scene
    if what == "SCENE":
        clip = Clip(rig.name, scene.frame_start, scene.frame_end + 1 - scene.frame_start, export.frame_rate)
        if clip.count < 1:
            raise LimitError("the scene's range is empty")
        return [Source(rig.name, lambda: gather_motion.gather_scene(export, clip))]
    if what == "REST":
        return [Source(rig.name, lambda: at_rest(gather_rig(export).skeleton, rig.name))]
    if what == "NLA":
        return _strip_sources(export)
    found = []
    for action in _actions(rig, row, what, asked):

        def gather_one(a: Any = action) -> Animation:
            return gather_motion.gather_action(export, a, slot_of(rig, a))

        found.append(Source(names.file_name_of(action), gather_one, action))
    return found


def slot_of(rig: Any, action: Any) -> Any:
    """Return the slot of an action that an armature plays, or would play; None where there are none."""
    slots = [slot for slot, kind, _ in action_parts(action) if kind in {"", "OBJECT"}]
    return max(slots, key=lambda slot: slot_claim(rig, action, slot), default=None)


def actions_of(rig: Any, row: Row) -> list[Any]:
    """Return all animations of an armature, as `sources` means them; raises NoActionError where there is none."""
    return _meant(rig, row, "ALL", "")


def _actions(rig: Any, row: Row, what: str, asked: Names) -> list[Any]:
    found = _meant(rig, row, what, asked)
    previews = [action.name for action in found if PREVIEW in action]
    if previews:
        said = "shows how the game mixes others, and is no animation of its own: choose another action"
        raise LimitError(f"{listed(previews)} {said}")
    return found


def _meant(rig: Any, row: Row, what: str, asked: Names) -> list[Any]:
    animation = rig.animation_data
    if what == "ACTIVE":
        if animation is None or animation.action is None:
            raise NoActionError(f"'{rig.name}' plays no action")
        return [animation.action]
    if what == "CHOSEN":
        called = names.called(asked)
        missing = [name for name in called if name not in bpy.data.actions]
        if missing or not called:
            raise LimitError(
                f"no action is called {listed(missing)}" if missing else "no action is named: tick or name some"
            )
        return [bpy.data.actions[name] for name in called]
    kept = [
        action
        for action in _all(rig)
        if PREVIEW not in action and not (row.joins_clips and animation_tables.is_part(action))
    ]
    if not kept:
        raise NoActionError(f"'{rig.name}' has no action")
    return in_order(kept)


def _all(rig: Any) -> list[Any]:
    """Return the actions that an armature keeps and plays, and those that fit it and are no other object's.

    What fits but is used by nothing, which Blender forgets with the next saving, is left out, and said.
    """
    found = used_actions(rig)
    others = {action for block in bpy.data.objects if block != rig for action in used_actions(block)}
    every: list[Any] = list(bpy.data.actions)
    loose = [a for a in every if a not in found and a not in others and PREVIEW not in a and _fits(rig, a)]
    lost = [action.name for action in loose if not action.users]
    if lost:
        text = "actions that nothing uses are left out, give them a fake user to keep them: %s"
        log.warning(text, listed(lost))
    return [*found, *(action for action in loose if action.users)]


def _fits(rig: Any, action: Any) -> bool:
    """Tell whether an action moves bones, and all of them are an armature's."""
    slot = slot_of(rig, action)
    bones = moved_bones(next((curves for own, _, curves in action_parts(action) if own == slot), []))
    return bool(bones) and all(bone in rig.data.bones for bone in bones)


def _strip_sources(export: RigScene) -> list[Source]:
    rig = export.rig
    animation = rig.animation_data
    tracks = [] if animation is None else [track for track in animation.nla_tracks if not track.mute]
    strips = [(track, strip) for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        raise LimitError(f"'{rig.name}' has no NLA strip that plays")
    found = []
    for track, strip in strips:
        first, last = ceil(strip.frame_start), floor(strip.frame_end)
        clip = Clip(strip.name, first, last + 1 - first, export.frame_rate)

        def gather_one(t: Any = track, c: Clip = clip) -> Animation:
            with gather_motion.playing_track(rig, t):
                return gather_motion.gather_scene(export, c)

        found.append(Source(strip.name, gather_one, strip.action))
    return found
