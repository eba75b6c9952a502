"""Armatures that were made of a model's frames: how they are known, and which of their actions go with the keys'.

The shape keys of such a model hold what its bones don't say, at rest; the armature behind them makes the frames of it.
So bones move points as keys do: what is true of edited keys is true of posed bones. The armature plays one action that
shows all frames, the whole, and keeps one for each animation, which plays along with that of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from . import names
from .compat import HAS_SLOTS, Block, action_parts, played_slot, slot_label
from .curves import playing_strips

# On an armature: it was made of frames, and the id of the rig; on its actions, and on keys: whose they are.
RIG = "idtech_rig"
RIG_WHOLE = "idtech_rig_whole"  # on the action that shows all frames
RIG_ALL = "idtech_rig_all"  # on the action of an animation: the one that shows all frames
RIG_KEYS = "idtech_rig_keys"  # on such an action: the one that plays the keys along with it
CLIP = "idtech_rig_clip"  # on such an action: which it is, whatever it is called; copies have the first one's
GONE = "the action that poses all frames of '%s' is gone, and with it the poses"
NEAR = 1e-4  # of a frame
MODIFIER = "Rig"
TAGS = "Tags"  # the collection of the bones that tags became
NO_TAG = "idtech_no_tag"  # on these bones: what they were called when they were made


def is_frame_rig(block: Block | None) -> bool:
    """Tell whether an object is an armature that was made of frames."""
    return block is not None and block.type == "ARMATURE" and bool(rig_id(block))


def rig_id(block: Block) -> str:
    """Return the id of an armature that was made of frames, or ""."""
    found = None if block.data is None else block.data.get(RIG)
    return found if isinstance(found, str) else ""


def note_tag(bone: Any) -> None:
    """Note of a bone that it was made for a tag: it is none itself, whatever becomes of the tag's empty."""
    bone[NO_TAG] = bone.name


def bones_of_tags(rig: Block) -> set[str]:
    """Return the bones that were made for tags; copies of them under other names are none.

    Version 1.0.0 did not note them: in its armatures they are those of the collection.
    """
    if not is_frame_rig(rig):
        return set()
    noted = {bone.name: bone[NO_TAG] for bone in rig.data.bones if NO_TAG in bone}
    group = rig.data.collections.get(TAGS)
    if not noted and group is not None:
        return {bone.name for bone in group.bones}
    return {name for name, given in noted.items() if name == given}


def modifier_of(block: Block) -> Any:
    """Return the modifier by which an armature that was made of frames poses a mesh, or None."""
    keys = None if block.type != "MESH" else block.data.shape_keys
    if keys is None or keys.use_relative:  # another mesh, hung on it later
        return None
    return next((m for m in block.modifiers if m.type == "ARMATURE" and is_frame_rig(m.object)), None)


def rig_of(block: Block) -> Block | None:
    """Return the armature, made of its frames, that poses a mesh, or None."""
    modifier = modifier_of(block)
    return None if modifier is None else modifier.object


def is_bereft(block: Block) -> bool:
    """Tell whether a mesh's keys hold what a rig left of their frames, and no armature poses it any more."""
    keys = None if block.type != "MESH" else block.data.shape_keys
    return keys is not None and bool(keys.get(RIG)) and not keys.use_relative and modifier_of(block) is None


def bind(block: Block, rig: Block) -> None:
    """Let an armature pose a mesh, before its other modifiers."""
    modifier: Any = block.modifiers.new(MODIFIER, "ARMATURE")
    modifier.object = rig
    block.modifiers.move(len(block.modifiers) - 1, 0)


def bind_again(rig: Block) -> list[Block]:
    """Let an armature pose the meshes again that it was made of, and that lost their modifiers; returns these."""
    every: list[Block] = list(bpy.data.objects)
    found = [block for block in every if is_bereft(block) and block.data.shape_keys[RIG] == rig_id(rig)]
    found = [] if twins_of(rig) else found  # whose they are nobody knows
    for block in found:
        bind(block, rig)
    return found


def is_posed_alone(block: Block) -> bool:
    """Tell whether an armature that was made of its frames is all that changes a mesh."""
    shown = [modifier for modifier in block.modifiers if modifier.show_viewport]
    return len(shown) == 1 and shown[0] == modifier_of(block)


def rigs_of(blocks: list[Block]) -> list[Block]:
    """Return the armatures, made of their frames, that pose some meshes."""
    found = [rig_of(block) for block in blocks if block.type == "MESH"]
    return list(dict.fromkeys(rig for rig in found if rig is not None))


def posed_by(rig: Block) -> list[Block]:
    """Return the meshes that an armature poses which was made of their frames."""
    return [block for block in bpy.data.objects if block.type == "MESH" and rig_of(block) == rig]


def rig_actions(rig: Block) -> list[Block]:
    """Return an armature's actions: the one that shows all frames, and those of animations, no copies of them."""
    whole = whole_of(rig)
    if whole is None:
        return []
    return [whole, *no_copies(action for action in bpy.data.actions if action.get(RIG_ALL) == whole)]


