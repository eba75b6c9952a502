"""A store that is no folder: files by their names, as an archive has them; and what is in one that is."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from io_idtech_models.game.folders import Disk
from io_idtech_models.game.store import GameFile
from io_idtech_models.reporting import ModelError


@dataclass(frozen=True)
class Held:
    """The folder `inner` of files in memory; names count whatever their case."""

    files: Mapping[str, bytes]
    inner: str = ""

    def __hash__(self) -> int:
        return hash(self.inner)

    @property
    def name(self) -> str:
        return self.inner.rpartition("/")[2]

    @property
    def place(self) -> str:
        return "/nowhere/pak0.pk3/" + self.inner

    @property
    def parent(self) -> Held | None:
        return Held(self.files, self.inner.rpartition("/")[0]) if self.inner else None

    def _whole(self, name: str) -> str:
        return f"{self.inner}/{name}".lstrip("/")

    def names(self) -> list[str]:
        start = self._whole("")
        return sorted(n[len(start) :] for n in self.files if n.startswith(start) and "/" not in n[len(start) :])

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> GameFile | None:
        known = {name.lower(): name for name in self.files}
        for name in names:
            found = known.get(self._whole("/".join([*folders, name])).lower())
            if found is not None:
                inner, _, last = found.rpartition("/")
                return GameFile(Held(self.files, inner), last)
        return None

    @property
    def around(self) -> Held:
        return self

    @property
    def elsewhere(self) -> Sequence[Held]:
        return ()

    def below(self, folders: Sequence[str]) -> list[Held]:
        inner = self._whole("/".join(folders)).rstrip("/").lower()
        folded = {name.rpartition("/")[0].lower(): name.rpartition("/")[0] for name in self.files}
        return [Held(self.files, folded[inner])] if inner in folded else []

    def walk(self) -> Iterator[tuple[tuple[str, ...], GameFile]]:
        start = self._whole("").lower()
        for name in self.files:
            if name.lower().startswith(start):
                folder, _, last = name.rpartition("/")
                below = folder[len(start) :]
                yield tuple(below.split("/")) if below else (), GameFile(Held(self.files, folder), last)

    def holder(self, name: str) -> Held:
        return self

    def is_file(self, name: str) -> bool:
        return self._whole(name) in self.files

    def read(self, name: str) -> bytes:
        if not self.is_file(name):
            raise ModelError("no such file")
        return self.files[self._whole(name)]

    def open(self, name: str) -> IO[bytes]:
        return io.BytesIO(self.read(name))

    def stamp(self, name: str) -> None:
        return None

    def place_of(self, name: str) -> str:
        return "/nowhere/pak0.pk3/" + self._whole(name)

    def path_of(self, name: str) -> None:
        return None


def contents(path: Path) -> dict[str, bytes]:
    """Return the members of an archive by their names."""
    return {"/".join((*folders, file.name)): file.read() for folders, file in Disk().store(path).walk()}


def held(files: Mapping[str, bytes], name: str) -> GameFile:
    """Return one of such files."""
    inner, _, last = name.rpartition("/")
    return GameFile(Held(files, inner), last)
