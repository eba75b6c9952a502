"""Which objects an export means."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy

from ..blender.source import MODEL_ID

KINDS = frozenset(("MESH", "EMPTY", "ARMATURE"))


@dataclass
class Choice:
    """Objects to export, the collection that speaks for their model, and those left out because they are hidden."""

    blocks: list[bpy.types.Object]
    collection: bpy.types.Collection | None = None
    hidden: list[str] = field(default_factory=list)


def choose(context: bpy.types.Context, what: str, collection_name: str = "") -> Choice:
    """Return the objects that `what` means: AUTO, COLLECTION, SELECTION, VISIBLE or SCENE.

    AUTO is the collection of the active object if that was imported, else the selection, else all that is visible.
    A collection's name, which Blender's collection exporters give, beats all.
    """
    collection = bpy.data.collections.get(collection_name) if collection_name else None
    active = _model_collection(context.view_layer.objects.active)
    if collection is None and what == "COLLECTION":
        collection = active or context.collection
    if collection is None and what == "AUTO":
        collection = active
        what = "SELECTION" if any(_chosen(context.view_layer, block) for block in context.scene.objects) else "VISIBLE"
    if collection is not None:
        return _visible(context, list(collection.all_objects), collection)
    blocks = [block for block in context.scene.objects if block.type in KINDS]
    if what == "SELECTION":
        blocks = [block for block in blocks if _chosen(context.view_layer, block)]
    choice = _visible(context, blocks, None)
    if what == "VISIBLE":
        choice.hidden = []
    choice.collection = next(filter(None, map(_model_collection, choice.blocks)), None)
    return choice


def _chosen(view_layer: bpy.types.ViewLayer, block: bpy.types.Object) -> bool:
    return bool(block.select_get(view_layer=view_layer)) and block.type in KINDS


def _model_collection(block: bpy.types.Object | None) -> bpy.types.Collection | None:
    """Return the collection that an import made for an object, if it still lies in it."""
    if block is None:
        return None
    return next((c for c in block.users_collection if MODEL_ID in c), None)


def _visible(
    context: bpy.types.Context, blocks: list[bpy.types.Object], collection: bpy.types.Collection | None
) -> Choice:
    """Split off what is hidden: Blender does not evaluate it."""
    wanted = [block for block in blocks if block.type in KINDS]
    shown = [block for block in wanted if block.visible_get(view_layer=context.view_layer)]
    hidden = [block.name for block in wanted if block not in shown]
    return Choice(shown, collection, hidden)
