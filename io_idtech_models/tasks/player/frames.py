"""Frames of a player's parts, inserted and deleted: what follows moves on, in models, levels of detail and rows.

Rows BOTH_ have the same numbers in legs and torso: a frame among them, or before them, is inserted in both.
"""

from __future__ import annotations

from typing import Any

from ...blender.compat import Block, Context
from ...blender.player.parts import PlayerFound
from ...blender.player.rows import read_row, rows_of, show_all, show_row
from ...blender.provenance import PART
from ...blender.vertex import edit_frames
from ...game.player.animation_cfg import LOWER, UPPER, Row
from ...game.player.animation_edits import GESTURE, WALKCR, check_begin, shifted
from ...model.clips import Clip
from ...reporting import LimitError
from ..export.selection import Choice, choose, part_of
from ..import_.dressing import rate_of
from .play import BOTH, num_frames, whole
from .tables import ADDED_RATE, table_of

STARTS = {LOWER: "LEGS_", UPPER: "TORSO_"}


def edit(player: PlayerFound, root: Block, inserts: bool, context: Context) -> None:
    """Insert a copy of the frame that a part shows behind it, or delete it.

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
    wanted = [(a, shifted(row, place, inserts, every)) for a, row in rows if not set(kinds).isdisjoint(row.parts)]
    check_begin({row.name: row.first for _, row in wanted}, {row.name: row.first for row in every})
    models = [choice for part in kinds for choice in _models(player, part, context)]
    found = [edit_frames.model_frames(each.whole, each.collection, scene) for each in models]
    for model in found:
        edit_frames.refuse_linked(model)
    for model in found:
        (edit_frames.insert if inserts else edit_frames.delete)(model, place)
    rate = rate_of(scene)
    moved = {part: counts[part] + (1 if inserts else -1) for part in kinds}
    for action, row in wanted:
        present = counts | moved
        show_row(action, row, rate, max(present[part] for part in row.parts if part in present))
    for part in kinds:
        own = wholes[part]
        if own is not None:
            show_all(own, moved[part])
    if player.parts[kind].animation_data is not None and player.parts[kind].animation_data.action == wholes[kind]:
        scene.frame_set(min(place + (1 if inserts else 0), moved[kind] - 1))


def present_rows(player: PlayerFound, context: Context) -> list[tuple[Any, Clip]]:
    """Return the actions of a player's rows, those of the table and new ones, each with what it shows now."""
    actions = rows_of(player.identity, list(player.parts.values()))
    table = table_of(player)
    known = {} if table is None else {clip.name: clip for clip in table.clips}
    rate = rate_of(context.scene)
    return [(action, read_row(action, known.get(name) or _blank(name), rate)) for name, action in actions.items()]


def _blank(name: str) -> Clip:
    """Return a row that no table has."""
    return Clip(name, 0, 1, ADDED_RATE, parts=tuple(sorted(Row(name, 0, 1, 0, 1.0).parts)))


def _models(player: PlayerFound, part: str, context: Context) -> list[Choice]:
    """Return a part's model, and its levels of detail, which have as many frames."""
    levels = [c for (kind, _), c in sorted(player.levels.items()) if kind == part]
    return [part_of(context, player.parts[part]), *(choose(context, "AUTO", level.name) for level in levels)]
