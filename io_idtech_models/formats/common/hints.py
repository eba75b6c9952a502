"""Facts of a source that travel as hints: how they are checked, and what codecs share in using them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...model.source import CodedSource, Facts
from ...model.vertex import VertexModel
from .records import raw_bytes

log = logging.getLogger(__name__)

# Name of a fact: its dtype and shape, -1 = any length. Records are kept as their bytes: see `as_bytes`.
Wanted = dict[str, tuple[DTypeLike, tuple[int, ...]]]
Source = TypeVar("Source")
LAYOUT: Wanted = {
    "layout_order": ("i4", (-1,)), "layout_gaps": ("i8", (-1,)), "layout_filler": ("u1", (-1,)),
    "layout_tail": ("u1", (-1,)), "layout_empty": ("i8", (-1, 2)), "layout_ends": ("i8", (-1,)),
}  # fmt: skip


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
    """Tell whether the layout among the facts is one that `layout.survey` may have written."""
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


def lone_source(model: VertexModel, format_name: str, fits: Callable[[CodedSource], bool]) -> CodedSource | None:
    """Return the one surface of the source of a model of a format, if the model's goes back to it and its facts fit."""
    source = model.source_of(format_name)
    index = next((s.source_index for s in model.surfaces if s.source_index >= 0), -1)
    if source is None or not 0 <= index < len(source.surfaces):
        return None
    own = source.surfaces[index]
    return own if isinstance(own, CodedSource) and fits(own) else None


def warn_damaged(name: str) -> None:
    """Warn that a .blend, which can come from a stranger, has facts of a model's source that can't be."""
    log.warning("the facts of the source of '%s' are damaged: written without them", name)


def finite(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return float32 values with 0 for NaN and the largest float for infinity: Blender can't show those."""
    found = values.astype(np.float32)
    return found if np.isfinite(found).all() else np.nan_to_num(found)
