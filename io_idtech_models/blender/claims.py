"""Who may claim an element of the source: the first that names it, for a copy is something new."""

from __future__ import annotations


class Claims:
    """Which of the source's elements are taken, by number."""

    def __init__(self) -> None:
        self.taken: set[int] = set()

    def take(self, number: int) -> bool:
        """Tell whether an element may be what it says: number -1, which is new, or one that none before it took."""
        free = number < 0 or number not in self.taken
        self.taken.add(number)
        return free
