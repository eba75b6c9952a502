"""What a scene shows, frame by frame: positions, normals, transforms.

Where nothing but import's own curves animates a model its keys and curves are read as arrays, which takes no time;
everything else (modifiers, armatures, drivers, constraints, parents) is sampled by stepping through the scene. Both
ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from . import mesh as meshes
from . import shape_keys, tags
from .compat import Block, playing_curves
from .takes import Take, at_rest, influences, playing

Floats = NDArray[np.float32]


@dataclass(eq=False)
class Plan:
    """The frames to export: their names, when the scene shows them, and which frame's key that is (-1 = none).

    `keys` count a mesh's keys without a `Basis`. Other meshes than the first may show other keys: see `shown_keys`.
    """

    names: list[str]
    times: list[float]
    keys: list[int]
    held: list[Block] = field(default_factory=list)  # meshes that show `keys` because their keys are the frames
    takes: list[Take] = field(default_factory=list)  # by frame: the action that is played for it; empty: none at all
    # By frame: when the scene shows, without takes, what the keys of that frame are part of. For what no take moves.
    whole_times: list[float] = field(default_factory=list)

    @cached_property
    def holds(self) -> set[Block]:
        """Return what `held` lists, to look one up."""
        return set(self.held)

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


def is_still(block: Any) -> bool:
    """Tell whether no curve, driver or NLA strip plays on an ID."""
    animation = block.animation_data
    if animation is None:
        return True
    strips = any(not track.mute and len(track.strips) for track in animation.nla_tracks)
    return not playing_curves(block) and not len(animation.drivers) and not strips


def is_moved(block: Any) -> bool:
    """Tell whether an ID's curves, drivers or NLA strips change anything: a curve of one value does not."""
    if is_still(block):
        return False
    curves = playing_curves(block)
    animation = block.animation_data
    constant = all(
        not curve.modifiers and not np.ptp(shape_keys.curve_points(curve)[1])
        for curve in curves
        if curve.keyframe_points
    )
    return not constant or bool(len(animation.drivers) or len(animation.nla_tracks))


def is_direct(block: Block, plan: Plan) -> bool:
    """Tell whether a mesh's keys alone say what the scene shows of it."""
    if block.parent is not None or block.constraints or block.modifiers or not is_still(block):
        return False
    if not is_still(block.data) or any(take.moves((block, block.data)) for take in set(plan.takes)):
        return False
    keys = block.data.shape_keys
    if keys is None:
        return True
    # Absolute keys know neither muting nor vertex groups.
    masked = keys.use_relative and any(key.mute or key.vertex_group for key in keys.key_blocks)
    return not masked and not _is_driven(keys) and min(shown_keys(block, plan)) >= 0


def _is_driven(keys: Block) -> bool:
    """Tell whether more than an action decides what shape keys show."""
    animation = keys.animation_data
    return animation is not None and bool(len(animation.drivers) or len(animation.nla_tracks))


def shown_keys(block: Block, plan: Plan) -> list[int]:
    """Return which key a mesh shows in each frame (see `Plan.keys`), -1 where it is none exactly."""
    keys = block.data.shape_keys
    if block in plan.holds:
        return plan.keys
    if keys is None:
        return [-1] * len(plan.times)
    finder, shown = shape_keys.KeyFinder(keys), []
    for first, end in plan.runs():
        shown += keys_at(finder, plan.times[first:end], plan.take(first))
    return shown


def keys_at(finder: shape_keys.KeyFinder, times: list[float], take: Take | None = None) -> list[int]:
    """Return which frame's key the scene shows at each time, while it plays a take; -1 where it is none exactly."""
    keys = finder.keys
    curves = None if take is None else take.curves_of(keys)
    if _is_driven(keys) and (curves is None or len(keys.animation_data.drivers)):
        return [-1] * len(times)
    return finder.at(playing_curves(keys) if curves is None else curves, times)


def covers(keys: Block, curves: list[Any]) -> bool:
    """Tell whether curves show the keys of all frames."""
    by_path = {curve.data_path: shape_keys.curve_points(curve)[1] for curve in curves}
    blocks = shape_keys.frame_blocks(keys)
    if keys.use_relative:
        paths = (shape_keys.value_path(key.name) for key in blocks)
        return all(path in by_path and by_path[path].max(initial=0.0) > 0.0 for path in paths)
    at, values = shape_keys.positions(blocks), by_path.get("eval_time", np.zeros(0, np.float32))
    return len(values) > 0 and bool(values.min() <= at[0] and values.max() >= at[-1])


