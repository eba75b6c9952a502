"""Pieces of a character that hang on joints, as games of Doom 3's kin put them there: placed once, then moved along.

A piece's root is a child of the bone. Blender counts a bone's child from the bone's tail, and a bone is its joint but
for a fixed turn (see `skeletal.armature`): both are taken back, then comes the piece's place against the joint.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.transforms import inverse
from .. import names
from ..compat import Block
from ..joints import TURN_BACK, from_children
from ..provenance import MODEL_ID, PART
from .build import Posed

Doubles = NDArray[np.float64]


def make_root(posed: Posed, kind: str) -> Block:
    """Hang a model with bones on a new root, an empty in its collection, and return that."""
    root: Block = bpy.data.objects.new(names.fit(posed.collection.name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 4.0
    root[PART] = kind
    root[MODEL_ID] = posed.armature.data.get(MODEL_ID, "")
    posed.collection.objects.link(root)
    posed.armature.parent = root
    return root


def bone_of(rig: Block, joint: str) -> Any | None:
    """Return the bone that a joint is, by its name in the file, whatever its case; None if there is none."""
    return next((bone for bone in rig.data.bones if names.file_name_of(bone).lower() == joint.lower()), None)


def joint_at_rest(bone: Any) -> Doubles:
    """Return the joint that a bone is, as it stands at rest in the armature, (4, 4)."""
    return steady.products(np.array(bone.matrix_local, np.float64), TURN_BACK)


def placed(joint: Doubles, origin: Doubles, angles: Doubles, turned: bool, moved: Doubles) -> Doubles:
    """Return where a piece stands in the body's space, (4, 4).

    It stands `origin` (3,) from a joint (4, 4) on, along the body's axes; its axes are the body's or, if it is
    `turned`, the joint's, turned by `angles` (3,), pitch, yaw and roll in degrees (idAngles::ToMat3). Along its own
    axes it is `moved` (3,).
    """
    place = np.eye(4)
    place[:3, :3] = _axes(*np.radians(angles).tolist())
    if turned:
        place[:3, :3] = steady.products(joint[:3, :3], place[:3, :3])
    place[:3, 3] = joint[:3, 3] + origin + steady.applied(place[:3, :3], moved)
    return place


def _axes(pitch: float, yaw: float, roll: float) -> Doubles:
    """Return the axes, as columns, of something turned by these angles."""
    (cp, cy, cr), (sp, sy, sr) = steady.cosines_and_sines(np.array([pitch, yaw, roll]))
    return np.array([
        [cp * cy, sr * sp * cy - cr * sy, cr * sp * cy + sr * sy],
        [cp * sy, sr * sp * sy + cr * cy, cr * sp * sy - sr * cy],
        [-sp, sr * cp, cr * cp],
    ])  # fmt: skip


def hang_on_joint(root: Block, rig: Block, bone: Any, joint: Doubles, place: Doubles) -> None:
    """Hang a piece's root on a bone, so that it stands at `place` (4, 4) while the bone's joint stands at `joint`."""
    basis = steady.products(from_children(bone), TURN_BACK, inverse(joint), place)
    root.parent, root.parent_type, root.parent_bone = rig, "BONE", bone.name
    root.matrix_parent_inverse = Matrix.Identity(4)
    root.matrix_basis = Matrix(basis.tolist())
