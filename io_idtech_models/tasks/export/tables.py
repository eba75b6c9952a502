"""The file of an action that a table takes apart: with what was edited in the actions of its rows, and the table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...blender import names
from ...blender.leaders import cast
from ...blender.skeletal import kept_frames
from ...blender.skeletal.kept_frames import KeptFile
from ...blender.skeletal.rig_scene import RigScene
from ...blender.skeletal.selfcheck import Motion
from ...blender.skeletal.source import find_action
from ...formats import Format
from ...game import aninc
from ...model.clips import Clip
from ...model.skeletal import Animation, SkeletalModel
from ...reporting import ModelError, listed
from ..import_ import aninc as animation_tables
from ..import_.kept_frames import rows_of_file
from .file_edits import FileEdits, Part
from .motion_sources import playing_with_keys

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Table:
    """What a table is to say of a file's frames, and the frames that actions of its rows gave."""

    rows: list[aninc.Row]
    is_edited: bool
    parts: Sequence[Part]
    gone: Sequence[str] = ()  # rows whose actions were deleted

    def say_gone(self, name: str) -> None:
        """Name the rows that go from the table of a file with that name."""
        if self.gone:
            text = "rows of '%s' whose actions were deleted go from its table: %s"
            log.warning(text, name, listed(list(self.gone)))

    def at_rate(self, rate: float) -> Table:
        """Return it with all rows at a frame rate."""
        rows = [replace(row, fps=rate) for row in self.rows]
        return replace(self, rows=rows, is_edited=self.is_edited or rows != self.rows)

    def motions(self, rig: Any, motion: Motion) -> list[Motion]:
        """Return a motion of all frames as what each action has of it, to be compared with what that shows."""
        animation = motion.animation
        if not self.parts or animation is None:
            return [motion]
        own = np.flatnonzero(np.isfinite(motion.times))
        found = [replace(motion, times=motion.times[own], animation=animation.of_frames(own))]
        for part in self.parts:
            times, play = part.animation.times, partial(playing_with_keys, rig, cast(rig, part.action))
            if times is not None:
                shown = animation.of_frames(part.first + part.frames)
                found.append(Motion(part.animation.name, play, times[part.frames], shown))
        return found


@dataclass(frozen=True, eq=False)
class WholeFile:
    """The action of all frames of a file that a table takes apart, and the actions of its rows, of which there are."""

    action: Any
    parts: Sequence[Any]
    name: str  # of the file that is written


def whole_file(rig: Any, action: Any, target: Path, also: Sequence[Any]) -> WholeFile | None:
    """Return an action of all frames of a file with those of its rows; None where it has no table, or no such action.

    They are among those that an armature, and `also`, knows. A copy has none while the original is there: it is all
    frames of a file of its own.
    """
    if not animation_tables.table_of(action):
        return None
    known = animation_tables.known_actions(rig, also)
    parts = animation_tables.parts_of(action, known)
    if not parts:
        is_there = target.with_suffix(animation_tables.SUFFIX).is_file()
        how = "it stays as it is" if is_there else "written without one"
        log.warning("no row of the table of '%s' has an action any more: %s", target.name, how)
        return None
    whole = animation_tables.whole_of(parts[0], known)
    if whole is not None and whole != action:
        text = "'%s' is a copy of '%s', with which the rows of its table go: written without a table"
        log.warning(text, action.name, whole.name)
    return WholeFile(action, parts, target.name) if whole == action else None


def with_rows(
    export: RigScene, model: SkeletalModel, row: Format, game: str, whole: WholeFile, shown: Animation
) -> tuple[Animation, Table]:
    """Return what an action of all frames of a file has `shown` with what its rows' actions show, and their table."""
    action, parts = whole.action, whole.parts
    told = animation_tables.table_of(action)
    known = find_action(action)
    count = shown.num_frames if known is None else len(known.source.positions)
    runs = [(frames, each) for frames, each in animation_tables.within(count, aninc.effective(told)) if frames]
    rows = rows_of_file(Clip(action.name, 0, count, shown.frame_rate), runs)
    places = {each.clip.name.lower(): place for place, each in enumerate(rows) if place}
    own: dict[int, Any] = {}
    new = []
    for part in sorted(parts, key=names.is_renamed):
        place = places.get(animation_tables.name_in_table(part).lower(), 0)
        if place and own.setdefault(place, part) == part:
            continue
        new.append((part, rows[place].clip.first if place else -1))
    # Their names are free, and their frames nobody's:
    gone = [each.clip.name for place, each in enumerate(rows) if place and place not in own]
    kept = (rows[0], *(rows[place] for place in sorted(own)))
    file = KeptFile(whole.name, "", row.name, kept)
    edits = FileEdits(export, model, file, lambda: shown, game)
    edits.end, edits.action = shown.num_frames, action
    called = edits.called({nth: own[place] for nth, place in enumerate(sorted(own), start=1)})
    for nth, place in enumerate(sorted(own), start=1):
        edits.take(rows[place], own[place], called[nth])
    for part, began in new:
        edits.add(part, began)
    edits.finish()
    merged = edits.merged() if edits.parts else shown
    return merged, Table(aninc.with_edits(told, edits.rows, gone), bool(edits.rows or gone), edits.parts, gone)


def warn_of_rows_beyond(target: Path, row: Format, count: int) -> None:
    """Name the rows of the table that stays beside a file of frames that it had, and that are not among `count` now.

    `target` is the file before it is written over.
    """
    table = target.with_suffix(animation_tables.SUFFIX)
    if not (target.is_file() and table.is_file()):
        return
    try:
        had = row.outline(target.read_bytes()).num_frames
        rows = aninc.effective(aninc.read_rows(table.read_text(encoding="utf-8", errors="surrogateescape")))
    except (ModelError, OSError):
        return
    lost = [each.name for each in rows if count <= each.clip.last < had]
    if lost:
        how = "to write the file whole, export the action of all its frames, or all rows as Chosen Actions"
        text = "'%s' stays, and has rows of frames that are no longer there (%s): %s"
        log.warning(text, table.name, how, listed(lost))


def warn_of_kept(rig: Any) -> None:
    """Say that what an armature's actions show of a character's files goes into these with the character alone."""
    kept = kept_frames.kept_files(rig)
    if any(row.said is not None and not row.is_file for file in kept for row in file.rows):
        log.warning("'%s' is a character's, whose own export writes rows into the files that they are of", rig.name)


def warn_of_rows(rig: Any) -> None:
    """Say that what the scene shows is written without the rows of an armature's tables."""
    known = animation_tables.known_actions(rig)
    wholes = [names.file_name_of(action) for action in known if animation_tables.table_of(action)]
    if wholes:
        text = (
            "the scene's range is written as it shows, and no rows of a table (All Actions writes the files that have "
            "them): %s"
        )
        log.warning(text, listed(wholes))
