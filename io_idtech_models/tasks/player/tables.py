"""The table of a player's animations: as it was read, and with what the actions of its rows say."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ...blender.compat import Context
from ...blender.player.build import stored_files
from ...blender.player.parts import PlayerFound
from ...blender.player.rows import NamedRow, read_row, rows_of
from ...game.player.animation_cfg import LOWER, NAMES, UPPER, WHOLE, AnimationTable, Row, read
from ...game.player.animation_edits import with_row
from ...game.player.files import HEAD
from ...model.wording import listed
from ...reporting import LimitError, ModelError
from ..import_.dressing import rate_of
from .imports import TABLE, named_row, warn_of_frames
from .play import num_frames

log = logging.getLogger(__name__)

KINDS = (LOWER, UPPER, HEAD, WHOLE)  # parts of a player, which a weapon is not
GESTURE, WALKCR = "TORSO_GESTURE", "LEGS_WALKCR"  # where the frames of torso and legs begin


def table_of(player: PlayerFound) -> AnimationTable | None:
    """Return a player's table of animations as it was read; None if it has none, or one that can't be read."""
    _, data = _kept(player)
    try:
        return None if data is None else read(data)
    except ModelError:
        return None


def _kept(player: PlayerFound) -> tuple[str, bytes | None]:
    """Return what a player's table is called, and what it was; None if it has none."""
    name = "" if player.collection is None else str(player.collection.get(TABLE, ""))
    return name, None if player.collection is None else stored_files(player.collection).get(name)


def table_file(player: PlayerFound, context: Context) -> dict[str, bytes]:
    """Return the table of animations, with what the actions of its rows say."""
    name, data = _kept(player)
    table = table_of(player)
    if data is None:
        log.warning("the player has no animation.cfg: games refuse it")
        return {}
    if table is None:
        log.warning("%s can't be read and is written as it was: games refuse it, put one with rows in its place", name)
        return {name: data}
    rate = rate_of(context.scene)
    actions = rows_of(player.identity, list(player.parts.values()))
    rows = {row.name: (row, named_row(table, row)) for row in table.by_name.values()}
    shown = {name: read_row(actions[name], old, rate) for name, (_, old) in rows.items() if name in actions}
    check_begin({n: row.first for n, row in shown.items()}, {n: row.first for n, (_, row) in rows.items()})
    edited = table
    for row, old in rows.values():
        new = shown.get(row.name, old)
        if new != old:
            edited = _edited(edited, row, old, new)
    lost = [name for name in rows if name not in actions]
    if lost and actions:
        log.warning("no action is called %s: the table keeps what it had", listed(lost))
    edited = _with_new_rows(edited, [(row, a) for row, a in actions.items() if row not in rows], rate)
    warn_of_frames(edited, {part: num_frames(root) for part, root in player.parts.items() if part in KINDS})
    return {name: edited.write()}


def _with_new_rows(table: AnimationTable, actions: list[tuple[str, Any]], rate: float) -> AnimationTable:
    """Return a table with rows for actions that are called as one which it lacks; others are named."""
    left_out = []
    for name, action in sorted(actions, key=lambda pair: rank(pair[0])):
        blank = NamedRow(name, (), 0, 1, 0, 15.0)
        new = read_row(action, blank, rate)
        try:
            table = with_new_row(table, new)
        except LimitError as error:
            left_out.append(f"{name} ({error})")
    if left_out:
        log.warning("actions left out of the table: %s", "; ".join(left_out))
    return table


def rank(name: str) -> int:
    """Return by what to sort rows that are added: in the order that games know."""
    return NAMES.index(name) if name in NAMES else len(NAMES)


def with_new_row(table: AnimationTable, new: NamedRow) -> AnimationTable:
    """Return a table with a row that it lacks, whose frames are its parts'; raises LimitError if it can't have it."""
    row = Row(new.name, new.first, new.count, new.loop, new.fps)
    first = new.first + (table.skip(row, LOWER) if row.parts == {LOWER} else 0)
    return with_row(table, new.name, first=first, count=new.count, loop=new.loop, fps=new.fps)


def check_begin(shown: Mapping[str, int], before: Mapping[str, int]) -> None:
    """Refuse legs that begin elsewhere than the torso now: games know no other (CG_ParseAnimationFile).

    Given are the frames that rows begin at, of those that may have changed, and of all as they were.
    """
    begin = {name: shown.get(name, before[name]) for name in (GESTURE, WALKCR) if name in before}
    if len(begin) == 2 and begin[GESTURE] != begin[WALKCR] and before[GESTURE] == before[WALKCR]:
        raise LimitError(
            f"{WALKCR} begins at frame {begin[WALKCR]} of lower.md3, and {GESTURE} at {begin[GESTURE]} of upper.md3: "
            "games let both begin at the same number, so put their frames there"
        )


def _edited(table: AnimationTable, own: Row, old: NamedRow, new: NamedRow) -> AnimationTable:
    """Return a table with what differs in a row; the table's frames are the parts', the legs' shifted."""
    return table.edited(
        own.name,
        first=own.first + new.first - old.first if new.first != old.first else None,
        count=new.count if new.count != old.count else None,
        loop=new.loop if new.loop != old.loop else None,
        fps=new.fps if abs(new.fps - old.fps) > 1e-6 else None,
    )
