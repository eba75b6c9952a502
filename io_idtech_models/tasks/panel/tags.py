"""New tags: empties that every export of a model takes for its own."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...blender import names
from ...blender.compat import Block, Context
from ...blender.empties import DISPLAY
from ...blender.joints import from_children
from ...blender.linked import LOCAL, refuse_linked
from ...blender.provenance import PART
from ...blender.roots import root_of
from ...blender.skeletal.tags import stand_on_bone
from ...formats import SKELETAL
from ...model import steady
from ...model.transforms import inverse
from ...reporting import LimitError
from ..export.subject import Subject, subject_of

CURSOR, OBJECT, BONE = "CURSOR", "OBJECT", "BONE"
SHARE = 24.0  # a tag is drawn as long as this part of the model

# What games hang on tags, by CG_Player and CG_AddPlayerWeapon of Quake III, Wolfenstein and Enemy Territory.
OFFERED = (
    ("tag_torso", "On the legs: where the torso sits"),
    ("tag_head", "On the torso: where the head sits"),
    ("tag_weapon", "On the torso, or on the hand of a weapon: where the weapon sits"),
    ("tag_flag", "On the torso: where a captured flag sits (Team Arena, OpenArena)"),
    ("tag_flash", "On a weapon: where the flash of the muzzle sits"),
    ("tag_barrel", "On a weapon: where the part sits that spins"),
    ("tag_ammo", "On a weapon of Wolfenstein: its magazine"),
    ("tag_mouth", "On a head of Wolfenstein and Enemy Territory: where hats sit"),
    ("tag_weapon2", "On a body of Enemy Territory: the weapon in the other hand"),
    ("tag_back", "On a body of Enemy Territory: what is worn on the back"),
    ("tag_bright", "On a body of Enemy Territory: the belt's right side"),
    ("tag_bleft", "On a body of Enemy Territory: the belt's left side"),
    ("tag_ubelt", "On a body of Enemy Territory: the belt"),
    ("tag_footleft", "On a body of Enemy Territory: the left foot, by which the speed of walking is measured"),
    ("tag_footright", "On a body of Enemy Territory: the right foot"),
)


def add_tag(context: Context, name: str, place: str) -> Block:
    """Add a tag to the model of the active object: at the 3D cursor, on the object, or on its armature's active bone.

    Of a rig the tag hangs on a bone, wherever it stands: games move it with that.

    Raises:
        LimitError: there is nothing that it could hang on.
    """
    subject = subject_of(context)
    if subject is None:
        raise LimitError("no object is active: make one of the model's active, so that the tag becomes part of it")
    homes = [subject.home] if subject.home is not None else list((subject.rig or subject.active).users_collection)
    refuse_linked([subject.holder], way := f"{LOCAL}, or add the tag there", overridden=False)
    refuse_linked(homes[:1], way)
    bone = _bone_for(subject, place)
    block: Block = bpy.data.objects.new(names.fit(name), None)
    block.empty_display_type, block.empty_display_size = DISPLAY, _size(subject)
    block.rotation_mode = "QUATERNION"
    (homes[0] if homes else context.scene.collection).objects.link(block)
    if bone is not None:
        block.parent, block.parent_type, block.parent_bone = subject.rig, "BONE", bone.name
        if place == BONE:
            stand_on_bone(block, bone)
            return block
        _stand(block, _tail_of(subject.rig, bone), context, place, subject)
        return block
    above = subject.active if place == OBJECT else root_of(subject.active)
    block.parent = above
    _stand(block, Matrix() if above is None else above.matrix_world, context, place, subject)
    return block


def is_twin(subject: Subject | None, block: Block) -> bool:
    """Tell whether a model has another tag that files call the same."""
    own = names.file_name_of(block)
    others = (
        () if subject is None else (b for b in subject.blocks if b.type == "EMPTY" and b != block and PART not in b)
    )
    return any(names.file_name_of(other) == own for other in others)


def _bone_for(subject: Subject, place: str) -> Any:
    """Return the bone that a tag has to hang on; None for a model that no armature moves."""
    rig = subject.rig
    skeletal = subject.row is not None and subject.row.family is SKELETAL
    if place != BONE and not skeletal and (rig is None or rig != subject.active):
        return None
    if rig is None:
        raise LimitError(f"'{subject.active.name}' has no armature whose bone the tag could hang on")
    hung = subject.active.parent_bone if subject.active.parent == rig else ""
    bone = rig.data.bones.active or rig.data.bones.get(hung)
    if bone is None:
        raise LimitError(f"no bone of '{rig.name}' is active: click the one that the tag moves with in Pose Mode first")
    return bone


def _tail_of(rig: Block, bone: Any) -> Matrix:
    """Return the space in the world of what hangs on a bone, as it is posed."""
    matrices = (rig.matrix_world, rig.pose.bones[bone.name].matrix)
    places = (np.array(matrix, np.float64) for matrix in matrices)
    return Matrix(steady.products(*places, inverse(from_children(bone))).tolist())


def _stand(block: Block, space: Matrix, context: Context, place: str, subject: Subject) -> None:
    """Put an empty where it belongs in the world, whatever it hangs on."""
    wanted = Matrix.Translation(context.scene.cursor.location)
    if place != CURSOR:
        at, turn, _ = subject.active.matrix_world.decompose()
        wanted = Matrix.LocRotScale(at, turn, None)
    basis = steady.products(np.array(space.inverted_safe(), np.float64), np.array(wanted, np.float64))
    block.matrix_basis = Matrix(basis.tolist())


def _size(subject: Subject) -> float:
    """Return how long to draw a tag: as the model's others, else by its size."""
    others = [b.empty_display_size for b in subject.blocks if b.type == "EMPTY" and b.empty_display_type == DISPLAY]
    largest = max((float(max(block.dimensions)) for block in subject.meshes), default=0.0)
    return others[0] if others else max(1.0, largest / SHARE)
