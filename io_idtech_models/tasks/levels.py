"""Levels of detail of a scene's models: made, and made anew; `export.levels` writes them with their model.

What a level is made of is the model as its file would hold it: so it is what an import of the level's file would give.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ..assets.levels import dump_levels, level_name
from ..blender import names, properties
from ..blender.compat import Block, Context
from ..blender.linked import LOCAL, refuse_linked
from ..blender.mesh import levels
from ..blender.player.assembly import make_root
from ..blender.provenance import MODEL_ID, PART, unit_of
from ..blender.roots import root_of
from ..blender.vertex.build import BuildSettings, build
from ..blender.vertex.same_materials import materials_of
from ..blender.window import object_mode
from ..model.vertex import VertexModel
from ..reporting import LimitError, Summary, collected_warnings, listed, plural
from .export.left_out import left_out, taken_along
from .export.levels import holder_of
from .export.plain import checksums_of, plain_model, row_of_levels
from .export.selection import Choice, choose

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LevelSettings:
    """How levels are made; the operator declares the same options."""

    shares: Sequence[float]  # of the model's triangles, 0 to 1, which fall
    scale: float | None = None  # of a game unit in the scene; None: as the model was imported


def models_in(context: Context, what: str, collection_name: str = "") -> list[Choice]:
    """Return the models that `what` means (see `choose`): of a collection each model that was imported into it.

    Raises:
        LimitError: there is none, or it is a level itself.
    """
    if what == "COLLECTION" or collection_name:
        place = bpy.data.collections.get(collection_name) or context.collection
        inside = [c for c in (place, *place.children_recursive) if c.get(MODEL_ID) and not levels.is_level(c)]
        if inside:
            return [choose(context, "AUTO", each.name) for each in inside]
    chosen = choose(context, what, collection_name)
    home = chosen.collection
    if levels.is_level(home):
        called = "" if home is None else home.name
        raise LimitError(f"'{called}' is a level of detail itself: choose the model that it was made of")
    return [chosen]


def make_levels(chosen: Choice, stem: str, settings: LevelSettings, context: Context) -> Summary:
    """Make levels of a model in the scene, in the place of those that it has; `stem` is what its file is called.

    Raises:
        ModelError: nothing could be made; the .blend is as it was.
    """
    _refuse_inner_levels(chosen.blocks)
    chosen.keep_apart(context, need_home=True)
    with collected_warnings() as warnings, object_mode(context):
        scale = unit_of(*chosen.blocks) if settings.scale is None else settings.scale
        row, model = row_of_levels(), plain_model(chosen, scale, context)
        files, notes = dump_levels(row, row.dump(model), stem, settings.shares)
        warnings.extend(notes)
        found = [row.load(data, level_name(stem, number)) for number, data in enumerate(files, 1)]
        made = _build(found, chosen, scale, context)
        whole = checksums_of(model)
        for collection, level in zip(made, found, strict=True):
            levels.note_made(collection, whole, checksums_of(level), scale)
    counts = [sum(len(surface.triangles) for surface in level.surfaces) for level in found]
    texts = [f"'{c.name}' with {plural(count, 'triangle')}" for c, count in zip(made, counts, strict=True)]
    said = f"{', '.join(texts)}, excluded from the view layer"
    return Summary(said, [*warnings, *left_out(chosen)], taken_along(chosen))


def _build(found: list[VertexModel], chosen: Choice, scale: float, context: Context) -> list[bpy.types.Collection]:
    """Bring levels into the scene; those that the model has go when all are made."""
    holder, scene = holder_of(chosen), context.scene
    old = {collection: collection.name for collection in levels.levels_of(holder).values()}
    refuse_linked([levels.home_of(holder, scene), *old], f"{LOCAL}, or make levels there")
    for collection in old:
        collection.name = names.fit(f"old {collection.name}")  # the new ones take their names
    built_settings = BuildSettings(scale=scale, fit_range=False)
    materials = materials_of(chosen.blocks)
    root = root_of(chosen.blocks[0]) if chosen.blocks else None  # of a player's part
    made = []
    try:
        for number, level in enumerate(found, 1):
            built = build(level, built_settings, materials, scene, levels.home_of(holder, scene))
            levels.attach(built.collection, holder, number, [*built.surfaces, *built.tags])
            if root is not None:
                make_root(built, str(root[PART]), root)
            levels.exclude([built.collection], scene)
            made.append(built.collection)
            if built.collection.name != level.name:
                text = "a collection is called '%s' already: this level is '%s'"
                log.warning(text, level.name, built.collection.name)
    except BaseException:
        for collection in made:
            levels.remove(collection)
        for collection, name in old.items():
            collection.name = name
        raise
    for collection in old:
        levels.remove(collection)
    return made


def _refuse_inner_levels(blocks: Sequence[Block]) -> None:
    """Refuse models whose format has its levels in the model's own file."""
    own = [block.name for block in blocks if block.type == "MESH" and properties.MIN_LOD in block]
    if own:
        option = "'Make Levels of Detail' of its export makes them"
        raise LimitError(f"{listed(own)}: the format keeps levels of detail in the model's own file; {option}")
