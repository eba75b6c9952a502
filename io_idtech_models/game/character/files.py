"""Which files make a character of Enemy Territory, wherever they lie: found from its `.char`.

Facts (CG_RegisterCharacter and CG_Player of ET and ET: Legacy, whose tags RtCW
shares; R_RegisterMD3 of both):

- What a skin attaches as `md3_TYPE` hangs on a tag of the body or of the head, see `PLACES`; other types are ignored,
  as real skins have some. The head hangs on the body's `tag_head`. No engine hangs anything on `tag_hat`.
- An attached model wears `PART_SKIN.skin` where there is one, or else the shaders that its own file names.
- Of a model's name the last letter counts for nothing: where there is no `.md3`, the `.mdc` is meant, and the other way
  round. All paths count from the game's folder; what would lead out of it is refused.
- A character's file lies below `characters`, beside `models`: that is where its game's folder is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...model.wording import listed
from ...reporting import ModelError
from ..aninc import Row
from ..lexer import decode, fold, shown_name, without_suffix
from ..search import game_folder
from ..skin import SUFFIX as SKIN_SUFFIX
from ..skin import Skin, read_skin
from ..store import Folder, GameFile, Store, name_parts, split_name
from . import SUFFIX, definition
from .definition import Definition
from .group import Group, read_group

HOME = "characters"  # the folder beside `models` that they lie in
BODY, HEAD = "body", "head"
PLACES = {  # what skins attach: to the body or the head, and to which of its tags
    "md3_beltr": (BODY, "tag_bright"),
    "md3_beltl": (BODY, "tag_bleft"),
    "md3_belt": (BODY, "tag_ubelt"),
    "md3_back": (BODY, "tag_back"),
    "md3_weapon": (BODY, "tag_weapon"),
    "md3_weapon2": (BODY, "tag_weapon2"),
    "md3_hat": (HEAD, "tag_mouth"),
    "md3_rank": (HEAD, "tag_mouth"),
    "md3_hat2": (HEAD, "tag_mouth"),
    "md3_hat3": (HEAD, "tag_mouth"),
}
HEAD_PLACE = (BODY, "tag_head")
BODY_TAGS = (
    "tag_head", "tag_weapon", "tag_weapon2", "tag_back", "tag_bright", "tag_bleft", "tag_ubelt", "tag_footleft",
    "tag_footright", "tag_torso",
)  # fmt: skip
HEAD_TAGS = ("tag_mouth",)
TWINS = {".md3": ".mdc", ".mdc": ".md3"}
GAME = "et"


@dataclass(frozen=True)
class Piece:
    """A model that hangs on a tag of another one."""

    kind: str  # HEAD, or the type that the skin gives it: "md3_hat"
    on: str  # BODY or HEAD
    tag: str
    file: GameFile
    skin: GameFile | None = None  # None: it wears what its own file names


@dataclass(frozen=True)
class MotionFile:
    """Frames that a character plays, and the rows that take them apart."""

    file: GameFile
    rows: tuple[Row, ...]


@dataclass
class CharacterFiles:
    """What there is of a character, and what is missing: a sentence for each."""

    name: str
    file: GameFile
    definition: Definition
    skin_name: str
    body: GameFile | None = None
    skin: GameFile | None = None  # the body's
    motions: list[MotionFile] = field(default_factory=list)  # the first has the bones
    pieces: list[Piece] = field(default_factory=list)  # the head first
    missing: list[str] = field(default_factory=list)

    @property
    def head(self) -> Piece | None:
        """Return the head, or None."""
        return next((piece for piece in self.pieces if piece.kind == HEAD), None)


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the character of a file, in the skin that it names, or another one.

    Raises:
        ModelError: the file can't be read, or is no character's.
    """
    return _Found(file, skin).character


def game_of(file: GameFile) -> Store | None:
    """Return the folder of a character's game, with all its layers, or None: it is the one around `characters`."""
    layer: Store | None = file.layer
    while isinstance(layer, Folder):
        if layer.name.lower() == HOME and layer.parent is not None:
            return layer.disk.whole(layer.parent)
        layer = layer.parent
    return game_folder(file)


def characters_in(store: Store) -> list[GameFile]:
    """Return the files of all characters of a game's folder or archive, by their paths."""
    found = [
        (tuple(map(str.lower, folders)), file.name.lower(), file)
        for below in store.below([HOME])
        for folders, file in below.walk()
        if file.suffix.lower() == SUFFIX
    ]
    return [file for _, _, file in sorted(found, key=lambda each: each[:2])]


