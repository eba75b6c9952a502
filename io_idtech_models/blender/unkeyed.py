"""What someone set and gave no key: a pose tried out, a tag that was moved before one inserts its key.

Blender forgets it with the next frame that is shown. So an export that runs through frames leaves it as it is, and says
that no frame which it wrote shows it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..model import steady
from ..model.transforms import same_turns
from ..reporting import listed
from .animated import Place, Value, kept, known, moving_curves
from .compat import Block, Context, action_parts, playing_curves
from .curves import playing_strips, plays, value_path
from .data_paths import value_at
from .properties import PREVIEW
from .roots import FRAME_PATH, TIME_PATH
from .scene import showing
from .takes import moved_by, used_actions

log = logging.getLogger(__name__)
ROUNDED = 1e-5  # of a value: as far Blender's own operators leave one from where a curve has it
TURN = "rotation_quaternion"
HALVED = 2  # a quaternion's angle is half the rotation's
BEGIN = 1  # where a new scene stands, wherever it starts
RESTING = ("location", "rotation_quaternion", "rotation_euler", "scale")  # of bones
NAMED = re.compile(r'(?:pose\.bones|key_blocks)\["((?:[^"\\]|\\.)*)"\]')


@contextmanager
def left_alone(context: Context) -> Iterator[None]:
    """Let an export leave alone what is set without a key, also where it lets other actions play."""
    context.view_layer.update()
    with kept():
        try:
            yield
        finally:
            context.view_layer.update()  # actions that played meanwhile have left their values


def say_unkeyed(blocks: Iterable[Block], scene: bpy.types.Scene) -> None:
    """Warn of what is set without a key, and moves some objects: no frame shows it that the scene plays."""
    owners = set(moved_by(blocks))
    _say_left_behind(owners)
    if not any(_may_be_off(owner, scene) for owner in owners):
        return
    with known() as animated, showing(scene) as show:
        values = animated.values()
        show(scene.frame_current + scene.frame_subframe)
        off = animated.changed(values, ROUNDED)
        had, has = (dict(zip(animated.places, each, strict=True)) for each in (values, animated.values()))
    off = [place for place in off if not _is_same_turn(place[1], had[place], has[place])]
    off = [place for place in off if not _is_as_keyed_last(place, had[place], scene)]
    names = [_name_of(owner, path) for owner, path in off if owner in owners and not _chooses_frame(owner, path)]
    if names:
        text = "set without a key, and so in no frame that is written, insert one (I) to keep it: %s"
        log.warning(text, listed(sorted(set(names))))


def _say_left_behind(owners: Iterable[Block]) -> None:
    """Warn of what stays as an action left it that played before, or as someone tried it out: nothing moves it now.

    So Blender shows it, till an action plays that moves it.
    """
    found = [_name_of(owner, path) for owner in owners for path in _left_behind(owner)]
    if found:
        text = (
            "posed though no curve moves it, and so in actions that leave it alone (clear it: Alt+G, Alt+R, Alt+S): %s"
        )
        log.warning(text, listed(sorted(set(found))))


def _left_behind(owner: Block) -> list[str]:
    """Return the paths of bones and shape keys that are not at rest, that another action moves, and nothing now."""
    away = _away_from_rest(owner).difference(curve.data_path for curve in moving_curves(owner) if plays(curve))
    if not away:
        return []
    own = used_actions(owner)
    strangers = {action for block in bpy.data.objects if block != owner for action in used_actions(block)}
    every: list[Block] = list(bpy.data.actions)
    others = [a for a in every if (a.users and a not in strangers and PREVIEW not in a) or a in own]
    parts = [curves for action in others for _, kind, curves in action_parts(action) if kind in ("", owner.id_type)]
    return sorted(away.intersection(curve.data_path for curves in parts for curve in curves))


def _away_from_rest(owner: Block) -> set[str]:
    """Return the paths of an armature's bones, or of shape keys, that have something else than where they rest."""
    if owner.id_type == "KEY":
        keys = owner.key_blocks[1:] if owner.use_relative else []
        return {value_path(key.name) for key in keys if key.value}
    if getattr(owner, "pose", None) is None:
        return set()
    bones, found = owner.pose.bones, set[str]()
    for name in RESTING:
        rest = bones[0].bl_rna.properties[name].default_array if len(bones) else ()
        values = np.empty((len(bones), len(rest)), np.float32)
        bones.foreach_get(name, values.ravel())
        for place in np.flatnonzero((np.abs(values - np.array(rest, np.float32)) > ROUNDED).any(axis=1)).tolist():
            found.add(f"{bones[place].path_from_id()}.{name}")
    return found


def _is_same_turn(path: str, value: Value, other: Value) -> bool:
    """Tell whether two values of a property are one rotation: a quaternion and its negative are, of any length."""
    if not (path.endswith(TURN) and isinstance(value, tuple) and isinstance(other, tuple)):
        return False
    turns = np.array([value, other], np.float64)
    return bool(turns.any(axis=1).all() and same_turns(*steady.directions(turns)) <= HALVED * ROUNDED)


def _is_as_keyed_last(place: Place, value: Value, scene: bpy.types.Scene) -> bool:
    """Tell whether a script keyed a property at one frame after another, and the scene never went along.

    Then it stands as its last keys have it, and the scene at its start. Who cleared a pose did so at any frame.
    """
    owner, path = place
    curves = [curve for curve in playing_curves(owner) if curve.data_path == path and len(curve.keyframe_points)]
    if not curves:
        return False
    first, last = min(curve.range()[0] for curve in curves), max(curve.range()[1] for curve in curves)
    if max(first, scene.frame_start, BEGIN) < scene.frame_current_final < last:
        return False
    return all(_is_at_last_key(curve, value) for curve in curves)


def _is_at_last_key(curve: Any, value: Value) -> bool:
    found = value if isinstance(value, tuple) else (value,)
    number, key = found[curve.array_index] if curve.array_index < len(found) else None, curve.keyframe_points[-1].co.y
    return isinstance(number, float) and abs(number - key) <= ROUNDED * max(1.0, abs(number))


def _may_be_off(owner: Block, scene: bpy.types.Scene) -> bool:
    """Tell whether a data-block may stand otherwise than its curves say; where NLA strips play, nobody knows."""
    animation = owner.animation_data
    if animation is None:
        return False
    if playing_strips(animation):
        return True
    values: dict[str, Value] = {}
    for curve in playing_curves(owner):
        path = curve.data_path
        if path not in values:
            values[path] = value_at(owner, path)
        value = values[path]
        now = value[curve.array_index] if isinstance(value, tuple) and curve.array_index < len(value) else value
        if now is not None and now != curve.evaluate(scene.frame_current_final):
            return True
    return False


def _chooses_frame(owner: Block, path: str) -> bool:
    """Tell whether a property says which of a model's frames is shown: who turns that looks, and edits nothing."""
    return path == FRAME_PATH or (path == TIME_PATH and owner.id_type == "KEY")


def _name_of(owner: Block, path: str) -> str:
    """Return what a user calls that to which a path leads: a bone, a shape key, else the data-block."""
    found = NAMED.match(path)
    return str(owner.name) if found is None else bpy.utils.unescape_identifier(found[1])
