"""Texts of games with a line, or a word, gone or another; and what was read of them as something to compare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from io_idtech_models.game.store import GameFile

WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')


def damaged(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is changed of a text, by its line, and the text so changed."""
    lines = text.split(b"\n")
    for nth in range(len(lines)):
        yield f"line {nth + 1} gone", b"\n".join(lines[:nth] + lines[nth + 1 :])
    for word in WORD.finditer(text):
        line = text.count(b"\n", 0, word.start()) + 1
        for other in (b"", b"7", b"-0.5", b"{", b"\n", word[0] * 2):
            changed = text[: word.start()] + other + text[word.end() :]
            yield f"{line}: {word[0].decode()} -> {other.decode()}", changed


def plain(thing: Any) -> Any:
    """Return what a dataclass holds, files as their places, as something that JSON has; nothing of what is empty."""
    if isinstance(thing, GameFile):
        return thing.place
    if dataclasses.is_dataclass(thing):
        values = {each.name: getattr(thing, each.name) for each in dataclasses.fields(thing)}
        return {name: plain(value) for name, value in values.items() if value}
    if isinstance(thing, dict):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(each) for each in thing]
    return thing if isinstance(thing, (str, int, float, bool, type(None))) else str(thing)


def digest(thing: Any) -> str:
    """Return what is the same of things that hold the same."""
    return hashlib.sha256(json.dumps(plain(thing), sort_keys=True).encode()).hexdigest()[:8]


def kind_of(sentence: str) -> str:
    """Return a sentence without the numbers and names that it is about."""
    return re.sub(r"-?\d[\d.]*", "#", re.sub(r"'[^']*'", "''", sentence.partition(", found")[0]))
