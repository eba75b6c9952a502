"""Frames of a model, inserted and deleted, and changes of one applied to others.

Of a player what follows moves on, in the models of all parts, their levels of detail and rows. Rows BOTH_ have the same
numbers in legs and torso: a frame among them, or before them, is inserted in both.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ..blender import names
from ..blender.compat import Block, Context
from ..blender.player.parts import PlayerFound, find_player, is_copied
from ..blender.player.rows import give_own, read_row, rows_of, show_all, show_row
from ..blender.provenance import PART
from ..blender.roots import bone_root, poses_parts, root_of
from ..blender.scene import scenes_of
from ..blender.vertex import edit_frames, source
from ..blender.vertex.shape_keys import frame_blocks, num_before
from ..blender.vertex.shown_keys import has_frames, shown_key
from ..blender.vertex.spread import Spread, spread
from ..game.player.animation_cfg import LOWER, UPPER
from ..game.player.animation_edits import GESTURE, WALKCR, check_begin, shifted
from ..model.clips import Clip
from ..reporting import LimitError, collected_warnings, joined
from .animations.find import animations_of
from .animations.vertex import fill_gaps, leading_model
from .export.selection import Choice, choose, part_of
from .import_.dressing import rate_of
from .player.play import BOTH, last_frame, num_frames, whole
from .player.tables import blank, table_of

STARTS = {LOWER: "LEGS_", UPPER: "TORSO_"}


def edit(context: Context, inserts: bool) -> str:
    """Insert a copy of the present frame behind it in the active object's model, or delete it; returns what was done.

    Raises:
        LimitError: it is the only frame, or the model is linked.
    """
    active, scene = context.view_layer.objects.active, context.scene
    fill_gaps(context)
    player, root = find_player(active), _root_meant(active)
    if player is not None and root is not None:
        if is_copied(player):
            give_own(player.identity, list(player.parts.values()))
        return edit_player(player, root, inserts, context)
    leading = None if active is None else leading_model(context, active)
    chosen = leading or choose(context, "AUTO")
    chosen.keep_apart(context)
    model, animations = edit_frames.model_frames(chosen.whole, chosen.collection, scene), animations_of(context)
    with nullcontext() if animations is None else animations.markers_at_home():
        if inserts:
            edit_frames.insert(model, model.current)
        else:
            edit_frames.delete(model, model.current)
    if inserts:
        scene.frame_set(scene.frame_current + 1)
    else:
        scene.frame_set(min(scene.frame_current, max(scene.frame_end, scene.frame_start)))
    return _said(model.current, inserts)


def _said(frame: int, inserts: bool, parts: Iterable[str] = ()) -> str:
    where = f" of {' and '.join(parts)}" if parts else ""
    return f"frame {frame + 1}{where} is a copy of frame {frame}" if inserts else f"frame {frame}{where} is deleted"


def _root_meant(active: Block | None) -> Block | None:
    """Return the root of the part whose frames an object stands for: of a rig of several that of the active bone."""
    bone = active.data.bones.active if active is not None and poses_parts(active) else None
    while active is not None and bone is not None:
        shown = bone_root(active.pose.bones[bone.name])
        if shown is not None:
            return shown
        bone = bone.parent
    return root_of(active)


@dataclass(frozen=True)
class Change:
    """Which frames are to change, and how; the operator declares the same options."""

    frames: str  # ANIMATION, ALL or RANGE
    first: int
    last: int
    falloff: str
    selected_only: bool
    all_surfaces: bool


def hold_still(edited: list[Block], selected_only: bool) -> int:
    """Let vertices of meshes with frames stand in all of these where they stand now; returns how many.

    Raises:
        LimitError: a mesh is linked.
    """
    meshes = edit_frames.one_of_each_mesh(list(filter(has_frames, edited)))
    for block in meshes:
        edit_frames.refuse_linked_mesh(block)
    return sum(edit_frames.hold_still(block, selected_only) for block in meshes)


def apply(context: Context, edited: list[Block], wanted: Change, editing: bool) -> str:
    """Apply what changed in the present frame of meshes, or of all surfaces of their model, to other frames.

    The first of those that are `edited` together is the active one.

    The present frame is that of the active shape key while someone edits it, else the one that shows. Returns what was
    done, in words.

    Raises:
        LimitError: no frame shows alone, there is none in the range, or a mesh is linked.
    """
    chosen = choose(context, "AUTO")
    active, whole = edited[0], edit_frames.one_of_each_mesh([block for block in chosen.whole if has_frames(block)])
    meshes = whole if wanted.all_surfaces else edit_frames.one_of_each_mesh(list(filter(has_frames, edited)))
    for block in meshes:
        edit_frames.refuse_linked_mesh(block)
    known = source.find(chosen.collection, [block.data for block in whole])
    present = _present(active, editing)
    count = len(frame_blocks(active.data.shape_keys))
    frames = _frames(context, wanted, present, count)
    how = Spread(present, frames, wanted.falloff, wanted.selected_only)
    with collected_warnings() as warnings:
        moved = [spread(block, known, how) for block in meshes]
    counts = [each for each in moved if each is not None]
    if len(counts) < len(moved):
        return (
            "nothing tells where the vertices of this frame were: it is remembered now, "
            "so move them and use Apply Change to Frames again"
        )
    total = sum(counts)
    if not total:
        which = "of the selected vertices " if wanted.selected_only else ""
        return joined([f"none {which}was moved in this frame since its change was applied", *warnings])
    return joined([f"vertices moved in frames {frames.start} to {frames.stop - 1}: {total}", *warnings])


def _present(active: Block, editing: bool) -> int:
    keys: Any = active.data.shape_keys
    number = (active.active_shape_key_index if editing else shown_key(keys)) - num_before(keys)
    if number < 0:
        raise LimitError("no frame shows alone: go to the frame that you changed")
    return int(number)


def _frames(context: Context, wanted: Change, present: int, count: int) -> range:
    """Return the frames that are meant, as the model counts."""
    if wanted.frames == "RANGE":
        found = range(max(wanted.first, 0), min(wanted.last, count - 1) + 1)
        if not found:
            raise LimitError(f"there is no frame from {wanted.first} to {wanted.last}: the model has 0 to {count - 1}")
        return found
    animations = animations_of(context) if wanted.frames == "ANIMATION" else None
    rows = [] if animations is None else animations.own_rows()
    around = [row for row in rows if row.first <= present <= row.last < count]
    if animations is not None:
        playing = animations.playing_row(rows)
        around.sort(key=lambda row: (row is not playing, row.length))
    return range(around[0].first, around[0].last + 1) if around else range(count)


def edit_player(player: PlayerFound, root: Block, inserts: bool, context: Context) -> str:
    """Insert a copy of the frame that a part shows behind it, or delete it; returns what was done.

    Raises:
        LimitError: it is the only one, the player is linked, or legs and torso would no longer begin at one number.
    """
    kind, scene = str(root[PART]), context.scene
    shown = part_of(context, root)
    place = edit_frames.model_frames(shown.whole, shown.collection, scene).current
    counts = {part: num_frames(own) for part, own in player.parts.items()}
    wholes = {part: whole(player, own) for part, own in player.parts.items()}
    rows = present_rows(player, context)
    kinds = [kind]
    before = any(row.name.startswith(BOTH) and row.last >= place for _, row in rows)
    if kind in STARTS and (before or any(row.name in (GESTURE, WALKCR) and place < row.first for _, row in rows)):
        kinds = [part for part in (LOWER, UPPER) if place < counts.get(part, 0)]
    if not inserts and any(counts[part] == 1 for part in kinds):
        raise LimitError("the model's only frame can't be deleted")
    every = [other for _, other in rows]
    played = [root.animation_data.action for root in player.parts.values() if root.animation_data is not None]
    touched = [(action, row) for action, row in rows if not set(kinds).isdisjoint(row.parts)]
    wanted = [(action, shifted(row, place, inserts, every, action in played)) for action, row in touched]
    check_begin({row.name: row.first for _, row in wanted}, {row.name: row.first for row in every})
    models = [choice for part in kinds for choice in _models(player, part, context)]
    found = [edit_frames.model_frames(each.whole, each.collection, scene) for each in models]
    for model in found:
        edit_frames.refuse_linked_frames(model)
    for model in found:
        (edit_frames.insert if inserts else edit_frames.delete)(model, place)
    rate, ends = rate_of(scene), (0, last_frame(player))
    fitting = [s for s in scenes_of(player.parts.values(), scene) if (s.frame_start, s.frame_end) == ends]
    moved = {part: counts[part] + (1 if inserts else -1) for part in kinds}
    for action, row in wanted:
        present = counts | moved
        show_row(action, row, rate, max(present[part] for part in row.parts if part in present))
    for part in kinds:
        own = wholes[part]
        if own is not None:
            show_all(own, moved[part])
    for each in fitting:
        each.frame_end = last_frame(player)
    if player.parts[kind].animation_data is not None and player.parts[kind].animation_data.action == wholes[kind]:
        scene.frame_set(min(place + (1 if inserts else 0), moved[kind] - 1))
    return _said(place, inserts, [names.file_name_of(player.parts[part]) for part in kinds])


def present_rows(player: PlayerFound, context: Context) -> list[tuple[Any, Clip]]:
    """Return the actions of a player's rows, those of the table and new ones, each with what it shows now."""
    actions = rows_of(player.identity, list(player.parts.values()))
    table = table_of(player)
    known = {} if table is None else {clip.name: clip for clip in table.clips}
    rate = rate_of(context.scene)
    return [(action, read_row(action, known.get(name) or blank(name), rate)) for name, action in actions.items()]


def _models(player: PlayerFound, part: str, context: Context) -> list[Choice]:
    """Return a part's model, and its levels of detail, which have as many frames."""
    levels = [c for (kind, _), c in sorted(player.levels.items()) if kind == part]
    own = part_of(context, player.parts[part])
    own.keep_apart(context)
    return [own, *(choose(context, "AUTO", level.name) for level in levels)]
