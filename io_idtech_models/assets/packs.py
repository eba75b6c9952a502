"""Writing .pk3 archives: new ones, and members of those that there are, which come back byte for byte in all else.

A member that is not written is copied as it lies there, with its header, its name's spelling, and whatever stands
behind it; the order, dates, attributes, extras and comments stay. A member whose name differs in case alone is that
member, as it is to games. What is packed anew depends on its data alone, but for the version of zlib.

Layout: see `game.zips`, which reads them.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import IO

from ..game import zips
from ..game.folders import Disk
from ..game.pak import MAGIC as PAK
from ..game.store import GameFile, name_parts
from ..reporting import FormatError, LimitError, ModelError, reason
from .storage import Target, write_archive

DATE = (1980, 1, 1)  # the first that there is in such files
HEADER = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, checksum, sizes, lengths
RECORD = struct.Struct("<4s6H3I5H2I")  # signature, versions, then as above, three lengths, disk, attributes, place
PLACE, COUNT = 42, 8  # of the place in a record, and of the counts in the record at the end
VERSION, UNIX, ORDINARY = 20, 3 << 8, 0o100644 << 16  # deflated members; a file that all may read
MOST = 0xFFFF  # members
LARGEST = 0xFFFFFFFF  # bytes: beyond is ZIP64, which games can't read
CHUNK = 1 << 20
Span = tuple[int, int]
Piece = bytes | Span  # of what is written: bytes, or where they stand in the old archive


@dataclass
class _Old:
    """A member of the archive that there is."""

    name: str
    member: zips.Member
    record: bytes

    @property
    def key(self) -> str:
        """Return the name as games compare it."""
        return _key(self.name)


@dataclass
class _PackPlan:
    """What is to be written."""

    tail: bytes  # the record at the archive's end, with what stands behind it
    shift: int = 0  # by how much the places in an archive are off
    pieces: list[Piece] = field(default_factory=list)
    records: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, piece: Piece) -> int:
        """Add a piece, and return where it begins."""
        place = self.size
        self.size += len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]
        last = self.pieces[-1] if self.pieces else b""
        if isinstance(piece, tuple) and isinstance(last, tuple) and last[1] == piece[0]:
            self.pieces[-1] = (last[0], piece[1])
        else:
            self.pieces.append(piece)
        return place


def write_members(path: Target, members: Mapping[str, bytes | None], date: tuple[int, int, int] = DATE) -> bool:
    """Write members, by their names from the top, into an archive that is there or a new one; None takes one out.

    Returns whether anything has changed: where all members are there already the archive is not touched. `date` (year,
    month, day) is that of new members; those that were there keep theirs.

    Raises:
        ModelError: it can't be written, is damaged, or has encrypted members: it is as it was then; or a name can't be
            one of an archive.
    """
    wanted = _by_key(members)
    file = Disk().file(path)
    try:
        if not file.is_file():
            write_archive(path, partial(_fill, _planned_anew(wanted, date)))
            return True
        stamp = file.stamp
        with file.open() as stream:
            found = _planned(stream, wanted, date)
        if found is not None:
            write_archive(path, partial(_refill, file, stamp, found))
        return found is not None
    except OSError as error:
        raise ModelError(f"can't read '{path}': {reason(error)}") from error
    except (FormatError, LimitError) as error:
        raise ModelError(f"can't write into '{path}': {error}") from error


def with_members(data: bytes, members: Mapping[str, bytes | None], date: tuple[int, int, int] = DATE) -> bytes:
    """Return the bytes of an archive with members as `write_members` writes them; of no bytes a new one.

    Raises:
        ModelError: as there.
    """
    wanted, stream, found = _by_key(members), io.BytesIO(data), io.BytesIO()
    plan = _planned(stream, wanted, date) if data else _planned_anew(wanted, date)
    if plan is None:
        return data
    _fill(plan, found, stream)
    return found.getvalue()


def is_member(name: str) -> bool:
    """Tell whether a file in an archive can have a name, by which games ask for it."""
    return bool(name) and "/".join(name_parts(name)) == name and name.isprintable()


def _by_key(members: Mapping[str, bytes | None]) -> dict[str, tuple[str, bytes | None]]:
    """Return members by their names as games compare them; raises LimitError for what can't be a name."""
    wanted = {}
    for name, data in members.items():
        if not is_member(name):
            raise LimitError(f"'{name}' can't be the name of a file in an archive")
        wanted[_key(name)] = (name, data)
    return wanted


