"""What files are called in their game: a path from its folder, or from the root of the archive that they lie in."""

from __future__ import annotations

from collections.abc import Iterable

from ..store import GameFile, Store


def path_in(games: Iterable[Store], file: GameFile) -> str:
    """Return the path of a file in the first of some games that has it in a layer; "" if none has."""
    roots = [layer for game in games for layer in getattr(game, "layers", (game,))]
    names, layer = [file.name], file.layer
    while layer not in roots:
        if layer.parent is None:
            return ""
        names.append(layer.name)
        layer = layer.parent
    return "/".join(reversed(names))
