"""Writing .pak archives of Quake and Quake II: new ones, and members of those that there are.

A member that is not written comes back byte for byte, in its order and as its name is spelt; what lies between members
goes. A member whose name differs in case alone is that member, as it is to games. Layout: see `game.pak`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from typing import IO

from ..game import pak
from ..game.folders import Disk
from ..game.store import name_parts
from ..reporting import FormatError, LimitError, ModelError, reason
from .storage import Target, write_archive

MOST_LETTERS = 55  # bytes of a name, before its NUL
MOST = 4096  # members that engines take (MAX_FILES_IN_PACK)
LARGEST = 0x7FFFFFFF  # bytes: places and lengths are int32


def write_pak(path: Target, members: Mapping[str, bytes]) -> bool:
    """Write members, by their names from the top, into a .pak that is there or a new one.

    Returns whether anything has changed: where all members are there already the archive is not touched.

    Raises:
        ModelError: it can't be written, or is damaged: it is as it was then; or a name can't be one of a .pak.
    """
    wanted = _by_key(members)
    file = Disk().file(path)
    try:
        old: dict[str, tuple[str, bytes]] = {}
        if file.is_file():
            with file.open() as stream:
                old = _read(stream)
        new = old | {key: (old.get(key, (name,))[0], data) for key, (name, data) in wanted.items()}
        if new == old and old:
            return False
        write_archive(path, partial(_fill, new))
    except OSError as error:
        raise ModelError(f"can't read '{path}': {reason(error)}") from error
    except (FormatError, LimitError) as error:
        raise ModelError(f"can't write into '{path}': {error}") from error
    return True


def with_members(data: bytes, members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a .pak with members, as `write_pak` writes them; of no bytes a new one."""
    old = _read(io.BytesIO(data)) if data else {}
    found = io.BytesIO()
    _fill(old | {key: (old.get(key, (name,))[0], new) for key, (name, new) in _by_key(members).items()}, found)
    return found.getvalue()


def _key(name: str) -> str:
    return name.replace("\\", "/").lower()


def _by_key(members: Mapping[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Return members by their names as games compare them; raises LimitError for what can't be a name."""
    for name in members:
        if not name or "/".join(name_parts(name)) != name or not name.isascii() or not name.isprintable():
            raise LimitError(f"'{name}' can't be the name of a file in a .pak")
        if len(name) > MOST_LETTERS:
            raise LimitError(f"'{name}' has {len(name)} letters, a .pak takes {MOST_LETTERS}")
    return {_key(name): (name, data) for name, data in members.items()}


def _read(stream: IO[bytes]) -> dict[str, tuple[str, bytes]]:
    """Return all members of a .pak, by their names as games compare them; of several of a name the last."""
    size = stream.seek(0, 2)
    listed = list(pak.read_directory(stream, size))
    return {_key(name): (name, pak.read_member(stream, size, member)) for name, member in listed}


def _fill(members: Mapping[str, tuple[str, bytes]], stream: IO[bytes]) -> None:
    """Write a .pak; raises LimitError."""
    if len(members) > MOST:
        raise LimitError(f"the archive would have {len(members)} members, games take up to {MOST}")
    place, entries = pak.HEADER.size, []
    for name, data in members.values():
        entries.append(pak.ENTRY.pack(name.encode("cp437"), place, len(data)))
        place += len(data)
    if place + len(entries) * pak.ENTRY.size > LARGEST:
        raise LimitError(f"the archive would have more than {LARGEST} bytes, games can't read it")
    stream.write(pak.HEADER.pack(pak.MAGIC, place, len(entries) * pak.ENTRY.size))
    for _, data in members.values():
        stream.write(data)
    stream.write(b"".join(entries))
