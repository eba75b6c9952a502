"""Files of games, wherever they lie: what a folder and an archive have in common, and why one can't be read."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
import pytest

from io_idtech_models.assets.load import load
from io_idtech_models.game import store
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx
from io_idtech_models.game.search import SearchPath, game_name, model_name
from io_idtech_models.game.store import Store, split_name
from io_idtech_models.reporting import ModelError
from tests.samples import PROJECT
from tests.stores import held

POSIX = os.name == "posix"
STILT = PROJECT / "examples/stilt/players/stilt"


def read(path: Path) -> bytes:
    return Disk().file(path).read()


# -- on disk


def test_read(tmp_path):
    (tmp_path / "a.md3").write_bytes(b"\0\r\nabc")
    assert read(tmp_path / "a.md3") == b"\0\r\nabc"
    with Disk().file(tmp_path / "a.md3").open() as stream:
        assert stream.read(2) == b"\0\r"


def test_what_cannot_be_read_is_said(tmp_path):
    for path, said in (
        (tmp_path / "none.md3", r"^can't read the file: no such file"),
        (tmp_path, r"^it is a folder"),
        (Path(tmp_path.anchor), r"^it is a folder"),
        (tmp_path / ("x" * 300), r"^can't read the file: file name too long" if POSIX else "."),
        (tmp_path / "a\0b", r"^no such file"),
    ):
        with pytest.raises(ModelError, match=said):
            read(path)


@pytest.mark.skipif(not POSIX, reason="no pipes in folders")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.md3")
    for path in (tmp_path / "pipe.md3", Path("/dev/zero")):
        with pytest.raises(ModelError, match="not a regular file"):
            read(path)


def test_a_file_larger_than_any_model_is_refused_unread(tmp_path):
    with (tmp_path / "huge.md3").open("wb") as stream:
        stream.truncate(store.MAX_SIZE + 1)  # takes no room
    with pytest.raises(ModelError, match=r"has 1342177281 bytes, more than"):
        read(tmp_path / "huge.md3")


@pytest.mark.parametrize("path", ["a.md3", "./a.md3", "sub/../a.md3", "/a.md3", "/x/a b/c.d.md3", "..", "x/..", "/"])
def test_a_place_is_spelt_as_the_user_spells_it(path):
    file = Disk().file(Path(path))
    assert file.place == str(Path(path))
    assert file.path == Path(path)
    assert str(Path(path).parent) == file.folder.place


@pytest.mark.parametrize(
    "name", ["a.md3", "a.b.MD3", ".md3", "..md3", "a", "a.", "a..", "", "tris", "v1.5 crate.md3", "...", ". a"]
)
def test_names_are_split_as_paths_are(name):
    if not name.endswith("."):  # of which Pythons think differently
        assert split_name(name) == (Path("x", name).stem if name else "", Path("x", name).suffix if name else "")
    assert "".join(split_name(name)) == name


def test_files_are_equal_where_paths_are(tmp_path):
    one, other = Disk().file(tmp_path / "a.md3"), Disk().file(tmp_path / "a.md3")
    assert one == other
    assert len({one, other}) == 1
    assert one != one.beside("b.md3")
    assert one != Disk().file(Path("a.md3"))
    assert one.beside("b.md3") == Disk().file(tmp_path / "b.md3")


def test_what_lies_around_a_folder():
    folder: Store | None = Disk().folder("/games/base/models")
    names = []
    while folder is not None:
        names.append(folder.name)
        folder = folder.parent
    assert names == ["models", "base", "games", ""]


def test_a_file_is_there_or_not_as_the_system_spells_it(tmp_path):
    (tmp_path / "a.md5scale").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    file = Disk().file(tmp_path / "a.md5anim")
    assert not file.is_file()
    assert file.beside("a.md5scale").is_file()
    assert not file.beside("sub").is_file()
    assert not file.beside("b\0").is_file()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/q2/players/male/grunt.pcx", "players/male/grunt.pcx"),
        ("/q2/models/x/../y/skin.pcx", "models/y/skin.pcx"),
        ("/models/skin.pcx", "models/skin.pcx"),
        ("/else/where/skin.pcx", "skin.pcx"),
    ],
)
def test_what_a_model_calls_a_file(path, name):
    assert game_name(Disk().file(Path(path))) == name


def test_what_a_model_calls_a_file_named_from_within_the_game(tmp_path, monkeypatch):
    (tmp_path / "base/models/crate").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "base/models")
    for path in ("crate/oak.tga", "oak.tga"):
        assert game_name(Disk().file(Path(path))) == "models/" + path


# -- a member of an archive is a file as any other


def test_a_model_in_an_archive_and_its_pictures():
    files = {f"players/Stilt/{file.name}": file.read_bytes() for file in STILT.iterdir() if file.is_file()}
    files["players/Stilt/sub/other.pcx"] = b""
    file = held(files, "players/Stilt/tris.md2")
    kept: Store = file.folder
    assert kept.place.endswith("players/Stilt")
    assert model_name(file) == "Stilt"
    model = load(file).model
    search = SearchPath(file)
    found = [search.find_image(name) for name in model.surfaces[0].shaders]
    assert [each.place for each in found if each] == [
        f"/nowhere/pak0.pk3/players/Stilt/{name}" for name in ("rust.pcx", "moss.pcx")
    ]
    assert [each.name for each in search.other_skins()] == ["frost.pcx", "moss.pcx", "rust.pcx"]
    assert search.own_image() is None
    for each in filter(None, found):
        assert each.path is None
        assert game_name(each) == each.place.removeprefix("/nowhere/pak0.pk3/")
        pixels = pcx.read(each)
        assert pixels is not None
        assert pixels.tolist() == np.asarray(pcx.read(Disk().file(STILT / each.name))).tolist()


# -- paths that lead into archives

WINDOWS_PATHS = {
    "C:\\Games\\baseq3\\pak0.pk3\\models\\a.md3": ("C:\\Games\\baseq3\\pak0.pk3", ("models", "a.md3")),
    "C:/Games/PAK0.PK3/a.md3": ("C:\\Games\\PAK0.PK3", ("a.md3",)),
    "\\\\host\\share\\pak0.pk3\\models/a.md3": ("\\\\host\\share\\pak0.pk3", ("models", "a.md3")),
    "pak0.pak\\a.md2": ("pak0.pak", ("a.md2",)),
    "\\\\?\\C:\\x\\pak0.pk4\\a.md5mesh": ("\\\\?\\C:\\x\\pak0.pk4", ("a.md5mesh",)),
    "C:\\Games\\a.md3": None,
    "C:pak0.pk3x\\a.md3": None,
}
POSIX_PATHS = {
    "/games/baseq3/pak0.pk3/models/a.md3": ("/games/baseq3/pak0.pk3", ("models", "a.md3")),
    "pak0.pkz": ("pak0.pkz", ()),
    "../x y/a.b.ZIP/m/a.md3": ("../x y/a.b.ZIP", ("m", "a.md3")),
    "/games\\pak0.pk3\\a.md3": None,
    "/x/src.pk3dir/a.md3": None,
    "/x/pak0.pk3.bak/a.md3": None,
    "/": None,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        *((PureWindowsPath(path), found) for path, found in WINDOWS_PATHS.items()),
        *((PurePosixPath(path), found) for path, found in POSIX_PATHS.items()),
    ],
)
def test_where_a_path_leads_into_an_archive(path, found):
    assert store.split_at_archive(path, lambda _: True) == found
    assert store.split_at_archive(path, lambda _: False) is None
    if found is not None and found[1]:
        assert store.INTO_ARCHIVE.search(str(path.parent)), "else nobody would ask"


def test_the_first_that_is_a_file_counts():
    path = PurePosixPath("/a.pk3/b.pk3/c.pk3/x.md3")
    assert store.split_at_archive(path, "/a.pk3/b.pk3".__eq__) == ("/a.pk3/b.pk3", ("c.pk3", "x.md3"))


def test_the_system_is_asked_of_no_ordinary_path(monkeypatch):
    monkeypatch.setattr(os.path, "isfile", lambda _: pytest.fail("no archive is named"))
    for path in ("/x/baseq3/models/a.md3", "a.md3", "/x/pak0.pk3", "/x/src.pk3dir/models/a.md3", "/x/pk3/a.md3"):
        assert Disk().file(Path(path)).path == Path(path)
