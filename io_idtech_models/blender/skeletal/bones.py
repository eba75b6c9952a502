"""The bones of an armature as an export sees them: joints, their rest, and the curves that may pose them.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Skeleton, Traits
from ...model.transforms import from_matrices
from ...reporting import LimitError
from .. import properties
from ..compat import Block
from ..curves import bone_path
from ..empties import PREFIX
from ..joints import TURN_BACK
from ..provenance import TAG_INDEX
from . import armature, bone_scales, channels, torso
from .source import StoredRig

Doubles = NDArray[np.float64]
KINDS, WIDTHS, SCALES = (*channels.PATHS, channels.SCALE), (3, 4, 3), 7  # a bone's channels; where its scale begins
REST_CHANNELS = np.array([0, 0, 0, 1, 0, 0, 0, 1, 1, 1], np.float32)


# Blender computes a bone's rest along its parents': after a parent was rolled by hand, or drawn longer, it comes back
# this close, parts of a coordinate and of an axis; as `armature.rounding` says, but never farther than the least edit.
SAME_AXES, SAME_HEAD = 2e-5, 4e-6
LEAST_TURN, LEAST_MOVE = 2e-4, 1e-3  # 0.01 degrees; game units


def listed_bones(block: Block, deform_only: bool) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the bones to export, parents before children, in the source's order, and their parents among them (J,)."""
    tags = _tag_bones(block)
    wanted = [b for b in armature.file_order(block.data.bones) if b.use_deform or b.name in tags or not deform_only]
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


def _tag_bones(rig: Block) -> set[str]:
    """Return the bones that are tags by their names, or carry empties that are some: no mesh needs these."""
    called = {bone.name for bone in rig.data.bones if bone.name.lower().startswith(PREFIX)}
    hung = (block for block in rig.children if block.type == "EMPTY" and block.parent_type == "BONE")
    known = (block for block in hung if block.name.lower().startswith(PREFIX) or TAG_INDEX in block)
    return called | {block.parent_bone for block in known}


def has_no_joints(known: StoredRig | None) -> bool:
    """Tell whether an armature came from a file without joints: then it is whole without bones."""
    return known is not None and not known.source.skeleton.num_joints


@dataclass(eq=False)
class BonesAtRest:
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


def list_bones(block: Block, known: StoredRig | None, deform_only: bool) -> BonesAtRest:
    """Return an armature's bones as arrays; raises LimitError if there is none to export."""
    bones, parents = listed_bones(block, deform_only)
    if not bones and not has_no_joints(known):
        raise LimitError(f"'{block.name}' has no bone to export")
    bone_names = [bone.name for bone in bones]
    rest, rounded = armature.rest_matrices(block.data), armature.rounding(block.data)
    return BonesAtRest(
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


def bones_now(rig: Block, scale: float) -> Skeleton:
    """Return all bones of an armature as joints at rest, in the file's order and, with its `scale`, in its units."""
    bones = armature.file_order(rig.data.bones)
    rest = armature.rest_matrices(rig.data)
    order = {bone.name: nth for nth, bone in enumerate(bones)}
    parents = np.array([-1 if bone.parent is None else order[bone.parent.name] for bone in bones], np.int32)
    matrices = steady.products(np.array([rest[bone.name] for bone in bones]).reshape(-1, 4, 4), TURN_BACK)
    turns = from_matrices(steady.nearest_rotations(matrices[:, :3, :3]))
    numbers = np.array(armature.joint_numbers(bones), np.int32)
    called = [armature.joint_name(bone) for bone in bones]
    return Skeleton(called, parents, matrices[:, :3, 3] / scale, turns, numbers)


@dataclass(eq=False)
class BonesInMotion:
    """The bones to export, as joints, and their rest relative to their parents."""

    names: list[str]  # in Blender
    joints: list[str]  # in the file
    parents: NDArray[np.int32]  # (J,)
    rest: Doubles  # (J, 4, 4) that of import where it only came back with another rounding
    present: Doubles  # (J, 4, 4) as Blender has it
    numbers: NDArray[np.int32]  # (J,) the file's joint that each was, or -1
    traits: Traits | None = None
    inherits: NDArray[np.bool_] | None = None  # (J,) a bone grows with its parent; None: all do
    grows: bool = True  # all bones grow with their parents, along these' axes
    scales_way: NDArray[np.bool_] | None = None  # (J,) its scale scales its way from its parent in the game; None: none

    @cached_property
    def rows(self) -> dict[tuple[str, int], int]:
        """Return the number of each curve that may pose the bones, by path and index: ten for each bone."""
        kinds = [(kind, index) for kind, width in zip(KINDS, WIDTHS, strict=True) for index in range(width)]
        paths = [f"{bone_path(name)}." for name in self.names]
        return {(path + kind, i): n for n, (path, (kind, i)) in enumerate(product(paths, kinds))}

    @cached_property
    def maps(self) -> channels.Maps:
        """Return what makes poses of channels, by the rest that counts."""
        return channels.maps(self.rest, self.parents)

    def even_total(self, scales: NDArray[Any]) -> Doubles | None:
        """Return how large bones are with what they inherit, (F, J), of their own scale (F, J, 3); None if uneven."""
        return self.total(scales[..., 0]) if (scales == scales[..., :1]).all() else None

    def total(self, scales: NDArray[Any]) -> Doubles:
        """Return how large bones are with what they inherit, (F, J), of their own scale (F, J)."""
        total = scales.astype(np.float64)
        for joint, parent in enumerate(self.parents.tolist()):
            if parent >= 0 and (self.inherits is None or self.inherits[joint]):
                total[:, joint] *= total[:, parent]
        return total


def gather_bones(bones: BonesAtRest, known: StoredRig | None) -> BonesInMotion:
    """Return bones as joints in motion, by what the armature knows of its file."""
    rest = present = armature.relative(bones.rest, bones.parents)
    if known is not None:  # what only came back with another rounding counts as it was
        held = np.where(bones.numbers < len(known.rest), bones.numbers, -1)
        own = np.flatnonzero(held >= 0)
        own = own[same_rest(bones.rest[own], known.rest[held[own]], known.scale, bones.rounded[own])]
        matrices = bones.rest.copy()
        matrices[own] = known.rest[held[own]]
        if not np.array_equal(matrices, bones.rest):
            rest = armature.relative(matrices, bones.parents)
    numbers = np.minimum(bones.numbers, np.iinfo(np.int32).max).astype(np.int32)
    return BonesInMotion(
        bones.names, bones.joints, bones.parents, rest, present, numbers, bones.traits, bones.inherits,
        bool(bones.grows.all()), bones.scales_way,
    )  # fmt: skip


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
