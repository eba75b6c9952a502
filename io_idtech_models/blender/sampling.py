"""What a scene shows, frame by frame: positions, normals, transforms.

Where nothing but import's own curves animates a model its keys and curves are read as arrays, which takes no time;
everything else (modifiers, armatures, drivers, constraints, parents) is sampled by stepping through the scene. Both
ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from . import mesh as meshes
from . import shape_keys, tags
from .compat import Block, playing_curves

Floats = NDArray[np.float32]


@dataclass(eq=False)
class Plan:
    """The frames to export: their names, when the scene shows them, and their key (-1 = none) in keyed meshes."""

    names: list[str]
    times: list[float]
    keys: list[int]
    keyed: bool = False  # the frames are the keys, all in order


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
    keys = block.data.shape_keys
    if keys is None:
        return is_still(block.data)
    animation = keys.animation_data
    if animation is not None and (len(animation.drivers) or len(animation.nla_tracks)):
        return False
    plain = all(not c.mute and not c.modifiers for c in playing_curves(keys))
    # Absolute keys know neither muting nor vertex groups.
    return plan.keyed and plain and not (keys.use_relative and any(k.mute or k.vertex_group for k in keys.key_blocks))


def key_times(keys: Block) -> list[float]:
    """Return when the timeline shows each frame's key: where the curve reaches it, else the key's own position."""
    blocks = shape_keys.frame_blocks(keys)
    curves = {curve.data_path: curve for curve in playing_curves(keys)}
    if keys.use_relative:
        paths = (shape_keys.value_path(key.name) for key in blocks)
        return [_peak(curves[path], i) if path in curves else float(i) for i, path in enumerate(paths)]
    positions = shape_keys.positions(blocks)
    return _reached(curves["eval_time"], positions) if "eval_time" in curves else positions


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


def read_direct(block: Block) -> Samples:
    """Return what a direct mesh shows in each frame, from its keys."""
    frames = shape_keys.frame_blocks(block.data.shape_keys)
    own = block.data
    return Samples(
        [matrix(block)], shape_keys.read(frames, len(own.vertices)) if frames else meshes.positions(own)[None]
    )


@contextmanager
def stepping(scene: bpy.types.Scene, blocks: list[Block]) -> Iterator[None]:
    """Leave the scene at the frame at which it was, and keys as they were, whatever happens between."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    pinned = [block for block in blocks if block.type == "MESH" and block.show_only_shape_key]
    keys = [b.data.shape_keys for b in blocks if b.type == "MESH" and b.data.shape_keys is not None]
    posed = [(key, key.eval_time) for key in keys if not playing_curves(key)]
    for block in pinned:
        block.show_only_shape_key = False
    try:
        yield
    finally:
        for block in pinned:
            block.show_only_shape_key = True
        for key, eval_time in posed:
            key.eval_time = eval_time
        scene.frame_set(frame, subframe=subframe)


def show_frame(scene: bpy.types.Scene, plan: Plan, index: int, blocks: list[Block]) -> None:
    """Let the scene show a frame of the plan, also on absolute keys that no curve plays."""
    key_index = plan.keys[index]
    for block in blocks:
        keys = block.data.shape_keys if block.type == "MESH" else None
        if keys is not None and not keys.use_relative and key_index >= 0 and not playing_curves(keys):
            keys.eval_time = keys.key_blocks[key_index].frame
    time = plan.times[index]
    scene.frame_set(int(np.floor(time)), subframe=float(time - np.floor(time)))


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
    samples = {name: Samples() for name in subjects}
    if not subjects:
        return samples
    positions: dict[str, list[Floats]] = {name: [] for name in subjects}
    blocks = [subject.block for subject in subjects.values()]
    with stepping(scene, blocks):
        for index in range(len(plan.times)):
            show_frame(scene, plan, index, blocks)
            graph = view_layer.depsgraph
            for name, subject in subjects.items():
                evaluated = subject.block.evaluated_get(graph)
                samples[name].matrices.append(_transform(evaluated, subject.bone))
                if subject.shape is not None:
                    check_topology(evaluated, subject.shape, plan, index)
                    positions[name].append(meshes.positions(evaluated.data))
                    if subject.normals:
                        samples[name].normals.append(meshes.corner_normals(evaluated.data))
    for name, frames in positions.items():
        samples[name].positions = np.stack(frames) if frames else None
    return samples


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
        return tags.read_curves(block, plan.times)
    stacked = np.stack(samples.matrices)
    axes = np.swapaxes(stacked[:, :3, :3], 1, 2).astype(np.float32)
    return stacked[:, :3, 3].astype(np.float32), axes
