"""What lies in a folder, an archive or a game: files by patterns, and models by how their names end."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .store import GameFile, Store

ANY_DEPTH = "**"


class Found(NamedTuple):
    """A model, the folder that it lies in ("models/players/sarge", "" for the top), and what kind it is."""

    file: GameFile
    folder: str
    kind: str


def members(store: Store, pattern: str = ANY_DEPTH) -> list[tuple[str, GameFile]]:
    """Return the files below a folder whose paths in it match a pattern, whatever their case, with these paths.

    `*`, `?` and `[...]` stand for characters of one name, `**` for any number of folders (at the end: all below). The
    order is that of the lower-case paths.
    """
    wanted = [part for part in pattern.lower().replace("\\", "/").split("/") if part]
    rules = [None if part == ANY_DEPTH else re.compile(fnmatch.translate(part), re.DOTALL) for part in wanted]
    found = []
    for folders, file in store.walk():
        path = (*folders, file.name)
        if _matches([part.lower() for part in path], rules):
            found.append(("/".join(path), file))
    return sorted(found, key=lambda each: (each[0].lower(), each[0]))


def _matches(parts: Sequence[str], rules: Sequence[re.Pattern[str] | None]) -> bool:
    """Tell whether names match rules, None standing for any number of names; in time of their product."""
    reached = {0}  # how many rules the names so far may have used
    for part in parts:
        reached = _skipped(reached, rules)
        here = {at for at in reached if at < len(rules) and rules[at] is None}
        for at in reached:
            rule = rules[at] if at < len(rules) else None
            if rule is not None and rule.match(part):
                here.add(at + 1)
        reached = here
    return len(rules) in _skipped(reached, rules)


def _skipped(reached: set[int], rules: Sequence[re.Pattern[str] | None]) -> set[int]:
    """Return what is reached once rules that may stand for no name do so."""
    found = set(reached)
    for at in range(len(rules)):
        if at in found and rules[at] is None:
            found.add(at + 1)
    return found


def models_in(store: Store, kinds: Mapping[str, str], pattern: str = ANY_DEPTH) -> list[Found]:
    """Return the models below a folder, in order of their lower-case paths; `kinds` by lower-case suffix."""
    found = members(store, pattern)
    return [
        Found(file, path.rpartition("/")[0], kinds[file.suffix.lower()])
        for path, file in found
        if file.suffix.lower() in kinds
    ]
