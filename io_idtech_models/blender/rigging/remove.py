"""A rig that goes again: its model's keys show the frames by themselves, with what was posed."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.transforms import inverse
from ...model.vertex import Tag
from ...reporting import LimitError, listed
from .. import names
from ..compat import HAS_SLOTS, Block
from ..empties import decompose
from ..frame_rigs import GONE, RIG, modifier_of, played_beside, posed_by, rig_actions, twins_of, whole_of
from ..hanging import find_hanging, let_down
from ..mesh import attributes
from ..player.assembly import follow_root
from ..player.parts import all_shown
from ..provenance import collection_of
from ..rig_settling import say_muted, settle
from ..roots import AT_REST, FRAME, frame_root, is_root, root_of
from ..scene import ExportScene, positioned
from ..space import space_of
from ..vertex import spread, tags
from ..vertex.frame_plan import GatherSettings
from ..vertex.gather_tags import TagSource, find_tags, reach_of, settle_tag
from ..vertex.planning import plan_frames
from ..vertex.sampling import Samples, Subject, step, stepping
from ..vertex.shape_keys import frame_blocks
from ..vertex.source import find
from .build import write_keys
from .read import refuse_shared

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]


def remove(
    rig: Block, collections: Mapping[Block | None, bpy.types.Collection | None], export: ExportScene[GatherSettings]
) -> list[Block]:
    """Remove an armature that was made of frames; returns the meshes, whose keys show these as they were posed.

    `collections` has those of its models by the roots of a player's parts, or by None.

    Raises:
        LimitError: a mesh has other points than its keys, or they disagree, or another object shares it.
    """
    settle([rig, *twins_of(rig)])
    if whole_of(rig) is None:
        raise LimitError(f"{GONE % rig.name}: undo that")
    meshes = posed_by(rig)
    if not meshes:
        how = "add the Armature modifier to those that it was made of again, or delete it as any other armature"
        raise LimitError(f"'{rig.name}' poses no mesh that it was made of: {how}")
    refuse_shared(meshes)
    say_muted([rig])
    beside = played_beside(rig)
    if beside:
        log.warning("%s: the shape keys hold frames without it, undo this to keep it", beside)
    empties = [block for block in rig.children if block.type == "EMPTY" and block.parent_type == "BONE"]
    helpers = {hold.target for mesh in meshes for hold in mesh.constraints if hold.name == AT_REST}
    _warn_of_followers(rig, {*meshes, *helpers, *(tag.block for tag in find_tags(empties))})
    parts, whole = [], [rig, *meshes, *empties]
    with all_shown(export.view_layer, whole), positioned(rig, "POSE"), _in_own_space(whole, export):
        for root in dict.fromkeys(map(root_of, meshes)):
            models = _by_frames([block for block in meshes if root_of(block) == root])
            for own in models:
                home = collections.get(root) if len(models) == 1 else collection_of(own[0])
                tags = [b for b in empties if root_of(b) == root and (len(models) == 1 or collection_of(b) == home)]
                parts.append(_Part(own, find_tags(tags), home, export))
        for part in parts:
            part.look(export)
        seen = np.array(rig.matrix_world, np.float64)
    for part in parts:
        for block, samples in zip(part.meshes, part.seen, strict=False):
            write_keys(block, samples.positions)
    _unbind(meshes, rig)
    for part in parts:
        part.stand_alone(rig, seen)
    _forget(rig)
    return meshes


def _by_frames(meshes: list[Block]) -> list[list[Block]]:
    """Return meshes by how their frames are called: models that share an armature need not call them alike."""
    found: dict[tuple[str, ...], list[Block]] = {}
    for block in meshes:
        called = tuple(key.name for key in frame_blocks(block.data.shape_keys))
        found.setdefault(called, []).append(block)
    return list(found.values())


def _in_own_space(whole: list[Block], export: ExportScene[GatherSettings]) -> AbstractContextManager[list[str]]:
    """Take away what carries a model, but a root, in whose space it is seen anyway."""
    hanging = find_hanging(whole)
    is_alone = hanging is None or is_root(hanging.carrier.block) or not hanging.has_space
    return let_down(None if is_alone else hanging, export.view_layer)


def _on_parent(rig: Block, world: Doubles) -> Doubles:
    """Return places in the world, (4, 4), as what carries an armature has them, which stands at `world` itself."""
    local = steady.products(np.array(rig.matrix_parent_inverse), np.array(rig.matrix_basis))
    return steady.products(local, inverse(world[None])[0])


def _warn_of_followers(rig: Block, own: set[Block]) -> None:
    """Name what else an armature moves in any way: by a bone, a modifier, a constraint, a driver."""
    users = bpy.data.user_map(subset={rig}).get(rig, ())
    own = own | {rig}  # whose bones may hold each other
    others = [user.name for user in users if isinstance(user, bpy.types.Object) and user not in own]
    if others:
        text = "what also moved with '%s' stands still without it, undo this to keep it: %s"
        log.warning(text, rig.name, listed(sorted(others)))


class _Part:
    """A model that a rig poses: all of it, or a part of a player."""

    def __init__(
        self,
        meshes: list[Block],
        sources: list[TagSource],
        collection: bpy.types.Collection | None,
        export: ExportScene[GatherSettings],
    ) -> None:
        self.meshes, self.tags = meshes, [tag.block for tag in sources]
        self.name = meshes[0].name if collection is None else collection.name
        self.known = find(collection, [block.data for block in meshes], self.tags)
        space = space_of([*meshes, *self.tags], collection, export.evaluated)
        self.plan = plan_frames(meshes, sources, collection, self.known, export, space)
        self.plan.space = space
        self.seen: list[Samples] = []
        self.reaches: list[float] = []

    def look(self, export: ExportScene[GatherSettings]) -> None:
        """See what the rig makes of meshes, and where it has tags, in all frames."""
        for block in self.meshes:
            if block.data.shape_keys.use_relative:
                raise LimitError(f"'{block.name}' has relative keys now: its rig made frames of absolute ones")
        with _posed(self.meshes), stepping(export, self.plan, self.meshes) as stage:
            subjects = [Subject(block, attributes.topology(block.data)) for block in self.meshes]
            self.seen = step(stage, [*subjects, *map(Subject, self.tags)])
        self.reaches = [reach_of(tag, self.plan) for tag in self.tags]

    def stand_alone(self, rig: Block, seen: Doubles) -> None:
        """Let tags stand where the rig had them, by curves of their own, on what carries it; `seen`: where it stood."""
        scale = 1.0
        for block in self.meshes:
            scale = spread.settle(block, self.known)
        for empty, samples, reach in zip(self.tags, self.seen[len(self.meshes) :], self.reaches, strict=True):
            self._stand_alone(empty, self._tag(empty, samples, reach, scale), scale)
            if self.plan.space.root is None and rig.parent is not None:
                empty.parent, empty.parent_type, empty.parent_bone = rig.parent, rig.parent_type, rig.parent_bone
                empty.matrix_parent_inverse = Matrix(_on_parent(rig, seen).tolist())

    def _tag(self, block: Block, samples: Samples, reach: float, scale: float) -> Tag:
        """Return a tag as the file has it, in frames in which it stands there."""
        matrices = samples.matrices
        origins = (matrices[:, :3, 3] / scale).astype(np.float32)
        axes = np.ascontiguousarray(np.swapaxes(matrices[:, :3, :3], 1, 2), np.float32)
        number = -1 if self.known is None else self.known.tag_index(block)
        tag = Tag(names.file_name_of(block), origins, axes, number)
        if self.known is not None and number >= 0:
            settle_tag(tag, self.known, self.plan.sources, reach / scale)
        return tag

    def _stand_alone(self, empty: Block, tag: Tag, scale: float) -> None:
        rotation, scales = decompose(tag.axes)
        root = self.plan.space.root
        empty.parent, empty.parent_type, empty.parent_bone = root, "OBJECT", ""
        empty.matrix_parent_inverse = Matrix()
        channels: dict[str, NDArray[np.float32]] = {
            "location": np.ascontiguousarray(tag.origins * np.float32(scale), np.float32),
            "rotation_quaternion": rotation,
            "scale": scales,
        }
        keys = self.meshes[0].data.shape_keys.animation_data
        action = keys.action if HAS_SLOTS and keys is not None else None
        for path, values in channels.items():
            setattr(empty, path, values[0].tolist())
        tags.animate(empty, action or bpy.data.actions.new(names.fit(f"{self.name} {empty.name}")), channels)
        if root is not None and FRAME in frame_root(root):
            follow_root(empty, root)


@contextmanager
def _posed(meshes: list[Block]) -> Iterator[None]:
    """Let meshes show what their rig makes of them, without other modifiers, whatever of these just now shows."""
    before = [(block, modifier, modifier.show_viewport) for block in meshes for modifier in block.modifiers]
    try:
        for block, modifier, _ in before:
            modifier.show_viewport = modifier == modifier_of(block)
        yield
    finally:
        for _, modifier, shown in before:
            modifier.show_viewport = shown


def _unbind(meshes: list[Block], rig: Block) -> None:
    """Take modifier and weights away, and what holds meshes where they rest."""
    bones = {bone.name for bone in rig.data.bones}
    held = [(block, hold) for block in meshes for hold in block.constraints if hold.name == AT_REST]
    rests: set[Block] = {hold.target for _, hold in held if hold.target is not None and hold.target.parent == rig}
    for block, hold in held:
        block.constraints.remove(hold)
    for block in meshes:
        block.modifiers.remove(modifier_of(block))
        block.data.shape_keys.pop(RIG, None)
        for group in [group for group in block.vertex_groups if group.name in bones]:
            block.vertex_groups.remove(group)
    for empty in rests:
        bpy.data.objects.remove(empty)


def _forget(rig: Block) -> None:
    """Remove an armature, its actions, and what else hung on it from that."""
    world = np.array(rig.matrix_world, np.float64)
    for block in list(rig.children):
        place = np.array(block.matrix_world, np.float64)
        block.parent = rig.parent
        if rig.parent is not None:
            block.parent_type, block.parent_bone = rig.parent_type, rig.parent_bone
            place = steady.products(_on_parent(rig, world), place)
            block.matrix_parent_inverse = Matrix()
        block.matrix_basis = Matrix(place.tolist())
    armature, twins = rig.data, twins_of(rig)
    others = {action for twin in twins for action in rig_actions(twin)}
    for action in rig_actions(rig):
        if action not in others:
            bpy.data.actions.remove(action)
    bpy.data.objects.remove(rig)
    if all(twin.data != armature for twin in twins):
        bpy.data.armatures.remove(armature)
