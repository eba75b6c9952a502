"""Names between files and Blender: what fits, what is unique, and whose a name is.

Blender renames what it is given: cut to 63 bytes, `.001` where a name is taken, a default where it is empty. An import
remembers both spellings on the data-block (`idtech_given`, `idtech_name`), so that Blender's own suffixes never reach
a file, and the file's own names come back.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count
from typing import Any

from ..reporting import listed
from .compat import NAME_BYTES

log = logging.getLogger(__name__)

GIVEN, SOURCE = "idtech_given", "idtech_name"
SUFFIX = re.compile(r"(?s)(.+)\.\d{3,}$")


def fit(name: str, size: int = NAME_BYTES) -> str:
    """Cut a name to `size` bytes of UTF-8, at a whole character, leaving room for Blender's suffix if it is not ASCII.

    Blender 4.2 cuts inside a character when it appends `.001`, and can't read such a name back.
    """
    if name.isascii() and len(name) <= size and "\0" not in name:
        return name
    name = name.replace("\0", "")
    if not name.isascii():
        size -= 4
    return name.encode("utf-8", errors="replace")[:size].decode("utf-8", errors="ignore")


def unique(names: Iterable[str], default: str) -> list[str]:
    """Return names that are all different, not empty, and fit, as Blender would make them (but 20 times faster)."""
    wanted = [fit(name) or default for name in names]
    reserved, result = set(wanted), []
    used: set[str] = set()
    counts: dict[str, int] = {}
    if len(reserved) == len(wanted):
        return wanted
    for name in wanted:
        if name not in used:
            used.add(name)
            result.append(name)
            continue
        stem = fit(stem_of(name), NAME_BYTES - 5)
        chosen = name
        while chosen in used:
            counts[stem] = counts.get(stem, 0) + 1
            numbered = f"{stem}.{counts[stem]:03d}"
            chosen = chosen if numbered in reserved else numbered
        used.add(chosen)
        result.append(chosen)
    return result


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number like Blender's if it is taken."""
    return name if name not in taken else next(n for i in count(1) if (n := f"{name}.{i:03}") not in taken)


def stem_of(name: str) -> str:
    """Return a name without Blender's number at its end."""
    match = SUFFIX.match(name)
    return match.group(1) if match else name


def place_among_copies(name: str) -> tuple[int, str]:
    """Return what sorts the names of data-blocks and their copies, the first's before: Blender counts copies up."""
    return len(name), name


def remember(block: Any, source_name: str) -> None:
    """Note on a data-block (or object) what its name was in the file, and what Blender made of it."""
    block[GIVEN], block[SOURCE] = block.name, source_name


def is_renamed(block: Any) -> bool:
    """Tell whether a data-block (or object) is not called as import called it: of several alike that is a copy."""
    return bool(block.name != block.get(GIVEN))


def is_untouched(name: str, given: str) -> bool:
    """Tell whether a name is the one that import gave, up to a number that Blender put behind it or counted up."""
    return name == given or (stem_of(name) != name and stem_of(name) in (given, stem_of(given)))


def file_name_of(block: Any, keep_suffix: bool = False) -> str:
    """Return the name under which a data-block goes into a file."""
    given, source = block.get(GIVEN), block.get(SOURCE)
    untouched = isinstance(given, str) and (
        block.name == given or (not keep_suffix and is_untouched(block.name, given))
    )
    if untouched and isinstance(source, str):
        return source
    return str(block.name) if keep_suffix else stem_of(block.name)


def called_apart(actions: Sequence[Any], keep_suffix: bool, is_said: bool = True) -> dict[Any, str]:
    """Return what those are called in a model's files that have the name of another, which is said where these hold it.

    What a file called alike stays so. First is who has the name that import gave it, then who has no number of
    Blender's.
    """
    wanted = {action: file_name_of(action, keep_suffix) for action in actions}
    own = {action for action in actions if not is_renamed(action)}
    ranked = sorted(actions, key=lambda each: (each not in own, each.name != wanted[each]))
    taken, found = set[str](), dict[Any, str]()
    every = set(wanted.values())
    for action in ranked:
        name = wanted[action]
        if name in taken and action not in own:
            found[action] = name = free_name(name, every)
            every.add(name)
        taken.add(name)
    if found and is_said:
        said = [f"{wanted[action]}' is now '{name}" for action, name in found.items()]
        text = "games look up animations by their names, so no two of a model are called alike (rename actions): %s"
        log.warning(text, listed(said))
    return found


def called(given: str | Sequence[str]) -> list[str]:
    """Return names that someone gave: a list of them, or a text with commas between."""
    texts = given.split(",") if isinstance(given, str) else given
    return [name.strip() for name in texts if name.strip()]


def in_source_order(blocks: Iterable[Any], number_of: Callable[[Any], int]) -> list[Any]:
    """Return objects in the order of the source's parts that they are; copies and new ones follow as they come.

    `number_of` says which part an object is, or -1. Of several that are one the one that has the name that import gave
    is no copy, or else the first.
    """
    every = list(blocks)
    originals: dict[int, Any] = {}
    for block in sorted(every, key=is_renamed):
        number = number_of(block)
        if number >= 0:
            originals.setdefault(number, block)
    first = [originals[number] for number in sorted(originals)]
    known = set(first)
    return first + [block for block in every if block not in known]