def key_times(keys: Block, curves: list[Any]) -> list[float]:
    """Return when curves show each frame's key: where they reach it, else the key's own position."""
    blocks = shape_keys.frame_blocks(keys)
    by_path = {curve.data_path: curve for curve in curves}
    if keys.use_relative:
        paths = (shape_keys.value_path(key.name) for key in blocks)
        return [_peak(by_path[path], i) if path in by_path else float(i) for i, path in enumerate(paths)]
    positions = shape_keys.positions(blocks)
    return _reached(by_path["eval_time"], positions) if "eval_time" in by_path else positions


def _peak(curve: Any, default: int) -> float:
    times, values = shape_keys.curve_points(curve)
    return float(times[values.argmax()]) if len(values) else float(default)


def _reached(curve: Any, positions: list[float]) -> list[float]:
    times, values = shape_keys.curve_points(curve)
    wanted = np.array(positions)
    if len(times) >= 2 and np.array_equal(times, values) and times[0] <= wanted.min() and times[-1] >= wanted.max():
        return positions
    if not len(times):
        return positions
    whole = np.arange(np.floor(times.min()), np.ceil(times.max()) + 1)
    shown = np.array([curve.evaluate(t) for t in whole.tolist()])
    result = []
    for position in positions:
        hits = np.flatnonzero(np.abs(shown - position) < 1e-4)
        between = np.flatnonzero((shown[:-1] < position) & (shown[1:] > position))
        if len(hits):
            result.append(float(whole[hits[0]]))
        elif len(between):
            at = int(between[0])
            result.append(float(whole[at] + (position - shown[at]) / (shown[at + 1] - shown[at])))
        else:
            result.append(position)
    return result


@dataclass(eq=False)
class Samples:
    """What one object shows in each frame. Meshes have positions, and normals if they were asked for."""

    matrices: list[NDArray[np.float64]] = field(default_factory=list)  # (4, 4); one, or one per frame
    positions: Floats | None = None  # (F, P, 3) in object space; (1, P, 3) where it holds still
    normals: list[Floats] = field(default_factory=list)  # (C, 3) per frame, in object space


def matrix(block: Any) -> NDArray[np.float64]:
    """Return an object's transform in the world, (4, 4)."""
    return np.array(block.matrix_world, np.float64)


def read_direct(block: Block, plan: Plan) -> Samples:
    """Return what a direct mesh shows in each frame, from its keys."""
    frames = shape_keys.frame_blocks(block.data.shape_keys)
    if not frames:
        return Samples([matrix(block)], meshes.positions(block.data)[None])
    shown, places = np.unique(shown_keys(block, plan), return_inverse=True)
    positions = shape_keys.read([frames[key] for key in shown.tolist()], len(block.data.vertices))
    same = np.array_equal(places, np.arange(len(positions)))
    return Samples([matrix(block)], positions if same else positions[places.reshape(-1)])


class Stage:
    """A scene that shows the frames of a plan; see `stepping`."""

    def __init__(self, scene: bpy.types.Scene, plan: Plan, held: list[Block]) -> None:
        self.scene, self.plan = scene, plan
        self.held = [(keys, shape_keys.frame_blocks(keys)) for keys in held]
        self.take: Take | None = None
        self.playing = ExitStack()

    def show(self, frame: int, own: bool = False) -> None:
        """Show a frame; `own`: as it is for what no take moves."""
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
        time = (self.plan.own_times() if own else self.plan.times)[frame]
        self.scene.frame_set(int(np.floor(time)), subframe=float(time - np.floor(time)))


def _is_shown(keys: Block, plan: Plan) -> bool:
    """Tell whether the scene shows the plan's keys by itself, which is three times as fast as posing them."""
    return keys_at(shape_keys.KeyFinder(keys), plan.times) == plan.keys


