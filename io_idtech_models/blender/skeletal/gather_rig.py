"""An armature and its meshes to a skeletal model: the way back of `build`."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Pose, SkeletalModel, Skeleton, SkinnedMesh, Traits
from ...model.transforms import from_matrices, inverse
from ...model.wording import listed
from ...reporting import LimitError
from .. import names, properties
from ..budgets import refuse_to_write
from ..claims import Claims
from ..compat import Block
from ..mesh.surface_names import Wanted, settle_and_say
from . import armature, bone_scales, torso
from . import tags as joint_tags
from .gather_mesh import Rig, gather_mesh, rest_source
from .rig_scene import RigScene
from .source import StoredRig, place_of
from .weights import losses

log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]

# Blender computes a bone's rest along its parents': after a parent was rolled by hand, or drawn longer, it comes back
# this close, parts of a coordinate and of an axis; as `armature.rounding` says, but never farther than the least edit.
SAME_AXES, SAME_HEAD = 2e-5, 4e-6
LEAST_TURN, LEAST_MOVE = 2e-4, 1e-3  # 0.01 degrees; game units


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
        raise LimitError(f"a skeletal model has one armature, export them one by one: there are {found}" if rigs else
                         "nothing to export: no armature among the objects")  # fmt: skip
    return rigs[0]


def gather(blocks: list[Block], export: RigScene, name: str = "", measured: bool = True) -> SkeletalModel:
    """Return the model that objects show at rest, with its source's facts if the .blend knows them.

    `measured`: a warning is logged of what a file can't hold of how bones move vertices, with how far they are off.

    Raises:
        LimitError: no bone to export, or vertices without weights.
    """
    for part in blocks:
        part.update_from_editmode()
    export.view_layer.update()
    block, known, scale = export.rig, export.stored, export.settings.scale
    rig = gather_rig(export)
    found: list[SkinnedMesh] = []
    export.written.clear()
    surfaces: list[Wanted] = []
    for mesh in _in_order([b for b in blocks if b.type == "MESH"], known, block):
        made = gather_mesh(mesh, rig, place_of(known, block, mesh), export)
        surfaces += [Wanted(mesh, nth, each.name) for nth, each in enumerate(made)]
        found += made
    if export.settings.holds.worn_by_name:
        for each, called in zip(found, settle_and_say(surfaces), strict=True):
            each.name = called
    if measured:
        losses.say(rig, found, export)
    tags = joint_tags.gather(blocks, rig, scale)
    lod = torso.gather_lod(block)
    return SkeletalModel(name or block.name, rig.skeleton, _claimed(found), rig.source, tags, lod)


def _in_order(blocks: list[Block], known: StoredRig | None, rig: Block) -> list[Block]:
    """Return meshes in the source's order; copies and new ones follow."""

    def number_of(block: Block) -> int:
        place = place_of(known, rig, block)
        return -1 if place is None else place.surface

    return names.in_source_order(blocks, number_of)


def _claimed(meshes: list[SkinnedMesh]) -> list[SkinnedMesh]:
    """Leave each of the source's meshes to the first that claims it: a copy, or a part, is a further mesh.

    Raises:
        LimitError: there are more than an import would take back.
    """
    refuse_to_write(len(meshes))
    claims, copies = Claims(), list[str]()
    for mesh in meshes:
        if claims.repeats(mesh.source_index, mesh.source_triangles):
            copies.append(mesh.name)
        if not claims.take(mesh.source_index):
            mesh.source_index, mesh.source_vertices, mesh.kept = -1, None, None
    if copies:
        many = len(copies) > 1
        text = "are copies: written as further meshes" if many else "is a copy: written as a further mesh"
        log.warning("%s %s", listed(copies), text)
    return meshes


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


def has_no_joints(known: StoredRig | None) -> bool:
    """Tell whether an armature came from a file without joints: then it is whole without bones."""
    return known is not None and not known.source.skeleton.num_joints


@dataclass(eq=False)
class Listed:
    """The bones to export as they are at rest, parents before children, in the source's order."""

    names: list[str]  # in Blender
    joints: list[str]  # in the file
    parents: NDArray[np.int32]  # (J,)
    numbers: NDArray[np.int64]  # (J,) the file's joint that each was, or -1
    rest: Doubles  # (J, 4, 4) in the armature's space
    rounded: Doubles  # (J, 2) how far head and axes may be off by Blender's rounding alone
    traits: Traits | None
    inherits: NDArray[np.bool_]  # (J,) a bone grows with its parent
    scales_way: NDArray[np.bool_]  # (J,) its scale scales its way from its parent in the game
    rest_scales: Doubles | None  # (J, 3) how large the file's joints are at rest
    grows: NDArray[np.bool_]  # (J,) a bone grows with its parent along that one's axes, as Blender's usually do


def list_bones(export: RigScene) -> Listed:
    """Return an armature's bones as arrays; raises LimitError if there is none to export."""
    block = export.rig
    bones, parents = listed_bones(block, export.settings.deform_only)
    if not bones and not has_no_joints(export.stored):
        raise LimitError(f"'{block.name}' has no bone to export")
    bone_names = [bone.name for bone in bones]
    rest, rounded = armature.rest_matrices(block.data), armature.rounding(block.data)
    return Listed(
        bone_names,
        [armature.joint_name(bone) for bone in bones],
        parents,
        np.array(armature.joint_numbers(bones), np.int64),
        np.array([rest[name] for name in bone_names]).reshape(-1, 4, 4),
        np.array([rounded[name] for name in bone_names]).reshape(-1, 2),
        torso.gather_traits(bones),
        np.array([bone.inherit_scale not in {"NONE", "NONE_LEGACY"} for bone in bones], np.bool_),
        np.array([properties.number(bone, properties.SCALE_POSITIONS, 0) != 0 for bone in bones], np.bool_),
        bone_scales.gather_rest(bones),
        np.array([bone.inherit_scale == "FULL" for bone in bones], np.bool_),
    )


