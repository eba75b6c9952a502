"""What someone set and gave no key: animated properties are evaluated anew with each frame that is shown.

A pose tried out, a tag that was moved before one inserts its key: an export that runs through frames would lose it, and
what it writes does not show it. So that is left as it is, and said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from re import compile as pattern
from typing import Any

import bpy

from ..reporting import listed
from .compat import Block, Context, action_parts, playing_curves
from .curves import playing_tracks
from .data_paths import set_value, value_at
from .roots import FRAME_PATH, TIME_PATH

NAMED = pattern(r'(?:pose\.bones|key_blocks)\["((?:[^"\\]|\\.)*)"\]')
Value = Any  # a number, or a tuple of them


class _Animated:
    """The properties that curves move in a .blend."""

    def __init__(self) -> None:
        users = bpy.data.user_map(subset=set(bpy.data.actions)).values()
        owners: set[Any] = {user for each in users for user in each}
        owners |= {user.node_tree for user in owners if getattr(user, "node_tree", None) is not None}
        self.places = [(owner, path) for owner in owners for path in _moved_paths(owner)]

    def values(self) -> list[Value]:
        """Return what each has."""
        return [_read(owner, path) for owner, path in self.places]

    def restore(self, values: list[Value]) -> list[tuple[Block, str]]:
        """Give each what it had; return those that had something else."""
        changed = [
            (place, value)
            for place, value, now in zip(self.places, values, self.values(), strict=True)
            if value is not None and now != value
        ]
        for (owner, path), value in changed:
            with suppress(ReferenceError):  # what was removed meanwhile
                set_value(owner, path, value)
        return [place for place, _ in changed]


def _read(owner: Block, path: str) -> Value:
    with suppress(ValueError, TypeError, ReferenceError):  # what is not there can have a curve, too
        return value_at(owner, path)
    return None


def _moved_paths(owner: Block) -> list[str]:
    """Return the paths of what the action and the NLA strips that play on a data-block move."""
    animation = getattr(owner, "animation_data", None)
    if animation is None:
        return []
    strips = [strip for track in playing_tracks(animation) for strip in track.strips]
    actions = dict.fromkeys(strip.action for strip in strips if strip.action is not None)
    curves = playing_curves(owner)
    for action in actions:
        curves += [c for _, kind, found in action_parts(action) if kind in ("", owner.id_type) for c in found]
    return list(dict.fromkeys(curve.data_path for curve in curves))


_running: list[_Animated] = []  # of exports that run


@contextmanager
def kept() -> Iterator[None]:
    """Let animated properties be in the end what they are now, whatever frames are shown meanwhile."""
    animated = _running[-1] if _running else _Animated()
    values = animated.values()
    try:
        yield
    finally:
        animated.restore(values)


@contextmanager
def left_alone(context: Context, moving: Iterable[Block]) -> Iterator[list[str]]:
    """Let an export leave alone what is set without a key, also where it lets other actions play.

    In the end the list that it gives says what of that moves the model: `moving` are the data-blocks whose curves do,
    see `playback.influences`; none where what is shown is what is written.
    """
    notes: list[str] = []
    context.view_layer.update()
    animated = _Animated()
    values = animated.values()
    _running.append(animated)
    try:
        yield notes
        wanted = list(moving)
        if any(_may_be_off(owner, context.scene) for owner in wanted):
            context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    finally:
        _running.pop()
        context.view_layer.update()  # actions that played meanwhile have left their values
        changed = animated.restore(values)
    names = [_name_of(owner, path) for owner, path in changed if owner in wanted and not _chooses_frame(owner, path)]
    if names:
        text = "set without a key, and so in no frame that is written, insert one (I) to keep it"
        notes.append(f"{text}: {listed(list(dict.fromkeys(names)))}")


def _may_be_off(owner: Block, scene: bpy.types.Scene) -> bool:
    """Tell whether a data-block may stand otherwise than its curves say; where NLA strips play, nobody knows."""
    animation = owner.animation_data
    if animation is None:
        return False
    if animation.use_nla and any(len(track.strips) for track in playing_tracks(animation)):
        return True
    known: dict[str, Value] = {}
    for curve in playing_curves(owner):
        path = curve.data_path
        if path not in known:
            known[path] = _read(owner, path)
        value = known[path]
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
