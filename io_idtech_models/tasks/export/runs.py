"""Rows of a game's table that takes a file's own frames apart: they go where these go, in the scene and in it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...blender.skeletal import runs
from ...blender.skeletal.gather_motion import origin_of
from ...blender.skeletal.rig_scene import RigScene
from ...blender.takes import used_actions
from ...formats import Format
from ...game.character.wolf import with_runs
from ...game.player import animation_cfg
from ...model.skeletal import Animation
from ...reporting import ModelError, listed, plural
from ..import_.games import user_disk
from .motion_sources import Source

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Beside:
    """A table on its way out, and what there is to tell of it; none where it stays."""

    data: dict[Path, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def follow(export: RigScene, row: Format, whole: Any, sources: Sequence[Source], gathered: Sequence[Animation]) -> None:
    """Let rows of a table be where gathered motions have their frames, of which `whole` has all.

    Says which have another number of them.
    """
    shown = next((each for source, each in zip(sources, gathered, strict=True) if source.action == whole), None)
    if whole is None or shown is None:
        return
    gone = [run.name for run in runs.follow(whole, shown, origin_of(export, whole, shown))]
    if gone:
        text = "rows of %s show others now, for all of theirs are gone from '%s': %s; undo that, or remove the rows"
        log.warning(text, row.motion.table, shown.name, listed(gone))
    left = [(run, run.home) for run in runs.runs_of(whole) if run.home is not None and run.name not in gone]
    numbers = [f"'{run.name}' {run.length}, not {home.length}" for run, home in left if run.length != home.length]
    if numbers:
        log.warning("rows of %s have another number of frames now: %s", row.motion.table, listed(numbers, quoted=False))


def whole_of(row: Format, sources: Sequence[Source]) -> Any:
    """Return the action among sources whose frames a table of the game takes apart; None where there is none."""
    return runs.whole_of([source.action for source in sources]) if row.motion.table else None


def table_beside(
    target: Path, row: Format, export: RigScene, sources: Sequence[Source], gathered: Sequence[Animation]
) -> Beside:
    """Return the table beside a file if its rows are elsewhere in that by now.

    A table stays whose rows are not those that the action has, or where the file is not of all frames: said.
    """
    path, table = _read_beside(target, row)
    whole = whole_of(row, sources)
    if whole is None:
        kept = runs.whole_of(used_actions(export.rig)) if table is not None else None
        rows = [] if kept is None or table is None else [r.name for r in runs.runs_of(kept) if r.told in table.by_name]
        return _left(rows, target, row, "the table beside is of all frames, and stays")
    before = runs.runs_of(whole)
    follow(export, row, whole, sources, gathered)
    place = [source.action for source in sources].index(whole)
    begin = sum(each.num_frames for each in gathered[:place])
    own = [replace(run, first=run.first + begin) for run in runs.runs_of(whole) if run.told]
    if path is not None and table is not None and _says(table, [*before, *own]):
        changed = [(run.told, run) for run in own if _is_elsewhere(run, table)]
        note = f"{plural(len(changed), 'row')} of '{path.name}' went along with their frames"
        return Beside({path: with_runs(table.write(), changed, ())}, [note]) if changed else Beside()
    why = "no such table lies beside" if table is None else "the table beside says something else, and stays"
    return _left([run.name for run in own if begin or not run.is_at_home], target, row, why)


def _says(table: animation_cfg.AnimationTable, known: Sequence[runs.Run]) -> bool:
    """Tell whether a table says of each row what is known of it: where it is, was, or came with the file."""
    told: dict[str, set[tuple[int, int, int]]] = {}
    for run in known:
        told.setdefault(run.told, set()).update(runs.numbers(each) for each in (run, run.home) if each is not None)
    rows = table.by_name.items()
    return all(runs.numbers(table.clip(row)) in told[name] for name, row in rows if name in told)


def _is_elsewhere(run: runs.Run, table: animation_cfg.AnimationTable) -> bool:
    row = table.by_name.get(run.told)
    return row is not None and runs.numbers(table.clip(row)) != runs.numbers(run)


def _left(rows: list[str], target: Path, row: Format, why: str) -> Beside:
    """Return that a table stays, and say which of its rows have other frames than it says."""
    if rows:
        log.warning("rows of %s have other frames in '%s' (%s): %s", row.motion.table, target.name, why, listed(rows))
    return Beside()


def _read_beside(target: Path, row: Format) -> tuple[Path | None, animation_cfg.AnimationTable | None]:
    """Return the table that lies beside a file, and where; none where it can't be read, or no game has one."""
    if not row.motion.table:
        return None, None
    found = user_disk().file(target).folder.find_first((), [row.motion.table])
    try:
        return (None, None) if found is None else (found.path, animation_cfg.read(found.read()))
    except ModelError:
        return None, None
