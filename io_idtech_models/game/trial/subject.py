"""What of a game shows a model: a player of its own, a weapon in its hands, or the model alone before its eyes.

Facts: a player is `models/players/NAME/` with three parts (CG_RegisterClientModelname); weapons are `weapon_t` of Quake
III's and OpenArena's bg_public.h, with their models as bg_itemlist has them; any other model is shown by `testmodel`
(CG_TestModel_f), a command that all games of the kin have, 100 units before the eyes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...reporting import LimitError
from ..store import name_parts, split_name

SHOWN = (".md3",)  # what `testmodel` and players are, whatever the engine
PLAYERS = ("models", "players")
PARTS = ("lower", "upper", "head")
TABLE = "animation.cfg"
USUAL_SKIN = "default"
WEAPONS = {  # by the folder below models/weapons2: number of the weapon
    "gauntlet": 1, "machinegun": 2, "shotgun": 3, "grenadel": 4, "rocketl": 5, "lightning": 6, "railgun": 7,
    "plasma": 8, "bfg": 9,
}  # fmt: skip
WEAPONS_FOLDER = ("models", "weapons2")
LONGEST = 63  # bytes of a path that engines open (MAX_QPATH)
# What a console takes for a word: anything else could end it, and begin a command.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*")


@dataclass(frozen=True)
class Player:
    """A player, seen from outside."""

    name: str
    skin: str = USUAL_SKIN
    weapon: int = 0  # in its hand, by its number; 0: what the game gives it

    @property
    def models(self) -> tuple[str, ...]:
        """Return the paths of the models that the game has to load."""
        return tuple(f"{'/'.join(PLAYERS)}/{self.name}/{part}.md3" for part in PARTS)

    @property
    def label(self) -> str:
        """Return what to call it."""
        return f"{self.name}/{self.skin}"


@dataclass(frozen=True)
class Weapon:
    """A weapon that the game knows, in the player's hands."""

    path: str
    number: int

    @property
    def models(self) -> tuple[str, ...]:
        """Return the paths of the models that the game has to load."""
        return (self.path,)

    @property
    def label(self) -> str:
        """Return what to call it."""
        return split_name(self.path.rpartition("/")[2])[0]


@dataclass(frozen=True)
class Thing:
    """Any other model."""

    path: str

    @property
    def models(self) -> tuple[str, ...]:
        """Return the paths of the models that the game has to load."""
        return (self.path,)

    @property
    def label(self) -> str:
        """Return what to call it."""
        return self.path.rpartition("/")[2]


Subject = Player | Weapon | Thing


def subject_of(path: str, skin: str = "") -> Subject:
    """Return how the model of a path in the game is shown; levels of detail and skins' names do not matter to it.

    Raises:
        LimitError: no game shows such a model, or its console can't name it.
    """
    parts = name_parts(path)
    if not parts or split_name(parts[-1])[1].lower() not in SHOWN:
        raise LimitError(f"'{path}': only {', '.join(SHOWN)} can be tried in a game")
    folders = tuple(part.lower() for part in parts[:-1])
    found: Subject = Thing("/".join(parts))
    if len(folders) == 3 and folders[:2] == PLAYERS and is_part(parts[-1]):
        found = Player(parts[2], skin or USUAL_SKIN)
    elif weapon_number(path):
        found = Weapon("/".join([*parts[:-1], f"{parts[2]}.md3"]), weapon_number(path))  # or its _hand, _barrel, ...
    check_names([*found.models, found.label])
    return found


def weapon_number(path: str) -> int:
    """Return the number of the weapon that a model's path in the game is of, 0 for none."""
    *folders, name = [part.lower() for part in name_parts(path)] or [""]
    is_weapons = tuple(folders[:-1]) == WEAPONS_FOLDER and name.startswith(folders[-1])
    return WEAPONS.get(folders[-1], 0) if is_weapons else 0


def is_part(name: str) -> bool:
    """Tell whether a file is a part of a player, or a level of detail of one."""
    stem, suffix = split_name(name.lower())
    base, _, level = stem.rpartition("_")
    return suffix in SHOWN and (stem in PARTS or (base in PARTS and level.isdecimal()))


def check_names(names: Iterable[str]) -> None:
    """Refuse names that a console would not take for one word, or no engine opens; raises LimitError."""
    for name in names:
        odd = sorted(set(name) - PLAIN)
        if odd:
            raise LimitError(f"'{name}': the game's console can't name it, for it has {odd[0]!r}")
        if len(name) > LONGEST:
            raise LimitError(f"'{name}' has {len(name)} characters, games open paths of up to {LONGEST}")


def out_of_reach(files: Mapping[str, bytes]) -> list[str]:
    """Return the paths that no engine opens, for they are too long."""
    return sorted(name for name in files if len(name.encode("utf-8")) > LONGEST)