def _planned_anew(wanted: Mapping[str, tuple[str, bytes | None]], date: tuple[int, int, int]) -> _PackPlan:
    plan = _PackPlan(zips.END.pack(b"PK\5\6", 0, 0, 0, 0, 0))
    _add_new(plan, wanted, date)
    return plan


def _key(name: str) -> str:
    return name.replace("\\", "/").lower()


def _planned(
    stream: IO[bytes], wanted: Mapping[str, tuple[str, bytes | None]], date: tuple[int, int, int]
) -> _PackPlan | None:
    """Return what to write into an archive; None if nothing changes."""
    stream.seek(0)
    if stream.read(4) == PAK:
        raise FormatError("it is a .pak by its content: only .pk3 archives can be written")
    size = stream.seek(0, 2)
    end, length, shift = zips.find_end(stream, size)
    stream.seek(end)
    tail = stream.read()
    old = [_Old(*each) for each in zips.read_records(stream, size)]
    encrypted = next((each.name for each in old if each.member.flags & zips.ENCRYPTED), None)
    if encrypted is not None:
        raise LimitError(f"'{encrypted}' in it is encrypted, which no game can read")
    spans = _spans(stream, old, end - length)
    last = {each.key: nth for nth, each in enumerate(old)}  # of several of a name the last counts
    new = {key: name_data for key, name_data in wanted.items() if key not in last and name_data[1] is not None}
    changed = {nth: data for key, (_, data) in wanted.items() if (nth := last.get(key, -1)) >= 0 if data is not None}
    changed = {nth: data for nth, data in changed.items() if not _is_same(stream, size, old[nth], data)}
    gone = {nth for nth, each in enumerate(old) if wanted.get(each.key, ("", b""))[1] is None}
    if not (new or changed or gone):
        return None
    plan = _PackPlan(tail, shift)
    plan.add((0, min(spans, default=end - length)))
    _add_old(plan, old, spans, changed, gone)
    _add_new(plan, new, date)
    return plan


def _spans(stream: IO[bytes], old: Sequence[_Old], end: int) -> dict[int, Span]:
    """Return where each member begins and ends with all that stands behind it, by its begin; raises FormatError."""
    places = sorted({each.member.place for each in old})
    spans = {place: (place, after) for place, after in pairwise([*places, end])}
    for each in old:
        start, after = spans[each.member.place]
        stream.seek(start)
        header = stream.read(zips.HEADER.size)
        if len(header) < zips.HEADER.size or header[:4] != b"PK\3\4":
            raise FormatError("the archive is damaged: no member begins", f"byte {start}")
        _, name, extra = zips.HEADER.unpack(header)
        if start + len(header) + name + extra + each.member.packed > after:
            raise FormatError(f"the archive is damaged: '{each.name}' reaches into what follows", f"byte {after}")
    return spans


def _is_same(stream: IO[bytes], size: int, old: _Old, data: bytes) -> bool:
    """Tell whether a member has these bytes already; one that can't be read has not."""
    if old.member.checksum != zlib.crc32(data):
        return False
    try:
        return zips.read_member(stream, size, old.member) == data
    except ModelError:
        return False


def _add_old(
    plan: _PackPlan, old: Sequence[_Old], spans: Mapping[int, Span], changed: Mapping[int, bytes], gone: set[int]
) -> None:
    """Plan the members that there are, in their order, changed or not."""
    sharing = Counter(each.member.place for nth, each in enumerate(old) if nth not in gone)
    new = {each.member.place: nth for nth, each in enumerate(old) if nth in changed and sharing[each.member.place] == 1}
    moved: dict[int, int] = {}
    made: dict[int, bytes] = {}
    for start, span in spans.items():
        if not sharing[start]:
            continue
        if start in new:
            header, made[new[start]] = _packed_again(old[new[start]], changed[new[start]])
            moved[start] = plan.add(header)
        else:
            moved[start] = plan.add(span)
    for nth, each in enumerate(old):
        if nth in gone:
            continue
        place, record = moved[each.member.place], made.get(nth, each.record)
        if nth in changed and nth not in made:
            header, record = _packed_again(each, changed[nth])
            place = plan.add(header)
        plan.records.append(_placed(record, place - plan.shift))


