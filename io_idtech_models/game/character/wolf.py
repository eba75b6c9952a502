"""Which files make a character of Return to Castle Wolfenstein, wherever they lie: found from its `wolfanim.cfg`.

Facts (CG_RegisterClientModelname, CG_RegisterClientHeadname and CG_RegisterAcc of iortcw's cg_players.c):

- A character is a folder `models/players/NAME` with `body.mds`, whose own frames the rows of `wolfanim.cfg` take apart,
  `body_SKIN.skin` and `head_SKIN.skin`. The head is the model that `md3_part` of its skin names, or `head.md3`.
- The body's skin attaches belts, what is on the back, and weapons; the head's skin hats, on the head's `tag_mouth`. The
  tags are those of Enemy Territory.
- A name that has `.md3` in it is a model of the folder. Another one is `NAME.skin` of it, whose `md3_part` names
  a model in `acc`; where it has no such line, or there is no such skin, it is the model `NAME.md3`.
- `playerscale` in the body's skin is the size at which all of it is shown but the weapon in hand, with two decimals
  (RE_GetSkinModel, CG_AddPlayerWeapon). Its feet stay where they are, 24 units below the body's origin.
- `wolfanim.script` says when which animation plays: where the table is of version 2, there is no character without
  (CG_ParseAnimationFiles).
- A character without `body.mds` has legs and torso apart, as those of Quake III.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...model.clips import Clip
from ...reporting import LimitError, ModelError, listed
from ..lexer import decode, fold, without_suffix
from ..player import animation_cfg
from ..skin import SUFFIX as SKIN_SUFFIX
from ..skin import SkinFile, choose, read_skin, skins_of
from ..store import GameFile, name_parts
from .et.files import BODY_TAGS, HEAD_PLACE, HEAD_TAGS, PLACES
from .files import BODY, HEAD, CharacterFiles, Finder, MotionFile, Piece, Shown, game_of

TABLE, SCRIPT = "wolfanim.cfg", "wolfanim.script"
HOME = "models"  # below which they lie
PLAYERS = ("models", "players")
GAME = "rtcw"
VERSION, SCRIPTED_SINCE = re.compile(r"\bversion\s+(\d{1,9})", re.IGNORECASE), 2  # of a table; those before may lack it
MODEL = "md3_part"  # what in a skin names the model that wears it
SCRIPTED = "md3_animscript"  # what scripts of animations show by themselves
BODY_NAME, HEAD_NAME = "body.mds", "head.md3"
GROUND = (0.0, 0.0, -24.0)


def character_of(file: GameFile, skin: str = "") -> CharacterFiles:
    """Return the character of a folder, in a skin, or the one that is shown first.

    Raises:
        LimitError: it has no body with bones.
    """
    return _Found(file, skin).character


def place_of(file: GameFile) -> str:
    """Return what tells a character apart from others: its folder's name."""
    return file.layer.name


def with_parts(data: bytes, gone: Iterable[str], added: Mapping[str, str], folder: str) -> bytes:
    """Return the skin of a body or a head that attaches no models of some types any more, and others by their paths.

    `folder` is the character's, from which the game counts.

    Raises:
        LimitError: there are more than the game takes, or a path can't be written.
    """
    within = {kind: path.removeprefix(f"{folder}/") for kind, path in added.items()}
    return read_skin(data).with_attached(gone, within, GAME).write()


def with_runs(data: bytes, runs: Sequence[tuple[str, Clip]], gone: Iterable[str]) -> bytes:
    """Return a table with rows that are named otherwise, or have other frames, by their names there; and without some.

    New rows, of "", stand behind the last, and say no speed.

    Raises:
        LimitError: the table has no such row, or can't have one.
    """
    table = animation_cfg.read(data)
    table = table.edited_rows([(told, (clip.first, clip.count, clip.loop, None)) for told, clip in runs if told])
    text, changes = table.text, list[tuple[int, int, str]]()
    end = "\r\n" if "\r\n" in text else "\n"
    last = max(table.rows, key=lambda row: row.spans[-1][1])
    behind, new = _line_end(text, last.spans[-1][1]), ""
    rows = {name: _row_of(table, name) for name in (*gone, *(told for told, _ in runs if told))}
    for name in gone:
        changes.append((text.rfind("\n", 0, rows[name].name_start) + 1, _line_end(text, rows[name].name_start), ""))
    for told, clip in runs:
        if told:
            if clip.name != told:  # else as the file spells it, in capitals or not
                spelt = text[rows[told].name_start : rows[told].spans[0][0]].rstrip()
                changes.append((rows[told].name_start, rows[told].name_start + len(spelt), clip.name))
            continue
        numbers = (clip.first, clip.count, clip.loop, float(clip.frame_rate), 0)
        line = "\t".join([clip.name, *(animation_cfg.spelt_number(each, clip.name) for each in numbers)])
        new += line + end if text[:behind].endswith("\n") else end + line
    for start, stop, spelt in sorted([*changes, (behind, behind, new)], reverse=True):
        text = text[:start] + spelt + text[stop:]
    return text.encode(table.encoding)


