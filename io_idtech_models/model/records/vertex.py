"""Records of the sources of vertex-animated models; see `records`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import CodedSource, DeltaSource, SurfaceSource
from ..vertex import ModelSource
from . import Arrays, RecordError, checked, facts_among, pack, pack_facts, pack_names, unpack, unpack_names

MAX_FRAMES = 1 << 20  # without vertices a record of any size could claim any number
WHOLE = "whole."  # prefix of what the record of a part, a surface or a tag, knows of its model
TAGS, LAYOUT = "tags", "layout_"  # facts of a model that not every part carries: see `ModelSource`
DELTA_ARRAYS = ("bases", "deltas", "base_frames", "delta_frames", "scale", "delta_scale")
SHORT = 2  # bytes of a code of which there are deltas, and of these


def surface_record(source: SurfaceSource, extra: Arrays) -> bytes:
    """Return the record of one surface with `extra` arrays; inverse of `surface_source`."""
    arrays: Arrays = {"name": pack_names([source.name])}
    if isinstance(source, CodedSource):
        arrays |= {"codes": source.codes}
    arrays |= {"triangles": source.triangles, "uvs": source.uvs, "shaders": pack_names(source.shaders)}
    if isinstance(source, CodedSource):
        arrays |= {"scale": source.scale, "offset": source.offset}
    elif isinstance(source, DeltaSource):
        arrays |= {name: getattr(source, name) for name in DELTA_ARRAYS}
        arrays["middle"] = np.array([source.middle], np.int32)
    if source.points is not None:
        arrays["points"] = source.points
    return pack(arrays | pack_facts(source.facts) | extra)


def surface_source(record: bytes | memoryview) -> tuple[SurfaceSource, Arrays]:
    """Read a surface's record, checked; returns the source and all arrays (for what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    delta = "bases" in arrays and "codes" not in arrays
    codes = checked(arrays, "bases" if delta else "codes", "iu", -1, -1, 4)
    vertices = codes.shape[1]
    names = unpack_names(checked(arrays, "name", "u", -1))
    if len(names) != 1:
        raise RecordError("record of a surface contradicts itself")
    triangles = _checked_index(arrays, "triangles", vertices).astype(np.int32, copy=False)
    shaders = unpack_names(checked(arrays, "shaders", "u", -1))
    of_corners = "uvs" in arrays and arrays["uvs"].ndim == 3
    uvs = checked(arrays, "uvs", "f", *((len(triangles), 3) if of_corners else (vertices,)), 2)
    points = checked(arrays, "points", "i", vertices) if "points" in arrays else None
    if points is not None and points.size and not 0 <= int(points.min()) <= int(points.max()) < vertices:
        raise RecordError("record's 'points' are not among its vertices")
    known = names[0], triangles, uvs, shaders
    source: SurfaceSource
    if delta:
        source = DeltaSource(*known, codes, *_delta_arrays(arrays, codes), facts=facts_among(arrays), points=points)
    else:
        source = CodedSource(*known, codes, *_boxes(arrays, len(codes)), facts=facts_among(arrays), points=points)
    return source, arrays


def _checked_index(arrays: Arrays, name: str, limit: int) -> NDArray[Any]:
    triangles = checked(arrays, name, "i", -1, 3)
    if triangles.size and not 0 <= int(triangles.min()) <= int(triangles.max()) < limit:
        raise RecordError(f"record's '{name}' name vertices that it does not have")
    return triangles


