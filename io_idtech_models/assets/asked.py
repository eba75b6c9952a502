"""What a conversion or an export is to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .storage import Target


@dataclass(frozen=True)
class Asked:
    """Which file is to be written, for which game, with what options of its format."""

    target: Target
    game: str = "format"  # whose limits to keep, a key of `games.GAMES`
    options: Mapping[str, Any] = field(default_factory=dict)
    shorten: bool = False  # names that are too long; else they are an error
    skin: str = ""  # the name of a skin to write beside a model, of what its surfaces wear; "" for none
    levels: Sequence[float] = ()  # of detail, to be made and written beside a model: shares of its triangles
