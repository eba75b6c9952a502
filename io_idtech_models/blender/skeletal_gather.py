"""An armature and its meshes to a skeletal model: the way back of `skeletal.build`."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from ..model.skeletal import SkeletalModel, Skeleton, SkinnedMesh
from ..model.transforms import from_matrices
from ..model.words import listed
from . import armature, names
from .compat import Block
from .skeletal_source import KnownRig, find, place_of
from .skinned import Rig, WeightSettings, gather_mesh, rest_source

log = logging.getLogger(__name__)

# Blender computes a bone's rest along its parents': after a parent was rolled by hand it comes back this close.
SAME_AXES, SAME_HEAD = 2e-5, 4e-6


@dataclass(frozen=True)
class SkeletalGatherSettings(WeightSettings):
    """How a scene becomes a skeletal model; the export operators declare the same options."""

    scale: float = 1.0
    deform_only: bool = True
    keep_suffixes: bool = False


def find_rig(blocks: list[Block]) -> Block:
    """Return the armature among objects, or the one that deforms them.

    Raises:
        LimitError: there is none, or more than one.
    """
    rigs = [block for block in blocks if block.type == "ARMATURE"]
    if not rigs:
        modifiers = [m for block in blocks if block.type == "MESH" for m in block.modifiers if m.type == "ARMATURE"]
        rigs = list(dict.fromkeys(m.object for m in modifiers if m.object is not None))
    if len(rigs) != 1:
        found = f"{len(rigs)}: {listed([rig.name for rig in rigs])}" if rigs else "none"
        raise LimitError(f"a skeletal model has one armature, among the objects there are {found}" if rigs else
                         "nothing to export: no armature among the objects")  # fmt: skip
    return rigs[0]


def gather(
    blocks: list[Block], view_layer: bpy.types.ViewLayer, settings: SkeletalGatherSettings, name: str = ""
) -> SkeletalModel:
    """Return the model that objects show at rest, with its source's facts if the .blend knows them.

    Raises:
        LimitError: no armature, several, or vertices without weights.
    """
    for block in blocks:
        block.update_from_editmode()
    view_layer.update()
    block = find_rig(blocks)
    known = find(block)
    rig = gather_rig(block, known, settings)
    found: list[SkinnedMesh] = []
    for mesh in _in_order([b for b in blocks if b.type == "MESH"], known, block):
        place = place_of(known, block, mesh)
        found += gather_mesh(mesh, rig, place, settings.scale, settings, settings.keep_suffixes, view_layer)
    return SkeletalModel(name or block.name, rig.skeleton, _claimed(found), rig.source)


def _in_order(blocks: list[Block], known: KnownRig | None, rig: Block) -> list[Block]:
    """Return meshes in the source's order; copies and new ones follow."""

    def rank(block: Block) -> tuple[bool, int, bool]:
        place = place_of(known, rig, block)
        index = -1 if place is None else place.surface
        return index < 0, index, block.name != block.get(names.GIVEN)

    return sorted(blocks, key=rank)


def _claimed(found: list[SkinnedMesh]) -> list[SkinnedMesh]:
    """Leave each of the source's meshes to the first that claims it: a copy is a further mesh."""
    claimed: set[int] = set()
    for mesh in found:
        if mesh.source_index in claimed:
            log.warning("'%s' is a copy: written as a further mesh", mesh.name)
            mesh.source_index, mesh.source_vertices, mesh.kept = -1, None, None
        claimed.add(mesh.source_index)
        claimed.discard(-1)
    return found


def listed_bones(block: Block, deform_only: bool) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the bones to export, parents before children, in the source's order, and their parents among them (J,)."""
    wanted = [b for b in armature.file_order(block.data.bones) if b.use_deform or not deform_only]
    chosen = {bone.name for bone in wanted}
    order: dict[str, int] = {}
    ordered: list[Any] = []

    def above(bone: Any) -> Any:
        parent = bone.parent
        while parent is not None and parent.name not in chosen:
            parent = parent.parent
        return parent

    for bone in wanted:
        line = []
        here = bone
        while here is not None and here.name not in order:
            line.append(here)
            here = above(here)
        for each in reversed(line):
            order[each.name] = len(ordered)
            ordered.append(each)
    parents = [-1 if above(bone) is None else order[above(bone).name] for bone in ordered]
    return ordered, np.array(parents, np.int32)


