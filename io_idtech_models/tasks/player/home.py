"""Where in its game a player will lie that is written to a folder or an archive, and what it is called there.

Games call a player as its folder, and skins name pictures by that: so the folder that is written to decides, where its
name can stand in a skin.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence

from ...assets.player import PLAYERS
from ...assets.storage import Target
from ...game.store import split_at_archive
from ...reporting import LimitError
from .making_pictures import plain_name

log = logging.getLogger(__name__)

MOST_LETTERS = 24  # of a player's name: games cut long ones
USABLE = re.compile(rf"[A-Za-z0-9_.-]{{1,{MOST_LETTERS}}}\Z")  # of a folder that skins can name


def player_name(name: str) -> str:
    """Return a player's name as games take it; raises LimitError if nothing is left of it."""
    found = plain_name(name)[:MOST_LETTERS]
    if not found:
        raise LimitError(f"'{name}' is no name for a player: it needs letters or digits")
    return found


def home_of(target: Target, name: str, home: Sequence[str] = PLAYERS) -> str:
    """Return the folder in its game (`models/players/x`) that a player will have which is written to a target.

    `name` is what it is to be called, "" for as the target. Where the folder is called otherwise that is said.

    Raises:
        LimitError: nothing is left of the name.
    """
    asked = player_name(name or target.stem)
    at = split_at_archive(target, lambda path: not os.path.isdir(path))  # noqa: PTH112 - as `write_player` asks
    if at is not None and not at[1]:
        return "/".join((*home, asked))
    folders, count = target.parts if at is None else at[1], len(home)
    inside = at is not None or tuple(part.lower() for part in folders[-1 - count : -1]) == tuple(home)
    below = home if at is None else folders[:-1]
    own = folders[-1]
    if not USABLE.match(own) or (name and not inside and own.lower() != asked):
        say_elsewhere(own, "/".join((*below, asked)))
        return "/".join((*below, asked))
    if name and own.lower() != asked:
        log.warning("games call a player as its folder: '%s', not '%s'", own, asked)
    return "/".join((*below, own))


def say_elsewhere(own: str, folder: str) -> None:
    """Say that a folder has to be called otherwise in the game, where it is `folder`."""
    text = "it is written into '%s': call that folder '%s' in the game, its files name pictures in '%s'"
    log.warning(text, own, folder.rpartition("/")[2], folder)
