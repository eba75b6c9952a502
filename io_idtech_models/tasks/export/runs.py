"""Rows of a game's table that takes a file's own frames apart: they go where these go, in the scene and in it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...blender.playback import used_actions
from ...blender.skeletal import runs
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


def follow(row: Format, sources: Sequence[Source], gathered: Sequence[Animation]) -> None:
    """Let rows of a table be where gathered motions have their frames; says which have another number of them."""
    whole = runs.whole_of([source.action for source in sources]) if row.motion.table else None
    shown = next((each for source, each in zip(sources, gathered, strict=True) if source.action == whole), None)
    if whole is None or shown is None:
        return
    gone = [run.name for run in runs.follow(whole, shown)]
    if gone:
        text = "rows of %s show others now, for all of theirs are gone from '%s': %s; undo that, or remove the rows"
        log.warning(text, row.motion.table, shown.name, listed(gone))
    left = [(run, run.home) for run in runs.runs_of(whole) if run.home is not None and run.name not in gone]
    numbers = [f"'{run.name}' {run.length}, not {home.length}" for run, home in left if run.length != home.length]
    if numbers:
        log.warning("rows of %s have another number of frames now: %s", row.motion.table, listed(numbers, quoted=False))


def table_beside(
    target: Path, row: Format, rig: Any, sources: Sequence[Source], gathered: Sequence[Animation]
) -> Beside:
    """Return the table beside a file if its rows are elsewhere in that by now.

    A table stays whose rows are not those that the action has, or where the file is not of all frames: said.
    """
    whole = runs.whole_of(used_actions(rig)) if row.motion.table else None
    if whole is None:
        return Beside()
    before = {run.told: run for run in runs.runs_of(whole)}
    follow(row, sources, gathered)
    begin, is_written = _begin(whole, sources, gathered)
    own = {run.told: replace(run, first=run.first + begin) for run in runs.runs_of(whole) if run.told}
    path, table = _read_beside(target, row)
    told = {} if table is None else {name: runs.numbers(table.clip(each)) for name, each in table.by_name.items()}
    expected = {name: {runs.numbers(c) for c in (run, run.home, before[name]) if c} for name, run in own.items()}
    same = all(told[name] in expected[name] for name in own if name in told)
    if path is not None and table is not None and same and is_written:
        changed = [(name, run) for name, run in own.items() if name in told and told[name] != runs.numbers(run)]
        note = f"{plural(len(changed), 'row')} of '{path.name}' went along with their frames"
        return Beside({path: with_runs(table.write(), changed, ())}, [note]) if changed else Beside()
    why = "no such table lies beside" if table is None else "the table beside says something else, and stays"
    why = why if is_written else "the table beside is of all frames, and stays"
    rows = [run.name for run in own.values() if (begin or not run.is_at_home if is_written else run.told in told)]
    if rows:
        log.warning("rows of %s have other frames in '%s' (%s): %s", row.motion.table, target.name, why, listed(rows))
    return Beside()


def _read_beside(target: Path, row: Format) -> tuple[Path | None, animation_cfg.AnimationTable | None]:
    """Return the table that lies beside a file, and where; none where it can't be read."""
    found = user_disk().file(target).folder.find_first((), [row.motion.table])
    try:
        return (None, None) if found is None else (found.path, animation_cfg.read(found.read()))
    except ModelError:
        return None, None


def _begin(whole: Any, sources: Sequence[Source], gathered: Sequence[Animation]) -> tuple[int, bool]:
    """Return where an action's frames begin in a file, and whether it is among its sources."""
    actions = [source.action for source in sources]
    place = actions.index(whole) if whole in actions else 0
    return sum(each.num_frames for each in gathered[:place]), whole in actions
