"""Armatures that others follow, and whose actions these show: a rig of controls, and the one that a game gets.

An action is played by the armature that it is made for: the one that is exported, or, where that plays none of its
own, one that its bones follow. Whatever else has a slot of the same action (the target of a hand, a driver's holder)
plays along.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from . import names
from .compat import Block, action_parts, is_anothers, slot_claim
from .curves import moved_bones, playing_strips
from .empties import PREFIX
from .properties import EXPORT
from .provenance import TAG_INDEX, model_of
from .scene import bending
from .takes import Role, Take, influences, pointed_at, used_actions


def leaders(rig: Block) -> list[Block]:
    """Return the armatures that bones of an armature follow by constraints or drivers, and those that these do."""
    found: dict[Block, None] = {rig: None}
    for each in (waiting := [rig]):
        holds = (hold for bone in each.pose.bones for hold in bone.constraints if not hold.mute)
        targets = [target for hold in holds for target in pointed_at(hold)]
        drivers = () if each.animation_data is None else each.animation_data.drivers
        targets += [t.id for curve in drivers for v in curve.driver.variables for t in v.targets if t.id is not None]
        new = [target for target in dict.fromkeys(targets) if _is_rig(target) and target not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)[1:]


def controls(rigs: Iterable[Block]) -> set[Block]:
    """Return the objects by which bones of armatures are posed, or as which they are drawn: no game gets them.

    That is what their constraints point at, but for meshes, armatures, and what is called as a tag.
    """
    bones = [bone for rig in rigs for bone in rig.pose.bones]
    aims = {target for bone in bones for hold in bone.constraints for target in pointed_at(hold)}
    empties = {each for each in aims if each.type not in {"MESH", "ARMATURE"} and TAG_INDEX not in each}
    named = {each for each in empties if each.name.lower().startswith(PREFIX)}
    return (empties - named) | {bone.custom_shape for bone in bones if bone.custom_shape is not None}


def _is_rig(block: Block) -> bool:
    return bool(block.id_type == "OBJECT" and block.type == "ARMATURE")


def players(rig: Block) -> list[Block]:
    """Return the armatures whose actions are those of an armature: itself, and those it follows if it plays none.

    What an import put into muted tracks of it plays nothing, but with such it has no use for those of another model.
    """
    animation = rig.animation_data
    if animation is not None and (animation.action is not None or playing_strips(animation)):
        return [rig]
    found = leaders(rig)
    if found and used_actions(rig):
        models = other_models(rig)
        found = [each for each in found if each not in models]
    return [rig, *found]


def other_models(rig: Block) -> list[Block]:
    """Return which armatures that an armature follows are no controls of it: imported ones, or exported with meshes."""
    return [each for each in leaders(rig) if model_of(each) not in ("", model_of(rig)) or _was_exported(each)]


def _was_exported(rig: Block) -> bool:
    return EXPORT in rig and any(rig in bending(block) for block in bpy.data.objects if block.type == "MESH")


def slot_of(rig: Block, action: Block) -> Any:
    """Return the slot of an action that an armature plays, or would play; None where there are none."""
    slots = [slot for slot, kind, _ in action_parts(action) if kind in {"", "OBJECT"}]
    fitting = fitting_slots(rig, action) if len(slots) > 1 else []

    def rank(slot: Any) -> tuple[int, bool, bool]:
        return slot_claim(rig, action, slot), slot in fitting, not is_anothers(rig, slot)

    return max(slots, key=rank, default=None)


def fitting_slots(rig: Block, action: Block) -> list[Any]:
    """Return the slots of an action, if it has such, that move bones of an armature."""
    parts = [(s, curves) for s, kind, curves in action_parts(action) if s is not None and kind in {"", "OBJECT"}]
    return [s for s, curves in parts if any(bone in rig.data.bones for bone in moved_bones(curves))]


def fits(rig: Block, action: Block) -> bool:
    """Tell whether an action moves bones, and all of them are an armature's."""
    bones = moved_bones(curves_of(action, slot_of(rig, action)))
    return bool(bones) and all(bone in rig.data.bones for bone in bones)


def curves_of(action: Block, slot: Any) -> list[Any]:
    """Return the curves of an action's slot."""
    return next((found for own, _, found in action_parts(action) if own == slot), [])


def alone(rig: Block, action: Block | None, slot: Any) -> Take:
    """Return an action, or none, as an armature plays it and nothing else does."""
    curves = [] if action is None else curves_of(action, slot)
    return Take("", action, [Role(rig, slot, curves)], [])  # type: ignore[arg-type]  # the stub knows no None


def cast(rig: Block, action: Block) -> Take:
    """Return an action as it is played for an armature: by itself or whom it follows, and by all that has a slot."""
    lead = _lead(rig, action)
    take = alone(lead, action, slot_of(lead, action))
    parts = [part for part in action_parts(action) if part[0] is not None]
    for owner in influences(rig) if len(parts) > 1 else ():
        for slot, kind, curves in parts if owner not in (lead, rig) else ():
            if kind in ("", owner.id_type) and slot_claim(owner, action, slot):
                take.roles.append(Role(owner, slot, curves))
                break
    return take


def _lead(rig: Block, action: Block) -> Block:
    """Return the armature that plays an action: who is known to; else the one asked for, if it came with that.

    Else one that is animated, or still the one asked for.
    """
    able = players(rig)
    every = [each for each in able if fits(each, action)]
    claims = {each: slot_claim(each, action, slot_of(each, action)) for each in every}
    if len(able) > 1 and any(claims.values()):
        return max(every, key=claims.__getitem__)
    animated = [each for each in every if each != rig and used_actions(each)]
    return animated[0] if animated and names.GIVEN not in action else rig
