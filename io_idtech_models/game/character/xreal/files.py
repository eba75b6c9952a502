"""Which files make a player of XreaL or Unvanquished, wherever they lie: found from its `character.cfg`.

Facts (CG_XPPM_RegisterClientModel of XreaL, CG_RegisterClientModelname and CG_RegisterClientSkin of Unvanquished,
R_AddMD5Surfaces and R_AddMD5VBOSurfaces of both):

- A player is a folder, `models/players/NAME`: the body is `body.md5mesh`, and each `.md5anim` an animation, called as
  its file is. In Unvanquished `NAME.iqm`, which holds the animations, too, counts before that. Without the animation
  `idle` (in Unvanquished `stand`, of a creature) there is no player.
- It wears `body_SKIN.skin`. Meshes have no names: the first line is of the first mesh. Where there is a skin its
  shaders count, and a mesh without a line shows the default.
- Its shaders are materials of Doom 3's kind, `materials/*.mtr`, in XreaL. This wants an icon, too, `icon_SKIN`.
- `modelScale` is the size at which the game shows all of it: see `Shown`.
"""

from __future__ import annotations

from ....reporting import LimitError, listed
from ...lexer import fold
from ...skin import SUFFIX as SKIN_SUFFIX
from ...skin import SURFACE, choose, skins_of
from ...store import GameFile, split_name
from ..files import BODY, Asked, CharacterFiles, Finder, MotionFile, Shown, game_of
from . import settings
from .settings import BONE_KEYS, SCALE, Settings

HOME = "models"  # below which they lie
GAME = "xreal"
MESH, MOTION = "body.md5mesh", ".md5anim"
ICON = "icon_"  # of a skin: what its picture's name begins with
IDLE = ("idle", "stand")  # of which the games need one
# What XreaL does without the joints that its keys name (CG_XPPM_Player).
FIRST_TORSO, LAST_TORSO, TORSO_CONTROL, NECK_CONTROL = BONE_KEYS
ASKED = {
    FIRST_TORSO: Asked(FIRST_TORSO, "the game shows the body as it is bound"),
    LAST_TORSO: Asked(LAST_TORSO, "the torso plays what the legs play", stops=False),
    TORSO_CONTROL: Asked(TORSO_CONTROL, "the torso does not turn to where the player looks", stops=False),
    NECK_CONTROL: Asked(NECK_CONTROL, "the head does not turn to where the player looks", stops=False),
}


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the player of a folder, in a skin, or the one that is shown first.

    Raises:
        ModelError: the file can't be read, or there is no body beside it.
    """
    return _Found(file, skin).character


def place_of(file: GameFile) -> str:
    """Return what tells a player apart from others: its folder's name."""
    return file.layer.name


class _Found(Finder):
    """Looks a player's files up."""

    def __init__(self, file: GameFile, skin: str) -> None:
        self.said = settings.read(file.read())
        folder, name = file.folder, file.layer.name
        self.folder = folder
        body = folder.find_first((), [f"{name}.iqm"]) or folder.find_first((), [MESH])
        if body is None:
            raise LimitError(f"'{name}' has neither {name}.iqm nor {MESH}: it is no player of XreaL or Unvanquished")
        names = skins_of(BODY, folder.names())
        chosen = skin or choose(names) or ""
        super().__init__(CharacterFiles(name, file, GAME, chosen, body=body), game_of(file, HOME))
        self.character.entries = _entries(self.said)
        self.character.texts = [file]
        self.character.besides = self.others()
        for sentence in self.said.complaints:
            self.miss(f"'{file.name}', {sentence}")
        x, y, z = self.said.scale
        if x == y == z:
            self.character.shown = Shown(x, None if fold(body.suffix) != ".iqm" else (0.0, 0.0, 0.0))
        else:
            shown = f"{x:g}, {y:g} and {z:g} times as large along its axes"
            self.miss(f"the game shows it {shown}: unevenly, here it has the size of its files")
        self.character.joints = {self.said.words[key]: ASKED[key] for key in ASKED if self.said.words.get(key)}
        self.find_skin(names)
        if fold(body.suffix) != ".iqm":
            self.find_motions()
            self.find_unshown()

    def others(self) -> list[GameFile]:
        """Return the body's other skins, and the icons of all: what lies beside it and is called so."""
        called = [name for name in self.folder.names() if fold(name).startswith(ICON)]
        called += [name for name in self.folder.names() if fold(name).endswith(SKIN_SUFFIX)]
        found = (self.folder.find_first((), [name]) for name in called)
        return [file for file in found if file is not None]

    def find_skin(self, names: dict[str, str]) -> None:
        """Find what the body wears."""
        name = self.character.skin_name
        self.character.skins = tuple(names)
        if fold(name) == "none":
            return
        file = self.folder.find_first((), [names.get(fold(name), f"{BODY}_{name}{SKIN_SUFFIX}")]) if name else None
        if file is None:
            lack = f"the body's skin '{BODY}_{name}{SKIN_SUFFIX}' is not there" if name else "there is no skin"
            self.miss(f"{lack}: the game shows another player")
            return
        worn = self.read_skin(file)
        self.character.skin = None if worn is None else file
        if worn is not None:
            self.character.in_order = tuple(entry.value for entry in worn.entries if entry.kind == SURFACE)

    def find_motions(self) -> None:
        """Find the animations: all that lie beside the body."""
        files = [self.folder.find_first((), [name]) for name in self.folder.names() if fold(name).endswith(MOTION)]
        found = sorted((file for file in files if file is not None), key=lambda file: fold(file.stem) not in IDLE)
        self.character.motions = [MotionFile(file, (), (file.stem,)) for file in found]
        there = {fold(motion.file.stem) for motion in self.character.motions}
        if not there.intersection(IDLE):
            self.miss(f"none of its animations is {listed(list(IDLE))}: the game shows another player")

    def find_unshown(self) -> None:
        """Say what XreaL asks for, though nothing of it is shown here."""
        for key in (FIRST_TORSO, LAST_TORSO):
            if not self.said.words.get(key):
                self.character.unshown.append(f"'{self.character.file.name}' has no {key}: {ASKED[key].without}")
        skin = self.character.skin_name
        icons = {fold(split_name(name)[0]) for name in self.folder.names()}
        if skin and f"{ICON}{fold(skin)}" not in icons:
            self.character.unshown.append(f"there is no {ICON}{skin}, as skin or picture: XreaL shows another player")


def _entries(said: Settings) -> dict[str, str]:
    """Return what a player's file says, as text."""
    found = dict(said.words) | dict.fromkeys(sorted(said.flags), "")
    if said.modifiers:
        found["modifiers"] = " ".join(said.modifiers)
    if said.scale != (1.0, 1.0, 1.0):
        found[SCALE] = " ".join(f"{each:g}" for each in said.scale)
    return found
