"""Where files lie that are read: a `GameFile` is a name in a `Store`, which is a folder, and may be one of an archive.

Whoever reads models, pictures, skins or tables has a `GameFile`, and never a path: `folders.Disk` makes the one of the
other where a user names a file. There are three kinds of `Store`: `Folder` here, `archives.PackFolder` in an archive,
whose files have no `path` on disk, and `folders.Union`, what a game sees where several of these lie above each other. A
`GameFile` is of the one layer that it is really in, so that who names a file gets that and no other; its `folder` is
what the game sees around it.

In its game a file is called by its path from the game's folder, or from the root of the archive that it lies in
(`path_in`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import IO, Protocol

from ..reporting import ModelError, reason

OnDisk = Path  # for who names the type without turning anything into a path
ARCHIVES = (".pk3", ".pk4", ".pak", ".pkz", ".pk2", ".zip")
# A path that may lead into an archive. Nearly none does, and asking the system of each would take longer than this.
INTO_ARCHIVE = re.compile(r"\.(?:pk[234z]|pak|zip)(?=[/\\]|\Z)", re.IGNORECASE)
MAX_NAME = 1024
MAX_SIZE = 5 << 28  # MD3's maximum, 1024 frames of 32 surfaces with 4096 vertices, is 1,082,000,000 bytes
MAX_LISTED = 1 << 16  # files of a folder that are looked at


class Store(Protocol):
    """A folder with all that lies in it and below. Two are equal if they are the same place, spelt in the same way."""

    @property
    def name(self) -> str:
        """Return what it is called; "" at the root."""

    @property
    def place(self) -> str:
        """Return where it is, for a message."""

    @property
    def parent(self) -> Store | None:
        """Return the folder around it; None at the root."""

    @property
    def around(self) -> Store:
        """Return what the game sees in its place: itself, or a `Union` that it is a layer of."""

    @property
    def elsewhere(self) -> Sequence[Store]:
        """Return the games that the user has told us of, the strongest first, but for the one that it lies in."""

    def names(self) -> list[str]:
        """Return the names in it, in order of their lower-case spelling; none if it can't be listed."""

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders, whatever their case, that has the first of the names there is.

        What it returns is a file, and lies inside: a link that leads out is none.
        """

    def below(self, folders: Sequence[str]) -> Sequence[Store]:
        """Return the folders that names one below the other mean, whatever their case."""

    def walk(self) -> Iterator[tuple[tuple[str, ...], GameFile]]:
        """Yield all files in it and below, each with the folders that lead to it, in any order."""

    def holder(self, name: str) -> Store | None:
        """Return the layer that has a file of exactly that name; itself, there or not, where it is the only one."""

    def is_file(self, name: str) -> bool:
        """Tell whether a file is called exactly so, as what holds it spells names."""

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it; raises ModelError, a sentence that says why and the caller which file."""

    def open(self, name: str) -> IO[bytes]:
        """Return a file in it as a stream, for who wants no more than its beginning; raises OSError, or ModelError."""

    def stamp(self, name: str) -> Hashable:
        """Return what is another one once a file in it has changed; None of one that can't be asked."""

    def place_of(self, name: str) -> str:
        """Return where a file in it is, for a message and for what a .blend notes."""

    def path_of(self, name: str) -> Path | None:
        """Return where on disk a file in it is; None in an archive."""


@dataclass(frozen=True)
class GameFile:
    """A file, there or not, and the layer that it lies in. Equal if the layer is, and the name is spelt the same."""

    layer: Store
    name: str

    @property
    def folder(self) -> Store:
        """Return the folder that it lies in as the game sees it, with the same folder of other layers."""
        return self.layer.around

    @cached_property
    def stem(self) -> str:
        """The name without its suffix."""
        return split_name(self.name)[0]

    @cached_property
    def suffix(self) -> str:
        """What the name ends in, from its last dot on."""
        return split_name(self.name)[1]

    @property
    def place(self) -> str:
        """Return where it is, for a message and for what a .blend notes."""
        return self.layer.place_of(self.name)

    @property
    def path(self) -> Path | None:
        """Return where on disk it is; None in an archive: then Blender, which opens files itself, needs its bytes."""
        return self.layer.path_of(self.name)

    def is_file(self) -> bool:
        """Tell whether it is there."""
        return self.layer.is_file(self.name)

    def read(self) -> bytes:
        """Return its bytes.

        Raises:
            ModelError: it can't be read; the sentence says why, the caller which file.
        """
        return self.layer.read(self.name)

    def open(self) -> IO[bytes]:
        """Return it as a stream; raises OSError, or ModelError."""
        return self.layer.open(self.name)

    @property
    def stamp(self) -> Hashable:
        """Return what is another one once it has changed; None if it can't be asked."""
        return self.layer.stamp(self.name)

    def beside(self, name: str) -> GameFile:
        """Return the file of exactly that name in the same folder, of the strongest layer that has it, there or not."""
        return GameFile(self.folder.holder(name) or self.layer, name)


