"""Tables of a player's animations: rows added, whole tables made, and frames inserted into the models.

What a row is and how a file is read stands in `animation_cfg`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ...reporting import LimitError
from .animation_cfg import (
    LEAST,
    LOWER,
    NAMES,
    UPPER,
    WHOLE,
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
        return _added(table, _kin(table, name), name, (first, count, loop, fps))
    order = NAMES if table.is_segmented else WHOLE_NAMES
    if name not in order:
        raise LimitError(f"'{name}' is no animation of such a table: they are {', '.join(order)}")
    missing = order[len(table.rows) : order.index(name)]
    if missing and (len(table.rows) < LEAST or not table.is_segmented):
        raise LimitError(f"row {name} comes behind others that are missing: add {', '.join(missing)} first")
    for each in missing:
        model = table.by_name["TORSO_GESTURE"]
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
        row = by_name.get(name, by_name["TORSO_GESTURE"])
        first = row.first + (skip if LOWER in row.parts and UPPER not in row.parts else 0)
        numbers = (spelt_number(value, name) for value in (first, row.count, row.loop, float(row.fps)))
        lines += [""] * (nth in GROUPS) + ["\t".join(numbers) + f"\t\t// {name}"]
    return read_text("".join(line + "\n" for line in lines))


def _skip(rows: Mapping[str, Row]) -> int:
    """Return by how much legs are moved so that they count on behind the torso."""
    legs, torso = rows["LEGS_WALKCR"], rows["TORSO_GESTURE"]
    if legs.first != torso.first:
        raise LimitError(
            f"LEGS_WALKCR begins at frame {legs.first} of the legs, TORSO_GESTURE at frame {torso.first} of the torso: "
            f"games need the same number, so give both models as many frames before"
        )
    return max(row.first + abs(row.count) for row in rows.values() if row.parts == {UPPER}) - legs.first


def _kin(table: AnimationTable, name: str) -> Row:
    """Return the last row of a kind, or of all."""
    kind = name.partition("_")[0] + "_"
    return next((row for row in reversed(table.rows) if row.name.startswith(kind)), table.rows[-1])


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


def inserted(
    table: AnimationTable, at: int, count: int, parts: Collection[str] = (LOWER, UPPER, WHOLE)
) -> AnimationTable:
    """Return the table of models into which `count` frames were inserted before frame `at`; negative: taken out.

    Rows that begin there or later move, rows around it grow, by what their parts' models got; rows of the legs stay
    behind the torso's. A row that repeats as a whole goes on doing so.

    Raises:
        LimitError: rows can't say so: a BOTH row whose frames changed in one of two parts, or legs and torso that no
            longer begin at the same frame; or a row has no frame left.
    """
    wanted = {row.nth: row for row in table.rows}
    for part in parts:
        for row in table.of_part(part):
            new = _stretched(row, at, count)
            if (new.first, new.count) != (row.first, row.count):
                lacking = sorted(row.parts - set(parts) - {WHOLE})
                if lacking:
                    raise LimitError(f"row {row.name} plays on {lacking[0]}, too: it needs the same frames there")
                wanted[row.nth] = replace(new, first=new.first + table.skip(row, part))
    return _settled(table, wanted)


def _settled(table: AnimationTable, wanted: Mapping[int, Row]) -> AnimationTable:
    """Return a table with other numbers in its rows; legs move along where the torso's frames have grown into them."""
    by_name = {row.name: row for row in reversed(list(wanted.values()))}
    legs, torso = by_name.get("LEGS_WALKCR"), by_name.get("TORSO_GESTURE")
    if legs is not None and torso is not None and legs.first - torso.first != table.legs_skip:
        raise LimitError(
            "LEGS_WALKCR has to begin at the same frame as TORSO_GESTURE: insert as many frames before both"
        )
    further = _run_into(wanted.values()) if _run_into(table.rows) == 0 else 0
    shifts = {nth: further if row.name.startswith("LEGS_") else 0 for nth, row in wanted.items()}
    return table.edited_rows(
        (row, (row.first + shifts[nth], row.count, row.repeats, None)) for nth, row in wanted.items()
    )


def _run_into(rows: Collection[Row]) -> int:
    """Return by how much rows of the torso reach into those of the legs: usually not at all, games don't mind."""
    legs = [row.first for row in rows if row.parts == {LOWER}]
    torso = [row.first + abs(row.count) for row in rows if row.parts == {UPPER}]
    return max(max(torso) - min(legs), 0) if legs and torso else 0


def _stretched(row: Row, at: int, count: int) -> Row:
    """Return a row after frames were inserted into its model, or taken out."""

    def begin(frame: int) -> int:
        return frame + count if frame >= at and (count >= 0 or frame >= at - count) else min(frame, at)

    def end(frame: int) -> int:
        return frame + count if frame > at and (count >= 0 or frame >= at - count) else min(frame, at)

    length = abs(row.count)
    first = begin(row.first)
    stop = end(row.first + length) if length else first
    if length and stop <= first:
        raise LimitError(f"row {row.name} has no frame left")
    loop = row.repeats
    if 0 < loop <= length:
        edge = row.first + loop if row.count < 0 else row.first + length - loop
        loop = end(edge) - first if row.count < 0 else stop - begin(edge)
    kept = replace(row, first=first, count=(stop - first) * (-1 if row.count < 0 else 1), counts_all=False)
    return replace(kept, loop=loop)
