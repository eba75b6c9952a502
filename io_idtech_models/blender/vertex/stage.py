"""The scene, shown frame by frame for an export, and left as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from ..compat import Block
from ..playback import Take, at_rest, playing
from ..roots import follows_frame, showing_whole
from ..scene import ExportScene, showing
from . import shape_keys
from .frame_plan import GatherSettings
from .sampling import Plan, keys_at


class Stage:
    """A scene that shows the frames of a plan; see `stepping`."""

    def __init__(self, export: ExportScene[GatherSettings], plan: Plan, blocks: list[Block]) -> None:
        self.export, self.plan, self.blocks = export, plan, blocks
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
        self.show_time((self.plan.own_times() if own else self.plan.times)[frame])

    def _set(self) -> None:
        """Prepare the scene: what is not stepped through at all costs nothing."""
        owners = dict.fromkeys(block.data.shape_keys for block in self.plan.held)
        held = [keys for keys in owners if not _is_shown(keys, self.plan)]
        self.show_time = self.set.enter_context(showing(self.export.scene))
        if self.plan.whole:
            self.set.enter_context(showing_whole(self.plan.space.root, len(self.plan.times)))
        self.set.enter_context(_unpinned(self.blocks))
        self.set.enter_context(at_rest(held))
        self.held = [(keys, shape_keys.frame_blocks(keys)) for keys in held]


@contextmanager
def stepping(export: ExportScene[GatherSettings], plan: Plan, blocks: list[Block]) -> Iterator[Stage]:
    """Set the stage for stepping through a plan, and leave the scene as it was, whatever happens between."""
    stage = Stage(export, plan, blocks)
    with stage.set, stage.playing:
        yield stage


def _is_shown(keys: Block, plan: Plan) -> bool:
    """Tell whether the scene shows the plan's keys by itself, which is three times as fast as posing them."""
    if plan.whole and follows_frame(keys):
        return True
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