class _Found:
    """Looks a character's files up."""

    def __init__(self, file: GameFile, skin: str) -> None:
        known = definition.read(file.read())
        self.character = CharacterFiles(file.stem, file, known, skin or known.value(definition.SKIN))
        self.home = game_of(file)
        for sentence in known.complaints:
            self.miss(f"'{file.name}', {sentence}")
        if self.home is None:
            self.miss(f"'{file.name}' lies in no folder '{HOME}' of a game: what it names can't be found")
            return
        self.find_body()
        self.find_motions()
        self.find_head()
        self.find_pieces()

    def miss(self, sentence: str) -> None:
        """Say that something is missing, once."""
        if sentence not in self.character.missing:
            self.character.missing.append(sentence)

    @cached_property
    def games(self) -> list[Store]:
        return [] if self.home is None else [self.home, *self.character.file.layer.elsewhere]

    def find(self, name: str, twin: str = "") -> GameFile | None:
        """Return the file of a name in the game, or in others; `twin` is the suffix that may stand in its place."""
        *folders, last = name_parts(name) or [""]
        names = [last, split_name(last)[0] + twin] if twin else [last]
        found = (game.find_first(folders, names) for game in self.games if last)
        return next((file for file in found if file is not None), None)

    def model(self, name: str, what: str) -> GameFile | None:
        """Return the model of a name; says what is missing where there is none."""
        found = self.find(name, TWINS.get(split_name(name)[1].lower(), ""))
        if found is None:
            self.miss(f"{what} '{shown_name(name)}' {self.lack(name)}")
        return found

    def lack(self, name: str) -> str:
        """Return why a file is none."""
        return "is not there" if name_parts(name) else "leads out of the game's folder, where nothing is read"

    def value(self, key: str, what: str) -> str:
        """Return what the character's file says; says so where it says nothing."""
        found = self.character.definition.value(key)
        if not found:
            self.miss(f"'{self.character.file.name}' names no {what} ({key})")
        return found

    def find_body(self) -> None:
        """Find the body, and what it wears."""
        name = self.value(definition.MESH, "body")
        if not name:
            return
        self.character.body = self.model(name, "the body")
        skin = self.character.skin_name
        if not skin:
            self.miss(f"'{self.character.file.name}' names no skin ({definition.SKIN})")
            return
        worn = f"{without_suffix(name)}_{skin}{SKIN_SUFFIX}"
        self.character.skin = self.find(worn)
        if self.character.skin is None:
            self.miss(f"the body's skin '{shown_name(worn)}' {self.lack(worn)}")

    def find_motions(self) -> None:
        """Find the files of frames, with the rows that the animation group gives them."""
        name = self.value(definition.GROUP, "animation group")
        group = self.read_group(name) if name else None
        if group is None:
            return
        for sentence in group.complaints:
            self.miss(sentence)
        lacking = []
        for motion in group.motions:
            file = self.find(motion.name)
            if file is None:
                lacking.append(motion.name)
            else:
                self.character.motions.append(MotionFile(file, tuple(motion.rows)))
        if lacking:
            self.miss(f"files of frames of '{shown_name(name)}' are not there: {listed(lacking)}")
        elif not group.motions:
            self.miss(f"'{shown_name(name)}' names no file of frames")

    def read_group(self, name: str) -> Group | None:
        """Return an animation group; None where it can't be read."""
        file = self.find(name)
        if file is None:
            self.miss(f"the animation group '{shown_name(name)}' {self.lack(name)}")
            return None
        try:
            return read_group(decode(file.read())[0], name, self.include)
        except ModelError as error:
            self.miss(f"'{file.name}': {error}")
            return None

    def include(self, name: str) -> bytes:
        """Return the bytes of a file that a group includes; raises ModelError, a whole sentence."""
        file = self.find(name)
        if file is None:
            raise ModelError(f"the table '{shown_name(name)}' {self.lack(name)}")
        try:
            return file.read()
        except ModelError as error:
            raise ModelError(f"the table '{shown_name(name)}': {error}") from error

    def find_head(self) -> None:
        """Find the head, and its own skin."""
        name = self.value(definition.HEAD, "head")
        if not name:
            return
        head = self.model(name, "the head")
        worn = self.character.definition.value(definition.HEAD_SKIN)
        skin = self.find(worn) if worn else None
        if worn and skin is None:
            self.miss(f"the head's skin '{shown_name(worn)}' {self.lack(worn)}")
        if head is not None:
            self.character.pieces.append(Piece(HEAD, *HEAD_PLACE, head, skin))

    def find_pieces(self) -> None:
        """Find what the body's skin attaches."""
        for kind, name in self.attached():
            on, tag = PLACES[kind]
            file = self.model(name, f"{kind}'s model")
            if file is not None:
                skin = self.find(f"{without_suffix(name)}_{self.character.skin_name}{SKIN_SUFFIX}")
                self.character.pieces.append(Piece(kind, on, tag, file, skin))

    def attached(self) -> Iterator[tuple[str, str]]:
        """Yield what the game attaches by the body's skin: types, and names of models."""
        skin = self.read_skin()
        ignored = []
        for kind, name in () if skin is None else skin.attached(GAME).items():
            if fold(kind) in PLACES:
                yield fold(kind), name
            else:
                ignored.append(kind)
        if ignored and self.character.skin is not None:
            self.miss(f"'{self.character.skin.name}' attaches what games ignore: {listed(ignored)}")

    def read_skin(self) -> Skin | None:
        """Return the body's skin; None where it can't be read."""
        file = self.character.skin
        try:
            return None if file is None else read_skin(file.read())
        except ModelError as error:
            self.miss(f"'{'' if file is None else file.name}': {error}")
            self.character.skin = None
            return None
