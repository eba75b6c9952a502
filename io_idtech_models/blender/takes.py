"""Actions as animations of a model: whom of it they move, and what can move it at all."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import bpy

from ..reporting import LimitError, listed
from .compat import (
    Block,
    action_parts,
    play_copy,
    slot_claim,
)
from .frame_rigs import RIG_KEYS, is_frame_rig, partner_of, pose_part, posed_by
from .provenance import PART
from .spans import span_of, warn_of_length

log = logging.getLogger(__name__)
TURNS = "rotation_"  # what the channels of a bone that turn it begin with
MODES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}  # others: rotation_euler
POSE = "pose.bones["


@dataclass(frozen=True, eq=False)
class Role:
    """A data-block that an action moves, with the slot that it plays (None before 4.4) and the slot's curves."""

    owner: Block
    slot: Any
    curves: list[Any]
    partner: Block | None = None  # the action that it plays instead of the take's, along with that


@dataclass(eq=False)
class Take:
    """An action as an animation of a model: its frames are shown at `times`."""

    name: str
    action: bpy.types.Action
    roles: list[Role]
    times: list[float]

    def curves_of(self, owner: Block) -> list[Any] | None:
        """Return the curves that move a data-block; None if the action leaves it alone."""
        return next((role.curves for role in self.roles if role.owner == owner), None)

    def moves(self, owners: Iterable[Block]) -> bool:
        """Tell whether the action moves one of some data-blocks."""
        own = {role.owner for role in self.roles}
        return any(owner in own for owner in owners)


def make_take(name: str, action: bpy.types.Action, owners: list[Block], frames: int = 0) -> Take:
    """Return an action as an animation of the model that `owners` (see `influences`) belong to.

    `frames` is how many the file had, 0 where that is not known.

    Raises:
        LimitError: the action moves nothing of the model, or nobody can tell what.
    """
    roles = _cast(action, owners)
    if not roles:
        raise LimitError(f"action '{action.name}' moves nothing of this model")
    times = _times(action, roles, frames)
    moved = {role.owner for role in roles}
    rigs = [owner for owner in owners if owner not in moved and isinstance(owner, bpy.types.Object)]
    for rig in rigs:
        if is_frame_rig(rig) and posed_by(rig):  # no copy of one, as controls of it are
            partner = partner_of(rig, action)
            roles += rig_roles(rig, partner)
            if partner is None and not moved.isdisjoint(block.data.shape_keys for block in posed_by(rig)):
                text = "'%s' has no poses along with '%s', bones are as they stand: click that if the list has it"
                log.warning(text, rig.name, action.name)
    return Take(name, action, roles, times)


def rig_roles(rig: Block, action: Block | None) -> list[Role]:
    """Return the role of an armature that was made of frames in what its keys play, while it plays an action."""
    if action is None:
        return []
    slot, curves = pose_part(action)
    return [Role(rig, slot, curves, partner=action)] if curves else []


def key_roles(rig: Block, action: Block) -> list[Role]:
    """Return the roles of keys in what an armature that was made of them plays; see `frame_rigs.partner_of`."""
    keys = action.get(RIG_KEYS)
    if not isinstance(keys, bpy.types.Action):
        return []
    owners = [mesh.data.shape_keys for mesh in posed_by(rig) if mesh.data.shape_keys is not None]
    return [replace(role, partner=keys) for role in _cast(keys, owners)]


def warn_of_others(rig: Block, takes: Iterable[Take]) -> None:
    """Name what an armature follows and that plays an action of its own, whichever of several takes is written."""
    animation = rig.animation_data
    shown = None if animation is None else animation.action
    for owner in influences(rig):
        played = None if owner == rig or owner.animation_data is None else owner.animation_data.action
        left = [t.action.name for t in takes if t.action not in (shown, played) and not t.moves([owner])]
        if played is not None and left:
            log.warning(
                "'%s', which '%s' follows, plays '%s' whatever is written: so it does in %s; give it a slot of each "
                "action, or bake them (Pose > Animation > Bake Action, with Visual Keying and Clear Constraints)",
                owner.name, rig.name, played.name, listed(left),
            )  # fmt: skip


def warn_of_beside(owners: list[Block], takes: Sequence[Take], marks: Sequence[str]) -> None:
    """Name what plays an action of its own whichever of several takes is written; see also `warn_of_others`.

    Not one of those that have one of the `marks` of the model's own.
    """
    rigs = [owner for owner in owners if owner.id_type == "OBJECT" and owner.type == "ARMATURE"]
    for rig in rigs:
        warn_of_others(rig, takes)
    followed = {each for rig in rigs for each in influences(rig) if each != rig}
    for owner in (each for each in owners if each not in followed and each.animation_data is not None):
        played = owner.animation_data.action
        if played is None or any(mark in played for mark in marks):
            continue
        beside = [take.action.name for take in takes if not take.moves([owner])]
        if beside and played.frame_range[1] > played.frame_range[0]:
            text = "'%s' plays '%s' from the beginning beside each action that is written (Frames: Scene goes on): %s"
            log.warning(text, owner.name, played.name, listed(beside))


