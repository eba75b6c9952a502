"""What is wrong, in words: errors that broken input and engine limits raise, and the warnings of all that survives.

Each is one sentence that a modder can act on. Errors are exceptions; warnings are logged by whoever sees the trouble,
and collected by whoever talks to the user.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

OF_ONE = re.compile(r"'([^']*)' (.*)\Z", re.DOTALL)  # a sentence about one thing
NAME = re.compile(r"'([^']*)'")
ABOUT = re.compile(r"'[^']*'|\d[\d.,]*|^[\w.-]+: ")  # what a sentence is about, and how much: a file's name before it
NO_TEXT = '"\r\n\0'  # what the quoted names of a text can't hold; engines read up to a NUL


class ModelError(Exception):
    """Base of every error that is the input's fault and not the program's."""


class FormatError(ModelError):
    """A file that can't be read: what was wrong, where, what was expected and what was found."""

    def __init__(self, what: str, where: str = "", expected: object = "", found: object = "") -> None:
        self.what = what
        self.where = where
        self.expected = str(expected)
        self.found = str(found)
        super().__init__(what, where, self.expected, self.found)

    def __str__(self) -> str:
        """One sentence: "bad version at byte 4: expected 15, found 7"."""
        place = f"{self.what} at {self.where}" if self.where else self.what
        facts = [f"{word} {text}" for word, text in (("expected", self.expected), ("found", self.found)) if text]
        return f"{place}: {', '.join(facts)}" if facts else place


class LimitError(ModelError):
    """A model that a format, a game or Blender can't hold; the sentence names object, value and limit."""


def reason(error: OSError) -> str:
    """Return why the system refuses, in words: "no such file or directory"."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


class _Collector(logging.Handler):
    """Keeps the texts of warnings, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record's text."""
        text = record.getMessage()
        if text not in self.texts:
            self.texts.append(text)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the texts of warnings that the package's loggers get within; they are not printed."""
    logger, collector = logging.getLogger(__package__), _Collector()
    propagate = logger.propagate
    logger.addHandler(collector)
    logger.propagate = False
    try:
        yield collector.texts
    finally:
        logger.removeHandler(collector)
        logger.propagate = propagate


@contextmanager
def unheard() -> Iterator[None]:
    """Let warnings within go nowhere: what comes of that is compared, and not written."""
    logger = logging.getLogger(__package__)
    handlers, propagate = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [logging.NullHandler()], False
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagate


_watchers: list[Callable[[int, int], None]] = []


@contextmanager
def watched(watcher: Callable[[int, int], None]) -> Iterator[None]:
    """Tell a function how far long work within has come: how much is done, and of how much."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def advance(done: int, total: int) -> None:
    """Say how far work has come that may take long."""
    for watcher in _watchers:
        watcher(done, total)


SHOWN = 7  # sentences in a line, the facts among them


def joined(sentences: list[str], most: int = 6) -> str:
    """Return sentences as one line, each once, and how many there are beyond the first few.

    Where not all have room, those that say the same of several things are one, which names these.
    """
    groups = _grouped(list(dict.fromkeys(sentences)), most)
    shown = [_said_of_all(group) for group in groups[:most]]
    more = [f"and {sum(map(len, groups[most:]))} more"] if len(groups) > most else []
    return "; ".join(shown + more)


def _grouped(sentences: list[str], most: int) -> list[list[str]]:
    """Return sentences in groups, in order: by what they say but for names and numbers, if there are more than that."""
    if len(sentences) <= most:
        return [[sentence] for sentence in sentences]
    groups: dict[str, list[str]] = {}
    for sentence in sentences:
        groups.setdefault(ABOUT.sub("", sentence), []).append(sentence)
    return list(groups.values())


def _said_of_all(group: list[str]) -> str:
    """Return the first of sentences that say the same of several things, with the names of the others' things."""
    first, *others = group
    if not others:
        return first
    names = [match[1] for match in (NAME.search(each) for each in others) if match is not None]
    return f"{first} (and {len(others)} such{': ' if names else ''}{listed(names)})"


@dataclass
class Summary:
    """What a task did, in words: the facts, the warnings, and notes: further facts, which nobody need act on.

    `beside` are warnings of what files need that this task did not write, for who writes these, too.
    """

    facts: str
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """One line, with the first few warnings and notes."""
        return joined(self.sentences, most=SHOWN)

    @property
    def whole(self) -> str:
        """One line, with all warnings and notes."""
        return "; ".join(self.sentences)

    @property
    def rest(self) -> list[str]:
        """Return the warnings and notes that the line has no room for."""
        shown = {group[0] for group in _grouped(self.sentences, SHOWN)[:SHOWN]}
        return [sentence for sentence in self.sentences if sentence not in shown]

    @property
    def sentences(self) -> list[str]:
        """All of it."""
        return [self.facts, *self.warnings, *self.beside, *self.notes]

    @property
    def is_odd(self) -> bool:
        """Tell whether there is something that one may have to act on."""
        return bool(self.warnings or self.beside)


def once(texts: Iterable[str]) -> list[str]:
    """Return sentences, each once; of those that say the same of several things one, which names these."""
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        match = OF_ONE.match(text)
        found.setdefault(text if match is None else match[2], []).append("" if match is None else match[1])
    return [
        f"each of {listed(names)} {rest}" if len(names) > 1 else f"'{names[0]}' {rest}" if names[0] else rest
        for rest, names in found.items()
    ]


def plural(count: int, noun: str, many: str = "") -> str:
    """Return "1 frame", "2 frames"; `many` is a noun's plural that takes more than an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"


def listed(names: list[str], most: int = 6, quoted: bool = True) -> str:
    """Return "'a', 'b'", and how many there are beyond the first few; not `quoted`: what holds quotes already."""
    shown = [f"'{name}'" if quoted else name for name in names[:most]]
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join(shown + more)
