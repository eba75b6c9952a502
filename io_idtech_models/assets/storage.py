"""Writing whole files: a failed export never harms the file that was there. What is read comes from `game.store`."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import IO

from ..game.store import ARCHIVES, INTO_ARCHIVE, split_at_archive
from ..reporting import ModelError, reason

PREFIX, SUFFIX = ".idtech-", ".part"  # of temporary files
Fill = Callable[[IO[bytes]], None]  # writes a file's bytes
Target = Path  # of what is written: a place on disk, whereas what is read may lie in an archive
WINDOWS = sys.platform == "win32"
# What Windows keeps for devices, whatever follows a dot, and letters that it has no names with; see "Naming Files,
# Paths, and Namespaces" of its documentation.
RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])(?=[ .]|\Z)", re.IGNORECASE)
REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


Claim = Callable[[Sequence[tuple[Target, bytes]]], None]  # raises LimitError where a file is another's
_claim: ContextVar[Claim | None] = ContextVar("claim", default=None)


@contextmanager
def claiming(claim: Claim) -> Iterator[None]:
    """Let `write_files` ask meanwhile for what it is going to write."""
    token = _claim.set(claim)
    try:
        yield
    finally:
        _claim.reset(token)


def write_file(path: Target, data: bytes) -> None:
    """Write a file; see `write_files`."""
    write_files([(path, data)])


def write_files(files: Sequence[tuple[Target, bytes]]) -> None:
    """Write files beside their targets, and when all are there put them in the targets' places; links are followed.

    What a kill in the middle leaves behind is one temporary file, or one folder of them where there are several.

    Raises:
        ModelError: one can't be written, or is another source's while they are claimed; all targets are as they were,
            and nothing is left behind.
    """
    for path, _ in files:
        _refuse_archive(path)
    claim = _claim.get()
    if claim is not None:
        claim(files)
    _write_all([(path, partial(_put, data)) for path, data in files])


def holds(path: Target, data: bytes) -> bool:
    """Tell whether a file is there that has these bytes."""
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def file_names(wanted: Sequence[str]) -> list[str]:
    """Return names for files, without their suffix: such as any system takes, each once whatever its case."""
    found: dict[str, str] = {}
    for name in wanted:
        plain = REFUSED.sub("_", name).strip(" .") or "animation"
        free = plain = f"_{plain}" if RESERVED.match(plain) else plain
        number = 0
        while free.casefold() in found:
            number += 1
            free = f"{plain}.{number:03d}"
        found[free.casefold()] = free
    return list(found.values())


def write_archive(path: Target, fill: Fill) -> None:
    """Write an archive, new or in place of one, as `write_files` does a file; `fill` writes its bytes to a stream.

    Raises:
        ModelError: it can't be written, or `fill` raises one; what was there is as it was.
    """
    _write_all([(path, fill)])


def _put(data: bytes, stream: IO[bytes]) -> None:
    stream.write(data)


def _write_all(files: Sequence[tuple[Target, Fill]]) -> None:
    staged: list[tuple[Path, Path]] = []  # temporary file and target
    folders: dict[Path, Path] = {}  # of temporary files, by the targets' folder
    try:
        for path, fill in files:
            with _in_words(path):
                target = path.resolve()
                _check_target(target)
                if len(files) > 1 and target.parent not in folders:
                    import tempfile

                    folders[target.parent] = Path(tempfile.mkdtemp(SUFFIX, PREFIX, target.parent))
                _stage(target, fill, folders.get(target.parent, target.parent), staged)
        _put_in_place([path for path, _ in files], staged)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
        for folder in folders.values():
            with suppress(OSError):
                folder.rmdir()


def _put_in_place(paths: Sequence[Path], staged: list[tuple[Path, Path]]) -> None:
    """Put temporary files in their targets' places, all or none; what is done is taken off the list.

    Windows lets nobody replace a file that another program has open, which is not known before it is tried.
    """
    kept: list[tuple[Path | None, Path]] = []  # what was there, and where; None: nothing was
    pairs = tuple(staged)
    try:
        for path, (temporary, target) in zip(paths, pairs, strict=True):
            with _in_words(path):
                if len(pairs) > 1:
                    kept.append((_keep(target, temporary), target))
                _replace(temporary, target)
            staged.pop(0)
    except BaseException:
        for old, target in reversed(kept[: len(pairs) - len(staged)]):
            with suppress(OSError):
                target.unlink() if old is None else old.replace(target)
        raise
    finally:
        for old, _ in kept:
            if old is not None:
                old.unlink(missing_ok=True)


def _keep(target: Path, temporary: Path) -> Path | None:
    """Keep what is there under a second name beside the temporary file; returns it, or None of what is not there."""
    if not target.exists():
        return None
    kept = temporary.with_name(temporary.name + ".old")
    try:
        os.link(target, kept)
    except OSError:  # a file system without links
        import shutil

        shutil.copy2(target, kept)
    return kept


def _replace(temporary: Path, target: Path) -> None:
    """Put a file in another's place; raises OSError."""
    try:
        temporary.replace(target)
    except PermissionError as error:
        held = "; another program may have it open" if target.exists() else ""
        raise PermissionError(error.errno, f"{error.strerror}{held}") from error


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Turn what the system raises into a ModelError."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"can't write '{path}': {reason(error)}") from error
    except (RuntimeError, ValueError) as error:  # Python 3.11 says so of links in a circle; a name with a NUL
        raise ModelError(f"can't write '{path}': there is no such place") from error


def _refuse_archive(path: Path) -> None:
    """Refuse a path that leads into an archive, or is one's: it would be lost with all that it holds."""
    found = split_at_archive(path, os.path.isfile) if INTO_ARCHIVE.search(str(path)) is not None else None
    if found is not None:
        where = "in an archive" if found[1] else "an archive"
        raise ModelError(f"can't write '{path}': it is {where}, which is only read; choose another folder")
    if path.name.lower().endswith(ARCHIVES) and not path.is_dir():
        raise ModelError(f"can't write '{path}': archives are called so, and this file would be none")


def _stage(target: Path, fill: Fill, folder: Path, staged: list[tuple[Path, Path]]) -> None:
    """Write a temporary file into a folder, with the access rights that the target has or will have."""
    import tempfile  # it brings much along, and who reads files alone does without

    handle, name = tempfile.mkstemp(SUFFIX, PREFIX, folder)
    staged.append((Path(name), target))
    with os.fdopen(handle, "wb") as stream:
        fill(stream)
        stream.flush()
        os.fsync(stream.fileno())
    _take_mode(Path(name), target)


def _check_target(target: Path) -> None:
    """Refuse what replacing would do although writing could not: the file itself is not opened."""
    if WINDOWS and (RESERVED.match(target.name) or REFUSED.search(target.name) or target.name[-1:] in {".", " "}):
        raise OSError(errno.EINVAL, f"there are no files called '{target.name}' on Windows")
    if target.is_symlink():  # still, although all links were followed
        raise OSError(errno.ELOOP, "the link leads in a circle")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")


def _take_mode(new: Path, old: Path) -> None:
    """Give a temporary file the access rights of the file that it replaces, or those of any new file."""
    if old.exists():
        new.chmod(old.stat().st_mode & 0o777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        new.chmod(0o666 & ~mask)
