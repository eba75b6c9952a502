"""What games see around a file: archives and loose files above each other, mods above their base, other games last."""

import random
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models import formats
from io_idtech_models.assets.load import animations_beside, load
from io_idtech_models.game.folders import Disk, Game, Union
from io_idtech_models.game.listing import members
from io_idtech_models.game.search import SearchPath, game_folder, game_name
from io_idtech_models.game.store import GameFile
from io_idtech_models.reporting import ModelError, collected_warnings
from tests import samples_mdm
from tests.packs import put_files, put_pack
from tests.samples import CORPUS, PROJECT
from tests.stores import held

PACKS = CORPUS / "openarena" / "baseoa"
NEWT = PROJECT / "examples/newt/models/md5/newt"
TRIS, OAK = "models/crate/tris.md3", "textures/oak.tga"


def shown(tmp_path: Path, file: GameFile | None) -> str | None:
    return None if file is None else Path(file.place).relative_to(tmp_path).as_posix()


def image(path: Path, name: str, *games: Game) -> Any:
    return SearchPath(Disk(games).file(path)).find_image(name)


def find(tmp_path: Path, model: str, name: str, *games: Game) -> str | None:
    return shown(tmp_path, image(tmp_path / model, name, *games))


def put(tmp_path: Path, *places: str) -> None:
    """Write pictures: "base/pak0.pk3:textures/oak.tga" in an archive, "base/textures/oak.tga" loose."""
    packs: dict[str, dict[str, bytes]] = {}
    for place in places:
        pack, inner = place.split(":") if ":" in place else ("", place)
        if pack:
            packs.setdefault(pack, {})[inner] = place.encode()
        else:
            put_files(tmp_path, {inner: place.encode()})
    for pack, files in packs.items():
        put_pack(tmp_path / pack, files)


# -- one game folder


def test_a_loose_model_finds_pictures_in_archives(tmp_path):
    put(tmp_path, f"baseq3/{TRIS}", f"baseq3/pak0.pk3:{OAK}")
    assert find(tmp_path, f"baseq3/{TRIS}", "Textures/OAK") == f"baseq3/pak0.pk3/{OAK}"
    file = image(tmp_path / "baseq3" / TRIS, OAK)
    assert (file.path, file.read()) == (None, f"baseq3/pak0.pk3:{OAK}".encode())


def test_a_model_in_an_archive_finds_loose_pictures_and_those_of_other_archives(tmp_path):
    put(tmp_path, f"baseq3/pak0.pk3:{TRIS}", f"baseq3/{OAK}", "baseq3/pak1.pk3:textures/elm.tga")
    model = f"baseq3/pak0.pk3/{TRIS}"
    assert find(tmp_path, model, OAK) == f"baseq3/{OAK}"
    assert image(tmp_path / model, OAK).path == tmp_path / "baseq3" / OAK, "Blender opens it where it lies"
    assert find(tmp_path, model, "textures/elm") == "baseq3/pak1.pk3/textures/elm.tga"
    assert find(tmp_path, model, "textures/ash") is None


def test_a_name_is_asked_of_all_layers_before_the_next_is(tmp_path):
    put(tmp_path, f"baseq3/{TRIS}", "baseq3/textures/oak.png", "baseq3/pak0.pk3:textures/oak.jpg")
    assert find(tmp_path, f"baseq3/{TRIS}", OAK) == "baseq3/pak0.pk3/textures/oak.jpg"


ALL = ["pak0.pk3:", "pak1.pk3:", "mp_pak.pk3:", "sp_pak.pk3:", "src.pk3dir/", ""]


