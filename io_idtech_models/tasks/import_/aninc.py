"""Tables of animations (Enemy Territory's `.aninc`) to actions that are parts of a file's frames, and back."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Sequence
from typing import Any

import bpy

from ...blender import names, properties
from ...blender.takes import used_actions
from ...formats import Format
from ...game import aninc
from ...game.store import GameFile
from ...model.clips import Clip
from ...model.skeletal import Animation
from ...reporting import ModelError, listed

log = logging.getLogger(__name__)

SUFFIX = ".aninc"
WHOLE_RATES = "et"  # the game whose tables hold whole rates only
WRITTEN = "idtech_aninc"  # on an action: how its row was spelt
# On the action of all frames of a file: what the table beside said, and on it and on those of the rows which one it is.
TABLE, TABLE_OF = "idtech_table", "idtech_table_of"
NUMBERS = {
    properties.LOOP: "loop",
    properties.MOVE_SPEED: "move_speed",
    properties.TRANSITION: "transition",
    properties.REVERSED: "reversed",
    properties.PRIORITY: "priority",
}
Named = aninc.Row | Clip  # a run of frames, as Enemy Territory's tables have it, or what another game's means


def table_beside(file: GameFile) -> GameFile | None:
    """Return the table beside a file of frames, or None."""
    return file.folder.find_first((), [file.stem + SUFFIX])


def table_in(table: GameFile | None) -> tuple[str, list[aninc.Row]]:
    """Return the text of a table, "" without one, and the rows that count; a warning says why one can't be read."""
    if table is None:
        return "", []
    text = table.read().decode("utf-8", errors="surrogateescape")
    try:
        return text, aninc.effective(aninc.read_rows(text))
    except ModelError as error:
        log.warning("'%s': %s", table.name, error)
        return "", []


def taken_apart(animation: Animation, row: Format, rows: Sequence[Named]) -> list[tuple[Animation, Named]]:
    """Return the animations that rows make of a file's frames; a warning names those that go beyond them."""
    runs = runs_of(animation.name, animation.num_frames, rows)
    return [(row.part(animation, each.name, frames, float(meant(each).frame_rate)), each) for frames, each in runs]


def meant(row: Named) -> Clip:
    """Return what a row means."""
    return row if isinstance(row, Clip) else row.clip


def runs_of(name: str, num_frames: int, rows: Sequence[Named]) -> list[tuple[range, Named]]:
    """Return the frames of each row of a file that has so many; a warning names rows that go beyond them."""
    found = within(num_frames, rows)
    short = [each.name for frames, each in found if len(frames) < meant(each).length]
    if short:
        text = "'%s' has %d frames, which is fewer than its table says of %s: what is beyond them is left out"
        log.warning(text, name, num_frames, listed(short))
    return [(frames, each) for frames, each in found if frames]


def within(num_frames: int, rows: Sequence[Named]) -> list[tuple[range, Named]]:
    """Return the frames that each row has of a file's, which may be fewer than it says, or none."""
    clips = [meant(each) for each in rows]
    found = [range(max(clip.first, 0), min(clip.last + 1, num_frames)) for clip in clips]
    return list(zip(found, rows, strict=True))


def show_row(action: Any, row: Named) -> None:
    """Give an action what its row says beside frames and rate."""
    action.use_cyclic = row.loop > 0
    if isinstance(row, Clip):
        properties.show(action, properties.LOOP, row.loop)
        if row.count < 0:
            properties.show(action, properties.REVERSED, True)
        make_part(action)
        return
    for name, key in NUMBERS.items():
        value = getattr(row, key)
        if value is not None:
            properties.show(action, name, value)
    action[WRITTEN] = json.dumps([row.text, row.before, row.after, row.length, row.fps])


def note_table(action: Any, parts: Sequence[Any], text: str) -> None:
    """Note on the action of all frames what the table said that takes it apart, and on its parts whose they are."""
    action[TABLE] = json.dumps(text)  # letters of other encodings are no text to Blender
    for each in (action, *parts):
        each[TABLE_OF] = action[TABLE_OF] if TABLE_OF in action else uuid.uuid4().hex


def table_of(action: Any) -> list[aninc.Row]:
    """Return the rows of the table that takes the frames of an action apart; none if there is none."""
    try:
        return aninc.read_rows(str(json.loads(str(action.get(TABLE, '""')))))
    except (ValueError, ModelError):
        return []


def known_actions(rig: Any, also: Sequence[Any] = ()) -> list[Any]:
    """Return the actions that an armature plays and keeps, and what a fake user alone keeps of the tables of these.

    `also` are such that it plays and keeps as well, though not at this moment.
    """
    own = dict.fromkeys([*used_actions(rig), *also])
    tables = {table_id(each) for each in own} - {""}
    every: list[Any] = list(bpy.data.actions) if tables else []
    loose = [each for each in every if table_id(each) in tables and each.users and each not in own]
    others = {a for block in bpy.data.objects if loose and block != rig for a in used_actions(block)}
    return [*own, *(each for each in loose if each not in others)]


