"""What a scene shows, frame by frame: positions, normals, transforms.

Where nothing but import's own curves animates a model its keys and curves are read as arrays, which takes no time;
everything else (modifiers, armatures, drivers, constraints, parents) is sampled by stepping through the scene, which a
`Stage` shows and leaves as it was. Both ways give the same numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...reporting import LimitError, advance, listed
from ..compat import Block
from ..curves import stays_put
from ..frame_rigs import rigs_of
from ..mesh import attributes
from ..mesh.held_once import HeldOnce
from ..playback import at_rest, playing, showing_all
from ..roots import AT_REST, follows_frame, leader_of, parts_of, posed_parts, showing_whole
from ..scene import ExportScene, showing, unstretched
from ..space import worlds_of
from ..takes import Take
from .frame_plan import FramePlan, GatherSettings
from .movement import pinned
from .shape_keys import KeyFinder, frame_blocks, read
from .shown_keys import keys_at

# Modifiers that move points and do nothing else: without others a mesh has the same faces in all frames.
BENDING = frozenset((
    "ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY", "SURFACE_DEFORM",
    "WARP", "WAVE",
))  # fmt: skip

Floats = NDArray[np.float32]
log = logging.getLogger(__name__)


class Stage:
    """A scene that shows the frames of a plan; see `stepping`."""

    def __init__(self, export: ExportScene[GatherSettings], plan: FramePlan, blocks: list[Block]) -> None:
        self.export, self.plan, self.blocks = export, plan, blocks
        self.posed: list[tuple[Block, list[Block]]] = []  # keys that the scene does not show by itself
        self.take: Take | None = None
        self.prepared, self.playing = ExitStack(), ExitStack()
        self.shown: tuple[int, bool] | None = None
        self.show_time: Callable[[float], None]  # see `_prepare`

    def show(self, frame: int, own: bool = False) -> None:
        """Show a frame; `own`: as it is for what no take moves."""
        if self.shown == (frame, own):
            return
        if self.shown is None:
            self._prepare()
        self.shown = frame, own
        take = None if own else self.plan.take(frame)
        if take is not self.take:
            self.playing.close()
            self.take = None
            if take is not None:
                self.playing.enter_context(playing(take))
                self.take = take
        for keys, blocks in self.posed:
            if not keys.use_relative:
                keys.eval_time = blocks[self.plan.keys[frame]].frame
                continue
            for key in blocks:
                if key.value:
                    key.value = 0.0
            blocks[self.plan.keys[frame]].value = 1.0
        if self.plan.present:
            self.export.view_layer.update()
        else:
            self.show_time((self.plan.own_times() if own else self.plan.times)[frame])

    def _prepare(self) -> None:
        """Prepare the scene: what is not stepped through at all costs nothing."""
        owners = dict.fromkeys(block.data.shape_keys for block in self.plan.held)
        posed = [keys for keys in owners if not _is_shown(keys, self.plan)]
        self.show_time = self.prepared.enter_context(showing(self.export.scene))
        if self.plan.is_timed_by_keys:
            self.prepared.enter_context(unstretched())
        if self.plan.whole:
            rigs = rigs_of(self.blocks)
            for root in dict.fromkeys([self.plan.space.root, *parts_of(self.blocks), *posed_parts(rigs)]):
                self.prepared.enter_context(showing_whole(root, len(self.plan.times)))
            self.prepared.enter_context(showing_all(rigs))
        self.prepared.enter_context(pinned(self.blocks, to_one=False))
        self.prepared.enter_context(at_rest(posed))
        self.posed = [(keys, frame_blocks(keys)) for keys in posed]


@contextmanager
def stepping(export: ExportScene[GatherSettings], plan: FramePlan, blocks: list[Block]) -> Iterator[Stage]:
    """Set the stage for stepping through a plan, and leave the scene as it was, whatever happens between."""
    stage = Stage(export, plan, blocks)
    with stage.prepared, stage.playing:
        yield stage


def _is_shown(keys: Block, plan: FramePlan) -> bool:
    """Tell whether the scene shows the plan's keys by itself, which is three times as fast as posing them."""
    if plan.whole and follows_frame(keys) and leader_of(keys) is None:
        return True
    return keys_at(KeyFinder(keys), plan.times, present=plan.present) == plan.keys


@dataclass(eq=False)
class Samples:
    """What one object shows in each frame. Meshes have points, and normals if they were asked for."""

    matrices: NDArray[np.float64]  # (F, 4, 4), or (1, 4, 4) where it stays
    positions: Floats  # (F, P, 3) in object space; (1, P, 3) where it holds still
    normals: Floats | None = None  # (F, C, 3) unit, in object space


def read_direct(block: Block, plan: FramePlan) -> Samples:
    """Return what a direct mesh shows in each frame, from its keys."""
    return Samples(plan.space.place(block)[None], keyed_positions(block, plan))


