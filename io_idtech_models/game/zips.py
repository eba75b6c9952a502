"""Zip files as games read them (.pk3, .pk4, .pkz, .pk2): the directory at the end, and members stored or deflated.

Layout (PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16; little-endian): a record at the file's end, followed by a
comment of up to 65,535 bytes, says where the directory lies and how long it is; the directory holds a record for each
member, with its name, sizes, method, checksum and the place of a header before its data. What stands before the first
member moves all places, which then are counted from the archive's own start.

Python's `zipfile` is not used: it takes time and memory for what is not needed here, refuses archives whose headers
spell a name otherwise than the directory (which games never look at), and has errors of many kinds for damaged ones.

Games know neither encryption nor other methods than 0 and 8, nor ZIP64. A member's data is bounded by what is actually
inflated, whatever its record declares.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

from ..reporting import FormatError, LimitError

END = struct.Struct("<4s4xHHIIH")  # signature, entries here and of all disks, size and place of the directory, comment
END64 = struct.Struct("<4s28xQ16x")  # of ZIP64, before `END`: signature, entries
LOCATOR = 20  # bytes of what says where that is, signed PK 6 7
RECORD = struct.Struct("<4s4xHH4xIIIHHH8xI")  # signature, flags, method, checksum, sizes, lengths of texts, place
HEADER = struct.Struct("<4s22xHH")  # signature, lengths of the name and of extras
ENCRYPTED, UTF_8 = 1, 1 << 11  # flags
STORED, DEFLATED = 0, 8  # methods
MAX_COMMENT = (1 << 16) - 1
MAX_ENTRIES = 1 << 17  # twice what a zip that games can read has room for
MAX_MEMBER = 1 << 28  # bytes
# So many times its own size, and these bytes, a member may become: models and pictures deflate to a tenth, a picture of
# one colour to a thousandth.
MAX_RATIO, SPARE = 100, 1 << 24


class Member(NamedTuple):
    """A member as the directory has it; `place` counts from the start of the file."""

    flags: int
    method: int
    checksum: int
    packed: int  # bytes
    place: int


def read_directory(stream: IO[bytes], size: int) -> Iterator[tuple[str, Member]]:
    """Yield the names in a zip file of `size` bytes, as they are spelt, and where each is.

    Raises:
        FormatError: it is no zip file, or cut off, or damaged.
        LimitError: it has too many members.
    """
    return ((name, member) for name, member, _ in read_records(stream, size))


def read_records(stream: IO[bytes], size: int) -> Iterator[tuple[str, Member, bytes]]:
    """Yield each name in a zip file, where its data is, and its whole record; raises as `read_directory` does."""
    end, length, shift = find_end(stream, size)
    stream.seek(end - length)
    data, place, count = stream.read(length), 0, 0
    while place + RECORD.size <= len(data):
        fields = RECORD.unpack_from(data, place)
        signature, flags, method, checksum, packed, _, name, extra, comment, start = fields
        if signature != b"PK\1\2":
            raise FormatError("the archive's directory is damaged", f"byte {end - length + place}")
        text = data[place + RECORD.size : place + RECORD.size + name]
        after = place + RECORD.size + name + extra + comment
        record, place = data[place:after], after
        count += 1
        if count > MAX_ENTRIES:
            raise LimitError(f"the archive has more than {MAX_ENTRIES} members")
        yield _spelt(text, flags), Member(flags, method, checksum, packed, start + shift), record
    if place != len(data):
        raise FormatError("the archive's directory is cut off", f"byte {end}")


def find_end(stream: IO[bytes], size: int) -> tuple[int, int, int]:
    """Return where the directory ends, how long it is, and by how many bytes places are off."""
    start = max(size - MAX_COMMENT - END.size, 0)
    stream.seek(start)
    tail = stream.read(size - start)
    found = tail.rfind(b"PK\5\6", 0, max(len(tail) - END.size + 4, 0))
    if found < 0:
        raise FormatError("it is no archive, or its end is missing")
    _, _, count, length, place, _ = END.unpack_from(tail, found)
    end = start + found
    if 0xFFFFFFFF in (length, place) or tail[:found][-LOCATOR:].startswith(b"PK\6\7"):
        raise LimitError(f"it is a ZIP64 archive{_count_of(tail[:found])}, which games can't read")
    if length > end or place > end - length:
        raise FormatError("the archive's directory is not where it should be", "", f"byte {place}", f"{end} before it")
    if count and not length:
        raise FormatError("the archive's directory is missing", "", f"{count} members")
    return end, length, end - length - place


def _count_of(tail: bytes) -> str:
    """Return how many members a ZIP64 archive says that it has, in words, by what stands before its last record."""
    record = tail[-LOCATOR - END64.size : -LOCATOR]
    if len(record) < END64.size or not record.startswith(b"PK\6\6"):
        return ""
    return f" of {END64.unpack(record)[1]} members"


def _spelt(text: bytes, flags: int) -> str:
    if text.isascii():
        return text.decode("ascii")
    return text.decode("utf-8", errors="replace") if flags & UTF_8 else text.decode("cp437")


def read_member(stream: IO[bytes], size: int, member: Member) -> bytes:
    """Return a member's bytes, from an archive of `size` bytes.

    Raises:
        FormatError: it is damaged.
        LimitError: it is encrypted, packed in a way that games don't know, or larger than anything sound.
    """
    if member.flags & ENCRYPTED:
        raise LimitError("it is encrypted, which no game can read")
    if member.method not in (STORED, DEFLATED):
        raise LimitError(f"it is packed by method {member.method}: games know 0 (stored) and 8 (deflated)")
    if member.packed > MAX_MEMBER:
        raise LimitError(f"it has {member.packed} bytes in the archive, more than {MAX_MEMBER}")
    stream.seek(member.place)
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size or not header.startswith(b"PK\3\4"):
        raise FormatError("the archive is damaged: no member begins", f"byte {member.place}")
    _, name, extra = HEADER.unpack(header)
    start = member.place + HEADER.size + name + extra
    if start + member.packed > size:
        raise FormatError("the archive is cut off", f"byte {size}", f"{start + member.packed} bytes")
    stream.seek(start)
    data = stream.read(member.packed)
    if member.method == DEFLATED:
        data = _inflated(data)
    if zlib.crc32(data) != member.checksum:
        raise FormatError("the archive is damaged: a member has another checksum than the directory says")
    return data


def _inflated(data: bytes) -> bytes:
    most = min(SPARE + MAX_RATIO * len(data), MAX_MEMBER)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = inflater.decompress(data, most + 1)
    except zlib.error as error:
        raise FormatError(f"the archive is damaged: a member can't be inflated ({error})") from error
    if len(found) > most:
        raise LimitError(f"its {len(data)} bytes in the archive become more than {most}, which nothing sound does")
    if not inflater.eof:
        raise FormatError("the archive is damaged: a member ends too early")
    return found
