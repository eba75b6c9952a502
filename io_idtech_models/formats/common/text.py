"""id's text files: words, quoted strings, braces, and blocks of numbers, which are read and written as whole arrays.

Comments (`//` to the end of the line, and between `/*` and `*/`) are blanks. A quoted string ends at the next quote:
id's lexer knows escapes too, which no model has. Numbers are what C's `atof` takes, but for infinities and NaN, which
are refused here.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import LARGEST
from ...reporting import NO_TEXT, FormatError

TOKEN = re.compile(rb'\s*("[^"\n]*"|[(){}]|[^\s(){}"]+)')
REMARK = re.compile(rb'"[^"\n]*"|//[^\n]*|/\*')
PARENTHESES = bytes.maketrans(b"()", b"  ")
MOST_SHOWN = 40  # characters of a file in a message
LARGEST_INTEGER = 2**31 - 1  # engines read an int
DECIMALS = 10  # id's exporter writes "%1.10f"
TIE = 1e-3  # of the last decimal


class Reader:
    """A file as a sequence of tokens; errors name the line."""

    def __init__(self, data: bytes) -> None:
        self.text = _without_comments(data)
        self.place = 0

    def fail(self, what: str, expected: object = None, found: object = None, place: int | None = None) -> NoReturn:
        """Raise a FormatError that names the line of a place, or of the present one."""
        line = self.text.count(b"\n", 0, self.place if place is None else place) + 1
        raise FormatError(what, f"line {line}", expected, found)

    def peek(self) -> bytes:
        """Return the next token, b"" at the end."""
        match = TOKEN.match(self.text, self.place)
        return match.group(1) if match else b""

    def next(self, what: str) -> bytes:
        """Return the next token and go on behind it; raises FormatError at the end."""
        match = TOKEN.match(self.text, self.place)
        if match is None:
            rest = self.text[self.place :].lstrip()
            if not rest:
                self.fail("the file ends too early", what, _shown(rest))
            shown = _shown(b" ".join(rest[:MOST_SHOWN].split()))
            self.fail("unreadable text", what, shown, len(self.text) - len(rest))
        self.place = match.end()
        return match.group(1)

    def expect(self, word: bytes) -> None:
        """Go on behind a token that must come now; raises FormatError."""
        found = self.next(_shown(word))
        if found != word:
            self.place -= len(found)
            self.fail("unexpected text", _shown(word), _shown(found))

    def integer(self, what: str) -> int:
        """Return the whole number that comes now; raises FormatError."""
        token = self.next(what)
        try:
            value = float(token)
        except ValueError:
            value = 0.5
        if not (value.is_integer() and -LARGEST_INTEGER <= value <= LARGEST_INTEGER):
            self.fail(what, "a whole number", _shown(token))
        return int(value)

    def as_float(self, token: bytes) -> float:
        """Return the number that a token is; raises FormatError."""
        if not _is_number(token):
            self.fail("not a number", "a finite number", _shown(token))
        return float(token)

    def count(self, keyword: bytes) -> int:
        """Return the number behind a keyword, 0 or more; raises FormatError."""
        self.expect(keyword)
        found = self.integer(keyword.decode())
        if found < 0:
            self.fail(f"negative {keyword.decode()}", "0 or more", found)
        return found

    def string(self, what: str) -> str:
        """Return the text that comes now, quoted or not; raises FormatError."""
        token = self.next(what)
        return decode_text(token[1:-1] if token.startswith(b'"') else token)

    def rows(self, keyword: bytes, count: int, width: int, until: bytes) -> NDArray[np.float64]:
        """Return `count` rows that begin with a keyword and hold `width` numbers each, (count, width).

        Raises:
            FormatError: there are more or fewer before the word `until`, or something else than numbers.
        """
        start = self.place
        tokens = self._segment(until)
        heads = tokens[:: width + 1]
        if len(tokens) != count * (width + 1) or heads.count(keyword) != count:
            found = tokens.count(keyword)
            text = f"{count} lines '{keyword.decode()}' of {width} numbers"
            self.fail("damaged list", text, f"{found} lines, {len(tokens)} words", self._damaged(start, keyword, heads))
        del tokens[:: width + 1]
        return self._floats(tokens, start).reshape(count, width)

    def row_place(self, start: int, keyword: bytes, row: int) -> int:
        """Return where row number `row` of those that `rows` read from `start` on is: only errors ask for it."""
        pattern = re.compile(rb"(?<![^\s()])" + re.escape(keyword) + rb"(?![^\s()])")
        place = start
        for nth, match in enumerate(pattern.finditer(self.text, start)):
            place = match.start()
            if nth == row:
                break
        return place

    def _damaged(self, start: int, keyword: bytes, heads: list[bytes]) -> int:
        """Return where the first row is that has too few or too many words; where the list starts if none has."""
        odd = next((nth for nth, head in enumerate(heads) if head != keyword), 0)
        return self.row_place(start, keyword, odd - 1) if odd else start

    def block(self, width: int) -> NDArray[np.float64]:
        """Return the numbers of a block in braces as rows, (n, width), and go on behind it; raises FormatError."""
        self.expect(b"{")
        start = self.place
        tokens = self._segment(b"}")
        self.expect(b"}")
        if len(tokens) % width:
            self.fail("damaged block", f"rows of {width} numbers", f"{len(tokens)} numbers", start)
        return self._floats(tokens, start).reshape(-1, width)

    def _segment(self, until: bytes) -> list[bytes]:
        """Return the words before the next `until`, without parentheses."""
        end = self.text.find(until, self.place)
        if end < 0:
            self.fail("the file ends too early", _shown(until), "the end")
        words = self.text[self.place : end].translate(PARENTHESES).split()
        self.place = end
        return words

    def _floats(self, tokens: list[bytes], start: int) -> NDArray[np.float64]:
        try:
            values = np.array(tokens, np.float64)
        except ValueError:
            values = np.full(len(tokens), np.nan)
        if np.isfinite(values).all() and np.abs(values).max(initial=0.0) <= LARGEST:
            return values
        bad = next(token for token in tokens if not _is_number(token))
        match = re.search(rb"(?<![^\s()])" + re.escape(bad) + rb"(?![^\s()])", self.text[start:])
        self.fail("not a number", "a finite number", _shown(bad), start + (match.start() if match else 0))


def _is_number(token: bytes) -> bool:
    try:
        return bool(abs(float(token)) <= LARGEST)
    except ValueError:
        return False


def _shown(raw: bytes) -> str:
    text = raw[:MOST_SHOWN].decode("utf-8", errors="replace")
    return f"'{text}'" if text else "the end"


def _without_comments(data: bytes) -> bytes:
    """Return a text of the same length and lines with blanks for comments."""
    if b"//" not in data and b"/*" not in data:
        return data

    parts: list[bytes] = []
    done, place, last = 0, 0, data.rfind(b"*/")
    # Behind the line of the last there is nothing to find, in an animation for megabytes.
    end = data.find(b"\n", max(data.rfind(b"//"), data.rfind(b"/*")))
    while match := REMARK.search(data, place, end if end >= 0 else len(data)):
        start, place = match.span()
        if match.group(0) == b"/*" and place <= last:
            place = data.index(b"*/", place) + 2
        elif not match.group(0).startswith(b"//"):
            continue  # a string, or a comment without an end, which is none
        parts += (data[done:start], b"\n".join(b" " * len(line) for line in data[start:place].split(b"\n")))
        done = place
    return b"".join((*parts, data[done:]))


def decode_text(raw: bytes) -> str:
    """Return a text as UTF-8 where it is valid, else as Latin-1, which maps every byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def encode_text(text: str) -> bytes:
    """Return a text for a quoted string: what would end it is left out; inverse of `decode_text`."""
    return "".join(c for c in text if c not in NO_TEXT).encode("utf-8", errors="replace")


