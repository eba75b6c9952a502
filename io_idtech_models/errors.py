"""The errors that broken input and engine limits raise, each one sentence that a modder can act on."""

from __future__ import annotations


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
