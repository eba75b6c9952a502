"""Where files lie that are read: a `GameFile` is a name in a `Store`, which is a folder, and may be one of an archive.

Whoever reads models, pictures, skins or tables has a `GameFile`, and never a path: `Disk` makes the one of the other
where a user names a file. An archive is a further implementation of `Store`: a member then is a `GameFile` as any, but
has no `path` on disk. What it must do (FS_ReadFile of id's engines and their kin): names count whatever their case, and
of two entries of one name the later wins. Which of several archives and folders wins differs from engine to engine, so
a game folder with archives is a `Store` of its own, which asks them in the engine's order.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Protocol

from ..reporting import ModelError, reason

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

    def names(self) -> list[str]:
        """Return the names in it, in order of their lower-case spelling; none if it can't be listed."""

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders, whatever their case, that has the first of the names there is.

        What it returns is a file, and lies inside: a link that leads out is none.
        """

    def is_file(self, name: str) -> bool:
        """Tell whether a file is called exactly so, as the system that holds it spells names."""

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it; raises ModelError, a sentence that says why and the caller which file."""

    def open(self, name: str) -> IO[bytes]:
        """Return a file in it as a stream, for who wants no more than its beginning; raises OSError, or ModelError."""

    def place_of(self, name: str) -> str:
        """Return where a file in it is, for a message and for what a .blend notes."""

    def path_of(self, name: str) -> Path | None:
        """Return where on disk a file in it is; None in an archive."""


@dataclass(frozen=True)
class GameFile:
    """A file, there or not, and the folder that it lies in. Equal if the folder is, and the name is spelt the same."""

    folder: Store
    name: str

    @property
    def stem(self) -> str:
        """Return the name without its suffix."""
        return split_name(self.name)[0]

    @property
    def suffix(self) -> str:
        """Return what the name ends in, from its last dot on."""
        return split_name(self.name)[1]

    @property
    def place(self) -> str:
        """Return where it is, for a message and for what a .blend notes."""
        return self.folder.place_of(self.name)

    @property
    def path(self) -> Path | None:
        """Return where on disk it is; None in an archive: then Blender, which opens files itself, needs its bytes."""
        return self.folder.path_of(self.name)

    def is_file(self) -> bool:
        """Tell whether it is there."""
        return self.folder.is_file(self.name)

    def read(self) -> bytes:
        """Return its bytes.

        Raises:
            ModelError: it can't be read; the sentence says why, the caller which file.
        """
        return self.folder.read(self.name)

    def open(self) -> IO[bytes]:
        """Return it as a stream; raises OSError, or ModelError."""
        return self.folder.open(self.name)

    def beside(self, name: str) -> GameFile:
        """Return the file of exactly that name in the same folder, there or not."""
        return GameFile(self.folder, name)


def split_name(name: str) -> tuple[str, str]:
    """Return a file's name without its suffix, and the suffix, as pathlib sees them: neither is only a dot."""
    dot = name.rfind(".")
    return (name[:dot], name[dot:]) if 0 < dot < len(name) - 1 else (name, "")


class Disk:
    """The file system, each folder listed once: one Disk for what is read together, and no longer, for files change."""

    def __init__(self) -> None:
        self._folders: dict[str, Folder] = {}

    def folder(self, path: Path | str) -> Folder:
        """Return a folder, there or not."""
        spelt = str(path)
        if spelt not in self._folders:
            self._folders[spelt] = Folder(self, spelt)
        return self._folders[spelt]

    def file(self, path: Path) -> GameFile:
        """Return the file that a path names, there or not."""
        return GameFile(self.folder(path.parent), path.name)


class Folder:
    """A folder on disk: a `Store`.

    Paths are strings here and links the exception: a small model has dozens of names looked up, most of them in vain.
    """

    def __init__(self, disk: Disk, spelt: str) -> None:
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

    @property
    def name(self) -> str:
        """Return what it is called; "" at the root."""
        return os.path.basename(self._absolute)  # noqa: PTH119 - as in `_spelt`

    @cached_property
    def parent(self) -> Folder | None:
        """The folder around it, as an absolute path; None at the root."""
        around = os.path.dirname(self._absolute)  # noqa: PTH120 - as in `_spelt`
        return None if around == self._absolute else self.disk.folder(around)

    def names(self) -> list[str]:
        """Return the names in it, in order of their lower-case spelling; none if it can't be listed."""
        return [name for key in sorted(self._listing) for name in self._listing[key]]

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders, whatever their case, that has the first of the names there is."""
        places = self._places(folders)
        for name in names:
            for place in places:
                for spelt, path in place._spelt(name):
                    if self._is_inside(path, stat.S_ISREG):
                        return GameFile(place, spelt)
        return None

    def _places(self, folders: Sequence[str]) -> list[Folder]:
        """Return the folders that names one below the other mean."""
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

    def place_of(self, name: str) -> str:
        """Return where a file in it is, as the folder is spelt."""
        return str(self.path_of(name))

    def path_of(self, name: str) -> Path:
        """Return where on disk a file in it is."""
        return Path(self.place, name)
