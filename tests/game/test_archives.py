"""Archives are read where they lie: sound ones whole, hostile and damaged ones in no way that does harm."""

import os
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.assets.load import load
from io_idtech_models.game import archives, pak, zips
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.search import SearchPath, game_name, model_name
from io_idtech_models.game.store import GameFile, Store
from io_idtech_models.reporting import ModelError, collected_warnings
from tests.packs import Entry, deflated, pak_bytes, put_files, put_pack, zip_bytes
from tests.samples import CORPUS, sample
from tests.stores import contents

POSIX = os.name == "posix"
PACKS = sorted((CORPUS / "openarena" / "baseoa").glob("*.pk3"))
real_packs = pytest.mark.skipif(not PACKS, reason="the corpus of real files is not here")
FILES = {
    "models/Crate/crate.md3": b"model", "models/Crate/Oak.TGA": b"oak", "scripts/a.shader": b"script", "top.cfg": b"",
}  # fmt: skip
# The record of a member whose name is said to be five bytes longer than the directory.
LONG_NAME = struct.pack("<4s24xH16x", b"PK\1\2", 5)
kinds = pytest.mark.parametrize("name", ["pak0.pk3", "PAK0.PK4", "pak0.pkz", "pak0.pk2", "pak0.zip", "pak0.pak"])


def member(pack: Path, inner: str) -> GameFile:
    return Disk().file(pack / inner)


def of(tmp_path: Path, *entries: Entry, **options: bytes) -> Path:
    pack = tmp_path / "p.pk3"
    pack.write_bytes(zip_bytes(entries, **options))
    return pack


def held(pack: Path) -> list[str]:
    return sorted("/".join((*folders, file.name)) for folders, file in Disk().store(pack).walk())


def refused(pack: Path, inner: str, said: str) -> None:
    """Assert that a member can't be read, and what is said, in one sentence."""
    with pytest.raises(ModelError, match=said) as raised:
        member(pack, inner).read()
    assert "\n" not in str(raised.value)


# -- sound ones


@kinds
def test_a_member_is_a_file_as_any_other(tmp_path, name):
    pack = put_pack(tmp_path / "base" / name, FILES)
    file = member(pack, "models/Crate/crate.md3")
    assert file.read() == b"model"
    with file.open() as stream:
        assert stream.read(3) == b"mod"
    assert file.is_file() and file.path is None
    assert file.place == str(pack / "models/Crate/crate.md3")
    assert (file.name, file.stem, file.suffix) == ("crate.md3", "crate", ".md3")
    assert game_name(file) == "models/Crate/crate.md3"
    assert held(pack) == sorted(FILES)


@kinds
def test_names_count_whatever_their_case(tmp_path, name):
    pack = put_pack(tmp_path / name, FILES)
    assert member(pack, "MODELS/crate/CRATE.MD3").read() == b"model"
    found: Any = Disk().store(pack).find_first(["MODELS", "crate"], ["none.tga", "oak.tga"])
    assert found.place == str(pack / "models/Crate/Oak.TGA"), "as the archive spells it"
    assert found.layer == member(pack, "models/CRATE/x").layer
    assert hash(found.layer) == hash(member(pack, "models/CRATE/x").layer)
    assert found.layer != member(pack, "models/x").layer


@kinds
def test_what_is_not_there(tmp_path, name):
    pack = put_pack(tmp_path / name, FILES)
    assert not member(pack, "models/none.md3").is_file()
    for inner in ("models/none.md3", "models/../top.cfg"):
        refused(pack, inner, r"^no such file in the archive$")
    for folder in ("models", "models/Crate"):
        refused(pack, folder, r"^it is a folder, not a file$")
    store = Disk().store(pack)
    assert store.find_first(["models"], ["crate"]) is None
    assert store.find_first(["model"], ["crate"]) is None
    assert store.below(["mod"]) == []
    assert Disk().store(pack / "nowhere").names() == []


def test_folders_in_an_archive(tmp_path):
    store: Store | None = Disk().store(put_pack(tmp_path / "p.pk3", FILES) / "MODELS/crate")
    assert store is not None
    assert store.names() == ["crate.md3", "Oak.TGA"]
    around = []
    while store is not None:
        around.append(store.name)
        store = store.parent
    assert around == ["crate", "MODELS", ""]
    top = Disk().store(tmp_path / "p.pk3")
    assert top.names() == ["top.cfg"]
    (inner,) = top.below(["models"])
    assert (inner.name, inner.names()) == ("models", [])
    assert top.holder("x") is top
    assert top.path_of("top.cfg") is None


