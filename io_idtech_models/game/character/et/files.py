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

from ....reporting import LimitError, ModelError, listed
from ...lexer import decode, fold, shown_name, without_suffix
from ...skin import SUFFIX as SKIN_SUFFIX
from ...skin import choose, skins_of
from ...store import GameFile, Store, name_parts, path_in
from ..files import BODY, HEAD, CharacterFiles, Finder, MotionFile, Piece, files_below, game_of
from . import definition
from .group import Group, read_group
from .head import read as read_head

SUFFIX = ".char"
HOME = "characters"  # the folder beside `models` that they lie in
HEAD_PLACE = (BODY, "tag_head")
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
BODY_TAGS = (
    "tag_head", "tag_weapon", "tag_weapon2", "tag_back", "tag_bright", "tag_bleft", "tag_ubelt", "tag_footleft",
    "tag_footright", "tag_torso",
)  # fmt: skip
HEAD_TAGS = ("tag_mouth",)
GAME = "et"
BODY_SUFFIX = ".mdm"
USUAL_GROUP = "animations/human_base.anim"  # of all of the game's soldiers


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the character of a file, in the skin that it names, or another one.

    A body's model, or its skin, means the first character of the game that has it (in that skin); where none has, the
    body in a skin of its own, with the animations of all soldiers.

    Raises:
        ModelError: the file can't be read, or is no character's.
    """
    if file.suffix.lower() not in (BODY_SUFFIX, SKIN_SUFFIX):
        return _Found(file, definition.read(file.read()), skin).character
    body, worn = _body_of(file)
    home = game_of(file, HOME)
    path = "" if home is None else path_in([home], body)
    skin = skin or worn
    named = _naming(home, path, skin) if home is not None and path else None
    if named is not None:
        return _Found(*named, skin).character
    skin = skin or choose(skins_of(body.stem, body.folder.names())) or ""
    said = {definition.MESH: path, definition.SKIN: skin, definition.GROUP: USUAL_GROUP}
    entries = (definition.Entry(key, value, 0) for key, value in said.items())
    return _Found(body, definition.Definition(tuple(entries)), skin).character


def _body_of(file: GameFile) -> tuple[GameFile, str]:
    """Return the body that a file means, itself or that whose skin it is, and the skin's name."""
    if file.suffix.lower() == BODY_SUFFIX:
        return file, ""
    bodies = [name for name in file.folder.names() if name.lower().endswith(BODY_SUFFIX)]
    starts = {name: fold(without_suffix(name)) + "_" for name in bodies}
    own = max((name for name in bodies if fold(file.stem).startswith(starts[name])), key=len, default=None)
    if own is None:
        raise LimitError(f"'{file.name}' is no skin of a body ({BODY_SUFFIX}) that lies beside it")
    return file.beside(own), file.stem[len(starts[own]) :]


def _naming(home: Store, body: str, skin: str) -> tuple[GameFile, definition.Definition] | None:
    """Return the first character's file of a game that names a body, by its path, and the skin if one is given."""
    for file in files_below(home, HOME, SUFFIX):
        try:
            known = definition.read(file.read())
        except ModelError:
            continue
        named = "/".join(name_parts(known.value(definition.MESH)))
        if fold(named) == fold(body) and (not skin or fold(known.value(definition.SKIN)) == fold(skin)):
            return file, known
    return None


def place_of(file: GameFile) -> str:
    """Return what tells a character apart from others: "temperate/axis/medic"."""
    return without_suffix(file.place.replace("\\", "/").rpartition(f"{HOME}/")[2])


