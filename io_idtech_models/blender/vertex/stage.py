"""The scene, shown frame by frame for an export, and left as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ..compat import Block
from ..playback import Take, at_rest, playing
from . import shape_keys
from .sampling import Plan, keys_at


class Stage:
    """A scene that shows the frames of a plan; see `stepping`."""

    def __init__(self, scene: bpy.types.Scene, plan: Plan, blocks: list[Block]) -> None:
        self.scene, self.plan, self.blocks = scene, plan, blocks
        self.held: list[tuple[Block, list[Block]]] = []
        self.take: Take | None = None
        self.set, self.playing = ExitStack(), ExitStack()
        self.shown: tuple[int, bool] | None = None

    def show(self, frame: int, own: bool = False) -> None:
        """Show a frame; `own`: as it is for what no take moves."""
        if self.shown == (frame, own):
            return
        if self.shown is None:
            self._set()
        self.shown = frame, own
        take = None if own else self.plan.take(frame)
        if take is not self.take:
            self.playing.close()
            self.take = None
            if take is not None:
                self.playing.enter_context(playing(take))
                self.take = take
        for keys, blocks in self.held:
            if not keys.use_relative:
                keys.eval_time = blocks[self.plan.keys[frame]].frame
                continue
            for key in blocks:
                if key.value:
                    key.value = 0.0
            blocks[self.plan.keys[frame]].value = 1.0
        show_time(self.scene, (self.plan.own_times() if own else self.plan.times)[frame])

    def _set(self) -> None:
        """Prepare the scene: what is not stepped through at all costs nothing."""
        owners = dict.fromkeys(block.data.shape_keys for block in self.plan.held)
        held = [keys for keys in owners if not _is_shown(keys, self.plan)]
        self.set.enter_context(as_it_was(self.scene))
        self.set.enter_context(_unpinned(self.blocks))
        self.set.enter_context(at_rest(held))
        self.held = [(keys, shape_keys.frame_blocks(keys)) for keys in held]


@contextmanager
def stepping(scene: bpy.types.Scene, plan: Plan, blocks: list[Block]) -> Iterator[Stage]:
    """Set the stage for stepping through a plan, and leave the scene as it was, whatever happens between."""
    stage = Stage(scene, plan, blocks)
    with stage.set, stage.playing:
        yield stage


def show_time(scene: bpy.types.Scene, time: float) -> None:
    """Let a scene show a time, which may lie between two frames."""
    scene.frame_set(int(np.floor(time)), subframe=float(time - np.floor(time)))


@contextmanager
def as_it_was(scene: bpy.types.Scene) -> Iterator[None]:
    """Let a scene show other frames meanwhile."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def _is_shown(keys: Block, plan: Plan) -> bool:
    """Tell whether the scene shows the plan's keys by itself, which is three times as fast as posing them."""
    return keys_at(shape_keys.KeyFinder(keys), plan.times) == plan.keys


@contextmanager
def _unpinned(blocks: Iterable[Block]) -> Iterator[None]:
    """Let objects that are pinned to one of their shape keys show what plays meanwhile."""
    pinned = [block for block in blocks if block.type == "MESH" and block.show_only_shape_key]
    try:
        for block in pinned:
            block.show_only_shape_key = False
        yield
    finally:
        for block in pinned:
            block.show_only_shape_key = True
