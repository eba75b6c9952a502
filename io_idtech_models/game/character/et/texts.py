"""Texts of Enemy Territory's characters with what was edited in them, and all else as it was, to the byte.

A row of an animation group may stand in its `.anim`, or in a table that this includes, or that one: where the last of
its name is spelt, which is the one that counts (see `group`), its numbers change. A new row stands behind the last of
its file of frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ....reporting import FormatError, LimitError
from ... import aninc
from ...aninc import Row, RowEdit
from ...lexer import WORDS, clean, decode, fold, shown, unquoted
from ...skin import read_skin
from ...store import name_parts
from . import definition
from .group import ANIMFILE, BODY, INCLUDE, MOST_BYTES, MOST_INCLUDES, MOST_MOTIONS, MOST_ROWS, START

MOST_TRIES = 4  # words of a key that may be its last: each reads the file again
Texts = Mapping[str, bytes]  # by their paths in the game


def with_value(data: bytes, key: str, value: str) -> bytes:
    """Return a character's file in which a key, given in lower case, has another value.

    Raises:
        LimitError: it has no such key, or no file can hold the value.
    """
    if not value.isprintable() or '"' in value:
        raise LimitError(f"'{value}' can't stand in a character's file")
    text, encoding = decode(data)
    words = [word for word in WORDS.finditer(clean(text, keeps_lines=True)) if word[0] != "\n"]
    pairs = [(word, after) for word, after in pairwise(words) if fold(unquoted(word[0])) == key]
    for _, after in reversed(pairs[-MOST_TRIES:]):
        start, end = after.span()
        quoted = text[start] == '"' or any(letter.isspace() for letter in value)
        found = _encoded(text[:start] + (f'"{value}"' if quoted else value) + text[end:], encoding)
        if _says(found, data, key, value):
            return found
    raise LimitError(f"the character's file names no {key} that could be another one")


def _says(data: bytes, before: bytes, key: str, value: str) -> bool:
    """Tell whether a character's file says a value, and all else as before: quotes and braces may be anywhere."""
    try:
        found, was = definition.read(data), definition.read(before)
    except FormatError:
        return False
    others = [[e for e in each.entries if fold(e.key) != key] for each in (found, was)]
    return found.value(key) == value and others[0] == others[1] and len(found.entries) == len(was.entries)


def with_skin(data: bytes, name: str) -> bytes:
    """Return a character's file that names another skin; raises LimitError."""
    return with_value(data, definition.SKIN, name)


def with_parts(data: bytes, gone: Iterable[str], added: Mapping[str, str], _folder: str = "") -> bytes:
    """Return a body's skin that attaches no models of some types any more, and others: by their type their path.

    Raises:
        LimitError: there are more than the game takes, or a path can't be written.
    """
    return read_skin(data).with_attached(gone, added).write()


def with_rows(texts: Texts, group: str, edits: Sequence[RowEdit]) -> dict[str, bytes]:
    """Return the texts that edits of rows change; `group` is the path of the animation group.

    Raises:
        LimitError: a row stands nowhere, or its table can't be read.
    """
    walk = _Walk(texts, group)
    spots = list(walk.group())
    changes: dict[str, list[tuple[int, int, str]]] = {}
    for edit in edits:
        name, change = _change(spots, edit)
        changes.setdefault(name, []).append(change)
    return {name: walk.changed(name, own) for name, own in changes.items()}


@dataclass(frozen=True)
class _Spot:
    """Where a row stands."""

    motion: str  # as it is compared
    text: str  # the path of the file
    start: int
    row: Row
    rest: str  # of its line, where nothing but a comment follows

    @property
    def end(self) -> int:
        return self.start + len(self.row.text)


def _key(path: str) -> str:
    """Return the path of a file as games compare it."""
    return "/".join(name_parts(fold(path)))


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding, errors="surrogateescape")
    except UnicodeEncodeError as error:
        letters = shown(text[error.start : error.end])
        raise LimitError(f"'{letters}' can't be written into a file whose letters are {encoding}") from error


