"""The weapons of a game: what a player holds, by name, with the models that go with each.

Facts (CG_RegisterWeapon of Quake III): a weapon's item names its model, `models/weapons2/W/W.md3`, and what goes with
it is called after that: `W_hand.md3` is drawn in the player's own view alone (the shotgun's where it is missing),
`W_barrel.md3` stands on the weapon's `tag_barrel` and turns about its X, `W_flash.md3` on its `tag_flash` while it
shoots. In others' view the weapon stands on the torso's `tag_weapon`. Which weapons there are is compiled into a game:
here they are the models in folders of `models/weapons2` that are called as their folder, or others are named after.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..search import game_folder
from ..store import Folder, GameFile, Store

FOLDERS = ("models", "weapons2")
SUFFIX = ".md3"
HAND, BARREL, FLASH = "_hand", "_barrel", "_flash"
USUAL_HAND = ("shotgun", "shotgun_hand.md3")
NOT_ITSELF = re.compile(r"(?:_hand|_barrel|_flash|_[1-3])\Z")


@dataclass(frozen=True)
class WeaponFiles:
    """The models of a weapon."""

    name: str  # its model's, without the suffix
    model: GameFile
    hand: GameFile | None = None  # its own, or the shotgun's
    barrel: GameFile | None = None
    flash: GameFile | None = None


def weapons_in(store: Store) -> list[WeaponFiles]:
    """Return all weapons of a game, by their names: of its folder with its archives, of a `Union`, or of one archive.

    No model is read.
    """
    store = store.disk.whole(store) if isinstance(store, Folder) else store
    found: dict[str, WeaponFiles] = {}
    for place in store.below(FOLDERS):
        folders: dict[str, dict[str, GameFile]] = {}
        for inner, file in place.walk():
            if len(inner) == 1 and file.name.lower().endswith(SUFFIX):
                folders.setdefault(inner[0].lower(), {}).setdefault(file.stem.lower(), file)
        usual = place.find_first(USUAL_HAND[:1], USUAL_HAND[1:])
        for folder, files in folders.items():
            for stem in _weapons(folder, files):
                parts = (files.get(stem + end) for end in (BARREL, FLASH))
                weapon = WeaponFiles(files[stem].stem, files[stem], files.get(stem + HAND) or usual, *parts)
                found.setdefault(stem, weapon)
    return [found[stem] for stem in sorted(found)]


def weapons_of(file: GameFile) -> list[WeaponFiles]:
    """Return all weapons of the game that a file is of, a player's say; none where it lies in no game's folder."""
    game = game_folder(file)
    return [] if game is None else weapons_in(game)


def _weapons(folder: str, files: dict[str, GameFile]) -> list[str]:
    """Return which models of a folder are weapons."""
    stems = [stem for stem in files if not NOT_ITSELF.search(stem)]
    with_others = [stem for stem in stems if any(stem + end in files for end in (HAND, BARREL, FLASH))]
    return sorted({*with_others, *(stem for stem in stems if stem == folder)})
