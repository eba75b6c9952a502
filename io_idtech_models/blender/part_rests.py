"""Where parts of a player are at rest, on whose bones their meshes stay: an empty on the armature for each.

It is too small to be seen, and not hidden: Select All takes it along, for a copy of the player to have its own. It may
go all the same, or stay behind: the bone that the part begins with knows where it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from . import names
from .compat import Block
from .frame_rigs import posed_by
from .linked import is_linked
from .provenance import PART
from .roots import AT_REST, REST, root_of

UNSEEN = 1e-4  # of an empty: how large it is drawn at least


def hold(root: Block, meshes: Iterable[Block], rig: Block, bone: str, place: NDArray[np.float64]) -> None:
    """Let meshes stay where their part is at rest, (4, 4) in the armature, whose `bone` the part begins with."""
    rig.data.bones[bone][REST] = place.ravel().tolist()
    rest = _make(root, rig, place)
    for mesh in meshes:
        back: Any = mesh.constraints.new("COPY_TRANSFORMS")
        back.name, back.target, back.space_object = AT_REST, rest, root
        back.owner_space = back.target_space = "CUSTOM"
        back.mix_mode = "BEFORE_FULL"


def own_rests(rig: Block) -> None:
    """Let meshes stay where their own armature has them at rest, not where the one has which it is a copy of."""
    made: dict[Block, Block | None] = {}
    for mesh in posed_by(rig):
        back: Any = mesh.constraints.get(AT_REST)
        if back is None or is_linked(mesh) or (back.target is not None and back.target.parent == rig):
            continue
        root = root_of(mesh)
        if root is not None and root not in made:
            made[root] = _made_anew(root, rig, back.target)
        if root is not None and made[root] is not None:
            back.target, back.space_object = made[root], root


def _made_anew(root: Block, rig: Block, other: Block | None) -> Block | None:
    """Return what shows where a part is at rest, as its bone knows, or as another armature's does; else None."""
    bones = (bone for bone in rig.data.bones if bone.get(PART) == root.get(PART))
    places = (np.array(bone.get(REST, []), np.float64) for bone in bones)
    known = next((place for place in places if place.shape == (16,) and np.isfinite(place).all()), None)
    if known is not None:
        return _make(root, rig, known)
    return None if other is None else _make(root, rig, np.array(other.matrix_basis, np.float64))


def _make(root: Block, rig: Block, place: NDArray[np.float64]) -> Block:
    rest: Block = bpy.data.objects.new(names.fit(f"{root.name} at rest"), None)
    rest.empty_display_type, rest.empty_display_size = "PLAIN_AXES", UNSEEN
    rest[REST] = True
    rig.users_collection[0].objects.link(rest)
    rest.parent, rest.matrix_basis = rig, Matrix(place.reshape(4, 4).tolist())
    return rest
