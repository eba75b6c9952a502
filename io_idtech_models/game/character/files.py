"""Which files make a character, whatever its game: what each game's own finder fills in, and how it looks files up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...model.clips import Clip
from ...reporting import ModelError
from ..aninc import Row
from ..dress import SkinDecl
from ..lexer import shown_name
from ..search import game_folder
from ..shaders.library import Definition
from ..skin import SkinFile, read_skin
from ..store import Folder, GameFile, Store, name_parts, split_name

BODY, HEAD = "body", "head"
FLAGS, COMMANDS = "flags", "commands"  # what is noted of an animation
IN_STEP = ", "  # before the number of one of several files that one animation plays in step
TWINS = {".md3": ".mdc", ".mdc": ".md3"}  # where the one is not there, games read the other (R_RegisterMD3)


@dataclass(frozen=True)
class Shown:
    """How large a game shows all of a character, and where: its files have their own size and place.

    Facts: idAnimator::CreateFrame of dhewm3 adds the model's `offset` to the first joint. CG_Player of iortcw scales
    the axes of the body, and with them all on its tags, and moves it so that what is 24 units below its origin, the
    feet, stays on the ground. CG_TransformSkeleton of XreaL scales the ways of all joints but the first, and what hangs
    on them; that of Unvanquished all of it.
    """

    scale: float = 1.0
    still: tuple[float, float, float] | None = (0.0, 0.0, 0.0)  # what stays where it is then; None: the first joint
    moved: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def as_files(self) -> bool:
        """Tell whether it is shown as its files are."""
        return self.scale == 1.0 and not any(self.moved)

    @property
    def facts(self) -> str:
        """Return in a sentence how it is shown, "" where as its files are."""
        found = "" if self.scale == 1.0 else f"{self.scale:g} times as large"
        where = f"{' and ' if found else ''}moved by {' '.join(f'{each:g}' for each in self.moved)}"
        return found + (where if any(self.moved) else "")


@dataclass(frozen=True)
class Placing:
    """Where a piece stands that hangs on a joint: put there while the body shows a pose, then moved along with it."""

    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # from the joint on, along the body's axes
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)  # pitch, yaw and roll in degrees
    turned: bool = False  # the angles count from the joint's axes on, not from the body's
    pose: GameFile | None = None  # whose first frame that is; None: that in which the body is bound
    moved: tuple[float, float, float] = (0.0, 0.0, 0.0)  # by which the game moves what it shows, along its own axes


@dataclass(frozen=True)
class Asked:
    """Why a game asks for a joint, and what it does without."""

    why: str
    without: str = "the game stops there"
    stops: bool = True


@dataclass(frozen=True)
class MotionFile:
    """Frames that a character plays, and the rows that take them apart; of some games the body's own file."""

    file: GameFile
    rows: tuple[Row | Clip, ...] = ()
    names: tuple[str, ...] = ()  # what all of its frames together are called, where its game says so


@dataclass(frozen=True)
class Piece:
    """A model that hangs on a tag of another one, or on a joint, or stands where that stands."""

    kind: str  # HEAD, or what its game calls it: "md3_hat"
    on: str  # BODY, or the kind of the piece that it hangs on
    tag: str  # or joint, where there is a `placing`; "": none
    file: GameFile
    skin: GameFile | None = None  # None: it wears what its own file names
    near: str = ""  # the body's tag that comes nearest where the other model, or its tag, is not there
    decl: SkinDecl | None = None  # what says in Doom 3 what it wears
    placing: Placing | None = None
    own_size: bool = False  # as large as its file, however large the game shows the character
    motions: tuple[MotionFile, ...] = ()  # of its own bones, one file for an animation
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # more on these, by names: values by keys


@dataclass
class CharacterFiles:
    """What there is of a character, and what is missing: a sentence for each."""

    name: str
    file: GameFile  # that names it
    game: str  # as `model.limits.games` calls it
    skin_name: str = ""
    entries: Mapping[str, str] = field(default_factory=dict)  # what the file says, as it is spelt
    body: GameFile | None = None
    skin: GameFile | None = None  # the body's
    decl: SkinDecl | None = None  # what says in Doom 3 what the body wears
    in_order: tuple[str, ...] = ()  # what its meshes wear, one after another, where its game has no names for these
    skins: tuple[str, ...] = ()  # all that there are to choose from, where they are pictures
    shown: Shown = Shown()
    motions: list[MotionFile] = field(default_factory=list)  # the first has the bones
    pieces: list[Piece] = field(default_factory=list)  # what others hang on comes before them
    choices: Mapping[str, Piece] = field(default_factory=dict)  # what the last piece can be, too, by names
    instead: CharacterFiles | None = None  # the same with bones, which some engines show in its place
    head_rows: list[Clip] = field(default_factory=list)  # of the head's own frames
    texts: list[GameFile] = field(default_factory=list)  # that say all this, but for skins: as they were read
    besides: list[GameFile] = field(default_factory=list)  # what else belongs to it, whatever of that is shown
    declarations: list[Definition] = field(default_factory=list)  # its own, of files that declare others, too
    missing: list[str] = field(default_factory=list)
    unshown: list[str] = field(default_factory=list)  # what else the game misses, though nothing of it is shown here
    refused: list[str] = field(default_factory=list)  # for which its game, without a mod, refuses it
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # that its game asks for, by BODY and kinds
    joints: Mapping[str, Asked] = field(default_factory=dict)  # of the body that its game asks for
    declared: tuple[str, str] = ("", "")  # the model that its body is, and its mesh, where its game declares these
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # more on animations, by names: values by keys

    @property
    def head(self) -> Piece | None:
        """Return the head, or None."""
        return next((piece for piece in self.pieces if piece.kind == HEAD), None)


class Finder:
    """Looks a character's files up in its game; each game has one of its own, which says what to look for."""

    def __init__(self, character: CharacterFiles, home: Store | None) -> None:
        self.character = character
        self.home = home  # its game's folder, with all layers

    def miss(self, sentence: str) -> None:
        """Say that something is missing, once."""
        if sentence not in self.character.missing:
            self.character.missing.append(sentence)

    def lack_unshown(self, what: str, name: str, twin: str = "") -> None:
        """Say so where a file of a name is not there that is not shown here."""
        if name and self.find(name, twin) is None:
            self.character.unshown.append(f"{what} '{shown_name(name)}' {self.lack(name)}")

    @cached_property
    def games(self) -> list[Store]:
        """The character's game, and those that the user has named."""
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

    def read_skin(self, file: GameFile | None) -> SkinFile | None:
        """Return a skin; None where there is none, or it can't be read, which is said."""
        try:
            return None if file is None else read_skin(file.read())
        except ModelError as error:
            self.miss(f"'{'' if file is None else file.name}': {error}")
            return None


def game_of(file: GameFile, inside: str) -> Store | None:
    """Return the folder of a file's game, with all its layers, or None: the one around a folder `inside` of it."""
    layer: Store | None = file.layer
    while isinstance(layer, Folder):
        if layer.name.lower() == inside and layer.parent is not None:
            return layer.disk.whole(layer.parent)
        layer = layer.parent
    return game_folder(file)


def files_below(store: Store, folder: str, end: str) -> list[GameFile]:
    """Return the files below a folder of a game, or of an archive, whose names end so, by their paths."""
    found = [
        (tuple(map(str.lower, folders)), file.name.lower(), file)
        for below in store.below([folder])
        for folders, file in below.walk()
        if file.name.lower().endswith(end)
    ]
    return [file for _, _, file in sorted(found, key=lambda each: each[:2])]