def table_id(action: Any) -> str:
    """Return which table an action's frames are in; "" if in none."""
    found = action.get(TABLE_OF)
    return found if isinstance(found, str) else ""


def whole_of(action: Any, actions: Sequence[Any]) -> Any:
    """Return which of some actions has all frames of the file that one is a part of; None where there is none."""
    own = table_id(action) if is_part(action) else ""
    wholes = [each for each in actions if own and TABLE in each and table_id(each) == own]
    return min(wholes, key=names.is_renamed, default=None)  # a copy is no file yet


def parts_of(whole: Any, actions: Sequence[Any]) -> list[Any]:
    """Return which of some actions are parts of the file of which one has all frames."""
    return [each for each in actions if is_part(each) and table_id(each) == table_id(whole) != ""]


def name_in_table(action: Any) -> str:
    """Return what the table calls the row that an action was made of, or is a copy of; "" of a new one."""
    written = _written(action)
    return "" if written is None else aninc.read_rows(written[0])[0].name


def make_part(action: Any, playing: Any = None) -> None:
    """Let a new action be some frames of the file that another is of, as the rows are that a table had."""
    action[WRITTEN] = ""
    if playing is not None and isinstance(playing.get(TABLE_OF), str):
        action[TABLE_OF] = playing[TABLE_OF]


def is_part(action: Any) -> bool:
    """Tell whether an action is some frames of a file, which another action has as a whole."""
    return WRITTEN in action


def row_of(action: Any, animation: Animation, first: int, game: str, name: str = "") -> aninc.Row:
    """Return the row of an action whose frames begin at `first` in the file; the `name` "" is the action's own."""
    name = name or names.file_name_of(action)
    if aninc.without_quotes(name) != name:
        log.warning("'%s' is called '%s' in the table, which holds no quotes", name, aninc.without_quotes(name))
    row = aninc.Row(name, first, animation.num_frames, fps=_rate(animation, game))
    written = _written(action)
    if written is not None:
        row.text, row.before, row.after, length, fps = written
        row.length = 0 if length == 0 and row.length == 1 else row.length
        row.fps = 0.0 if fps == 0 and row.fps == 1 else row.fps
    if properties.LOOP not in action and action.use_cyclic:
        row.loop = animation.num_frames
    for name, key in NUMBERS.items():
        if name in action:
            value = int(properties.number(action, name, 0))
            setattr(row, key, bool(value) if key == "reversed" else value)
    row.loop = fitting_loop(row, animation.num_frames)
    return row


def fitting_loop(row: aninc.Row, count: int) -> int:
    """Return how many frames at the end of an animation of `count` repeat that had other ones when it was read.

    What repeated as a whole does so still, unless it was given another number, and no more repeat than there are: a
    game would show frames from before the first.
    """
    came = next(iter(aninc.read_rows(row.text)), None)
    if came is None or count == came.clip.length:
        return row.loop
    return count if row.loop == came.loop == came.clip.length else min(row.loop, count)


def _rate(animation: Animation, game: str) -> float:
    """Return the rate that a game's tables can say: that of Enemy Territory 2.60 reads whole numbers."""
    rate = round(animation.frame_rate, 0 if game == WHOLE_RATES else 2)
    if abs(rate - animation.frame_rate) > 1e-3:
        log.warning("'%s' plays at %g frames per second, written as %g", animation.name, animation.frame_rate, rate)
    return float(rate)


def _written(action: Any) -> list[Any] | None:
    """Return what `show_row` noted, checked: a .blend can come from a stranger."""
    try:
        found = json.loads(str(action.get(WRITTEN, "")))
        text, before, after = (str(part) for part in found[:3])
        length, fps = (float(part) for part in found[3:5])
        if len(aninc.read_rows(text)) == 1 and not aninc.read_rows(before + after):
            return [text, before, after, length, fps]
    except (ValueError, TypeError, ModelError):
        pass
    return None


def drop_repeated_comments(rows: list[aninc.Row]) -> None:
    """Let comments of rows that actions have stand at the one that had them, and not at its copies again."""
    given = [aninc.read_rows(row.text)[0].name if row.text else row.name for row in rows]
    ranked = sorted(zip(rows, given, strict=True), key=lambda each: each[0].name != each[1])
    originals = {id(row) for row in {row.text: row for row, _ in reversed(ranked)}.values()}
    for row in rows:
        if row.text and id(row) not in originals:
            indent = row.before.rpartition("\n")[2]
            row.before, row.after = "" if indent.strip() else indent, "".join(row.after.splitlines(keepends=True)[:1])


def joined_text(runs: Sequence[list[aninc.Row]]) -> bytes:
    """Return the bytes of a table of several runs of rows: of rows of actions, and of whole tables."""
    rows: list[aninc.Row] = []
    for run in runs:
        aninc.end_line(rows)
        rows += run
    return table_text(rows)


def table_text(rows: list[aninc.Row]) -> bytes:
    """Return a table's bytes."""
    return aninc.write_rows(rows).encode("utf-8", errors="surrogateescape")
