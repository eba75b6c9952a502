"""What a scene shows, frame by frame: positions, normals, transforms.

Where nothing but import's own curves animates a model its keys and curves are read as arrays, which takes no time;
everything else (modifiers, armatures, drivers, constraints, parents) is sampled by stepping through the scene. Both
ways give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.wording import listed
from ...reporting import LimitError, advance
from ..compat import Block, playing_curves
from ..curves import curve_points, is_still, value_path
from ..mesh import attributes
from ..playback import Take, influences
from ..roots import Space, follows_frame
from . import shape_keys, tags

if TYPE_CHECKING:
    from ..scene import ExportScene
    from .stage import Stage

# Modifiers that move points and do nothing else: without others a mesh has the same faces in all frames.
BENDING = frozenset((
    "ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY", "SURFACE_DEFORM",
    "WARP", "WAVE",
))  # fmt: skip

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
    space: Space = field(default_factory=Space)  # where the model's coordinates begin
    whole: bool = False  # the frames are those of the model's file, not what the scene plays of them

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


def is_direct(block: Block, plan: Plan) -> bool:
    """Tell whether a mesh's keys alone say what the scene shows of it."""
    if not plan.space.is_plain(block) or block.constraints or block.modifiers or not is_still(block):
        return False
    if not is_still(block.data) or any(take.moves((block, block.data)) for take in set(plan.takes)):
        return False
    keys = block.data.shape_keys
    if keys is None:
        return True
    # Absolute keys know neither muting nor vertex groups.
    masked = keys.use_relative and any(key.mute or key.vertex_group for key in keys.key_blocks)
    driven = is_driven(keys) and not follows_frame(keys)
    return not masked and not driven and min(shown_keys(block, plan)) >= 0


def is_driven(keys: Block) -> bool:
    """Tell whether more than an action decides what shape keys show."""
    animation = keys.animation_data
    if animation is None:
        return False
    strips = animation.use_nla and any(not track.mute and len(track.strips) for track in animation.nla_tracks)
    return bool(len(animation.drivers) or strips)


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
    if is_driven(keys) and (curves is None or len(keys.animation_data.drivers)):
        return [-1] * len(times)
    return finder.at(playing_curves(keys) if curves is None else curves, times)


def covers(keys: Block, curves: list[Any]) -> bool:
    """Tell whether curves show the keys of all frames."""
    by_path = {curve.data_path: curve_points(curve)[1] for curve in curves}
    blocks = shape_keys.frame_blocks(keys)
    if keys.use_relative:
        paths = (value_path(key.name) for key in blocks)
        return all(path in by_path and by_path[path].max(initial=0.0) > 0.0 for path in paths)
    at, values = shape_keys.positions(blocks), by_path.get("eval_time", np.zeros(0, np.float32))
    return len(values) > 0 and bool(values.min() <= at[0] and values.max() >= at[-1])


def key_times(keys: Block, curves: list[Any]) -> list[float]:
    """Return when curves show each frame's key: where they reach it, else the key's own position."""
    blocks = shape_keys.frame_blocks(keys)
    by_path = {curve.data_path: curve for curve in curves}
    if keys.use_relative:
        paths = (value_path(key.name) for key in blocks)
        return [_peak(by_path[path], i) if path in by_path else float(i) for i, path in enumerate(paths)]
    positions = shape_keys.positions(blocks)
    return _reached(by_path["eval_time"], positions) if "eval_time" in by_path else positions


def _peak(curve: Any, default: int) -> float:
    times, values = curve_points(curve)
    return float(times[values.argmax()]) if len(values) else float(default)


def _reached(curve: Any, positions: list[float]) -> list[float]:
    times, values = curve_points(curve)
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

    matrices: NDArray[np.float64]  # (F, 4, 4), or (1, 4, 4) where it stays
    positions: Floats | None = None  # (F, P, 3) in object space; (1, P, 3) where it holds still
    normals: Floats | None = None  # (F, C, 3) unit, in object space


