"""Quake's and Quake II's .pak: files one after another, and a directory of their names.

Layout (id's qfiles.h, `dpackheader_t` and `dpackfile_t`; little-endian): the header is `PACK`, int32 place and int32
length of the directory; an entry of it is name[56], padded with NULs, int32 place and int32 length of a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, NamedTuple

from ..reporting import FormatError, LimitError

MAGIC = b"PACK"
HEADER = struct.Struct("<4sII")
ENTRY = struct.Struct("<56sII")
MAX_ENTRIES = 1 << 16  # the engines' own maximum, 4096 (MAX_FILES_IN_PACK), is only a warning in Yamagi Quake II
MAX_MEMBER = 1 << 28  # bytes


class Member(NamedTuple):
    """A file as the directory has it."""

    place: int
    size: int


def read_directory(stream: IO[bytes], size: int) -> Iterator[tuple[str, Member]]:
    """Yield the names in a .pak of `size` bytes, as they are spelt, and where each is.

    Raises:
        FormatError: it is no .pak, or its directory lies outside it.
        LimitError: it has too many files.
    """
    stream.seek(0)
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise FormatError("it is no .pak", "", MAGIC.decode(), repr(head[:4])[1:])
    _, place, length = HEADER.unpack(head)
    if place + length > size:
        raise FormatError("the archive's directory lies beyond its end", "", f"at most {size} bytes", place + length)
    if length > MAX_ENTRIES * ENTRY.size:
        raise LimitError(f"the archive has {length // ENTRY.size} files, more than {MAX_ENTRIES}")
    stream.seek(place)
    data = stream.read(length - length % ENTRY.size)
    for name, start, count in ENTRY.iter_unpack(data[: len(data) - len(data) % ENTRY.size]):
        yield name.split(b"\0", 1)[0].decode("cp437"), Member(start, count)


def read_member(stream: IO[bytes], size: int, member: Member) -> bytes:
    """Return a file's bytes, from an archive of `size` bytes.

    Raises:
        FormatError: it lies outside the archive.
        LimitError: it is larger than anything sound.
    """
    if member.place + member.size > size:
        raise FormatError("the archive is cut off", f"byte {size}", f"{member.place + member.size} bytes")
    if member.size > MAX_MEMBER:
        raise LimitError(f"it has {member.size} bytes, more than {MAX_MEMBER}")
    stream.seek(member.place)
    return stream.read(member.size)
