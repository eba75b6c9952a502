"""Tags of skeletal models: empties that hang on bones, and back.

Blender counts a bone's child from the bone's tail: a tag's own transform is the inverse of the way there, then the
fixed turn of `armature`, then the tag's place in its joint.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import JointTag, SkeletalModel, SkeletalSource
from ...model.transforms import inverse
from ...reporting import listed
from .. import names
from ..compat import Block
from ..curves import is_still
from ..empties import DISPLAY, PREFIX, decompose, shown_axes
from ..joints import TURN_BACK, from_children
from ..provenance import LISTS_TAGS, MODEL_ID, TAG_INDEX, Claims, file_lists_tags
from ..roots import REST, bones_with_tags, is_root, tag_bones, told_bones
from ..scene import upward
from . import armature

if TYPE_CHECKING:
    from .rig_scene import ExportRig  # which an import does without

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
LEAST = 1e-12  # of a size, to divide by
SAME_ORIGIN, SAME_AXES = 2e-5, 2e-5  # of the coordinate, and of axes: what Blender's own arithmetic adds


def build(model: SkeletalModel, rig: Block, bones: list[str], scale: float) -> list[Block]:
    """Return an empty for each tag, hung on its bone; linked nowhere."""
    made: list[Block] = []
    rig.data[LISTS_TAGS] = model.lists_tags
    if not model.tags:
        return made
    size = max(1.0, float(np.ptp(model.skeleton.bind.positions, axis=0).max(initial=0.0)) / 24.0) * scale
    for index, tag in enumerate(model.tags):
        block: Block = bpy.data.objects.new(names.fit(tag.name), None)
        block.empty_display_type, block.empty_display_size = DISPLAY, size
        block.rotation_mode = "QUATERNION"
        names.remember(block, tag.name)
        block[TAG_INDEX] = index
        block.parent, block.parent_type, block.parent_bone = rig, "BONE", bones[tag.joint]
        block.matrix_basis = Matrix(_basis(tag, rig.data.bones[bones[tag.joint]], scale).tolist())
        made.append(block)
    return made


def _basis(tag: JointTag, bone: Any, scale: float) -> Doubles:
    """Return the transform (4, 4) that an empty on a bone has as a tag; of axes that are no turn the closest."""
    quaternions, scales = decompose(tag.axes[None])
    local = np.eye(4)
    local[:3, :3] = shown_axes(quaternions, scales)[0].T
    local[:3, 3] = tag.origin.astype(np.float64) * scale
    return steady.products(from_children(bone), TURN_BACK, local)


def stand_on_bone(block: Block, bone: Any) -> None:
    """Let an empty that hangs on a bone stand as the joint does, turned as it is in the file, and of its own size.

    An armature that is scaled, as those of other tools often are, would make it so large too.
    """
    joint = JointTag(block.name, 0, np.zeros(3, np.float32), np.eye(3, dtype=np.float32))
    basis = _basis(joint, bone, 1.0)
    basis[:3, :3] /= max(_size_of(np.array(block.parent.matrix_world, np.float64)), LEAST)
    block.matrix_parent_inverse = Matrix.Identity(4)
    block.matrix_basis = Matrix(basis.tolist())


def replace_on_bone(block: Block, rig: Block, source: SkeletalSource, scale: float) -> None:
    """Put an empty where its tag of the source hangs, after its bone was placed anew."""
    index = _index(block, rig)
    if 0 <= index < len(source.tags) and block.parent_bone in rig.data.bones:
        basis = _basis(source.tags[index], rig.data.bones[block.parent_bone], scale)
        block.matrix_parent_inverse = Matrix.Identity(4)
        block.matrix_basis = Matrix(basis.tolist())


def gather(blocks: list[Block], rig: ExportRig, scale: float, keep_suffixes: bool = False) -> list[JointTag]:
    """Return the tags among objects: the empties that hang on bones of the armature, in the source's order.

    And bones that are tags by their names: see `tag_bones`.
    Empties that hang elsewhere are named in a warning.
    """
    found, others = [], []
    for block in names.in_source_order((b for b in blocks if b.type == "EMPTY"), lambda b: _index(b, rig.block)):
        if block.parent == rig.block and block.parent_type == "BONE" and block.parent_bone in rig.joints:
            found.append(block)
        elif not (is_root(block) or REST in block or block in upward(rig.block) or block.instance_type == "COLLECTION"):
            others.append(block.name)
    if others:
        log.warning("a tag is an empty whose parent is a bone: left out: %s", listed(others))
    led = [block.name for block in found if block.constraints or not is_still(block)]
    if led:
        said = "tags stand still on their bones in a file, constraints, drivers and curves are left out: %s"
        log.warning(said, listed(led))
    world = np.array(rig.block.matrix_world, np.float64)
    _warn_of_copies(rig, found)
    named = [bone for bone in tag_bones(rig.block, found) if bone in rig.joints]
    bones = [JointTag(bone, rig.joints[bone], np.zeros(3, np.float32), np.eye(3, dtype=np.float32)) for bone in named]
    called = [names.file_name_of(block, keep_suffixes) for block in found]
    tags = [_gather_tag(*each, rig, world, scale) for each in zip(found, called, strict=True)]
    return [*_claimed(tags), *bones]


def _warn_of_copies(rig: ExportRig, found: list[Block]) -> None:
    """Name bones that are called as tags, but are copies of joints of a file that lists its tags: they are none."""
    sources = rig.skeleton.sources
    if sources is None or not file_lists_tags(rig.block.data):
        return
    shown = {names.file_name_of(block).lower() for block in found} | {block.parent_bone.lower() for block in found}
    copies = [
        bone
        for bone in sorted(told_bones(rig.block) & rig.joints.keys())
        if bone.lower().startswith(PREFIX) and bone.lower() not in shown and sources[rig.joints[bone]] < 0
    ]
    if copies:
        log.warning("copies of bones are no tags by their names, hang an empty on each: %s", listed(copies))


def left_joints(blocks: list[Block], rig: Block, model: SkeletalModel) -> list[str]:
    """Name, in a sentence, joints that are called as tags which are no more: games find tags by the names of joints.

    Not those of tags that are there, but not among the objects.
    """
    skeleton = model.skeleton
    there = {tag.name.lower() for tag in model.tags}
    there |= {skeleton.names[tag.joint].lower() for tag in model.tags if tag.is_joint_of(skeleton)}
    joints = {name.lower() for name in skeleton.names if name.lower().startswith(PREFIX)} - there
    told = told_bones(rig) - bones_with_tags(set(rig.children).difference(blocks))
    left = [bone.name for bone in rig.data.bones if bone.name in told and bone.name.lower() in joints]
    text = "bones are called as tags that are no more, games find these there (rename the bones, too)"
    return [f"{text}: {listed(left)}"] if left else []


def _index(block: Block, rig: Block) -> int:
    """Return which of the model's tags an empty was, or -1."""
    index = block.get(TAG_INDEX)
    same = block.get(MODEL_ID) is not None and block.get(MODEL_ID) == rig.data.get(MODEL_ID)
    return int(index) if same and isinstance(index, int) and index >= 0 else -1


