"""Who may claim an element of the source: the first that names it, for a copy is something new."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Claims:
    """Which of the source's elements are taken, by number."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.faces: dict[int, list[NDArray[Any]]] = {}

    def take(self, number: int) -> bool:
        """Tell whether an element may be what it says: number -1, which is new, or one that none before it took."""
        free = number < 0 or number not in self.taken
        self.taken.add(number)
        return free

    def repeats(self, number: int, faces: NDArray[Any] | None) -> bool:
        """Tell whether a mesh has triangles that another of the same number has: it is a copy, and no part of it.

        `faces` (T,) are the source's triangles that its own were, -1 for new ones.
        """
        own = np.zeros(0, np.int64) if faces is None else faces[faces >= 0]
        others = self.faces.setdefault(number, [])
        again = number >= 0 and any(bool(np.isin(own, other).any()) for other in others)
        others.append(own)
        return again
