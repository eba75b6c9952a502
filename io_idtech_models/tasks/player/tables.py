"""The table of a player's animations: as it was read, and with what the actions of its rows say."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...blender import names
from ...blender.compat import Context
from ...blender.player.build import stored_files
from ...blender.player.parts import PlayerFound
from ...blender.player.rows import ROW, frame_curve, read_row, rows_of
from ...game.player.animation_cfg import LOWER, UPPER, WHOLE, AnimationTable, Row, read
from ...game.player.animation_edits import check_begin, rank, with_change, with_clip
from ...game.player.files import HEAD
from ...model.clips import Clip
from ...reporting import LimitError, ModelError, listed
from ..import_.dressing import rate_of
from .imports import TABLE, warn_of_frames
from .play import num_frames

log = logging.getLogger(__name__)

KINDS = (LOWER, UPPER, HEAD, WHOLE)  # parts of a player, which a weapon is not
ADDED_RATE = 15.0  # frames per second of a row that is new


@dataclass(frozen=True)
class _Kept:
    """A player's table as its file was: no `data` if it has none, no `table` in data that can't be read."""

    name: str
    data: bytes | None
    table: AnimationTable | None

    @property
    def lack(self) -> str:
        """Why games refuse the player for it, in a sentence; "" where they don't."""
        if self.data is None:
            return "the player has no animation.cfg: games refuse it"
        how = "can't be read and is written as it was: games refuse it, put one with rows in its place"
        return f"{self.name} {how}" if self.table is None else ""


def _kept(player: PlayerFound) -> _Kept:
    name = player.kept(TABLE)
    data = stored_files(player.collection).get(name)
    try:
        return _Kept(name, data, None if data is None else read(data))
    except ModelError:
        return _Kept(name, data, None)


def table_of(player: PlayerFound) -> AnimationTable | None:
    """Return a player's table of animations as it was read; None if it has none, or one that can't be read."""
    return _kept(player).table


def lack_of_parts(player: PlayerFound) -> str:
    """Return why games refuse a player for its parts, in a sentence; "" where they don't."""
    missing = [kind for kind in (LOWER, UPPER, HEAD) if kind not in player.parts and WHOLE not in player.parts]
    return f"the player has no {listed(missing)}: games refuse it" if missing else ""


def lack_of_table(player: PlayerFound) -> str:
    """Return why games refuse a player for its table, in a sentence; "" where they don't."""
    return _kept(player).lack


def table_file(player: PlayerFound, context: Context) -> dict[str, bytes]:
    """Return the table of animations, with what the actions of its rows say."""
    kept = _kept(player)
    table = kept.table
    if table is None:
        log.warning("%s", kept.lack)
        return {} if kept.data is None else {kept.name: kept.data}
    rate = rate_of(context.scene)
    actions = rows_of(player.identity, list(player.parts.values()))
    rows = {row.name: (row, table.clip(row)) for row in table.by_name.values()}
    shown = {
        name: _playable(read_row(actions[name], old, rate), old) for name, (_, old) in rows.items() if name in actions
    }
    check_begin({n: row.first for n, row in shown.items()}, {n: row.first for n, (_, row) in rows.items()})
    edited = table
    for row, old in rows.values():
        new = shown.get(row.name, old)
        if new != old:
            edited = with_change(edited, row, old, new)
    _warn_of_others(player, actions)
    lost = [name for name in rows if name not in actions]
    if lost and actions:
        log.warning("no action is called %s: the table keeps what it had", listed(lost))
    edited = _with_new_rows(edited, [(row, a) for row, a in actions.items() if row not in rows], rate)
    warn_of_frames(edited, {part: num_frames(root) for part, root in player.parts.items() if part in KINDS})
    return {kept.name: edited.write()}


def _playable(row: Clip, old: Clip) -> Clip:
    """Return a row with numbers that games can play, as Blender does, in place of new ones that they can't.

    They would show frames of other rows where more repeat than there are (CG_RunLerpFrame).
    """
    loop = row.loop if row.loop == old.loop else min(max(row.loop, 0), row.length)
    rate = row.frame_rate if row.frame_rate == old.frame_rate else max(row.frame_rate, 0.0)
    if (loop, rate) != (row.loop, row.frame_rate):
        text = "'%s' can't repeat %d of its %d frames at %g a second, written: %d at %g (Loop Frames, FPS)"
        log.warning(text, row.name, row.loop, row.length, row.frame_rate, loop, rate)
    return replace(row, loop=loop, frame_rate=rate)


def _warn_of_others(player: PlayerFound, actions: Mapping[str, Any]) -> None:
    """Name actions that parts play or keep, and that are called as a row that another says: copies that were edited."""
    owners = [root.animation_data for root in player.parts.values() if root.animation_data]
    plays = {owner.action for owner in owners} - {None}
    kept = {strip.action for owner in owners for track in owner.nla_tracks for strip in track.strips} - {None}
    for action in sorted(plays | kept, key=lambda action: action.name):
        own = actions.get(names.file_name_of(action).upper())
        if own not in (None, action) and frame_curve(action) is not None and action.get(ROW) != "":
            how = "plays" if action in plays else "is kept in a track"
            log.warning("'%s' %s, but '%s' is the row (delete or rename that one)", action.name, how, own.name)


def blank(name: str) -> Clip:
    """Return a row that no table has, which its action says."""
    return Clip(name, 0, 1, ADDED_RATE, parts=tuple(sorted(Row(name, 0, 1, 0, ADDED_RATE).parts)))


def _with_new_rows(table: AnimationTable, actions: list[tuple[str, Any]], rate: float) -> AnimationTable:
    """Return a table with rows for actions that are called as one which it lacks; others are named."""
    left_out = []
    for name, action in sorted(actions, key=lambda pair: rank(pair[0])):
        new = _playable(read_row(action, blank(name), rate), blank(name))
        try:
            table = with_clip(table, new)
        except LimitError as error:
            left_out.append(f"{name} ({error})")
    if left_out:
        log.warning("actions left out of the table: %s", "; ".join(left_out))
    return table
