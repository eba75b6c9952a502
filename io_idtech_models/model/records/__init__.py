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

MAGIC = b"IDTR"
VERSION = 1
DTYPES = frozenset(("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f2", "<f4", "<f8"))
MAX_AXES = 4
ALIGNMENT = 8
SMALL = 1 << 12  # bytes of an array of which a copy is made sooner than a view
FACT = "fact."  # prefix of the arrays that only the format knows
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


def pack_facts(facts: Arrays) -> Arrays:
    """Return facts under the names that they have in a record; inverse of `facts_among`."""
    return {FACT + name: array for name, array in facts.items()}


def facts_among(arrays: Arrays) -> Arrays:
    """Return the facts among a record's arrays."""
    return {name[len(FACT) :]: array for name, array in arrays.items() if name.startswith(FACT)}
