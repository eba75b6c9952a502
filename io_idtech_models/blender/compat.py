"""What differs between the Blenders that we support (4.2 LTS to 5.2 LTS): the only reader of `bpy.app.version`."""

from __future__ import annotations

from typing import Any

import bpy

# Objects and data-blocks whose kind is known: the stubs make each of their pointers a union of everything it might be.
Block = Any
# A context, whose members the stubs take for optional: while an operator or a script runs they are there.
Context = Any
# Key blocks, vertex groups and bones hold 63 bytes on every version, ID names on those before 5.0.
NAME_BYTES = 63
# Actions hold curves for several data-blocks, in slots, from 4.4 on.
HAS_SLOTS = bpy.app.version >= (4, 4)
# Properties that take "//" paths must say so from 4.5 on, and can't before.
RELATIVE_PATHS: set[str] = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5) else set()


def curves_for(action: bpy.types.Action, owner: Any, slot_name: str) -> Any:
    """Make `owner` (any ID) play its own slot of `action`; return that slot's collection of F-curves.

    Before 4.4 an action has no slots: the caller gives each kind of data-block an action of its own.
    """
    animation = owner.animation_data or owner.animation_data_create()
    animation.action = action
    if not HAS_SLOTS:
        return action.fcurves
    slot = action.slots.new(owner.id_type, slot_name)
    animation.action_slot = slot
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip: Any = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def share_action(owner: Any, model: Any) -> None:
    """Make `owner` play the action, and the slot, that `model` (an ID of the same kind) plays."""
    animation = owner.animation_data or owner.animation_data_create()
    animation.action = model.animation_data.action
    if HAS_SLOTS:
        animation.action_slot = model.animation_data.action_slot


def playing_curves(owner: Any) -> list[Any]:
    """Return the F-curves of the action that an ID plays; none if it plays none."""
    animation = owner.animation_data
    if animation is None or animation.action is None:
        return []
    if not HAS_SLOTS:
        return list(animation.action.fcurves)
    slot = animation.action_slot
    if slot is None:
        return []
    bags = (strip.channelbag(slot) for layer in animation.action.layers for strip in layer.strips)
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def curve_collection(owner: Any) -> Any:
    """Return the collection that holds the F-curves an ID plays (to add or remove some), or None."""
    animation = owner.animation_data
    if animation is None or animation.action is None:
        return None
    if not HAS_SLOTS:
        return animation.action.fcurves
    bags = [s.channelbag(animation.action_slot) for layer in animation.action.layers for s in layer.strips]
    return next((bag.fcurves for bag in bags if bag is not None), None)