def gather_rig(export: RigScene) -> Rig:
    """Return an armature's bones as joints, in their rest pose."""
    block, known, settings, bones = export.rig, export.stored, export.settings, export.listed
    rest, world = bones.rest, np.array(block.matrix_world, np.float64)
    matrices = steady.products(rest, armature.TURN_BACK)
    sources: NDArray[np.int32] = np.full(len(bones.names), -1, np.int32)
    kept: NDArray[np.bool_] = np.zeros(len(bones.names), np.bool_)
    if known is not None:
        sources, in_place, turned, matrices = _known_joints(bones, matrices, known)
        kept = in_place & turned & (settings.scale == known.scale and np.array_equal(world, np.eye(4)))
    matrices, lost = armature.placed(matrices, world)
    positions, rotations = matrices[:, :3, 3] / settings.scale, from_matrices(matrices[:, :3, :3])
    if known is not None and np.array_equal(world, np.eye(4)):
        rotations[turned] = known.source.skeleton.rotations[sources[turned]]
        positions[in_place] = known.source.skeleton.positions[sources[in_place]] * (known.scale / settings.scale)
    skeleton = Skeleton(list(bones.joints), bones.parents, positions, rotations, sources, kept, bones.traits)
    skeleton.scales = bones.rest_scales
    if known is not None and known.source.skeleton.bound is not None:
        skeleton.bound = _bound_pose(rest, sources, kept, known, world, settings.scale)
    source = None if known is None else known.source
    shown = None if known is None else rest_source(known.source, known.scale)
    joints = {name: joint for joint, name in enumerate(bones.names)}
    return Rig(block, skeleton, joints, source, shown, 1.0 if known is None else known.scale, bool(lost.any()))


def _bound_pose(
    rest: Doubles, sources: NDArray[np.int32], kept: NDArray[np.bool_], known: StoredRig, world: Doubles, scale: float
) -> Pose:
    """Return where joints are while the meshes are bound, which is not where the file has them: see `_known_joints`."""
    bound = known.source.skeleton.bind
    own = np.flatnonzero(sources >= 0)
    matrices = steady.products(rest, armature.TURN_BACK)
    matrices[own] = _carried(bound, sources[own], rest[own], known)
    matrices = armature.placed(matrices, world)[0]
    positions, rotations = matrices[:, :3, 3] / scale, from_matrices(matrices[:, :3, :3])
    positions[kept], rotations[kept] = bound.positions[sources[kept]], bound.rotations[sources[kept]]
    return Pose(positions, rotations)


def _carried(pose: Pose, joints: NDArray[np.int32], rest: Doubles, known: StoredRig) -> Doubles:
    """Return a pose of the source's joints (n,) as matrices (n, 4, 4), moved as their bones' rest was since import."""
    file = armature.joint_matrices(pose.positions[joints], pose.rotations[joints], known.scale)
    before = inverse(known.rest[joints])
    return steady.products(file, armature.TURN, before, rest, armature.TURN_BACK)


def same_rest(matrices: Doubles, before: Doubles, scale: float, rounded: Doubles | None = None) -> NDArray[np.bool_]:
    """Tell which bones' rest (J, 4, 4) is what it was, (J,); `scale` is that of the import.

    `rounded` (J, 2) says how far head and axes may be off by Blender's rounding alone.
    """
    return same_heads(matrices, before, scale, rounded) & same_axes(matrices, before, rounded)


def same_heads(matrices: Doubles, before: Doubles, scale: float, rounded: Doubles | None = None) -> NDArray[np.bool_]:
    """Tell which bones' heads at rest (J, 4, 4) are what they were, (J,); see `same_rest`."""
    size = np.abs(before[:, :3, 3]).max(axis=1, initial=0.0)
    least = SAME_HEAD * np.maximum(scale, size)
    off = least if rounded is None else np.clip(rounded[:, 0], least, np.maximum(least, LEAST_MOVE * scale))
    near = np.abs(matrices[:, :3, 3] - before[:, :3, 3]) <= off[:, None]
    return np.asarray(near.all(axis=1))


def same_axes(matrices: Doubles, before: Doubles, rounded: Doubles | None = None) -> NDArray[np.bool_]:
    """Tell which bones' axes at rest are what they were, (J,)."""
    off = np.full(len(before), SAME_AXES) if rounded is None else np.clip(rounded[:, 1], SAME_AXES, LEAST_TURN)
    return np.asarray((np.abs(matrices - before)[:, :3, :3] <= off[:, None, None]).all(axis=(1, 2)))


def _known_joints(
    bones: Listed, matrices: Doubles, known: StoredRig
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_], Doubles]:
    """Return the source's joint of each bone, which keep its place, which its axes, and the matrices (J, 4, 4) of all.

    An edited rest bone's joint is the file's joint x inverse(rest at import) x rest now.
    """
    skeleton, rest, rounded = known.source.skeleton, bones.rest, bones.rounded
    sources = np.where(bones.numbers < skeleton.num_joints, bones.numbers, -1).astype(np.int32)
    own = np.flatnonzero(sources >= 0)
    before = known.rest[sources[own]]
    in_place, turned = np.zeros((2, len(rest)), np.bool_)
    in_place[own] = same_heads(rest[own], before, known.scale, rounded[own])
    turned[own] = same_axes(rest[own], before, rounded[own])
    matrices = matrices.copy()
    matrices[own] = _carried(Pose(skeleton.positions, skeleton.rotations), sources[own], rest[own], known)
    return sources, in_place, turned, matrices
