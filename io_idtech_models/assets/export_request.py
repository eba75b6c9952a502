"""What a conversion or an export is to write, and which files beside that games would load in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model.limits.games import GAMES, NO_GAME
from .storage import Target


@dataclass(frozen=True)
class ExportRequest:
    """Which file is to be written, for which game, with what options of its format."""

    target: Target
    game: str = NO_GAME  # whose limits to keep, a key of `games.GAMES`
    options: Mapping[str, Any] = field(default_factory=dict)
    shorten: bool = False  # names that are too long; else they are an error
    skin: str = ""  # the name of a skin to write beside a model, of what its surfaces wear; "" for none
    materials: bool = False  # a text of those that the game lacks beside a model, where games read such texts
    levels: Sequence[float] = ()  # of detail, to be made and written beside a model: shares of its triangles


def name_clashes(target: Target, game_name: str) -> Iterator[str]:
    """Yield what is to be said of a file that a game, a key of `GAMES`, loads in the place of one that is written.

    Return to Castle Wolfenstein and Enemy Territory replace the last letter of a model's name, whichever that is, and
    take the `.mdc` if there is one; ET: Legacy takes the `.md3` first (`R_RegisterModel`).
    """
    game, suffix = GAMES[game_name], target.suffix.lower()
    if suffix not in game.one_of or suffix == game.one_of[0]:
        return
    for other in game.one_of[: game.one_of.index(suffix)]:
        clash = target.with_suffix(other)
        try:
            there = clash.is_file()
        except (OSError, ValueError):  # a name that can't be: who writes the file says so
            continue
        if there:
            yield f"'{clash.name}' lies beside it, which {game.label} loads in its place"
