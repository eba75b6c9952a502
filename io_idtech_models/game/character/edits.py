"""What edits of a character in Blender mean for the texts of its game: rows that play otherwise, another skin."""

from __future__ import annotations

from dataclasses import dataclass

from ..aninc import Row


@dataclass(frozen=True)
class RowEdit:
    """A row of a table that is to say something else, or a new one."""

    motion: str  # the file of frames that it is of, as the game names it
    old: Row | None  # None: it is new
    new: Row