@pytest.mark.parametrize(
    ("family", "order"),
    [
        ("ioquake3", ["", "src.pk3dir/", "sp_pak.pk3:", "pak1.pk3:", "pak0.pk3:", "mp_pak.pk3:"]),
        ("", ["", "src.pk3dir/", "sp_pak.pk3:", "pak1.pk3:", "pak0.pk3:", "mp_pak.pk3:"]),
        ("quake3", ["sp_pak.pk3:", "pak1.pk3:", "pak0.pk3:", "mp_pak.pk3:", ""]),
        ("rtcw", ["sp_pak.pk3:", "pak1.pk3:", "pak0.pk3:", ""]),
        ("rtcw-mp", ["mp_pak.pk3:", "pak1.pk3:", "pak0.pk3:", ""]),
    ],
)
@pytest.mark.parametrize("model", [f"main/{TRIS}", f"main/pak0.pk3/{TRIS}", f"main/src.pk3dir/{TRIS}"])
def test_each_family_has_its_order(tmp_path, family, order, model):
    for start in range(len(order)):
        for place in (tmp_path / "main").rglob("*") if (tmp_path / "main").is_dir() else ():
            if place.is_file():
                place.unlink()
        there = [place for place in ALL if place in order[start:] or place not in order]
        random.Random(start).shuffle(there)
        put(tmp_path, *(f"main/{place}{name}" for place in there for name in (OAK, "other.cfg")))
        games = [Game("game", (str(tmp_path / "main"),), family)] if family else []
        own = "src.pk3dir" if "pk3dir" in model else "pak0.pk3" if "pak0" in model else ""
        if own and not any(place.startswith(own) for place in there):
            continue
        wanted = f"main/{order[start]}{OAK}".replace(":", "/")
        if family not in {"ioquake3", ""} and "pk3dir" in model:
            wanted = f"main/src.pk3dir/{OAK}"  # no archive of theirs: its own comes first
        assert find(tmp_path, model, OAK, *games) == wanted


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        ([f"base/{OAK}", f"base/pak000.pk4:{OAK}"], f"base/{OAK}"),
        ([f"base/pak000.pk4:{OAK}", f"base/pak001.pk4:{OAK}"], f"base/pak001.pk4/{OAK}"),
        ([f"ctf/{OAK}", f"ctf/pak0.pak:{OAK}"], f"ctf/pak0.pak/{OAK}"),
        ([f"ctf/pak10.pak:{OAK}", f"ctf/pak2.pak:{OAK}"], f"ctf/pak10.pak/{OAK}"),
        ([f"ctf/a.pkz:{OAK}", f"ctf/pak2.pak:{OAK}"], f"ctf/a.pkz/{OAK}"),
    ],
)
def test_what_lies_there_tells_the_family(tmp_path, places, wanted):
    put(tmp_path, *places)
    assert find(tmp_path, f"{places[0].split('/')[0]}/{TRIS}", OAK) == wanted


def test_a_pack_that_no_engine_takes_has_its_own_pictures_and_the_games(tmp_path):
    put(tmp_path, f"baseq3/download.zip:{TRIS}", f"baseq3/download.zip:{OAK}", f"baseq3/pak0.pk3:{OAK}")
    put_pack(tmp_path / "baseq3/pak1.pk3", {"textures/elm.tga": b""})
    assert find(tmp_path, f"baseq3/download.zip/{TRIS}", OAK) == f"baseq3/download.zip/{OAK}"
    assert find(tmp_path, f"baseq3/download.zip/{TRIS}", "textures/elm") == "baseq3/pak1.pk3/textures/elm.tga"
    assert find(tmp_path, f"baseq3/{TRIS}", OAK) == f"baseq3/pak0.pk3/{OAK}"


def test_an_archive_with_a_folder_around_its_game(tmp_path):
    put(tmp_path, f"get/mod.zip:mymod/{TRIS}", f"get/mod.zip:mymod/{OAK}")
    model = f"get/mod.zip/mymod/{TRIS}"
    assert find(tmp_path, model, OAK) == f"get/mod.zip/mymod/{OAK}"
    assert game_name(Disk().file(tmp_path / model)) == TRIS


