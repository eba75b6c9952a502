"""Game folders with their archives, several above each other, as one `Store`: what a game sees where files are read.

The game of a file is found from where it lies: a loose one in the folder above `models/` (or, for Quake II's players,
above `players/`), a member of an archive in that archive, and that in the folder which holds it. Into what it sees go
that folder and all its archives in the order of the game's engine (see `families`), and below them the base folder that
lies beside a mod's (`baseoa` beside `mymod`). Where the user has told us of games (`Game`) those say which folders lie
above each other, and by which rules; a file outside of them all finds what it names in them, too, after all else.

A file is of one layer (`GameFile.layer`); what lies beside it, and what its names mean, are the `Union`'s.
"""

from __future__ import annotations

import io
import os
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import IO, NamedTuple

from ..reporting import ModelError
from .archives import Archive, PackFolder
from .families import BASES, DEFAULT, FAMILIES, Family, guessed
from .store import INTO_ARCHIVE, Folder, GameFile, OnDisk, Store, real_path, split_at_archive

TOP_FOLDERS = ("models", "players", "progs")
PACK_FOLDER = ".pk3dir"


class Game(NamedTuple):
    """A game that the user has told us of."""

    name: str
    folders: tuple[str, ...]  # paths of what holds `models/` or archives, the strongest first: mod, base; home, install
    family: str = ""  # a key of FAMILIES; "" where each folder's archives tell


def home_of(layer: Store) -> tuple[Store, tuple[str, ...]] | None:
    """Return the game folder that a folder lies in, and the names that lead from there to it, or None.

    That is the one above the innermost `models`, else above `players` or `progs`; of an archive without these all of
    it. The innermost: someone may keep games in a folder called `models`, and what is beside that is no game's.
    """
    wanted, *weaker = TOP_FOLDERS
    inside: list[str] = []  # names, from the inmost on
    found, top, folder = None, layer, layer.parent
    while folder is not None:
        inside.append(top.name)
        name = inside[-1].lower()
        if name == wanted:
            return folder, tuple(reversed(inside))
        if name in weaker and found is None:
            found = folder, tuple(reversed(inside))
        top, folder = folder, folder.parent
    if found is None and not isinstance(layer, Folder):
        return top, tuple(reversed(inside))
    return found


