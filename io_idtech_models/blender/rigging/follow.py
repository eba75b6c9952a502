"""Bones of a player's part: they show the frame that its root names, as its tags did before they were bones.

Two constraints let a bone play the action of all frames at the root's frame, and are off in the frame that the scene
stands at: there a bone plays its own curves and is posed by hand, and its keys land in the right frame. In others it is
locked. See `blender.player.assembly`, where tags do the same.

Games hang a part on another one's tag, and its root hangs there. But an armature brings its meshes to where the bones
are by itself: so meshes of what hangs stay where the part is at rest, by a constraint that takes them back from where
their root is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from mathutils import Matrix

from ...model.rigging.joined import JoinedPart
from .. import names
from ..compat import Block
from ..player.assembly import show_frame
from ..roots import AT_REST
from .bones import Bones


def follow_part(root: Block, meshes: list[Block], bones: Bones, joined: JoinedPart) -> None:
    """Let bones show the frame of their part's root, and the meshes stay where the part is at rest."""
    rig = bones.block
    for bone in joined.bones.tolist():
        home = show_frame(rig.pose.bones[bones.names[bone]], rig.animation_data, root)
        home.space_object = root
        home.owner_space, home.target_space = "LOCAL", "CUSTOM"  # where the root sees itself: nowhere in particular
    if joined.root >= 0:
        _stay(root, meshes, rig, joined)


def _stay(root: Block, meshes: Iterable[Block], rig: Block, joined: JoinedPart) -> None:
    """Let meshes stay where the part is at rest, which an empty on the armature shows."""
    rest: Block = bpy.data.objects.new(names.fit(f"{root.name} at rest"), None)
    rest.empty_display_type, rest.empty_display_size = "PLAIN_AXES", 1.0
    rig.users_collection[0].objects.link(rest)
    rest.parent, rest.matrix_basis = rig, Matrix(joined.rest.tolist())
    rest.hide_viewport = rest.hide_render = True
    for mesh in meshes:
        back: Any = mesh.constraints.new("COPY_TRANSFORMS")
        back.name, back.target, back.space_object = AT_REST, rest, root
        back.owner_space = back.target_space = "CUSTOM"
        back.mix_mode = "BEFORE_FULL"
