"""Tags that a model came with and has no more: games place what hangs on a tag by the tag's name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

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
    from ..vertex import ModelSource  # an import of skeletal models does without

    source = model.source
    if source is None:
        before = list(asked)
    else:
        before = source.tag_names if isinstance(source, ModelSource) else [tag.name for tag in source.tags]
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
