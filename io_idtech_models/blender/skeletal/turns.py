"""Bones that turn by Euler angles or about an axis, and are to turn by quaternions, as animations of files do."""

from __future__ import annotations

import logging
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Quaternion
from numpy.typing import NDArray

from ...reporting import listed
from ..compat import Block, slot_curves
from ..curves import add_curves, bone_path, curve_points, group_by_bone, plays
from ..leaders import curves_of, slot_of
from ..linked import is_linked
from ..playback import used_actions

log = logging.getLogger(__name__)
OTHERS = {"AXIS_ANGLE": ("rotation_axis_angle", 4)}  # by modes: the property, and how many numbers it has
EULER = ("rotation_euler", 3)


def turn_by_quaternions(rig: Block, bones: list[Block]) -> None:
    """Let pose bones be turned by quaternions, and so their keys in the actions that the armature plays and keeps.

    Not in those of another .blend, or that another armature has, too: they are named.
    """
    others = [bone for bone in bones if bone.rotation_mode != "QUATERNION"]
    if not others:
        return
    rigs = (block for block in bpy.data.objects if block.type == "ARMATURE" and block != rig)
    shared = {action for each in rigs for action in used_actions(each)}
    left = []
    for action in used_actions(rig):
        slot = slot_of(rig, action)
        own = {bone: _turning(curves_of(action, slot), bone) for bone in others}
        if not any(own.values()):
            continue
        if is_linked(action) or action in shared:
            left.append(action.name)
            continue
        for bone, turning in own.items():
            if turning:
                _convert(slot_curves(action, slot), curves_of(action, slot), turning, bone)
        group_by_bone(action, slot)
    for bone in others:
        bone.rotation_mode = "QUATERNION"
    text = "'%s': these bones turn by quaternions now, as in files, and so do their keys, one in each frame: %s"
    log.warning(text, rig.name, listed([bone.name for bone in others]))
    if left:
        text = "Euler angles in actions that others have, too, turn no bones of '%s' any more, give it copies: %s"
        log.warning(text, rig.name, listed(left))


def _turning(known: list[Any], bone: Block) -> dict[int, Any]:
    """Return the curves by which a bone turns in its mode, by their indices."""
    path = f"{bone_path(bone.name)}.{OTHERS.get(bone.rotation_mode, EULER)[0]}"
    return {curve.array_index: curve for curve in known if curve.data_path == path and plays(curve)}


def _convert(curves: Any, known: list[Any], own: dict[int, Any], bone: Block) -> None:
    """Give a bone quaternion curves in the place of its `own`, by which it turns."""
    name, size = OTHERS.get(bone.rotation_mode, EULER)
    keyed = np.concatenate([curve_points(curve)[0] for curve in own.values()])
    whole = np.arange(np.floor(keyed.min()), np.ceil(keyed.max()) + 1)
    times: NDArray[np.float32] = np.unique(np.concatenate((keyed, whole))).astype(np.float32)
    still = list(getattr(bone, name))
    rows = [[own[i].evaluate(time) if i in own else still[i] for i in range(size)] for time in times.tolist()]
    turns = np.array([_quaternion(bone.rotation_mode, row) for row in rows], np.float32)
    flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0, np.float32(-1), np.float32(1))
    turns[1:] *= np.cumprod(flips)[:, None]  # the short way from each to the next
    path = f"{bone_path(bone.name)}.rotation_quaternion"
    for curve in [*own.values(), *(curve for curve in known if curve.data_path == path)]:
        curves.remove(curve)
    add_curves(curves, [(path, index) for index in range(4)], times, np.ascontiguousarray(turns.T))


def _quaternion(mode: str, row: list[float]) -> Quaternion:
    if mode == "AXIS_ANGLE":
        angle, *axis = row
        return Quaternion(axis, angle)
    return Euler(row, mode).to_quaternion()