def test_the_game_folder_of_an_archive_is_all_of_it(tmp_path):
    put(tmp_path, "etmain/pak0.pk3:characters/x/body.mdm", f"etmain/pak0.pk3:{OAK}")
    file = Disk().file(tmp_path / "etmain/pak0.pk3/characters/x/body.mdm")
    assert game_name(file) == "characters/x/body.mdm"
    assert shown(tmp_path, SearchPath(file).find_image(OAK)) == f"etmain/pak0.pk3/{OAK}"


def test_a_damaged_archive_is_said_once_and_left_out(tmp_path):
    put(tmp_path, f"baseq3/{TRIS}", f"baseq3/pak0.pk3:{OAK}")
    (tmp_path / "baseq3/pak1.pk3").write_bytes(b"PK damaged")
    with collected_warnings() as said:
        search = SearchPath(Disk().file(tmp_path / "baseq3" / TRIS))
        assert shown(tmp_path, search.find_image(OAK)) == f"baseq3/pak0.pk3/{OAK}"
        assert search.find_image("textures/elm") is None
    assert said == ["'pak1.pk3' is left out: it is no archive, or its end is missing"]


def test_an_archive_may_be_a_link_that_leads_anywhere(tmp_path):
    put(tmp_path, f"baseq3/{TRIS}", f"store/pak0.pk3:{OAK}")
    try:
        (tmp_path / "baseq3/pak0.pk3").symlink_to(tmp_path / "store/pak0.pk3")
    except OSError:
        pytest.skip("links need rights there")
    assert find(tmp_path, f"baseq3/{TRIS}", OAK) == f"baseq3/pak0.pk3/{OAK}"


@pytest.mark.parametrize(
    "name", ["../canary.png", "..\\canary.png", "/etc/canary.png", "C:/canary.png", "canary.png\0"]
)
def test_no_name_leads_out(tmp_path, name):
    put(tmp_path, "canary.png", f"baseq3/{TRIS}", f"baseq3/pak0.pk3:{TRIS}")
    for model in (f"baseq3/{TRIS}", f"baseq3/pak0.pk3/{TRIS}"):
        assert find(tmp_path, model, name, Game("g", (str(tmp_path / "baseq3"),))) is None


# -- a mod and its base


def test_the_base_beside_a_mod_comes_after_it(tmp_path):
    put(tmp_path, f"mymod/{TRIS}", f"mymod/z.pk3:{OAK}", f"BaseOA/pak0.pk3:{OAK}", "BaseOA/pak0.pk3:textures/elm.tga")
    put_files(tmp_path, {"BaseOA/textures/ash.tga": b""})
    for model in (f"mymod/{TRIS}", f"mymod/z.pk3/{TRIS}"):
        assert find(tmp_path, model, OAK) == f"mymod/z.pk3/{OAK}"
        assert find(tmp_path, model, "textures/elm") == "BaseOA/pak0.pk3/textures/elm.tga"
        assert find(tmp_path, model, "textures/ash") == "BaseOA/textures/ash.tga"
    assert find(tmp_path, f"BaseOA/{TRIS}", OAK) == f"BaseOA/pak0.pk3/{OAK}", "no mod is above it"


def test_a_base_comes_after_what_lies_beside_in_no_case(tmp_path):
    put(tmp_path, f"mymod/{TRIS}", f"baseq3/pak0.pk3:{OAK}", "mymod/models/crate/oak.tga")
    assert find(tmp_path, f"mymod/{TRIS}", OAK) == f"baseq3/pak0.pk3/{OAK}", "a full path before a bare name"


def test_a_folder_that_is_called_as_a_base_but_is_no_game(tmp_path):
    put(tmp_path, f"mymod/{TRIS}", f"main/{OAK}")
    assert find(tmp_path, f"mymod/{TRIS}", OAK) is None
    (tmp_path / "main/models").mkdir()
    assert find(tmp_path, f"mymod/{TRIS}", OAK) == f"main/{OAK}"


