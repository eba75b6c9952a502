"""Bones that were moved at rest since their import: what an action shows goes along, and so does what has none yet.

An action says how bones stand against their rest. An animation that is kept as a file says where joints stand against
what they hang on: it goes onto moved bones as if its action had been there before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Animation
from ...model.transforms import from_matrices, inverse, multiply, rotate
from ..compat import Block
from ..joints import TURN_BACK
from . import armature, source
from .bones import same_rest

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MovedRest:
    """How joints stand at rest against how they stood, each against what it hangs on; those alone that were moved."""

    joints: NDArray[np.int64]  # (M,) by their numbers in the file
    names: list[str]
    moves: Doubles  # (M, 3) in the file's units
    turns: Doubles  # (M, 4)

    def of(self, animation: Animation) -> Animation:
        """Return an animation of the file's joints as it shows on bones that were moved."""
        own = self.joints < len(animation.joint_names)
        joints, turns = self.joints[own], self.turns[own]
        if not len(joints):
            return animation
        positions, rotations = animation.positions.astype(np.float64), animation.rotations.astype(np.float64)
        positions[:, joints] = self.moves[own] + rotate(turns, positions[:, joints])
        rotations[:, joints] = multiply(turns, rotations[:, joints])
        return replace(animation, positions=positions, rotations=rotations)

    def written(self, animation: Animation) -> Animation:
        """Return the same for a file: what was moved is not what the source's codes say any more."""
        found = self.of(animation)
        if found.source_frames is not None:
            found.source_frames = found.source_frames.copy()
            found.source_frames[:, self.joints[self.joints < found.source_frames.shape[1]]] = -1
        return found


def moved_rest(rig: Block) -> MovedRest | None:
    """Return which bones of an armature were moved at rest since its import; None for none.

    Those that were added, or hang on another bone by now, have no place to be compared with.
    """
    known = source.find(rig)
    if known is None:
        return None
    bones = armature.file_order(rig.data.bones)
    numbers = np.array(armature.joint_numbers(bones), np.int64)
    order = {bone.name: nth for nth, bone in enumerate(bones)}
    parents = np.array([-1 if bone.parent is None else order[bone.parent.name] for bone in bones], np.int64)
    above = np.where(parents >= 0, numbers[parents], -1)
    own = np.flatnonzero((numbers >= 0) & (numbers < len(known.rest)))
    own = own[(known.source.skeleton.parents[numbers[own]] == above[own]) & ((above[own] >= 0) == (parents[own] >= 0))]
    joints = numbers[own]
    before = _relative(known.rest, known.source.skeleton.parents)
    present = _relative(_at_rest(rig, bones, own, joints, known), parents)[own]
    moved = np.flatnonzero((present != before[joints]).any(axis=(1, 2)))
    if not len(moved):
        return None
    ways = steady.products(present[moved], inverse(before[joints[moved]]))
    turns = from_matrices(steady.nearest_rotations(ways[:, :3, :3]))
    called = [bones[own[each]].name for each in moved.tolist()]
    return MovedRest(joints[moved], called, ways[:, :3, 3] / known.scale, turns)


def _relative(rest: Doubles, parents: NDArray[Any]) -> Doubles:
    """Return bones at rest (J, 4, 4) as joints, against what these hang on."""
    return armature.relative(steady.products(rest, TURN_BACK), parents)


def _at_rest(
    rig: Block, bones: list[Any], own: NDArray[np.int64], joints: NDArray[np.int64], known: source.StoredRig
) -> Doubles:
    """Return the rest of bones (B, 4, 4): of the `own` ones, which were `joints`, as it was where it is the same."""
    rest, rounded = armature.rest_matrices(rig.data), armature.rounding(rig.data)
    found = np.array([rest[bone.name] for bone in bones]).reshape(-1, 4, 4)
    off = np.array([rounded[bone.name] for bone in bones]).reshape(-1, 2)
    same = same_rest(found[own], known.rest[joints], known.scale, off[own])
    found[own[same]] = known.rest[joints[same]]
    return found
