"""A rigged character as it is shown in chosen frames of its actions: whole, before anything of it is cut.

Cutting objects that keep their armature would leave each side of a seam with normals of its own (15 degrees apart where
a joint bends): so what is sampled is the uncut mesh, with all modifiers and constraints.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.edits.normals import without_backs
from ...model.player.cutting import regions_of_faces
from ...model.player.regions import PARTS, Bones, Parts, region_of
from ...model.vertex import Surface
from ...reporting import LimitError, listed, plural
from ..compat import Block, Context
from ..frame_rigs import modifier_of
from ..leaders import players
from ..mesh.parts import split
from ..mesh.read import Origin, Shape, read_shape, warn_of_loose
from ..mesh.surface_names import surface_name
from ..provenance import model_of
from ..roots import poses_parts, root_of
from ..scene import FACED, ExportScene, bending, bone_under, held_by
from ..takes import Take, influences, make_take, pointed_at, used_actions
from ..vertex.frame_plan import FramePlan
from ..vertex.gather_surfaces import evidence_of, to_surface
from ..vertex.sampling import Samples, Stage, Subject, step, stepping
from ..vertex_groups import read_groups
from ..window import selected
from .rows import ROW, frame_curve

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]


@dataclass(eq=False)
class CharacterRig:
    """An armature and the meshes that it moves."""

    armature: Block
    meshes: list[Block]

    @property
    def bones(self) -> Bones:
        """Return the armature's bones, and which of them the meshes have weights for."""
        every = self.armature.data.bones
        grouped = {group.name for block in self.meshes for group in block.vertex_groups}
        carried = {bone_under(block, self.armature) for block in self.meshes}
        moving = frozenset(b.name for b in every if (b.name in grouped and b.use_deform) or b.name in carried)
        return Bones({bone.name: bone.parent.name if bone.parent else "" for bone in every}, moving)

    def takes(self) -> dict[str, Take]:
        """Return the actions that move the armature, or whom it follows, by name; none that others play or keep."""
        owners = list(dict.fromkeys(o for block in (self.armature, *self.meshes) for o in influences(block)))
        own = {action for owner in owners for action in used_actions(owner)}
        others = {action for block in bpy.data.objects if block not in owners for action in used_actions(block)} - own
        found, movers = {}, players(self.armature)
        for action in bpy.data.actions:
            if action in others or action.get(ROW) is not None or frame_curve(action) is not None:
                continue
            try:
                take = make_take(action.name, action, owners)
            except LimitError:
                continue
            if take.moves(movers):
                found[action.name] = take
        # Of frames with a rig an action plays the keys, and the armature's half of it along with them.
        halves = {role.partner for take in found.values() for role in take.roles}
        return {name: take for name, take in found.items() if take.action not in halves}

    def now(self, time: float) -> Take:
        """Return what stands for an action where there is none: the character as the scene shows it."""
        nothing: Any = None
        return Take("", nothing, [], [time])


@dataclass(eq=False)
class Piece:
    """A surface of the whole character, in the world, in all frames; and which part each of its triangles is of."""

    surface: Surface
    material: Any  # None if it has none
    regions: NDArray[np.int64]  # (T,) by `PARTS`


@dataclass(eq=False)
class Sampled:
    """What was seen of a character, in frames F."""

    pieces: list[Piece] = field(default_factory=list)
    bones: dict[str, Doubles] = field(default_factory=dict)  # (F, 4, 4) in the world, by name
    rests: dict[str, Doubles] = field(default_factory=dict)  # (4, 4) in the armature
    armature: Doubles = field(default_factory=lambda: np.zeros((0, 4, 4)))  # (F, 4, 4) in the world