def test_a_base_of_another_family_is_none(tmp_path):
    put(tmp_path, f"mymod/{TRIS}", "mymod/a.pk4:x.cfg", f"baseq3/pak0.pk3:{OAK}")
    assert find(tmp_path, f"mymod/{TRIS}", OAK) is None
    put(tmp_path, f"base/pak000.pk4:{OAK}")
    assert find(tmp_path, f"mymod/{TRIS}", OAK) == f"base/pak000.pk4/{OAK}"


def test_what_a_mod_has_not_said_its_base_does(tmp_path):
    put(tmp_path, f"mymod/{OAK}", f"mymod/{TRIS}", f"baseq2/pak0.pak:{OAK}", "mymod/pak0.zip:textures/elm.tga")
    assert find(tmp_path, f"mymod/{TRIS}", "textures/elm") == "mymod/pak0.zip/textures/elm.tga", "as Quake II reads"


# -- games that the user has told us of


def test_a_game_says_what_lies_above_what(tmp_path):
    put(tmp_path, f"home/mod/{TRIS}", f"install/mod/a.pk3:{OAK}", f"install/base/pak0.pk3:{OAK}")
    put(tmp_path, "install/base/pak0.pk3:textures/elm.tga", f"home/base/{OAK}")
    game = Game("Game", tuple(str(tmp_path / p) for p in ("home/mod", "install/mod", "home/base", "install/base")))
    for model in (f"home/mod/{TRIS}", f"install/base/pak0.pk3/{TRIS}"):
        assert find(tmp_path, model, OAK, game) == f"install/mod/a.pk3/{OAK}"
        assert find(tmp_path, model, "textures/elm", game) == "install/base/pak0.pk3/textures/elm.tga"
    assert find(tmp_path, f"home/mod/{TRIS}", OAK) is None


def test_a_model_outside_all_games_is_searched_in_them_last(tmp_path):
    put(tmp_path, "desk/a.md3", f"work/{TRIS}", f"one/pak0.pk3:{OAK}", f"two/{OAK}", "two/textures/elm.tga")
    games = [Game("One", (str(tmp_path / "one"),)), Game("Two", (str(tmp_path / "two"),)), Game("none", ())]
    for model in ("desk/a.md3", f"work/{TRIS}"):
        assert find(tmp_path, model, OAK, *games) == f"one/pak0.pk3/{OAK}"
        assert find(tmp_path, model, OAK, *reversed(games)) == f"two/{OAK}"
        assert find(tmp_path, model, "textures/elm", *games) == "two/textures/elm.tga"
        assert find(tmp_path, model, OAK) is None
    put(tmp_path, "work/models/crate/oak.png", "desk/oak.png")
    assert find(tmp_path, f"work/{TRIS}", OAK, *games) == "work/models/crate/oak.png", "its own surroundings first"
    assert find(tmp_path, "desk/a.md3", OAK, *games) == "desk/oak.png"
    assert find(tmp_path, f"two/{TRIS}", OAK, *games) == f"two/{OAK}", "its own game first"
    assert find(tmp_path, f"two/{TRIS}", "textures/ash", *games) is None


def test_what_lies_beside_a_model_is_not_what_other_games_have_there(tmp_path):
    put(tmp_path, f"work/{TRIS}", "one/pak0.pk3:models/crate/red.tga")
    file = Disk([Game("One", (str(tmp_path / "one"),))]).file(tmp_path / "work" / TRIS)
    assert file.folder.names() == ["tris.md3"]
    assert SearchPath(file).own_image() is None


def test_a_game_that_is_not_there(tmp_path):
    put(tmp_path, f"work/{TRIS}")
    assert find(tmp_path, f"work/{TRIS}", OAK, Game("gone", (str(tmp_path / "gone"),), "doom3")) is None


