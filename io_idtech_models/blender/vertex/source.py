"""The source's facts in the .blend: stored by import, found again by export.

The model's record lies on its collection; each mesh carries a copy of its own surface's, and each tag's empty its
tag's, with what has one size of the model's, so that objects that come without their collection keep their facts, and
know their model when they are together again. All carry the model's id. A record that is damaged or does not fit is
dropped with a warning: a .blend can come from a stranger.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import records
from ...model.records import vertex as record
from ...model.source import SurfaceSource
from ...model.vertex import ModelSource
from ..compat import Block
from ..mesh import attributes
from ..properties import numbers, write_bytes
from ..provenance import FILE, MODEL_ID, RECORD, SURFACE_INDEX, TAG_INDEX, Place, first_number
from ..roots import tag_frames

log = logging.getLogger(__name__)

RENAMED = "idtech_renamed"  # on a mesh: what import called keys, by their names now
# Visible and editable: frames of a model that has no shape keys to count and name them.
NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES = "idtech_frames", "idtech_frame_names", "idtech_frame_sources"
MOST_FRAMES = 1 << 20  # of a model: more is no list of frames


@dataclass(eq=False)
class StoredSource:
    """What the .blend knows of the source: its facts, the names that import gave its frames' keys, meshes' places."""

    source: ModelSource
    key_names: list[str]
    places: dict[Block, Place]  # by mesh: names repeat where some are linked
    tags: dict[tuple[str, int], int] = field(default_factory=dict)  # the source's by model's id and number in its file
    lone: bool = False  # no collection tells of the model, but its parts do

    def tag_index(self, block: Any) -> int:
        """Return which of the source's tags an empty is, or -1."""
        model_id, number = block.get(MODEL_ID), block.get(TAG_INDEX)
        return self.tags.get((model_id, number), -1) if isinstance(model_id, str) and isinstance(number, int) else -1

    def frames_of_keys(self, mesh: Any) -> dict[str, int]:
        """Return the source's frames by what their keys in a mesh are called now: as import did, or see `know_keys`."""
        given = {name: frame for frame, name in enumerate(self.key_names)}
        return given | {new: given[old] for new, old in renamed_keys(mesh).items() if old in given}

    def vertices_of(self, mesh: Block) -> tuple[SurfaceSource, NDArray[np.int64]] | None:
        """Return the surface that a mesh is of, and which of its vertices each corner is, (C,), -1 for others."""
        place, stored = self.places.get(mesh), attributes.get_attribute(mesh, attributes.CORNER_SOURCE, "INT", "CORNER")
        if place is None or stored is None or not 0 <= place.surface < len(self.source.surfaces):
            return None
        surface = self.source.surfaces[place.surface]
        numbers = place.vertex_numbers(stored) - int(self.source.first_vertices[place.surface])
        return surface, np.where((numbers >= 0) & (numbers < surface.num_vertices), numbers, -1)

    @property
    def is_bare(self) -> bool:
        """Tell whether the source held nothing: neither a surface nor a tag."""
        return not self.source.surfaces and not self.source.tag_names


def renamed_keys(mesh: Any) -> dict[str, str]:
    """Return what import called keys of a mesh that were renamed, or copied, since, by what they are called now."""
    found = mesh.get(RENAMED)
    return {new: str(old) for new, old in found.items()} if hasattr(found, "items") else {}


def know_keys(mesh: Any, named: dict[str, str], copies: bool = False) -> None:
    """Know keys of a mesh, by their names from now on, for those that had others, or that they are `copies` of."""
    before = renamed_keys(mesh)
    left = {new: old for new, old in before.items() if copies or new not in named.values()}
    mesh[RENAMED] = left | {new: before.get(old, old) for new, old in named.items()}


def attach(
    source: ModelSource,
    collection: bpy.types.Collection,
    meshes: list[bpy.types.Mesh],
    tags: list[Any],
    key_names: list[str],
) -> None:
    """Store a model's facts on its collection, each surface's on its mesh, and each tag's on its empty."""
    model_id = uuid.uuid4().hex
    shared: records.Arrays = {
        "keys": records.pack_names(key_names),
        "frames": records.pack_names(source.frame_names),
        "format": records.pack_names([source.format]),
    }
    wholes = [record.whole_arrays(source, with_layout) for with_layout in (True, False)]
    packed = []
    for index, (surface, mesh) in enumerate(zip(source.surfaces, meshes, strict=True)):
        data = record.surface_record(surface, {"place": source.place(index)} | shared | wholes[index > 0])
        write_bytes(mesh, RECORD, data)
        mesh[MODEL_ID], mesh[SURFACE_INDEX] = model_id, index
        packed.append(data)
    for index, block in enumerate(tags):
        number = {"number": np.array([index], np.int32)}
        facts = number | shared | wholes[index > 0 or bool(meshes)]
        write_bytes(block, RECORD, record.tag_record(source, index, facts))
        block[MODEL_ID], block[TAG_INDEX] = model_id, index
    write_bytes(collection, RECORD, record.model_record(source, packed, {"keys": shared["keys"]}))
    collection[MODEL_ID] = model_id


