"""Which files make a player of Quake II, wherever they lie: found from its `tris.md2`.

Facts (CL_LoadClientinfo of Yamagi Quake II and Q2PRO, CL_AddPacketEntities; m_player.h of the game; MOD_LoadMD5 of
Q2PRO):

- A player is a folder, `players/NAME`: the model `tris.md2`, the guns that it holds, pictures that are its skins,
  `SKIN.pcx`, and an icon of each, `SKIN_i.pcx`. Without model, `weapon.md2`, skin or icon the game shows another
  player.
- The gun, `weapon.md2` or the `w_*.md2` of the weapon that is held, is drawn at the player's place, in the frame of the
  same number: there are no tags.
- All of the folder is the player's: other guns, icons, sounds.
- Which frames are which animation is compiled in: 198 of them, at 10 a second. Frames' names mean nothing to the game.
- The remaster shows `md5/tris.md5mesh` with `md5/tris.md5anim` in place of the model, where both are there; of joints
  that are scaled `md5/tris.md5scale` tells.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from ...model.clips import Clip
from ...reporting import listed
from ..dress import SkinDecl
from ..lexer import fold
from ..search import IMAGE_SUFFIXES, NO_SKINS, SearchPath
from ..store import GameFile, split_name
from .files import BODY, CharacterFiles, Finder, MotionFile, Piece, game_of

MODEL, WEAPON, OTHERS = "tris.md2", "weapon.md2", "w_"
HOME = "players"  # the folder of a game that they lie in
GAME, REMASTER = "quake2", "quake2remaster"
GUN = "weapon"  # the kind of piece
RATE = 10.0  # frames per second
FIRST = ("grunt", "athena")  # skins to show before others: those of the game's own players
LENGTHS = {  # of animations, in frames, in their order (m_player.h)
    "stand": 40, "run": 6, "attack": 8, "pain1": 4, "pain2": 4, "pain3": 4, "jump": 6, "flip": 12, "salute": 11,
    "taunt": 17, "wave": 11, "point": 12, "crstnd": 19, "crwalk": 6, "crattak": 9, "crpain": 4, "crdeath": 5,
    "death1": 6, "death2": 6, "death3": 8,
}  # fmt: skip
LOOPING = frozenset(("stand", "run", "crstnd", "crwalk"))  # which the game plays again and again (G_SetClientFrame)
ANIMATIONS = tuple(
    Clip(name, last - count, count, RATE, count if name in LOOPING else 0)
    for (name, count), last in zip(LENGTHS.items(), accumulate(LENGTHS.values()), strict=True)
)
NUM_FRAMES = sum(LENGTHS.values())
INSTEAD = "md5"  # the folder of what the remaster shows


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the player of a folder, in a skin, or the one that is shown first."""
    return _Found(file, skin).character


def place_of(file: GameFile) -> str:
    """Return what tells a player apart from others: its folder's name."""
    return file.layer.name


class _Found(Finder):
    """Looks a player's files up."""

    def __init__(self, file: GameFile, skin: str) -> None:
        super().__init__(CharacterFiles(file.layer.name, file, GAME, body=file), game_of(file, HOME))
        self.folder = file.folder
        self.names = self.folder.names()
        self.character.motions = [MotionFile(file, ANIMATIONS)]
        self.find_skins(skin)
        self.find_weapons()
        self.character.besides = [each for _, each in self.folder.walk()]
        self.find_instead()

    def find_skins(self, wanted: str) -> None:
        """Find the pictures to choose from, and the one to wear."""
        pictures = {each.stem: each for each in SearchPath(self.character.file).other_skins()}
        names = sorted(pictures, key=lambda name: (fold(name) not in FIRST, fold(name), name))
        self.character.skins = tuple(names)
        icons = {split_name(name)[0].lower() for name in self.names}
        lacking = [name for name in names if fold(name) + NO_SKINS[0] not in icons]
        if not names:
            self.miss("there is no skin: the game shows another player")
        if lacking:
            self.miss(
                f"no icon ({NO_SKINS[0]}.pcx) of skins, with which the game shows another player: {listed(lacking)}"
            )
        chosen = next((name for name in names if fold(name) == fold(wanted)), "")
        if wanted and not chosen and fold(wanted) != "none":
            self.miss(f"there is no skin '{wanted}': {listed(names)}" if names else f"there is no skin '{wanted}'")
        if not chosen and fold(wanted) != "none":
            chosen = next(iter(names), "")
        if chosen:
            path = f"{HOME}/{self.character.name}/{pictures[chosen].name}"
            self.character.skin_name = chosen
            self.character.decl = SkinDecl(chosen, (), (("*", path),))

    def find_weapons(self) -> None:
        """Find the guns: what `weapon.md2` is first."""
        found = [
            name
            for name in self.names
            if fold(name) == WEAPON or (fold(name).startswith(OTHERS) and fold(name).endswith(".md2"))
        ]
        files = [
            self.folder.find_first((), [name]) for name in sorted(found, key=lambda n: (fold(n) != WEAPON, fold(n)))
        ]
        self.character.choices = {file.stem: Piece(GUN, BODY, "", file) for file in files if file is not None}
        held = next(iter(self.character.choices.values()), None)
        gun = None if held is None else held.file
        if gun is None or fold(gun.name) != WEAPON:
            self.miss(f"there is no {WEAPON}: the game shows another player")
        if held is not None:
            self.character.pieces = [held]

    def find_instead(self) -> None:
        """Find what the remaster shows in the model's place."""
        stem = self.character.file.stem
        mesh, motion = (self.folder.find_first([INSTEAD], [stem + suffix]) for suffix in (".md5mesh", ".md5anim"))
        if mesh is not None and motion is not None:
            own = self.character
            self.character.instead = replace(
                own,
                body=mesh,
                motions=[MotionFile(motion, ANIMATIONS)],
                decl=self.finer(own.decl),
                pieces=[],
                choices={},
            )
        elif mesh is not None or motion is not None:
            lack = f"{INSTEAD}/{stem}.md5{'mesh' if mesh is None else 'anim'}"
            self.miss(f"there is no {lack}, without which the remaster shows {self.character.file.name}")

    def finer(self, decl: SkinDecl | None) -> SkinDecl | None:
        """Return what the model with bones wears: the picture of the same name in its own folder, if it is there."""
        if decl is None:
            return None
        spellings = [decl.name + suffix for suffix in IMAGE_SUFFIXES]
        found = self.folder.find_first([INSTEAD], spellings)
        path = f"{HOME}/{self.character.name}/{INSTEAD}/"
        return decl if found is None else SkinDecl(decl.name, (), (("*", path + found.name),))
