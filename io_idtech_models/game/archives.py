"""Archives of games, read where they lie: nothing is unpacked to disk, and none is held open between two reads.

What engines do (FS_LoadZipFile, FS_LoadPackFile and their kin): names count whatever their case, a backslash is a
slash, a leading one is dropped, names with `..` or a drive can't be reached (nor, here, those with characters that
can't be printed); of two entries of one name the later wins. An archive in an archive is a file as any other.
Attributes, links among them, mean nothing.

A directory that was read is kept while the file's size and time do not change: `_kept`, the process' own.
"""

from __future__ import annotations

import io
import logging
import os
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

from ..reporting import FormatError, LimitError, ModelError, reason
from . import pak, zips
from .store import MAX_NAME, GameFile, Store, Surroundings, name_parts

log = logging.getLogger(__name__)

MAX_KEPT = 1 << 18  # entries of all archives whose directories are kept: some 50 MB
# What may be read of one archive by one `Disk`: so many times its size, and these bytes.
MAX_TOTAL, TOTAL_SPARE = 100, 1 << 32


File = tuple[str, Any]  # how a file's name is spelt, and the codec's member


@dataclass
class Directory:
    """What an archive holds."""

    codec: Any  # zips or pak
    # By the lower-case path of each folder that has files how that is spelt, and its files by their lower-case names.
    folders: dict[str, tuple[str, dict[str, File]]] = field(default_factory=dict)
    count: int = 0  # of entries
    refused: list[str] = field(default_factory=list)  # names that lead out of it, or can't be names

    def add(self, name: str, member: Any) -> None:
        """Add a member; what ends in a slash is a folder's own entry, and no file."""
        self.count += 1
        if name.endswith(("/", "\\")):
            return
        if _is_odd(name):
            parts = name_parts(name) if name.isprintable() else []
            if not parts:
                self.refused.append(name)
                return
            name = "/".join(parts)
        folder, _, last = name.rpartition("/")
        key = folder.lower()
        found = self.folders.get(key)
        if found is None:
            found = self.folders[key] = (folder, {})
        elif folder < found[0]:  # of several spellings the same one, whatever the order of entries
            found = self.folders[key] = (folder, found[1])
        found[1][last.lower()] = (last, member)

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.folders)

    def spelt(self, key: str) -> list[str] | None:
        """Return the names that lead to a folder, by its lower-case path; None if there is none."""
        found = self.folders.get(key)
        if found is None:  # it may hold folders alone
            place = bisect_left(self._ordered, key + "/")
            inner = self._ordered[place] if place < len(self._ordered) else ""
            if not inner.startswith(key + "/"):
                return None
            return self.folders[inner][0].split("/")[: key.count("/") + 1]
        return found[0].split("/") if found[0] else []


def _is_odd(name: str) -> bool:
    """Tell whether a name has to be looked at: nearly none has, and there are many."""
    odd = "\\" in name or ":" in name or "//" in name or "/." in name or "/ " in name
    return odd or name[:1] in "/. " or not name.isprintable() or len(name) > MAX_NAME


def read_directory(stream: IO[bytes], size: int) -> Directory:
    """Return what an archive of `size` bytes holds: a .pak if it begins as one, else a zip, whatever its name.

    Raises:
        ModelError: it is none, or damaged.
    """
    stream.seek(0)
    found = Directory(pak if stream.read(4) == pak.MAGIC else zips)
    found.folders[""] = ("", {})
    for name, member in found.codec.read_directory(stream, size):
        found.add(name, member)
    return found


EMPTY = Directory(zips)
_kept: dict[tuple[str, int, int], Directory] = {}


def _directory(stream: IO[bytes], place: str) -> tuple[tuple[str, int, int], Directory]:
    """Return an open archive's directory, with what tells whether it is still the same."""
    status = os.fstat(stream.fileno())
    key = (place, status.st_size, status.st_mtime_ns)
    found = _kept.pop(key, None)
    if found is None:
        for old in [old for old in _kept if old[0] == place]:
            del _kept[old]
        found = read_directory(stream, status.st_size)
    _kept[key] = found  # the last one is the last to go
    while sum(each.count for each in _kept.values()) > MAX_KEPT and len(_kept) > 1:
        del _kept[next(iter(_kept))]
    return key, found


