"""Tables of a player's animations: rows added and changed, whole tables made, and frames inserted into the models.

What a row is and how a file is read stands in `animation_cfg`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ...model.clips import Clip
from ...reporting import LimitError
from .animation_cfg import (
    LEAST,
    LOWER,
    NAMES,
    UPPER,
    WHOLE_NAMES,
    AnimationTable,
    Row,
    read_text,
    spelt_number,
)

REST_OF_LINE = re.compile(r"(?:[^\S\n]|//[^\n\0]*|/\*(?:(?!\*/)[^\n\0])*\*/)*(?:\n|\Z|(?=\0))")
REMARK_BEHIND = re.compile(r"([^\S\n]*//[^\S\n]*)([A-Za-z0-9_]*)")
PLAIN_NAME = re.compile(r"(?:BOTH|TORSO|LEGS)_[A-Z0-9_]+\Z")
TITLE = "// first frame, number of frames, looping frames, frames per second"
GESTURE, WALKCR = "TORSO_GESTURE", "LEGS_WALKCR"  # where the frames of torso and legs begin
GROUPS = (6, 7, 9, 11, 13, 18, 20, 22, 24, 25)  # rows before which a new table has an empty line
Numbers = tuple[int, int, int, float]


def with_row(
    table: AnimationTable, name: str, *, first: int, count: int, loop: int = 0, fps: float = 15.0
) -> AnimationTable:
    """Return a table with a row of that name and numbers, which are as the file counts, in the style of the others.

    A row that is there is edited. In a table whose rows have no names a row has its place: those that may be missing
    before it (`NAMES` from 25 on) are added with the numbers of TORSO_GESTURE, which is what games take for them.

    Raises:
        LimitError: no such table has a row of that name, rows before it are missing, or a number that no game reads.
    """
    if name in table.by_name:
        return table.edited(name, first=first, count=count, loop=loop, fps=fps)
    if table.is_named:
        if not PLAIN_NAME.match(name) or any(row.name.islower() for row in table.rows):
            raise LimitError(f"'{name}' is no name for a row of this table")
        kind = name.partition("_")[0] + "_"
        behind = next((row for row in reversed(table.rows) if row.name.startswith(kind)), table.rows[-1])
        return _added(table, behind, name, (first, count, loop, fps))
    order = NAMES if table.is_segmented else WHOLE_NAMES
    if name not in order:
        raise LimitError(f"'{name}' is no animation of such a table: they are {', '.join(order)}")
    missing = order[len(table.rows) : order.index(name)]
    if missing and (len(table.rows) < LEAST or not table.is_segmented):
        raise LimitError(f"row {name} comes behind others that are missing: add {', '.join(missing)} first")
    for each in missing:
        model = table.by_name[GESTURE]
        table = _added(table, table.rows[-1], each, (model.first, model.count, model.repeats, model.fps))
    return _added(table, table.rows[-1] if table.rows else None, name, (first, count, loop, fps))


def make(rows: Iterable[Row], head: Sequence[str] = ("sex\tm",)) -> AnimationTable:
    """Return a new table with each row's name in a comment; `head` are lines before it.

    First frames of LEGS rows are as in the model of the legs; here they count on behind the torso's. Of rows 25 to 30
    those that are missing before others are TORSO_GESTURE.

    Raises:
        LimitError: a row that games ask for is missing, legs and torso don't begin at the same frame, or a number that
            no game reads.
    """
    by_name = {row.name: row for row in rows}
    unknown = sorted(set(by_name) - set(NAMES))
    missing = [name for name in NAMES[:LEAST] if name not in by_name]
    if unknown or missing:
        raise LimitError(
            f"'{unknown[0]}' is no animation of such a table" if unknown else f"rows are missing: {', '.join(missing)}"
        )
    skip = _skip(by_name)
    last = max(NAMES.index(name) for name in by_name)
    lines = ["// animation config file", "", *head, "", TITLE, ""]
    for nth, name in enumerate(NAMES[: last + 1]):
        row = by_name.get(name, by_name[GESTURE])
        first = row.first + (skip if LOWER in row.parts and UPPER not in row.parts else 0)
        numbers = (spelt_number(value, name) for value in (first, row.count, row.loop, float(row.fps)))
        lines += [""] * (nth in GROUPS) + ["\t".join(numbers) + f"\t\t// {name}"]
    return read_text("".join(line + "\n" for line in lines))


def _skip(rows: Mapping[str, Row]) -> int:
    """Return by how much legs are moved so that they count on behind the torso."""
    legs, torso = rows[WALKCR], rows[GESTURE]
    if legs.first != torso.first:
        raise LimitError(
            f"LEGS_WALKCR begins at frame {legs.first} of the legs, TORSO_GESTURE at frame {torso.first} of the torso: "
            f"games need the same number, so give both models as many frames before"
        )
    return max(row.first + abs(row.count) for row in rows.values() if row.parts == {UPPER}) - legs.first


def _added(table: AnimationTable, behind: Row | None, name: str, numbers: Numbers) -> AnimationTable:
    """Return a table with a row in a line of its own behind another one's, or at the end of a table without rows."""
    text, line_end = table.text, "\r\n" if "\r\n" in table.text else "\n"
    spelt = [spelt_number(value, name) for value in (*numbers[:3], float(numbers[3]))]
    if behind is None:
        place, line = len(text.partition("\0")[0]), "\t".join(spelt) + f"\t\t// {name}"
        rest = None
    else:
        line, place = _line_like(text, behind, name, spelt), behind.spans[-1][1]
        rest = REST_OF_LINE.match(text, place)
        place = place if rest is None else rest.end()
    before = "" if rest is not None and rest[0].endswith("\n") else line_end
    after = line_end if before == "" or rest is None else ""
    changed = read_text(text[:place] + before + line + after + text[place:], table.encoding, table.counts_all)
    added = changed.by_name.get(name)
    if added is None or (added.first, added.count, len(changed.rows)) != (*numbers[:2], len(table.rows) + 1):
        raise LimitError(f"row {name} can't be added: something in the file keeps it from being read")
    return changed


