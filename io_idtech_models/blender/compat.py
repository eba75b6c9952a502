"""What differs between the Blenders that we support (4.2 LTS to 5.2 LTS): the only reader of `bpy.app.version`."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..reporting import LimitError

# Objects and data-blocks whose kind is known: the stubs make each of their pointers a union of everything it might be.
Block = Any
# A context, whose members the stubs take for optional: while an operator or a script runs they are there.
Context = Any
# Key blocks, vertex groups and bones hold 63 bytes on every version, ID names on those before 5.0.
NAME_BYTES = 63
# Actions hold curves for several data-blocks, in slots, from 4.4 on.
HAS_SLOTS = bpy.app.version >= (4, 4)
OBJECT_SLOT = "OB"  # what identifiers of objects' slots begin with, before their names
LEGACY = "Legacy Slot"  # what Blender calls the one slot of each action in a .blend from before 4.4
# The numbers that custom normals are stored as can be read from 4.5 on.
NORMAL_CODES = bpy.app.version >= (4, 5)
# Of properties that are paths. Presets that someone saves leave these alone, or they would import another file; that
# "//" is taken must be said from 4.5 on, and can't be before.
PATH_OPTIONS = {"SKIP_PRESET"} | ({"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5) else set[str]())


def read_normal_codes(mesh: Any) -> NDArray[np.int32] | None:
    """Return the two numbers that each corner's custom normal is stored as, packed into one, (C,), or None."""
    attribute = mesh.attributes.get("custom_normal") if NORMAL_CODES else None
    if attribute is None or (attribute.data_type, attribute.domain) != ("INT16_2D", "CORNER"):
        return None
    values = np.empty((len(mesh.loops), 2), np.int16)
    if values.size:
        attribute.data.foreach_get("value", values.ravel())
    return values.view(np.int32).ravel()


def refuse_tweak_mode(owner: Any) -> None:
    """Refuse an ID whose action can't be changed, as in the tweak mode of the NLA editor; raises LimitError."""
    if owner.animation_data is not None and owner.animation_data.use_tweak_mode:
        raise LimitError(f"'{owner.name}' is in the tweak mode of the NLA editor: leave it first")


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
    return slot_curves(action, slot)


def new_curves(action: Any, kind: str, slot_name: str) -> Any:
    """Return the collection of F-curves for data-blocks of a kind ("KEY") of a new action that none plays yet.

    From 4.4 on Blender gives a data-block the slot of the name that it played last: see `slot_name`.
    """
    if not HAS_SLOTS:
        action.id_root = kind
        return action.fcurves
    return slot_curves(action, action.slots.new(kind, slot_name))


def slot_curves(action: Any, slot: Any) -> Any:
    """Return the collection of F-curves of a slot (None before 4.4), to add or remove some."""
    return _bag(action, slot).fcurves


def slot_groups(action: Any, slot: Any) -> Any:
    """Return the collection of groups of a slot's F-curves (None before 4.4)."""
    return _bag(action, slot).groups


def _bag(action: Any, slot: Any) -> Any:
    """Return what holds F-curves of a slot, and their groups: before 4.4 the action."""
    if not HAS_SLOTS:
        return action
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip: Any = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def slot_name(owner: Any) -> str:
    """Return the name that makes a slot of another action the one that Blender chooses for an ID."""
    animation = owner.animation_data
    last = animation.last_slot_identifier if HAS_SLOTS and animation is not None else ""
    return str(last[2:] or owner.name)


def uses_nodes(material: Block) -> bool:
    """Tell whether a material shows its nodes: before 5.0 that can be turned off."""
    return bpy.app.version >= (5, 0) or bool(material.use_nodes)


def action_parts(action: Any) -> list[tuple[Any, str, list[Any]]]:
    """Return the slots of an action (None before 4.4), each with the kind of its IDs ("" = any) and its F-curves."""
    if not HAS_SLOTS:
        return [(None, action.id_root, list(action.fcurves))]
    strips = [strip for layer in action.layers for strip in layer.strips]
    parts = []
    for slot in action.slots:
        bags = (strip.channelbag(slot) for strip in strips)
        kind = "" if slot.target_id_type == "UNSPECIFIED" else slot.target_id_type
        parts.append((slot, kind, [curve for bag in bags if bag is not None for curve in bag.fcurves]))
    return parts