def name_parts(name: str) -> list[str]:
    """Return the folders and the file of a name in a game file; none for a name that would lead outside.

    Engines drop a leading slash and refuse `..` and `::` (FS_FOpenFileRead); drive letters never occur in game paths.
    """
    if len(name) > MAX_NAME or "\0" in name or ":" in name:
        return []
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return [] if any(part.strip(" .") == "" for part in parts) else parts


def split_name(name: str) -> tuple[str, str]:
    """Return a file's name without its suffix, and the suffix, as pathlib sees them: neither is only a dot."""
    dot = name.rfind(".")
    return (name[:dot], name[dot:]) if 0 < dot < len(name) - 1 else (name, "")


def plain_path(place: str | os.PathLike[str]) -> str:
    """Return one spelling of a path, as this system compares them; links stay, as a game sees them."""
    return os.path.normcase(os.path.abspath(place))  # noqa: PTH100


def real_path(path: str | os.PathLike[str]) -> str:
    """Return one spelling for each place: where a path leads, links followed."""
    return os.path.normcase(os.path.realpath(path))


def split_at_archive(path: PurePath, is_file: Callable[[str], bool]) -> tuple[str, tuple[str, ...]] | None:
    """Return the archive that a path leads into and the names in it, none for the archive itself; None for others."""
    for count in range(1, len(path.parts) + 1):
        if path.parts[count - 1].lower().endswith(ARCHIVES):
            archive = str(type(path)(*path.parts[:count]))
            if is_file(archive):
                return archive, path.parts[count:]
    return None


class Surroundings(Protocol):
    """What a store asks of the file system that it is of: of `folders.Disk`, which knows what games see."""

    def folder(self, path: Path | str) -> Folder:
        """Return a folder, there or not."""

    def around(self, layer: Store) -> Store:
        """Return what the game sees in a folder's place; the folder itself where it is all that there is."""

    def elsewhere(self, layer: Store) -> Sequence[Store]:
        """Return the games that the user has told us of, but for the one that a folder lies in."""

    def whole(self, root: Store) -> Store:
        """Return all of the game whose folder is `root`, or that has it among its archives."""