class _Walk:
    """Finds rows in the order in which a game reads them; `path` is that of the group."""

    def __init__(self, texts: Texts, path: str) -> None:
        self.key = _key(path)
        # As they were read: see `group`.
        self.texts = {
            _key(name): (name, *(decode(data) if _key(name) == self.key else _table(data)))
            for name, data in texts.items()
        }
        self.sizes = {_key(name): len(data) for name, data in texts.items()}
        self.included = self.rows = self.bytes = 0
        self.is_full = False  # what follows is not read: see `group`

    def changed(self, name: str, changes: list[tuple[int, int, str]]) -> bytes:
        """Return a text with changes; raises LimitError."""
        _, text, encoding = self.texts[_key(name)]
        for start, end, new in sorted(changes, key=lambda change: change[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return _encoded(text, encoding)

    def group(self) -> Iterator[_Spot]:
        """Yield the rows of the animation group."""
        name, text, _ = self.texts.get(self.key, ("", "", ""))
        plain = clean(text, keeps_lines=True)
        start = START.match(plain)
        block = None if start is None else ANIMFILE.match(plain, start.end())
        for _ in range(MOST_MOTIONS):
            if block is None or self.is_full:
                return
            body = BODY.match(plain, block.end())
            end = len(plain) if body is None else body.end()
            motion = _key(block["quoted"] or block["bare"] or "")
            yield from self.part(motion, name, (plain, text), (block.end(), end), (self.key,))
            block = ANIMFILE.match(plain, end + 1)

    def part(
        self, motion: str, name: str, text: tuple[str, str], span: tuple[int, int], way: tuple[str, ...]
    ) -> Iterator[_Spot]:
        """Yield the rows in a part of a text, without comments and as it is, and of what that includes."""
        place, end = span
        for found in INCLUDE.finditer(text[0], place, end):
            if self.is_full:
                return
            yield from self.counted(_rows(motion, name, text, (place, found.start())))
            yield from self.follow(motion, _key(found["quoted"] or found["bare"] or ""), way)
            place = found.end()
        yield from self.counted(_rows(motion, name, text, (place, end)))

    def follow(self, motion: str, key: str, way: tuple[str, ...]) -> Iterator[_Spot]:
        """Yield the rows of a file that another includes."""
        if key in way:
            return
        self.is_full = self.is_full or self.included == MOST_INCLUDES
        self.included += 1
        if self.is_full or key not in self.texts:
            return
        name, text, _ = self.texts[key]
        self.bytes += self.sizes[key]
        self.is_full = self.bytes > MOST_BYTES
        if self.is_full:
            return
        plain = clean(text, keeps_lines=True)
        if INCLUDE.search(plain):
            yield from self.part(motion, name, (plain, text), (0, len(plain)), (*way, key))
        else:
            yield from self.counted(_rows(motion, name, (text, text), (0, len(text))))

    def counted(self, spots: Iterable[_Spot]) -> list[_Spot]:
        """Return the rows of a part, none if they are more than are read."""
        found = list(spots)
        if self.rows + len(found) > MOST_ROWS:
            self.is_full = True
            return []
        self.rows += len(found)
        return found


def _table(data: bytes) -> tuple[str, str]:
    return data.decode("utf-8", errors="surrogateescape"), "utf-8"


def _rows(motion: str, name: str, text: tuple[str, str], span: tuple[int, int]) -> Iterator[_Spot]:
    plain, whole = text
    place, end = span
    try:
        rows = aninc.read_rows(plain[place:end])
    except FormatError:  # none of it counts
        return
    for row in rows:
        start = place + len(row.before)
        place = start + len(row.text) + len(row.after)
        rest = aninc.REST_OF_LINE.match(whole, start + len(row.text))
        row.text = _as_written(row, whole[start : start + len(row.text)])
        yield _Spot(motion, name, start, row, "" if rest is None else rest[0])


def _as_written(row: Row, text: str) -> str:
    """Return what a row was read from with the comments in its midst, if it means the same with these."""
    if text == row.text:
        return text
    try:
        found = aninc.read_rows(text)
    except FormatError:
        return row.text
    return text if found == [row] else row.text


def _change(spots: list[_Spot], edit: RowEdit) -> tuple[str, tuple[int, int, str]]:
    """Return which text an edit changes, and from where to where to what."""
    own = [spot for spot in spots if spot.motion == _key(edit.motion)]
    if edit.old is not None:
        own = [spot for spot in own if spot.row.key == edit.old.key]
        own = [spot for spot in own if spot.row == edit.old] or own  # a file of frames may be named twice
    if not own:
        where = f"row '{edit.new.name}'" if edit.old is None else f"row '{edit.old.name}'"
        raise LimitError(f"there is no table of '{edit.motion}' that could have the {where}")
    last = own[-1]
    if edit.old is not None:
        new = aninc.like(edit.new, last.row)
        return last.text, (last.start, last.end, aninc.spelt(new, 0))
    new = aninc.like(edit.new, last.row)
    new.text = ""
    widest = max(len(spot.row.name) for spot in own)
    indent = last.row.before.rpartition("\n")[2]
    newline = "\r\n" if "\r\n" in last.row.before + last.rest else "\n"
    line = (indent if not indent.strip() else "") + aninc.spelt(new, widest)
    at = last.end + len(last.rest)
    return last.text, (at, at, line + newline if last.rest.endswith("\n") else newline + line)
