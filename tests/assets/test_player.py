"""A player is loaded with all that its files hold; what is missing or broken is said, and the rest is there."""

import os

import pytest

from io_idtech_models.assets.player import load_player, other_frames, write_player
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.files import player_in, players_of
from io_idtech_models.reporting import LimitError, ModelError
from tests.game.packs import PACKS
from tests.game.player.test_animation_cfg import PLAIN
from tests.game.player.test_files import SARGE, below, player_files
from tests.packs import put_files, put_pack
from tests.samples import dump, sample

MD3 = sample("animated")
FRAMES = 3


def put(folder, files):
    every = {name: MD3 if name.endswith("md3") else b"" for name in player_files("default", "red")}
    every |= {"animation.cfg": b"0 1 0 10\n" * 25, "head_red.skin": b"rotor,models/red\r\n"}
    put_files(folder, below(SARGE, {name: data for name, data in {**every, **files}.items() if data is not None}))
    found = player_in(Disk().store(folder / SARGE))
    assert found is not None
    return found


def test_a_player_is_loaded_in_a_skin(tmp_path):
    files = put(tmp_path, {})
    player = load_player(files)
    assert player.complaints == []
    assert player.skin == "default"
    assert list(player.parts) == ["lower", "upper", "head"]
    assert all(dump(part.model) == MD3 for part in player.parts.values())
    assert all(part.dress and part.dress.name == "default" for part in player.parts.values())
    red = load_player(files, "RED")
    head = red.parts["head"].dress
    assert head is not None
    assert (red.skin, head.worn("Rotor", "x"), head.worn("none", "x")) == ("red", "models/red", None)
    bare = load_player(files, "none")
    assert bare.skin == ""
    assert all(part.dress is None for part in bare.parts.values())
    with pytest.raises(LimitError, match=r"^there is no skin 'blue' for 'sarge': default, red$"):
        load_player(files, "blue")


def test_what_a_save_writes_back_is_kept_as_it_was_read(tmp_path):
    player = load_player(put(tmp_path, {}))
    folder = tmp_path / SARGE
    assert set(player.texts) == {path.name for path in folder.iterdir() if path.suffix in {".skin", ".cfg"}}
    assert all((folder / name).read_bytes() == data for name, data in player.texts.items())
    assert player.table is not None
    assert player.table.write() == player.texts["animation.cfg"]
    assert list(player.pictures) == ["icon_default.tga", "icon_red.tga"]


def test_levels_of_detail_are_read_when_they_are_asked_for(tmp_path):
    one = load_player(put(tmp_path, {"head_1.md3": MD3, "head_2.md3": sample("minimal"), "upper_1.md3": b"x"}))
    assert one.complaints == [], "none was read"
    (nth, file, model), (other, second, still) = one.parts["head"].levels()
    assert (nth, file.name, dump(model) == MD3, other) == (1, "head_1.md3", True, 2)
    assert other_frames(one.parts["head"], file, model) == ""
    assert other_frames(one.parts["head"], second, still).startswith("'head_2.md3' has 1 frames, 'head.md3' ")
    with pytest.raises(ModelError, match=r"^'upper_1.md3': "):
        list(one.parts["upper"].levels())


def test_skins_of_some_parts_are_worn_by_those(tmp_path):
    files = put(tmp_path, {"head_blue.skin": b"rotor,models/blue"})
    player = load_player(files, "blue")
    worn = {name: part.dress and part.dress.name for name, part in player.parts.items()}
    assert worn == {"lower": None, "upper": None, "head": "blue"}
    assert player.complaints == [
        "'sarge' has no lower_blue.skin and upper_blue.skin: games refuse the skin 'blue'",
    ]
    odd = dict.fromkeys(["head_default.skin", "head_red.skin"])
    alone = load_player(put(tmp_path / "b", odd))
    assert alone.skin == ""
    worn = {name: part.dress and part.dress.name for name, part in alone.parts.items()}
    assert worn == {"lower": "default", "upper": "default", "head": None}, "none is of all parts: each its first"


def test_what_is_broken_is_said_and_the_rest_is_there(tmp_path):
    files = put(tmp_path, {"upper.md3": b"x", "animation.cfg": b"sex m\n", "head.md3": None})
    player = load_player(files)
    assert list(player.parts) == ["lower"]
    assert player.table is None
    assert player.texts["animation.cfg"] == b"sex m\n"
    assert player.complaints[0] == "'sarge' has no head.md3: games refuse a player without"
    assert player.complaints[1].startswith("'upper.md3': ")
    assert player.complaints[2].startswith("'animation.cfg': no animation in it")
    with pytest.raises(ModelError, match=r"^'lower.md3': .*; 'upper.md3': .*; 'head.md3': "):
        load_player(put(tmp_path / "b", dict.fromkeys(["lower.md3", "upper.md3", "head.md3"], b"IDP3")))


def test_rows_beyond_the_last_frame(tmp_path):
    text = PLAIN.replace("15\t//", "15 //").encode()
    said = load_player(put(tmp_path, {"animation.cfg": text})).complaints
    assert [text.partition(":")[0] for text in said] == ["'animation.cfg'"] * 2
    assert said[0].startswith(f"'animation.cfg': rows go beyond the {FRAMES} frames of 'lower.md3', games show frame 0")
    assert said[0].endswith(": BOTH_DEATH1, BOTH_DEAD1, BOTH_DEATH2, BOTH_DEAD2 and 14 more")
    few = load_player(put(tmp_path / "b", {"animation.cfg": b"0 1 0 1\n" * 9}))
    assert few.complaints == ["'animation.cfg': it has 9 rows, games ask for 25: the next is TORSO_DROP"]


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
    store = Disk().store(pack)
    assert {"/".join((*folders, file.name)): file.read() for folders, file in store.walk()} == old | below(where, NEW)


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


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_players_come_back():
    for files in players_of(Disk().file(PACKS / "pak0.pk3" / SARGE / "head.md3")):
        player = load_player(files)
        assert list(player.parts) == ["lower", "upper", "head"]
        for part in player.parts.values():
            assert dump(part.model) == part.file.read()
            assert part.dress is not None
            assert all(dump(model) == file.read() for _, file, model in part.levels())
        assert player.table is not None
        assert player.complaints == []
        assert len(player.texts) == 1 + 3 * len(files.skins)