def find(
    collection: bpy.types.Collection | None, meshes: list[bpy.types.Mesh], tags: Iterable[Any] = ()
) -> StoredSource | None:
    """Return what the collection's record knows, or else what those of meshes and of tags' empties know together."""
    known = None if collection is None else _from_collection(collection)
    lone = [mesh for mesh in meshes if RECORD in mesh.keys()]  # noqa: SIM118 - the stubs know no other way
    if known is None or collection is None:
        empties = [block for block in tags if RECORD in block.keys()]  # noqa: SIM118
        return _assembled(_read_parts(lone, _surface_part), _read_parts(empties, _tag_part))
    own = collection.get(MODEL_ID)
    if isinstance(own, str):
        known.tags = {(own, number): number for number in range(len(known.source.tag_names))}
    _place_own(known, [mesh for mesh in lone if mesh.get(MODEL_ID) == own])
    _add_surfaces(known, _read_parts([mesh for mesh in lone if mesh.get(MODEL_ID) != own], _surface_part))
    return known


def _from_collection(collection: bpy.types.Collection) -> StoredSource | None:
    data = collection.get(RECORD)
    if not isinstance(data, bytes):
        return None
    try:
        source, arrays = record.model_source(data)
        return StoredSource(source, records.unpack_names(records.checked(arrays, "keys", "u", -1)), {})
    except records.RecordError as error:
        log.warning("the source of collection '%s' is ignored: %s", collection.name, error)
        return None


def _place_own(known: StoredSource, meshes: list[bpy.types.Mesh]) -> None:
    """Give the model's own meshes their places: their numbers count as they are."""
    source = known.source
    for mesh in meshes:
        known.places[mesh] = Place.among_own(mesh, len(source.surfaces), source.every_vertex, source.every_triangle)


@dataclass(eq=False)
class StoredPart:
    """What a surface's mesh, or a tag's empty, knows: of itself, and of its model."""

    holder: Any
    model_id: str
    number: int  # among the model's surfaces, or tags
    format: str
    frames: list[str]
    keys: list[str]
    counts: tuple[int, int]  # how many surfaces and tags the model has; (0, 0): records did not say before
    facts: records.Arrays  # of the model
    arrays: records.Arrays  # of its own record
    surface: SurfaceSource | None = None
    name: str = ""  # of a tag


def _read_parts(holders: list[Any], read: Any) -> list[StoredPart]:
    """Return what the records of meshes or empties say; those that are damaged are named."""
    found = []
    for holder in holders:
        try:
            found.append(read(holder))
        except (records.RecordError, IndexError, TypeError) as error:
            kind = "mesh" if read is _surface_part else "tag"
            log.warning("the source of %s '%s' is ignored: %s", kind, holder.name, error)
    return found


def _surface_part(mesh: Any) -> StoredPart:
    surface, arrays = record.surface_source(mesh[RECORD])
    number = int(records.checked(arrays, "place", "i", 3)[0])
    return _part(mesh, number, surface.num_frames, arrays, surface=surface)


def _tag_part(block: Any) -> StoredPart:
    name, arrays = record.tag_source(block[RECORD])
    number = int(records.checked(arrays, "number", "i", 1)[0])
    return _part(block, number, len(arrays["tag_origins"]), arrays, name=name)


def _part(holder: Any, number: int, count: int, arrays: records.Arrays, **own: Any) -> StoredPart:
    keys, frames = (records.unpack_names(records.checked(arrays, n, "u", -1)) for n in ("keys", "frames"))
    format_name = records.unpack_names(records.checked(arrays, "format", "u", -1))[0]
    counts, facts = record.whole_among(arrays)
    model_id = holder.get(MODEL_ID)
    frames = (frames + [""] * count)[:count]
    named = model_id if isinstance(model_id, str) else ""
    return StoredPart(holder, named, number, format_name, frames, keys, counts, facts, arrays, **own)


def _assembled(surfaces: list[StoredPart], tags: list[StoredPart]) -> StoredSource | None:
    """Return what parts know that came without their collection; all that there was to know where none is missing."""
    parts = surfaces + tags
    if not parts:
        return None
    ids = list(dict.fromkeys(part.model_id for part in parts))
    lead = parts[0]
    known = StoredSource(_empty_source(lead.format, lead.frames), lead.keys, {}, lone=True)

    def rank(part: StoredPart) -> tuple[int, int]:
        return ids.index(part.model_id), part.number

    _add_surfaces(known, sorted(surfaces, key=rank), ids[0])
    _add_tags(known, sorted(tags, key=rank))
    if len(ids) == 1:
        known.source.facts |= next((part.facts for part in parts if any(part.counts)), {})
        for part in parts:
            known.source.facts |= {n: a for n, a in part.facts.items() if n.startswith(record.LAYOUT)}
    return known


