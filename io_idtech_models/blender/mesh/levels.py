"""Levels of detail in a .blend: a collection each, NAME_1 and so on, that knows which model's it is.

A level lies beside its model's collection. It is excluded from the view layers: neither shown nor rendered nor played,
until someone ticks it in the Outliner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ..compat import Block
from ..provenance import CHECKSUM, FILE, note_file, unit_of
from ..scene import objects_in

LEVEL, LEVEL_OF = "idtech_level", "idtech_level_of"  # on a level's collection: its number, and the model's holder
MADE = "idtech_level_made"  # on one that was made: the sums of its model and of itself then, and a game unit's size
# CRC-32 of a model's file: whatever it wears and is called, whatever it is called, and as it is; None: not known.
Sums = tuple[int, int, int]
Known = tuple[int | None, int | None, int | None]
Holder = (
    Any  # of a model: its collection, or its first object where it has none of its own; of a rigged one its armature
)


def levels_of(holder: Holder) -> dict[int, bpy.types.Collection]:
    """Return the levels of a model by their numbers; of several with one number the first by its name."""
    return {number: same[0] for number, same in sorted(_numbered(holder).items())}


def spares_of(holder: Holder) -> list[bpy.types.Collection]:
    """Return the levels of a model whose numbers others have already, as copies have."""
    return [collection for same in _numbered(holder).values() for collection in same[1:]]


def _numbered(holder: Holder) -> dict[int, list[bpy.types.Collection]]:
    found: dict[int, list[bpy.types.Collection]] = {}
    for collection in bpy.data.collections:
        number = collection.get(LEVEL)
        if collection.get(LEVEL_OF) == holder and isinstance(number, int) and number > 0:
            found.setdefault(number, []).append(collection)
    return found


def orphans(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """Return the levels in a scene whose model's holder was deleted, or joined with another object."""
    return [
        c for c in scene.collection.children_recursive if isinstance(c.get(LEVEL), int) and _is_gone(c.get(LEVEL_OF))
    ]


def _is_gone(holder: Any) -> bool:
    """Tell whether an object was deleted: what a level refers to stays in the .blend, in no collection."""
    return holder is None or (isinstance(holder, bpy.types.Object) and not holder.users_collection)


def is_level(collection: bpy.types.Collection | None) -> bool:
    """Tell whether a collection is a level of a model that is still there."""
    return collection is not None and isinstance(collection.get(LEVEL_OF), bpy.types.ID)


def number_of(block: Block) -> int:
    """Return the level that an object of a rigged model lies in; 0 of one that lies in none."""
    found = [c for c in block.users_collection if getattr(c.get(LEVEL_OF), "type", "") == "ARMATURE"]
    return max((number for c in found if isinstance(number := c.get(LEVEL), int)), default=0)


def home_of(holder: Holder, scene: bpy.types.Scene) -> bpy.types.Collection:
    """Return the collection that a model's collection lies in, or the scene's own."""
    root: bpy.types.Collection = scene.collection
    every = (root, *root.children_recursive)
    return next((c for c in every if any(child == holder for child in c.children)), root)


def attach(level: bpy.types.Collection, holder: Holder, number: int, blocks: Sequence[Block]) -> None:
    """Note whose level a collection is; it wears the skins of the file that its model came from."""
    level[LEVEL], level[LEVEL_OF] = number, holder
    file = holder.get(FILE)
    if isinstance(file, str):
        note_file(level, blocks, file, unit_of(holder))


@dataclass(frozen=True)
class Made:
    """What a level was made of, and what came of it, as files; `scale`: of a game unit in the scene."""

    model: Known
    level: Known
    scale: float

    def is_of(self, model: Sums) -> bool:
        """Tell whether a model is what the level was made of."""
        return all(was in (None, now) for was, now in zip(self.model, model, strict=True))

    def is_stale(self, model: Sums, level: Sums) -> bool:
        """Tell whether a model is none any more that its level was made of, and the level is as it was."""
        pairs = zip(zip(self.model, model, strict=True), zip(self.level, level, strict=True), strict=True)
        return any(was is not None and was != now and own == still for (was, now), (own, still) in pairs)


def note_made(level: bpy.types.Collection, model: Sums, own: Sums, scale: float) -> None:
    """Note on a level what it was made of, and what it is."""
    level[MADE] = " ".join([*(f"{each:08x}" for each in (*model[:2], *own[:2])), repr(scale)])


def made(level: bpy.types.Collection) -> Made | None:
    """Return what was noted; None where nothing was, or it is damaged."""
    try:
        *sums, size = str(level.get(MADE, "")).split()
        model, dressed, own, own_dressed = (int(each, 16) for each in sums)
        scale = float(size)
    except ValueError:
        return None
    return Made((model, dressed, None), (own, own_dressed, None), scale) if 1e-6 <= scale <= 1e6 else None


def came(level: bpy.types.Collection, holder: Holder, scale: float) -> Made | None:
    """Return the like of a level that came with its model, as files say it; None of others."""
    try:
        return Made((None, None, int(holder[CHECKSUM], 16)), (None, None, int(level[CHECKSUM], 16)), scale)
    except (KeyError, TypeError, ValueError):
        return None


def exclude(collections: Sequence[bpy.types.Collection], scene: bpy.types.Scene) -> None:
    """Take collections out of all view layers of a scene."""
    for view_layer in scene.view_layers if collections else ():
        view_layer.update()  # it has not seen what was linked just now
        for collection in collections:
            for layer in _layers_of(view_layer, collection):
                layer.exclude = True


def remove(collection: bpy.types.Collection) -> None:
    """Remove a level with all that was made for it and nobody else uses."""
    blocks = [block for block in objects_in(collection) if block.users_collection == (collection,)]
    meshes = {block.data for block in blocks if block.data is not None and block.data.users == 1}
    keys = (mesh.shape_keys for mesh in meshes if isinstance(mesh, bpy.types.Mesh))
    holders: list[Any] = [*blocks, *(each for each in keys if each is not None)]
    actions = {h.animation_data.action for h in holders if h.animation_data is not None} - {None}
    bpy.data.batch_remove([collection, *blocks, *meshes])
    bpy.data.batch_remove([action for action in actions if not action.users])


@contextmanager
def shown(collection: bpy.types.Collection, view_layer: bpy.types.ViewLayer) -> Iterator[None]:
    """Let a view layer show a collection for a while."""
    before = [(layer, layer.exclude, layer.hide_viewport) for layer in _layers_of(view_layer, collection)]
    hidden = collection.hide_viewport
    try:
        collection.hide_viewport = False
        for layer, _, _ in before:
            layer.exclude = layer.hide_viewport = False
        view_layer.update()
        yield
    finally:
        collection.hide_viewport = hidden
        for layer, excluded, unseen in before:
            layer.hide_viewport, layer.exclude = unseen, excluded


def _layers_of(view_layer: bpy.types.ViewLayer, collection: bpy.types.Collection) -> list[Any]:
    """Return the places of a collection in a view layer."""
    found, waiting = [], [view_layer.layer_collection]
    while waiting:
        layer = waiting.pop()
        if layer.collection == collection:
            found.append(layer)
        waiting += layer.children
    return found
