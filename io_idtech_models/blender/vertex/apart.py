"""Copies of a model with frames: one whose frames change gets animations of its own.

Blender's Duplicate copies meshes, their keys, and the one action that they play. All other animations are found by the
model's id, which both have, and would change for both where one gets other frames.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

import bpy

from .. import names, rig_settling
from ..compat import Block, play_copy
from ..frame_rigs import RIG_KEYS, rig_actions, rigs_of, whole_of
from ..linked import is_from_library
from ..provenance import MODEL_ID, OWN_ANIMATIONS, animations_id
from ..scene import objects_in
from ..takes import own_motions, used_actions
from .clips import WHOLE, copied_from, model_actions, model_ids
from .shown_keys import has_frames


def copies_of(blocks: Iterable[Block], collection: bpy.types.Collection | None) -> list[Block]:
    """Return the meshes of other models that have a model's animations: it was made from them, or they from it."""
    inside = [*blocks, *(() if collection is None else objects_in(collection))]
    own, ids = {block.data for block in inside}, model_ids([b for b in blocks if b.type == "MESH"], collection)
    every: list[Block] = [block for block in bpy.data.objects if block.type == "MESH" and block.data not in own]
    return [block for block in every if animations_id(block.data) in ids and has_frames(block)]


def stand_alone(blocks: Sequence[Block], collection: bpy.types.Collection | None) -> None:
    """Give a model animations of its own, where copies of it have the same; call it before its frames change.

    What lies in another .blend has its frames there, and stays as it is.
    """
    keyed = [block for block in blocks if block.type == "MESH" and has_frames(block)]
    if collection is not None and set(blocks).isdisjoint(objects_in(collection)):  # it is the other one's
        collection = None
    others = copies_of(blocks, collection) if keyed else []
    if not others or any(is_from_library(block.data) for block in keyed):
        return
    rigs = rigs_of(keyed)
    rig_settling.settle(rigs)
    ids, fresh = model_ids(keyed, collection), uuid.uuid4().hex
    is_first = min((*keyed, *others), key=lambda block: names.place_among_copies(block.data.name)) in keyed
    for action, own in _own_actions(keyed, others, ids).items():
        if is_first and own != action:  # the other one is the copy, and has the numbers of one
            theirs, action.name = action.name, f"{action.name} of a copy"
            own.name, action.name = theirs, own.name
        own[MODEL_ID] = fresh
        _play_own(blocks, rigs, action, own)
    own_motions([block for block in blocks if block.type == "EMPTY"], blocks)
    holders: list[Block] = [b.data for b in blocks if b.type == "MESH" and animations_id(b.data) in ids]
    for holder in (*holders, *(() if collection is None else (collection,))):
        holder[OWN_ANIMATIONS] = fresh


def _play_own(blocks: Sequence[Block], rigs: list[Block], action: Block, own: Block) -> None:
    """Let a model play its own action in place of another, and armatures go along with that."""
    for owner in (*blocks, *(block.data.shape_keys for block in blocks if block.type == "MESH")):
        animation = None if owner is None else owner.animation_data
        strips = [] if animation is None else [strip for track in animation.nla_tracks for strip in track.strips]
        for player in (each for each in (animation, *strips) if each is not None and each.action == action):
            play_copy(player, own)
    for rig in rigs:
        for clip in rig_actions(rig):
            if clip.get(RIG_KEYS) == action or (own.get(WHOLE) and clip == whole_of(rig)):
                clip[RIG_KEYS] = own


def _own_actions(keyed: list[Block], others: list[Block], ids: set[str]) -> dict[Block, Block]:
    """Return an action of its own for each of a model's: what Blender copied for it is so, of others it gets copies."""
    played, elsewhere = ({a for b in each for a in used_actions(b.data.shape_keys)} for each in (keyed, others))
    every, found = model_actions(ids, whole=True), dict[Block, Block]()
    wholes = sorted((a for a in every if a.get(WHOLE)), key=lambda a: (a not in played, a in elsewhere))
    origins = {action: copied_from(action, every) for action in every if action not in wholes}
    for action in wholes[:1]:
        found[action] = action if len(wholes) > 1 and action in played - elsewhere else action.copy()
    for action in (action for action, origin in origins.items() if origin is not None and action in played):
        found[action] = action
    had = {origins[action] for action in found if action not in wholes}
    for action in (action for action, origin in origins.items() if origin is None and action not in had):
        found[action] = action.copy()
    for own in found.values():
        own.use_fake_user = True
    return found
