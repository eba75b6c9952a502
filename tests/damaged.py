"""Files that are damaged in every place in turn, and what was read of them as something to keep and compare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from io_idtech_models.game.store import GameFile
from io_idtech_models.reporting import ModelError, collected_warnings

WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')


def damaged(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is changed of a text, by its line, and the text so changed."""
    lines = text.split(b"\n")
    for nth in range(len(lines)):
        yield f"line {nth + 1}: gone", b"\n".join(lines[:nth] + lines[nth + 1 :])
    for word in WORD.finditer(text):
        line = text.count(b"\n", 0, word.start()) + 1
        for other in (b"", b"7", b"-0.5", b"{", b"\n", word[0] * 2):
            changed = text[: word.start()] + other + text[word.end() :]
            yield f"line {line}: {word[0].decode()} -> {other.decode()}", changed


def damaged_bytes(data: bytes, group: int = 8) -> Iterator[tuple[str, bytes]]:
    """Yield which bytes of a file are meant, `group` by group, and the file with one of them another, or cut there."""
    for place, old in enumerate(data):
        for new in sorted({0, 1, 127, 128, 255, (old + 1) % 256, (old - 1) % 256} - {old}):
            yield f"byte {place // group * group}", data[:place] + bytes((new,)) + data[place + 1 :]
        yield f"byte {place // group * group}", data[:place]


def nothing(found: Any) -> list[str]:
    """Return no sentences."""
    return []


def outcomes(
    cases: Iterable[tuple[str, Any]], read: Callable[[Any], Any], complaints: Callable[[Any], list[str]] = nothing
) -> tuple[list[str], list[str]]:
    """Return what comes of damaged files: a digest for each place, and of each kind of sentence the last.

    What is called alike but for what stands behind a colon is one place. `complaints` are those in what was read.
    """
    places, sentences = defaultdict(list), dict[str, str]()
    for what, changed in cases:
        found = None
        try:
            with collected_warnings() as said:
                found = read(changed)
            said += complaints(found)
        except ModelError as error:
            said = [str(error)]
        places[what.partition(":")[0]].append([digest(found), said])
        sentences |= {kind_of(sentence): sentence for sentence in said}
    return [f"{place}: {digest(found)}" for place, found in places.items()], [sentences[k] for k in sorted(sentences)]


def plain(thing: Any) -> Any:
    """Return what a dataclass or named tuple holds as something that JSON has: files as places, nothing empty."""
    if isinstance(thing, GameFile):
        return thing.place
    if dataclasses.is_dataclass(thing) or hasattr(thing, "_asdict"):
        fields = thing._fields if hasattr(thing, "_fields") else [each.name for each in dataclasses.fields(thing)]
        values = {name: getattr(thing, name) for name in fields}
        return {name: plain(value) for name, value in values.items() if isinstance(value, np.ndarray) or value}
    if isinstance(thing, dict):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(each) for each in thing]
    if isinstance(thing, np.ndarray):
        whole = thing.astype(np.int64) if thing.dtype.kind in "iu" else thing  # an int has not as many bits everywhere
        return [str(whole.dtype), list(whole.shape), whole.tobytes().hex()]
    return thing if isinstance(thing, (str, int, float, bool, type(None))) else str(thing)


def digest(thing: Any) -> str:
    """Return what is the same of things that hold the same."""
    return hashlib.sha256(json.dumps(plain(thing), sort_keys=True).encode()).hexdigest()[:8]


def kind_of(sentence: str) -> str:
    """Return a sentence without the numbers and names that it is about."""
    return re.sub(r"-?\d[\d.]*", "#", re.sub(r"'[^']*'", "''", sentence.partition(", found")[0]))
