"""Animation groups of Wolfenstein: Enemy Territory: `.anim` files, which say whose frames a character plays.

`animgroup { animfile "x.mdx" { rows } ... }`. Rows are those of tables (see `aninc`), written there or, as a rule,
taken from one by `#include "y.aninc"`, a path from the game's folder. A file includes others, these again
others: none twice on the way to it, and no more than `MOST_INCLUDES` in all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ....reporting import FormatError, ModelError
from ...aninc import Row, effective, read_rows
from ...lexer import clean, fold, shown, shown_name
from ...store import name_parts

SUFFIX = ".anim"
START = re.compile(r'\s*"?animgroup"?\s*\{', re.IGNORECASE)
ANIMFILE = re.compile(r'\s*animfile\s+(?:"(?P<quoted>[^"\n]*)"|(?P<bare>[^\s{}"]+))\s*\{', re.IGNORECASE)
BODY = re.compile(r'(?:"[^"\n]*"?|[^"{}]+)*')  # up to a brace that is not quoted
INCLUDE = re.compile(r'#include\s+(?:"(?P<quoted>[^"\n]*)"|<(?P<bare>[^>\n]*)>)')
MOST_INCLUDES = 256
MOST_ROWS = 20000  # the games' groups have 195
MOST_MOTIONS = 1024
MOST_BYTES = 1 << 22  # of a group with all that it includes, each as often as it does; the games' have 40,000

Include = Callable[[str], bytes]  # a file's bytes, by its name in the game; raises ModelError, a whole sentence


@dataclass
class Motion:
    """A file of frames, and the rows that take them apart."""

    name: str  # in the game
    line: int
    rows: list[Row] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # that were included


@dataclass
class Group:
    """What an animation group says, and what is wrong with it, a sentence each."""

    motions: list[Motion] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def read_group(text: str, name: str, include: Include) -> Group:
    """Return what an animation group says, as far as it can be understood; `name` is the file's, for messages.

    Raises:
        FormatError: it does not begin as such a file does.
    """
    plain = clean(text[: MOST_BYTES + 1], keeps_lines=True)
    if len(plain) > MOST_BYTES:
        raise FormatError("it is too long for an animation group", "", f"{MOST_BYTES} bytes at most")
    start = START.match(plain)
    if start is None:
        found = shown(next(iter(plain.split("\n")), "").strip())
        raise FormatError("this is no animation group", "line 1", "animgroup {", f"'{found}'")
    return _Reader(name, include).read(plain, start.end())


class _Reader:
    """Reads a group, and counts what it includes."""

    def __init__(self, name: str, include: Include) -> None:
        self.name, self.include = name, include
        self.group = Group()
        self.included = self.rows = self.bytes = 0
        self.is_full = False  # nothing more is read

    def complain(self, sentence: str) -> None:
        """Say something once."""
        if sentence not in self.group.complaints:
            self.group.complaints.append(sentence)

    def fill(self, most: str) -> None:
        """Say that there is more than `most`, and read nothing further."""
        self.is_full = True
        self.complain(f"'{self.name}' has more than {most}: the rest is left out")

    def read(self, text: str, place: int) -> Group:
        """Return the group whose text, without comments, goes on behind its first brace."""
        while True:
            block = ANIMFILE.match(text, place)
            if block is None or self.is_full or len(self.group.motions) == MOST_MOTIONS:
                if self.is_full:
                    return self.group
                if block is not None:
                    self.fill(f"{MOST_MOTIONS} files of frames")
                    return self.group
                rest = text[place:].lstrip()
                if not rest.startswith("}"):
                    found = f"'{shown(rest.splitlines()[0])}'" if rest else "the end"
                    line = text.count("\n", 0, len(text) - len(rest)) + 1
                    self.complain(f"'{self.name}', line {line}: expected animfile or a closing brace, found {found}")
                return self.group
            motion = Motion(block["quoted"] or block["bare"] or "", text.count("\n", 0, block.start("quoted")) + 1)
            self.group.motions.append(motion)
            body = BODY.match(text, block.end())
            end = len(text) if body is None else body.end()
            self.add(motion, text[block.end() : end], text.count("\n", 0, block.end()), (fold(self.name),))
            motion.rows = effective(motion.rows)
            if text[end : end + 1] != "}":
                self.complain(f"'{self.name}', line {motion.line}: '{shown_name(motion.name)}' lacks its closing brace")
            place = end + 1

    def add(self, motion: Motion, text: str, line: int, way: tuple[str, ...]) -> None:
        """Add the rows of a text and of what it includes; `line` are those before it, `way` the files that led here."""
        place = 0
        for found in INCLUDE.finditer(text):
            if self.is_full:
                return
            self.add_rows(motion, text[place : found.start()], line + text.count("\n", 0, place), way)
            self.follow(motion, found["quoted"] or found["bare"] or "", way)
            place = found.end()
        self.add_rows(motion, text[place:], line + text.count("\n", 0, place), way)

    def add_rows(self, motion: Motion, text: str, line: int, way: tuple[str, ...]) -> None:
        """Add rows that stand in a text."""
        try:
            rows = read_rows("\n" * line + text) if text.strip() else []
        except FormatError as error:
            self.complain(f"'{way[-1]}': {error}")
            return
        if self.rows + len(rows) > MOST_ROWS:
            self.fill(f"{MOST_ROWS} rows")
            return
        self.rows += len(rows)
        if rows:
            rows[0].before = rows[0].before[line:]
        motion.rows += rows

    def follow(self, motion: Motion, name: str, way: tuple[str, ...]) -> None:
        """Add the rows of a file that another includes."""
        key = "/".join(name_parts(fold(name)))
        if key in way:
            self.complain(f"'{way[-1]}' includes '{shown_name(name)}', which is in a circle: it is not followed again")
            return
        if self.included == MOST_INCLUDES:
            self.fill(f"{MOST_INCLUDES} included files")
            return
        self.included += 1
        try:
            data = self.include(name)
        except ModelError as error:
            self.complain(str(error))
            return
        self.bytes += len(data)
        if self.bytes > MOST_BYTES:
            self.fill(f"{MOST_BYTES} bytes")
            return
        motion.tables.append(name)
        text = data.decode("utf-8", errors="surrogateescape")
        plain = clean(text, keeps_lines=True)
        # A table is kept as it is spelt, comments and all, but where others are included in its midst.
        if INCLUDE.search(plain):
            self.add(motion, plain, 0, (*way, key))
        else:
            self.add_rows(motion, text, 0, (*way, key))