def _claimed(tags: list[JointTag]) -> list[JointTag]:
    """Leave each of the source's tags to the first that claims it: a copy is a further tag."""
    claims = Claims()
    for tag in tags:
        if not claims.take(tag.source_index):
            tag.source_index, tag.kept = -1, False
    return tags


def _gather_tag(block: Block, name: str, rig: ExportRig, world: Doubles, scale: float) -> JointTag:
    bone, joint = rig.block.data.bones[block.parent_bone], rig.joints[block.parent_bone]
    skeleton, source = rig.skeleton, rig.source
    index = _index(block, rig.block)
    own = source.tags[index] if source is not None and index < len(source.tags) and index >= 0 else None
    # An empty's own transform counts against the tail of its bone.
    basis = steady.products(*(np.array(m, np.float64) for m in (block.matrix_parent_inverse, block.matrix_basis)))
    rest = np.array(bone.matrix_local, np.float64)
    shown = steady.products(world, rest, inverse(from_children(bone)), basis)
    shown[:3, 3] /= scale
    bind = skeleton.bind
    place = armature.joint_matrices(bind.positions[joint][None], bind.rotations[joint][None])[0]
    local = steady.products(inverse(place), shown)
    size = _size_of(world)
    held = 1.0 if own is None and _is_whole(local[:3, :3]) else size
    origin, axes = local[:3, 3].astype(np.float32), (local[:3, :3].T / max(held, LEAST)).astype(np.float32)
    kept = False
    if own is not None and skeleton.sources is not None and skeleton.sources[joint] == own.joint:
        expected = _basis(own, bone, scale)
        off = np.abs(basis - expected)
        still = bool((off[:3, 3] <= SAME_ORIGIN * max(scale, float(np.abs(expected[:3, 3]).max()))).all())
        straight = bool((off[:3, :3] <= SAME_AXES).all())
        along = _along(world, size)
        kept = still and straight and along == (1.0, 1.0, 1.0)
        if still and along is not None:
            origin = own.origin * np.array(along, np.float32)
        if straight and along is not None:
            axes = own.axes * np.sign(np.array(along, np.float32))
    return JointTag(name, joint, origin, axes, index if own is not None else -1, kept)


def _size_of(world: Doubles) -> float:
    """Return how large a matrix (4, 4) makes things."""
    return float(steady.cube_roots(abs(steady.determinants(world[:3, :3]))))


def _is_whole(axes: Doubles) -> bool:
    """Tell whether axes (3, 3) are as long as a tag's that is not scaled.

    One of the user's own counts as such in the world, too, whatever its armature's scale: so large it is drawn.
    """
    return bool((np.abs(steady.lengths(axes.T) - 1) <= SAME_AXES).all())


def _along(world: Doubles, size: float) -> tuple[float, float, float] | None:
    """Return by how much the armature's own matrix scales what lies in joints, along their axes; None if unevenly.

    `size` is its scale. Joints don't grow, and turn their Z axis over where all is mirrored: see `armature.placed`.
    """
    axes = world[:3, :3] / max(size, LEAST)
    if (np.abs(steady.products(axes.T, axes) - np.eye(3)) > SAME_AXES).any():
        return None
    size = 1.0 if abs(size - 1.0) <= SAME_AXES else size
    return size, size, -size if float(steady.determinants(axes)) < 0 else size
