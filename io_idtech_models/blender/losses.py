"""What an object has and no file of the format holds, in words: nothing is left out in silence."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reporting import listed, plural
from .compat import Block
from .frame_rigs import rig_of

log = logging.getLogger(__name__)

OFF = 0.01  # units that a vertex may be off before it is worth a word


def warn_of_keys(block: Block) -> None:
    """Name the shape keys that a mesh which bones move has, and its file does not."""
    keys = (
        []
        if block.data.shape_keys is None or rig_of(block) is not None
        else [key.name for key in block.data.shape_keys.key_blocks[1:]]
    )
    if keys:
        log.warning("'%s' is written as its shape keys are mixed now, none is kept: %s", block.name, listed(keys))


def warn_of_groups(block: Block, groups: NDArray[Any], weights: NDArray[Any], bones: set[str]) -> None:
    """Name vertex groups with weights (n,) in `groups` (n,) that are called as no bone that is exported.

    Those that say where a modifier works are no weights.
    """

    def group_names(modifier: Any) -> list[str]:
        every = (p.identifier for p in modifier.bl_rna.properties if p.type == "STRING")
        return [getattr(modifier, name) for name in every if "vertex_group" in name]

    used = np.flatnonzero(np.bincount(groups[weights > 0])).tolist()
    names = [group.name for group in block.vertex_groups]
    known = bones | {value for modifier in block.modifiers for value in group_names(modifier)}
    lost = [names[number] for number in used if number < len(names) and names[number] not in known]
    if lost:
        log.warning("'%s' has weights of no bone that is exported, left out: %s", block.name, listed(lost))


def warn_of_off(block: Block, off: NDArray[Any]) -> None:
    """Say how far vertices (V,) are off that were moved, but whose weights, which they keep, don't sum to 1."""
    count = int((off > OFF).sum())
    if count:
        text = "'%s': weights of %s don't sum to 1: moved as they are, games show them up to %.3g units off"
        vertices = plural(count, "vertex", "vertices")
        log.warning(text + "; Weights > Normalize All mends that", block.name, vertices, float(off.max()))