class Union:
    """The same folder of several layers, as a game sees it: a `Store`. Of files of one name the strongest's counts."""

    def __init__(
        self, layers: Sequence[Store], parts: tuple[str, ...], home: Store, stronger: Sequence[Store] = ()
    ) -> None:
        self.layers = tuple(layers)  # game folders and archives, the strongest first
        self.stronger = tuple(stronger)  # that the game would ask before the first, which somebody has named
        self.parts = parts  # names that lead to this folder from each
        self.home = home  # what messages name
        self._key = (self.layers, "/".join(parts).lower())

    def __eq__(self, other: object) -> bool:
        """Compare the layers, and the folder whatever its case."""
        return isinstance(other, Union) and self._key == other._key

    def __hash__(self) -> int:
        """Return what is equal for equal folders."""
        return hash(self._key)

    @property
    def root(self) -> Union:
        """Return the game folder."""
        return Union(self.layers, (), self.home, self.stronger)

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.parts[-1] if self.parts else self.home.name

    @property
    def place(self) -> str:
        """Return where it is, for a message."""
        return self.home.place_of("/".join(self.parts)) if self.parts else self.home.place

    @property
    def parent(self) -> Union | None:
        """Return the folder around it; None for the game folder."""
        return Union(self.layers, self.parts[:-1], self.home, self.stronger) if self.parts else None

    @property
    def around(self) -> Union:
        """Return itself: it is what the game sees."""
        return self

    @property
    def elsewhere(self) -> Sequence[Store]:
        """Return the games that the user has told us of, but for the one that it lies in."""
        return self.home.elsewhere

    @cached_property
    def _folders(self) -> list[Store]:
        """This folder in the layers that have it."""
        return [folder for layer in self.layers for folder in layer.below(self.parts)]

    def led_by(self, named: Store) -> Union:
        """Return the same with the layer first that a folder of it is of: what somebody names is read from there."""
        first = next((layer for layer in self.layers if named in layer.below(self.parts)), self.layers[0])
        place = self.layers.index(first)
        others = self.layers[:place] + self.layers[place + 1 :]
        return Union((first, *others), self.parts, self.home, self.layers[:place])

    def hidden(self) -> list[str]:
        """Return which files of the layer that leads are others in the game."""
        found = []
        for folder in self.layers[0].below(self.parts) if self.stronger else ():
            for name in folder.names():
                own = folder.find_first((), [name])
                others = (layer.find_first(self.parts, [name]) for layer in self.stronger)
                other = next((file for file in others if file is not None), None)
                if own is not None and other is not None and not _same(own, other):
                    found.append(name)
        return found

    def names(self) -> list[str]:
        """Return the names in it, in order of their lower-case spelling, each as the strongest layer spells it."""
        found: dict[str, list[str]] = {}
        for layer in self._folders:
            own: dict[str, list[str]] = {}
            for name in layer.names():
                own.setdefault(name.lower(), []).append(name)
            found = own | found
        return [name for key in sorted(found) for name in found[key]]

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders that has the first of the names there is in any layer.

        As in games: a name is asked of all layers before the next name is.
        """
        inner = (*self.parts, *folders)
        if len(names) == 1 or len(self.layers) == 1:
            found = (layer.find_first(inner, names) for layer in self.layers)
            return next((file for file in found if file is not None), None)
        layers = [layer for layer in self.layers if layer.below(inner)]
        for name in names:
            for layer in layers:
                file = layer.find_first(inner, [name])
                if file is not None:
                    return file
        return None

    def below(self, folders: Sequence[str]) -> list[Store]:
        """Return the folder that names one below the other mean, if a layer has it."""
        inner = Union(self.layers, (*self.parts, *folders), self.home, self.stronger)
        return [inner] if inner._folders else []

    def walk(self) -> Iterator[tuple[tuple[str, ...], GameFile]]:
        """Yield all files in it and below, of those of one name in one folder the strongest layer's."""
        seen: set[str] = set()
        for layer in self._folders:
            own = set()
            for folders, file in layer.walk():
                key = "/".join((*folders, file.name)).lower()
                if key not in seen:
                    own.add(key)
                    yield folders, file
            seen |= own

    def holder(self, name: str) -> Store | None:
        """Return the folder of the strongest layer that has a file of exactly that name."""
        return next((folder for folder in self._folders if folder.is_file(name)), None)

    def is_file(self, name: str) -> bool:
        """Tell whether a layer has a file of exactly that name."""
        return self.holder(name) is not None

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it; raises ModelError, which says why."""
        holder = self.holder(name)
        if holder is None:
            raise ModelError("no such file")
        return holder.read(name)

    def open(self, name: str) -> IO[bytes]:
        """Return a file in it as a stream; raises OSError, or ModelError."""
        holder = self.holder(name)
        return io.BytesIO(self.read(name)) if holder is None else holder.open(name)

    def stamp(self, name: str) -> Hashable:
        """Return what is another one once the strongest layer's file has changed."""
        holder = self.holder(name)
        return None if holder is None else holder.stamp(name)

    def place_of(self, name: str) -> str:
        """Return where a file in it is, or would be."""
        holder = self.holder(name)
        return self.home.place_of("/".join((*self.parts, name))) if holder is None else holder.place_of(name)

    def path_of(self, name: str) -> OnDisk | None:
        """Return where on disk a file in it is; None in an archive, or where there is none."""
        holder = self.holder(name)
        return None if holder is None else holder.path_of(name)


def _same(one: GameFile, other: GameFile) -> bool:
    try:
        return one.read() == other.read()
    except ModelError:
        return False


def led(named: Store) -> Store:
    """Return what a game sees in a folder's place, of files of one name that folder's own first."""
    around = named.around
    return around.led_by(named) if isinstance(around, Union) else around


