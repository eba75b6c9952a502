"""Which games have characters, how the files that name them are called, and who finds the rest: a row for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...model.wording import listed
from ...reporting import LimitError
from ..store import GameFile, Store
from . import wolf
from .et import files as et
from .files import CharacterFiles, files_below


@dataclass(frozen=True)
class Kind:
    """Characters of a game."""

    end: str  # of the name of the file that names one, in lower case
    folder: str  # of the game, below which they lie
    find: Callable[[GameFile, str], CharacterFiles]  # from that file, in a skin; raises ModelError
    place: Callable[[GameFile], str]  # what tells it apart from others: "temperate/axis/medic"


KINDS = (
    Kind(et.SUFFIX, et.HOME, et.character_of, et.place_of),
    Kind(wolf.TABLE, wolf.HOME, wolf.character_of, wolf.place_of),
)


def kind_of(file: GameFile) -> Kind | None:
    """Return the kind of character that a file names, or None."""
    return next((kind for kind in KINDS if file.name.lower().endswith(kind.end)), None)


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the character that a file names, in the skin that it names, or another one.

    Raises:
        ModelError: the file can't be read, or names none.
    """
    kind = kind_of(file)
    if kind is None:
        raise LimitError(f"this names no character: that do {listed([f'*{kind.end}' for kind in KINDS])}")
    return kind.find(file, skin)


def characters_in(store: Store) -> list[GameFile]:
    """Return the files that name the characters of a game's folder or archive."""
    return [file for kind in KINDS for file in files_below(store, kind.folder, kind.end)]


def place_of(file: GameFile) -> str:
    """Return what tells a character apart from others of its game, by the file that names it: its name, and folders."""
    kind = kind_of(file)
    return file.place if kind is None else kind.place(file)
