"""A rig that goes again: its model's keys show the frames by themselves, with what was posed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.transforms import inverse
from ...model.vertex import Tag
from ...reporting import LimitError
from .. import names
from ..compat import HAS_SLOTS, Block
from ..empties import decompose
from ..frame_rigs import modifier_of, posed_by, rig_actions
from ..mesh import attributes
from ..rig_clips import settle
from ..roots import space_of
from ..scene import ExportScene
from ..vertex import spread, tags
from ..vertex.frame_plan import FramePlan, GatherSettings, plan_frames
from ..vertex.gather import find_tags, reach_of, settle_tag
from ..vertex.sampling import Samples, Subject, step, stepping
from ..vertex.source import StoredSource, find
from .build import write_keys


def remove(rig: Block, collection: bpy.types.Collection | None, export: ExportScene[GatherSettings]) -> list[Block]:
    """Remove an armature that was made of frames; returns the meshes, whose keys show these as they were posed.

    Raises:
        LimitError: a mesh has other points than its keys, or they disagree.
    """
    settle([rig])
    meshes = posed_by(rig)
    empties = [block for block in rig.children if block.type == "EMPTY" and block.parent_type == "BONE"]
    sources = [tag for tag in find_tags(empties) if not tag.bone]
    known = find(collection, [block.data for block in meshes], [tag.block for tag in sources])
    space = space_of([*meshes, *empties], collection, export.evaluated)
    plan = plan_frames(meshes, sources, collection, known, export, space) if meshes else None
    scale = 1.0
    if plan is not None:
        plan.space = space
        seen = _sample(meshes, [tag.block for tag in sources], plan, export)
        for block, samples in zip(meshes, seen, strict=False):
            write_keys(block, samples.positions)
        reaches = [reach_of(tag.block, plan) for tag in sources]
    _unbind(meshes, rig)
    for block in meshes:
        scale = spread.settle(block, known)
    if plan is not None:
        name = meshes[0].name if collection is None else collection.name
        frames = _Frames(name, plan, known, scale)
        for tag, samples, reach in zip(sources, seen[len(meshes) :], reaches, strict=True):
            _stand_alone(tag.block, frames.tag(tag.block, samples, reach), frames, meshes[0])
    _forget(rig)
    return meshes


def _sample(
    meshes: list[Block], empties: list[Block], plan: FramePlan, export: ExportScene[GatherSettings]
) -> list[Samples]:
    """Return what the rig makes of meshes, and where it has tags, in all frames."""
    for block in meshes:
        if block.data.shape_keys.use_relative:
            raise LimitError(f"'{block.name}' has relative keys now: its rig made frames of absolute ones")
    with _alone(meshes), stepping(export, plan, meshes) as stage:
        subjects = [Subject(block, attributes.topology(block.data)) for block in meshes]
        return step(stage, [*subjects, *map(Subject, empties)])


@contextmanager
def _alone(meshes: list[Block]) -> Iterator[None]:
    """Let meshes show what their rig makes of them, without other modifiers."""
    others = [m for block in meshes for m in block.modifiers if m != modifier_of(block) and m.show_viewport]
    try:
        for modifier in others:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in others:
            modifier.show_viewport = True


def _unbind(meshes: list[Block], rig: Block) -> None:
    """Take modifier and weights away."""
    bones = {bone.name for bone in rig.data.bones}
    for block in meshes:
        block.modifiers.remove(modifier_of(block))
        for group in [group for group in block.vertex_groups if group.name in bones]:
            block.vertex_groups.remove(group)


class _Frames:
    """Frames that tags are keyed in, and what of the source they may be."""

    def __init__(self, name: str, plan: FramePlan, known: StoredSource | None, scale: float) -> None:
        self.name, self.plan, self.known, self.scale = name, plan, known, scale

    def tag(self, block: Block, samples: Samples, reach: float) -> Tag:
        """Return a tag as the file has it, in frames in which it stands there."""
        matrices = samples.matrices
        origins = (matrices[:, :3, 3] / self.scale).astype(np.float32)
        axes = np.ascontiguousarray(np.swapaxes(matrices[:, :3, :3], 1, 2), np.float32)
        number = -1 if self.known is None else self.known.tag_index(block)
        tag = Tag(names.file_name_of(block), origins, axes, number)
        if self.known is not None and number >= 0:
            settle_tag(tag, self.known, self.plan.sources, reach)
        return tag


def _stand_alone(empty: Block, tag: Tag, frames: _Frames, lead: Block) -> None:
    """Let a tag's empty stand where the rig had it, by curves of its own."""
    rotation, scales = decompose(tag.axes)
    root = frames.plan.space.root
    empty.parent, empty.parent_type, empty.parent_bone = root, "OBJECT", ""
    empty.matrix_parent_inverse = Matrix()
    channels: dict[str, NDArray[np.float32]] = {
        "location": np.ascontiguousarray(tag.origins * np.float32(frames.scale), np.float32),
        "rotation_quaternion": rotation,
        "scale": scales,
    }
    keys = lead.data.shape_keys.animation_data
    action = keys.action if HAS_SLOTS and keys is not None else None
    for path, values in channels.items():
        setattr(empty, path, values[0].tolist())
    tags.animate(empty, action or bpy.data.actions.new(names.fit(f"{frames.name} {empty.name}")), channels)


def _forget(rig: Block) -> None:
    """Remove an armature, its actions, and what else hung on it from that."""
    for block in list(rig.children):
        place = np.array(block.matrix_world, np.float64)
        block.parent = rig.parent
        if rig.parent is not None:
            place = steady.products(inverse(np.array(rig.parent.matrix_world, np.float64)), place)
            block.matrix_parent_inverse = Matrix()
        block.matrix_basis = Matrix(place.tolist())
    for action in rig_actions(rig):
        bpy.data.actions.remove(action)
    bpy.data.armatures.remove(rig.data)  # and the object with it
