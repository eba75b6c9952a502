"""Which files a game needs to show a model: those that lie with it, and what these name and the game does not have."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .. import formats
from ..formats import VERTEX
from ..game.folders import Union, home_of
from ..game.lexer import without_suffix
from ..game.search import IMAGE_SUFFIXES, SearchPath, game_name
from ..game.shaders.model import is_builtin
from ..game.skin import SUFFIX as SKIN
from ..game.skin import read_skin
from ..game.store import GameFile, split_name
from ..game.trial.log import known
from ..game.trial.subject import PARTS, PLAYERS, TABLE, Player, Subject, Thing, is_part, subject_of, weapon_number
from ..reporting import LimitError, ModelError, listed
from .surface_looks import Looks

log = logging.getLogger(__name__)

READ = (".md3", ".mdc", ".mdr", ".iqm", SKIN, ".cfg", *IMAGE_SUFFIXES)  # what engines read of a model's folder
ELSEWHERE = "models/try"  # where a model goes that lies in no game's folder
MOST = 1 << 29  # bytes


@dataclass
class Belongings:
    """A model's files by their paths in the game, and how it is shown."""

    subject: Subject
    files: dict[str, bytes]
    shaders: set[str] = field(default_factory=set)  # that models and skins name

    def hold(self, file: GameFile, data: bytes) -> None:
        """Let a player hold a weapon, one of whose models is of a file: with what lies beside it."""
        place = place_in_game(file)
        number = weapon_number(place)
        if not isinstance(self.subject, Player) or not number:
            log.warning("'%s': the game does not know it as a weapon, and shows its own in the hand", file.name)
            return
        self.subject = replace(self.subject, weapon=number)
        folder = place.rpartition("/")[0]
        for path, found in _beside(file, subject_of(place)):
            self.files.setdefault(f"{folder}/{path}", _read(found))
        self.files[place] = data

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Let files take the place of those that there are, by their paths in the game, however these are spelt."""
        spelt = {path.lower(): path for path in self.files}
        self.files |= {spelt.get(path.lower(), path): data for path, data in files.items()}

    @property
    def about(self) -> set[str]:
        """Return the names, as `log.known` has them, of all that a complaint may be about."""
        return {known(name) for name in (*self.files, *self.shaders, *self.subject.models) if name}


def place_in_game(file: GameFile) -> str:
    """Return the path in the game of a model's file, there or not: below `models/players/` of a player's part."""
    home = home_of(file.layer)
    folders = () if home is None else home[1]
    is_players = len(folders) == 3 and tuple(name.lower() for name in folders[:2]) == PLAYERS
    if not is_players and is_part(file.name) and _has_all_parts(file):
        return "/".join((*PLAYERS, file.folder.name, file.name))
    return f"{ELSEWHERE}/{file.name}" if home is None else "/".join((*folders, file.name))


def _has_all_parts(file: GameFile) -> bool:
    names = {name.lower() for name in file.folder.names()}
    return names.issuperset(f"{part}.md3" for part in PARTS)


def belongings(
    file: GameFile,
    game: Union,
    skin: str = "",
    edited: Mapping[str, bytes] | None = None,
    held: Mapping[GameFile, bytes] | None = None,
) -> Belongings:
    """Return what a game needs to show the model of a file, in a skin.

    `edited` are files that take the place of those that there are, or come besides, by their names in the folder;
    `held` are models of a weapon in a player's hand, as they are by now. What these and the others name is brought
    along where the game itself does not have it.

    Raises:
        ModelError: the game can't show such a model, or would refuse it for a file that is not there.
    """
    place = place_in_game(file)
    subject, folder = subject_of(place, skin), place.rpartition("/")[0]
    files = {f"{folder}/{path}": found for path, found in _beside(file, subject)}
    whole = {path: _read(each) for path, each in files.items()}
    found = Belongings(subject, whole)
    found.replace({f"{folder}/{name}": data for name, data in (edited or {}).items()})
    found.shaders = _shaders_in(file, subject, whole)
    named = [(file, found.shaders)]
    for each, data in (held or {}).items():
        found.hold(each, data)
        named.append((each, _shaders_in(each, Thing(each.name), {each.name: data})))
    for each, shaders in named:
        found.shaders |= shaders
        for path, data in named_by(each, lambda known: _is_of(known, game), shaders):
            whole.setdefault(path, data)
    if sum(map(len, whole.values())) > MOST:
        raise LimitError(f"the model's files have more than {MOST >> 20} MiB")
    _refuse_part_of_a_player(found, game)
    return found


def _beside(file: GameFile, subject: Subject) -> Iterator[tuple[str, GameFile]]:
    """Yield a player's whole folder; of others what begins with the model's name: levels of detail, skins, barrels."""
    start = "" if isinstance(subject, Player) else split_name(subject.models[0].rpartition("/")[2])[0].lower()
    for below, found in file.folder.walk():
        path = "/".join((*below, found.name))
        if found.suffix.lower() in READ and path.lower().startswith(start) and not (start and below):
            yield path, found


def _read(file: GameFile) -> bytes:
    try:
        return file.read()
    except ModelError as error:
        raise ModelError(f"'{file.name}': {error}") from error


def _shaders_in(file: GameFile, subject: Subject, files: Mapping[str, bytes]) -> set[str]:
    """Return the shaders that a model's files name; what can't be read is the game's to complain about.

    A player wears what its skin says, whatever its models name.
    """
    found: set[str] = set()
    for path, data in files.items():
        each = GameFile(file.layer, path.rpartition("/")[2])
        row = formats.by_suffix(each)
        try:
            if row is not None and row.family is VERTEX and not isinstance(subject, Player):
                found.update(shader for surface in row.load(data, each.stem).surfaces for shader in surface.shaders)
            elif each.suffix.lower() == SKIN:
                found.update(read_skin(data).shaders().values())
        except ModelError as error:
            log.warning("%s: %s", each.name, error)
    return found - {""}


def named_by(file: GameFile, known: Callable[[GameFile], bool], shaders: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the scripts and pictures that shaders of a model come to, but for those that are `known`: the game's own.

    Where a model lies in no game's folder, what lies beside it goes where its shaders name it.
    """
    looks = Looks(SearchPath(file))
    scripts = {f"scripts/{each.name}": each for each in looks.search.scripts("scripts", ".shader")}
    wanted: dict[GameFile, str] = {}
    for name in sorted(shaders):
        shader = None if looks.library is None else looks.library.shader(name)
        if shader is not None and shader.file in scripts:
            wanted[scripts[shader.file]] = shader.file
        maps = [name] if shader is None else [each for stage in shader.stages for each in stage.maps]
        for each in maps:
            picture = None if not each or is_builtin(each) else looks.find_image(each)
            if picture is not None:
                wanted[picture] = without_suffix(each) + picture.suffix
    for found, named in wanted.items():
        if not known(found):
            yield (named if home_of(found.layer) is None else game_name(found)), _read(found)


def _is_of(file: GameFile, game: Union) -> bool:
    home = home_of(file.layer)
    return home is not None and home[0] in game.layers


def _refuse_part_of_a_player(found: Belongings, game: Union) -> None:
    """Refuse what the game would show another player for, without a word (CG_RegisterClientModelname)."""
    if not isinstance(found.subject, Player):
        return
    name, skin = found.subject.name, found.subject.skin
    folder = f"{'/'.join(PLAYERS)}/{name}"
    there = {path.lower() for path in found.files}

    def has(*names: str) -> bool:
        parts = (*PLAYERS, name)
        return any(f"{folder}/{each}".lower() in there for each in names) or bool(game.find_first(parts, names))

    needed = [f"{part}.md3" for part in PARTS] + [f"{part}_{skin}{SKIN}" for part in PARTS] + [TABLE]
    lacking = [each for each in needed if not has(each)]
    if not has(*(f"icon_{skin}{suffix}" for suffix in (SKIN, *IMAGE_SUFFIXES))):
        lacking.append(f"icon_{skin}.tga")
    if lacking:
        raise LimitError(f"the game shows no player '{name}' without {listed(lacking)} in '{folder}'")
