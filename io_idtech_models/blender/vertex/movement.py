"""Does anything move objects in the scene's range of frames?

Blender's dependency graph knows whom time reaches, through constraints of bones, lattices, simulations, nodes and
whatever else there is: it tells handlers what it computed anew for a frame. Whoever is among those is looked at in some
frames of the range, for time may reach an object without moving it: a curve of one value does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..compat import Block, playing_curves
from ..curves import curve_points, is_still, stays_put
from ..mesh import attributes
from ..scene import ExportScene, showing
from ..space import Space, places_in
from ..takes import moved_by

SAMPLES = 24  # frames that are looked at, evenly spread over the range
FIRST = 3  # and so many at its beginning, one by one: simulations start there
MOST_KEYS = 64  # times of keys that are looked at besides
NEAR = 1e-5  # of an object's size: what moves less is jitter


def is_moving(
    blocks: Iterable[Block], export: ExportScene[Any], space: Space, frames: range | None = None, keys: bool = True
) -> bool:
    """Tell whether objects show anything else, in their space, in some frame than in the first.

    Those `frames` are the scene's range if none are given; without `keys` what shape keys do does not count.
    """
    scene = export.scene
    if frames is None:
        frames = range(scene.frame_start, scene.frame_end + 1)  # a step of its own may leave but one of them
    if len(frames) < 2:
        return False
    blocks = list(blocks)
    with pinned(blocks, not keys), showing(scene) as show:
        reached = _reached_by_time(show, scene.frame_current + scene.frame_subframe)
        watched = [block for block in blocks if block in reached]
        return bool(watched) and _is_changing(watched, export, space, frames, show)


def may_move(block: Block, blocks: list[Block]) -> bool:
    """Tell whether anything but what an object hangs on, or an armature among `blocks`, could move it.

    What says no stands still there for sure.
    """
    keys = getattr(block.data, "shape_keys", None)
    owners = [owner for owner in (block.data, keys) if owner is not None]
    others = [m for m in block.modifiers if m.type != "ARMATURE" or m.object not in blocks]
    return bool(others) or not stays_put(block) or not all(map(is_still, owners))


def _is_changing(
    blocks: list[Block], export: ExportScene[Any], space: Space, frames: range, show: Callable[[float], None]
) -> bool:
    show(frames[0])
    before = _states(blocks, export, space)
    for frame in _chosen(frames, blocks):
        show(frame)
        if any(map(_differs, before, _states(blocks, export, space))):
            return True
    return False


@contextmanager
def pinned(blocks: Iterable[Block], to_one: bool) -> Iterator[None]:
    """Let objects show one of their shape keys meanwhile, or what plays: those that are pinned to a key, too."""
    changed = [block for block in blocks if block.type == "MESH" and block.show_only_shape_key != to_one]
    try:
        for block in changed:
            block.show_only_shape_key = to_one
        yield
    finally:
        for block in changed:
            block.show_only_shape_key = not to_one


def _reached_by_time(show: Callable[[float], None], now: float) -> set[Any]:
    """Return the objects that Blender computes anew when a frame is shown, the present one."""
    found: set[Any] = set()
    handlers: list[Any] = bpy.app.handlers.frame_change_post  # the stubs know no second argument

    def note(_scene: Any, depsgraph: bpy.types.Depsgraph) -> None:
        found.update(update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Object))

    handlers.append(note)
    try:
        show(now)
    finally:
        handlers.remove(note)
    return found


def _chosen(frames: range, blocks: list[Block]) -> list[int]:
    """Return the frames to look at: some, and those of keys, for what moves may do so between any two others."""
    spread = np.linspace(0, len(frames) - 1, min(SAMPLES, len(frames))).astype(int).tolist()
    chosen = {frames[place] for place in (*spread, *range(min(FIRST, len(frames))))}
    times = [curve_points(curve)[0] for owner in moved_by(blocks) for curve in playing_curves(owner)]
    keys = np.unique(np.rint(np.concatenate([np.zeros(0), *times]))).astype(int)
    inside = [key for key in keys.tolist() if frames[0] <= key <= frames[-1]]
    step = max(1, len(inside) // MOST_KEYS)
    return sorted(chosen | set(inside[::step]))


State = tuple[NDArray[np.float64], NDArray[np.float32] | None, NDArray[np.float32] | None]


def _states(blocks: list[Block], export: ExportScene[Any], space: Space) -> list[State]:
    """Return what objects show just now."""
    places = places_in(space, export, blocks)
    return [_state(export.evaluated(block), place) for block, place in zip(blocks, places, strict=True)]


def _state(shown: Block, place: NDArray[np.float64]) -> State:
    """Return what an evaluated object at a place shows: its transform, the points of a mesh, the poses of bones."""
    points = poses = None
    if shown.type == "MESH":
        points = attributes.positions(shown.data)
    elif shown.type == "ARMATURE":
        poses = np.empty(16 * len(shown.pose.bones), np.float32)
        shown.pose.bones.foreach_get("matrix", poses)
    return place, points, poses


def _differs(before: State, after: State) -> bool:
    for old, new in zip(before, after, strict=True):
        if old is None or new is None:
            continue
        if old.shape != new.shape:
            return True
        size = max(1.0, float(np.abs(old).max(initial=0.0)))
        if old.size and not np.abs(new - old).max() <= NEAR * size:  # nor where something is no number
            return True
    return False