class Folder:
    """A folder on disk: a `Store`.

    Paths are strings here and links the exception: a small model has dozens of names looked up, most of them in vain.
    """

    def __init__(self, disk: Surroundings, spelt: str) -> None:
        self.disk, self.place = disk, spelt
        self._known: dict[tuple[str, ...], list[Folder]] = {}  # below, by the names that lead there

    def __eq__(self, other: object) -> bool:
        """Compare the spelling alone, as paths do."""
        return isinstance(other, Folder) and self.place == other.place

    def __hash__(self) -> int:
        """Return what is equal for equal spellings."""
        return hash(self.place)

    @cached_property
    def _absolute(self) -> str:
        return os.path.abspath(self.place)  # noqa: PTH100 - links stay: the game sees the path as it is spelt

    @cached_property
    def _real(self) -> Path:
        return Path(self.place).resolve()

    @cached_property
    def _listing(self) -> dict[str, list[str]]:
        """The names in it by their lower-case spelling, in order of characters."""
        listing: dict[str, list[str]] = {}
        try:
            names = os.listdir(self.place)  # noqa: PTH208 - names, not paths: much faster
        except OSError:
            names = []
        for name in sorted(names[:MAX_LISTED]):
            listing.setdefault(name.lower(), []).append(name)
        return listing

    @cached_property
    def name(self) -> str:
        """What it is called; "" at the root."""
        return os.path.basename(self._absolute)  # noqa: PTH119 - as in `_spelt`

    @cached_property
    def parent(self) -> Folder | None:
        """The folder around it, as an absolute path; None at the root."""
        around = os.path.dirname(self._absolute)  # noqa: PTH120 - as in `_spelt`
        return None if around == self._absolute else self.disk.folder(around)

    @cached_property
    def around(self) -> Store:
        """What the game sees in its place."""
        return self.disk.around(self)

    @property
    def elsewhere(self) -> Sequence[Store]:
        """Return the games that the user has told us of, but for the one that it lies in."""
        return self.disk.elsewhere(self)

    def names(self) -> list[str]:
        """Return the names in it, in order of their lower-case spelling; none if it can't be listed."""
        return [name for key in sorted(self._listing) for name in self._listing[key]]

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders, whatever their case, that has the first of the names there is."""
        places = self.below(folders)
        for name in names:
            for place in places:
                for spelt, path in place._spelt(name):
                    if self._is_inside(path, stat.S_ISREG):
                        return GameFile(place, spelt)
        return None

    def below(self, folders: Sequence[str]) -> list[Folder]:
        """Return the folders that names one below the other mean, whatever their case; links must lead inside."""
        key = tuple(folders)
        if key not in self._known:
            found = [self]
            for name in key:
                paths = [path for place in found for _, path in place._spelt(name)]
                found = [self.disk.folder(path) for path in paths if self._is_inside(path, stat.S_ISDIR)]
            self._known[key] = found
        return self._known[key]

    def _spelt(self, name: str) -> list[tuple[str, str]]:
        """Return the names in it that a name means but for case, and their paths: as it is given first."""
        names = self._listing.get(name.lower(), [])
        if len(names) > 1:
            names = sorted(names, key=lambda other: other != name)
        # A path object takes ten times as long.
        return [(each, os.path.join(self.place, each)) for each in names]  # noqa: PTH118

    def _is_inside(self, path: str, is_kind: Callable[[int], bool]) -> bool:
        """Tell whether what lies in a folder inside this one is of a kind, and inside too once links are followed."""
        try:
            found = os.lstat(path)
            # What is no link lies where its folder does. (On Windows there are others than symbolic ones.)
            if not stat.S_ISLNK(found.st_mode) and not getattr(found, "st_reparse_tag", 0):
                return is_kind(found.st_mode)
            there = Path(path).resolve()
            return is_kind(there.stat().st_mode) and there.is_relative_to(self._real)
        except (OSError, RuntimeError):  # links in a circle
            return False

    def walk(self) -> Iterator[tuple[tuple[str, ...], GameFile]]:
        """Yield all files in it and below; links to folders are not followed, they may lead round in a circle."""
        for name in self.names():
            path = os.path.join(self.place, name)  # noqa: PTH118 - as in `_spelt`
            if self._is_inside(path, stat.S_ISREG):
                yield (), GameFile(self, name)
            elif not os.path.islink(path) and self._is_inside(path, stat.S_ISDIR):  # noqa: PTH114 - as above
                yield from (((name, *folders), file) for folders, file in self.disk.folder(path).walk())

    def holder(self, name: str) -> Folder:
        """Return itself: it is the only layer."""
        return self

    def is_file(self, name: str) -> bool:
        """Tell whether a file is called exactly so; links lead anywhere: it is the user who names the file."""
        return self.path_of(name).is_file()

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it; raises ModelError, which says why."""
        path = self.path_of(name)
        try:
            found = path.stat()
            if stat.S_ISDIR(found.st_mode):
                raise ModelError("it is a folder, not a file")
            if not stat.S_ISREG(found.st_mode):  # a pipe would wait for ever, a device never end
                raise ModelError("it is not a regular file")
            if found.st_size > MAX_SIZE:
                raise ModelError(f"the file has {found.st_size} bytes, more than a model can have")
            return path.read_bytes()
        except OSError as error:
            raise ModelError(f"can't read the file: {reason(error)}") from error
        except ValueError as error:  # a name with a NUL
            raise ModelError("no such file") from error

    def open(self, name: str) -> IO[bytes]:
        """Return a file in it as a stream; raises OSError."""
        return self.path_of(name).open("rb")

    def stamp(self, name: str) -> Hashable:
        """Return a file's size and time of change; None of one that can't be asked."""
        try:
            found = self.path_of(name).stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def place_of(self, name: str) -> str:
        """Return where a file in it is, as the folder is spelt."""
        return str(self.path_of(name))

    def path_of(self, name: str) -> Path:
        """Return where on disk a file in it is."""
        return Path(self.place, name)


def path_in(games: Iterable[Store], file: GameFile) -> str:
    """Return the path of a file in the first of some games that has it in a layer; "" if none has."""
    roots = [layer for game in games for layer in getattr(game, "layers", (game,))]
    names, layer = [file.name], file.layer
    while layer not in roots:
        if layer.parent is None:
            return ""
        names.append(layer.name)
        layer = layer.parent
    return "/".join(reversed(names))
