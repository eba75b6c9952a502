"""Levels of detail in a rigged model's own file: which objects they are, and how an export gets to see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..blender.compat import Context
from ..blender.mesh import levels
from ..formats import Row


def nearest(blocks: Iterable[Any]) -> list[Any]:
    """Return the objects that are no part of a level drawn from afar."""
    return [block for block in blocks if not levels.number_of(block)]


@contextmanager
def shown(rig: Any, row: Row, context: Context) -> Iterator[list[Any]]:
    """Let the view layer show the levels of a rig's model for a while, and give their meshes; none in other formats."""
    found = levels.levels_of(rig) if row.levels else {}
    with ExitStack() as stack:
        for collection in found.values():
            stack.enter_context(levels.shown(collection, context.view_layer))
        yield [block for collection in found.values() for block in collection.all_objects if block.type == "MESH"]


def lost(rig: Any, row: Row) -> list[str]:
    """Return what becomes of the levels of a rig's model in a format that has none, in a sentence."""
    return row.lost_levels() if levels.levels_of(rig) else []
