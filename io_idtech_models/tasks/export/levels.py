"""Levels of detail that are written with their model: beside its file, or of rigged models in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ...assets.levels import Files, level_target
from ...assets.storage import Target
from ...blender.compat import Context
from ...blender.mesh import levels
from ...formats import Format
from ...formats.vertex_files import Written
from ...model.vertex import VertexModel
from ...reporting import LimitError, plural
from .selection import Choice, choose


def nearest(blocks: Iterable[Any]) -> list[Any]:
    """Return the objects that are no part of a level drawn from afar."""
    return [block for block in blocks if not levels.number_of(block)]


@contextmanager
def shown(rig: Any, row: Format, context: Context) -> Iterator[list[Any]]:
    """Let the view layer show the levels of a rig's model for a while, and give their meshes; none in other formats."""
    found = levels.levels_of(rig) if row.skeletal.levels else {}
    with ExitStack() as stack:
        for collection in found.values():
            stack.enter_context(levels.shown(collection, context.view_layer))
        yield [block for collection in found.values() for block in collection.all_objects if block.type == "MESH"]


def lost(rig: Any, row: Format) -> list[str]:
    """Return what becomes of the levels of a rig's model in a format that has none, in a sentence."""
    return row.lost_levels() if levels.levels_of(rig) else []


def _is_one_model(chosen: Choice) -> bool:
    """Tell whether objects are of one model: levels are of no others that are written with it."""
    if chosen.collection is None:
        return bool(chosen.blocks)
    return set(chosen.blocks) <= set(chosen.collection.all_objects)


def holder_of(chosen: Choice) -> Any:
    """Return what speaks for a model: its collection, or the first of its objects."""
    return chosen.blocks[0] if chosen.collection is None else chosen.collection


def files_of_scene(
    target: Target, chosen: Choice, model: VertexModel, context: Context, made_of: Callable[[Choice], Written]
) -> Files:
    """Return the files of the levels that a model has in the scene, as they are now; none of several models.

    `made_of` says what is written of objects.

    Raises:
        LimitError: one has other frames than the model has.
    """
    if not _is_one_model(chosen):
        return []
    files: Files = []
    for place, (number, collection) in enumerate(levels.levels_of(holder_of(chosen)).items(), 1):
        if number != place:
            raise LimitError(f"level of detail {place} is missing: games take none behind it; make them anew")
        with levels.shown(collection, context.view_layer):
            level = made_of(choose(context, "AUTO", collection.name))
        if level.model.num_frames != model.num_frames:
            counts = f"{plural(level.model.num_frames, 'frame')}, the model {model.num_frames}"
            raise LimitError(f"level of detail '{collection.name}' has {counts}: make levels of detail anew")
        files.append((level_target(target, number), level.data))
    return files
