"""A skeletal model to Blender objects: an armature, and a mesh for each of the model's that it moves."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.edits.weld import weld_classes
from ...model.joint_scales import without_rest_scale
from ...model.skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh, Weights, mismatch, size_of, skin
from ...model.source import are_solid
from ...model.transforms import rotate
from ...model.weights import normal_turns
from ...reporting import LimitError, listed
from .. import names, vertex_groups
from ..budgets import JOINTS, refuse_farther, refuse_more
from ..compat import Block, play, refuse_tweak_mode
from ..mesh import attributes, levels, normal_codes
from ..playback import keep
from ..provenance import MODEL_ID, new_first_number
from ..scene import undone_on_failure
from ..shading.materials import Materials
from . import armature, bone_scales, torso
from . import channels as pose_channels
from . import source as skeletal_source
from . import tags as joint_tags
from .turns import turn_by_quaternions

log = logging.getLogger(__name__)

FASTEST, SLOWEST = 32767, 1e-5  # frames per second that Blender takes, and by what they are divided at least
HELD = 1e-3  # units that a joint may move before it shows that its bone does not


@dataclass(frozen=True)
class SkeletalSettings:
    """How a skeletal model is brought into the scene; the import operators declare the same options."""

    scale: float = 1.0
    weld: bool = True
    fit_range: bool = True
    frame_rate: bool = True  # let the scene play at the animation's


@dataclass
class Posed:
    """What an import made."""

    collection: bpy.types.Collection
    armature: Block
    meshes: list[Block] = field(default_factory=list)
    tags: list[Block] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)


def build(
    model: SkeletalModel,
    animations: list[Animation],
    settings: SkeletalSettings,
    materials: Materials,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
) -> Posed:
    """Make a collection with an armature and an object per mesh, linked to `into` when all is done.

    Raises:
        LimitError: the model has more of something than Blender can bear, or lies farther out, or an animation does not
            fit.
    """
    shaders = {mesh.shader for mesh in model.meshes}
    counts = {"joints": model.skeleton.num_joints, "surfaces": len(model.meshes), "tags": len(model.tags)}
    refuse_more(**counts, materials=len(shaders))
    refuse_farther("joints", model.skeleton.positions * settings.scale)
    with undone_on_failure():
        collection = bpy.data.collections.new(names.fit(model.name))
        rig = armature.make(model.name, model.skeleton, settings.scale, scene)
        posed = Posed(collection, rig)
        bones = [bone.name for bone in armature.file_order(rig.data.bones)]
        first = new_first_number((mesh.triangles, mesh.uvs, mesh.weights.offsets) for mesh in model.meshes)
        for mesh in model.meshes:
            posed.meshes.append(_make_mesh(mesh, model, first, bones, settings, materials))
        collection.objects.link(rig)
        homes = _put_away(model, posed)
        posed.tags = joint_tags.build(model, rig, bones, settings.scale)
        for block in posed.tags:
            collection.objects.link(block)
        _show_properties(rig, model)
        _remember(model, posed, settings.scale)
        posed.actions = add_animations(rig, animations, settings, scene)
        for home in homes.values():
            into.children.link(home)
        levels.exclude([home for level, home in homes.items() if level], scene)
    return posed


def _show_properties(rig: Block, model: SkeletalModel) -> None:
    """Show what a modder may edit of bones, and of the armature."""
    bones = armature.file_order(rig.data.bones)
    if model.skeleton.traits is not None:
        torso.show_traits(bones, model.skeleton.traits)
    bone_scales.show_rest(bones, model.skeleton.scales)
    torso.show_lod(rig, model)


def _put_away(model: SkeletalModel, posed: Posed) -> dict[int, bpy.types.Collection]:
    """Hang meshes on their armature and put them into the collection of their level of detail; returns these.

    That of level 0 is the model's, the others are new.
    """
    homes = {0: posed.collection}
    for level in sorted({mesh.level for mesh in model.meshes} - {0}):
        homes[level] = bpy.data.collections.new(names.fit(f"{model.name}_{level}"))
        levels.attach(homes[level], posed.armature, level, [])
    for mesh, block in zip(model.meshes, posed.meshes, strict=True):
        block.parent = posed.armature
        block.modifiers.new("Armature", "ARMATURE").object = posed.armature
        homes[mesh.level].objects.link(block)
    return homes


def _make_mesh(
    mesh: SkinnedMesh,
    model: SkeletalModel,
    first: int,
    bones: list[str],
    settings: SkeletalSettings,
    materials: Materials,
) -> Block:
    """Make a mesh in the bind pose and its object: points welded, corners numbered, weights and material given."""
    bind = model.skeleton.bind
    places = skin(mesh.weights, bind.positions, bind.rotations) * settings.scale
    refuse_farther("vertices", places)
    welded = weld_classes(_equal_weights(mesh), mesh.triangles) if settings.weld else np.arange(mesh.num_vertices)
    points, of_vertex = np.unique(welded, return_inverse=True)
    if model.source is not None and mesh.source_index >= 0:
        model.source.meshes[mesh.source_index].points = of_vertex.reshape(-1).astype(np.int32)
    solid = np.flatnonzero(are_solid(mesh.triangles))
    triangles = mesh.triangles[solid]
    corner_points = of_vertex.reshape(-1)[triangles].astype(np.int32)
    data = attributes.make(
        names.fit(mesh.name), places[points].astype(np.float32), corner_points, mesh.uvs[triangles].reshape(-1, 2)
    )
    if mesh.source_vertices is not None and mesh.source_triangles is not None:
        numbers = mesh.source_vertices, mesh.source_triangles
        attributes.number(data, first, mesh.triangles, numbers, points, solid)
    data.update(calc_edges=True)
    if mesh.normals is not None and triangles.size:
        normals = rotate(normal_turns(mesh.weights, bind.rotations), mesh.normals).astype(np.float32)
        shown = attributes.show_normals(data, corner_points.ravel(), normals[triangles.ravel()])
        attributes.set_attribute(data, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER", shown)
        normal_codes.note(data)
    shown_materials: list[Any] = [*materials.of_surface(mesh.name, [mesh.shader] if mesh.shader else [])]
    for material in shown_materials or [None]:  # faces have a slot, with or without a material
        data.materials.append(material)
    if mesh.colors is not None:
        attributes.show_colors(data, mesh.colors[points])
    block: Block = bpy.data.objects.new(names.fit(mesh.name), data)
    names.remember(block, mesh.name)
    torso.show_min_lod(block, mesh)
    at, joints, factors = vertex_groups.summed(mesh.weights, points)
    used = np.unique(joints)
    place = np.full(model.skeleton.num_joints, -1)
    place[used] = np.arange(len(used))
    vertex_groups.write_groups(block, [bones[joint] for joint in used.tolist()], at, place[joints], factors)
    return block


def _equal_weights(mesh: SkinnedMesh) -> NDArray[np.int64]:
    """Return a number (V,) for each vertex that vertices with equal lists of weights, bit for bit, share."""
    weights = mesh.weights
    columns = (weights.joints, weights.factors.view(np.int32), *weights.offsets.view(np.int32).T)
    classes = _equal_columns(columns)
    # Vertices are told apart weight by weight: the numbers of the lists so far, and of the next weight.
    numbers = np.zeros(mesh.num_vertices, np.int64)
    for also in (mesh.colors, _still(weights)):  # what points have but one of
        if also is not None:
            rows = np.ascontiguousarray(also, np.float32).view(np.int32)
            numbers = np.unique(np.column_stack((numbers, rows)), axis=0, return_inverse=True)[1].reshape(-1)
    for step in range(int(weights.counts.max(initial=0))):
        more = step < weights.counts
        following = np.where(more, classes[np.where(more, weights.starts + step, 0)] + 1, 0)
        numbers = np.unique(numbers * (len(classes) + 1) + following, return_inverse=True)[1].reshape(-1)
    return numbers


def _still(weights: Weights) -> NDArray[np.float32] | None:
    """Return where vertices without weights lie, (V, 3), and 0 for others; None where all have some."""
    bare = weights.counts == 0
    return np.where(bare[:, None], weights.still, 0.0) if weights.still is not None and bare.any() else None


def _equal_columns(columns: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """Return a number (n,) that is equal where all the columns (n,) of whole numbers are."""
    order = np.lexsort(columns)
    differs = np.zeros(len(order), np.bool_)
    for column in columns:
        ordered = column[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    classes = np.empty(len(order), np.int64)
    classes[order] = np.cumsum(differs)
    return classes


def _remember(model: SkeletalModel, posed: Posed, scale: float) -> None:
    """Store the source's facts on armature and meshes."""
    if model.source is None:
        return
    rest = armature.rest_matrices(posed.armature.data)
    matrices = np.array([rest[bone.name] for bone in armature.file_order(posed.armature.data.bones)])
    skeletal_source.attach(model.source, posed.armature, posed.meshes, matrices.reshape(-1, 4, 4), scale)
    posed.collection[MODEL_ID] = posed.armature.data[MODEL_ID]
    for block in posed.tags:
        block[MODEL_ID] = posed.armature.data[MODEL_ID]


