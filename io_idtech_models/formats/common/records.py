"""Bounds-checked access to binary files: records, and names of a fixed size."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...reporting import FormatError, LimitError

log = logging.getLogger(__name__)

Array = NDArray[Any]


def take(data: bytes, dtype: DTypeLike, shape: tuple[int, ...], offset: int, what: str) -> Array:
    """Return a read-only view of `data` as an array of `shape`, without copying.

    Nothing is allocated before the bounds are known to hold, so a hostile count costs nothing.

    Raises:
        FormatError: a negative count, or a range that does not lie within `data`.
    """
    dtype = np.dtype(dtype)
    count = 1
    for length in shape:
        if length < 0:
            raise FormatError(f"negative number of {what}", expected="0 or more", found=length)
        count *= length
    if count == 0:
        return np.zeros(shape, dtype)
    end = offset + count * dtype.itemsize
    if offset < 0 or end > len(data):
        raise FormatError(f"{what} run past the end of the file", f"byte {offset}", f"{len(data)} bytes at most", end)
    return np.frombuffer(data, dtype, count, offset).reshape(shape)


def check_indices(values: Array, limit: int, offset: int, what: str, kind: str) -> None:
    """Refuse indices (n,) or (n, k) at an offset that are not 0 to `limit` - 1; `what` has {} for the row's number.

    Raises:
        FormatError: names the first row that is wrong; `kind` says what is numbered.
    """
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < limit:
        rows = values.reshape(len(values), -1)
        bad = int(np.flatnonzero(((rows < 0) | (rows >= limit)).any(axis=1))[0])
        place = f"byte {offset + bad * rows.shape[1] * rows.itemsize}"
        raise FormatError(what.replace("{}", str(bad), 1), place, f"{kind} 0 to {limit - 1}", rows[bad].tolist())


def place_of(dtype: np.dtype[Any], name: str) -> int:
    """Return where a field of a record begins, in bytes from its start."""
    fields = dtype.fields
    return 0 if fields is None else fields[name][1]


def raw_bytes(array: Array) -> NDArray[np.uint8]:
    """Return the memory of an array as bytes, shape (n,), without copying where it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def decode_name(raw: bytes) -> str:
    """Return the text before the first NUL: UTF-8 where it is valid, else Latin-1, which maps every byte."""
    text = raw.partition(b"\0")[0]
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def encode_name(name: str, size: int, what: str, hint: bytes = b"") -> bytes:
    """Return `name` as bytes for a field of `size` bytes with a NUL at its end; inverse of `decode_name`.

    `hint`, the source's field, is returned while it still decodes to `name`: with its spelling of characters
    and whatever lies behind its NUL.

    Raises:
        LimitError: the name needs more than `size` - 1 bytes.
    """
    if hint and decode_name(hint) == name:
        return hint
    raw = name.encode("utf-8", errors="replace").replace(b"\0", b"")
    if len(raw) >= size:
        raise LimitError(f"{what} name '{name}' has {len(raw)} bytes, the format holds {size - 1}")
    return raw


def header_name(name: str, size: int) -> bytes:
    """Return a model's name for a header's field of `size` bytes, cut to what fits: no game looks at it."""
    raw = name.encode("utf-8", errors="replace").replace(b"\0", b"")[: size - 1]
    return raw.decode("utf-8", errors="ignore").encode("utf-8")


def cut_name(name: str, size: int, hint: bytes = b"") -> bytes:
    """Return a frame's name for a field of `size` bytes, cut to what fits: few games look at it; see `encode_name`."""
    raw = encode_name(name, 1 << 16, "frame", hint)
    if raw is hint or len(raw) < size:
        return raw
    log.warning("frame name '%s' is cut to %d bytes", name, size - 1)
    return raw[: size - 1].decode("utf-8", errors="ignore").encode("utf-8")