def find_rig(context: Context, of_player: bool = True) -> CharacterRig:
    """Return the rig of the active object, of what is selected, or the scene's only one.

    It may be one that was made of a player, unless not `of_player`.

    Raises:
        LimitError: there is none, or there are several, or it moves no mesh that is visible.
    """
    layer = context.view_layer
    active = layer.objects.active
    found: list[Block] = []
    for blocks in ([] if active is None else [active], selected(context), list(context.scene.objects)):
        found = found or list(dict.fromkeys(a for block in blocks if (a := _armature_of(block)) is not None))
    if len(found) != 1:
        called = listed([block.name for block in found])
        several = f"there are {len(found)} armatures, make the character's active: {called}"
        raise LimitError(several if found else "there is no armature: a player is made of a rigged character")
    if poses_parts(found[0]) and not of_player:
        text = "poses the parts of a Quake III player, which play animations of their own: take a character's own rig"
        raise LimitError(f"'{found[0].name}' {text}")
    meshes = [b for b in context.scene.objects if b.type == "MESH" and _armature_of(b) == found[0]]
    if poses_parts(found[0]):  # of a player's frames: that one's own meshes are in these
        meshes = [b for b in meshes if modifier_of(b) is None and (root_of(b) is None or bending(b))]
        if not meshes:
            text = "was made of a player, and poses nothing else"
            raise LimitError(
                f"'{found[0].name}' {text}: hang another's mesh on it (Hang on Rig), for Make Quake III Player"
            )
    shown = [block for block in meshes if block.visible_get(view_layer=layer)]
    if not shown:
        raise LimitError(f"'{found[0].name}' moves no visible mesh")
    if len(shown) < len(meshes):
        log.warning("hidden objects left out: %s", listed([block.name for block in meshes if block not in shown]))
    beside = [block.name for block in _beside(found[0], meshes, context) if block.visible_get(view_layer=layer)]
    if beside:
        text = "left out, they follow '%s' and are no meshes on its bones: %s; %s"
        log.warning(text, found[0].name, listed(beside), "parent them to a bone (Parent > Bone), as meshes")
    return CharacterRig(found[0], shown)


def _beside(armature: Block, meshes: list[Block], context: Context) -> list[Block]:
    """Return what shows faces, goes along with a character, by whatever moves it, and is none of its meshes."""
    following: dict[Block, list[Block]] = {}
    for block in context.scene.objects:
        for leader in _leaders(block):
            following.setdefault(leader, []).append(block)
    waiting = [armature, *meshes]
    known = dict.fromkeys(waiting)
    for block in waiting:  # which grows
        further = dict.fromkeys(each for each in following.get(block, ()) if each not in known)
        known |= further
        waiting += further
    found = [b for b in waiting[1 + len(meshes) :] if b.type in FACED or b.instance_type == "COLLECTION"]
    if poses_parts(armature):  # the player that it was made of, and what that carries, are no part of another
        found = [b for b in found if modifier_of(b) is None and root_of(b) is None and not model_of(b)]
    return found


def _leaders(block: Block) -> Iterator[Block]:
    """Yield the objects that move an object, or bend it: its parent, those of its constraints and its modifiers."""
    bones = [] if block.pose is None else list(block.pose.bones)
    holds = [hold for each in (block, *bones) for hold in each.constraints if not hold.mute]
    if block.parent is not None:
        yield block.parent
    for holder in (*holds, *(each for each in block.modifiers if each.show_viewport)):
        yield from pointed_at(holder)


def _armature_of(block: Block) -> Block | None:
    """Return the armature that an object is, that bends it, or that it hangs on, or whose bone it goes wholly with."""
    if block.type == "ARMATURE":
        return block
    holder, bone = held_by(block)
    own = next(iter(bending(block)), holder if bone else None)
    return own or (None if block.parent is None else _armature_of(block.parent))