def add_animations(
    rig: Block, animations: list[Animation], settings: SkeletalSettings, scene: bpy.types.Scene
) -> list[bpy.types.Action]:
    """Make an action for each animation; the armature plays the first, and keeps all.

    Raises:
        LimitError: an animation is of another skeleton, the sentence names the joint; or none can be played now.
    """
    refuse_tweak_mode(rig)
    made = _make_actions(rig, animations, settings.scale)
    for action in made:
        if MODEL_ID in rig.data:
            action[skeletal_source.MADE_FOR] = rig.data[MODEL_ID]
        keep(rig, action)
    if made:
        play(rig, made[0])
        _set_scene(scene, animations[0], settings)
    return made


def _make_actions(rig: Block, animations: list[Animation], scale: float) -> list[bpy.types.Action]:
    """Return an action for each animation, of which the armature plays the last; raises LimitError."""
    made = []
    bones = armature.file_order(rig.data.bones)
    rest = armature.rest_matrices(rig.data)
    order = {bone.name: i for i, bone in enumerate(bones)}
    parents = np.array([order[b.parent.name] if b.parent is not None else -1 for b in bones], np.int64)
    local = armature.relative(np.array([rest[b.name] for b in bones]).reshape(-1, 4, 4), parents)
    whole = any(animation.holds_rest_scale for animation in animations)
    held = bone_scales.joints_at_rest(bones, parents, np.array([rest[b.name] for b in bones])) if whole else None
    for given in animations:
        refuse_more(**{JOINTS: given.num_frames * len(given.joint_names)})
        _check(rig, bones, parents, given)
        animation = given if held is None else without_rest_scale(given, held)
        moved = _moved_by(bones, animation)
        size = size_of(given, local[:, :3, 3] / scale)
        if size != 1.0:
            text = "'%s' has bones %.4g times as far apart as '%s' at rest: import it at Scale %.4g"
            log.warning(text, animation.name, size, rig.name, scale / size)
        turn_by_quaternions(rig, [rig.pose.bones[bones[joint].name] for joint in moved])
        positions, scales = bone_scales.to_shown(rig, bones, parents, animation)
        refuse_farther(f"joints in '{animation.name}'", positions * scale)
        channels = pose_channels.to_channels(positions * scale, animation.rotations, local, parents)
        _warn_of_connected(bones, animation, channels[..., :3] / scale)
        own, grown = channels[:, moved], None if scales is None else scales[:, moved]
        action = pose_channels.make(rig, [bones[joint].name for joint in moved], animation, own, grown)
        if animation.source is not None:
            more = scales if scales is not None and animation.source.scales is not None else channels[..., :0]
            written = _as_source(np.concatenate((channels, more), axis=-1, dtype=np.float32), animation)
            skeletal_source.attach_action(animation.source, action, written, scale)
        made.append(action)
    return made


