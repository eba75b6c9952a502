"""A whole character, cut into the models of a player: legs, torso and head, each in the space of what it hangs on.

One in another player's frames: what hangs on the rig that was made of these gets all of its animations.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...blender.compat import Block, Context
from ...blender.joints import TURN
from ...blender.player.parts import find_player
from ...blender.player.rig import CharacterRig, Piece, Sampled
from ...blender.scene import ExportScene
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.vertex.shape_keys import frame_blocks
from ...game.player.animation_cfg import AnimationTable
from ...game.player.animation_cfg import read as read_table
from ...model import steady
from ...model.limits.checks import engine_surface_name
from ...model.player import cutting
from ...model.player.regions import HEAD, LEGS, PARTS, TORSO
from ...model.vertex import Surface, Tag, VertexModel
from ...reporting import LimitError
from .making_pictures import Wardrobe, plain_name
from .play import num_frames
from .tables import table_file

log = logging.getLogger(__name__)
STANDING = {LEGS: "LEGS_IDLE", TORSO: "TORSO_STAND"}


@dataclass(frozen=True, eq=False)
class Apart:
    """A character in the game, in frames F, and what is to be cut of it."""

    whole: list[Piece]  # its surfaces
    torso: cutting.Joint
    head: cutting.Joint
    held: NDArray[np.float64]  # (F, 4, 4) where a weapon is, as the torso sees it
    stand: int  # the frame in which edges of cuts are where they belong
    frames: dict[str, list[int]]  # of each part's model: which of these
    names: dict[str, list[str]]  # of the frames of legs and torso
    table: bytes
    further: list[tuple[str, str, NDArray[np.float64]]] = field(default_factory=list)  # tags: part, name, (F, 4, 4)


def models_of(found: Apart, wardrobe: Wardrobe, close_seams: bool) -> dict[str, VertexModel]:
    """Return the models of the three parts, each in its own space."""
    frames, torso, head = found.frames, found.torso, found.head
    if close_seams:
        surfaces, regions = [piece.surface for piece in found.whole], [piece.regions for piece in found.whole]
        for surface, used in zip(surfaces, cutting.used_by(surfaces, regions, len(PARTS)), strict=True):
            cutting.follow(surface, used[:, 0] & used[:, 1], torso, found.stand)
            cutting.follow(surface, used[:, 2] & used[:, :2].any(axis=1), head, frames[HEAD][0])
    spaces = {LEGS: np.broadcast_to(np.eye(4), torso.matrices.shape), TORSO: torso.matrices, HEAD: head.matrices}
    tags: dict[str, list[Tag]] = {
        LEGS: [cutting.tag("tag_torso", torso.matrices[frames[LEGS]])],
        TORSO: [
            cutting.tag("tag_head", head.beside(torso)[frames[TORSO]]),
            cutting.tag("tag_weapon", found.held[frames[TORSO]]),
        ],
        HEAD: [],
    }
    for part, name, places in found.further:
        tags[part].append(cutting.tag(name, places[frames[part]]))
    names = {**found.names, HEAD: ["head"]}
    models = {}
    for nth, part in enumerate((HEAD, TORSO, LEGS)):  # the icon shows what the head wears
        transforms = cutting.inverse(spaces[part][frames[part]])
        cut = _surfaces(found.whole, part, transforms, frames[part], wardrobe)
        if not cut:
            raise LimitError(f"no face belongs to the {('head', 'torso', 'legs')[nth]}: choose other bones")
        models[part] = VertexModel(f"{wardrobe.folder}/{part}.md3", names[part], cut, tags[part])
    return {part: models[part] for part in PARTS}


def in_game(sampled: Sampled, into: NDArray[np.float64]) -> list[Piece]:
    """Return a whole character's surfaces in all frames, in the game's space, to which `into` (F, 4, 4) takes them."""
    frames = range(len(sampled.armature))
    return [replace(piece, surface=cutting.in_frames(piece.surface, into, frames)) for piece in sampled.pieces]


def _surfaces(
    whole: Sequence[Piece], part: str, transforms: NDArray[np.float64], frames: Sequence[int], wardrobe: Wardrobe
) -> list[Surface]:
    """Return the surfaces of a part in its own space, as they are called in the game."""
    found: list[Surface] = []
    taken: set[str] = set()
    for piece in whole:
        own = cutting.chosen_triangles(piece.surface, piece.regions == PARTS.index(part))
        if own is None:
            continue
        surface = cutting.in_frames(own, transforms, frames)
        surface.name = _surface_name(piece.surface.name, part, taken)
        surface.shaders = [wardrobe.shader(piece.material)]
        if piece.material is None:
            log.warning("'%s' has no material: it wears a plain grey", piece.surface.name)
        found.append(surface)
    return found


def _surface_name(name: str, part: str, taken: set[str]) -> str:
    """Return a name that games keep as it is and tell apart from others: they cut `_1` and the like off."""
    stem = f"{part[0]}_{plain_name(name)[:40] or 'mesh'}"
    found, number = stem, 1
    while engine_surface_name(found) != found or found in taken:
        number += 1
        found = f"{stem}{number:02}"
    taken.add(found)
    return found


def in_its_frames(rig: CharacterRig, context: Context) -> Apart:
    """Return a mesh that hangs on a player's rig in that player's frames, with its tags and its table.

    While the legs show their frames the torso stands, and while the torso does the legs: so points near a cut, which
    bones of both may move, are where these two fit. Rows that both play, as they die, both show.
    """
    from ...blender.rigging.hang import further_tags, parts_of, sample_frames

    player = find_player(rig.armature)
    table = {} if player is None else table_file(player, context)
    if player is None or not table:
        raise LimitError(f"'{rig.armature.name}' poses frames of a player that has no animation.cfg")
    parts = parts_of(rig)
    if not (parts.torso and parts.head):
        raise LimitError(f"'{rig.armature.name}' has no tag_torso in its legs, or no tag_head in its torso")
    roots = {kind: root for kind, root in player.parts.items() if kind in PARTS}
    counts = {kind: num_frames(root) for kind, root in roots.items()}
    if max(counts.get(LEGS, 1), counts.get(TORSO, 1)) < 2:
        raise LimitError("the player's own meshes are gone, and with them how many frames it has: keep them until then")
    text = next(iter(table.values()))
    table_of = read_table(text)
    stand = {kind: _first(table_of, kind, row, counts[kind]) for kind, row in STANDING.items()}
    together = _together(table_of, counts)
    legs = [{LEGS: frame, TORSO: together.get(frame, stand[TORSO])} for frame in range(counts[LEGS])]
    alike = {torso: frame for frame, torso in together.items()}
    torsos = [{LEGS: alike.get(frame, stand[LEGS]), TORSO: frame} for frame in range(counts[TORSO])]
    export = ExportScene(context.scene, context.view_layer, GatherSettings())
    beside = further_tags(rig, parts)
    sampled = sample_frames(rig, parts, [bone for _, _, bone in beside], roots, (legs, torsos), export)
    count = len(legs) + len(torsos)
    into = np.repeat(cutting.inverse(sampled.armature[:1]), count, axis=0)

    def tag(bone: str) -> cutting.Joint:
        return cutting.joint(steady.products(into, sampled.bones[bone]), TURN)

    torso = tag(parts.torso)
    held = tag(parts.hand).beside(torso) if parts.hand else np.repeat(np.eye(4)[None], count, axis=0)
    lower = list(range(counts[LEGS]))
    upper = list(range(counts[LEGS], count))
    frames = {LEGS: lower, TORSO: upper, HEAD: [upper[stand[TORSO]]]}
    names = {kind: _frame_names(roots[kind]) for kind in (LEGS, TORSO)}
    head = tag(parts.head)
    spaces = {TORSO: torso, HEAD: head}
    further = [
        (part, name, tag(bone).beside(spaces[part]) if part in spaces else tag(bone).matrices)
        for part, name, bone in beside
        if part in PARTS
    ]
    return Apart(in_game(sampled, into), torso, head, held, lower[stand[LEGS]], frames, names, text, further)


def _first(table: AnimationTable, kind: str, row: str, count: int) -> int:
    """Return the first frame of a row in a part's model; 0 where the table or the model has none such."""
    begins = (each.frames[0] for each in table.of_part(kind) if each.name == row)
    return next((first for first in begins if first in range(count)), 0)


def _together(table: AnimationTable, counts: Mapping[str, int]) -> dict[int, int]:
    """Return which frame of the torso's model shows beside one of the legs', in rows that both play."""
    rows = {row.name: row.frames for row in table.of_part(TORSO)}
    pairs = [pair for row in table.of_part(LEGS) for pair in zip(row.frames, rows.get(row.name, ()), strict=False)]
    found: dict[int, int] = {}
    for legs, torso in pairs:
        if legs in range(counts[LEGS]) and torso in range(counts[TORSO]):
            found.setdefault(legs, torso)
    return found


def _frame_names(root: Block) -> list[str]:
    """Return what the frames of a part are called."""
    keyed = [block.data.shape_keys for block in root.children if block.type == "MESH" and block.data.shape_keys]
    return [key.name for key in frame_blocks(keyed[0])] if keyed else ["stand"]