def slot_claim(owner: Any, action: Any, slot: Any) -> int:
    """Tell how sure it is that an ID plays a slot of an action: 3 plays it, 2 did, 1 has its name, 0 unknown."""
    animation = owner.animation_data
    played = [] if animation is None else [strip for track in animation.nla_tracks for strip in track.strips]
    if animation is not None and animation.action == action and (slot is None or animation.action_slot == slot):
        return 3
    if any(s.action == action and (slot is None or s.action_slot == slot) for s in played):
        return 2
    if slot is None:
        return 0
    if animation is not None and animation.last_slot_identifier == slot.identifier and not is_anothers(owner, slot):
        return 2
    return int(slot.target_id_type == owner.id_type and slot.identifier[2:] == owner.name)


def plays_others_curves(owner: Any) -> bool:
    """Tell whether an ID plays an action whose curves are of another kind of IDs: then it stands still.

    Blender before 4.4 keeps one slot of an action that a newer one has saved.
    """
    action = None if owner.animation_data is None else owner.animation_data.action
    return not HAS_SLOTS and action is not None and action.id_root not in ("", owner.id_type)


def is_anothers(owner: Any, slot: Any) -> bool:
    """Tell whether a slot with the name that all have in .blends from before 4.4 is played by others than an ID."""
    if slot is None or not slot.identifier[2:].startswith(LEGACY):
        return False
    return any(user != owner for user in slot.users())


def slot_label(slot: Any) -> str:
    """Return what Blender shows a slot as."""
    return str(slot.identifier[2:])


def played_action(owner: Any) -> tuple[Any, Any, str]:
    """Return the action and the slot that an ID with animation data plays, and the slot that it played last."""
    animation = owner.animation_data
    if not HAS_SLOTS:
        return animation.action, None, ""
    return animation.action, animation.action_slot, animation.last_slot_identifier


def play_action(owner: Any, action: Any, slot: Any, last_slot: str | None = None) -> None:
    """Make an ID with animation data play a slot of an action, or nothing; inverse of `played_action`.

    Raises:
        LimitError: its action can't be changed now: see `refuse_tweak_mode`.
    """
    refuse_tweak_mode(owner)
    animation = owner.animation_data
    animation.action = action
    if HAS_SLOTS and action is not None:
        animation.action_slot = slot
    if HAS_SLOTS and last_slot is not None:
        animation.last_slot_identifier = last_slot


def play(owner: Any, action: Any) -> None:
    """Make an ID with animation data play an action, in the first slot for its kind; raises LimitError."""
    refuse_tweak_mode(owner)
    owner.animation_data.action = action
    if HAS_SLOTS:
        owner.animation_data.action_slot = next(s for s in action.slots if s.target_id_type == owner.id_type)


def is_muted(curve: Any) -> bool:
    """Tell whether an F-curve is muted: before 4.4 also with its group, which from then on has no say."""
    return bool(curve.mute or (not HAS_SLOTS and curve.group is not None and curve.group.mute))


def prefer_slot(owner: Any, name: str) -> None:
    """Let Blender choose the slot of a name in whatever action is assigned to an ID with animation data."""
    if HAS_SLOTS:
        owner.animation_data.last_slot_identifier = OBJECT_SLOT + name


def fill_slot(strip: Any, action: Any) -> None:
    """Give an NLA strip that plays no slot the first of its action."""
    if HAS_SLOTS and strip.action_slot is None:
        strip.action_slot = next(iter(action.slots), None)


def strip_curves(strip: Any) -> list[Any]:
    """Return the F-curves that an NLA strip plays of its action."""
    slot = played_slot(strip)
    return next((curves for own, _, curves in action_parts(strip.action) if own == slot), [])


def played_slot(player: Any) -> Any:
    """Return the slot of its action that an ID's animation, or an NLA strip, plays; None before 4.4."""
    return player.action_slot if HAS_SLOTS else None


def play_copy(player: Any, action: Any) -> None:
    """Make an ID's animation, or an NLA strip, play a copy of its action, in the slot that it has there."""
    slot = played_slot(player)
    player.action = action
    if HAS_SLOTS:
        player.action_slot = None if slot is None else action.slots.get(slot.identifier)


def share_action(owner: Any, model: Any) -> None:
    """Make `owner` play the action, and the slot, that `model` (an ID of the same kind) plays; raises LimitError."""
    refuse_tweak_mode(owner)
    animation = owner.animation_data or owner.animation_data_create()
    animation.action = model.animation_data.action
    if HAS_SLOTS:
        animation.action_slot = model.animation_data.action_slot


def drop_action(owner: Any) -> None:
    """Let an ID play nothing, and remove what it played where nobody else does."""
    animation = owner.animation_data
    action: Any = None if animation is None else animation.action
    slot = None if animation is None else played_slot(animation)
    owner.animation_data_clear()
    if action is None:
        return
    if slot is not None and not slot.users():
        action.slots.remove(slot)
    elif not HAS_SLOTS and not action.users:
        bpy.data.actions.remove(action)


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