def format_rows(pattern: str, values: NDArray[Any]) -> bytes:
    """Return a line per row of values (n, k), made by a %-pattern with k places `%s`, numbers as in id's files.

    Ten decimals, and more where those would not give the same float32 back.
    """
    if not len(values):
        return b""
    exact = np.clip(values.astype(np.float64), -LARGEST, LARGEST)
    flat: NDArray[np.float64] = exact.ravel()
    single = flat.astype(np.float32)
    # So that what is read from the file is written as the same text again.
    flat = np.where(_other_when_cut(flat, single), single, flat)
    short = _other_when_cut(flat, single)
    usual = f"%.{DECIMALS}f"
    texts: list[Any] = flat.tolist()
    if not short.any():
        return (pattern.replace("%s", usual) * len(values) % tuple(texts)).encode()
    places = [usual] * len(texts)
    for i in np.flatnonzero(short).tolist():
        whole, _, part = np.format_float_positional(np.float32(flat[i]), unique=True, trim="0").partition(".")
        texts[i], places[i] = f"{whole}.{part:0<{DECIMALS}}", "%s"
    return (pattern * len(values) % tuple(places) % tuple(texts)).encode()


def _other_when_cut(values: NDArray[np.float64], single: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which values (n,) ten decimals may turn into another float32 than `single` (n,).

    Where the last decimal is a tie it is rounded otherwise here than in text.
    """
    scaled = values * 10.0**DECIMALS
    tie = np.abs(scaled - np.floor(scaled) - 0.5) < TIE
    return np.asarray(tie | (np.round(values, DECIMALS).astype(np.float32) != single))
