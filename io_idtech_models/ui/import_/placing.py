"""What is imported: into which collection it goes, and that it is selected."""

from __future__ import annotations

import bpy

from ...blender.compat import Context
from ...blender.window import mode_of, selected


def open_collection(context: Context) -> bpy.types.Collection:
    """Return where imported collections go: the active collection, or the scene's if that can't be changed.

    An imported model's own is no place for another, which would become part of the model: it goes beside.
    """
    from ...blender.provenance import MODEL_ID

    root: bpy.types.Collection = context.scene.collection
    active: bpy.types.Collection | None = context.collection
    while active is not None and active.get(MODEL_ID):
        own = active
        active = next((c for c in (root, *root.children_recursive) if any(child == own for child in c.children)), None)
    if active is None or active.library is not None or active.override_library is not None:
        return root
    return active


def select(context: Context, blocks: list[bpy.types.Object]) -> None:
    """Select objects, and make the first active, as far as the view layer shows them."""
    context.view_layer.update()  # it has not seen what was linked just now
    present = set(context.view_layer.objects)
    shown = [block for block in blocks if block in present]
    if mode_of(context) != "OBJECT" or not shown:
        return
    deselect(context)
    for block in shown:
        block.select_set(True, view_layer=context.view_layer)
    context.view_layer.objects.active = shown[0]


def deselect(context: Context) -> None:
    """Select nothing."""
    for block in selected(context):
        block.select_set(False, view_layer=context.view_layer)


def show_empty(context: Context, collection: bpy.types.Collection) -> None:
    """Make the collection of a model without objects the active one, and no object: nothing else tells of it."""
    if mode_of(context) != "OBJECT":
        return
    deselect(context)
    context.view_layer.objects.active = None
    layers = [context.view_layer.layer_collection]
    while layers:
        layer = layers.pop()
        if layer.collection == collection:
            context.view_layer.active_layer_collection = layer
            return
        layers += layer.children