def _line_end(text: str, place: int) -> int:
    """Return where the line behind that of a place begins."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _row_of(table: animation_cfg.AnimationTable, name: str) -> animation_cfg.Row:
    row = table.by_name.get(name)
    if row is None or row.name_start < 0:
        raise LimitError(f"the table has no row '{name}'")
    return row


def _rounded(scale: float) -> float:
    """Return a size as the game has it, 1 where it takes it for none."""
    return float(f"{scale:.2f}") if scale >= 0.005 else 1.0


class _Found(Finder):
    """Looks a character's files up."""

    def __init__(self, file: GameFile, skin: str) -> None:
        folder = file.folder
        if folder.find_first((), [BODY_NAME]) is None:
            raise LimitError(f"'{folder.name}' has no {BODY_NAME}: legs and torso apart are a Quake III Player")
        name = skin or choose(skins_of(BODY, folder.names())) or ""
        tags = {BODY: BODY_TAGS, HEAD: HEAD_TAGS}
        super().__init__(CharacterFiles(folder.name, file, GAME, name, tags=tags), game_of(file, HOME))
        self.folder = folder
        self.character.texts.append(file)
        self.character.skins = tuple(skins_of(BODY, folder.names()))
        self.character.body = self.find(BODY_NAME)
        self.character.skin = self.worn(BODY)
        self.find_motions()
        worn = self.read_skin(self.character.skin)
        if worn is None:
            self.character.skin = None
        else:
            self.character.shown = Shown(_rounded(worn.scale), GROUND)
        self.find_head()
        self.find_pieces(worn, BODY)
        head = self.character.head
        self.find_pieces(None if head is None else self.read_skin(head.skin), HEAD)

    def find(self, name: str, twin: str = "") -> GameFile | None:
        """Return the file of a name, which counts from the character's folder; or the one that another game has."""
        *folders, last = name_parts(name) or [""]
        names = [last, without_suffix(last) + twin] if twin else [last]
        found = self.folder.find_first(folders, names) if last else None
        return found or super().find("/".join((*PLAYERS, self.folder.name, name)), twin)

    def worn(self, part: str) -> GameFile | None:
        """Return the skin of the body or of the head; says so where there is none."""
        name = self.character.skin_name
        wanted = f"{part}_{name}{SKIN_SUFFIX}"
        found = self.find(wanted) if name else None
        if found is None:
            self.miss(f"the {part}'s skin '{wanted}' is not there" if name else f"there is no {part}_NAME{SKIN_SUFFIX}")
        return found

    def find_motions(self) -> None:
        """Find the rows that take the body's frames apart."""
        body = self.character.body
        try:
            table = animation_cfg.read(self.character.file.read())
        except ModelError as error:
            self.miss(f"'{self.character.file.name}': {error}")
            return
        if body is not None:
            self.character.motions.append(MotionFile(body, tuple(table.clips)))
        version = VERSION.search(decode(self.character.file.read())[0])
        if version is not None and int(version[1]) >= SCRIPTED_SINCE and self.find(SCRIPT) is None:
            self.character.unshown.append(f"there is no {SCRIPT}: the game refuses the character")

    def find_head(self) -> None:
        """Find the head, by its skin, and what it wears."""
        skin = self.worn(HEAD) or self.head_of_its_own()
        worn = self.read_skin(skin)
        names = {} if worn is None else {fold(kind): name for kind, name in worn.attached(GAME).items()}
        head = self.model(names.get(MODEL, HEAD_NAME), "the head")
        if head is not None:
            self.character.pieces.append(Piece(HEAD, *HEAD_PLACE, head, None if worn is None else skin))

    def head_of_its_own(self) -> GameFile | None:
        """Return the skin that the head wears first, where there is none called as the body's: the game takes any."""
        name = choose(skins_of(HEAD, self.folder.names()))
        return None if name is None else self.find(f"{HEAD}_{name}{SKIN_SUFFIX}")

    def find_pieces(self, skin: SkinFile | None, on: str) -> None:
        """Find what the skin of the body, or that of the head, attaches to it."""
        ignored = []
        for kind, name in () if skin is None else skin.attached(GAME).items():
            where = PLACES.get(fold(kind))
            if where is not None and where[0] == on:
                model, worn = self.attached(name, fold(kind))
                if model is not None:
                    self.character.pieces.append(Piece(fold(kind), *where, model, worn, HEAD_PLACE[1]))
            elif fold(kind) != MODEL and not fold(kind).startswith(SCRIPTED):
                ignored.append(kind)
        if ignored:
            self.miss(f"the {on}'s skin attaches what games ignore there: {listed(ignored)}")

    def attached(self, name: str, kind: str) -> tuple[GameFile | None, GameFile | None]:
        """Return the model that a name in a skin means, and what it wears."""
        what = f"{kind}'s model"
        if ".md3" in fold(name):
            return self.model(name, what), None
        skin = self.find(name + SKIN_SUFFIX)
        worn = self.read_skin(skin)
        model = next(self.models_of(worn), None)
        return self.model(f"{name}.md3" if model is None else f"acc/{model}", what), skin if worn else None

    @staticmethod
    def models_of(skin: SkinFile | None) -> Iterator[str]:
        """Yield the models that a skin says that it is for."""
        yield from (name for kind, name in ({} if skin is None else skin.attached(GAME)).items() if fold(kind) == MODEL)
