"""Levels of detail that are written with their model: beside its file, or of rigged models in it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from ...assets.levels import Files, level_target
from ...assets.storage import Target
from ...blender.compat import Context
from ...blender.mesh import levels
from ...blender.provenance import MODEL_ID, collection_of, collections_of, model_of
from ...blender.roots import goes_with
from ...blender.scene import objects_in
from ...formats import Format
from ...formats.vertex_files import Written
from ...model.vertex import VertexModel
from ...reporting import LimitError, listed, plural, unheard
from .left_out import left_out
from .plain import checksums_of, plain_model
from .selection import Choice, choose

log = logging.getLogger(__name__)

STALE = "'%s' was edited and '%s' was not: games show that one from afar; Make Levels of Detail makes it anew"


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
        yield [block for block in _meshes_of(found) if goes_with(block, rig)]


def _meshes_of(found: Mapping[int, Any]) -> list[Any]:
    """Return the meshes of levels of detail, by their numbers."""
    return [block for collection in found.values() for block in objects_in(collection) if block.type == "MESH"]


def lost(rig: Any, row: Format) -> list[str]:
    """Return what becomes of the levels of a rig's model in a format that has none, or that it does not move."""
    home = collection_of(rig)
    found = [block for holder in (rig, home) if holder is not None for block in _meshes_of(levels.levels_of(holder))]
    if found and row.skeletal.levels:
        left = [block.name for block in found if not goes_with(block, rig)]
        text = "levels of detail that the armature does not move are left out (they are of frames, as MD3's)"
        return [f"{text}: {listed(left)}"] if left else []
    return row.lost_levels() if found else []


def lost_levels(chosen: Choice, row: Format) -> list[str]:
    """Return what becomes of the levels that a model of frames has in the scene, in a format that has none."""
    return row.lost_levels() if chosen.blocks and levels.levels_of(holder_of(chosen)) else []


def _is_one_model(chosen: Choice) -> bool:
    """Tell whether objects are of one model, and of none: levels are of no others that are written with it."""
    if chosen.collection is None:
        return bool(chosen.blocks)
    beside = set(chosen.blocks).difference(objects_in(chosen.collection))
    return all(model_of(block) in {"", chosen.collection.get(MODEL_ID)} for block in beside)


def holder_of(chosen: Choice) -> Any:
    """Return what speaks for a model: its collection, or of its objects the one that has levels, or the first."""
    if chosen.collection is not None:
        return chosen.collection
    return next((block for block in chosen.blocks if levels.levels_of(block)), chosen.blocks[0])


def files_of_scene(
    target: Target, chosen: Choice, model: VertexModel, context: Context, made_of: Callable[[Choice], Written]
) -> Files:
    """Return the files of the levels that a model has in the scene, as they are now; none of several models.

    `made_of` says what is written of objects.

    Raises:
        LimitError: one has other frames than the model has, or none can be written of it.
    """
    if not _is_one_model(chosen):
        _say_left(chosen)
        return []
    files: Files = []
    holder = holder_of(chosen)
    _say_spares(chosen, holder, context)
    for place, (number, collection) in enumerate(levels.levels_of(holder).items(), 1):
        if number != place:
            raise LimitError(f"level of detail {place} is missing: games take none behind it; make them anew")
        try:
            with levels.shown(collection, context.view_layer):
                choice = choose(context, "AUTO", collection.name)
                level = made_of(choice)
            for text in left_out(choice):
                log.warning("%s: %s", collection.name, text)
        except LimitError as error:
            text = f"level of detail '{collection.name}' (make levels of detail anew, or delete it): {error}"
            raise LimitError(text) from error
        if level.model.num_frames != model.num_frames:
            counts = f"{plural(level.model.num_frames, 'frame')}, the model {model.num_frames}"
            raise LimitError(f"level of detail '{collection.name}' has {counts}: make levels of detail anew")
        say_other_frames(collection.name, model, level.model)
        files.append((level_target(target, number), level.data))
    return files


def say_other_frames(called: str, model: VertexModel, level: VertexModel) -> None:
    """Say that a level has the model's frames elsewhere: games show the frame of the same number from afar.

    That is seen by names that both have once. Others say nothing: frames were renamed, or have none.
    """
    own, theirs = model.frame_names, level.frame_names
    counts = Counter(own), Counter(theirs)
    for number, (name, other) in enumerate(zip(own, theirs, strict=False)):
        if name != other and counts[0][other] == counts[1][other] == 1:
            text = "level of detail '%s' shows '%s' where the model shows '%s', in frame %d: make levels of detail anew"
            log.warning(text, called, other, name, number)
            return


def say_stale(target: Target, chosen: Choice, context: Context, scale: float) -> None:
    """Name the levels that are as they were made, or came, of a model that is not: both as no option changes them.

    `scale`: of a game unit in the scene, where levels don't tell what it was. Raises ModelError.
    """
    holder, sums = holder_of(chosen), dict[float, levels.Sums]()
    for number, collection in levels.levels_of(holder).items():
        made = levels.made(collection) or levels.came(collection, holder, scale)
        if made is None:
            continue
        with unheard(), levels.shown(collection, context.view_layer):
            if made.scale not in sums:
                sums[made.scale] = checksums_of(plain_model(chosen, made.scale, context))
            if made.is_of(sums[made.scale]):
                continue
            level = choose(context, "AUTO", collection.name)
            is_stale = made.is_stale(sums[made.scale], checksums_of(plain_model(level, made.scale, context)))
        if is_stale:
            log.warning(STALE, target.name, level_target(target, number).name)


def _say_left(chosen: Choice) -> None:
    """Name the levels of several models that are written into one file."""
    homes = collections_of({model_of(block) for block in chosen.blocks})
    left = [level.name for holder in homes for level in levels.levels_of(holder).values()]
    if left:
        log.warning("levels of detail are written with one model alone, select it to write them: %s", listed(left))


def _say_spares(chosen: Choice, holder: Any, context: Context) -> None:
    """Name levels that are not written: copies of others, and those whose model is gone."""
    spares = levels.spares_of(holder)
    if spares:
        text = "levels of detail that another one has the number of are not written, delete one of them: %s"
        log.warning(text, listed([collection.name for collection in spares]))
    orphans = levels.orphans(context.scene) if chosen.collection is None else []
    if orphans:
        text = "levels of detail whose model was deleted or joined are not written, make them anew: %s"
        log.warning(text, listed([collection.name for collection in orphans]))
