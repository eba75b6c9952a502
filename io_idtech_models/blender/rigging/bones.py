"""The bones of a rig as an armature: heads and tails where the solver found them, and one for each tag.

A bone's roll lets its Z axis look ahead as far as it can, so that bones which mirror one another roll alike. A tag's
bone stands as the tag does, but for one fixed turn: along the tag's forward axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...model import steady
from ...model.rigging.joined import JoinedRig
from ...model.rigging.rig import FrameRig
from ...model.transforms import inverse
from .. import names
from ..compat import Block, drop_action
from ..frame_rigs import TAGS, note_tag
from ..joints import TURN
from ..player.assembly import let_go
from ..skeletal.armature import editing, rest_matrices
from .read import FramedModel

Doubles = NDArray[np.float64]
AHEAD, UP, STEEP = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.95  # of the cosine: a bone that looks ahead has its Z axis up
LEFT, RIGHT = "THEME04", "THEME01"  # blue and red
SHORTEST = 1e-3  # of the model's size: Blender drops bones without length


@dataclass(eq=False)
class Bones:
    """An armature's bones, in the rig's order."""

    block: Block
    names: list[str]
    rest: Doubles  # (B, 4, 4) as Blender has them


def make_bones(skeleton: JoinedRig, models: list[FramedModel], name: str, scene: bpy.types.Scene) -> Bones:
    """Make an armature object of some models' skeleton, linked nowhere."""
    rig = skeleton.rig
    taken = [group.name for model in models for block in model.meshes for group in block.vertex_groups]
    given = _bone_names(rig, [block.name for model in models for block in model.tag_blocks], taken)
    name = names.fit(f"{names.fit(name, 50)}_rig")
    block: Block = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    size = max(float(np.ptp(rig.rest, axis=0).max(initial=0.0)), 1e-3)
    tag_of = {bone: tag for tag, bone in enumerate(rig.tag_bones.tolist())}
    tag_rests, roots = skeleton.tag_rests, skeleton.roots
    with editing(block, scene):
        made: list[Any] = []
        for bone, parent in enumerate(rig.parents.tolist()):
            edit = block.data.edit_bones.new(given[bone])
            if bone in tag_of:
                edit.length = max(float(steady.lengths(rig.tails[bone] - rig.heads[bone])), SHORTEST * size)
                edit.matrix = Matrix(steady.products(tag_rests[tag_of[bone]], TURN).tolist())
            else:
                _place(edit, rig.heads[bone], rig.tails[bone], SHORTEST * size)
            if parent >= 0:
                edit.parent = made[parent]
            if bone in roots:
                edit.inherit_scale = "NONE"  # as games drop it
            made.append(edit)
    rest = rest_matrices(block.data)
    found = Bones(block, given, np.array([rest[name] for name in given]).reshape(-1, 4, 4))
    _show(found, skeleton, tag_of)
    return found


def _bone_names(rig: FrameRig, tags: list[str], taken: list[str]) -> list[str]:
    """Return bones' names: a tag's is its empty's own; no other is that of a group that a mesh has already."""
    wanted = list(rig.names)
    for bone, tag in zip(rig.tag_bones.tolist(), tags, strict=True):
        wanted[bone] = tag
    first = dict.fromkeys([*(wanted[bone] for bone in rig.tag_bones.tolist()), *taken])
    others = [bone for bone in range(len(wanted)) if bone not in set(rig.tag_bones.tolist())]
    fresh = names.unique([*first, *(wanted[bone] for bone in others)], "bone")[len(first) :]
    for bone, name in zip(others, fresh, strict=True):
        wanted[bone] = name
    return wanted


def _place(edit: Any, head: Doubles, tail: Doubles, shortest: float) -> None:
    """Give a bone its ends, and roll it."""
    way = Vector((tail - head).tolist())
    if way.length < shortest:
        way = Vector((0.0, 0.0, shortest))
    edit.head = head.tolist()
    edit.tail = edit.head + way
    ahead = Vector(AHEAD)
    edit.align_roll(Vector(UP) if abs(way.normalized().dot(ahead)) > STEEP else ahead)


def _show(bones: Bones, skeleton: JoinedRig, tag_of: dict[int, int]) -> None:
    """Let an armature show in front of its meshes, sides in colours, what belongs together in collections."""
    data, groups = bones.block.data, skeleton.rig.groups
    still = [part.root for part in skeleton.parts if part.part.rig is not None]  # it has bones to hang a mesh on
    bones.block.show_in_front = True
    data.display_type = "OCTAHEDRAL"
    for bone, name in enumerate(bones.names):
        shown = data.bones[name]
        shown.use_deform = bone not in tag_of and bone not in still
        shown.color.palette = RIGHT if name.endswith(".R") else LEFT if name.endswith(".L") else "DEFAULT"
        if bone in tag_of:
            note_tag(shown)
        group = TAGS if bone in tag_of else groups[bone] if groups else ""
        if group:
            (data.collections.get(group) or data.collections.new(group)).assign(shown)


def hang_tag(empty: Block, bones: Bones, bone: int) -> None:
    """Hang a tag's empty on its bone, so that it stands where the bone's head is and as the tag does."""
    drop_action(empty)
    let_go(empty)
    empty.parent, empty.parent_type, empty.parent_bone = bones.block, "BONE", bones.names[bone]
    back = np.eye(4)
    back[1, 3] = -bones.block.data.bones[bones.names[bone]].length  # Blender hangs things on tails
    empty.matrix_parent_inverse = Matrix(steady.products(back, inverse(TURN)).tolist())
    empty.rotation_mode = "QUATERNION"
    empty.location, empty.rotation_quaternion, empty.scale = (0, 0, 0), (1, 0, 0, 0), (1, 1, 1)
