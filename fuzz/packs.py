"""Archives: their records, small ones to begin with, and what is promised of all."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice

import numpy as np

from fuzz.guard import BrokenError
from io_idtech_models.assets.packs import with_members
from io_idtech_models.game import archives, zips
from io_idtech_models.game.store import name_parts
from io_idtech_models.reporting import ModelError
from tests.packs import Entry, pak_bytes, zip_bytes

KINDS = ("pk3", "pak")
MEMORY = 5  # a member may become a hundred times what it is in the archive, for a moment twice
MOST_MEMBERS, MOST_RECORDS = 8, 64  # that are read, that are mutated
LOCAL = np.dtype([
    ("signature", "S4"), ("version", "<u2"), ("flags", "<u2"), ("method", "<u2"), ("time", "<u4"), ("checksum", "<u4"),
    ("ofs_packed", "<u4"), ("size", "<u4"), ("name_length", "<u2"), ("extra_length", "<u2"),
])  # fmt: skip
ENTRY = np.dtype([
    ("signature", "S4"), ("versions", "<u4"), ("flags", "<u2"), ("method", "<u2"), ("time", "<u4"), ("checksum", "<u4"),
    ("ofs_packed", "<u4"), ("size", "<u4"), ("name_length", "<u2"), ("extra_length", "<u2"), ("comment_length", "<u2"),
    ("disk", "<u2"), ("attributes", "<u2"), ("more_attributes", "<u4"), ("ofs_member", "<u4"), ("name", "S8"),
])  # fmt: skip
END = np.dtype([
    ("signature", "S4"), ("disks", "<u4"), ("here", "<u2"), ("entries", "<u2"), ("ofs_length", "<u4"),
    ("ofs_directory", "<u4"), ("comment_length", "<u2"),
])  # fmt: skip
PAK_HEADER = np.dtype([("magic", "S4"), ("ofs_directory", "<i4"), ("length", "<i4")])
PAK_ENTRY = np.dtype([("name", "S56"), ("ofs_file", "<i4"), ("length", "<i4")])


def records(kind: str, data: bytes) -> Iterator[tuple[int, np.dtype[np.void], int]]:
    """Yield where records lie, of which dtype, and how many."""
    if kind == "pak":
        yield 0, PAK_HEADER, 1
        if len(data) >= PAK_HEADER.itemsize:
            head = np.frombuffer(data, PAK_HEADER, 1)[0]
            yield int(head["ofs_directory"]), PAK_ENTRY, int(head["length"]) // PAK_ENTRY.itemsize
        return
    yield data.rfind(b"PK\5\6"), END, 1
    for signature, dtype in ((b"PK\1\2", ENTRY), (b"PK\3\4", LOCAL)):
        place = data.find(signature)
        for _ in range(MOST_RECORDS):
            if place < 0:
                break
            yield place, dtype, 1
            place = data.find(signature, place + 4)


def samples(kind: str) -> tuple[bytes, ...]:
    """Return small archives."""
    files = {"models/a.md3": b"IDP3" * 40, "models/Sub/b.tga": bytes(5000), "\\odd//c.md3": b"", "d.cfg": b"d" * 9}
    if kind == "pak":
        return pak_bytes(files), pak_bytes({}), pak_bytes([("a.md2", b"1"), ("A.md2", b"22")])
    plain = [Entry(name, data, method=8 * (index % 2)) for index, (name, data) in enumerate(files.items())]
    odd = [Entry("models/"), Entry("a.md3", b"x" * 99), Entry("A.md3", b"y", flags=1 << 11), Entry("../e.md3", b"z")]
    large = [Entry("bomb.tga", bytes(1 << 18)), Entry("grün.md3".encode(), b"g", flags=1 << 11)]
    return zip_bytes(plain), zip_bytes(odd, prefix=b"#!\n", comment=b"said"), zip_bytes(large), zip_bytes([])


def check(data: bytes) -> None:
    """Read an archive, and the first few of its members."""
    found = archives.read_directory(io.BytesIO(data), len(data))
    count = 0
    for key, (spelt, files) in found.folders.items():
        if key != spelt.lower() or found.spelt(key) is None:
            raise BrokenError("a folder that can't be found")
        for name, (last, _) in files.items():
            parts = [*(spelt.split("/") if spelt else []), last]
            if name != last.lower() or not last.isprintable() or name_parts("/".join(parts)) != parts:
                raise BrokenError("a name that no game can reach")
            count += 1
    if count + len(found.refused) > found.count:
        raise BrokenError("more files than entries")
    members = (member for _, files in found.folders.values() for _, member in files.values())
    for member in islice(members, MOST_MEMBERS):
        try:
            found.codec.read_member(io.BytesIO(data), len(data), member)
        except ModelError as error:
            if "\n" in str(error):
                raise BrokenError("more than one sentence") from error
    if found.codec is zips and data:
        _check_writing(data)


def _check_writing(data: bytes) -> None:
    """Write members into an archive: all others are there as they were; raises BrokenError, and ModelError."""
    before = _read_all(data)
    name = next(iter(before), "models/a.md3")
    after = _read_all(with_members(data, {name: b"changed", "new/b.cfg": b"new"}))
    wanted = before | {name: b"changed", "new/b.cfg": b"new"}
    if set(after) != set(wanted) or any(after[key] != own for key, own in wanted.items() if own is not None):
        raise BrokenError("a member was lost or changed")


def _read_all(data: bytes) -> dict[str, bytes | None]:
    """Return the members of an archive by their names in lower case; None for one that can't be read."""
    read: dict[str, bytes | None] = {}
    found = archives.read_directory(io.BytesIO(data), len(data))
    for folder, (_, files) in found.folders.items():
        for name, (_, member) in files.items():
            try:
                own = found.codec.read_member(io.BytesIO(data), len(data), member)
            except ModelError:
                own = None
            read[f"{folder}/{name}" if folder else name] = own
    return read