def test_games_are_told_by_where_they_are_and_not_by_how_that_is_spelt(tmp_path, monkeypatch):
    put(tmp_path, f"one/{TRIS}", f"two/pak0.pk3:{OAK}")
    monkeypatch.chdir(tmp_path)
    game = Game("Game", ("one/../one", "./two"), "quake3")
    assert find(tmp_path, f"one/{TRIS}", OAK, game) == f"two/pak0.pk3/{OAK}"
    put(tmp_path, f"one/{OAK}", f"one/pak0.pk3:{OAK}")
    for model in (f"one/{TRIS}", f"one/pak0.pk3/{TRIS}"):
        assert find(tmp_path, model, OAK, game) == f"one/pak0.pk3/{OAK}"
        found = image(Path("two/../one", *Path(model).parts[1:]), OAK, game)
        assert Path(found.place).resolve() == tmp_path / "one/pak0.pk3" / OAK, "once, at its place"


def test_a_game_that_is_a_link(tmp_path):
    put(tmp_path, f"real/{TRIS}", f"real/{OAK}", f"real/pak0.pk3:{OAK}")
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real")
    except OSError:
        pytest.skip("links need rights there")
    game = Game("Game", (str(tmp_path / "link"),), "quake3")
    assert find(tmp_path, f"real/{TRIS}", OAK, game) == f"real/pak0.pk3/{OAK}"


def test_its_own_game_is_not_elsewhere(tmp_path):
    put(tmp_path, f"one/{TRIS}", f"one/pak0.pk3:{TRIS}")
    disk = Disk([Game(name, (str(tmp_path / name),)) for name in ("one", "two")])
    for model in (f"one/{TRIS}", f"one/pak0.pk3/{TRIS}"):
        layer = disk.file(tmp_path / model).layer
        assert [game.place for game in layer.elsewhere] == [str(tmp_path / "two")]
        assert [game.place for game in layer.around.elsewhere] == [str(tmp_path / "two")]
    assert [game.place for game in disk.folder(tmp_path).elsewhere] == [str(tmp_path / name) for name in ("one", "two")]


# -- what lies beside


def layered(tmp_path: Path) -> GameFile:
    put(tmp_path, f"mod/{TRIS}", "mod/models/crate/Red.tga", "mod/z.pk3:models/CRATE/red.TGA")
    others = {"models/crate/blue.tga": b"blue", f"{TRIS}": b"other", "models/crate/sub/x.tga": b""}
    put_pack(tmp_path / "mod/y.pk3", others)
    put_pack(tmp_path / "baseq3/pak0.pk3", {"models/crate/blue.tga": b"old", "models/crate/base.tga": b""})
    return Disk().file(tmp_path / "mod" / TRIS)


def test_a_folder_shows_what_all_layers_have(tmp_path):
    folder = layered(tmp_path).folder
    assert folder.names() == ["base.tga", "blue.tga", "Red.tga", "tris.md3"]
    assert folder.name == "crate"
    assert folder.place == str(tmp_path / "mod/models/crate")
    assert [shown(tmp_path, GameFile(folder, name)) for name in folder.names()] == [
        "baseq3/pak0.pk3/models/crate/base.tga", "mod/y.pk3/models/crate/blue.tga", "mod/models/crate/Red.tga",
        f"mod/{TRIS}",
    ]  # fmt: skip
    assert GameFile(folder, "blue.tga").read() == b"blue"
    assert GameFile(folder, "Red.tga").path == tmp_path / "mod/models/crate/Red.tga"
    assert GameFile(folder, "blue.tga").path is None
    with GameFile(folder, "blue.tga").open() as stream:
        assert stream.read() == b"blue"
    assert not GameFile(folder, "none").is_file()
    assert GameFile(folder, "none").place == str(tmp_path / "mod/models/crate/none")
    for use in (GameFile(folder, "none").read, GameFile(folder, "none").open):
        with pytest.raises(ModelError, match=r"^no such file$"):
            use()


def test_the_file_that_is_named_is_read_whatever_lies_above_it(tmp_path):
    layered(tmp_path)
    assert Disk().file(tmp_path / "mod/y.pk3" / TRIS).read() == b"other"
    assert Disk().file(tmp_path / "baseq3/pak0.pk3/models/crate/blue.tga").read() == b"old"


