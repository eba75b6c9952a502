"""Which motions of an armature an export means."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bpy
import numpy as np

from ..blender import names
from ..blender.compat import Context, action_parts, slot_claim
from ..blender.playback import used_actions
from ..blender.properties import PREVIEW
from ..blender.skeletal import gather_motion as motion
from ..blender.skeletal.bones import gather_bones, moved_bones
from ..blender.skeletal.gather_rig import SkeletalGatherSettings, gather_rig
from ..blender.skeletal.source import find
from ..formats import AnimationFormat
from ..model.skeletal import Animation, at_rest
from ..model.wording import listed
from ..reporting import LimitError
from . import animation_tables as ranges

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """One motion to write: what it is called, how to gather it, and the action that it is, if it is one."""

    name: str
    gather: Callable[[SkeletalGatherSettings], Animation]
    action: Any = None


def sources(rig: Any, row: AnimationFormat, what: str, asked: str, context: Context) -> list[Source]:
    """Return the motions that `what` means: ACTIVE, CHOSEN (the actions `asked` for), ALL, NLA, SCENE, or REST.

    Raises:
        LimitError: there is none, or it is a preview.
    """
    scene, layer = context.scene, context.view_layer
    if what == "SCENE":
        rate = scene.render.fps / scene.render.fps_base
        frames = np.arange(scene.frame_start, scene.frame_end + 1)
        if not len(frames):
            raise LimitError("the scene's range is empty")
        stretch = motion.Stretch(rig.name, frames, rate)
        return [Source(rig.name, lambda s: motion.gather_scene(rig, stretch, scene, layer, s))]
    if what == "REST":
        return [Source(rig.name, lambda s: at_rest(gather_rig(rig, find(rig), s).skeleton, rig.name))]
    if what == "NLA":
        return _strip_sources(rig, scene, layer)
    found = []
    once = lru_cache(maxsize=1)(lambda settings: gather_bones(rig, settings))
    for action in _actions(rig, row, what, asked):

        def gather_one(settings: SkeletalGatherSettings, a: Any = action) -> Animation:
            bones = once(settings)
            return motion.gather_action(rig, a, slot_of(rig, a), scene, layer, settings, bones=bones)

        found.append(Source(names.file_name_of(action), gather_one, action))
    return found


def slot_of(rig: Any, action: Any) -> Any:
    """Return the slot of an action that an armature plays, or would play; None where there are none."""
    slots = [slot for slot, kind, _ in action_parts(action) if kind in {"", "OBJECT"}]
    return max(slots, key=lambda slot: slot_claim(rig, action, slot), default=None)


def _actions(rig: Any, row: AnimationFormat, what: str, asked: str) -> list[Any]:
    found = _meant(rig, row, what, asked)
    previews = [action.name for action in found if PREVIEW in action]
    if previews:
        raise LimitError(f"{listed(previews)} shows how the game mixes others, and is no animation of its own")
    return found


def _meant(rig: Any, row: AnimationFormat, what: str, asked: str) -> list[Any]:
    animation = rig.animation_data
    if what == "ACTIVE":
        if animation is None or animation.action is None:
            raise LimitError(f"'{rig.name}' plays no action")
        return [animation.action]
    if what == "CHOSEN":
        called = [name.strip() for name in asked.split(",") if name.strip()]
        missing = [name for name in called if name not in bpy.data.actions]
        if missing or not called:
            raise LimitError(f"no action is called {listed(missing)}" if missing else "no action is named")
        return [bpy.data.actions[name] for name in called]
    kept = [action for action in _all(rig) if PREVIEW not in action and not (row.joins and ranges.is_part(action))]
    if not kept:
        raise LimitError(f"'{rig.name}' has no action")
    return kept


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


def _strip_sources(rig: Any, scene: Any, layer: Any) -> list[Source]:
    animation = rig.animation_data
    tracks = [] if animation is None else [track for track in animation.nla_tracks if not track.mute]
    strips = [(track, strip) for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        raise LimitError(f"'{rig.name}' has no NLA strip that plays")
    rate = scene.render.fps / scene.render.fps_base
    found = []
    for track, strip in strips:
        frames = np.arange(int(np.ceil(strip.frame_start)), int(np.floor(strip.frame_end)) + 1)
        stretch = motion.Stretch(strip.name, frames, rate)

        def gather_one(settings: SkeletalGatherSettings, t: Any = track, s: motion.Stretch = stretch) -> Animation:
            with motion.playing_track(rig, t):
                return motion.gather_scene(rig, s, scene, layer, settings)

        found.append(Source(strip.name, gather_one, strip.action))
    return found