def warn_of_dead_turns(takes: Iterable[Take]) -> None:
    """Name the bones that actions turn in another way than their rotation mode is: Blender shows nothing of that."""
    found: dict[str, list[str]] = {}
    for take in takes:
        for role in take.roles:
            bones = getattr(role.owner.pose, "bones", {}) if role.owner.id_type == "OBJECT" else {}
            for name in _turned_otherwise(bones, role.curves) if bones else ():
                found.setdefault(name, []).append(take.action.name)
    if found:
        actions = list(dict.fromkeys(action for each in found.values() for action in each))
        text = (
            "actions turn bones by other channels than their rotation mode says (%s), which shows nothing, set that: %s"
        )
        log.warning(text, listed(sorted(found)), listed(actions))


def _turned_otherwise(bones: Any, curves: list[Any]) -> list[str]:
    """Return which bones curves turn by channels of other rotation modes alone."""
    turns: dict[str, set[str]] = {}
    for path in dict.fromkeys(curve.data_path for curve in curves):
        bone, _, channel = path.rpartition("].")
        if channel.startswith(TURNS):
            turns.setdefault(bone + "]", set()).add(channel)
    modes = {bone.path_from_id(): (bone.name, bone.rotation_mode) for bone in bones} if turns else {}
    return [
        modes[path][0]
        for path, channels in turns.items()
        if path in modes and MODES.get(modes[path][1], "rotation_euler") not in channels
    ]


def loose_actions(owners: list[Block]) -> list[Block]:
    """Return the actions that show frames of a model's keys, or pose its armature, and that nothing plays or keeps.

    Those of the model that `owners` (see `influences`) belong to; what any object moves by may be of anything.
    """
    holders: list[Block] = [*bpy.data.objects, *bpy.data.shape_keys]
    used = {action for holder in holders for action in used_actions(holder)}
    found: list[Block] = []
    for action in bpy.data.actions:
        parts = [] if action in used else action_parts(action)
        wanted = [(kind, curves) for _, kind, curves in parts if kind == "KEY" or poses(curves)]
        if any(kind in ("", owner.id_type) and _fits(owner, curves) for kind, curves in wanted for owner in owners):
            found.append(action)
    return found


def unplayed_actions(owners: list[Block]) -> list[Block]:
    """Return the loose actions of a model, and those that its keys and armatures keep in tracks and do not play."""
    holders = [owner for owner in owners if owner.id_type == "KEY" or getattr(owner, "type", "") == "ARMATURE"]
    playing = {None if owner.animation_data is None else owner.animation_data.action for owner in owners}
    stored = [action for owner in holders for action in used_actions(owner) if action not in playing]
    return [*loose_actions(owners), *dict.fromkeys(stored)]


def used_actions(owner: Block) -> list[Block]:
    """Return the actions that an ID keeps in its NLA tracks, and the one that it plays."""
    animation = owner.animation_data
    if animation is None:
        return []
    stored = [strip.action for track in animation.nla_tracks for strip in track.strips]
    return list(dict.fromkeys(action for action in (*stored, animation.action) if action is not None))


def own_motions(blocks: Iterable[Block], inside: Collection[Block]) -> None:
    """Give objects a copy of each action that they play with others than those `inside`."""
    movers: list[Block] = [block for block in bpy.data.objects if block.animation_data is not None]
    others = {block.animation_data.action for block in movers if block not in inside}
    made: dict[Block, Block] = {}
    for animation in (block.animation_data for block in blocks if block.animation_data is not None):
        action = animation.action
        if action is not None and action in others:
            made[action] = made.get(action) or action.copy()
            play_copy(animation, made[action])