def test_beside_is_the_strongest_layers(tmp_path):
    file = layered(tmp_path)
    other = Disk().file(tmp_path / "baseq3/pak0.pk3/models/crate/blue.tga")
    assert shown(tmp_path, file.beside("blue.tga")) == "mod/y.pk3/models/crate/blue.tga"
    assert file.beside("blue.tga") == Disk().file(tmp_path / "mod/y.pk3/models/crate/blue.tga")
    assert shown(tmp_path, file.beside("new.tga")) == "mod/models/crate/new.tga", "where it would be"
    assert shown(tmp_path, other.beside("new.tga")) == "baseq3/pak0.pk3/models/crate/new.tga"
    assert other.beside("tris.md3").is_file() is False, "a base knows nothing of mods"


def test_folders_are_equal_where_layers_and_names_are(tmp_path):
    file = layered(tmp_path)
    one, other = file.folder, Disk().file(tmp_path / "mod/y.pk3/MODELS/crate/blue.tga").folder
    assert isinstance(one, Union)
    assert one == other and hash(one) == hash(other)
    assert one != one.root and one.around is one
    assert one.root.parent is None
    assert one.parent is not None and one.parent.parent == one.root
    assert game_folder(file) == one.root
    before = one.stamp("Red.tga"), one.stamp("blue.tga")
    (tmp_path / "mod/models/crate/Red.tga").write_bytes(b"larger than before")
    assert one.stamp("Red.tga") != before[0] and one.stamp("blue.tga") == before[1] is not None
    assert [each.place for each in one.root.below(["MODELS", "crate"])] == [str(tmp_path / "mod/MODELS/crate")]
    assert one.root.below(["nowhere"]) == []


def test_a_game_lists_each_file_once(tmp_path):
    root: Any = game_folder(layered(tmp_path))
    found = members(root, "models/**")
    assert [(name.lower(), shown(tmp_path, file)) for name, file in found] == [
        ("models/crate/base.tga", "baseq3/pak0.pk3/models/crate/base.tga"),
        ("models/crate/blue.tga", "mod/y.pk3/models/crate/blue.tga"),
        ("models/crate/red.tga", "mod/models/crate/Red.tga"),
        ("models/crate/sub/x.tga", "mod/y.pk3/models/crate/sub/x.tga"),
        (TRIS, f"mod/{TRIS}"),
    ]


def test_skins_beside_a_model_in_any_layer(tmp_path):
    search = SearchPath(layered(tmp_path))
    assert [shown(tmp_path, file) for file in search.other_skins()] == [
        "baseq3/pak0.pk3/models/crate/base.tga", "mod/y.pk3/models/crate/blue.tga", "mod/models/crate/Red.tga",
    ]  # fmt: skip
    put_pack(tmp_path / "mod/x.pk3", {"models/crate/tris.png": b""})
    search = SearchPath(Disk().file(tmp_path / "mod" / TRIS))
    assert shown(tmp_path, search.own_image()) == "mod/x.pk3/models/crate/tris.png"


def test_without_archives_and_base_a_folder_is_itself(tmp_path):
    put(tmp_path, f"mymod/{TRIS}")
    file = Disk().file(tmp_path / "mymod" / TRIS)
    assert file.folder is file.layer
    other = held({"models/a.md3": b""}, "models/a.md3")
    assert other.folder is other.layer


def test_a_file_that_is_named_from_within_the_game(tmp_path, monkeypatch):
    layered(tmp_path)
    monkeypatch.chdir(tmp_path / "mod/models/crate")
    file = Disk().file(Path("tris.md3"))
    assert file.folder.names() == ["base.tga", "blue.tga", "Red.tga", "tris.md3"]
    assert shown(tmp_path, SearchPath(file).find_image("models/crate/blue")) == "mod/y.pk3/models/crate/blue.tga"
    assert file.place == "tris.md3"


# -- what models need