def _add_new(plan: _PackPlan, new: Mapping[str, tuple[str, bytes | None]], date: tuple[int, int, int]) -> None:
    year, month, day = date
    for name, data in new.values():
        if data is not None:
            stamp = (0, (year - 1980) << 9 | month << 5 | day)
            spelt, flags = name.encode(), 0 if name.isascii() else zips.UTF_8
            member, record = _packed(spelt, flags, stamp, data, (UNIX | VERSION, 0, ORDINARY, b""))
            plan.records.append(_placed(record, plan.add(member) - plan.shift))


def _packed_again(old: _Old, data: bytes) -> tuple[bytes, bytes]:
    """Return a member with other data, and its record: its name, date, attributes and comment stay."""
    fields = RECORD.unpack_from(old.record)
    made_by, flags, times, lengths, attributes = fields[1], fields[3], fields[5:7], fields[10:13], fields[14:16]
    name = old.record[RECORD.size : RECORD.size + lengths[0]]
    comment = old.record[len(old.record) - lengths[2] :] if lengths[2] else b""
    return _packed(name, flags & zips.UTF_8, times, data, (made_by, *attributes, comment))


def _packed(
    name: bytes, flags: int, times: tuple[int, ...], data: bytes, more: tuple[int, int, int, bytes]
) -> tuple[bytes, bytes]:
    """Return a member and its record, deflated unless it is smaller as it is."""
    deflater = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed, method = deflater.compress(data) + deflater.flush(), zips.DEFLATED
    if len(packed) >= len(data):
        packed, method = data, zips.STORED
    made_by, internal, external, comment = more
    facts = (VERSION, flags, method, *times, zlib.crc32(data), len(packed), len(data), len(name))
    record = RECORD.pack(b"PK\1\2", made_by, *facts, 0, len(comment), 0, internal, external, 0)
    return HEADER.pack(b"PK\3\4", *facts, 0) + name + packed, record + name + comment


def _placed(record: bytes, place: int) -> bytes:
    if place > LARGEST:
        raise LimitError(f"the archive would have more than {LARGEST} bytes, games can't read it")
    return record[:PLACE] + struct.pack("<I", place) + record[PLACE + 4 :]


def _refill(file: GameFile, stamp: Hashable, plan: _PackPlan, stream: IO[bytes]) -> None:
    """Write what is planned of an archive that is there, and closed again when the new one takes its place."""
    if file.stamp != stamp:
        raise FormatError("it has changed while it was read: try again")
    with file.open() as old:
        _fill(plan, stream, old)


def _fill(plan: _PackPlan, stream: IO[bytes], old: IO[bytes] | None = None) -> None:
    """Write what is planned; raises ModelError."""
    if len(plan.records) > MOST:
        raise LimitError(f"the archive would have {len(plan.records)} members, games take up to {MOST}")
    for piece in plan.pieces:
        for chunk in [piece] if isinstance(piece, bytes) else _chunks(old, piece):
            stream.write(chunk)
    directory = b"".join(plan.records)
    if plan.size + len(directory) - plan.shift > LARGEST:
        raise LimitError(f"the archive would have more than {LARGEST} bytes, games can't read it")
    counts = struct.pack("<HHII", len(plan.records), len(plan.records), len(directory), plan.size - plan.shift)
    stream.write(directory + plan.tail[:COUNT] + counts + plan.tail[COUNT + len(counts) :])


def _chunks(stream: IO[bytes] | None, span: Span) -> Iterator[bytes]:
    assert stream is not None
    place, end = span
    stream.seek(place)
    while place < end:
        chunk = stream.read(min(CHUNK, end - place))
        if not chunk:
            raise FormatError("the archive is cut off", f"byte {place}")
        place += len(chunk)
        yield chunk
