"""Frames of a player's parts, inserted and deleted: what follows moves on, in models, levels of detail and rows.

Rows BOTH_ have the same numbers in legs and torso: a frame among them, or before them, is inserted in both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...blender.compat import Block, Context
from ...blender.player.parts import PlayerFound
from ...blender.player.rows import NamedRow, read_row, rows_of, show_all, show_row
from ...blender.provenance import PART
from ...blender.vertex import edit_frames
from ...game.player.animation_cfg import LOWER, UPPER, Row
from ...reporting import LimitError
from ..export.selection import Choice, choose, part_of
from ..import_.dressing import rate_of
from .imports import named_row
from .play import BOTH, num_frames, whole
from .tables import GESTURE, WALKCR, check_begin, table_of

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
    before = any(row.name.startswith(BOTH) and last_of(row) >= place for _, row in rows)
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


def present_rows(player: PlayerFound, context: Context) -> list[tuple[Any, NamedRow]]:
    """Return the actions of a player's rows, those of the table and new ones, each with what it shows now."""
    actions = rows_of(player.identity, list(player.parts.values()))
    table = table_of(player)
    known = {} if table is None else {row.name: named_row(table, row) for row in table.by_name.values()}
    rate = rate_of(context.scene)
    return [(action, read_row(action, known.get(name) or _new(name), rate)) for name, action in actions.items()]


def _new(name: str) -> NamedRow:
    return NamedRow(name, tuple(sorted(Row(name, 0, 1, 0, 1.0).parts)), 0, 1, 0, 15.0)


def last_of(row: NamedRow) -> int:
    """Return a row's last frame."""
    return row.first + max(abs(row.count), 1) - 1


def shifted(row: NamedRow, place: int, inserts: bool, others: list[NamedRow]) -> NamedRow:
    """Return a row after a copy of a frame was inserted behind it, or that frame was deleted.

    A row that holds it grows or shrinks. One of a single frame, as BOTH_DEAD1, stays the end of those that it ends.
    """
    count, step = max(abs(row.count), 1), 1 if inserts else -1
    if place < row.first:
        return replace(row, first=row.first + step)
    if place > last_of(row):
        return row
    if count == 1:
        ends = any(last_of(o) == place and abs(o.count) > 1 and set(o.parts) & set(row.parts) for o in others)
        moves = ends if inserts else ends or place > 0
        return replace(row, first=row.first + step) if moves else row
    loops = row.loop >= count or place >= row.first + count - row.loop
    loop = row.loop + step if row.loop and loops else row.loop
    return replace(row, count=(count + step) * (-1 if row.count < 0 else 1), loop=loop)


def _models(player: PlayerFound, part: str, context: Context) -> list[Choice]:
    """Return a part's model, and its levels of detail, which have as many frames."""
    levels = [c for (kind, _), c in sorted(player.levels.items()) if kind == part]
    return [part_of(context, player.parts[part]), *(choose(context, "AUTO", level.name) for level in levels)]