def sample(
    rig: CharacterRig, parts: Parts, shots: Sequence[tuple[Take, float]], bones: Sequence[str], export: ExportScene[Any]
) -> Sampled:
    """Return what a character shows in each of some shots: of actions at times of the scene.

    Raises:
        LimitError: a mesh has other points or faces in some frames, or no faces at all.
    """
    takes, times = [take for take, _ in shots], [time for _, time in shots]
    nothing = np.full(len(times), -1, np.int32)
    plan = FramePlan([f"{time:g}" for time in times], times, nothing.tolist(), nothing, takes=takes)
    with stepping(export, plan, rig.meshes) as stage:
        stage.show(0)
        shapes = [_shape(block, stage) for block in rig.meshes]
        faces = [_regions(rig, parts, block, shape) for block, shape in zip(rig.meshes, shapes, strict=True)]
        subjects = [Subject(block, shape.topology, True) for block, shape in zip(rig.meshes, shapes, strict=True)]
        subjects += [Subject(rig.armature), *(Subject(rig.armature, bone=bone) for bone in bones)]
        samples = step(stage, subjects)
    found = Sampled(armature=samples[len(shapes)].matrices)
    for block, shape, regions, seen in zip(rig.meshes, shapes, faces, samples, strict=False):
        found.pieces += _pieces(block, shape, regions, seen)
    if not found.pieces:
        raise LimitError(f"no mesh of '{rig.armature.name}' has faces")
    found.bones = {bone: seen.matrices for bone, seen in zip(bones, samples[len(shapes) + 1 :], strict=True)}
    found.rests = {bone: np.array(rig.armature.data.bones[bone].matrix_local, np.float64) for bone in bones}
    return found


def _shape(block: Block, stage: Stage) -> Shape:
    """Return what of a mesh stays the same in all frames, as its modifiers make it."""
    shown = stage.export.evaluated(block).data
    shape = read_shape(block, shown, None, Origin(None, None, 0, len(stage.plan.times) == 1), "SHOWN")
    warn_of_loose(block, shape)
    return shape


def _regions(rig: CharacterRig, parts: Parts, block: Block, shape: Shape) -> NDArray[np.int64]:
    """Return which part each face of a mesh is of (faces,), by the weights of its points."""
    places = _places(rig, parts.regions, block)
    weights = np.zeros((shape.topology.num_points, len(PARTS)))
    bone = bone_under(block, rig.armature)
    if bone:  # what has no weights stays with that
        weights[:, PARTS.index(parts.regions.get(bone, PARTS[0]))] = 1e-6
    points, groups, shares = read_groups(shape.mesh)
    own = np.array([*places, -1])[np.minimum(groups, len(places))]
    np.add.at(weights, (points[own >= 0], own[own >= 0]), shares[own >= 0])
    bare = int((weights.sum(axis=1) == 0).sum())
    if bare:
        log.warning("'%s': the legs take %s that no bone moves", block.name, plural(bare, "vertex", "vertices"))
    corners = shape.topology.corner_points.astype(np.int64)
    return regions_of_faces(weights, corners, shape.topology.corner_faces)


def _places(rig: CharacterRig, regions: Mapping[str, str], block: Block) -> list[int]:
    """Return the part of each group of a mesh, by `PARTS`: of bones, or, if none is a bone's, by the groups' names."""
    bones = rig.armature.data.bones
    own = [g.name if g.name in bones and bones[g.name].use_deform else "" for g in block.vertex_groups]
    found = [regions[name] if name else "" for name in own]
    if not any(own):
        found = [region_of(group.name) for group in block.vertex_groups]
    return [PARTS.index(region) if region else -1 for region in found]


def _pieces(block: Block, shape: Shape, regions: NDArray[np.int64], seen: Samples) -> list[Piece]:
    """Return the surfaces of a mesh, one for each material that its faces wear."""
    frames, found = len(seen.matrices), []
    parts = split(shape, evidence_of(seen, np.full(frames, -1), shape), True) if len(shape.corners) else []
    for nth, part in enumerate(parts):
        name = surface_name(block, part, shape, nth, False)
        surface = to_surface(name, part, shape, seen, frames, 1.0)
        if block.data.has_custom_normals and surface.normals is not None:
            every = np.ones(surface.num_vertices, np.bool_)
            surface.normals, _ = without_backs(surface.normals, surface.positions, surface.triangles, every)
        chosen = np.flatnonzero(shape.slots[shape.corner_faces] == (part.slots[0] if part.slots else 0))
        of_triangle = regions[shape.corner_faces[chosen][part.triangles.corners[:, 0] // 3]]
        material = shape.materials[part.slots[0]] if part.slots else None
        found.append(Piece(surface, material, of_triangle))
    if not parts:
        log.warning("'%s' has no faces: left out", block.name)
    return found
