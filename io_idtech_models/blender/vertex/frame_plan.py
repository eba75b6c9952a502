"""What an export of frames is asked for, and a plan of those that it writes, which `planning` makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..compat import Block
from ..curves import is_still, stays_put
from ..roots import follows_frame
from ..space import Space
from ..takes import Take, influences
from .shape_keys import KeyFinder
from .shown_keys import is_driven, keys_at


@dataclass(frozen=True)
class Holds:
    """What a format has that others have not, as its row says: no option."""

    uv_splits_vertices: bool = True  # a vertex has one texture coordinate, and a surface one material
    pictures: bool = False  # those that materials show
    worn_by_name: bool = True  # games look up by a surface's name what it wears, so that each has its own
    colors: bool = False  # of vertices
    further_uvs: bool = False  # more sets of texture coordinates than the one that is drawn
    groups: bool = False  # of frames that a game plays by itself
    frames: bool = True  # several
    format: str = ""  # what it is called; "": that of the source


@dataclass(frozen=True)
class GatherSettings:
    """How a scene becomes a model; the export operators declare the same options."""

    frames: str = "AUTO"  # AUTO, KEYS, ACTIONS, MARKERS, SCENE, RANGE or CURRENT
    frame_start: int = 0
    frame_end: int = 0
    frame_step: int = 1
    actions: str | tuple[str, ...] = ""  # for ACTIONS: names, or a text of them; empty: those that import made
    scale: float = 1.0
    normals: str = "SOURCE"  # SOURCE, SHOWN or SMOOTH
    keep_suffixes: bool = False
    space: str = "AUTO"  # AUTO and OWN: its root's, if it hangs on one; WORLD: as it stands in the scene
    holds: Holds = Holds()
    direct: bool = True  # False: step through the scene even where reading curves would do


@dataclass(eq=False)
class FramePlan:
    """The frames to export: their names, when the scene shows them, and which frame's key that is (-1 = none).

    `keys` count a mesh's keys without a `Basis`. Other meshes than the first may show other keys: see
    `shown_keys`.
    """

    names: list[str]
    times: list[float]
    keys: list[int]
    sources: NDArray[np.int32]  # (F,) the source's frame that each was, -1 = none
    held: list[Block] = field(default_factory=list)  # meshes that show `keys` because their keys are the frames
    takes: list[Take] = field(default_factory=list)  # by frame: the action that is played for it; empty: none at all
    # By frame: when the scene shows, without takes, what the keys of that frame are part of. For what no take moves.
    whole_times: list[float] = field(default_factory=list)
    space: Space = field(default_factory=Space)  # where the model's coordinates begin
    whole: bool = False  # the frames are those of the model's file, not what the scene plays of them
    present: bool = False  # one frame, and that is what the scene shows now, also what has no key

    @cached_property
    def holds(self) -> set[Block]:
        """Return what `held` lists, to look one up."""
        return set(self.held)

    @property
    def is_timed_by_keys(self) -> bool:
        """Tell whether its times are those of keys: a scene's Time Stretching counts for the scene's own alone."""
        return self.whole or bool(self.takes)

    def take(self, frame: int) -> Take | None:
        """Return the action that is played for a frame."""
        return self.takes[frame] if self.takes else None

    def runs(self) -> list[tuple[int, int]]:
        """Return the first frame of each stretch that one take lasts, and the one behind its last."""
        starts = [i for i in range(len(self.times)) if i == 0 or self.take(i) is not self.take(i - 1)]
        return list(zip(starts, [*starts[1:], len(self.times)], strict=True))

    def moves(self, block: Block) -> list[bool]:
        """Tell in which frames a take moves an object."""
        if not self.takes:
            return [False] * len(self.times)
        owners = influences(block)
        moving = {id(take): take.moves(owners) for take in self.takes}
        return [moving[id(take)] for take in self.takes]

    def own_times(self) -> list[float]:
        """Return when the scene shows each frame of what no take moves."""
        return self.whole_times or self.times

    def is_direct(self, block: Block) -> bool:
        """Tell whether a mesh's keys alone say what the scene shows of it."""
        if not self.space.is_plain(block) or block.modifiers or not stays_put(block):
            return False
        if not is_still(block.data) or any(take.moves((block, block.data)) for take in set(self.takes)):
            return False
        keys = block.data.shape_keys
        if keys is None:
            return True
        # Absolute keys know neither muting nor vertex groups.
        masked = keys.use_relative and any(key.mute or key.vertex_group for key in keys.key_blocks)
        driven = is_driven(keys) and not follows_frame(keys)
        return not masked and not driven and min(self.shown_keys(block)) >= 0

    def shown_keys(self, block: Block) -> list[int]:
        """Return which key a mesh shows in each frame (see `keys`), -1 where it is none exactly."""
        keys = block.data.shape_keys
        if block in self.holds:
            return self.keys
        if keys is None:
            return [-1] * len(self.times)
        finder, shown = KeyFinder(keys), []
        for first, end in self.runs():
            shown += keys_at(finder, self.times[first:end], self.take(first), self.present)
        return shown
