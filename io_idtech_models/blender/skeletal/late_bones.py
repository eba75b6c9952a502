"""Bones without names, of a model that was imported without the file that has its skeleton: named and placed later.

Everything stays in place in the .blend: bones are renamed (Blender renames the vertex groups), hung on their parents
and put where the meshes are bound, and meshes and tags follow. What was edited meanwhile moves along.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import bind_pose, steady
from ...model.joint_scales import skeleton_of
from ...model.skeletal import Animation, SkeletalModel, SkeletalSource, Skeleton, SkinnedMesh
from ...model.transforms import rotate
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..joints import TURN
from ..mesh import attributes, normal_codes
from ..provenance import JOINT, MODEL_ID, first_number
from . import armature, torso
from . import source as skeletal_source
from . import tags as joint_tags
from .source import rest_places

UNNAMED = "placeholders"  # a fact of such a source


def is_unnamed(rig: Block) -> bool:
    """Tell whether an armature's bones stand in for those of a file that was not there."""
    known = skeletal_source.find(rig)
    return known is not None and UNNAMED in known.source.facts


def name_bones(rig: Block, animation: Animation, scene: bpy.types.Scene) -> None:
    """Give an armature of placeholders the bones of an animation, in a pose in which its meshes are bound.

    Raises:
        LimitError: the animation has fewer bones than the meshes use.
    """
    known = skeletal_source.find(rig)
    assert known is not None
    before = known.source
    if len(animation.joint_names) < before.skeleton.num_joints:
        counts = len(animation.joint_names), before.skeleton.num_joints
        raise LimitError(f"'{animation.name}' has {counts[0]} bones, the meshes of '{rig.name}' use {counts[1]}")
    source = _bound(before, animation)
    bones = _place_bones(rig, source.skeleton, known.scale, scene)
    blocks: list[Block] = list(bpy.data.objects)
    parts = [b for b in blocks if b.type == "MESH" and b.data.get(MODEL_ID) == rig.data.get(MODEL_ID)]
    for block in parts:
        place = skeletal_source.place_of(known, rig, block)
        if place is not None and place.surface >= 0:
            _move_mesh(block, before, source, place.surface, known.scale)
    rest = armature.rest_matrices(rig.data)
    matrices = np.array([rest[bone.name] for bone in armature.file_order(rig.data.bones)]).reshape(-1, 4, 4)
    hung = [b for b in blocks if b.type == "EMPTY" and b.parent == rig and b.parent_type == "BONE"]
    for block in hung:
        joint_tags.replace_on_bone(block, rig, source, known.scale)
    skeletal_source.renew(source, rig, parts, matrices, known.scale)
    if source.skeleton.traits is not None:
        torso.show_traits(bones, source.skeleton.traits)


def _bound(source: SkeletalSource, animation: Animation) -> SkeletalSource:
    """Return a source with the bones of an animation, in the pose that fits its meshes best."""
    skeleton = skeleton_of(animation)
    facts = {name: fact for name, fact in source.facts.items() if name != UNNAMED}
    named = replace(source, skeleton=skeleton, facts=facts)
    parts = [SkinnedMesh(m.name, m.shader, m.uvs, m.triangles, m.weights) for m in source.meshes]
    fitted = bind_pose.fitted(
        SkeletalModel("", skeleton, parts, named), skeleton.bind, bind_pose.mean_places(animation.positions)
    ).source
    assert fitted is not None
    return fitted


def _place_bones(rig: Block, skeleton: Skeleton, scale: float, scene: bpy.types.Scene) -> list[Any]:
    """Name, hang and place the bones of an armature, add those that are missing; returns them in the file's order."""
    numbers = armature.joint_numbers(rig.data.bones)
    present = {joint: bone.name for joint, bone in zip(numbers, rig.data.bones, strict=True) if joint >= 0}
    given = names.unique(skeleton.names, "bone")
    bind = skeleton.bind
    matrices = steady.products(armature.joint_matrices(bind.positions, bind.rotations, scale), TURN)
    lengths = armature.bone_lengths(skeleton) * scale
    with armature.editing(rig, scene):
        edit = rig.data.edit_bones
        made: list[Any] = []
        for joint in range(skeleton.num_joints):
            bone = edit[present[joint]] if joint in present else edit.new(given[joint])
            made.append(bone)
        for joint, bone in enumerate(made):
            bone.parent = made[skeleton.parents[joint]] if skeleton.parents[joint] >= 0 else None
            bone.use_connect = False
            bone.length = float(lengths[joint])
            bone.matrix = Matrix(matrices[joint].tolist())
        called = [bone.name for bone in made]
    found = [rig.data.bones[name] for name in called]
    for joint, bone in enumerate(found):
        bone.name = given[joint]  # not in edit mode: there what hangs on bones would look for the names at once
        bone[JOINT] = joint
        names.remember(bone, skeleton.names[joint])
    return found


def _move_mesh(block: Block, before: SkeletalSource, source: SkeletalSource, index: int, scale: float) -> None:
    """Move a mesh's points along with the source's vertices that they are, and show the normals there."""
    data = block.data
    if not len(data.vertices):
        return
    own, base = source.meshes[index], first_number(data) + int(before.first_vertices[index])
    corner_points = attributes.corner_points(data).ravel()
    stored = attributes.get_attribute(data, attributes.CORNER_SOURCE, "INT", "CORNER")
    loose = attributes.get_attribute(data, attributes.POINT_SOURCE, "INT", "POINT")
    numbers: NDArray[np.int64] = np.full(len(data.vertices), -1, np.int64)
    if loose is not None:
        numbers = loose.astype(np.int64) - 1 - base
    if stored is not None:
        known = stored > 0
        numbers[corner_points[known]] = stored[known].astype(np.int64) - 1 - base
    points = np.flatnonzero((numbers >= 0) & (numbers < own.num_vertices))
    was, now = (rest_places(s, own.weights, scale)[numbers[points]] for s in (before, source))
    places = attributes.positions(data)
    still = (places[points] == was).all(axis=1)
    places[points] = np.where(still[:, None], now, places[points] + (now - was))
    data.attributes["position"].data.foreach_set("vector", places.ravel())
    data.update()
    if own.normals is not None and stored is not None and len(stored):
        _show_normals(data, own, source, stored.astype(np.int64) - 1 - base, corner_points)


def _show_normals(data: Block, own: Any, source: SkeletalSource, numbers: Any, corner_points: Any) -> None:
    """Show the source's normals at corners that are its vertices, (C,), and what Blender shows at others."""
    joints = own.weights.first_joints()
    turned = rotate(source.skeleton.bind.rotations[joints], own.normals).astype(np.float32)
    inside = (numbers >= 0) & (numbers < own.num_vertices)
    normals = attributes.corner_normals(data)
    normals[inside] = turned[numbers[inside]]
    shown = attributes.show_normals(data, corner_points, normals)
    attributes.set_attribute(data, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER", shown)
    normal_codes.note(data)
