"""What the texts of a character's game say by now: rows of tables, declarations, runs of its body's frames."""

from __future__ import annotations

import logging
from pathlib import PurePath

from ... import formats
from ...blender import spans
from ...blender.leaders import curves_of, slot_of
from ...blender.skeletal import runs
from ...blender.takes import used_actions
from ...game.character.files import BODY
from ...reporting import LimitError, listed
from ..export.motion_sources import NoActionError, actions_of
from .declare import block_of, notes_of, say_beyond
from .motion_files import MotionFiles
from .record import CharacterFound
from .saved import SavedCharacter
from .skins import SkinsSaved

log = logging.getLogger(__name__)


def save_texts(character: CharacterFound, saved: SavedCharacter, motions: MotionFiles, skins: SkinsSaved) -> None:
    """Write the texts, with what rows of tables say by now.

    Raises:
        LimitError: rows were edited, and are of a table that can't be written.
    """
    record, kind = saved.record, saved.kind
    for path, data in record.texts.items():
        if path in record.declarations:
            saved.declarations[path] = data
        else:
            saved.files.setdefault(path, data)
    if motions.new and kind is not None and kind.with_animations is not None:
        anims = {each.name: [path] for path, each in motions.new.items()}
        blocks = {each.name: block_of(each.action) for each in motions.new.values()}
        for each in motions.new.values():
            say_beyond(each.action, each.name, each.num_frames)
        saved.declare(kind.with_animations(saved.declarations, record.declared[0], anims, blocks))
    _declare_notes(saved, motions)
    skins.declare(character.collection)
    skins.say_hidden()
    if kind is not None and kind.with_runs is not None:
        _say_runs(character)
        whole = runs.whole_of(used_actions(character.rig))
        if whole is not None and runs.is_edited(whole):
            changed = [(run.told, run) for run in runs.runs_of(whole) if runs.is_other(run)]
            saved.put(record.file, kind.with_runs(record.texts[record.file], changed, runs.gone_of(whole)), False)
    if not motions.rows:
        return
    if kind is None or kind.with_rows is None:
        raise LimitError("rows of this game's tables can't be written: let them have their names and frames")
    for path, data in kind.with_rows(record.texts, record.group, motions.rows).items():
        saved.put(path, data, data == record.texts[path])


def _declare_notes(saved: SavedCharacter, motions: MotionFiles) -> None:
    """Let declarations say what the game does with animations by now."""
    kind, record = saved.kind, saved.record
    if kind is None or kind.with_notes is None:
        return
    for piece, played in motions.played.items():
        model = record.declared[0] if piece == BODY else record.models[piece]
        notes = {each.name: notes_of(each.action) for each in played}
        own = kind.with_notes(saved.declarations, model, notes) if model else {}
        saved.declare(own)
        for each in played:
            if own or not each.is_source:
                say_beyond(each.action, each.name, each.num_frames)


def _say_runs(character: CharacterFound) -> None:
    """Say what of a table's rows is not in the body's frames, and what of these is in no row."""
    table, path = PurePath(character.record.file).name, PurePath(character.record.models[BODY])
    row = formats.by_suffix(path)
    if row is None or not row.has_motions:
        return
    try:
        actions = actions_of(character.rig, row)
    except NoActionError:
        text = "%s has no action: all frames are gone from %s, and rows of %s show none; undo it, or import anew"
        log.warning(text, character.rig.name, path.name, table)
        return
    for action in filter(runs.is_saved, actions):
        span = spans.span_of(action, curves_of(action, slot_of(character.rig, action)))
        gone = spans.gone(action, span)
        lost = [run.name for run in runs.runs_of(action) if run.last in gone]
        if lost:
            text = "rows of %s show frames from %d on, which are gone from %s: %s; undo that, or remove the rows"
            log.warning(text, table, gone[0], path.name, listed(lost))
    apart = [action.name for action in actions if not runs.is_saved(action)]
    if apart:
        text = "%s: frames behind all others in %s, and in no row of %s: put their keys behind those of All Frames"
        log.warning(text, listed(apart), path.name, table)
