"""Palettes of games, for models whose pictures are numbers."""

from __future__ import annotations

import logging
from typing import Any

from ..game.search import game_folder
from ..game.store import GameFile
from ..model.pictures import Palette, quake_palette, read_palette
from ..reporting import ModelError

log = logging.getLogger(__name__)

PALETTE = ("gfx",), ("palette.lmp",)  # where games of Quake's kin have it


def palette_of(file: GameFile) -> Palette | None:
    """Return the palette of a file's game where it has one of its own, else None: then Quake's counts."""
    game = game_folder(file)
    found = None if game is None else game.find_first(*PALETTE)
    if found is None:
        return None
    try:
        palette = read_palette(found.read())
    except ModelError as error:
        log.warning("'%s' can't be read: %s", found.name, error)
        return None
    return palette if palette is not None and (palette != quake_palette()).any() else None


def take_palette(model: Any, file: GameFile) -> None:
    """Let a model's pictures have the colours of its game."""
    palette = palette_of(file)
    if palette is not None:
        model.palette = palette
        if model.source is not None:
            model.source.facts["palette"] = palette.copy()
