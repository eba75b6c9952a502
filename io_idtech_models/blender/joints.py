"""Bones as joints: Blender draws a bone along its Y axis, the joints of these formats point along X.

So a bone is its joint turned by a right angle about Z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.transforms import inverse
from .provenance import JOINT

# Bone axes as columns in the joint's space: Y along the joint's X, Z stays.
TURN = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
TURN_BACK = inverse(TURN)


def are_joints(data: Any) -> bool:
    """Tell whether an armature's bones are joints, turned by `TURN`: it came from a file, whatever was added since."""
    return any(JOINT in bone for bone in data.bones)


def from_children(bone: Any) -> NDArray[np.float64]:
    """Return the way from where Blender counts what hangs on a bone to its head, (4, 4).

    That is its tail; with Relative Parenting, the armature's origin while the bone is at rest.
    """
    if bone.use_relative_parent:
        return np.array(bone.matrix_local, np.float64)
    way = np.eye(4)
    way[1, 3] = -bone.length
    return way
