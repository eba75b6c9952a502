"""Records of binary files, bounds-checked, and names of a fixed size; and facts of a source that travel as hints.

Facts come back from a .blend, which can be a stranger's: so they are checked like a file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...reporting import FormatError, LimitError

if TYPE_CHECKING:
    from ...model.source import Facts

log = logging.getLogger(__name__)

Array = NDArray[Any]
# Name of a fact: its dtype and shape, -1 = any length. Records are kept as their bytes: see `as_bytes`.
Wanted = dict[str, tuple[DTypeLike, tuple[int, ...]]]
Source = TypeVar("Source")
LAYOUT: Wanted = {
    "layout_order": ("i4", (-1,)), "layout_gaps": ("i8", (-1,)), "layout_filler": ("u1", (-1,)),
    "layout_tail": ("u1", (-1,)), "layout_empty": ("i8", (-1, 2)), "layout_ends": ("i8", (-1,)),
}  # fmt: skip


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


def all_fit(facts: Facts, wanted: Wanted) -> bool:
    """Tell whether all wanted facts are there with their dtype and shape: a .blend can come from a stranger."""
    for name, (wanted_type, lengths) in wanted.items():
        dtype, shape, array = np.dtype(wanted_type), lengths, facts.get(name)
        if dtype.kind in "SV":
            dtype, shape = np.dtype("u1"), (*shape, dtype.itemsize)
        if array is None or array.dtype != dtype or array.ndim != len(shape):
            return False
        if any(want not in (-1, got) for want, got in zip(shape, array.shape, strict=True)):
            return False
    return True


def layout_fits(facts: Facts) -> bool:
    """Tell whether the layout among the facts is one that `chunks.survey` may have written."""
    if not all_fit(facts, LAYOUT):
        return False
    gaps, filler = facts["layout_gaps"], facts["layout_filler"]
    offsets = np.abs(facts["layout_empty"] // 2)
    return bool(
        len(facts["layout_ends"])
        and len(facts["layout_order"]) == len(gaps)
        and ((gaps >= 0) & (gaps <= len(filler))).all()
        and int(gaps.sum()) == len(filler)
        and (offsets <= 2**30).all()
    )


def layout_of(facts: Facts) -> Facts:
    """Return the layout among the facts; nothing where it can't be one."""
    return {name: facts[name] for name in LAYOUT} if layout_fits(facts) else {}


def as_bytes(records: NDArray[Any]) -> NDArray[np.uint8]:
    """Return records (...) as bytes (..., size of one), which is how facts hold them; a header is a record alone."""
    array = np.asarray(records)
    return raw_bytes(array).reshape(*array.shape, array.dtype.itemsize)


def records_of(facts: Facts, name: str, dtype: np.dtype[Any]) -> Any:
    """Return the records that a fact was made of; inverse of `as_bytes`."""
    return np.ascontiguousarray(facts[name]).view(dtype)[..., 0].copy()[()]


def sound(source: Source | None, fits: Callable[[Source], bool], name: str) -> Source | None:
    """Return a source whose facts are what `to_model` writes, else None, with a warning: `name` is the model's."""
    if source is None or fits(source):
        return source
    warn_damaged(name)
    return None


def warn_damaged(name: str) -> None:
    """Warn that a .blend, which can come from a stranger, has facts of a model's source that can't be."""
    log.warning("the facts of the source of '%s' are damaged: written without them", name)


def passes(check: Callable[..., object], *arguments: Any) -> bool:
    """Tell whether facts pass a check that reading makes of a file's structs: what is written has to, too."""
    try:
        check(*arguments)
    except FormatError:
        return False
    return True


def finite(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return float32 values with 0 for NaN and the largest float for infinity: Blender can't show those."""
    found = values.astype(np.float32)
    return found if np.isfinite(found).all() else np.nan_to_num(found)


def flipped(uvs: NDArray[Any]) -> NDArray[Any]:
    """Return texture coordinates (V, 2) from the other side, as precise; its own inverse but for rounding."""
    with np.errstate(invalid="ignore"):  # signalling NaNs; they travel as a hint
        return np.stack((uvs[:, 0], uvs.dtype.type(1) - uvs[:, 1]), axis=1)
