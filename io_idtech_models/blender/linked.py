"""What lies in another .blend, linked or overridden: what were changed of it here would not last, or can't be changed.

Of a library override Blender takes along what is said of its objects: transforms, custom properties, animation, also
that they play another action. Meshes, shape keys, slots of materials and what lies in a collection stay the library's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..reporting import LimitError, listed

LOCAL = "make it local (Object > Relations > Make Local > All)"
THERE = f"{LOCAL}, or change it there"


def is_linked(holder: Any) -> bool:
    """Tell whether a data-block lies in another .blend, and is no override of that."""
    return holder is not None and holder.library is not None


def is_from_library(holder: Any) -> bool:
    """Tell whether a data-block lies in another .blend, or is an override of one there."""
    return holder is not None and (holder.library is not None or holder.override_library is not None)


def refuse_linked(holders: Iterable[Any], way: str, overridden: bool = True) -> None:
    """Raise LimitError, which names a `way` out, if data-blocks lie in another .blend, or are overrides of such."""
    found = dict.fromkeys(each.name for each in holders if (is_from_library if overridden else is_linked)(each))
    if found:
        raise LimitError(f"{listed(list(found))}: linked from another .blend; {way}")
