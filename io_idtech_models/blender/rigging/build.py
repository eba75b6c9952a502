"""A rig behind a model's frames: an armature, weights, an action of all frames, and keys of what these don't say."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model.rigging.rig import Rig
from ..compat import Block
from ..frame_rigs import MODIFIER, RIG
from ..mesh import attributes
from ..mesh.vertex_groups import write_groups
from ..scene import undone_on_failure
from ..vertex.shape_keys import frame_blocks
from .bones import Bones, hang_tag, make_bones
from .motion import as_shown, channels_of, play_whole, tag_poses
from .read import FramedModel


@dataclass(eq=False)
class BuiltRig:
    """An armature, and the rig that it is."""

    bones: Bones
    rig: Rig  # with the poses that the armature shows
    whole: Block  # the action of all frames

    @property
    def block(self) -> Block:
        """Return the armature object."""
        return self.bones.block


def build(model: FramedModel, rig: Rig, keys: Block | None, scene: bpy.types.Scene) -> BuiltRig:
    """Put an armature behind a model's frames, which look as before; `keys` is the action that shows all of them."""
    tags = tag_poses(model.tags, len(model.points))
    with undone_on_failure():
        bones = make_bones(rig, model, tags.places[rig.rest_frame], scene)
        block = bones.block
        block.data[RIG] = uuid.uuid4().hex
        channels = channels_of(rig, bones, tags)
        rig = as_shown(rig, bones, channels)
        _link(block, model)
        whole = play_whole(bones, channels, model.plan.times, keys)
    first = 0
    for mesh, points in zip(model.meshes, model.split(rig.at_rest(model.points)), strict=True):
        own = rig.of_vertex[first : first + len(mesh.data.vertices)]
        _bind(mesh, bones, rig.weights[own])
        write_keys(mesh, points)
        first += len(own)
    for empty, bone in zip(model.tag_blocks, rig.tag_bones.tolist(), strict=True):
        hang_tag(empty, bones, bone)
    return BuiltRig(bones, rig, whole)


def _link(block: Block, model: FramedModel) -> None:
    """Put an armature beside its meshes, where the model's coordinates begin, to go along with what carries them."""
    lead = model.meshes[0]
    lead.users_collection[0].objects.link(block)
    parents = {(mesh.parent, mesh.parent_type, mesh.parent_bone) for mesh in model.meshes}
    if model.space.root is not None:
        block.parent = model.space.root
    elif len(parents) == 1 and lead.parent is not None and lead.parent_type == "OBJECT":
        block.parent = lead.parent
        block.matrix_parent_inverse = lead.parent.matrix_world.inverted_safe()
    block.matrix_basis = Matrix()


def _bind(mesh: Block, bones: Bones, weights: NDArray[np.float64]) -> None:
    """Hang a mesh's points on bones by weights (P, B)."""
    deforming = [bone for bone, name in enumerate(bones.names) if bones.block.data.bones[name].use_deform]
    points, groups = np.nonzero(weights[:, deforming])
    shares = weights[:, deforming][points, groups].astype(np.float32)
    before = len(mesh.vertex_groups)
    write_groups(mesh, [bones.names[bone] for bone in deforming], points, groups + before, shares)
    modifier: Any = mesh.modifiers.new(MODIFIER, "ARMATURE")
    modifier.object = bones.block
    mesh.modifiers.move(len(mesh.modifiers) - 1, 0)


def write_keys(mesh: Block, frames: NDArray[np.float32]) -> None:
    """Give a mesh's frames other points (F, P, 3), and the mesh those of the first."""
    for key, points in zip(frame_blocks(mesh.data.shape_keys), frames, strict=True):
        key.points.foreach_set("co", np.ascontiguousarray(points).ravel())
    attributes.write_positions(mesh.data, frames[0])
    mesh.data.update()