def read_direct(block: Block, plan: Plan) -> Samples:
    """Return what a direct mesh shows in each frame, from its keys."""
    return Samples(plan.space.place(block)[None], keyed_positions(block, plan))


def keyed_positions(block: Block, plan: Plan) -> Floats:
    """Return where a mesh whose keys each frame shows one of has its points, (F, P, 3), without keys (1, P, 3)."""
    frames = shape_keys.frame_blocks(block.data.shape_keys)
    if not frames:
        return attributes.positions(block.data)[None]
    shown, places = np.unique(shown_keys(block, plan), return_inverse=True)
    positions = shape_keys.read([frames[key] for key in shown.tolist()], len(block.data.vertices))
    same = np.array_equal(places, np.arange(len(positions)))
    return positions if same else positions[places.reshape(-1)]


def read_direct_normals(block: Block, positions: Floats, num_frames: int) -> Floats:
    """Return the normals (F, C, 3) that corners of a direct mesh show in each frame, whose points are at `positions`.

    These are (F, P, 3), or (1, P, 3) for all frames. A copy without keys is moved from one to the next: the scene looks
    through all keys for each frame that it shows, so that twice the frames would take four times as long.
    """
    copy: Block = bpy.data.meshes.new_from_object(block)
    try:
        found = np.empty((len(positions), len(copy.loops), 3), np.float32)
        for frame, points in enumerate(positions):
            advance(frame, len(positions))
            attributes.write_positions(copy, points)
            copy.update()
            if found.size:
                copy.corner_normals.foreach_get("vector", found[frame].ravel())
    finally:
        bpy.data.meshes.remove(copy, do_unlink=False, do_ui_user=False)
    normals = attributes.unit(found.reshape(-1, 3)).reshape(found.shape)
    return normals if len(normals) == num_frames else np.repeat(normals, num_frames, axis=0)


@dataclass(frozen=True, eq=False)
class Subject:
    """What to sample of the scene: an object, or one bone of an armature object."""

    block: Block
    shape: attributes.Topology | None = None  # of a mesh whose positions are wanted
    normals: bool = False  # and its normals
    bone: str = ""


class Sampler:
    """Gathers what a subject shows, frame by frame."""

    def __init__(self, subject: Subject, plan: Plan) -> None:
        self.subject, self.plan = subject, plan
        self.apart = self._has_own_times()
        frames, shape = len(plan.times), subject.shape
        block = subject.block
        fixed = plan.space.is_plain(block) and is_still(block) and not block.constraints
        self.fixed = plan.space.place(block) if fixed and plan.space.root is not None else None
        self.matrices = np.empty((frames, 4, 4))
        self.positions = self.normals = None
        if shape is not None:
            self.positions = np.empty((frames, shape.num_points, 3), np.float32)
            self.bends = all(modifier.type in BENDING for modifier in subject.block.modifiers)
            if subject.normals:
                self.normals = np.empty((frames, len(shape.corner_points), 3), np.float32)

    def _has_own_times(self) -> list[bool]:
        """Tell in which frames the subject is shown when no take is: tags, while none moves them."""
        if self.subject.shape is not None or not self.plan.whole_times:
            return [False] * len(self.plan.times)
        return [not moved for moved in self.plan.moves(self.subject.block)]

    def look(self, evaluated: Any, world: NDArray[np.float64], frame: int) -> None:
        """Take what the scene shows of the evaluated object now, which stands at `world`, as that of a frame.

        Raises:
            LimitError: the mesh has other points or faces than before.
        """
        self.matrices[frame] = world if self.fixed is None else self.fixed
        if self.subject.bone:
            bone = np.array(evaluated.pose.bones[self.subject.bone].matrix, np.float64)
            self.matrices[frame] = steady.products(self.matrices[frame], bone)
        if self.positions is not None and self.subject.shape is not None:
            mesh = evaluated.data
            if frame == 0 or not self.bends or not self.subject.shape.counts(mesh):
                check_topology(evaluated, self.subject.shape, self.plan, frame)
            attributes.read_positions(mesh, self.positions[frame])
            if self.normals is not None and self.normals.size:
                mesh.corner_normals.foreach_get("vector", self.normals[frame].ravel())

    @property
    def samples(self) -> Samples:
        """Return what was seen."""
        normals = self.normals
        if normals is not None:
            normals = attributes.unit(normals.reshape(-1, 3)).reshape(normals.shape)
        return Samples(self.matrices, self.positions, normals)


