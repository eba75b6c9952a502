"""What makes bones larger or smaller where a file's joints can't follow, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...model import steady
from ...reporting import listed
from ..animated import moved_paths
from ..compat import Block

UNEVEN = 1e-3  # of a scale: what counts as one
OF_SCALE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.scale\Z')


@dataclass(eq=False)
class Scalers:
    """What scales bones of an armature in the frames that were looked at, by the bones' names."""

    driven: set[str] = field(default_factory=set)
    keyed: set[str] = field(default_factory=set)
    set_by_hand: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)  # by constraints

    def look(self, rig: Block, shown: Block, names: Iterable[str]) -> None:
        """Note what scales bones, or those above them, in the frame that is `shown`: the armature as evaluated."""
        found = [shown.pose.bones[name] for name in names]
        bones = dict.fromkeys(each for bone in found for each in (bone, *bone.parent_recursive))
        own = {bone.name for bone in bones if max(abs(size - 1.0) for size in bone.scale) > UNEVEN}
        drivers = [] if rig.animation_data is None else rig.animation_data.drivers
        driven = own & _named(curve.data_path for curve in drivers if not curve.mute)
        keyed = own & _named(moved_paths(rig)) - driven
        self.driven |= driven
        self.keyed |= keyed
        self.set_by_hand |= own - driven - keyed
        self.held |= {bone.name for bone in bones if _is_stretched(bone)}

    @property
    def bones(self) -> set[str]:
        """The names of all that are scaled."""
        return self.driven | self.keyed | self.set_by_hand | self.held

    def remedies(self, rig: Block, holds_scale: bool) -> list[str]:
        """Return what to do, in words; `holds_scale`: the file holds that of bones along their axes."""
        sizes = [abs(size) for size in rig.matrix_world.to_scale()]
        if "scale" in moved_paths(rig):
            return ["no file has a skeleton that grows as a whole: remove the keys of the armature's scale"]
        if max(sizes) - min(sizes) > UNEVEN * max(sizes):
            return ["apply the scale of the armature and its meshes (Object > Apply > Scale)"]
        own = (
            ("remove the drivers of the scale of bones, and clear it", self.driven),
            ("delete the keys of the scale of bones", self.keyed),
            ("clear the scale of bones (Pose > Clear Transform > Scale)", self.set_by_hand),
        )
        held = ("mute the constraints that scale or stretch bones", self.held)
        ways = (held,) if holds_scale and self.held else (*own, held)
        return [f"{way}: {listed(sorted(bones))}" for way, bones in ways if bones]


def _named(paths: Iterable[str]) -> set[str]:
    found = map(OF_SCALE.match, paths)
    return {bpy.utils.unescape_identifier(match[1]) for match in found if match is not None}


def _is_stretched(bone: Any) -> bool:
    """Tell whether constraints make a bone of another size than its own channels and its parent do."""
    parent, rest = bone.parent, bone.bone.matrix_local
    above = {} if parent is None else {"parent_matrix": parent.matrix, "parent_matrix_local": parent.bone.matrix_local}
    free = bone.bone.convert_local_to_pose(bone.matrix_basis, rest, **above)
    shown, made = (steady.lengths(np.array(each, np.float64)[:3, :3].T) for each in (bone.matrix, free))
    return bool((np.abs(shown - made) > UNEVEN * made).any())
