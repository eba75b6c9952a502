"""Archives of games, made here field by field: sound ones, and ones that lie about what they hold."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Entry:
    """A member of a zip file; what is None is as it should be."""

    name: str | bytes
    data: bytes = b""
    method: int = 8
    flags: int = 0
    checksum: int | None = None
    packed: bytes | None = None  # what stands in the archive
    packed_size: int | None = None  # what the directory says
    size: int | None = None
    place: int | None = None
    attributes: int = 0
    local_name: bytes | None = None
    extra: bytes = b""

    def bytes_name(self) -> bytes:
        return self.name if isinstance(self.name, bytes) else self.name.encode("cp437")


def deflated(data: bytes) -> bytes:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflater.compress(data) + deflater.flush()


def zip_bytes(entries: Sequence[Entry], prefix: bytes = b"", comment: bytes = b"") -> bytes:
    """Return a zip file; places in it count from behind `prefix`."""
    body, directory = b"", b""
    for entry in entries:
        name = entry.bytes_name()
        packed = entry.packed
        if packed is None:
            packed = deflated(entry.data) if entry.method == 8 else entry.data
        checksum = zlib.crc32(entry.data) if entry.checksum is None else entry.checksum
        size = len(entry.data) if entry.size is None else entry.size
        counts = (checksum, len(packed) if entry.packed_size is None else entry.packed_size, size)
        place = len(body) if entry.place is None else entry.place
        local = name if entry.local_name is None else entry.local_name
        fields = (20, entry.flags, entry.method, 0, 0, *counts)
        body += (
            struct.pack("<4s5H3I2H", b"PK\3\4", *fields, len(local), len(entry.extra)) + local + entry.extra + packed
        )
        ends = (len(name), 0, 0, 0, 0, entry.attributes, place)
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, *fields, *ends) + name
    end = (0, 0, min(len(entries), 65535), min(len(entries), 65535), len(directory), len(body), len(comment))
    return prefix + body + directory + struct.pack("<4s4H2IH", b"PK\5\6", *end) + comment


def pak_bytes(files: Mapping[str, bytes] | Sequence[tuple[str, bytes]]) -> bytes:
    """Return a .pak."""
    given = list(files.items()) if isinstance(files, Mapping) else list(files)
    body, directory = b"", b""
    for name, data in given:
        directory += struct.pack("<56sii", name.encode("cp437"), 12 + len(body), len(data))
        body += data
    return struct.pack("<4sii", b"PACK", 12 + len(body), len(directory)) + body + directory


def put_pack(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write an archive, of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".pak":
        path.write_bytes(pak_bytes(files))
    else:
        path.write_bytes(zip_bytes([Entry(name, data) for name, data in files.items()]))
    return path


def put_files(folder: Path, files: Mapping[str, bytes], changed: Mapping[str, bytes | None] | None = None) -> None:
    """Write loose files; `changed` by the file's name, with _ for dots: other bytes, None for no file."""
    for name, data in files.items():
        given = (changed or {}).get(name.rpartition("/")[2].replace(".", "_"), data)
        if given is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(given)
