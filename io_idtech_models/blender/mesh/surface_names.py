"""What surfaces are called in a file: each otherwise, for games look up by the name what a surface wears.

What a file has called alike stays alike, so that it comes back as it was.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model.edits.split_surfaces import further_names
from ...model.limits.checks import engine_surface_name
from .. import names
from ..compat import Block
from ..provenance import MODEL_ID, SURFACE_INDEX
from . import levels

log = logging.getLogger(__name__)

MOST_SAID = 6  # changes in a sentence
ROOM = 63  # bytes: of the 64 that files have for a name the last is a NUL
Key = tuple[int, str]  # level of detail, and the name as games keep it


@dataclass(frozen=True, eq=False)
class Wanted:
    """A surface of an object, its first or a further one, and what it would be called alone."""

    block: Block
    nth: int
    name: str


def settle(surfaces: Sequence[Wanted]) -> list[str]:
    """Return what to call surfaces, in their order: in whatever order they come, each gets the same name."""
    own = _originals(surfaces)
    order = sorted(range(len(surfaces)), key=lambda i: (i not in own, *_rank(surfaces[i])))
    found = [each.name for each in surfaces]
    taken: dict[Key, Any] = {}
    every: dict[int, set[str]] = {}
    of_level = [levels.number_of(each.block) for each in surfaces]
    for level, each in zip(of_level, surfaces, strict=True):
        every.setdefault(level, set()).add(engine_surface_name(each.name))
    for i in order:
        name, level, model = found[i], of_level[i], own.get(i)
        key = level, engine_surface_name(name)
        if key in taken and (model is None or taken[key] != model):
            room = max(ROOM, len(name.encode("utf-8", errors="replace")))
            (found[i],) = further_names(name, 1, every[level], room)
        taken.setdefault((level, engine_surface_name(found[i])), model)
    return found


def settle_and_say(surfaces: Sequence[Wanted]) -> list[str]:
    """Return what to call surfaces, and warn of those that are not called as they would be alone."""
    found = settle(surfaces)
    pairs = zip(surfaces, found, strict=True)
    changed = [f"'{each.name}' is now '{name}' ('{each.block.name}')" for each, name in pairs if each.name != name]
    if changed:
        more = [f"and {len(changed) - MOST_SAID} more"] if len(changed) > MOST_SAID else []
        said = ", ".join(changed[:MOST_SAID] + more)
        log.warning("games look up what surfaces wear by names, so no two are called alike: %s", said)
    return found


def _rank(each: Wanted) -> tuple[Any, ...]:
    """Return who comes first: what is called as import called it, then what Blender put no number behind."""
    name = each.block.name
    return name != each.block.get(names.GIVEN), each.nth > 0, name != names.stem_of(name), name, each.nth


def _originals(surfaces: Sequence[Wanted]) -> dict[int, Any]:
    """Return which surfaces have the names of their files, by their places, with the model that each came from."""
    claimed: set[Any] = set()
    found = {}
    for i in sorted(range(len(surfaces)), key=lambda i: _rank(surfaces[i])):
        block = surfaces[i].block
        number, model = block.data.get(SURFACE_INDEX), block.data.get(MODEL_ID)
        if surfaces[i].nth or model is None or (model, number) in claimed:
            continue
        claimed.add((model, number))
        if surfaces[i].name == block.get(names.SOURCE):
            found[i] = model
    return found