def test_a_folder_called_as_an_archive_is_a_folder(tmp_path):
    put_files(tmp_path, {"pak0.pk3/models/a.md3": b"loose"})
    file = Disk().file(tmp_path / "pak0.pk3/models/a.md3")
    assert file.path == tmp_path / "pak0.pk3/models/a.md3"
    assert file.read() == b"loose"


def test_the_archive_itself_is_a_file_on_disk(tmp_path):
    pack = put_pack(tmp_path / "pak0.pk3", FILES)
    assert Disk().file(pack).path == pack


def test_an_archive_in_an_archive_is_not_opened(tmp_path):
    inner = zip_bytes([Entry("a.md3", b"deep")])
    pack = put_pack(tmp_path / "pak0.pk3", {"inner.pk3": inner})
    assert member(pack, "inner.pk3").read() == inner
    refused(pack, "inner.pk3/a.md3", "no such file in the archive")
    assert SearchPath(member(pack, "models/x.md3")).find_image("a") is None


def test_the_content_says_which_kind_it_is(tmp_path):
    (tmp_path / "a.pak").write_bytes(zip_bytes([Entry("x.md2", b"zip")]))
    (tmp_path / "b.pk3").write_bytes(pak_bytes({"x.md2": b"pak"}))
    assert [member(tmp_path / name, "x.md2").read() for name in ("a.pak", "b.pk3")] == [b"zip", b"pak"]


@pytest.mark.parametrize("options", [{}, {"prefix": b"#!/bin/sh\n" * 9}, {"comment": b"PK\1\2 said" * 999}])
def test_what_stands_before_and_behind_does_not_matter(tmp_path, options):
    pack = of(tmp_path, Entry("a.md3", b"one" * 99), Entry("b.md3", b"two", method=0), **options)
    assert [member(pack, name).read() for name in ("a.md3", "b.md3")] == [b"one" * 99, b"two"]


def test_zip_files_that_python_makes(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.pk3", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("models/a.md3", b"abc" * 999)
        made.writestr("models/größe/ä.md3", b"x")
        made.mkdir("empty")
        made.comment = b"made by a test"
    assert held(tmp_path / "p.pk3") == ["models/a.md3", "models/größe/ä.md3"]
    assert member(tmp_path / "p.pk3", "models/GRÖSSE/Ä.md3").is_file() is False, "that would be more than case"
    assert member(tmp_path / "p.pk3", "models/GRÖßE/Ä.md3").read() == b"x"


def test_an_empty_archive(tmp_path):
    for data in (zip_bytes([]), pak_bytes({})):
        (tmp_path / "p.pk3").write_bytes(data)
        assert held(tmp_path / "p.pk3") == []


def test_a_model_in_an_archive(tmp_path):
    files = {"models/Stilt/tris.md2": sample("animated", "md2"), "models/animated/body.pcx": b"x"}
    pack = put_pack(tmp_path / "baseq2/pak0.pak", files)
    file = member(pack, "models/stilt/TRIS.md2")
    assert model_name(file) == "stilt"
    model = load(file).model
    found = [SearchPath(file).find_image(shader) for shader in model.surfaces[0].shaders]
    assert [None if each is None else each.place for each in found] == [str(pack / "models/animated/body.pcx"), None]


def test_the_order_of_entries_does_not_matter(tmp_path):
    results = []
    files = FILES | {"MODELS/CRATE/elm.tga": b"", "models/crate/ash.tga": b""}
    for names in (sorted(files), sorted(files, reverse=True)):
        pack = put_pack(tmp_path / "p.pk3", {name: files[name] for name in names})
        store = Disk().store(pack)
        results.append((held(pack), store.names(), store.below(["models", "crate"])[0].names()))
    assert results[0] == results[1]


# -- hostile ones


@pytest.mark.parametrize(
    "name",
    [
        "../a.md3", "models/../../a.md3", "..\\a.md3", "models\\..\\..\\a.md3", "..", "models/..", "C:/a.md3",
        "c:a.md3", "C:\\a.md3", "models::a.md3", "models/a.md3:stream", "a\0b.md3", "models/\0/a.md3",
        "models/\n/a.md3", "\x1b[2J.md3", "models/ .. /a.md3", "/..", ". .", "x" * 1025, "",
    ],
)  # fmt: skip
def test_names_that_lead_out_or_are_none_are_left_out(tmp_path, name):
    pack = of(tmp_path, Entry(name.encode("latin-1"), b"bad"), Entry("models/good.md3", b"good"))
    assert held(pack) == ["models/good.md3"]
    directory = Disk().archive(Disk().file(pack)).directory()
    assert directory.refused == [name]
    if name and len(name) < 56 and "\0" not in name:
        (tmp_path / "p.pak").write_bytes(pak_bytes([(name, b"bad"), ("good.md3", b"good")]))
        assert held(tmp_path / "p.pak") == ["good.md3"]


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("/models/a.md3", "models/a.md3"), ("//models//a.md3", "models/a.md3"),
        ("models\\Sub\\a.md3", "models/Sub/a.md3"),
        ("\\models\\a.md3", "models/a.md3"), ("./models/./a.md3", "models/a.md3"), ("models/.a.md3", "models/.a.md3"),
        ("models/a..b.md3", "models/a..b.md3"), ("\\\\host\\share\\a.md3", "host/share/a.md3"),
    ],
)  # fmt: skip
def test_names_that_are_spelt_oddly(tmp_path, stored, found):
    assert held(of(tmp_path, Entry(stored, b"x"))) == [found]
    assert member(tmp_path / "p.pk3", found).read() == b"x"


