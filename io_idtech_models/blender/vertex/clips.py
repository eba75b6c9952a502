"""Named animations in Blender: actions over a model's keys, and markers on the timeline of the whole.

An import assigns one action that plays all frames, the whole, and beside it makes an action for each animation, which
starts at scene frame 0 and is assigned to nothing: a fake user keeps it. All of them carry the model's id, so that
export finds what belongs to the model; a copy that a modder makes of one carries it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import bpy

from ...model.clips import Clip
from ...reporting import LimitError, listed
from .. import names, spans
from ..compat import Block, action_parts, new_curves, slot_curves, slot_name
from ..curves import same_curves
from ..properties import TIMES, show
from ..provenance import MODEL_ID, animations_id
from . import shape_keys

WHOLE = "idtech_whole"  # on the action that plays all frames
UNNAMED = "frames"  # what an animation without a name is called


def label(name: str) -> str:
    """Return what an animation is called in Blender."""
    return names.fit(name) or UNNAMED


def make_actions(keys: list[Block], animations: list[Clip], model_id: str) -> list[bpy.types.Action]:
    """Make an action for each animation, over the shape keys that a model's surfaces have in common.

    Call it when the whole is assigned: Blender chooses the slot of that name when someone assigns one of these to any
    of the `keys`. Each lasts from scene frame 0 to its number of frames - 1.
    """
    if not keys:
        return []
    lead = keys[0]
    whole = None if lead.animation_data is None else lead.animation_data.action
    if whole is not None:
        whole[WHOLE], whole[MODEL_ID] = True, model_id
        whole.use_fake_user = whole.use_fake_user or bool(animations)  # for when another is assigned
    return [make_action(lead, animation, model_id) for animation in animations]


def make_action(lead: Block, animation: Clip, model_id: str) -> bpy.types.Action:
    """Make the action of an animation over a model's shape keys; see `make_actions`."""
    action = bpy.data.actions.new(label(animation.name))
    curves = new_curves(action, "KEY", slot_name(lead))
    shape_keys.add_stretch(curves, lead, animation.first, animation.count)
    action.use_fake_user = True
    spans.set_range(action, 0, animation.count - 1)
    names.remember(action, animation.name)
    action[MODEL_ID] = model_id
    if animation.times:
        show(action, TIMES, list(animation.times))
    return action


def mark(scene: bpy.types.Scene, animations: list[Clip], start: int = 0) -> None:
    """Put a marker where each animation begins on the timeline of the whole, whose first frame is at `start`."""
    present = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    for animation in animations:
        wanted = label(animation.name), start + animation.first
        if wanted not in present:
            scene.timeline_markers.new(wanted[0], frame=wanted[1]).select = False  # which nobody has chosen


def shift_markers(scene: bpy.types.Scene, homes: Collection[tuple[str, int]], shifts: Iterable[int], to: int) -> None:
    """Move a model's markers, which stand at its frames of `homes` moved by one of some `shifts`, or none, to another.

    Those that someone has moved stand elsewhere, and stay.
    """
    there = Counter((marker.name, marker.frame) for marker in scene.timeline_markers)
    by = max((0, *shifts), key=lambda shift: sum((name, frame + shift) in there for name, frame in homes))
    for marker in scene.timeline_markers if by != to else ():
        if (marker.name, marker.frame - by) in homes:
            marker.frame += to - by


def model_ids(blocks: list[Block], collection: bpy.types.Collection | None) -> set[str]:
    """Return the ids that the animations of mesh objects have, and of their collection where none came with that."""
    holders = [block.data for block in blocks]
    if collection is not None and all(holder.get(MODEL_ID) != collection.get(MODEL_ID) for holder in holders):
        holders.append(collection)
    return {found for found in map(animations_id, holders) if isinstance(found, str) and found}


def model_actions(ids: set[str], whole: bool = False) -> list[bpy.types.Action]:
    """Return the actions of models, by their ids: not those that nothing holds.

    Only if `whole` also those that play all frames, and those that are as the one they are copied from.
    """
    found = [action for action in bpy.data.actions if action.users and action.get(MODEL_ID) in ids]
    if whole:
        return found
    own = [action for action in found if not action.get(WHOLE)]
    return [action for action in own if copied_from(action, own) is None]


