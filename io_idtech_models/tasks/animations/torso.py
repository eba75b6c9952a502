"""Actions that are made to look at."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender import properties
from ...blender.compat import Context
from ...blender.hanging import in_space
from ...blender.leaders import cast
from ...blender.playback import changing_over, drop_solo
from ...blender.skeletal import gather_motion
from ...blender.skeletal.build import SkeletalSettings, add_animations
from ...blender.skeletal.kept_frames import keeps_frames
from ...blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ...blender.takes import used_actions
from ...blender.window import object_mode
from ...formats import ROWS, Format
from ...reporting import LimitError
from .kept import KeptAnimations


def preview_torso(rig: Any, legs: str, torso: str, pitch: float, yaw: float, context: Context) -> Any:
    """Make an action that shows what the game makes of two, and let the armature play it; returns it.

    Of an armature that keeps files of frames rows are named, too, whose actions are made if they have none; what such a
    preview showed before is gone.

    Raises:
        LimitError: there is no such action, or no bone follows the torso.
    """
    with object_mode(context):
        legs, torso = (_made(rig, name, context) for name in (legs, torso))
        context.view_layer.update()
        export = rig_scene(context.scene, context.view_layer, SkeletalGatherSettings(deform_only=False), rig)
        if export.stored is not None:
            export = export.asking(scale=export.stored.scale)  # the size of a game unit at import
        with in_space("AUTO", [rig], context.view_layer):
            actions = [bpy.data.actions[name] for name in (legs, torso)]
            parts = [gather_motion.gather_action(export, cast(rig, action)) for action in actions]
        known = [part.source.format for part in parts if part.source is not None]
        known += [] if export.stored is None else [export.stored.source.format]
        animation = _playing(known).mixed(parts[0], parts[1], f"{legs} + {torso}", (pitch, yaw))
        _forget(rig)
        shown = SkeletalSettings(scale=export.settings.scale, frame_rate=False)
        with changing_over([rig]):
            drop_solo(rig)
            action = add_animations(rig, [animation], shown, context.scene)[0]
    properties.show(action, properties.PREVIEW, True)
    return action


def _made(rig: Any, name: str, context: Context) -> str:
    """Return the name of the action that a name means: its own, or that of a row."""
    if name in bpy.data.actions:
        return name
    if not keeps_frames(rig):
        raise LimitError(f"no action is called '{name}'")
    animations = KeptAnimations(rig)
    return animations.made(animations.find(name), context.scene).key


def _forget(rig: Any) -> None:
    """Remove the previews that an armature which keeps files of frames has, each in a track of its own."""
    if not keeps_frames(rig):
        return
    old = [action for action in used_actions(rig) if properties.PREVIEW in action]
    tracks = rig.animation_data.nla_tracks if old else []
    for track in [track for track in tracks if any(strip.action in old for strip in track.strips)]:
        rig.animation_data.nla_tracks.remove(track)
    for action in old:
        bpy.data.actions.remove(action)


def _playing(known: list[str]) -> Format:
    """Return the format whose game shows how two motions mix: the first known one that has such games, or any."""
    rows = [row for row in ROWS if row.motion.torso]
    return next((row for name in known for row in rows if row.name == name), rows[0])