def keyed_positions(block: Block, plan: FramePlan) -> Floats:
    """Return where a mesh whose keys each frame shows one of has its points, (F, P, 3), without keys (1, P, 3)."""
    frames = frame_blocks(block.data.shape_keys)
    if not frames:
        return attributes.positions(block.data)[None]
    shown, places = np.unique(plan.shown_keys(block), return_inverse=True)
    positions = read([frames[key] for key in shown.tolist()], len(block.data.vertices))
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

    def __init__(self, subject: Subject, plan: FramePlan) -> None:
        self.subject, self.plan = subject, plan
        self.apart = self._has_own_times()
        frames, shape = len(plan.times), subject.shape
        block = subject.block
        fixed = plan.space.is_plain(block) and stays_put(block)
        self.fixed = plan.space.place(block) if fixed and plan.space.root is not None else None
        self.worlds = np.empty((frames, 1 if plan.space.root is None else 2, 4, 4))  # and the root's behind its own
        self.bones = np.empty((frames, 4, 4)) if subject.bone else None
        self.positions = self.normals = None
        self.held: HeldOnce | None = None
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

    def look(self, evaluated: Any, worlds: NDArray[np.float64], frame: int) -> None:
        """Take what the scene shows of the evaluated object now as that of a frame.

        `worlds` (n, 4, 4) says where it stands, and the root of the space, if it has one.

        Raises:
            LimitError: the mesh has other points or faces than before.
        """
        self.worlds[frame] = worlds
        if self.bones is not None:
            self.bones[frame] = evaluated.pose.bones[self.subject.bone].matrix
        if self.positions is not None and self.subject.shape is not None:
            mesh = evaluated.data
            if frame == 0 or not self.bends or not self.subject.shape.counts(mesh):
                check_topology(evaluated, self.subject.shape, self.plan, frame)
            if not self.bends and self.held is None:
                self.held = HeldOnce(self.subject.block, mesh)  # frames come in their order
            elif self.held is not None:
                self.held.look(mesh, f"at frame {self.plan.times[frame]:g}")
            attributes.read_positions(mesh, self.positions[frame])
            if self.normals is not None and self.normals.size:
                mesh.corner_normals.foreach_get("vector", self.normals[frame].ravel())

    def repeat(self, count: int) -> None:
        """Let the first frame stand for all behind so many, which were not looked at."""
        for seen in (self.worlds, self.bones, self.positions, self.normals):
            if seen is not None and count < len(seen):
                seen[count:] = seen[0]

    @property
    def samples(self) -> Samples:
        """Return what was seen."""
        positions, normals, matrices = self.positions, self.normals, self._matrices()
        if positions is None:
            return Samples(matrices, np.zeros((1, 0, 3), np.float32), normals)
        back = self.subject.block.constraints.get(AT_REST)
        if back is not None and self.plan.space.root in {None, back.space_object}:
            # Bones have brought it where it belongs: so does the space.
            place = self.plan.space.place(self.subject.block)
            seen = self.plan.space.brought(self.subject.block, matrices)
            turns, ways = seen[:, None, :3, :3], seen[:, None, :3, 3]
            positions[:] = steady.applied(turns, positions) + ways
            if normals is not None:
                normals[:] = steady.applied(turns, normals)
            matrices = place.reshape(1, 4, 4)
        if normals is not None:
            normals = attributes.unit(normals.reshape(-1, 3)).reshape(normals.shape)
        return Samples(matrices, positions, normals)

    def _matrices(self) -> NDArray[np.float64]:
        """Return where the subject was seen in the space, (F, 4, 4)."""
        places = self.plan.space.placed(self.subject.block, self.worlds[:, 0], self.worlds[:, -1])
        if self.fixed is not None:
            places = np.broadcast_to(self.fixed, places.shape)
        return places if self.bones is None else steady.products(places, self.bones)


def step(stage: Stage, subjects: list[Subject]) -> list[Samples]:
    """Sample subjects in all frames: the scene is stepped once for all of them.

    Of a format that holds one frame all others are as the first, which alone is looked at: meshes may change.

    Raises:
        LimitError: a mesh changes its points or faces.
    """
    count = len(stage.plan.times) if stage.export.settings.holds.frames else 1
    samplers = [Sampler(subject, stage.plan) for subject in subjects]
    # What no take moves has times of its own: those frames are shown apart, so that takes change no more than need be.
    for apart in (False, True):
        for frame in range(count):
            due = [sampler for sampler in samplers if sampler.apart[frame] == apart]
            if not due:
                continue
            advance(frame, count)
            stage.show(frame, apart)
            blocks = [sampler.subject.block for sampler in due]
            evaluated = [stage.export.evaluated(block) for block in blocks]
            worlds = worlds_of(stage.plan.space, stage.export, blocks)
            for place, (sampler, shown) in enumerate(zip(due, evaluated, strict=True)):
                sampler.look(shown, worlds[[place, *range(len(due), len(worlds))]], frame)
    for sampler in samplers:
        for text in () if sampler.held is None else sampler.held.sentences():
            log.warning(text)
        sampler.repeat(count)
    return [sampler.samples for sampler in samplers]


def sampled(stage: Stage, subjects: Mapping[Any, Subject]) -> dict[Any, Samples]:
    """Sample in one go what is asked of several, by who asks; see `step`."""
    return dict(zip(subjects, step(stage, list(subjects.values())), strict=True))


def check_topology(block: Any, shape: attributes.Topology, plan: FramePlan, index: int) -> None:
    """Refuse an evaluated mesh that has other points or faces than `shape`; raises LimitError."""
    if not shape.is_of(block.data):
        makers = [m.name for m in block.modifiers if m.show_viewport and m.type not in BENDING]
        which = f" ({listed(makers)})" if makers else ""
        way = f"apply the modifiers that make them{which}, or turn them off in the viewport"
        if getattr(block.original.data, "shape_keys", None) is not None:  # Blender applies none of these there
            way = f"turn off what merges or removes points in the modifiers that make them{which}, or these"
        raise LimitError(
            f"'{block.name}' has other vertices or faces at frame {plan.times[index]:g} than at frame "
            f"{plan.times[0]:g}: a vertex-animated model has the same in all frames; {way}"
        )
