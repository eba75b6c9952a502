"""Archives are written member by member: what is not meant stays byte for byte, and a failure leaves the old one."""

import io
import os
import random
import shutil
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.assets.packs import with_members, write_members
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import LimitError, ModelError
from tests.game.packs import PACKS
from tests.packs import Entry, pak_bytes, zip_bytes

OLD = {"a/b.md3": b"first " * 40, "a/c.tga": b"\1\2\3", "readme.txt": b"hello"}


def odd_zip() -> bytes:
    """Return an archive with all that may differ: dates, attributes, extras, comments, a folder."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.mkdir("a")
        for nth, (name, data) in enumerate(OLD.items()):
            info = zipfile.ZipInfo(name, (1999 + nth, 12, 2, 3, 4, 6))
            info.external_attr, info.create_system = (0o640 + nth) << 16, nth
            info.comment, info.extra = b"about " + name.encode(), struct.pack("<HH2s", 0xCAFE, 2, b"xy")
            info.compress_type = zipfile.ZIP_STORED if nth == 1 else zipfile.ZIP_DEFLATED
            pack.writestr(info, data)
        pack.comment = b"made by hand"
    return stream.getvalue()


class Unseekable(io.BytesIO):
    """A stream that zipfile writes sizes to behind the data, as to a pipe."""

    def seekable(self):
        return False

    def seek(self, *_args):
        raise OSError

    def tell(self):
        raise OSError


def members(path):
    with zipfile.ZipFile(path) as pack:
        assert pack.testzip() is None
        return {info.filename: pack.read(info) for info in pack.infolist()}


def facts(path):
    """Return all that a directory says of each member, but for its place."""
    with zipfile.ZipFile(path) as pack:
        names = ("date_time", "external_attr", "internal_attr", "create_system", "comment", "extra", "flag_bits")
        return {
            info.filename: (*(getattr(info, name) for name in names), info.CRC, info.compress_size, info.compress_type)
            for info in pack.infolist()
        }


def raw(path, name):
    """Return a member as it lies in the archive, header and all."""
    with zipfile.ZipFile(path) as pack:
        info = pack.getinfo(name)
    data = path.read_bytes()
    lengths = struct.unpack_from("<HH", data, info.header_offset + 26)
    return data[info.header_offset :][: 30 + sum(lengths) + info.compress_size]


def put(folder, data=None):
    path = folder / "pak.pk3"
    path.write_bytes(odd_zip() if data is None else data)
    return path


# -- what changes, and what does not


def test_a_member_is_replaced_and_all_else_stays(tmp_path):
    path = put(tmp_path)
    before, kept = facts(path), {name: raw(path, name) for name in ("a/c.tga", "readme.txt", "a/")}
    assert write_members(path, {"a/b.md3": b"second " * 99})
    after = facts(path)
    assert members(path) == {"a/": b"", **OLD, "a/b.md3": b"second " * 99}
    assert {name: raw(path, name) for name in kept} == kept
    assert list(after) == list(before), "their order, too"
    assert {name: each for name, each in after.items() if name in kept} == {name: before[name] for name in kept}
    assert after["a/b.md3"][:5] == before["a/b.md3"][:5], "date, attributes, system and comment"
    with zipfile.ZipFile(path) as pack:
        assert pack.comment == b"made by hand"
    assert write_members(path, {"a/b.md3": OLD["a/b.md3"]})
    assert members(path) == {"a/": b"", **OLD}


def test_members_are_added_and_taken_out(tmp_path):
    path = put(tmp_path)
    kept = {name: raw(path, name) for name in ("a/b.md3", "a/c.tga")}
    assert write_members(path, {"d/new.cfg": b"x" * 500, "readme.txt": None, "none": None}, (2004, 5, 6))
    assert members(path) == {"a/": b"", "a/b.md3": OLD["a/b.md3"], "a/c.tga": OLD["a/c.tga"], "d/new.cfg": b"x" * 500}
    assert {name: raw(path, name) for name in kept} == kept
    new = facts(path)["d/new.cfg"]
    assert new[:5] == ((2004, 5, 6, 0, 0, 0), 0o100644 << 16, 0, 3, b"")
    assert new[-1] == zipfile.ZIP_DEFLATED
    assert b"readme.txt" not in path.read_bytes(), "nor is its data there"


def test_in_memory_it_is_the_same(tmp_path):
    path, changes = put(tmp_path), {"a/b.md3": b"new", "x": b"y", "readme.txt": None}
    assert with_members(path.read_bytes(), {"A/b.md3": OLD["a/b.md3"]}) == path.read_bytes()
    made = with_members(path.read_bytes(), changes)
    write_members(path, changes)
    assert path.read_bytes() == made
    path.unlink()
    write_members(path, changes)
    assert path.read_bytes() == with_members(b"", changes)
    with pytest.raises(LimitError, match="can't be the name"):
        with_members(b"", {"../x": b""})


def test_nothing_is_written_where_nothing_changes(tmp_path):
    path = put(tmp_path)
    status, data = path.stat(), path.read_bytes()
    assert not write_members(path, {**OLD, "none": None})
    assert not write_members(path, {"A/B.MD3": OLD["a/b.md3"]})
    assert path.read_bytes() == data
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (status.st_mtime_ns, status.st_ino)


def test_a_name_in_another_case_is_that_member(tmp_path):
    path = put(tmp_path)
    write_members(path, {"A/B.MD3": b"new", "A/d.md3": b"more"})
    assert members(path) == {"a/": b"", **OLD, "a/b.md3": b"new", "A/d.md3": b"more"}
    slashed = put(tmp_path, zip_bytes([Entry("a\\b.md3", b"old")]))
    write_members(slashed, {"a/b.md3": b"new"})
    assert Disk().file(slashed / "a/b.md3").read() == b"new"
    assert slashed.read_bytes().count(b"a\\b.md3") == 2


def test_of_several_of_a_name_the_last_counts(tmp_path):
    path = put(tmp_path, zip_bytes([Entry("a", b"1"), Entry("b", b"2"), Entry("A", b"3")]))
    write_members(path, {"a": b"4"})
    assert Disk().file(path / "a").read() == b"4"
    with zipfile.ZipFile(path) as pack:
        assert pack.namelist() == ["a", "b", "A"]
    write_members(path, {"a": None})
    assert members(path) == {"b": b"2"}


def test_a_new_archive_depends_on_its_members_alone(tmp_path):
    one, other = tmp_path / "one.pk3", tmp_path / "other.pk3"
    noise = random.Random(1).randbytes(300)
    for path in (one, other):
        assert write_members(path, {"models/players/x/a.cfg": b"a" * 99, "ä.txt": b"", "noise": noise, "none": None})
    assert one.read_bytes() == other.read_bytes()
    assert members(one) == {"models/players/x/a.cfg": b"a" * 99, "ä.txt": b"", "noise": noise}
    assert {info[-1] for info in facts(one).values()} == {zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED}
    assert facts(one)["noise"][-1] == zipfile.ZIP_STORED
    assert {info[0] for info in facts(one).values()} == {(1980, 1, 1, 0, 0, 0)}
    assert Disk().file(one / "Ä.txt").is_file()
    empty = tmp_path / "empty.pk3"
    write_members(empty, {})
    assert members(empty) == {}
    write_members(empty, {"a": b"b"})
    assert members(empty) == {"a": b"b"}


@pytest.mark.parametrize("prefix", [b"", b"#!/bin/sh\nexit\n"])
@pytest.mark.parametrize("old", [[], [Entry("a", b"1" * 50), Entry("b", b"2" * 50)]])
def test_what_stands_before_and_behind_stays(tmp_path, prefix, old):
    path = put(tmp_path, zip_bytes(old, prefix, b"PK\5 comment") + b"\0garbage")
    write_members(path, {"b": b"new", "c": b"more"})
    data = path.read_bytes()
    assert data.startswith(prefix)
    assert data.endswith(b"PK\5 comment\0garbage")
    assert [Disk().file(path / name).read() for name in "bc"] == [b"new", b"more"]
    if old:
        assert Disk().file(path / "a").read() == b"1" * 50


def test_sizes_behind_the_data_stay(tmp_path):
    stream = Unseekable()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in OLD.items():
            pack.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    path = put(tmp_path, stream.getvalue())
    assert facts(path)["a/b.md3"][6] & 8
    write_members(path, {"a/c.tga": b"new"})
    assert members(path) == {**OLD, "a/c.tga": b"new"}
    start = stream.getvalue()[: stream.getvalue().index(b"PK\3\4", 4)]
    assert path.read_bytes().startswith(start), "the first one with its sizes"


def test_members_that_share_their_data(tmp_path):
    path = put(tmp_path, zip_bytes([Entry("a", b"same"), Entry("b", b"same", place=0)]))
    data = path.read_bytes()
    at = data.index(b"PK\3\4", 4)
    assert Disk().file(path / "b").read() == b"same"
    path.write_bytes(data)
    write_members(path, {"b": b"other"})
    assert [Disk().file(path / name).read() for name in "ab"] == [b"same", b"other"]
    assert path.read_bytes()[:at] == data[:at]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=60), max_size=6),
    st.dictionaries(st.sampled_from("abcDEFgh"), st.none() | st.binary(max_size=60), max_size=6),
)
def test_any_members(tmp_path_factory, old, new):
    path = tmp_path_factory.mktemp("any") / "a.pk3"
    path.write_bytes(zip_bytes([Entry(name, data) for name, data in old.items()]))
    write_members(path, new)
    wanted = dict(old)
    for name, data in new.items():
        wanted.pop(name.lower(), None)
        wanted |= {} if data is None else {name.lower(): data}
    assert {name.lower(): data for name, data in members(path).items()} == wanted
    again = path.read_bytes()
    assert not write_members(path, new)
    assert path.read_bytes() == again


# -- failures


def refused(path, changes, match):
    before = path.read_bytes()
    with pytest.raises(ModelError, match=match):
        write_members(path, changes)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_damaged_archives_are_not_written(tmp_path):
    whole = odd_zip()
    for data, match in (
        (b"", "it is no archive, or its end is missing"),
        (whole[:-40], "it is no archive, or its end is missing"),
        (whole.replace(b"PK\1\2", b"PK\1\3", 1), "the archive's directory is damaged"),
        (whole.replace(b"PK\3\4", b"PK\3\5", 2), "the archive is damaged: no member begins at byte"),
        (zip_bytes([Entry("a", b"12", packed_size=99), Entry("b")]), "'a' reaches into what follows at byte"),
        (zip_bytes([Entry("a", b"1", flags=1), Entry("b")]), "'a' in it is encrypted, which no game can read"),
        (pak_bytes({"a": b"b"}), "a .pak by its content: only .pk3 archives can be written"),
    ):
        refused(put(tmp_path, data), {"b": b"new"}, f"^can't write into '.*pak.pk3': .*{match}")


def test_a_damaged_member_can_be_replaced(tmp_path):
    path = put(tmp_path, zip_bytes([Entry("a", b"12", checksum=7), Entry("b", b"3")]))
    write_members(path, {"a": b"new"})
    assert members(path) == {"a": b"new", "b": b"3"}
    put(tmp_path, zip_bytes([Entry("a", b"12", checksum=zlib.crc32(b"new"))]))
    write_members(path, {"a": b"new"})
    assert members(path) == {"a": b"new"}, "though the checksum was that of the new one"


def test_names_that_lead_out_are_refused(tmp_path):
    path = put(tmp_path)
    for name in ("../a", "/a", "a//b", "c:a", "a\\b", "", "a/", "a\nb", "a/../b"):
        with pytest.raises(LimitError, match="can't be the name of a file in an archive"):
            write_members(path, {name: b""})


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_archive(tmp_path, monkeypatch, step):
    path = put(tmp_path)

    def fail(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", fail) if step == "fsync" else (type(path), "replace", fail)))
    refused(path, {"a/b.md3": b"new"}, "^can't write '.*pak.pk3': no space left on device$")


def test_a_read_only_archive_stays(tmp_path, monkeypatch):
    path = put(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_args: False)
    refused(path, {"a/b.md3": b"new"}, "^can't write '.*pak.pk3': the file is read-only$")


def test_an_archive_that_changes_meanwhile_stays(tmp_path, monkeypatch):
    path = put(tmp_path)
    make = zlib.compressobj

    def changed(*arguments):
        os.utime(path, ns=(1, 1))
        return make(*arguments)

    monkeypatch.setattr(zlib, "compressobj", changed)
    refused(path, {"a/b.md3": b"new"}, "it has changed while it was read: try again$")


def test_a_folder_is_no_archive(tmp_path):
    folder = tmp_path / "a.pk3"
    folder.mkdir()
    with pytest.raises(ModelError, match=r"it is a folder$"):
        write_members(folder, {"a": b"b"})
    with pytest.raises(ModelError, match=r"no such file or directory$"):
        write_members(tmp_path / "none/a.pk3", {"a": b"b"})


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_a_real_pack(tmp_path):
    path = tmp_path / "pak0.pk3"
    shutil.copyfile(PACKS / path.name, path)
    before, old = facts(path), members(path)
    name = "models/players/sarge/head.md3"
    assert not write_members(path, {name: old[name]})
    assert write_members(path, {name.upper(): b"new", "models/players/sarge/head_2.md3": None})
    after = facts(path)
    assert [each for each in before if each != "models/players/sarge/head_2.md3"] == list(after)
    assert {each for each in after if after[each] != before[each]} == {name}
    assert members(path)[name] == b"new"
    write_members(path, {name: old[name]})
    assert {each: data for each, data in members(path).items() if data != old[each]} == {}