def test_of_two_of_one_name_the_later_counts(tmp_path):
    entries = [("a.md3", b"first"), ("A.MD3", b"second"), ("\\a.md3", b"third"), ("b.md3", b"other")]
    pack = of(tmp_path, *(Entry(*entry) for entry in entries))
    assert member(pack, "a.md3").read() == b"third"
    assert held(pack) == ["a.md3", "b.md3"]
    (tmp_path / "p.pak").write_bytes(pak_bytes(entries[:2]))
    assert member(tmp_path / "p.pak", "a.md3").read() == b"second"
    assert held(tmp_path / "p.pak") == ["A.MD3"]


def test_a_link_in_an_archive_is_a_file(tmp_path):
    pack = of(tmp_path, Entry("models/a.tga", b"/etc/passwd", attributes=0o120777 << 16))
    assert member(pack, "models/a.tga").read() == b"/etc/passwd"


def test_folders_have_no_files_of_their_own(tmp_path):
    assert held(of(tmp_path, Entry("models/"), Entry("models\\sub\\"), Entry("a.md3"))) == ["a.md3"]


@pytest.mark.parametrize("size", [None, 10], ids=["as large as it says", "larger than it says"])
def test_a_bomb_is_not_inflated_and_takes_no_memory(tmp_path, size):
    pack = of(tmp_path, Entry("a.tga", bytes(8 * zips.SPARE), size=size), Entry("b.md3", b"y"))
    assert member(pack, "b.md3").read() == b"y"
    tracemalloc.start()
    try:
        refused(pack, "a.tga", r"^its \d+ bytes in the archive become more than \d+, which nothing sound")
        assert tracemalloc.get_traced_memory()[1] < 4 * zips.SPARE
    finally:
        tracemalloc.stop()


def test_a_picture_of_one_colour_is_no_bomb(tmp_path):
    data = bytes(3 * 2048 * 2048)
    assert member(of(tmp_path, Entry("a.tga", data, size=1)), "a.tga").read() == data


def test_a_member_is_at_most_so_large(tmp_path, monkeypatch):
    monkeypatch.setattr(zips, "MAX_MEMBER", 1000)
    monkeypatch.setattr(pak, "MAX_MEMBER", 1000)
    pack = of(tmp_path, Entry("a.md3", b"x" * 1001, method=0), Entry("b.md3", b"x" * 1001), Entry("c.md3", b"x" * 1000))
    refused(pack, "a.md3", r"^it has 1001 bytes in the archive, more than 1000$")
    refused(pack, "b.md3", r"become more than 1000")
    assert member(pack, "c.md3").read() == b"x" * 1000
    pack = put_pack(tmp_path / "p.pak", {"a.md2": b"x" * 1001, "b.md2": b"x" * 1000})
    refused(pack, "a.md2", r"^it has 1001 bytes, more than 1000$")
    assert member(pack, "b.md2").read() == b"x" * 1000


def test_all_that_is_read_of_an_archive_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "TOTAL_SPARE", 1000)
    monkeypatch.setattr(archives, "MAX_TOTAL", 0)
    file = member(of(tmp_path, Entry("a.md3", b"x" * 400)), "a.md3")
    assert file.read() == file.read()
    with pytest.raises(ModelError, match=r"^the archive's \d+ bytes have become 1200, which nothing sound does$"):
        file.read()