def step(stage: Stage, subjects: list[Subject]) -> list[Samples]:
    """Sample subjects in all frames: the scene is stepped once for all of them.

    Raises:
        LimitError: a mesh changes its points or faces.
    """
    samplers = [Sampler(subject, stage.plan) for subject in subjects]
    # What no take moves has times of its own: those frames are shown apart, so that takes change no more than need be.
    for apart in (False, True):
        for frame in range(len(stage.plan.times)):
            due = [sampler for sampler in samplers if sampler.apart[frame] == apart]
            if not due:
                continue
            advance(frame, len(stage.plan.times))
            stage.show(frame, apart)
            blocks = [sampler.subject.block for sampler in due]
            evaluated = [stage.export.evaluated(block) for block in blocks]
            places = places_in(stage.plan.space, stage.export, blocks)
            for sampler, block, place in zip(due, evaluated, places, strict=True):
                sampler.look(block, place, frame)
    return [sampler.samples for sampler in samplers]


def places_in(space: Space, export: ExportScene[Any], blocks: list[Block]) -> list[NDArray[np.float64]]:
    """Return where objects are in a space just now, (4, 4) each."""
    asked = blocks if space.root is None else [*blocks, space.root]
    worlds = world_matrices(export.depsgraph, [export.evaluated(block) for block in asked])
    return [space.placed(block, world, worlds[-1]) for block, world in zip(blocks, worlds, strict=False)]


def world_matrices(depsgraph: Any, evaluated: list[Any]) -> NDArray[np.float64]:
    """Return the transforms in the world of evaluated objects, (n, 4, 4): one by one Blender is slow to tell them."""
    objects = depsgraph.objects
    flat = np.empty((len(objects), 16), np.float32)
    if len(objects):
        objects.foreach_get("matrix_world", flat.ravel())
    places = {block.as_pointer(): place for place, block in enumerate(objects)}
    found = [places.get(block.as_pointer(), -1) for block in evaluated]
    worlds = np.zeros((len(found), 4, 4))
    if len(objects):
        worlds[:] = flat.reshape(-1, 4, 4).transpose(0, 2, 1)[found]
    for place, index in enumerate(found):
        if index < 0:
            worlds[place] = np.array(evaluated[place].matrix_world, np.float64)
    return worlds


def check_topology(block: Any, shape: attributes.Topology, plan: Plan, index: int) -> None:
    """Refuse an evaluated mesh that has other points or faces than `shape`; raises LimitError."""
    if not shape.is_of(block.data):
        makers = [m.name for m in block.modifiers if m.show_viewport and m.type not in BENDING]
        which = f" ({listed(makers)})" if makers else ""
        raise LimitError(
            f"'{block.name}' has other vertices or faces at frame {plan.times[index]:g} than at frame "
            f"{plan.times[0]:g}: a vertex-animated model has the same in all frames; apply the modifiers that make "
            f"them{which}, or turn them off in the viewport"
        )


def tag_transforms(block: Block, plan: Plan, samples: Samples | None) -> tuple[Floats, Floats]:
    """Return a tag's origins (F, 3) and axes (F, 3, 3) as rows: from curves, or from `samples` if it was stepped."""
    if samples is None:
        return tags.read_curves(block, plan.own_times())
    stacked = samples.matrices
    axes = np.swapaxes(stacked[:, :3, :3], 1, 2).astype(np.float32)
    return stacked[:, :3, 3].astype(np.float32), axes
