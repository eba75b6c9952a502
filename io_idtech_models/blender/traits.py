"""What Enemy Territory knows of bones and surfaces beside their shape, as properties of bones and objects, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.skeletal import SkeletalModel, SkinnedMesh, Traits
from . import properties as own
from .compat import Block

LARGEST = 2**31 - 1


def show_traits(bones: list[Any], traits: Traits) -> None:
    """Give bones, in the file's order, their torso weights and flags."""
    for joint, bone in enumerate(bones):
        own.show(bone, own.TORSO_WEIGHT, float(traits.torso_weights[joint]))
        if traits.flags[joint]:
            own.show(bone, own.FLAGS, int(traits.flags[joint]))
    if 0 <= traits.torso_parent < len(bones):
        own.show(bones[traits.torso_parent], own.TORSO_PARENT, True)


def gather_traits(bones: list[Any]) -> Traits | None:
    """Return what bones, in the order of export, say of themselves; None if none says anything."""
    if not any(name in bone for bone in bones for name in (own.TORSO_WEIGHT, own.FLAGS, own.TORSO_PARENT)):
        return None
    marked = [joint for joint, bone in enumerate(bones) if own.number(bone, own.TORSO_PARENT, 0)]
    flags = [min(max(own.number(bone, own.FLAGS, 0), -LARGEST), LARGEST) for bone in bones]
    return Traits(
        np.array([own.number(bone, own.TORSO_WEIGHT, 0) for bone in bones], np.float32),
        np.array(flags, np.int32),
        marked[0] if marked else -1,
    )


def show_lod(rig: Block, model: SkeletalModel) -> None:
    """Give an armature what its file says of levels of detail."""
    if model.lod is not None:
        for name, value in zip((own.LOD_SCALE, own.LOD_BIAS), model.lod, strict=True):
            own.show(rig, name, value)


def gather_lod(rig: Block) -> tuple[float, float] | None:
    """Return the scale and the bias that an armature shows, as float32 has them; None without."""
    if own.LOD_SCALE not in rig and own.LOD_BIAS not in rig:
        return None
    scale, bias = own.number(rig, own.LOD_SCALE, 1.0), own.number(rig, own.LOD_BIAS, 0.0)
    return float(np.float32(scale)), float(np.float32(bias))


def show_min_lod(block: Block, mesh: SkinnedMesh) -> None:
    """Give a mesh object the fewest vertices to draw."""
    if mesh.min_lod is not None:
        own.show(block, own.MIN_LOD, mesh.min_lod)


def gather_min_lod(block: Block) -> int | None:
    """Return the fewest vertices that an object shows; None without."""
    if own.MIN_LOD not in block:
        return None
    return int(min(max(own.number(block, own.MIN_LOD, 0), -LARGEST), LARGEST))