def test_there_is_an_end_to_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(zips, "MAX_ENTRIES", 3)
    monkeypatch.setattr(pak, "MAX_ENTRIES", 3)
    assert len(held(of(tmp_path, *(Entry(f"{i}.md3") for i in range(3))))) == 3
    refused(of(tmp_path, *(Entry(f"{i}.md3") for i in range(4))), "0.md3", "more than 3 members")
    refused(put_pack(tmp_path / "p.pak", {f"{i}.md2": b"" for i in range(4)}), "0.md2", "has 4 files, more than 3")


def test_deep_folders_take_no_more_than_others(tmp_path):
    name = "a/" * 500 + "x.md3"
    pack = of(tmp_path, *(Entry(f"{i}/{name}") for i in range(200)))
    assert len(Disk().archive(Disk().file(pack)).directory().folders) == 201
    assert Disk().store(pack).below(["199", *["a"] * 499])[0].name == "a"
    assert len(held(pack)) == 200


# -- damaged ones


LONG = b"a model, and more of it" * 9


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        (r"^it is encrypted, which no game can read$", Entry("a.md3", b"x", flags=1)),
        *(
            (rf"^it is packed by method {method}: games know 0 \(stored\) and 8 \(defl", Entry("a.md3", b"x", method))
            for method in (1, 9, 12, 14, 93, 99)
        ),
        ("checksum", Entry("a.md3", b"x", checksum=7)),
        ("can't be inflated", Entry("a.md3", b"x", packed=b"\xff\xff\xff")),
        ("ends too early", Entry("a.md3", LONG, packed=deflated(LONG)[:-4])),
        ("cut off", Entry("a.md3", b"x", packed_size=5000)),
        *(("no member begins", Entry("a.md3", b"x", place=place)) for place in (3, 4000, 0xFFFFFFF0)),
    ],
)
def test_a_member_that_can_not_be_read(tmp_path, said, entry):
    pack = of(tmp_path, Entry("b.md3", b"y"), entry)
    refused(pack, "a.md3", said)
    assert member(pack, "b.md3").read() == b"y", "but the others can"


def test_what_a_header_calls_its_member_does_not_matter(tmp_path):
    pack = of(tmp_path, Entry("a.md3", b"x", local_name=b"other/name.md3", extra=b"1234"))
    assert member(pack, "a.md3").read() == b"x"


def test_no_cut_gives_a_traceback(tmp_path):
    for data in (zip_bytes([Entry("models/a.md3", b"abc" * 50), Entry("b.md3", b"x")]), pak_bytes({"a.md3": b"abc"})):
        for length in range(len(data)):
            (tmp_path / "p.pk3").write_bytes(data[:length])
            refused(tmp_path / "p.pk3", "b.md3", r"\w")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is no archive, or its end is missing"),
        (b"hello", "it is no archive, or its end is missing"),
        (b"PACK", "it is no .pak"),
        (struct.pack("<4sii", b"PACK", 12, 640), "directory lies beyond its end"),
        (struct.pack("<4sii", b"PACK", -1, 64), "directory lies beyond its end"),
        (struct.pack("<4sii", b"PACK", 12, -64), "directory lies beyond its end"),
        (struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 500, 0, 0), "is not where it should be"),
        (struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 0, 9, 0), "is not where it should be"),
        (struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 0, 0, 0), "directory is missing"),
        (struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 65535, 65535, 0, 0xFFFFFFFF, 0), "ZIP64"),
        (bytes(50) + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 50, 0, 0), "directory is damaged at byte 0"),
        (LONG_NAME + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(LONG_NAME), 0, 0), "directory is cut off"),
    ],
)
def test_a_directory_that_is_damaged(tmp_path, data, said):
    (tmp_path / "p.pk3").write_bytes(data)
    refused(tmp_path / "p.pk3", "a.md3", said)
    assert not member(tmp_path / "p.pk3", "a.md3").is_file()


def test_an_archive_of_more_members_than_games_can_read_is_called_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.pk3", "w") as pack:
        for nth in range(1 << 16):
            pack.writestr(zipfile.ZipInfo(f"{nth}"), b"")
    refused(tmp_path / "p.pk3", "1", "it is a ZIP64 archive of 65536 members, which games can't read")