def gather_rig(block: Block, known: KnownRig | None, settings: SkeletalGatherSettings) -> Rig:
    """Return an armature's bones as joints, in their rest pose."""
    bones, parents = listed_bones(block, settings.deform_only)
    if not bones:
        raise LimitError(f"'{block.name}' has no bone to export")
    rest_by_name = armature.rest_matrices(block.data)
    rest = np.array([rest_by_name[bone.name] for bone in bones]).reshape(-1, 4, 4)
    world = np.array(block.matrix_world, np.float64)
    matrices = rest @ np.linalg.inv(armature.TURN)
    sources: NDArray[np.int32] = np.full(len(bones), -1, np.int32)
    kept: NDArray[np.bool_] = np.zeros(len(bones), np.bool_)
    if known is not None:
        sources, kept, turned, matrices = _known_joints(bones, rest, matrices, known)
        kept &= settings.scale == known.scale and np.array_equal(world, np.eye(4))
    matrices, lost = armature.placed(matrices, world)
    if lost.any():
        log.warning("'%s' is scaled unevenly: in the game its meshes will bend otherwise; apply its scale", block.name)
    listed_names = [armature.joint_name(bone) for bone in bones]
    positions, rotations = matrices[:, :3, 3] / settings.scale, from_matrices(matrices[:, :3, :3])
    if known is not None and np.array_equal(world, np.eye(4)):
        rotations[turned] = known.source.skeleton.rotations[sources[turned]]
    skeleton = Skeleton(listed_names, parents, positions, rotations, sources, kept)
    source = None if known is None else known.source
    vertex_source = None if known is None else rest_source(known.source, known.scale)
    joints = {bone.name: i for i, bone in enumerate(bones)}
    return Rig(block, skeleton, joints, source, vertex_source, 1.0 if known is None else known.scale)


def same_rest(matrices: NDArray[np.float64], before: NDArray[np.float64], scale: float) -> NDArray[np.bool_]:
    """Tell which bones' rest (J, 4, 4) is what it was, (J,); `scale` is that of the import."""
    size = np.abs(before[:, :3, 3]).max(axis=1, initial=0.0)
    near = np.abs(matrices[:, :3, 3] - before[:, :3, 3]) <= SAME_HEAD * np.maximum(scale, size)[:, None]
    return np.asarray(near.all(axis=1) & same_axes(matrices, before))


def same_axes(matrices: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which bones' axes at rest are what they were, (J,)."""
    return np.asarray((np.abs(matrices - before)[:, :3, :3] <= SAME_AXES).all(axis=(1, 2)))


def _known_joints(
    bones: list[Any], rest: NDArray[np.float64], matrices: NDArray[np.float64], known: KnownRig
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
    """Return the source's joint of each bone, which keep its pose, which its axes, and the matrices (J, 4, 4) of all.

    An edited rest bone's joint is the file's joint x inverse(rest at import) x rest now.
    """
    skeleton = known.source.skeleton
    numbers = np.array(armature.joint_numbers(bones), np.int64)
    sources = np.where(numbers < skeleton.num_joints, numbers, -1).astype(np.int32)
    own = np.flatnonzero(sources >= 0)
    before = known.rest[sources[own]]
    kept, turned = np.zeros((2, len(bones)), np.bool_)
    kept[own], turned[own] = same_rest(rest[own], before, known.scale), same_axes(rest[own], before)
    file = armature.joint_matrices(skeleton.positions, skeleton.rotations, known.scale)[sources[own]]
    turn, back = armature.TURN, np.linalg.inv(armature.TURN)
    matrices = matrices.copy()
    matrices[own] = file @ turn @ np.linalg.inv(before) @ rest[own] @ back
    return sources, kept, turned, matrices