def no_copies(clips: Iterable[Block]) -> list[Block]:
    """Return those of an armature's actions of animations that are no copies of others."""
    found: dict[Any, Block] = {}  # of before the first ones were noted they go by what they play along with
    every = {clip.name: clip for clip in clips}
    own = [clip for clip in every.values() if not _is_copy(clip, every.get(str(clip.get(names.GIVEN))))]
    for clip in sorted(own, key=names.is_renamed):
        found.setdefault(clip.get(CLIP) or (clip.get(RIG_KEYS), clip.get(names.SOURCE)), clip)
    return [*found.values()]


def _is_copy(clip: Block, other: Block | None) -> bool:
    """Tell whether a clip is a copy of the one that has the name which it was given, and still is what it was."""
    return other is not None and other != clip and not names.is_renamed(other)


def whole_of(rig: Block) -> Block | None:
    """Return the action that shows all frames, if there is one: of copies the one that clips are of.

    Of a copy of an armature, which has none yet, that is what it plays, or what a clip that it plays is of.
    """
    own, playing = rig_id(rig), None if rig.animation_data is None else rig.animation_data.action
    mine = [action for action in bpy.data.actions if own and action.get(RIG) == own]
    found = [action for action in mine if action.get(RIG_WHOLE)]
    if len(found) < 2:
        return found[0] if found else None
    known = set() if is_copy(rig) else {action.get(RIG_ALL) for action in mine}
    played = (playing, None if playing is None else playing.get(RIG_ALL))
    return min(found, key=lambda each: (each not in known, each not in played, names.is_renamed(each)))


def is_copy(rig: Block) -> bool:
    """Tell whether an armature that was made of frames is a copy (Shift+D): what it is one of may be gone."""
    return names.stem_of(rig.data.name) != rig.data.name or bool(twins_of(rig))


def twins_of(rig: Block) -> list[Block]:
    """Return the other armatures that a copy was made of, or that are its copies: they have actions in common."""
    every: list[Block] = list(bpy.data.objects)
    return [block for block in every if block != rig and is_frame_rig(block) and rig_id(block) == rig_id(rig)]


def pose_part(action: Block) -> tuple[Any, list[Any]]:
    """Return the slot (None before 4.4) and the curves of an action that pose an armature: the first that has some."""
    fitting = [(slot, curves) for slot, kind, curves in action_parts(action) if kind in ("", "OBJECT")]
    return next((each for each in fitting if each[1]), fitting[0] if fitting else (None, []))


def plays_another(rig: Block) -> Block | None:
    """Return the action that an armature plays if it is none of its own."""
    playing = None if rig.animation_data is None else rig.animation_data.action
    return None if playing is None or playing in rig_actions(rig) else playing


def played_beside(rig: Block) -> str:
    """Return that an armature plays what is no animation of its model, in words: "" where it plays none else."""
    other, animation = plays_another(rig), rig.animation_data
    if other is not None:
        return f"'{rig.name}' plays '{other.name}', which is no animation of its model"
    strips = playing_strips(animation)
    if animation is None or animation.action is None:
        whole = whole_of(rig)
        return f"'{rig.name}' plays strips" if any(not _shows_all(strip, whole) for strip in strips) else ""
    slot = played_slot(animation)
    if HAS_SLOTS and slot != pose_part(animation.action)[0]:
        which = "no slot" if slot is None else f"the slot '{slot_label(slot)}'"
        return f"'{rig.name}' plays {which} of '{animation.action.name}'"
    blends = animation.action_blend_type != "REPLACE" or animation.action_influence < 1.0
    return f"'{rig.name}' plays strips beside '{animation.action.name}'" if strips and blends else ""


def _shows_all(strip: Any, whole: Block | None) -> bool:
    """Tell whether an NLA strip plays the action of all frames as it is."""
    if strip.action is None or strip.action != whole or strip.blend_type != "REPLACE" or strip.use_animated_time:
        return False
    in_place = abs(strip.frame_start - strip.action_frame_start) < NEAR and abs(strip.scale - 1.0) < NEAR
    blends = strip.use_animated_influence or strip.blend_in or strip.blend_out
    return in_place and not (strip.use_reverse or blends)


def kept_beside(rig: Block) -> list[Block]:
    """Return the actions that an armature keeps in muted tracks and that are no animations of its model, as copies."""
    if rig.animation_data is None or whole_of(rig) is None:
        return []
    kept = [strip.action for track in rig.animation_data.nla_tracks if track.mute for strip in track.strips]
    own = rig_actions(rig)
    return [action for action in dict.fromkeys(kept) if action is not None and action not in own]


def partner_of(rig: Block, action: Block | None) -> Block | None:
    """Return what an armature plays along with an action of the keys; None if that is none that it knows."""
    return next((each for each in rig_actions(rig) if action is not None and each.get(RIG_KEYS) == action), None)
