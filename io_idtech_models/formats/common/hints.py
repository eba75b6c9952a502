"""Facts of a source that travel as hints: how they are checked, and what codecs share in using them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.vertex import Facts

Wanted = dict[str, tuple[str, tuple[int, ...]]]  # name of a fact: its dtype and shape, -1 = any length
LAYOUT: Wanted = {
    "layout_order": ("i4", (-1,)), "layout_gaps": ("i8", (-1,)), "layout_filler": ("u1", (-1,)),
    "layout_tail": ("u1", (-1,)), "layout_empty": ("i8", (-1, 2)), "layout_ends": ("i8", (-1,)),
}  # fmt: skip


def all_fit(facts: Facts, wanted: Wanted) -> bool:
    """Tell whether all wanted facts are there with their dtype and shape: a .blend can come from a stranger."""
    for name, (dtype, shape) in wanted.items():
        array = facts.get(name)
        if array is None or array.dtype != np.dtype(dtype) or array.ndim != len(shape):
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
        len(facts["layout_order"]) == len(gaps)
        and ((gaps >= 0) & (gaps <= len(filler))).all()
        and int(gaps.sum()) == len(filler)
        and (offsets <= 2**30).all()
    )


def finite(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return float32 values with 0 for NaN and the largest float for infinity: Blender can't show those."""
    found = values.astype(np.float32)
    return found if np.isfinite(found).all() else np.nan_to_num(found, copy=False)
