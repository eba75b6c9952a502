"""The project's folders, the error that ends a run with one plain sentence, and messages to the user."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Tuple

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = "io_idtech_models"

Version = Tuple[int, int]


class BuildError(Exception):
    """What went wrong and what to do about it, for the user; printed without a traceback."""


class MissingPythonError(BuildError):
    """Something can't be done here because no Python of the right version was found."""


def say(message: str) -> None:
    """Tell the user on stderr, so that a command's own output on stdout stays clean."""
    print(message, file=sys.stderr, flush=True)


def dotted(version: Version) -> str:
    """Write a Python version as people do: ``(3, 11)`` is ``3.11``."""
    return ".".join(map(str, version))


def either(words: list[str]) -> str:
    """Join words as a choice: ``a``, ``a or b``, ``a, b or c``."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def indented(text: str) -> str:
    """Set another program's output off from our own."""
    return "\n".join("    " + line for line in text.splitlines())