def influences(block: Block) -> list[Block]:
    """Return the data-blocks whose curves can move an object: its own, its parents', its modifiers' and constraints'.

    Another object's shape counts only for modifiers, and for what hangs on its vertices.
    """
    shaped: dict[Block, bool] = {}
    waiting = [(block, True)]
    while waiting:
        current, by_shape = waiting.pop()
        if shaped.get(current, False) or (current in shaped and not by_shape):
            continue
        shaped[current] = by_shape
        if PART in current:  # a part moves in its own space
            continue
        if current.parent is not None:
            waiting.append((current.parent, current.parent_type.startswith("VERTEX")))
        bones = current.pose.bones if current.pose is not None else ()
        waiting += [(target, True) for modifier in current.modifiers for target in pointed_at(modifier)]
        constraints = [*current.constraints, *(c for bone in bones for c in bone.constraints)]
        held = [c for c in constraints if not c.mute]
        waiting += [(t, bool(getattr(c, "subtarget", ""))) for c in held for t in pointed_at(c)]
    return [owner for current, by_shape in shaped.items() for owner in _animated(current, by_shape)]


def moved_by(blocks: Iterable[Block]) -> list[Block]:
    """Return the data-blocks whose curves can move some objects; see `influences`."""
    return list(dict.fromkeys(owner for block in blocks for owner in influences(block)))


def pointed_at(thing: Any) -> list[Block]:
    """Return the objects that a modifier or a constraint points at."""
    pointers = [p.identifier for p in thing.bl_rna.properties if p.type == "POINTER"]
    found = [getattr(thing, name) for name in pointers] + [
        getattr(t, "target", None) for t in getattr(thing, "targets", ())
    ]
    return [target for target in found if isinstance(target, bpy.types.Object)]


def _animated(block: Block, by_shape: bool) -> list[Block]:
    keys = getattr(block.data, "shape_keys", None) if by_shape else None
    return [owner for owner in (block, block.data, keys) if owner is not None]


class _Claim(NamedTuple):
    """Why an object plays a part of an action."""

    strength: int  # see `compat.slot_claim`; 0: it could
    part: int


def _cast(action: bpy.types.Action, owners: list[Block]) -> list[Role]:
    """Return whom an action moves: who plays it, or did, or has a slot of that name; else those whom it fits."""
    parts = [(slot, kind, curves) for slot, kind, curves in action_parts(action) if curves]
    best: dict[Block, _Claim] = {}
    for index, (slot, kind, curves) in enumerate(parts):
        for owner in owners:
            if kind in ("", owner.id_type) and _fits(owner, curves):
                claim = _Claim(slot_claim(owner, action, slot), index)
                if owner not in best or claim.strength > best[owner].strength:
                    best[owner] = claim
    roles = []
    for index, (slot, kind, curves) in enumerate(parts):
        fitting = [owner for owner, claim in best.items() if claim.part == index]
        sure = [owner for owner in fitting if best[owner].strength]
        lone = sum(k == kind for _, k, _ in parts) == 1
        if fitting and fitting[0].id_type == "KEY":  # a model's surfaces move together
            sure = fitting if lone else sure
        elif not sure and lone:
            sure = fitting if poses(curves) else _foremost(action, fitting)
        roles += [Role(owner, slot, curves) for owner in sure]
    return roles


def poses(curves: list[Any]) -> bool:
    """Tell whether curves move bones."""
    return any(curve.data_path.startswith(POSE) for curve in curves)


def _fits(owner: Block, curves: list[Any]) -> bool:
    """Tell whether a data-block has what curves move: for poses an armature with one of the bones."""
    paths = [curve.data_path for curve in curves]
    if poses(curves):
        paths = [path for path in paths if path.startswith(POSE)]
    if owner.id_type == "KEY":
        paths = [path for path in paths if (path == "eval_time") != owner.use_relative]
    return any(has_path(owner, path) for path in dict.fromkeys(paths))


def has_path(owner: Block, path: str) -> bool:
    """Tell whether a data-block has what a path of curves says."""
    try:
        owner.path_resolve(path)
    except ValueError:
        return False
    return True


def _foremost(action: bpy.types.Action, fitting: list[Block]) -> list[Block]:
    """Return the one object that carries all others, or that alone is animated at all.

    Raises:
        LimitError: there is none such.
    """
    tops = [owner for owner in fitting if getattr(owner, "parent", None) not in fitting]
    moving = [owner for owner in fitting if owner.animation_data is not None]
    found = next((group for group in (tops, moving) if len(group) == 1), [])
    if fitting and not found:
        names = listed([owner.name for owner in tops])
        raise LimitError(f"action '{action.name}' may be meant for any of {names}: assign it to the one that it moves")
    return found


def _times(action: bpy.types.Action, roles: list[Role], frames: int) -> list[float]:
    """Return the whole frames of an action; see `spans`. One without any shows where it begins."""
    span = span_of(action, (curve for role in roles for curve in role.curves), frames)
    if span is None:
        return [float(action.frame_range[0])]
    warn_of_length(action, span.first_key, span.last_key, frames)
    return [float(time) for time in range(span.first_key, span.last_key + 1)]
