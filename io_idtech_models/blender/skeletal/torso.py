"""What files know of bones and surfaces beside their shape, as properties of bones and objects, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model.skeletal import SkeletalModel, SkinnedMesh, Traits
from .. import properties
from ..compat import Block
from ..linked import is_linked

LARGEST = 2**31 - 1
DIGITS = 6
MOST = 64  # weights of a vertex that can be asked for


def show_traits(bones: list[Any], traits: Traits) -> None:
    """Give bones, in the file's order, their torso weights and flags."""
    for joint, bone in enumerate(bones):
        properties.show(bone, properties.TORSO_WEIGHT, float(traits.torso_weights[joint]))
        if traits.flags[joint]:
            properties.show(bone, properties.FLAGS, int(traits.flags[joint]))
    if 0 <= traits.torso_parent < len(bones):
        properties.show(bones[traits.torso_parent], properties.TORSO_PARENT, True)


def has_traits(bones: Iterable[Any]) -> bool:
    """Tell whether bones say of themselves how legs and torso move apart."""
    names = properties.TORSO_WEIGHT, properties.FLAGS, properties.TORSO_PARENT
    return any(name in bone for bone in bones for name in names)


def gather_traits(bones: list[Any]) -> Traits | None:
    """Return what bones, in the order of export, say of themselves; None if none says anything."""
    if not has_traits(bones):
        return None
    marked = [joint for joint, bone in enumerate(bones) if properties.number(bone, properties.TORSO_PARENT, 0)]
    flags = [min(max(properties.number(bone, properties.FLAGS, 0), -LARGEST), LARGEST) for bone in bones]
    return Traits(
        np.array([properties.number(bone, properties.TORSO_WEIGHT, 0) for bone in bones], np.float32),
        np.array(flags, np.int32),
        marked[0] if marked else -1,
    )


def show_lod(rig: Block, model: SkeletalModel) -> None:
    """Give an armature what its file says of levels of detail."""
    if model.lod is not None:
        for name, value in zip((properties.LOD_SCALE, properties.LOD_BIAS), model.lod, strict=True):
            properties.show(rig, name, value)


def gather_lod(rig: Block) -> tuple[float, float] | None:
    """Return the scale and the bias that an armature shows, as float32 has them, or None."""
    if properties.LOD_SCALE not in rig and properties.LOD_BIAS not in rig:
        return None
    scale, bias = properties.number(rig, properties.LOD_SCALE, 1.0), properties.number(rig, properties.LOD_BIAS, 0.0)
    return float(np.float32(scale)), float(np.float32(bias))


def show_min_lod(block: Block, mesh: SkinnedMesh) -> None:
    """Give a mesh object the fewest vertices to draw."""
    if mesh.min_lod is not None:
        properties.show(block, properties.MIN_LOD, mesh.min_lod)


def gather_min_lod(block: Block) -> int | None:
    """Return the fewest vertices that an object shows, or None."""
    if properties.MIN_LOD not in block:
        return None
    return int(min(max(properties.number(block, properties.MIN_LOD, 0), -LARGEST), LARGEST))


@dataclass(frozen=True)
class WeightLimits:
    """Which weights new and changed vertices are written with; the export operators declare the same options."""

    most_weights: int = 4  # of a vertex; 0: all
    least_weight: float = 0.05  # id's exporter leaves out what is less
    orphan_bone: str = ""  # what vertices without weights hang on; "": they are an error


def remember_weights(rig: Block, limits: WeightLimits) -> None:
    """Note on an armature with which limits its model was exported: bounds of its animations are those of that model.

    What is as it was noted, or as is usual, changes nothing; nor can an armature of another .blend be changed.
    """
    asked = WeightLimits(limits.most_weights, limits.least_weight, limits.orphan_bone)
    if _rounded(asked) == _rounded(remembered_weights(rig)) or is_linked(rig):
        return
    properties.show(rig, properties.MOST_WEIGHTS, asked.most_weights)
    properties.show(rig, properties.LEAST_WEIGHT, asked.least_weight)
    properties.show(rig, properties.ORPHAN_BONE, asked.orphan_bone)


def _rounded(limits: WeightLimits) -> WeightLimits:
    """Return limits to compare: operators have them in single precision."""
    return replace(limits, least_weight=round(limits.least_weight, DIGITS))


def remembered_weights(rig: Block) -> WeightLimits:
    """Return the limits with which an armature's model was exported last, or the usual ones."""
    usual = WeightLimits()
    most = properties.number(rig, properties.MOST_WEIGHTS, usual.most_weights)
    least = properties.number(rig, properties.LEAST_WEIGHT, usual.least_weight)
    bone = rig.get(properties.ORPHAN_BONE)
    return WeightLimits(
        int(most) if 0 <= most <= MOST else usual.most_weights,
        least if 0.0 <= least <= 1.0 else usual.least_weight,
        bone if isinstance(bone, str) else usual.orphan_bone,
    )
