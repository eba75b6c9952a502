"""What only MDL asks of an export."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MdlOptions:
    """The options of the format's row, by their names."""

    skin_width: int = 0  # 0: the picture's, or else the source's
    skin_height: int = 0
    refit_grid: bool = False
    dither: bool = False
    avoid_full_brights: bool = False
    player_colors: bool = False
    drop_tail: bool = False
