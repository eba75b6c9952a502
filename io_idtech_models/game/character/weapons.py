"""What a character holds in hand: a weapon's model, found by its path in the game or by its name.

Facts (CG_AddPlayerWeapon of Return to Castle Wolfenstein and Enemy Territory, CG_RegisterWeapon of the first, weapon
files of the second): what others see a player hold stands on the body's `tag_weapon`. Return to Castle Wolfenstein has
it in `models/weapons2/W/W.md3`, Enemy Territory mostly in `models/multiplayer/W/W_3rd.md3`, either also as an `.mdc`;
which weapons there are is compiled in, or said by weapon files, so that here any model there is one. It is as large as
its file, however large the first shows who holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...reporting import LimitError, listed
from ..lexer import shown_name
from ..store import GameFile, Store, name_parts, split_name
from .files import BODY, TWINS, Piece

KIND, TAG = "weapon", "tag_weapon"
FOLDERS = (("models", "multiplayer"), ("models", "weapons2"))
ENDS = ("_3rd.md3", "_3rd.mdc", ".md3", ".mdc")  # behind its name, the first first
MOST_NAMED = 20


def weapon_of(games: Sequence[Store], name: str) -> Piece:
    """Return the weapon of a name, or of a path, in the first of some games that has it.

    Raises:
        LimitError: there is none.
    """
    found = next((file for game in games for file in _files(game, name)), None)
    if found is None:
        known = sorted({weapon for game in games for weapon in _names(game)})
        there = listed(known, MOST_NAMED) if known else "it has none"
        raise LimitError(f"the game has no weapon '{shown_name(name)}': {there}")
    return Piece(KIND, BODY, TAG, found, own_size=True)


def _files(game: Store, name: str) -> Iterator[GameFile]:
    """Yield the files that a name means in a game."""
    *folders, last = name_parts(name) or [""]
    if folders:
        stem, suffix = split_name(last)
        wanted = [last, stem + TWINS[suffix.lower()]] if suffix.lower() in TWINS else [last]
        found = [game.find_first(folders, wanted)]
    else:
        found = [game.find_first((*place, last), [last + end for end in ENDS]) for place in FOLDERS if last]
    yield from (file for file in found if file is not None)


def _names(game: Store) -> Iterator[str]:
    """Yield the names of a game's weapons: of folders with a model that is called so."""
    for place in FOLDERS:
        for store in game.below(place):
            for inner, file in store.walk():
                if len(inner) == 1 and any(file.name.lower() == inner[0].lower() + end for end in ENDS):
                    yield inner[0].lower()