def copied_from(action: bpy.types.Action, others: Iterable[bpy.types.Action]) -> bpy.types.Action | None:
    """Return which of some others an action was before Blender copied it along with a mesh that plays it.

    None where it is none's copy, or was edited since: then it is an animation of its own. A fake user tells nothing: it
    goes over to the copy where a custom property points at the action, as one of an armature's does.
    """
    stem = names.stem_of(action.name)
    if stem == action.name:
        return None
    curves, known = [own for _, _, own in action_parts(action)], (stem, action.get(names.GIVEN))
    place = names.place_among_copies(action.name)
    for other in others:
        is_before = names.place_among_copies(other.name) < place
        if is_before and (names.stem_of(other.name), other.get(names.GIVEN)) == known:
            theirs = [own for _, _, own in action_parts(other)]
            if len(theirs) == len(curves) and all(map(same_curves, curves, theirs)):
                return other
    return None


def rename_paths(actions: list[bpy.types.Action], paths: dict[str, str]) -> None:
    """Let curves of actions move what has other data paths now."""
    for action in actions:
        for _, kind, curves in action_parts(action):
            for curve in curves if kind in ("", "KEY") else ():
                curve.data_path = paths.get(curve.data_path, curve.data_path)


def find_actions(
    asked: str | Sequence[str], ids: set[str], keep_suffixes: bool = False, others: Iterable[bpy.types.Action] = ()
) -> list[bpy.types.Action]:
    """Return the actions of the names that are asked for, see `names.called`; all of the models' if there is none.

    Of models that brought none these are the `others`. A name is the one that a models' own action has in the file, or
    the one that any action has in Blender.

    Raises:
        LimitError: no action has one of the names, or there is none at all.
    """
    own = model_actions(ids)
    wanted = names.called(asked)
    every = own or list(others)
    if not wanted and not every:
        raise LimitError("no action to export: this model has none of its own; name those that you want")
    known = {names.file_name_of(action, keep_suffixes): action for action in reversed(own)}
    found = [known.get(name) or bpy.data.actions.get(name) for name in wanted]
    missing = [name for name, action in zip(wanted, found, strict=True) if action is None]
    if missing:
        raise LimitError(f"no action is called {listed(missing)}")
    return [action for action in found if action is not None] or every


def rewrite(
    keys: Block, ids: set[str], old_names: list[str], order: list[int], new_names: list[str], copies: range = range(0)
) -> None:
    """Adapt the action that plays the keys, and all of the models', to a new list of frames; see `shape_keys.rewrite`.

    An animation that has no frame left goes. The places of `copies` are no animation's but that of all frames.
    """
    apart = without_copies(order, copies)
    own = [action for action in bpy.data.actions if action.get(MODEL_ID) in ids]
    playing = [] if keys.animation_data is None else [keys.animation_data.action]
    for action in dict.fromkeys(action for action in (*own, *playing) if action is not None):
        frames = order if action in playing or action.get(WHOLE) else apart
        for slot, kind, curves in action_parts(action):
            if kind not in ("", keys.id_type) or not curves:
                continue
            collection = slot_curves(action, slot)
            count = shape_keys.reorder_curves(collection, keys.use_relative, old_names, frames, new_names)
            if count > 0:
                spans.resize(action, count)
            if count == 0 and action in own:
                bpy.data.actions.remove(action)
                break


def without_copies(order: list[int], copies: range) -> list[Any]:
    """Return an order of frames for animations that the `copies` are none of: there it has no frame's number."""
    return [order[copies.start - 1] + 0.5 if place in copies else f for place, f in enumerate(order)]


def move_markers(scene: bpy.types.Scene, count: int, order: list[int]) -> None:
    """Move markers on the timeline of the whole, of `count` frames, along with the frames that they stand at."""
    places = {frame: place for place, frame in reversed(list(enumerate(order)))}
    for marker in scene.timeline_markers:
        if 0 <= marker.frame < count:
            later = (place for place, frame in enumerate(order) if frame >= marker.frame)
            marker.frame = places.get(marker.frame, next(later, len(order)))
