"""Records: a source's facts as one string of bytes that a .blend can hold.

A record is a handful of named arrays. Layout, little-endian:

    magic "IDTR", version u16, number of arrays u16, then for each array
    length of name u16, name (UTF-8), dtype (4 bytes, numpy's "<i2" padded with spaces), number of axes u16,
    length of each axis u32, zeros up to a multiple of 8 from the start, data (C order)

The data are aligned because numpy is several times slower on numbers that are not.

A .blend can come from a stranger, so `unpack` checks a record like any file: nothing is allocated before its size is
known to fit, only plain numbers are accepted, and nothing is ever executed (no pickle).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import CodedSource, DeltaSource, SurfaceSource
from ..vertex import ModelSource

MAGIC = b"IDTR"
VERSION = 1
DTYPES = frozenset(("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f2", "<f4", "<f8"))
MAX_AXES = 4
ALIGNMENT = 8
SMALL = 1 << 12  # bytes of an array of which a copy is made sooner than a view
MAX_FRAMES = 1 << 20  # without vertices a record of any size could claim any number
FACT = "fact."  # prefix of the arrays that only the format knows
WHOLE = "whole."  # prefix of what the record of a part, a surface or a tag, knows of its model
TAGS, LAYOUT = "tags", "layout_"  # facts of a model that not every part carries: see `ModelSource`
DELTA_ARRAYS = ("bases", "deltas", "base_frames", "delta_frames", "scale", "delta_scale")
SHORT = 2  # bytes of a code of which there are deltas, and of these
Arrays = dict[str, NDArray[Any]]


class RecordError(ValueError):
    """A record that is damaged or does not fit; it is dropped with a warning, never obeyed."""


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as bytes; inverse of `unpack`."""
    parts: list[Any] = [MAGIC, struct.pack("<HH", VERSION, len(arrays))]
    place = 8
    for name, array in arrays.items():
        key, kind, axes = name.encode(), array.dtype.str.encode().ljust(4), array.ndim
        head = struct.pack(f"<H{len(key)}s4sH{axes}I", len(key), key, kind, axes, *array.shape)
        head += bytes(-(place + len(head)) % ALIGNMENT)
        parts += (
            head,
            array.tobytes() if array.nbytes < SMALL else np.ascontiguousarray(array).reshape(-1).view(np.uint8),
        )
        place += len(head) + array.nbytes
    return b"".join(parts)


def unpack(data: bytes | memoryview) -> Arrays:
    """Return the arrays of a record as read-only views of `data`.

    Raises:
        RecordError: anything that `pack` would not have written.
    """
    data = memoryview(data)
    try:
        magic, (version, count) = data[:4], struct.unpack_from("<HH", data, 4)
        if magic != MAGIC or version != VERSION:
            raise RecordError(f"not a record of version {VERSION}")
        arrays, place = {}, 8
        for _ in range(count):
            name, array, place = _unpack_array(data, place)
            arrays[name] = array
    except RecordError:
        raise
    except (struct.error, ValueError) as error:  # ValueError: bad UTF-8, or empty axes that numpy refuses
        raise RecordError(f"damaged record ({error})") from error
    return arrays


def _unpack_array(data: memoryview, place: int) -> tuple[str, NDArray[Any], int]:
    (length,) = struct.unpack_from("<H", data, place)
    name = bytes(data[place + 2 : place + 2 + length]).decode()
    place += 2 + length
    dtype = bytes(data[place : place + 4]).decode().strip()
    (axes,) = struct.unpack_from("<H", data, place + 4)
    if dtype not in DTYPES or axes > MAX_AXES:
        raise RecordError(f"array '{name}' of a kind that no record holds")
    shape = struct.unpack_from(f"<{axes}I", data, place + 6)
    place += 6 + 4 * axes
    place += -place % ALIGNMENT
    count = 1
    for axis in shape:
        count *= axis
    end = place + count * np.dtype(dtype).itemsize
    if end > len(data):
        raise RecordError(f"array '{name}' runs past the end of the record")
    array = np.frombuffer(data, dtype, count, place).reshape(shape) if count else np.zeros(shape, dtype)
    return name, array, end


def pack_names(names: Iterable[str]) -> NDArray[np.uint8]:
    """Return texts as one array of UTF-8 bytes, each ended by a NUL; inverse of `unpack_names`."""
    listed = list(names)
    text = "\0".join(listed)
    if text.count("\0") >= max(len(listed), 1):
        text = "\0".join(name.replace("\0", "") for name in listed)
    raw = (text + "\0").encode("utf-8", errors="replace") if listed else b""
    return np.frombuffer(raw, np.uint8)


def unpack_names(packed: NDArray[Any]) -> list[str]:
    """Return the texts that `pack_names` packed."""
    return packed.tobytes().decode("utf-8", errors="replace").split("\0")[:-1]


def checked(arrays: Arrays, name: str, kinds: str, *shape: int) -> NDArray[Any]:
    """Return an array if its dtype kind is among `kinds` and its shape is `shape` (-1 = any length).

    Raises:
        RecordError: it is missing, or of another kind or shape.
    """
    array = arrays.get(name)
    if array is None:
        raise RecordError(f"record has no '{name}'")
    fits = array.ndim == len(shape) and all(want in (-1, got) for want, got in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in kinds or not fits:
        raise RecordError(f"record's '{name}' is {array.dtype} {array.shape}, expected {kinds} {shape}")
    return array


def _checked_index(arrays: Arrays, name: str, limit: int) -> NDArray[Any]:
    triangles = checked(arrays, name, "i", -1, 3)
    if triangles.size and not 0 <= int(triangles.min()) <= int(triangles.max()) < limit:
        raise RecordError(f"record's '{name}' name vertices that it does not have")
    return triangles


def pack_facts(facts: Arrays) -> Arrays:
    """Return facts under the names that they have in a record; inverse of `facts_among`."""
    return {FACT + name: array for name, array in facts.items()}


def facts_among(arrays: Arrays) -> Arrays:
    """Return the facts among a record's arrays."""
    return {name[len(FACT) :]: array for name, array in arrays.items() if name.startswith(FACT)}


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
