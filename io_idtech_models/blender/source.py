"""The source's facts in the .blend: stored by import, found again by export.

The model's record lies on its collection; each mesh carries a copy of its own surface's, so that an object appended
alone keeps its facts. Both carry the model's id. A record that is damaged or does not fit is dropped with a warning:
a .blend can come from a stranger.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model import record
from ..model.vertex import ModelSource, SurfaceSource

log = logging.getLogger(__name__)

RECORD, MODEL_ID, SURFACE_INDEX = "idtech_source", "idtech_model", "idtech_surface"
FILE = "idtech_file"  # on a collection: the file that it came from
# Visible and editable: frames of a model that has no shape keys to count and name them.
NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES = "idtech_frames", "idtech_frame_names", "idtech_frame_sources"


@dataclass(eq=False)
class Place:
    """Where a mesh's source numbers lie among the model's: number of the mesh + shift, within [first, end)."""

    surface: int  # index among the source's surfaces
    vertex_shift: int
    vertices: range
    triangle_shift: int
    triangles: range

    def vertex_numbers(self, stored: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return model-wide vertex numbers of stored ones (n,): -1 for new elements and strangers."""
        return _shifted(stored, self.vertex_shift, self.vertices)

    def triangle_numbers(self, stored: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return model-wide triangle numbers of stored ones (n,): -1 for new elements and strangers."""
        return _shifted(stored, self.triangle_shift, self.triangles)


def _shifted(stored: NDArray[np.int32], shift: int, allowed: range) -> NDArray[np.int64]:
    numbers = stored.astype(np.int64) - 1 + shift
    return np.where((stored > 0) & (numbers >= allowed.start) & (numbers < allowed.stop), numbers, -1)


@dataclass(eq=False)
class Known:
    """What the .blend knows of the source: its facts, the names that import gave its frames' keys, meshes' places."""

    source: ModelSource
    key_names: list[str]
    places: dict[str, Place]  # by mesh name

    @property
    def is_bare(self) -> bool:
        """Tell whether the source held nothing: neither a surface nor a tag."""
        return not self.source.surfaces and not self.source.tag_names


def attach(
    source: ModelSource, collection: bpy.types.Collection, meshes: list[bpy.types.Mesh], key_names: list[str]
) -> None:
    """Store a model's facts on its collection, and each surface's on its mesh."""
    model_id = uuid.uuid4().hex
    keys, frames = record.pack_names(key_names), record.pack_names(source.frame_names)
    format_name = record.pack_names([source.format])
    records = []
    for index, (surface, mesh) in enumerate(zip(source.surfaces, meshes, strict=True)):
        place = np.array([index, source.first_vertices[index], source.first_triangles[index]], np.int64)
        extra: record.Arrays = {"place": place, "keys": keys, "frames": frames, "format": format_name}
        data = record.surface_record(surface, extra)
        mesh[RECORD], mesh[MODEL_ID], mesh[SURFACE_INDEX] = data, model_id, index
        records.append(data)
    collection[RECORD] = record.model_record(source, records, {"keys": keys})
    collection[MODEL_ID] = model_id


def find(collection: bpy.types.Collection | None, meshes: list[bpy.types.Mesh]) -> Known | None:
    """Return what the collection's record knows, or else what the meshes' own know together."""
    known = None if collection is None else _from_collection(collection)
    lone = [mesh for mesh in meshes if RECORD in mesh.keys()]  # noqa: SIM118 - the stubs know no other way
    if known is not None and collection is not None:
        own = collection.get(MODEL_ID)
        _place_own(known, [mesh for mesh in lone if mesh.get(MODEL_ID) == own])
        lone = [mesh for mesh in lone if mesh.get(MODEL_ID) != own]
    for mesh in lone:
        known = _add_lone(known, mesh)
    return known


def _from_collection(collection: bpy.types.Collection) -> Known | None:
    data = collection.get(RECORD)
    if not isinstance(data, bytes):
        return None
    try:
        source, arrays = record.model_source(data)
        return Known(source, record.unpack_names(record.checked(arrays, "keys", "u", -1)), {})
    except record.RecordError as error:
        log.warning("the source of collection '%s' is ignored: %s", collection.name, error)
        return None


def _place_own(known: Known, meshes: list[bpy.types.Mesh]) -> None:
    """Give the model's own meshes their places: their numbers count as they are."""
    source = known.source
    vertices, triangles = range(int(source.first_vertices[-1])), range(int(source.first_triangles[-1]))
    for mesh in meshes:
        index = mesh.get(SURFACE_INDEX)
        valid = isinstance(index, int) and 0 <= index < len(source.surfaces)
        known.places[mesh.name] = Place(index if valid else -1, 0, vertices, 0, triangles)


def _add_lone(known: Known | None, mesh: bpy.types.Mesh) -> Known | None:
    """Add a surface whose model is not here: its numbers move behind those that are known."""
    try:
        surface, arrays = record.surface_source(mesh[RECORD])
        _, first_vertex, first_triangle = record.checked(arrays, "place", "i", 3).tolist()
        keys, frames = (record.unpack_names(record.checked(arrays, n, "u", -1)) for n in ("keys", "frames"))
        name = record.unpack_names(record.checked(arrays, "format", "u", -1))[0]
    except (record.RecordError, IndexError) as error:
        log.warning("the source of mesh '%s' is ignored: %s", mesh.name, error)
        return known
    if known is None:
        known = Known(_empty_source(name, (frames + [""] * len(surface.codes))[: len(surface.codes)]), keys, {})
    source = known.source
    if source.format != name or source.num_frames != len(surface.codes):
        return known
    first = int(source.first_vertices[-1]), int(source.first_triangles[-1])
    known.places[mesh.name] = Place(
        len(source.surfaces),
        first[0] - first_vertex,
        range(first[0], first[0] + surface.num_vertices),
        first[1] - first_triangle,
        range(first[1], first[1] + len(surface.triangles)),
    )
    known.source = _with_surface(source, surface)
    return known


def _empty_source(name: str, frame_names: list[str]) -> ModelSource:
    count = len(frame_names)
    origins, axes = np.zeros((count, 0, 3), np.float32), np.zeros((count, 0, 3, 3), np.float32)
    return ModelSource(name, [], frame_names, [], origins, axes)


def _with_surface(source: ModelSource, surface: SurfaceSource) -> ModelSource:
    return ModelSource(
        source.format,
        [*source.surfaces, surface],
        source.frame_names,
        source.tag_names,
        source.tag_origins,
        source.tag_axes,
        source.facts,
    )


def adopt(collection: bpy.types.Collection, other: bpy.types.Collection) -> None:
    """Let a collection know of a model what another knows, so that what changes of one is not the other's."""
    for name in (RECORD, MODEL_ID, FILE, NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES):
        if name in other.keys():  # noqa: SIM118 - the stubs know no other way
            collection[name] = other[name]


def frame_list(collection: bpy.types.Collection) -> tuple[list[str], list[int]] | None:
    """Return names and source frames of a model without shape keys, from its collection's properties; None without."""
    count, listed = collection.get(NUM_FRAMES), collection.get(FRAME_NAMES)
    if not isinstance(count, int) or not 1 <= count <= 1 << 20:
        return None
    names = listed.split("\n") if isinstance(listed, str) else []
    names = (names + [""] * count)[:count]
    stored: Any = collection.get(FRAME_SOURCES)
    sources = list(stored) if stored is not None and len(stored) == count else list(range(count))
    return names, [int(s) for s in sources]


def set_frame_list(collection: bpy.types.Collection, names: list[str], sources: list[int]) -> None:
    """Store the frames of a model without shape keys; inverse of `frame_list`."""
    collection[NUM_FRAMES] = len(names)
    collection[FRAME_NAMES] = "\n".join(name.replace("\n", " ") for name in names)
    collection[FRAME_SOURCES] = sources


def clear_frame_list(collection: bpy.types.Collection) -> None:
    """Forget the frames of a model that has shape keys now, which say it better."""
    for name in (NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES):
        collection.pop(name, None)