@contextmanager
def stepping(scene: bpy.types.Scene, plan: Plan, blocks: list[Block]) -> Iterator[Stage]:
    """Set the stage for stepping through a plan, and leave the scene as it was, whatever happens between."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    pinned = [block for block in blocks if block.type == "MESH" and block.show_only_shape_key]
    held = [keys for keys in dict.fromkeys(block.data.shape_keys for block in plan.held) if not _is_shown(keys, plan)]
    try:
        with at_rest(held):
            for block in pinned:
                block.show_only_shape_key = False
            stage = Stage(scene, plan, held)
            with stage.playing:
                yield stage
    finally:
        for block in pinned:
            block.show_only_shape_key = True
        scene.frame_set(frame, subframe=subframe)


@dataclass(frozen=True, eq=False)
class Subject:
    """What to sample of the scene: an object, or one bone of an armature object."""

    block: Block
    shape: meshes.Topology | None = None  # of a mesh whose positions are wanted
    normals: bool = False  # and its normals
    bone: str = ""


def step(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, plan: Plan, subjects: dict[str, Subject]
) -> dict[str, Samples]:
    """Sample subjects, by name, in all frames.

    Raises:
        LimitError: a mesh changes its points or faces.
    """
    if not subjects:
        return {}
    frames = range(len(plan.times))
    # What no take moves has times of its own: those frames are shown apart, so that takes change no more than need be.
    own = {name: _has_own_times(subject, plan) for name, subject in subjects.items()}
    looks: dict[str, list[Samples]] = {name: [Samples() for _ in frames] for name in subjects}
    with stepping(scene, plan, [subject.block for subject in subjects.values()]) as stage:
        for apart in (False, True):
            for frame in frames:
                due = [name for name in subjects if own[name][frame] == apart]
                if due:
                    stage.show(frame, apart)
                for name in due:
                    looks[name][frame] = _look(subjects[name], view_layer, plan, frame)
    return {name: _joined(parts) for name, parts in looks.items()}


def _has_own_times(subject: Subject, plan: Plan) -> list[bool]:
    """Tell in which frames a subject is shown when no take is: tags, while none moves them."""
    if subject.shape is not None or not plan.whole_times:
        return [False] * len(plan.times)
    return [not moved for moved in plan.moves(subject.block)]


def _look(subject: Subject, view_layer: bpy.types.ViewLayer, plan: Plan, frame: int) -> Samples:
    """Sample a subject as the scene shows it now."""
    evaluated = subject.block.evaluated_get(view_layer.depsgraph)
    look = Samples([_transform(evaluated, subject.bone)])
    if subject.shape is not None:
        check_topology(evaluated, subject.shape, plan, frame)
        look.positions = meshes.positions(evaluated.data)[None]
        if subject.normals:
            look.normals = [meshes.corner_normals(evaluated.data)]
    return look


def _joined(parts: list[Samples]) -> Samples:
    """Return samples of single frames as one."""
    positions = [part.positions for part in parts if part.positions is not None]
    return Samples(
        [matrix for part in parts for matrix in part.matrices],
        np.concatenate(positions) if positions else None,
        [normals for part in parts for normals in part.normals],
    )


def _transform(block: Any, bone: str) -> NDArray[np.float64]:
    return matrix(block) @ np.array(block.pose.bones[bone].matrix, np.float64) if bone else matrix(block)


def check_topology(block: Any, shape: meshes.Topology, plan: Plan, index: int) -> None:
    """Refuse an evaluated mesh that has other points or faces than `shape`; raises LimitError."""
    if meshes.topology(block.data) != shape:
        raise LimitError(
            f"'{block.name}' has other vertices or faces at frame {plan.times[index]:g} than at frame "
            f"{plan.times[0]:g}: a vertex-animated model has the same in all frames"
        )


def tag_transforms(block: Block, plan: Plan, samples: Samples | None) -> tuple[Floats, Floats]:
    """Return a tag's origins (F, 3) and axes (F, 3, 3) as rows: from curves, or from `samples` if it was stepped."""
    if samples is None:
        return tags.read_curves(block, plan.own_times())
    stacked = np.stack(samples.matrices)
    axes = np.swapaxes(stacked[:, :3, :3], 1, 2).astype(np.float32)
    return stacked[:, :3, 3].astype(np.float32), axes
