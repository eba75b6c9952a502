"""A model's frames as a rig is made of them: points of all meshes in all frames, and tags, in the model's space.

A player is several such models, each hung on a tag of another: one rig is made of all.

Its tags stand in frames as location, rotation and scale show them.

Letters in shapes: F frames, N tags.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Tag
from ...reporting import LimitError, listed
from .. import names
from ..compat import Block
from ..curves import stays_put
from ..empties import decompose
from ..frame_rigs import rig_of
from ..linked import LOCAL, refuse_linked
from ..roots import is_tag, own_constraints
from ..scene import ExportScene, bending
from ..skeletal.armature import joint_matrices
from ..space import places_in, space_of
from ..vertex.frame_plan import FramePlan, GatherSettings
from ..vertex.gather_tags import find_tags, read_tags
from ..vertex.planning import plan_frames
from ..vertex.sampling import Stage, stepping
from ..vertex.shape_keys import frame_blocks, num_before, read
from ..vertex.shown_keys import has_frames, shown_key
from ..vertex.source import find

log = logging.getLogger(__name__)

FARTHEST = 1e7  # units: a bone so far away would be nowhere in particular
Floats = NDArray[np.float32]
Matrices = NDArray[np.float64]
Doubles = NDArray[np.float64]


@dataclass(eq=False)
class FramedModel:
    """A model whose frames are shape keys."""

    name: str
    meshes: list[Block]
    places: list[Matrices]  # (4, 4) where each mesh is in the model's space
    tag_blocks: list[Block]
    tags: list[Tag]
    points: Floats  # (F, V, 3) of all meshes, one behind another
    triangles: NDArray[np.int32]  # (T, 3)
    plan: FramePlan
    collection: bpy.types.Collection | None
    shown: int = -1  # the frame that shows now; -1: none does alone
    hung: bool = False  # what carries it was taken away: a root, or another's tag

    @property
    def root(self) -> Block | None:
        """Return the root of the player's part that the model is; None: it is a model by itself."""
        return self.plan.space.root

    @property
    def tag_poses(self) -> TagPoses:
        """Return how tags stand in all frames."""
        return tag_poses(self.tags, len(self.points))

    def split(self, points: Floats) -> list[Floats]:
        """Return points (F, V, 3) of the model's space as each mesh's own, (F, P, 3)."""
        ends = np.cumsum([len(block.data.vertices) for block in self.meshes])[:-1]
        parts = np.split(points, ends, axis=1)
        return [moved(part, place, back=True) for part, place in zip(parts, self.places, strict=True)]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of what gets a rig."""

    name: str
    root: Block | None  # of a player's part
    model: FramedModel | None  # None: it has one frame
    tag_blocks: list[Block]
    tags: TagPoses
    above: tuple[int, int] | None = None  # the part before, and which of that one's tags, that it hangs on
    beside: bool = False  # it is another model, which goes along with the bone that it follows best


def whole(model: FramedModel, beside: bool = False) -> Part:
    """Return a model that is no part of another; `beside`: it goes along with one before, as a weapon does."""
    return Part(model.name, None, model, model.tag_blocks, model.tag_poses, beside=beside)


def part_of(name: str, root: Block, model: FramedModel | None, before: list[Part]) -> Part | None:
    """Return a part of a player behind those that it may hang on; None if it hangs on no tag of these."""
    above = next(
        ((n, part.tag_blocks.index(root.parent)) for n, part in enumerate(before) if root.parent in part.tag_blocks),
        None,
    )
    if before and above is None:
        return None
    if model is not None:
        return Part(name, root, model, model.tag_blocks, model.tag_poses, above)
    tags = [block for block in root.children if is_tag(block)]
    still = [np.array(block.matrix_basis, np.float32) for block in tags]
    poses = [
        Tag(b.name, own[None, :3, 3], np.swapaxes(own[None, :3, :3], 1, 2)) for b, own in zip(tags, still, strict=True)
    ]
    return Part(name, root, None, tags, tag_poses(poses, 1), above)


def read_model(
    blocks: list[Block], collection: bpy.types.Collection | None, export: ExportScene[GatherSettings]
) -> FramedModel:
    """Return the frames of a model of some objects.

    Raises:
        LimitError: it has none, or none that a rig could stand behind.
    """
    export.view_layer.update()
    meshes = [block for block in blocks if has_frames(block)]
    if not meshes:
        raise LimitError("no mesh with frames: a rig is made of a model's frames, which are its shape keys")
    refuse_unfit(meshes)
    sources = [tag for tag in find_tags(blocks) if not tag.bone and own_constraints(tag.block)]
    known = find(collection, [block.data for block in meshes], [tag.block for tag in sources])
    space = space_of([*meshes, *(tag.block for tag in sources)], collection, export.evaluated)
    plan = plan_frames(meshes, sources, collection, known, export, space)
    plan.space = space
    with stepping(export, plan, meshes) as stage:
        found = read_tags(sources, stage)
        places = _places(meshes, stage)
    tags = {tag.block: Tag(names.file_name_of(tag.block), *own) for tag, own in zip(sources, found, strict=True)}
    lost = [block for block, tag in tags.items() if not max(map(_reach, (tag.origins, tag.axes))) < FARTHEST]
    if lost:
        text = "tags that lie nowhere, or too far out, in some frame get no bone: %s"
        log.warning(text, listed([tags.pop(block).name for block in lost]))
    own = [read(frame_blocks(block.data.shape_keys), len(block.data.vertices)) for block in meshes]
    points = np.concatenate([moved(part, place) for part, place in zip(own, places, strict=True)], axis=1)
    if not _reach(points) < FARTHEST:
        raise LimitError(f"vertices lie nowhere, or farther out than {FARTHEST:,.0f} units, too far for bones")
    name = meshes[0].name if collection is None else collection.name
    shown = shown_key(meshes[0].data.shape_keys) - num_before(meshes[0].data.shape_keys)
    return FramedModel(
        name, meshes, places, list(tags), list(tags.values()), points, triangles_of(meshes), plan, collection, shown
    )


def _reach(numbers: Floats) -> float:
    return float(np.abs(np.nan_to_num(numbers, nan=np.inf)).max(initial=0.0))


def refuse_shared(meshes: list[Block]) -> None:
    """Raise LimitError where another object has the mesh of one, too: it would get the frames of that."""
    for block in meshes:
        if block.data.users - block.data.use_fake_user > 1:
            text = "shares its mesh with another object, which would change, too: make it a single user first"
            raise LimitError(f"'{block.name}' {text} (Object > Relations > Make Single User)")


def refuse_unfit(meshes: list[Block]) -> None:
    """Raise LimitError where a mesh has a rig, or other keys than frames, or moves as an object."""
    for block in meshes:
        rigs = bending(block)
        if rig_of(block) is not None:
            raise LimitError(f"'{block.name}' has a rig already, made of its frames: Remove Rig gives these back")
        if rigs:
            raise LimitError(f"'{block.name}' is bent by an armature already: '{rigs[0].name}'")
        if block.data.shape_keys.use_relative:
            text = "its shape keys are relative: import the model with absolute ones (Relative Keys off)"
            raise LimitError(f"'{block.name}': {text}")
        refuse_shared([block])
        if not stays_put(block):
            raise LimitError(f"'{block.name}' moves as an object beside its frames: a rig is made of frames alone")
    refuse_linked([block.data for block in meshes], f"{LOCAL}, or make the rig there")


def _places(meshes: list[Block], stage: Stage) -> list[Matrices]:
    """Return where meshes, which stand still, are in the model's space."""
    space = stage.plan.space
    if all(space.is_plain(block) for block in meshes):
        return [space.place(block) for block in meshes]
    stage.show(0)
    return places_in(space, stage.export, meshes)


