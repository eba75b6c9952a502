"""A .pk3 made anew of files in memory: the same bytes for the same files, wherever and whenever it is made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from .subject import LONGEST

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold
PLAIN_FILE = 0o644 << 16
WINDOWS = 0  # what made it, as far as attributes go: the same everywhere


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a .pk3 with files by their paths in the game, stored, in order of their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system, entry.external_attr = WINDOWS, PLAIN_FILE
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def out_of_reach(files: Mapping[str, bytes]) -> list[str]:
    """Return the paths that no engine opens, for they are too long."""
    return sorted(name for name in files if len(name.encode("utf-8")) > LONGEST)
