"""Bones that turn by Euler angles or about an axis, and are to turn by quaternions, as animations of files do."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Quaternion
from numpy.typing import NDArray

from ...reporting import listed
from ..compat import Block, action_parts, slot_curves
from ..curves import add_curves, bone_path, curve_points, group_by_bone, playing_strips, playing_tracks, plays
from ..linked import is_linked
from ..takes import loose_actions, used_actions

log = logging.getLogger(__name__)
OTHERS = {"AXIS_ANGLE": ("rotation_axis_angle", 4)}  # by modes: the property, and how many numbers it has
EULER = ("rotation_euler", 3)


def turn_by_quaternions(rig: Block, bones: list[Block]) -> None:
    """Let pose bones be turned by quaternions, and so their keys in the actions of the armature.

    Where another number of keys would show something else, or others have an action, too, it stays, and is named.
    """
    others = [bone for bone in bones if bone.rotation_mode != "QUATERNION"]
    if not others:
        return
    apart, left = _not_alone(rig), []
    for action in dict.fromkeys([*used_actions(rig), *loose_actions([rig])]):
        parts = [(slot, found) for slot, kind, found in action_parts(action) if kind in ("", "OBJECT")]
        turning = [(slot, bone, own) for slot, found in parts for bone in others if (own := _turning(found, bone))]
        if not turning:
            continue
        every = [curve for _, found in parts for curve in found]
        if action in apart or is_linked(action) or not all(_is_plain(own, bone, every) for _, bone, own in turning):
            left.append(action.name)
            continue
        for slot, bone, own in turning:
            _convert(slot_curves(action, slot), own, bone)
        for slot in dict.fromkeys(slot for slot, _, _ in turning):
            group_by_bone(action, slot)
    driven = {curve.data_path for curve in (rig.animation_data.drivers if rig.animation_data else ())}
    for bone in others:
        if f"{bone_path(bone.name)}.{_property(bone)[0]}" in driven:
            left.append(bone.name)
        bone.rotation_mode = "QUATERNION"
    text = "'%s': these bones turn by quaternions now, as in files, and so do their keys, one in each frame: %s"
    log.warning(text, rig.name, listed([bone.name for bone in others]))
    if left:
        text = "'%s': angles stay in these, which turn the bones again once you set their Rotation Mode back: %s"
        log.warning(text, rig.name, listed(left))


def _property(bone: Block) -> tuple[str, int]:
    return OTHERS.get(bone.rotation_mode, EULER)


def _not_alone(rig: Block) -> set[Any]:
    """Return the actions that other armatures have, too, that constraints play, and that are mixed with others."""
    armatures: list[Any] = [block for block in bpy.data.objects if block.type == "ARMATURE"]
    found = {action for each in armatures if each != rig for action in used_actions(each)}
    posed = (bone for each in armatures if each.pose is not None for bone in each.pose.bones)  # none before it is seen
    holds = (hold for bone in posed for hold in bone.constraints)
    found |= {hold.action for hold in holds if hold.type == "ACTION"}
    animation = rig.animation_data
    strips = playing_strips(animation)
    played = [] if animation is None or animation.action is None else [animation.action]
    layers = len(played) + (len(playing_tracks(animation)) if strips else 0)
    if layers > 1 or any(_is_mixed(strip) for strip in strips):
        found |= {*played, *(strip.action for strip in strips)}
    return found


def _is_mixed(strip: Any) -> bool:
    """Tell whether an NLA strip shows its action in part, or between the action's frames."""
    fades = strip.blend_in or strip.blend_out or strip.use_animated_influence or strip.use_animated_time
    return strip.blend_type != "REPLACE" or bool(fades) or strip.scale != 1.0


def _turning(known: Iterable[Any], bone: Block) -> dict[int, Any]:
    """Return the curves by which a bone turns in its mode, by their indices."""
    path = f"{bone_path(bone.name)}.{_property(bone)[0]}"
    return {curve.array_index: curve for curve in known if curve.data_path == path and plays(curve)}


def _is_plain(own: dict[int, Any], bone: Block, every: list[Any]) -> bool:
    """Tell whether curves show no more than what lies between their first and last keys, in one mode of rotation."""
    mode = f"{bone_path(bone.name)}.rotation_mode"
    keyed = all(len(c.keyframe_points) and not c.modifiers and c.extrapolation == "CONSTANT" for c in own.values())
    return keyed and all(curve.data_path != mode for curve in every)


def _convert(curves: Any, own: dict[int, Any], bone: Block) -> None:
    """Give a bone quaternion curves in the place of its `own`, by which it turns."""
    name, size = _property(bone)
    keyed = np.concatenate([curve_points(curve)[0] for curve in own.values()])
    whole = np.arange(np.floor(keyed.min()), np.ceil(keyed.max()) + 1)
    times: NDArray[np.float32] = np.unique(np.concatenate((keyed, whole))).astype(np.float32)
    still = list(getattr(bone, name))
    rows = [[own[i].evaluate(time) if i in own else still[i] for i in range(size)] for time in times.tolist()]
    turns = np.array([_quaternion(bone.rotation_mode, row) for row in rows], np.float32)
    flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0, np.float32(-1), np.float32(1))
    turns[1:] *= np.cumprod(flips)[:, None]  # the short way from each to the next
    path = f"{bone_path(bone.name)}.rotation_quaternion"
    for curve in [*own.values(), *(curve for curve in curves if curve.data_path == path)]:
        curves.remove(curve)
    add_curves(curves, [(path, index) for index in range(4)], times, np.ascontiguousarray(turns.T))


def _quaternion(mode: str, row: list[float]) -> Quaternion:
    if mode == "AXIS_ANGLE":
        angle, *axis = row
        return Quaternion(axis, angle)
    return Euler(row, mode).to_quaternion()