def moved(points: Floats, place: Matrices, back: bool = False) -> Floats:
    """Return points (F, P, 3) where a matrix (4, 4) puts them, or took them from; as they are where it is none."""
    if np.array_equal(place, np.eye(4)):
        return points
    way = place[:3, 3]
    if back:
        turn = steady.inverses(place[:3, :3])
        return np.asarray(steady.applied(turn, points.astype(np.float64) - way), np.float32)
    return np.asarray(steady.applied(place[:3, :3], points.astype(np.float64)) + way, np.float32)


def triangles_of(meshes: list[Block]) -> NDArray[np.int32]:
    """Return the triangles (T, 3) of meshes, whose points are numbered one behind another."""
    found, first = [], 0
    for block in meshes:
        block.data.calc_loop_triangles()
        corners = np.empty(3 * len(block.data.loop_triangles), np.int32)
        block.data.loop_triangles.foreach_get("vertices", corners)
        found.append(corners.reshape(-1, 3) + first)
        first += len(block.data.vertices)
    return np.concatenate(found).astype(np.int32)


@dataclass(eq=False)
class TagPoses:
    """How tags stand in all frames."""

    places: Doubles  # (F, N, 4, 4) without scale
    scales: Doubles  # (F, N, 3)


def tag_poses(tags: Sequence[Tag], num_frames: int) -> TagPoses:
    """Return how tags stand, as location, rotation and scale show it."""
    if not tags:
        return TagPoses(np.zeros((num_frames, 0, 4, 4)), np.ones((num_frames, 0, 3)))
    turns, scales = decompose(np.stack([tag.axes for tag in tags], axis=1))
    origins = np.stack([tag.origins for tag in tags], axis=1)
    return TagPoses(joint_matrices(origins, unit(turns)), scales.astype(np.float64))


def unit(turns: NDArray[Any]) -> Doubles:
    """Return quaternions (..., 4) of length one."""
    turns = turns.astype(np.float64)
    return np.asarray(turns / np.maximum(steady.lengths(turns), 1e-30)[..., None])
