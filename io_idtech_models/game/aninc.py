"""Animation tables of Wolfenstein: Enemy Territory: `.aninc` files, and the `.anim` files that include them.

A row says which frames of an MDX are an animation, and how it plays: `name first length loop fps move_speed transition
reversed`. An `.aninc` holds nothing but rows. An `.anim` holds `animgroup { animfile "x.mdx" { rows } ... }`, where the
rows are usually `#include "y.aninc"`, a path from the game's folder.

Facts (ET 2.60's and ET: Legacy's `bg_animgroup.c`, `PC_Int_Parse`; 2,649 rows of real files):

- Line ends mean nothing, `//` and `/* */` are comments, names may be quoted.
- ET: Legacy has one more number, a priority. A row has it if eight numbers, not seven, stand before the next name.
- Names are compared in lower case. A name that comes again for the same MDX replaces the numbers of the first.
- A length of 0 and a rate of 0 play as 1. `loop` is how many frames at the end repeat, in some files more than there
  are. ET: Legacy's rates may have decimals, those of ET are whole. A `move_speed` below 0 is measured from the feet.

Here a row keeps the text that it was read from, and what stands around it: `write_rows` gives a file back as it was,
and changes no more of a row than the numbers that changed.

An edit in Blender means rows that play otherwise, and new ones (`RowEdit`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ..model.clips import Clip
from ..reporting import FormatError

FIELDS = ("first", "length", "loop", "fps", "move_speed", "transition", "reversed", "priority")
NOT_NEGATIVE = frozenset(("first", "length", "fps"))
FPS, REVERSED, FEWEST = FIELDS.index("fps"), FIELDS.index("reversed"), len(FIELDS) - 1
INT32 = 2**31
DECIMALS = 6  # of a rate
TAB = 4
MOST_SHOWN = 40  # characters of a file in a message

TOKEN = re.compile(
    r"""(?P<blank>\s+|\ufeff|//[^\n]*|/\*.*?\*/) | (?P<open>/\*.*) | "(?P<text>[^"\n]*)" | (?P<brace>[{}])
      | (?P<word>(?:(?!//|/\*)[^\s{}"])+)""",
    re.VERBOSE | re.DOTALL,
)
TOKEN_START = re.compile(r'[\s{}"]|//|/\*')  # what ends the word before it
NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")  # one way to read digits, so that none are read twice
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")  # a name that id's lexer takes without quotes
REST_OF_LINE = re.compile(r"(?:[^\S\n]|//[^\n]*|/\*(?:(?!\*/)[^\n])*\*/)*(?:\n|\Z)")


@dataclass
class Row:
    """An animation: frames of an MDX, from `first` on."""

    name: str
    first: int
    length: int
    loop: int = 0  # frames at the end that repeat; 0: it stops
    fps: float = 15.0
    move_speed: int = 0  # units per second; below 0: measured from the feet
    transition: int = 0  # milliseconds in which the animation before it fades
    reversed: bool = False
    priority: int | None = None  # ET: Legacy's; None: a row of ET
    text: str = field(default="", compare=False, repr=False)  # what it was read from
    before: str = field(default="", compare=False, repr=False)  # comments and blanks
    after: str = field(default="", compare=False, repr=False)  # to the end of the line; of the last row, of the file

    @property
    def key(self) -> str:
        """Return the name as it is compared."""
        return self.name.lower()

    @property
    def clip(self) -> Clip:
        """Return what it means: a length and a rate of 0 play as 1."""
        count = max(self.length, 1)
        return Clip(self.name, self.first, -count if self.reversed else count, self.fps or 1.0, self.loop)


@dataclass(frozen=True)
class _Token:
    kind: str  # text, brace, word, or end
    value: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        """Tell whether it is a number that is not quoted."""
        return self.kind == "word" and NUMBER.match(self.value) is not None

    @property
    def is_name(self) -> bool:
        """Tell whether it may be the name of an animation."""
        return self.kind == "text" or (self.kind == "word" and not self.is_number and not self.value.startswith("#"))


class _Reader:
    """A text as tokens; errors name the line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.now = next(self.tokens)

    def fail(self, what: str, expected: str, token: _Token | None = None) -> NoReturn:
        """Raise a FormatError about a token, or the present one."""
        _fail(self.text, token or self.now, what, expected)

    def next(self) -> _Token:
        """Return the present token, and go on behind it."""
        token = self.now
        if token.kind != "end":
            self.now = next(self.tokens)
        return token

    def row(self) -> Row:
        """Return the row that begins now, with its text; raises FormatError."""
        name = self.next()
        if not name.is_name:
            self.fail("unexpected text", "the name of an animation", name)
        numbers: list[_Token] = []
        while self.now.is_number and len(numbers) < len(FIELDS):
            numbers.append(self.next())
        if len(numbers) < FEWEST:
            self.fail(f"animation '{_short(name.value)}' lacks a number", FIELDS[len(numbers)])
        values = [self._value(place, token) for place, token in enumerate(numbers)]
        row = Row(name.value, 0, 0, text=self.text[name.start : numbers[-1].end])
        for key, value in zip(FIELDS, values, strict=False):
            setattr(row, key, value)
        return row

    def _value(self, place: int, token: _Token) -> int | float | bool:
        low, value = 0 if FIELDS[place] in NOT_NEGATIVE else -INT32, float(token.value)
        if not low <= value < INT32:
            self.fail(FIELDS[place], f"{low} to {INT32 - 1}", token)
        if place == FPS:
            return value
        return int(value) == 1 if place == REVERSED else int(value)


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def _fail(text: str, token: _Token, what: str, expected: str) -> NoReturn:
    line = text.count("\n", 0, token.start) + 1
    raise FormatError(what, f"line {line}", expected, f"'{_short(token.value)}'" if token.kind != "end" else "the end")


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a text, and one for its end; raises FormatError. An open comment ends with the text."""
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            rest = _Token("word", text[place : place + MOST_SHOWN].split("\n", maxsplit=1)[0], place, place)
            _fail(text, rest, "a quote is not closed", 'another " in the same line')
        kind = str(match.lastgroup)
        if kind not in {"blank", "open"}:
            yield _Token(kind, match.group(kind), match.start(), match.end())
        place = match.end()
    yield _Token("end", "", len(text), len(text))


def read_rows(text: str) -> list[Row]:
    """Return the rows of an `.aninc`, in the order of the file; see `effective`.

    Raises:
        FormatError: something else than rows, a number missing or out of range; it names the line.
    """
    reader, rows, end = _Reader(text), [], 0
    while reader.now.kind != "end":
        start = reader.now.start
        row = reader.row()
        row.before, end = text[end:start], start + len(row.text)
        rest = REST_OF_LINE.match(text, end)
        if rest is not None:
            row.after, end = rest.group(), rest.end()
        rows.append(row)
    if rows:
        rows[-1].after += text[end:]
    return rows


def effective(rows: list[Row]) -> list[Row]:
    """Return the rows that count: of those of one name the last, at the place of the first."""
    last = {row.key: row for row in rows}
    return list(last.values())


def write_rows(rows: list[Row]) -> str:
    """Return the text of an `.aninc`; inverse of `read_rows`, character by character while nothing changed.

    A new row begins with two tabs, and its numbers stand in columns behind the longest name, as in the games' files; a
    file of new rows begins with their meaning. Of a name, quotes and line ends are left out.

    Raises:
        ValueError: a rate is no finite number.
    """
    widest = max((len(_name(row)) for row in rows), default=0)
    end = _line_end(rows)
    head = f"\t\t// name {' '.join(FIELDS[:FEWEST])}{end}{end}"
    parts = [] if any(row.text for row in rows) else [head]
    for row in rows:
        indent, after = (row.before, row.after) if row.text else ("\t\t", end)
        text = indent + spelt(row, widest)
        parts += [_separator(parts[-1], text, end) if parts else "", text + after]
    return "".join(parts)


def _line_end(rows: list[Row]) -> str:
    return "\r\n" if any("\r\n" in row.before + row.after for row in rows) else "\n"


def _separator(text: str, following: str, end: str) -> str:
    """Return what keeps a row from being part of the text before it, or of its comment."""
    kind = last = ""
    for match in TOKEN.finditer(text):
        kind, last = str(match.lastgroup), match.group()
    if kind == "open":
        return "*/" + end
    if kind == "blank":
        return end if last.startswith("//") else ""
    return end if TOKEN_START.match(following) is None else ""


def without_quotes(name: str) -> str:
    """Return a name as a table can hold it."""
    return "".join(letter for letter in name if letter not in '"\r\n')


def _name(row: Row) -> str:
    clean = without_quotes(row.name)
    return clean if PLAIN.match(clean) else f'"{clean}"'


def _numbers(row: Row) -> list[str]:
    if not math.isfinite(row.fps):
        raise ValueError(f"animation '{row.name}' plays at {row.fps} frames per second")
    fps = f"{row.fps:.{DECIMALS}f}".rstrip("0").rstrip(".")
    texts = [fps if key == "fps" else str(int(getattr(row, key))) for key in FIELDS[:FEWEST]]
    return texts if row.priority is None else [*texts, str(row.priority)]


def _columns(row: Row, widest: int) -> str:
    name = _name(row)
    stop = (max(widest, len(name)) // TAB + 1) * TAB  # behind the name, or it would take the first number along
    return name + "\t" * math.ceil((stop - len(name)) / TAB) + "\t".join(_numbers(row))


def spelt(row: Row, widest: int) -> str:
    """Return a row as it was read, with the words in it that changed; a new one in columns behind a name so long."""
    if not row.text:
        return _columns(row, widest)
    old = _Reader(row.text).row()
    if old == row:
        return row.text
    if (old.priority is None) is not (row.priority is None):
        return _columns(row, widest)
    before, after = ([_name(r), *_numbers(r)] for r in (old, row))
    text, tokens = row.text, list(_tokens(row.text))[:-1]
    for token, was, now in reversed(list(zip(tokens, before, after, strict=True))):
        if was != now:
            text = text[: token.start] + now + text[token.end :]
    return text


def like(row: Row, other: Row) -> Row:
    """Return a row with a priority if another has one, and its text."""
    priority = None if other.priority is None else row.priority if row.priority is not None else other.priority
    return replace(row, priority=priority, text=other.text, before="", after="")


def with_edits(rows: list[Row], edits: Sequence[RowEdit], gone: Iterable[str] = ()) -> list[Row]:
    """Return the rows of a table with edits, new ones behind all others, and without those of some names.

    An edit is of the last row of its name, which is the one that counts; earlier ones go where that gets another name,
    or they would count then. Comments before a row that goes stay.
    """
    found, lost = [replace(row) for row in rows], {name.lower() for name in gone}
    going = {nth for nth, row in enumerate(rows) if row.key in lost}
    for edit in (edit for edit in edits if edit.old is not None):
        assert edit.old is not None
        *earlier, place = [nth for nth, row in enumerate(rows) if row.key == edit.old.key]
        was = found[place]
        found[place] = replace(like(edit.new, was), before=was.before, after=was.after)
        going |= set() if edit.new.key == edit.old.key else set(earlier)
    found, end = _without(found, going), _line_end(rows)
    for edit in (edit for edit in edits if edit.old is None):
        new = replace(like(edit.new, found[-1]) if found else edit.new, text="")
        end_line(found, end)
        found.append(new)
    return found


def end_line(rows: list[Row], end: str = "") -> None:
    """Let the last of some rows end its line, for others behind it, which bring their own blanks."""
    if rows:
        after = rows[-1].after.rstrip(" \t")
        rows[-1] = replace(rows[-1], after=after if after.endswith("\n") else after + (end or _line_end(rows)))


def _without(rows: list[Row], going: set[int]) -> list[Row]:
    """Return rows without some, by their numbers; comments before them stay, and what is behind the last."""
    found = list(rows)
    for place in sorted(going, reverse=True):
        row = found.pop(place)
        lines = row.before[: row.before.rfind("\n") + 1]
        if place < len(found) and lines.strip():
            found[place].before = lines + found[place].before
        if place and place == len(found):  # what stands behind the last row is the file's
            found[-1].after += "".join(row.after.splitlines(keepends=True)[1:])
    return found


@dataclass(frozen=True)
class RowEdit:
    """A row of a table that is to say something else, or a new one."""

    motion: str  # the file of frames that it is of, as the game names it
    old: Row | None  # None: it is new
    new: Row
