"""The properties that curves move: each frame that is shown gives them their values anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from .compat import Block, action_parts, playing_curves
from .curves import playing_strips
from .data_paths import set_value, value_at

Value = Any  # a number, a text, or a tuple of numbers; None: there is no such property
Place = tuple[Block, str]  # a data-block, and the data path in it


class Animated:
    """All properties of a .blend that actions move."""

    def __init__(self) -> None:
        users = bpy.data.user_map(subset=set(bpy.data.actions)).values()
        owners: set[Any] = {user for each in users for user in each}
        owners |= {user.node_tree for user in owners if getattr(user, "node_tree", None) is not None}
        self.places: list[Place] = [(owner, path) for owner in owners for path in moved_paths(owner)]

    def values(self) -> list[Value]:
        """Return what each has."""
        return [value_at(owner, path) for owner, path in self.places]

    def changed(self, values: list[Value], slack: float = 0.0) -> list[Place]:
        """Return which have something else than `values`: numbers that are more than `slack` of them away."""
        now = zip(self.places, values, self.values(), strict=True)
        return [place for place, value, other in now if value is not None and not _are_near(value, other, slack)]

    def restore(self, values: list[Value]) -> None:
        """Give each what it had."""
        before = dict(zip(self.places, values, strict=True))
        for owner, path in self.changed(values):
            set_value(owner, path, before[owner, path])


def _are_near(value: Value, other: Value, slack: float) -> bool:
    if value == other or not slack:
        return bool(value == other)
    pairs = list(zip(value, other, strict=True)) if isinstance(value, tuple) else [(value, other)]
    return all(isinstance(a, float) and abs(a - b) <= slack * max(1.0, abs(a)) for a, b in pairs)


def moved_paths(owner: Block) -> list[str]:
    """Return the paths of what the action and the NLA strips that play on a data-block move."""
    return list(dict.fromkeys(curve.data_path for curve in moving_curves(owner)))


def moving_curves(owner: Block) -> list[Any]:
    """Return the curves of the action and the NLA strips that play on a data-block."""
    animation = getattr(owner, "animation_data", None)
    if animation is None:
        return []
    actions = dict.fromkeys(strip.action for strip in playing_strips(animation) if strip.action is not None)
    curves = playing_curves(owner)
    for action in actions:
        curves += [c for _, kind, found in action_parts(action) if kind in ("", owner.id_type) for c in found]
    return curves


_known: list[Animated] = []  # while frames are shown


@contextmanager
def known() -> Iterator[Animated]:
    """Give the properties, and list them once for all that looks at them meanwhile."""
    if _known:
        yield _known[-1]
        return
    _known.append(Animated())
    try:
        yield _known[-1]
    finally:
        _known.pop()


@contextmanager
def kept() -> Iterator[None]:
    """Let animated properties be in the end what they are now, whatever frames are shown meanwhile."""
    with known() as animated:
        values = animated.values()
        try:
            yield
        finally:
            animated.restore(values)
