"""Tags that a model came with and has no more: games place what hangs on a tag by the tag's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ...reporting import listed
from .games import WARNING, Problem

if TYPE_CHECKING:
    from ..skeletal import SkeletalModel
    from ..vertex import VertexModel


def gone_tags(
    model: VertexModel | SkeletalModel, asked: Collection[str] = (), besides: Collection[str] = ()
) -> Iterator[Problem]:
    """Yield which of the source's tags a model has under another name, or not at all.

    Names are compared as games do, letter by letter (R_GetTag); small letters in the place of large ones mend one.
    `asked`: what the game's own code looks for, which counts where there is no source. `besides`: tags that are there,
    too, but not in the model.
    """
    source = model.source
    before = list(asked) if source is None else _names_in_source(model)
    there = {tag.name for tag in model.tags} | {*besides}
    lost = {n: name for n, name in enumerate(before) if name not in there and name.lower() not in there}
    for tag in model.tags if source is not None else ():
        if tag.source_index in lost:
            was = lost.pop(tag.source_index)
            text = f"was '{was}' in its file, the name by which games hang models on it: rename it back"
            yield Problem(WARNING, tag.name, text)
    if lost:
        text = "lacks tags on which games hang models by their names, add empties called so"
        yield Problem(WARNING, "", f"{text}: {listed([*lost.values()])}")


def alike_tags(model: VertexModel | SkeletalModel) -> Iterator[Problem]:
    """Yield which tags are called alike that were not in the source: games take the first of a name (R_GetTag)."""
    now, before = Counter(tag.name for tag in model.tags), Counter(_names_in_source(model))
    for name, count in now.items():
        if count > max(before[name], 1):
            yield Problem(
                WARNING, name, f"is the name of {count} tags, of which games take the first: rename the others"
            )


def _names_in_source(model: VertexModel | SkeletalModel) -> list[str]:
    """Return what the source's tags are called; none without one."""
    source: Any = model.source
    if source is None:
        return []
    called = getattr(source, "tag_names", None)  # of a model of frames; neither kind need know the other's classes
    return [tag.name for tag in source.tags] if called is None else list(called)
