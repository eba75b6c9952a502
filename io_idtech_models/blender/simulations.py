"""What Blender computes from one frame to the next: cloth, soft and rigid bodies, particles, simulation zones.

Such things are right only where all frames before were shown one after another: who jumps sees other numbers than
whoever plays the scene, and leaves these in the caches, so that those who come one by one later see them, too. Of what
was baked each frame is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import bpy

from .compat import Block


class Steps:
    """Which frames have to be shown before another one is; nothing is looked at until someone jumps."""

    turn: ClassVar[int] = 0  # see `begin_anew`

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene
        self.shown = range(scene.frame_current, scene.frame_current + 1)  # one after another, this turn
        self._turn = Steps.turn
        self._starts: list[int] | None = None

    def before(self, frame: int) -> range:
        """Return the frames to show before one, which is shown next."""
        if self._turn == Steps.turn and frame in self.shown:
            return range(0)
        if self._starts is None:
            self._starts = list(_starts(self.scene))
        first, last = self.shown.start, self.shown.stop
        if self._turn != Steps.turn or frame < first:
            first = last = min([frame, *self._starts])
        self._turn = Steps.turn
        self.shown = range(first, frame + 1)
        return range(last, frame) if self._starts else range(0)


def begin_anew() -> None:
    """Let simulations be played from their beginning: something else moves what they follow from now on."""
    Steps.turn += 1


def is_pushed(block: Block) -> bool:
    """Tell whether physics may move an object as a whole."""
    return block.rigid_body is not None and block.rigid_body.type == "ACTIVE"


def _starts(scene: bpy.types.Scene) -> Iterator[int]:
    """Yield the frames in which simulations of a scene begin that were not baked."""
    world = scene.rigidbody_world
    caches = [] if world is None or not world.enabled else [world.point_cache]
    blocks: list[Any] = list(scene.objects)
    for modifier in (modifier for block in blocks for modifier in block.modifiers if modifier.show_viewport):
        caches += _caches(modifier)
        if modifier.type == "NODES" and len(modifier.bakes):  # what a zone has baked is nowhere told
            yield scene.frame_start
        elif modifier.type == "FLUID" and modifier.domain_settings is not None:
            yield modifier.domain_settings.cache_frame_start
    yield from (cache.frame_start for cache in caches if not cache.is_baked)


def _caches(modifier: Any) -> list[Any]:
    """Return the caches of what a modifier simulates, which not many do."""
    if modifier.type == "PARTICLE_SYSTEM":
        return [modifier.particle_system.point_cache]
    if modifier.type == "DYNAMIC_PAINT":
        canvas = modifier.canvas_settings
        return [] if canvas is None else [surface.point_cache for surface in canvas.canvas_surfaces]
    return [modifier.point_cache] if modifier.type in {"CLOTH", "SOFT_BODY"} else []
