"""Actions that are made to look at."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender import properties
from ...blender.compat import Context
from ...blender.skeletal import gather_motion
from ...blender.skeletal.build import SkeletalSettings, add_animations
from ...blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ...blender.window import object_mode
from ...formats import ROWS, Format
from ...reporting import LimitError
from ..export.motion_sources import slot_of


def preview_torso(rig: Any, legs: str, torso: str, pitch: float, yaw: float, context: Context) -> Any:
    """Make an action that shows what the game makes of two, and let the armature play it; returns it.

    Raises:
        LimitError: there is no such action, or no bone follows the torso.
    """
    for name in (legs, torso):
        if name not in bpy.data.actions:
            raise LimitError(f"no action is called '{name}'")
    with object_mode(context):
        context.view_layer.update()
        export = rig_scene(context.scene, context.view_layer, SkeletalGatherSettings(deform_only=False), rig)
        if export.stored is not None:
            export = export.asking(scale=export.stored.scale)  # the size of a game unit at import
        parts = []
        for name in (legs, torso):
            action = bpy.data.actions[name]
            slot = slot_of(rig, action)
            parts.append(gather_motion.gather_action(export, action, slot))
        known = [part.source.format for part in parts if part.source is not None]
        known += [] if export.stored is None else [export.stored.source.format]
        animation = _playing(known).mixed(parts[0], parts[1], f"{legs} + {torso}", (pitch, yaw))
        shown = SkeletalSettings(scale=export.settings.scale, frame_rate=False)
        action = add_animations(rig, [animation], shown, context.scene)[0]
    properties.show(action, properties.PREVIEW, True)
    return action


def _playing(known: list[str]) -> Format:
    """Return the format whose game shows how two motions mix: the first known one that has such games, or any."""
    rows = [row for row in ROWS if row.motion.torso]
    return next((row for name in known for row in rows if row.name == name), rows[0])