class _Found(Finder):
    """Looks a character's files up."""

    def __init__(self, file: GameFile, known: definition.Definition, skin: str) -> None:
        self.definition = known
        entries = {entry.key: entry.value for entry in known.entries}
        tags = {BODY: BODY_TAGS, HEAD: HEAD_TAGS}
        character = CharacterFiles(file.stem, file, GAME, skin or known.value(definition.SKIN), entries, tags=tags)
        super().__init__(character, game_of(file, HOME))
        if file.suffix.lower() == SUFFIX:
            character.texts.append(file)
        for entry in known.unknown():
            text = f"'{file.name}', line {entry.line}: stock Enemy Territory refuses the key '{entry.key}'"
            character.refused.append(text)
        for sentence in known.complaints:
            self.miss(f"'{file.name}', {sentence}")
        if self.home is None:
            self.miss(f"'{file.name}' lies in no folder '{HOME}' of a game: what it names can't be found")
            return
        self.find_body()
        self.find_motions()
        if character.texts[:1] == [file]:  # a body alone says nothing of a head
            self.find_head()
        self.find_pieces()
        self.find_unshown()

    def find_unshown(self) -> None:
        """Say what is missing of what the file names beside: the script of animations, and the body of a dead one."""
        said = self.definition.value
        self.lack_unshown("the script of animations", said(definition.SCRIPT))
        corpse, skin = said(definition.CORPSE), said(definition.CORPSE_SKIN)
        self.lack_unshown("the model of its corpse", corpse)
        if corpse and skin:
            self.lack_unshown("its corpse's skin", f"{without_suffix(corpse)}_{skin}{SKIN_SUFFIX}")

    def value(self, key: str, what: str) -> str:
        """Return what the character's file says; says so where it says nothing."""
        found = self.definition.value(key)
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
        if self.character.body is not None:
            self.character.skins = tuple(skins_of(self.character.body.stem, self.character.body.folder.names()))
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
            self.character.texts.append(file)
            return read_group(decode(file.read())[0], name, self.include)
        except ModelError as error:
            self.miss(f"'{file.name}': {error}")
            return None

    def include(self, name: str) -> bytes:
        """Return the bytes of a file that a group includes; raises ModelError, a whole sentence."""
        file = self.find(name)
        if file is None:
            raise ModelError(f"the table '{shown_name(name)}' {self.lack(name)}")
        if file not in self.character.texts:
            self.character.texts.append(file)
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
        worn = self.definition.value(definition.HEAD_SKIN)
        skin = self.find(worn) if worn else None
        if worn and skin is None:
            self.miss(f"the head's skin '{shown_name(worn)}' {self.lack(worn)}")
        if head is not None:
            self.character.pieces.append(Piece(HEAD, *HEAD_PLACE, head, skin))
        self.find_head_rows()

    def find_head_rows(self) -> None:
        """Find the animations of the head's own frames."""
        name = self.definition.value(definition.HEAD_ANIMATIONS)
        file = self.find(name) if name else None
        if file is None:
            if name:
                self.miss(f"the head's animations '{shown_name(name)}' {self.lack(name)}")
            return
        try:
            self.character.head_rows = read_head(file.read())
            self.character.texts.append(file)
        except ModelError as error:
            self.miss(f"'{file.name}': {error}")

    def find_pieces(self) -> None:
        """Find what the body's skin attaches."""
        for kind, name in self.attached():
            on, tag = PLACES[kind]
            file = self.model(name, f"{kind}'s model")
            if file is not None:
                skin = self.find(f"{without_suffix(name)}_{self.character.skin_name}{SKIN_SUFFIX}")
                self.character.pieces.append(Piece(kind, on, tag, file, skin, HEAD_PLACE[1]))

    def attached(self) -> Iterator[tuple[str, str]]:
        """Yield what the game attaches by the body's skin: types, and names of models."""
        skin = self.read_skin(self.character.skin)
        if skin is None:
            self.character.skin = None
        ignored = []
        for kind, name in () if skin is None else skin.attached(GAME).items():
            if fold(kind) in PLACES:
                yield fold(kind), name
            else:
                ignored.append(kind)
        if ignored and self.character.skin is not None:
            self.miss(f"'{self.character.skin.name}' attaches what games ignore: {listed(ignored)}")
