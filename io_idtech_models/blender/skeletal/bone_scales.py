"""The scale of joints as scale of bones, shown as the game shows it.

In the game a joint's scale is its own. In Blender what hangs on a bone grows and moves with it: children of scaled
bones are told not to inherit scale, and their ways are written the shorter, the larger their parent is.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.joint_scales import Scales, from_shown
from ...model.skeletal import Animation
from ...model.wording import listed
from .. import properties
from ..compat import Block

log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]


def above(parents: NDArray[Any], values: Doubles) -> Doubles:
    """Return the values (F, J) of each joint's parent, 1 for a root."""
    return np.where(parents >= 0, values[:, parents], 1.0)


def to_shown(
    rig: Block, bones: list[Any], parents: NDArray[Any], animation: Animation
) -> tuple[Doubles, Doubles | None]:
    """Return the positions (F, J, 3) that show an animation, and the scale (F, J) of the bones, or None.

    The bones, in the file's order, are told what to inherit, and whose ways are scaled.
    """
    scales = animation.scales
    if scales is None:
        return animation.positions, None
    shown = scales.shown()
    scaled = (shown != 1).any(axis=0)
    others = np.flatnonzero(scaled & ([properties.SCALE_POSITIONS in bone for bone in bones] != scales.ways))
    if len(others) and any(properties.SCALE_POSITIONS in bone for bone in bones):
        text = "'%s' scales other bones' positions than the animations before it: %s"
        log.warning(text, animation.name, listed([bones[joint].name for joint in others.tolist()]))
    for joint, bone in enumerate(bones):
        if scales.ways[joint]:
            properties.show(bone, properties.SCALE_POSITIONS, True)
        if parents[joint] >= 0 and scaled[parents[joint]]:
            bone.inherit_scale = "NONE"
    return animation.positions * (scales.of_ways() / above(parents, shown))[..., None], shown


def from_bones(total: Doubles | None, marked: NDArray[np.bool_]) -> Scales | None:
    """Return the scale of joints whose bones are so large (F, J), and `marked` where ways are scaled, or None."""
    return None if total is None else from_shown(total.astype(np.float32), marked)