def _boxes(arrays: Arrays, frames: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return scale and offset of codes; raises RecordError."""
    scale, offset = (checked(arrays, name, "f", -1, 3) for name in ("scale", "offset"))
    if not {len(scale), len(offset)} <= {1, frames} or frames > MAX_FRAMES:
        raise RecordError("record of a surface contradicts itself")
    return scale, offset


def _delta_arrays(arrays: Arrays, bases: NDArray[Any]) -> tuple[Any, ...]:
    """Return what a surface of base frames and deltas has besides its bases, in its order; raises RecordError."""
    deltas = checked(arrays, "deltas", "iu", -1, bases.shape[1], 4)
    base_frames = checked(arrays, "base_frames", "i", -1)
    delta_frames = checked(arrays, "delta_frames", "i", len(base_frames))
    scale, delta_scale = (checked(arrays, name, "f", 1, 3) for name in ("scale", "delta_scale"))
    middle = int(checked(arrays, "middle", "i", 1)[0])
    for frames, low, stored in ((base_frames, 0, bases), (delta_frames, -1, deltas)):
        if frames.size and not low <= int(frames.min()) <= int(frames.max()) < len(stored):
            raise RecordError("record of a surface has frames of codes that it does not have")
    if len(base_frames) > min(MAX_FRAMES, 64 * (len(bases) + len(deltas))):
        raise RecordError("record of a surface shares frames without end")
    if max(bases.itemsize, deltas.itemsize) > SHORT or not 0 <= middle < 1 << 8 * SHORT:
        raise RecordError("record of a surface has larger codes than any file")
    return deltas, base_frames, delta_frames, scale, delta_scale, middle


def model_record(source: ModelSource, surfaces: list[bytes], extra: Arrays) -> bytes:
    """Return the record of a model, holding its surfaces' records and `extra` arrays; inverse of `model_source`."""
    arrays: Arrays = {
        "format": pack_names([source.format]),
        "frame_names": pack_names(source.frame_names),
        "tag_names": pack_names(source.tag_names),
        "tag_origins": source.tag_origins,
        "tag_axes": source.tag_axes,
        "num_surfaces": np.array([len(surfaces)], np.int32),
    }
    arrays |= {f"surface.{i}": np.frombuffer(record, np.uint8) for i, record in enumerate(surfaces)}
    return pack(arrays | pack_facts(source.facts) | extra)


def model_source(record: bytes) -> tuple[ModelSource, Arrays]:
    """Read a model's record, checked; returns the source and all arrays (for what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    frame_names = unpack_names(checked(arrays, "frame_names", "u", -1))
    tag_names = unpack_names(checked(arrays, "tag_names", "u", -1))
    formats = unpack_names(checked(arrays, "format", "u", -1))
    frames, tags = len(frame_names), len(tag_names)
    origins = checked(arrays, "tag_origins", "f", frames, tags, 3)
    axes = checked(arrays, "tag_axes", "f", frames, tags, 3, 3)
    count = int(checked(arrays, "num_surfaces", "i", 1)[0])
    surfaces = [surface_source(checked(arrays, f"surface.{i}", "u", -1).data)[0] for i in range(count)]
    if len(formats) != 1 or not frames or any(s.num_frames != frames for s in surfaces):
        raise RecordError("record of a model contradicts itself")
    return ModelSource(surfaces, formats[0], frame_names, tag_names, origins, axes, facts_among(arrays)), arrays


def whole_arrays(source: ModelSource, with_layout: bool) -> Arrays:
    """Return what a part's record says of its model: how many parts that has, and its facts.

    The layout grows with the parts, so that but one of them may have it: `with_layout`.
    """
    counts = np.array([len(source.surfaces), len(source.tag_names)], np.int32)
    facts = {n: a for n, a in source.facts.items() if n != TAGS and (with_layout or not n.startswith(LAYOUT))}
    return {f"{WHOLE}counts": counts, **{f"{WHOLE}{name}": array for name, array in pack_facts(facts).items()}}


def whole_among(arrays: Arrays) -> tuple[tuple[int, int], Arrays]:
    """Return how many surfaces and tags the model of a part has, and its facts; inverse of `whole_arrays`.

    (0, 0) and none of a part that does not say: records did not before.

    Raises:
        RecordError: the arrays contradict themselves.
    """
    if f"{WHOLE}counts" not in arrays:
        return (0, 0), {}
    surfaces, tags = checked(arrays, f"{WHOLE}counts", "i", 2).tolist()
    own = {name[len(WHOLE) :]: array for name, array in arrays.items() if name.startswith(WHOLE)}
    return (surfaces, tags), facts_among(own)


def tag_record(source: ModelSource, index: int, extra: Arrays) -> bytes:
    """Return the record of one tag with `extra` arrays; inverse of `tag_source`."""
    arrays: Arrays = {
        "name": pack_names([source.tag_names[index]]),
        "tag_origins": source.tag_origins[:, index],
        "tag_axes": source.tag_axes[:, index],
    }
    facts = {TAGS: source.facts[TAGS][:, index]} if TAGS in source.facts else {}
    return pack(arrays | pack_facts(facts) | extra)


def tag_source(record: bytes | memoryview) -> tuple[str, Arrays]:
    """Read a tag's record, checked; returns the name, and all arrays (with what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    names = unpack_names(checked(arrays, "name", "u", -1))
    frames = len(checked(arrays, "tag_origins", "f", -1, 3))
    checked(arrays, "tag_axes", "f", frames, 3, 3)
    facts = facts_among(arrays)
    if len(names) != 1 or not 1 <= frames <= MAX_FRAMES or (TAGS in facts and len(facts[TAGS]) != frames):
        raise RecordError("record of a tag contradicts itself")
    return names[0], arrays
