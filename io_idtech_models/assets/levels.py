"""Levels of detail that lie beside a model's file: NAME_1.md3, NAME_2.md3, made of what the file itself holds.

So each vertex of a level has the codes that it has in the file, and both show the same where they are equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..formats import Format
from ..model.limits.games import MOST_LEVELS
from ..reporting import LimitError
from .storage import Target, holds

if TYPE_CHECKING:
    from ..model.vertex import VertexModel

Files = list[tuple[Target, bytes]]
NEAR = 1.1  # times the share asked for: what has more is said


def refuse_others(row: Format | None, suffix: str) -> None:
    """Raise LimitError where games read no levels of detail beside files that end so; `row` is their format's."""
    if row is None or not row.vertex.level_files:
        raise LimitError(f"games read no levels of detail beside '{suffix}' files")


def level_name(stem: str, number: int) -> str:
    """Return what games call a level of a model, from 1 on."""
    return f"{stem}_{number}"


def level_target(target: Target, number: int) -> Target:
    """Return the file of a model's level, from 1 on."""
    return target.parent / (level_name(target.stem, number) + target.suffix)


def level_targets(target: Target, numbers: Iterable[int]) -> list[Target]:
    """Return the files of some of a model's levels."""
    return [level_target(target, number) for number in numbers]


def dump_levels(row: Format, data: bytes, name: str, shares: Sequence[float]) -> tuple[list[bytes], list[str]]:
    """Return the files of levels of a model, of its own file, and what there is to say; `name` is what it is called.

    Raises:
        LimitError: the format has no such levels, or the model nothing that could be left out.
    """
    from ..model.lod.levels import make_levels, share_left

    refuse_others(row, row.suffixes[0])
    model: VertexModel = row.load(data, name)
    levels = make_levels(model, shares)
    notes = []
    for number, (level, share) in enumerate(zip(levels, shares, strict=True), 1):
        left = share_left(level, model)
        if left > NEAR * share:
            told = f"{100 * left:.0f} % of the faces, not {100 * share:g}: no more can go without a tear"
            notes.append(f"'{level_name(name, number)}' has {told}")
    return [row.dump(level) for level in levels], notes


def level_files(row: Format, data: bytes, target: Target, shares: Sequence[float]) -> tuple[Files, list[str]]:
    """Return the files of levels beside a model's file, and what there is to say; see `dump_levels`."""
    if not shares:
        return [], []
    found, notes = dump_levels(row, data, target.stem, shares)
    return [(level_target(target, number), each) for number, each in enumerate(found, 1)], notes


def stale_levels(row: Format, data: bytes, target: Target, written: Collection[Target]) -> Iterator[str]:
    """Yield what is to be said of levels that lie beside a file which is to change, and are not `written` with it."""
    if not row.vertex.level_files:
        return
    others = level_targets(target, range(1, MOST_LEVELS + 1))
    try:
        left = [other.name for other in others if other not in written and other.is_file()]
        changes = bool(left) and not holds(target, data)
    except (OSError, ValueError):  # a name that can't be: who writes the file says so
        return
    for name in left if changes else ():
        yield f"'{name}' lies beside it from before, and games show that from afar: make levels of detail anew"
