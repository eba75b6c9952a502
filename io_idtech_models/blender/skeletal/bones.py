"""The bones of an armature as an export of motion sees them: joints, their rest, and the curves that may pose them.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import Traits
from . import armature, channels
from .gather_rig import same_rest
from .rig_scene import RigScene

Doubles = NDArray[np.float64]
KINDS, WIDTHS, SCALES = (*channels.PATHS, channels.SCALE), (3, 4, 3), 7  # a bone's channels; where its scale begins
BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
REST_CHANNELS = np.array([0, 0, 0, 1, 0, 0, 0, 1, 1, 1], np.float32)


@dataclass(eq=False)
class Bones:
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
        paths = [f'pose.bones["{bpy.utils.escape_identifier(name)}"].' for name in self.names]
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


def gather_bones(export: RigScene) -> Bones:
    """Return an armature's bones; raises LimitError if there is none to export."""
    known, bones = export.stored, export.listed
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
    return Bones(
        bones.names, bones.joints, bones.parents, rest, present, numbers, bones.traits, bones.inherits,
        bool(bones.grows.all()), bones.scales_way,
    )  # fmt: skip


def moved_bones(curves: Iterable[Any]) -> set[str]:
    """Return the names of the bones that curves move."""
    named = (BONE_PATH.match(curve.data_path) for curve in curves)
    return {bpy.utils.unescape_identifier(match.group(1)) for match in named if match is not None}