class Archive:
    """An archive on disk, as one `folders.Disk` sees it: its directory is looked at once."""

    def __init__(self, disk: Surroundings, file: GameFile) -> None:
        self.disk, self.file = disk, file
        self._taken = 0  # bytes that were read
        self._said = False

    def folder(self, inner: Sequence[str] = ()) -> PackFolder:
        """Return a folder in it, there or not, or all of it."""
        return PackFolder(self, tuple(inner))

    @cached_property
    def _found(self) -> tuple[tuple[str, int, int], Directory] | ModelError:
        """What tells whether the file is still the same, and its directory; or why it has none."""
        try:
            if not self.file.is_file():  # a pipe would wait for ever
                raise ModelError("no such archive")
            with self.file.open() as stream:
                return _directory(stream, os.path.abspath(self.file.place))  # noqa: PTH100 - links stay
        except OSError as error:
            return ModelError(f"can't read the archive: {reason(error)}")
        except ModelError as error:
            return error

    def directory(self) -> Directory:
        """Return what it holds; raises ModelError."""
        if isinstance(self._found, ModelError):
            raise self._found
        return self._found[1]

    @property
    def listing(self) -> Directory:
        """Return what it holds; of one that can't be read nothing: a warning is logged once."""
        if isinstance(self._found, ModelError):
            if not self._said:
                log.warning("'%s' is left out: %s", self.file.name, self._found)
            self._said = True
            return EMPTY
        return self._found[1]

    def read(self, member: Any) -> bytes:
        """Return a member's bytes; raises ModelError."""
        directory = self.directory()
        assert not isinstance(self._found, ModelError)
        key = self._found[0]
        try:
            with self.file.open() as stream:
                status = os.fstat(stream.fileno())
                if (status.st_size, status.st_mtime_ns) != key[1:]:
                    raise FormatError("the archive has changed while it was read: try again")
                data: bytes = directory.codec.read_member(stream, status.st_size, member)
        except OSError as error:
            raise ModelError(f"can't read the archive: {reason(error)}") from error
        self._taken += len(data)
        if self._taken > TOTAL_SPARE + MAX_TOTAL * key[1]:
            raise LimitError(f"the archive's {key[1]} bytes have become {self._taken}, which nothing sound does")
        return data


class PackFolder:
    """A folder in an archive: a `Store`. Names count whatever their case."""

    def __init__(self, archive: Archive, inner: tuple[str, ...]) -> None:
        self.archive, self.inner = archive, inner
        self._key = "/".join(inner).lower()

    def __eq__(self, other: object) -> bool:
        """Compare the archive's spelling and the folder's, but for its case."""
        return (
            isinstance(other, PackFolder)
            and self._key == other._key
            and self.archive.file.place == other.archive.file.place
        )

    def __hash__(self) -> int:
        """Return what is equal for equal places."""
        return hash((self.archive.file.place, self._key))

    @property
    def _files(self) -> dict[str, File]:
        found = self.archive.listing.folders.get(self._key)
        return {} if found is None else found[1]

    @property
    def name(self) -> str:
        """Return what it is called; "" for all of the archive."""
        return self.inner[-1] if self.inner else ""

    @property
    def place(self) -> str:
        """Return where it is, as a path through the archive."""
        return os.path.join(self.archive.file.place, *self.inner)  # noqa: PTH118 - no system knows such a path

    @property
    def parent(self) -> PackFolder | None:
        """Return the folder around it; None for all of the archive."""
        return PackFolder(self.archive, self.inner[:-1]) if self.inner else None

    @cached_property
    def around(self) -> Store:
        """What the game sees in its place."""
        return self.archive.disk.around(self)

    @property
    def elsewhere(self) -> Sequence[Store]:
        """Return the games that the user has told us of, but for the one that it lies in."""
        return self.archive.disk.elsewhere(self)

    def names(self) -> list[str]:
        """Return the names of the files in it, in order of their lower-case spelling."""
        return [spelt for _, (spelt, _) in sorted(self._files.items())]

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        """Return the file below the given folders that has the first of the names there is."""
        for place in self.below(folders):
            files = place._files
            found = next((files[name.lower()] for name in names if name.lower() in files), None)
            if found is not None:
                return GameFile(place, found[0])
        return None

    def below(self, folders: Sequence[str]) -> list[PackFolder]:
        """Return the folder that names one below the other mean, if it is there."""
        found = self.archive.listing.spelt("/".join((*self.inner, *folders)).lower())
        return [] if found is None else [PackFolder(self.archive, tuple(found))]

    def walk(self) -> Iterator[tuple[tuple[str, ...], GameFile]]:
        """Yield all files in it and below."""
        start = f"{self._key}/" if self._key else ""
        for key, (spelt, files) in self.archive.listing.folders.items():
            if key == self._key or key.startswith(start):
                inner = tuple(spelt.split("/")) if spelt else ()
                place = PackFolder(self.archive, inner)
                yield from ((inner[len(self.inner) :], GameFile(place, name)) for name, _ in files.values())

    def holder(self, name: str) -> PackFolder:
        """Return itself: it is the only layer."""
        return self

    def is_file(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return name.lower() in self._files

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in it; raises ModelError, which says why."""
        self.archive.directory()
        found = self._files.get(name.lower())
        if found is None:
            raise ModelError("it is a folder, not a file" if self.below([name]) else "no such file in the archive")
        return self.archive.read(found[1])

    def open(self, name: str) -> IO[bytes]:
        """Return a file in it as a stream; raises ModelError."""
        return io.BytesIO(self.read(name))

    def stamp(self, name: str) -> Hashable:
        """Return what tells whether the archive is still the same; None of one that can't be read."""
        found = self.archive._found
        return None if isinstance(found, ModelError) else found[0]

    def place_of(self, name: str) -> str:
        """Return where a file in it is, as a path through the archive."""
        return os.path.join(self.place, name)  # noqa: PTH118 - as above

    def path_of(self, name: str) -> None:
        """Return that it lies nowhere on disk."""
        return None