def _add_surfaces(known: StoredSource, parts: list[StoredPart], lead: str | None = None) -> None:
    """Add surfaces whose model is not here: their numbers move behind those that are known. Copies share a place.

    Of several models the facts are the `lead`'s, and all others' surfaces are strangers to these.
    """
    placed: dict[tuple[str, int], Place] = {}
    for part in parts:
        source, surface = known.source, part.surface
        if surface is None or source.format != part.format or source.num_frames != surface.num_frames:
            continue
        key = (part.model_id, part.number)
        if key not in placed:
            _, first_vertex, first_triangle = part.arrays["place"].tolist()
            first = int(source.first_vertices[-1]), int(source.first_triangles[-1])
            begin = first_number(part.holder)
            others = frozenset() if part.model_id == lead else frozenset([len(source.surfaces)])
            placed[key] = Place(
                len(source.surfaces),
                first[0] - first_vertex - begin,
                range(first[0], first[0] + surface.num_vertices),
                first[1] - first_triangle - begin,
                range(first[1], first[1] + len(surface.triangles)),
            )
            known.source = replace(source, surfaces=[*source.surfaces, surface], strangers=source.strangers | others)
        known.places[part.holder] = placed[key]


def _add_tags(known: StoredSource, parts: list[StoredPart]) -> None:
    """Give a source without tags those of some parts, each once."""
    source, chosen = known.source, list[StoredPart]()
    for part in parts:
        key = (part.model_id, part.number)
        if key not in known.tags and part.format == source.format and len(part.frames) == source.num_frames:
            known.tags[key] = len(chosen)
            chosen.append(part)
    if not chosen:
        return
    source.tag_names = [part.name for part in chosen]
    origins, axes = ([part.arrays[name] for part in chosen] for name in ("tag_origins", "tag_axes"))
    source.tag_origins, source.tag_axes = (np.stack(a, axis=1).astype(np.float32) for a in (origins, axes))
    facts = (records.facts_among(part.arrays) for part in chosen)
    rows = [found[record.TAGS] for found in facts if record.TAGS in found]
    if len(rows) == len(chosen) and len({(row.shape, row.dtype) for row in rows}) == 1:
        source.facts = {**source.facts, record.TAGS: np.stack(rows, axis=1)}


def _empty_source(name: str, frame_names: list[str]) -> ModelSource:
    count = len(frame_names)
    origins, axes = np.zeros((count, 0, 3), np.float32), np.zeros((count, 0, 3, 3), np.float32)
    return ModelSource([], name, frame_names, [], origins, axes)


def adopt(collection: bpy.types.Collection, other: bpy.types.Collection) -> None:
    """Let a collection know of a model what another knows, so that what changes of one is not the other's."""
    for name in (RECORD, MODEL_ID, FILE, NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES):
        if name in other.keys():  # noqa: SIM118 - the stubs know no other way
            collection[name] = other[name]


def frame_list(collection: bpy.types.Collection) -> tuple[list[str], list[int]] | None:
    """Return names and source frames of a model without shape keys, from its collection's properties, or None."""
    count, listed = collection.get(NUM_FRAMES), collection.get(FRAME_NAMES)
    if type(count) is not int or not 1 <= count <= MOST_FRAMES:
        return None
    names = listed.split("\n") if isinstance(listed, str) else []
    names = (names + [""] * count)[:count]
    stored = [int(number) for number in numbers(collection, FRAME_SOURCES) if abs(number) < MOST_FRAMES]
    return names, stored if len(stored) == count else list(range(count))


def listed_frames(
    collection: bpy.types.Collection | None, known: StoredSource | None, tags: Iterable[Any]
) -> tuple[list[str], list[int]] | None:
    """Return names and source frames of a model that are not told by keys of its meshes; None where nothing says them.

    It has none, or none any more: then those that its `tags` show, as parts of players have them, which are none of the
    source's for what else is there.
    """
    found = None if collection is None else frame_list(collection)
    if found is None and known is not None and known.lone:  # no collection lists them: they are the file's
        return known.source.frame_names, list(range(known.source.num_frames))
    count = 1 if found is not None else tag_frames(tags)
    if count == 1:
        return found
    own = [] if known is None else known.source.frame_names
    return own if len(own) == count else [""] * count, [-1] * count


def set_frame_list(collection: bpy.types.Collection, names: list[str], sources: list[int]) -> None:
    """Store the frames of a model without shape keys; inverse of `frame_list`."""
    collection[NUM_FRAMES] = len(names)
    collection[FRAME_NAMES] = "\n".join(name.replace("\n", " ") for name in names)
    collection[FRAME_SOURCES] = sources


def clear_frame_list(collection: bpy.types.Collection) -> None:
    """Forget the frames of a model that has shape keys now, which say it better."""
    for name in (NUM_FRAMES, FRAME_NAMES, FRAME_SOURCES):
        collection.pop(name, None)