class Disk:
    """The file system, each folder listed once: one Disk for what is read together, and no longer, for files change.

    `games` are those that the user has told us of, which is all that the search for a model's files may be told. The
    layers of each game are found once.
    """

    def __init__(self, games: Sequence[Game] = ()) -> None:
        self.games = tuple(games)
        self._folders: dict[str, Folder] = {}
        self._archives: dict[str, Archive] = {}
        self._layers: dict[Store, list[Store]] = {}
        self._games: dict[Game, Union] = {}

    def folder(self, path: OnDisk | str) -> Folder:
        """Return a folder, there or not."""
        spelt = str(path)
        if spelt not in self._folders:
            self._folders[spelt] = Folder(self, spelt)
        return self._folders[spelt]

    def file(self, path: OnDisk) -> GameFile:
        """Return the file that a path names, there or not; the path may lead into an archive."""
        around = str(path.parent)
        return GameFile(
            self.folder(around) if INTO_ARCHIVE.search(around) is None else self.store(path.parent), path.name
        )

    def store(self, path: OnDisk) -> Store:
        """Return a folder, an archive, or a folder in one, there or not."""
        found = split_at_archive(path, os.path.isfile) if INTO_ARCHIVE.search(str(path)) is not None else None
        if found is None:
            return self.folder(path)
        inner = found[1]
        return self.archive(self.file(path.parents[len(inner) - 1] if inner else path)).folder(inner)

    def archive(self, file: GameFile) -> Archive:
        """Return the archive that a file on disk is, sound or not."""
        if file.place not in self._archives:
            self._archives[file.place] = Archive(self, file)
        return self._archives[file.place]

    def around(self, layer: Store) -> Store:
        """Return what the game sees in a folder's place; the folder itself where it is all that there is."""
        home = home_of(layer)
        if home is None:
            return layer
        root, parts = home
        layers = self.layers(root)
        return layer if layers == [root] else Union(layers, parts, _holding(root) or root)

    def elsewhere(self, layer: Store) -> list[Store]:
        """Return the games that the user has told us of, the first first, but for those that a folder lies in."""
        if not self.games:
            return []
        home = home_of(layer)
        holding = _holding(layer if home is None else home[0])
        games = [game for game in self.games if holding is None or not _is_of(holding, game)]
        return [self.game(game) for game in games if game.folders]

    def game(self, game: Game) -> Union:
        """Return all of a game that the user has told us of."""
        if game not in self._games:
            self._games[game] = Union(self._of_game(game), (), self._absolute(game.folders[0]))
        return self._games[game]

    def whole(self, root: Store) -> Union:
        """Return all of the game whose folder is `root`, or that has it among its archives."""
        return Union(self.layers(root), (), _holding(root) or root)

    def layers(self, root: Store) -> list[Store]:
        """Return what a game whose folder, or one of whose archives, is `root` reads from, the strongest first."""
        if root not in self._layers:
            holding = _holding(root)
            found = [] if holding is None else self._found(holding)
            self._layers[root] = found if root in found else [root, *found]
        return self._layers[root]

    def _found(self, folder: Folder) -> list[Store]:
        game = next((game for game in self.games if _is_of(folder, game)), None)
        if game is not None:
            return self._of_game(game, folder)
        own = guessed(folder.name, folder.names())
        base = self._base_of(folder, own)
        found = self._of_folder(folder, own or ("" if base is None else guessed(base.name, base.names())))
        return found if base is None else found + self._of_folder(base, own)

    def _of_game(self, game: Game, own: Folder | None = None) -> list[Store]:
        """Return what a game reads from; of its folders one may be at hand, spelt in another way."""
        found = []
        for place in game.folders:
            folder = own if own is not None and real_path(own.place) == real_path(place) else self._absolute(place)
            found += self._of_folder(folder, game.family)
        return found

    def _absolute(self, place: str) -> Folder:
        return self.folder(os.path.abspath(place))  # noqa: PTH100 - links stay

    def _of_folder(self, folder: Folder, family: str) -> list[Store]:
        """Return a game folder and its archives, the strongest first."""
        names = folder.names()
        rules = FAMILIES.get(family or guessed(folder.name, names)) or FAMILIES[DEFAULT]
        packs: list[Store] = []
        for name in sorted((n for n in names if rules.takes(n) or rules.takes_folder(n)), key=rules.rank, reverse=True):
            packs += self._of_pack(folder, name, rules)
        return [folder, *packs] if rules.loose_above else [*packs, folder]

    def _of_pack(self, folder: Folder, name: str, rules: Family) -> Sequence[Store]:
        if rules.takes_folder(name):
            return folder.below([name])
        # It may be a link that leads anywhere: it is the user who keeps the game.
        return [self.archive(GameFile(folder, name)).folder()] if folder.is_file(name) else []

    def _base_of(self, folder: Folder, family: str) -> Folder | None:
        """Return the game's own folder beside a mod's: one that looks like a game of the same family."""
        around = folder.parent
        if around is None or folder.name.lower() in BASES:
            return None
        there = {name.lower() for name in around.names()}
        for name in BASES:
            for base in around.below([name]) if name in there else ():
                own = guessed(base.name, base.names())
                if (own and own == (family or own)) or (not own and _has_models(base)):
                    return base
        return None


def _has_models(folder: Folder) -> bool:
    return any(name.lower() in TOP_FOLDERS for name in folder.names())


def _holding(root: Store) -> Folder | None:
    """Return the folder on disk that is a game folder, or holds the archive or the `.pk3dir` that is one."""
    if isinstance(root, PackFolder):
        holding = root.archive.file.layer
        return holding if isinstance(holding, Folder) else None
    if not isinstance(root, Folder):
        return None
    return root.parent if root.name.lower().endswith(PACK_FOLDER) else root


def _is_of(folder: Folder, game: Game) -> bool:
    return real_path(folder.place) in map(real_path, game.folders)
