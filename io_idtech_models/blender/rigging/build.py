"""A rig behind a model's frames: an armature, weights, an action of all frames, and keys of what these don't say.

Bones of a player's part follow him: they show the frame that its root names, as its tags did before they were bones.

Two constraints let a bone play the action of all frames at the root's frame, and are off in the frame that the scene
stands at: there a bone plays its own curves and is posed by hand, and its keys land in the right frame. In others it is
locked. See `blender.player.assembly`, where tags do the same.

Games hang a part on another one's tag, and its root hangs there. But an armature brings its meshes to where the bones
are by itself: so meshes of what hangs stay where the part is at rest, by a constraint that takes them back from where
their root is.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.rigging.joined import JoinedPart, PartRig, join
from ...model.rigging.rig import FrameRig
from ...model.transforms import inverse
from ..compat import Block
from ..frame_rigs import RIG, bind, rig_id
from ..mesh import attributes
from ..part_rests import hold
from ..player.assembly import lock, show_frame
from ..provenance import PART
from ..scene import undone_on_failure
from ..vertex import spread
from ..vertex.shape_keys import frame_blocks
from ..vertex_groups import write_groups
from .bones import Bones, hang_tag, make_bones
from .motion import KeyedBones, motion_of, play_whole
from .read import FramedModel, Part


@dataclass(eq=False)
class BuiltRig:
    """An armature, and the rig that it is."""

    bones: Bones
    rigs: list[FrameRig | None]  # of each part, with the poses that the armature shows
    whole: Block  # the action of all frames

    @property
    def block(self) -> Block:
        """Return the armature object."""
        return self.bones.block


def build(
    name: str, parts: list[Part], rigs: list[FrameRig | None], keys: Block | None, scene: bpy.types.Scene
) -> BuiltRig:
    """Put an armature behind the frames of parts, which look as before; `keys` is the action that shows all of them."""
    listed = zip(parts, rigs, strict=True)
    skeleton = join(
        [PartRig(part.name, rig, part.tags.places, part.tags.scales, part.above, part.beside) for part, rig in listed]
    )
    models = [part.model for part in parts if part.model is not None]
    with undone_on_failure():
        bones = make_bones(skeleton, models, name, scene)
        block = bones.block
        block.data[RIG] = uuid.uuid4().hex
        motion = motion_of(skeleton, bones)
        _link(block, models[0], parts[0].root)
        found = list(zip(parts, skeleton.parts, strict=True))
        keyed = [KeyedBones(own.with_root, part.model.plan.times) for part, own in found if part.model is not None]
        whole = play_whole(bones, motion, keyed, keys)
    own_rigs: list[FrameRig | None] = []
    poses = motion.poses(bones)
    for (part, own), stand in zip(found, motion.stands, strict=True):
        rig = None
        if own.root >= 0 and part.root is not None:
            block.data.bones[bones.names[own.root]][PART] = part.root[PART]
        if part.model is not None:
            rig = own.own(poses, stand)
            _hang(part.model, own, rig, bones)
        elif own.root >= 0:  # one frame, which its tag moves
            # It shows where a part stands, and poses nothing of it.
            lock(block.pose.bones[bones.names[own.root]], locked=True)
        own_rigs.append(rig)
    return BuiltRig(bones, own_rigs, whole)


def _hang(model: FramedModel, joined: JoinedPart, rig: FrameRig, bones: Bones) -> None:
    """Let bones pose a part's meshes, and carry its tags."""
    first = 0
    for mesh, points in zip(model.meshes, model.split(rig.at_rest(model.points)), strict=True):
        own = rig.of_vertex[first : first + len(mesh.data.vertices)]
        _bind(mesh, bones, rig.weights[own], joined.bones)
        write_keys(mesh, points)
        first += len(own)
    for empty, bone in zip(model.tag_blocks, joined.bones[rig.tag_bones].tolist(), strict=True):
        hang_tag(empty, bones, bone)
    if model.root is not None:
        follow_part(model.root, model.meshes, bones, joined)


def _link(block: Block, model: FramedModel, root: Block | None) -> None:
    """Put an armature beside its meshes, where the model's coordinates begin, to go along with what carries them.

    Those of a player begin at the root of the part that carries the others.
    """
    lead = model.meshes[0]
    lead.users_collection[0].objects.link(block)
    parents = {(mesh.parent, mesh.parent_type, mesh.parent_bone) for mesh in model.meshes}
    if root is not None:
        block.parent = root
    elif model.hung:
        block.parent, block.parent_type, block.parent_bone = lead.parent, lead.parent_type, lead.parent_bone
        place = steady.products(np.array(lead.matrix_basis, np.float64), inverse(np.array(model.places[0])[None])[0])
        block.matrix_parent_inverse = Matrix(steady.products(np.array(lead.matrix_parent_inverse), place).tolist())
    elif len(parents) == 1 and lead.parent is not None and lead.parent_type == "OBJECT":
        block.parent = lead.parent
        block.matrix_parent_inverse = lead.parent.matrix_world.inverted_safe()
    block.matrix_basis = Matrix()


def _bind(mesh: Block, bones: Bones, weights: NDArray[np.float64], own: NDArray[np.int64]) -> None:
    """Hang a mesh's points by weights (P, b) on some of the bones."""
    called = [bones.names[bone] for bone in own.tolist()]
    deforming = [place for place, name in enumerate(called) if bones.block.data.bones[name].use_deform]
    points, groups = np.nonzero(weights[:, deforming])
    shares = weights[:, deforming][points, groups].astype(np.float32)
    before = len(mesh.vertex_groups)
    write_groups(mesh, [called[place] for place in deforming], points, groups + before, shares)
    mesh.data.shape_keys[RIG] = rig_id(bones.block)
    bind(mesh, bones.block)


def write_keys(mesh: Block, frames: NDArray[np.float32]) -> None:
    """Give a mesh's frames other points (F, P, 3), and the mesh those of the first."""
    for key, points in zip(frame_blocks(mesh.data.shape_keys), frames, strict=True):
        key.points.foreach_set("co", np.ascontiguousarray(points).ravel())
    attributes.write_positions(mesh.data, frames[0])
    mesh.data.update()
    spread.renew(mesh.data)


def follow_part(root: Block, meshes: list[Block], bones: Bones, joined: JoinedPart) -> None:
    """Let bones show the frame of their part's root, and the meshes stay where the part is at rest."""
    rig = bones.block
    for bone in joined.with_root.tolist():
        home = show_frame(rig.pose.bones[bones.names[bone]], rig.animation_data, root)
        home.space_object = root
        home.owner_space, home.target_space = "LOCAL", "CUSTOM"  # where the root sees itself: nowhere in particular
    if joined.root >= 0:
        hold(root, meshes, rig, bones.names[joined.root], joined.rest)
