"""Which files arguments mean: names, folders, globs, and the same within archives (`pak0.pk3/models/weapons2/*`)."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from .. import formats
from ..game.character import ENDS
from ..game.folders import Disk
from ..game.listing import ANY_DEPTH, members
from ..game.store import ARCHIVES, INTO_ARCHIVE, real_path
from ..reporting import ModelError, listed, plural
from .console import warn

SUFFIXES = tuple(suffix for row in formats.ROWS for suffix in row.suffixes)
WITH_CHARACTERS = (*SUFFIXES, *ENDS)  # what `info` and `check` read


@dataclass(frozen=True)
class Input:
    """A file to read, and what of its path an output folder keeps: what is below the folder that was asked for.

    Of a pattern that is what lies below its last part without a wildcard.
    """

    path: Path
    below: Path


def expand(files: Iterable[str], suffixes: tuple[str, ...]) -> tuple[list[Input], dict[str, str]]:
    """Return the files that arguments mean, and those arguments that mean none, with the reason if there is another.

    Folders stand for whole trees, archives for all in them. A name that is no file stays, to fail later. Files that
    several arguments mean come once.
    """
    found: dict[str, Input] = {}
    without_models = {}
    for name in files:
        try:
            here = _meant(name, suffixes)
        except ModelError as error:
            here, without_models[name] = [], str(error)
        if not here:
            without_models.setdefault(name, "")
        for each in here:
            place = real_path(each.path)
            if place not in found or len(found[place].below.parts) < len(each.below.parts):
                found[place] = each
    return list(found.values()), without_models


def _meant(name: str, suffixes: tuple[str, ...]) -> list[Input]:
    """Return the files that an argument means; raises ModelError for an archive that can't be read."""
    packs, inner = _archives(name)
    if packs:
        return [each for pack in packs for each in _members(pack, inner, suffixes)]
    path = Path(name)
    if is_dir(path):
        return [Input(each, each.relative_to(path)) for each in _below(path, suffixes)]
    if glob.has_magic(name) and not exists(path):
        found: list[Input] = []
        above = Path(*takewhile(lambda part: not glob.has_magic(part), path.parts))
        for match in _matches(name):
            if _is_archive(match):
                found += _members(match, "", suffixes)
                continue
            files = _below(match, suffixes) if is_dir(match) else [match]
            found += [Input(each, each.relative_to(above)) for each in files]
        return found
    return [Input(path, Path(path.name))]


def _below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files of a folder's whole tree that end in one of some ways."""
    return sorted(path for path in folder.rglob("*") if path.name.lower().endswith(suffixes) and path.is_file())


def _matches(pattern: str) -> list[Path]:
    return sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207 - takes any root


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(ARCHIVES) and os.path.isfile(path)  # noqa: PTH113 - Path's raises for long names


def _archives(name: str) -> tuple[list[Path], str]:
    """Return the archives that an argument leads into, and its rest; none for any other."""
    for match in INTO_ARCHIVE.finditer(name):
        head = name[: match.end()]
        packs = [Path(head)] if not glob.has_magic(head) or exists(Path(head)) else _matches(head)
        packs = [pack for pack in packs if _is_archive(pack)]
        if packs:
            return packs, name[match.end() :]
    return [], ""


def _members(pack: Path, inner: str, suffixes: tuple[str, ...]) -> list[Input]:
    """Return the files of an archive that the rest of an argument means; raises ModelError where it can't be read.

    What a pattern matches may be a folder. Only what this program reads itself can lie in an archive.
    """
    disk = Disk()
    archive = disk.archive(disk.file(pack))
    refused = archive.directory().refused
    parts = [part for part in inner.replace("\\", "/").split("/") if part]
    plain = list(takewhile(lambda part: not glob.has_magic(part), parts))
    folder = archive.folder(plain)
    if parts and (archive.folder(parts[:-1]).is_file(parts[-1]) or (plain == parts and not folder.below(()))):
        return [Input(pack.joinpath(*parts), Path(parts[-1]))]
    if not parts and refused:
        warn(f"{pack}: {plural(len(refused), 'file')} left out, no game can reach such names: {listed(refused)}")
    pattern = "/".join(parts[len(plain) :]) or ANY_DEPTH
    found = dict(members(folder, pattern) + members(folder, f"{pattern}/{ANY_DEPTH}"))
    wanted = tuple(suffix for suffix in suffixes if suffix in WITH_CHARACTERS)
    return [Input(Path(file.place), Path(below)) for below, file in found.items() if file.name.lower().endswith(wanted)]


def is_in_archive(path: Path) -> bool:
    """Tell whether a path leads into an archive."""
    return bool(_archives(str(path.parent))[0])


def exists(path: Path) -> bool:
    """Tell whether there is something at a path on disk."""
    return os.path.exists(path)  # noqa: PTH110 - Path's own raises where a name is too long


def is_dir(path: Path) -> bool:
    """Tell whether a folder is at a path."""
    return os.path.isdir(path)  # noqa: PTH112 - as above