def test_the_animations_of_a_loose_model_that_lie_in_archives(tmp_path):
    mesh, anim = (NEWT / name for name in ("newt.md5mesh", "walk.md5anim"))
    put_files(tmp_path, {"base/models/md5/newt.md5mesh": mesh.read_bytes()})
    put_pack(tmp_path / "base/pak000.pk4", {"models/md5/old.md5anim": anim.read_bytes(), "models/md5/bad.md5anim": b""})
    scaled = {"models/md5/new.md5anim": anim.read_bytes(), "models/md5/old.md5scale": b"{}"}
    put_pack(tmp_path / "base/pak001.pk4", scaled)
    file = Disk().file(tmp_path / "base/models/md5/newt.md5mesh")
    loaded = load(file)
    with collected_warnings() as said:
        found = animations_beside(file, formats.by_name("md5anim"), loaded.model)
    places = [f"base/pak00{nth}.pk4/models/md5/{name}.md5anim" for nth, name in ((1, "new"), (0, "old"))]
    assert [shown(tmp_path, each) for _, each in found] == places
    assert len(said) == 1 and said[0].startswith("bad.md5anim: ")
    assert [animation.scales is not None for animation, _ in found] == [False, True]


@pytest.mark.parametrize("model", ["etmain/models/players/x/body.mdm", "etmain/pak1.pk3/models/players/x/body.mdm"])
def test_the_bones_of_a_model_in_another_layer(tmp_path, model):
    put_files(tmp_path, {"etmain/models/players/x/body.mdm": samples_mdm.figure()})
    put_pack(tmp_path / "etmain/pak1.pk3", {"models/players/x/body.mdm": samples_mdm.figure()})
    put_pack(tmp_path / "etmain/pak0.pk3", {"animations/human/base/BODY.mdx": samples_mdm.walk()})
    file = Disk().file(tmp_path / model)
    assert shown(tmp_path, load(file).bones) == "etmain/pak0.pk3/animations/human/base/BODY.mdx"
    walk = {"models/players/x/walk.mdx": samples_mdm.walk(), "models/players/x/walk.aninc": b""}
    put_pack(tmp_path / "etmain/pak2.pk3", walk)
    file = Disk().file(tmp_path / model)
    bones: Any = load(file).bones
    assert shown(tmp_path, bones) == "etmain/pak2.pk3/models/players/x/walk.mdx"
    assert bones.folder == file.folder
    table = bones.folder.find_first((), ["walk.aninc"])
    assert shown(tmp_path, table) == "etmain/pak2.pk3/models/players/x/walk.aninc"
    assert file.beside("walk.mdx") == bones


def test_the_bones_of_a_model_outside_all_games(tmp_path):
    put_files(tmp_path, {"desk/body.mdm": samples_mdm.figure()})
    put_pack(tmp_path / "et/etmain/pak0.pk3", {"animations/human/base/body.mdx": samples_mdm.walk()})
    disk = Disk([Game("ET", (str(tmp_path / "et/etmain"),))])
    bones = load(disk.file(tmp_path / "desk/body.mdm")).bones
    assert shown(tmp_path, bones) == "et/etmain/pak0.pk3/animations/human/base/body.mdx"


@pytest.mark.skipif(not PACKS.is_dir(), reason="the corpus of real files is not here")
def test_a_real_game():
    root = game_folder(Disk().file(PACKS / "pak0.pk3/models/players/sarge/upper.md3"))
    assert isinstance(root, Union)
    names = [Path(layer.place).name for layer in root.layers]
    assert names == ["baseoa", "pak6-patch088.pk3", "pak6-patch085.pk3", "pak2-players.pk3", "pak0.pk3"]
    found: Any = root.find_first(["models", "players", "liz"], ["animation.cfg"])
    assert found.place == str(PACKS / "pak6-patch088.pk3/models/players/liz/animation.cfg")
    (liz,) = root.below(["MODELS", "players", "Liz"])
    assert {"animation.cfg", "lower_blue.skin"} <= set(liz.names())
