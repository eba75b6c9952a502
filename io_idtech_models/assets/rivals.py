"""Files that games load in the place of one beside them: `NAME.mdc` and `NAME.md3`.

Return to Castle Wolfenstein and Enemy Territory replace the last letter of a model's name, whichever that is, and take
the `.mdc` if there is one; ET: Legacy takes the `.md3` first (`R_RegisterModel`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.limits.games import GAMES
from .storage import Target


def rivals(target: Target, game_name: str) -> Iterator[str]:
    """Yield what is to be said of a file that a game, a key of `GAMES`, loads in the place of one that is written."""
    game, suffix = GAMES[game_name], target.suffix.lower()
    if suffix not in game.one_of or suffix == game.one_of[0]:
        return
    for other in game.one_of[: game.one_of.index(suffix)]:
        rival = target.with_suffix(other)
        try:
            there = rival.is_file()
        except (OSError, ValueError):  # a name that can't be: who writes the file says so
            continue
        if there:
            yield f"'{rival.name}' lies beside it, which {game.label} loads in its place"