def _moved_by(bones: list[Any], animation: Animation) -> list[int]:
    """Return which bones an animation moves: those that were no joints of its file stay at rest."""
    known = animation.source_joints
    return [joint for joint in range(len(bones)) if animation.source is None or known is None or known[joint] >= 0]


def _as_source(channels: NDArray[np.float32], animation: Animation) -> NDArray[np.float32]:
    """Return channels (F, J, 7 or 10) of an animation's joints as those of its source's."""
    joints, count = animation.source_joints, 0 if animation.source is None else len(animation.source.joint_names)
    if joints is None or np.array_equal(joints, np.arange(count)):
        return channels
    found = np.zeros((len(channels), count, channels.shape[-1]), np.float32)
    found[:, joints[joints >= 0]] = channels[:, joints >= 0]
    return found


def _warn_of_connected(bones: list[Any], animation: Animation, ways: NDArray[Any]) -> None:
    """Name the bones that can't go the `ways` (F, J, 3) of their joints from rest: Blender holds connected ones."""
    far = np.abs(ways).max(axis=(0, 2), initial=0.0) > HELD
    stuck = [bone.name for bone, moves in zip(bones, far.tolist(), strict=True) if moves and bone.use_connect]
    if stuck:
        log.warning("'%s' moves joints whose bones are connected and stay: %s", animation.name, listed(stuck))


def _check(rig: Block, bones: list[Any], parents: NDArray[Any], animation: Animation) -> None:
    """Refuse an animation whose joints are not the armature's."""
    nothing = np.zeros((len(bones), 0))
    own = Skeleton([armature.joint_name(bone) for bone in bones], parents.astype(np.int32), nothing, nothing)
    reason = mismatch(own, animation)
    if reason:
        how = "imported by itself, with no armature active, it gets one of its own, which others can follow"
        raise LimitError(f"'{animation.name}' does not fit '{rig.name}': {reason}; {how}")


def _set_scene(scene: bpy.types.Scene, animation: Animation, settings: SkeletalSettings) -> None:
    if animation.num_frames <= 1:  # a pose has no rate, and no range: what else plays goes on
        return
    if settings.frame_rate and animation.frame_rate >= 1:
        whole = min(max(round(min(animation.frame_rate, FASTEST)), 1), FASTEST)
        scene.render.fps, scene.render.fps_base = whole, max(whole / animation.frame_rate, SLOWEST)
    if settings.fit_range:
        scene.frame_start, scene.frame_end = 0, animation.num_frames - 1
        shown = min(max(scene.frame_current, 0), scene.frame_end)
        if shown != scene.frame_current:  # what is set without a key goes then
            scene.frame_set(shown)
