"""A player is loaded with all that its files hold; what is missing or broken is said, and the rest is there."""

import os

import pytest

from io_idtech_models.assets.player import write_player
from io_idtech_models.reporting import LimitError, ModelError
from tests.game.player.test_files import SARGE, below
from tests.packs import put_files, put_pack
from tests.stores import contents

# -- writing

NEW = {"head.md3": b"new", "animation.cfg": b"same", "icon_blue.tga": b"blue"}


def read_all(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_player_is_written_into_a_folder(tmp_path):
    old = {"HEAD.MD3": b"old", "animation.cfg": b"same", "other.txt": b"mine"}
    put_files(tmp_path, old)
    same = (tmp_path / "animation.cfg").stat().st_ino
    write_player(tmp_path, "sarge", NEW)
    assert read_all(tmp_path) == {**old, "HEAD.MD3": b"new", "icon_blue.tga": b"blue"}
    assert (tmp_path / "animation.cfg").stat().st_ino == same, "what is the same is not touched"
    write_player(tmp_path / "a/b/x", "sarge", NEW)
    assert read_all(tmp_path / "a") == below("b/x/", NEW)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("inner", "where"), [("", "models/players/sarge/"), ("models/players/Me", "models/players/Me/")]
)
def test_a_player_is_written_into_an_archive(tmp_path, inner, where, there):
    pack = tmp_path / "mod.PK3"
    old = {where + "head.md3": b"old", "scripts/x.shader": b"mine"} if there else {}
    if there:
        put_pack(tmp_path / "mod.pk3", old).rename(pack)
    write_player(pack / inner, "sarge", NEW)
    assert contents(pack) == old | below(where, NEW)


@pytest.mark.parametrize("where", ["sarge", "mod.pk3", "new/folder"])
def test_a_write_that_fails_leaves_all_as_it_was(tmp_path, monkeypatch, where):
    put_files(tmp_path / "sarge", {"head.md3": b"old"})
    put_pack(tmp_path / "mod.pk3", {SARGE + "head.md3": b"old"})
    before = read_all(tmp_path)
    synced = []

    def fail(handle):
        synced.append(handle)
        if len(synced) > 1 or where == "mod.pk3":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ModelError, match="no space left on device"):
        write_player(tmp_path / where, "sarge", NEW)
    assert read_all(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mod.pk3", "sarge"]


def test_places_where_no_player_can_be(tmp_path):
    put_pack(tmp_path / "pak0.pak", {"a": b""})
    put_files(tmp_path, {"file": b""})
    with pytest.raises(LimitError, match=r"^can't write '.*pak0.pak': of archives only .pk3 can be written$"):
        write_player(tmp_path / "pak0.pak", "sarge", NEW)
    with pytest.raises(ModelError, match=r"^can't write into '.*file/sarge': "):
        write_player(tmp_path / "file/sarge", "sarge", NEW)
    for name in ("../head.md3", "", "/x"):
        with pytest.raises(LimitError, match="can't be the name of a player's file"):
            write_player(tmp_path, "sarge", {name: b""})
