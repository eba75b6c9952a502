"""Reading and writing whole files: a failed export never harms the file that was there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import ModelError


def read_file(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        ModelError: it can't be read; the sentence says why.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"can't read '{path}': {_reason(error)}") from error


def write_file(path: Path, data: bytes) -> None:
    """Write a file beside its target and put it in the target's place at the end; links are followed.

    Raises:
        ModelError: it can't be written; the target is as it was, and nothing is left behind.
    """
    temporary = ""
    try:
        target = path.resolve()
        if target.is_dir():
            raise ModelError(f"can't write '{path}': it is a folder")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".idtech-", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _take_mode(Path(temporary), target)
        Path(temporary).replace(target)
        temporary = ""
    except OSError as error:
        raise ModelError(f"can't write '{path}': {_reason(error)}") from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _take_mode(new: Path, old: Path) -> None:
    """Give a temporary file the access rights of the file that it replaces, or those of any new file."""
    if old.exists():
        new.chmod(old.stat().st_mode & 0o777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        new.chmod(0o666 & ~mask)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