def _line_like(text: str, row: Row, name: str, numbers: Sequence[str]) -> str:
    """Return a row in the style of another: what stands before and between its numbers, and its name behind."""
    start = row.spans[0][0] if row.name_start < 0 else row.name_start
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    ends = [row.name_start + len(row.name)] if row.name_start >= 0 else []
    ends += [end for _, end in row.spans[:-1]]
    starts = [start for start, _ in row.spans[-len(ends) :]]
    between = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    between = [blank if blank and not blank.strip(" \t") else "\t" for blank in between]
    words = list(numbers)
    if row.name_start >= 0:
        words.insert(0, name)
        between[0] = _to_column(row.name, between[0], name)
    line = words[0] + "".join(blank + word for blank, word in zip(between, words[1:], strict=True))
    remark = REMARK_BEHIND.match(text, row.spans[-1][1]) if row.name_start < 0 else None
    said = remark is not None and remark[2].upper() == row.name
    return ("" if indent.strip(" \t") else indent) + line + (f"{remark[1]}{name}" if remark and said else "")


def _to_column(old: str, blanks: str, new: str) -> str:
    """Return the blanks behind a name that keep the numbers in the column where blanks behind another put them."""
    if " " not in blanks:
        return blanks
    tabs = blanks[blanks.rfind(" ") + 1 :]
    width = len(old) + len(blanks) - len(tabs) - len(new)
    return " " * max(width, 0 if tabs else 1) + tabs


def with_clip(table: AnimationTable, clip: Clip) -> AnimationTable:
    """Return a table with a row that it lacks, whose frames are its parts'; raises LimitError if it can't have it."""
    row = Row(clip.name, clip.first, clip.count, clip.loop, clip.frame_rate)
    first = clip.first + (table.skip(row, LOWER) if row.parts == {LOWER} else 0)
    return with_row(table, clip.name, first=first, count=clip.count, loop=clip.loop, fps=clip.frame_rate)


def with_change(table: AnimationTable, row: Row, old: Clip, new: Clip) -> AnimationTable:
    """Return a table with what differs between a row's meaning and another; frames of the legs stay as far behind."""
    return table.edited(
        row.name,
        first=row.first + new.first - old.first if new.first != old.first else None,
        count=new.count if new.count != old.count else None,
        loop=new.loop if new.loop != old.loop else None,
        fps=new.frame_rate if abs(new.frame_rate - old.frame_rate) > 1e-6 else None,
    )


def rank(name: str) -> int:
    """Return by what to sort rows that are added: in the order that games know."""
    return NAMES.index(name) if name in NAMES else len(NAMES)


def check_begin(shown: Mapping[str, int], before: Mapping[str, int]) -> None:
    """Refuse legs that begin elsewhere than the torso now: games know no other (CG_ParseAnimationFile).

    Given are the frames that rows begin at, of those that may have changed, and of all as they were.

    Raises:
        LimitError: they do.
    """
    begin = {name: shown.get(name, before[name]) for name in (GESTURE, WALKCR) if name in before}
    if len(begin) == 2 and begin[GESTURE] != begin[WALKCR] and before[GESTURE] == before[WALKCR]:
        raise LimitError(
            f"{WALKCR} begins at frame {begin[WALKCR]} of lower.md3, and {GESTURE} at {begin[GESTURE]} of upper.md3: "
            "games let both begin at the same number, so put their frames there"
        )


def shifted(clip: Clip, place: int, inserts: bool, others: Collection[Clip], plays: bool = False) -> Clip:
    """Return a row's clip after a copy of a frame was inserted behind it in its models, or that frame was deleted.

    One that holds it grows or shrinks. One of a single frame, as BOTH_DEAD1, stays the end of those that it ends:
    `others` are all. Another one of these grows if it is the one that `plays`: many rows may share that frame.
    """
    step = 1 if inserts else -1
    if place < clip.first:
        return replace(clip, first=clip.first + step)
    if place > clip.last:
        return clip
    if clip.length == 1:
        ends = any(o.last == place and abs(o.count) > 1 and set(o.parts) & set(clip.parts) for o in others)
        if ends or not inserts:
            return replace(clip, first=clip.first + step) if ends or place > 0 else clip
        if not plays:
            return clip
    loops = clip.loop >= clip.length or place >= clip.first + clip.length - clip.loop
    loop = clip.loop + step if clip.loop and loops else clip.loop
    return replace(clip, count=(clip.length + step) * (-1 if clip.count < 0 else 1), loop=loop)