def test_a_pak_whose_file_lies_outside(tmp_path):
    data = bytearray(pak_bytes({"a.md2": b"abc", "b.md2": b"def"}))
    struct.pack_into("<i", data, len(data) - 4, 1 << 30)
    (tmp_path / "p.pak").write_bytes(data)
    refused(tmp_path / "p.pak", "b.md2", "cut off")
    assert member(tmp_path / "p.pak", "a.md2").read() == b"abc"


def test_an_archive_that_is_not_there_or_cannot_be_read(tmp_path, caplog):
    archive = Disk().archive(Disk().file(tmp_path / "none.pk3"))
    with pytest.raises(ModelError, match=r"^no such archive$"):
        archive.folder().read("a.md3")
    with collected_warnings() as said:
        assert archive.folder().names() == []
        assert archive.folder(["models"]).names() == []
        assert list(archive.folder().walk()) == []
    assert said == ["'none.pk3' is left out: no such archive"]
    assert archive.folder().names() == []
    assert not caplog.records, "once"


@pytest.mark.skipif(not POSIX, reason="no pipes in folders")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pak0.pk3")
    put_files(tmp_path, {"models/a.md3": b""})
    assert SearchPath(Disk().file(tmp_path / "models/a.md3")).find_image("textures/a") is None


# -- files change


def test_a_directory_is_read_once_while_the_archive_stays_the_same(tmp_path, monkeypatch):
    calls = []
    read = archives.read_directory

    def counted(*given):
        calls.append(given)
        return read(*given)

    monkeypatch.setattr(archives, "read_directory", counted)
    pack = put_pack(tmp_path / "p.pk3", FILES)
    for _ in range(3):
        assert member(pack, "top.cfg").is_file()
    assert len(calls) == 1
    put_pack(pack, FILES | {"new.md3": b"new"})
    assert member(pack, "new.md3").read() == b"new"
    assert len(calls) == 2
    assert len([key for key in archives._kept if key[0] == str(pack)]) == 1, "what it was is let go"


def test_kept_directories_have_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_KEPT", 2 * len(FILES))
    monkeypatch.setattr(archives, "_kept", {})
    packs = [put_pack(tmp_path / f"p{number}.pk3", FILES) for number in range(4)]
    for pack in (*packs[:2], packs[0], packs[2]):
        assert held(pack)
    assert [key[0] for key in archives._kept] == [str(packs[0]), str(packs[2])], "the one that was not asked goes first"
    monkeypatch.setattr(archives, "MAX_KEPT", len(FILES) - 1)
    assert held(packs[3])
    assert [key[0] for key in archives._kept] == [str(packs[3])], "one that is too large alone is the only one"


def test_an_archive_that_changes_between_looking_and_reading(tmp_path):
    pack = put_pack(tmp_path / "p.pk3", FILES)
    file = member(pack, "top.cfg")
    assert file.is_file()
    put_pack(pack, {"top.cfg": b"another", "more": b"x"})
    with pytest.raises(ModelError, match="has changed"):
        file.read()
    pack.unlink()
    with pytest.raises(ModelError, match="no such file"):
        file.read()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not say which files are open")
def test_no_archive_is_held_open(tmp_path):
    pack = put_pack(tmp_path / "p.pk3", FILES)
    disk = Disk()
    file = disk.file(pack / "models/Crate/crate.md3")
    file.read()
    stream = file.open()
    links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert str(pack) not in links
    stream.close()


def test_nothing_is_unpacked(tmp_path, monkeypatch):
    pack = put_pack(tmp_path / "p.pk3", FILES)
    monkeypatch.setattr(os, "mkdir", lambda *_: pytest.fail("nothing is made"))
    before = sorted(tmp_path.rglob("*"))
    member(pack, "models/Crate/crate.md3").read()
    assert sorted(tmp_path.rglob("*")) == before


# -- real ones


@real_packs
@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_real_archives_are_read_as_python_reads_them(pack):
    with zipfile.ZipFile(pack) as other:
        wanted = {info.filename: other.read(info) for info in other.infolist() if not info.is_dir()}
    assert contents(pack) == wanted
    assert Disk().archive(Disk().file(pack)).directory().refused == []


@real_packs
def test_models_of_real_archives_find_their_pictures_in_other_archives():
    flash = Disk().file(PACKS[0].parent / "pak0.pk3/models/weapons2/machinegun/machinegun_flash.md3")
    model = load(flash).model
    found = [SearchPath(flash).find_image(shader) for surface in model.surfaces for shader in surface.shaders]
    places = [each.place for each in found if each is not None]
    assert str(PACKS[0].parent / "pak6-patch088.pk3/models/weapons2/machinegun/f_machinegun3.jpg") in places
