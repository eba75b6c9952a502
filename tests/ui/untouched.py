"""Does an export leave the .blend as it was? All that Blender tells of its data-blocks, property by property."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import bpy as blender
import numpy as np

from io_idtech_models.blender.properties import EXPORT
from io_idtech_models.blender.provenance import FILE, FILE_OF
from io_idtech_models.blender.rig_clips import STAMP

bpy: Any = blender
State = dict[str, Any]
SIMPLE = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
DEPTH = 5  # structs in structs
MANY = 64  # of a collection: of more only places and the like are looked at
NUMBERS = {"co", "vector", "value"}
# What belongs to Blender's windows, follows from the rest, or is made when it is looked at.
LEFT_OUT = {
    "rna_type", "original", "tag", "id_data", "session_uid", "depsgraph", "loop_triangles", "loop_triangle_polygons",
    "uv_layer_clone", "uv_layer_stencil", "vertex_selection", "edge_selection", "pin", "colorspace_settings",
    "sequencer_colorspace_settings", "preview", "vertex_normals", "polygon_normals", "corner_normals", "storage_type",
    "texspace_location", "texspace_size", "dimensions", "matrix_local", "matrix_world", "matrix", "matrix_channel",
    "matrix_basis", "users_collection", "users_scene", "node", "to_node", "from_node", "to_socket", "from_socket",
    "tool_settings", "use_nodes", "action_slot_handle", "inverse_matrix", "set_inverse_pending",
    EXPORT, FILE_OF,
}  # fmt: skip
NOTED = {EXPORT, STAMP}  # what exports note: how they were done, and of which keys a rig's actions were made
NOTED_ON_ACTIONS = NOTED | {FILE, FILE_OF}  # which file they were written to
WINDOWS = {"window_managers", "screens", "workspaces", "brushes", "libraries", "all_ids"}  # and what lists all others


def state() -> State:
    """Return what all data-blocks are, by path."""
    found: State = {}
    for block in bpy.data.objects:
        block.update_from_editmode()
    for kind in bpy.data.bl_rna.properties:
        if kind.type == "COLLECTION" and kind.identifier not in WINDOWS:
            blocks = list(getattr(bpy.data, kind.identifier))
            found[kind.identifier] = [block.name_full for block in blocks]
            for block in blocks:
                place = f"{kind.identifier}[{block.name_full!r}]"
                driven = {f"{place}.{path}" for path in _driven(block)}
                found.update((path, value) for path, value in _walk(block, place, DEPTH) if path not in driven)
    objects = bpy.context.view_layer.objects
    found["active"] = None if objects.active is None else objects.active.name
    found["selected"] = [(block.name, block.select_get(), block.hide_get(), block.mode) for block in objects]
    return found


def changed(before: State, after: State) -> list[str]:
    """Return what is another now."""
    every = sorted(before.keys() | after.keys())
    pairs = ((path, before.get(path), after.get(path)) for path in every)
    return [f"{path}: {old} -> {new}" for path, old, new in pairs if old != new and repr(old) != repr(new)]


def _driven(block: Any) -> set[str]:
    """Return the paths of what drivers set, which they do when their object is looked at, and no sooner."""
    animation = getattr(block, "animation_data", None)
    return set() if animation is None else {driver.data_path for driver in animation.drivers}


class Kind(NamedTuple):
    """What is to be known of a property of a type of structs."""

    name: str
    type: str
    is_array: bool
    numbers: tuple[tuple[str, int], ...]  # of what a collection holds: those of `NUMBERS`, and how long each is


@cache
def _kinds(struct_type: Any) -> tuple[Kind, ...]:
    """Return the properties of structs that are looked at; Blender takes long to tell."""
    found = []
    for kind in struct_type.bl_rna.properties:
        follows = kind.type in SIMPLE and kind.is_readonly
        if follows or kind.identifier in LEFT_OUT or kind.identifier.startswith("bl_"):
            continue
        inner = kind.fixed_type.properties if kind.type == "COLLECTION" else ()
        numbers = ((each.identifier, max(each.array_length, 1)) for each in inner if each.type == "FLOAT")
        listed = tuple((name, length) for name, length in numbers if name in NUMBERS)
        found.append(Kind(kind.identifier, kind.type, getattr(kind, "is_array", False), listed))
    return tuple(found)


def _walk(struct: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the properties of a struct, and of the structs in it."""
    struct_type: Any = type(struct)
    for kind in _kinds(struct_type):
        place = f"{path}.{kind.name}"
        try:
            value = getattr(struct, kind.name)
        except (AttributeError, RuntimeError):
            continue
        if kind.type in SIMPLE:
            yield place, _plain(value) if kind.is_array else value
        elif kind.type == "POINTER" and value is not None:
            if isinstance(value, bpy.types.ID) and not value.is_embedded_data:
                yield place, value.name_full
            elif depth and not isinstance(value, bpy.types.Bone | bpy.types.PoseBone):  # which know each other
                yield from _walk(value, place, depth - 1)
        elif kind.type == "COLLECTION" and depth and kind.name != "children":  # of bones, which all are told of
            yield from _walk_all(value, kind, place, depth - 1)
    if isinstance(struct, bpy.types.ID | bpy.types.PoseBone | bpy.types.Bone):
        noted = NOTED_ON_ACTIONS if isinstance(struct, bpy.types.Action) else NOTED
        yield from ((f"{path}[{key!r}]", _plain(value)) for key, value in struct.items() if key not in noted)


def _walk_all(values: Any, kind: Kind, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield what is in a collection: of one of many structs their numbers alone."""
    if len(values) <= MANY:
        for nth, value in enumerate(values):
            if value is None or isinstance(value, bpy.types.ID):
                yield f"{path}[{nth}]", None if value is None else value.name_full
            elif not getattr(value, "is_internal", False):  # attributes that are made when they are looked at
                yield from _walk(value, f"{path}[{nth}]", depth)
        return
    yield f"{path}.length", len(values)
    for name, length in kind.numbers:
        numbers = np.empty(len(values) * length, np.float32)
        with contextlib.suppress(TypeError):  # some lists have a length, and nothing in them
            values.foreach_get(name, numbers)
            yield f"{path}.{name}", numbers.tobytes()


def _plain(value: Any) -> Any:
    """Return what may be an array as Python's own."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return np.array(value).ravel().tolist() if hasattr(value, "__len__") and not isinstance(value, str) else value
