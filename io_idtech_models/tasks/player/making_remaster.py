"""The model with bones of a player of Quake II, which the remaster and Q2PRO show in place of a `tris.md2`.

Its frames are those of the player's other model, and so is its picture, which counts by the name of that one's skin
(MOD_LoadMD5 and MD5_LoadSkins of Q2PRO): see `game.character.quake2`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...blender.compat import Block, Context
from ...blender.names import file_name_of
from ...blender.provenance import is_stand_in
from ...blender.scene import bone_under, positioned
from ...blender.skeletal import armature
from ...blender.skeletal.gather import gather_mesh, gather_rig
from ...blender.skeletal.rig_scene import RigScene, SkeletalGatherSettings, rig_scene
from ...game.character.quake2 import INSTEAD, RATE, REMASTER
from ...model import steady
from ...model.limits.games import refused
from ...model.player import cutting
from ...model.skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh
from ...model.transforms import from_matrices, to_matrices, unchain
from ..export.motion import AnimationExport, finished
from .making_pictures import Atlas

log = logging.getLogger(__name__)

OFF = 1.0  # units: what bones show further from what the character does is said
Doubles = NDArray[np.float64]


@dataclass(eq=False)
class Moves:
    """How a character's bones move in a player's frames F, which show what was sampled S."""

    names: list[str]  # of the frames
    transforms: Doubles  # (F, 4, 4) into the game
    order: Sequence[int]  # (F,) which of what was sampled each frame shows
    bones: Mapping[str, Doubles]  # (S, 4, 4) in the world
    rests: Mapping[str, Doubles]  # (4, 4) in the armature


def bones_of(rig: Block, context: Context) -> list[str]:
    """Return the bones that become joints."""
    return list(_scene(rig, context).listed.names)


def remaster_files(
    stem: str, blocks: Sequence[Block], rig: Block, moves: Moves, worn: tuple[Atlas, str], context: Context
) -> tuple[dict[str, bytes], Doubles]:
    """Return the files of a model with bones, by their names in the player's folder, and what it reaches, (F, 2, 3).

    `worn`: where materials are in the picture, and the path of that.

    Raises:
        LimitError: the game would refuse it.
    """
    export, into = _scene(rig, context), moves.transforms[0]
    found = gather_rig(export)
    found.look_at_rest(list(blocks), context.view_layer)
    meshes: list[SkinnedMesh] = []
    with positioned(rig, "REST"):  # where what hangs on bones is at rest, too
        context.view_layer.update()
        for block in blocks:
            hung = bone_under(block, rig)
            orphans = hung if hung in found.joints else next(iter(found.joints))
            for mesh in gather_mesh(block, found, None, export.asking(orphan_bone=orphans)):
                mesh.uvs = worn[0].uvs(mesh.uvs, _material(block, mesh.shader, worn[0].materials), mesh.name)
                mesh.shader = worn[1]
                mesh.weights.offsets = (mesh.weights.offsets * steady.lengths(into[:3, 0])).astype(np.float32)
                meshes.append(mesh)
    context.view_layer.update()
    own = found.skeleton
    turns = steady.products(cutting.rotations(into[None]), to_matrices(own.bind.rotations))
    places = steady.applied(into[None, :3], own.bind.positions)
    model = SkeletalModel(stem, Skeleton(list(own.names), own.parents, places, from_matrices(turns)), meshes)
    motion = finished(_motion(stem, own, list(found.joints), moves, rig), model, AnimationExport())
    mesh_row, motion_row = formats.by_name("md5mesh"), formats.by_name("md5anim")
    for text in refused([*mesh_row.check(model, REMASTER), *motion_row.check_motion(motion, REMASTER)]):
        log.warning("%s/%s: %s", INSTEAD, stem, text)
    path = f"{INSTEAD}/{stem}"
    return {f"{path}.md5mesh": mesh_row.dump(model), f"{path}.md5anim": motion_row.dump(motion)}, motion.bounds


def say_how_far(stem: str, names: Sequence[str], reached: Doubles, shown: Doubles) -> None:
    """Say where what bones show, of which this is what it reaches (F, 2, 3), is not what the character shows."""
    off = np.abs(reached - shown).max(axis=(1, 2))
    worst = int(off.argmax())
    if off[worst] > OFF:
        log.warning(
            "%s/%s: bones that only turn and move show it up to %.1f units otherwise, most in frame %s: bones that are"
            " scaled, keys and modifiers stay in the other model alone",
            INSTEAD, stem, off[worst], names[worst],
        )  # fmt: skip


def _scene(rig: Block, context: Context) -> RigScene:
    return rig_scene(context.scene, context.view_layer, SkeletalGatherSettings(keep_suffixes=True), rig)


def _material(block: Block, shader: str, known: Sequence[Any]) -> Any:
    """Return which of the `known` materials a mesh of an object wears, by what it is called there; "" for none."""
    worn = [slot.material for slot in block.material_slots if slot.material in known]
    named = [each for each in (*worn, *known) if each is not None and file_name_of(each, keep_suffix=True) == shader]
    bare = [each for each in (*worn, *known) if each is None or is_stand_in(each)]
    return next(iter(named if shader else bare), known[0])


def _motion(stem: str, skeleton: Skeleton, bones: list[str], moves: Moves, rig: Block) -> Animation:
    """Return the player's frames as poses of joints in the game.

    A joint stands to its bone in every frame as it does at rest, which is the pose that its model is bound in.
    """
    resting = np.stack([moves.rests[bone] for bone in bones])
    at_rest, _ = armature.placed(resting, np.array(rig.matrix_world, np.float64))
    own = steady.products(np.swapaxes(at_rest[:, :3, :3], -1, -2), to_matrices(skeleton.bind.rotations))
    seen, _ = armature.placed(np.stack([moves.bones[bone][moves.order] for bone in bones], axis=1), np.eye(4))
    into = moves.transforms[:, None]
    turns = steady.products(cutting.rotations(into), seen[..., :3, :3], own[None])
    places = steady.applied(into[..., :3, :], seen[..., :3, 3])
    positions, rotations = unchain(skeleton.parents, places, from_matrices(turns))
    reach = np.zeros((len(turns), 2, 3))
    return Animation(stem, list(skeleton.names), skeleton.parents, positions, rotations, RATE, reach)
