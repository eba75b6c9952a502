"""Pictures are found as games find them, and never outside the game folder."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from io_idtech_models.game.folders import Disk
from io_idtech_models.game.search import IMAGE_SUFFIXES, SearchPath, game_folder, image_spellings, model_name
from io_idtech_models.game.store import name_parts

# Limits, in numbers: another one is noticed.
MAX_SKINS = 256

WINDOWS = os.name == "nt"


@pytest.fixture
def outside(tmp_path):
    """Return the folder around the game, with pictures that no name may reach."""
    for name in ("canary.png", "skin.tga", "deep/canary.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"canary")
    return tmp_path


@pytest.fixture
def game(outside):
    """Return a game folder with a model's folder."""
    (outside / "base/models/crate").mkdir(parents=True)
    return outside / "base"


def put(game, *names):
    for name in names:
        path = game / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"picture")


def shown(game, file):
    return None if file is None else file.path.relative_to(game).as_posix()


def find(game, name, model="models/crate/crate.md3"):
    return shown(game, SearchPath(Disk().file(game / model)).find_image(name))


@pytest.fixture
def listed(monkeypatch):
    """Return the folders that are listed from now on."""
    calls: list[str] = []
    listdir = os.listdir

    def noted(path):
        calls.append(path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", noted)
    return calls


# -- where


FOUND = {  # which pictures are there, and by which names which of them are found
    "in the game folder": (["textures/oak.tga"], {"textures/oak.tga": "textures/oak.tga"}),
    "beside the model by its bare name": (
        ["models/crate/oak.tga"], dict.fromkeys(["somewhere/else/oak.tga", "oak"], "models/crate/oak.tga")),
    "the game folder comes first": (
        ["models/crate/skins/oak.tga", "models/crate/oak.tga"],
        {"models/crate/skins/oak.tga": "models/crate/skins/oak.tga"}),
    "the given extension comes first and then tga": (
        [f"textures/oak{suffix}" for suffix in IMAGE_SUFFIXES],
        {"textures/oak.png": "textures/oak.png", "textures/oak": "textures/oak.tga"}),
    "what replaces a pcx comes after it": (
        ["textures/oak.tga", "textures/oak.png", "textures/oak.pcx", "textures/elm.jpg", "textures/elm.png"],
        {"textures/oak.pcx": "textures/oak.pcx", "textures/oak": "textures/oak.tga",
         "textures/elm.pcx": "textures/elm.jpg"}),
    "a dot that is no extension": (
        ["textures/v1.5 skin.png", "textures/rocket.002.tga"],
        {"textures/v1.5 skin": "textures/v1.5 skin.png", "textures/rocket.002": "textures/rocket.002.tga"}),
    "slashes of all kinds": (
        ["textures/oak.tga"],
        dict.fromkeys(["textures\\oak.tga", "/textures/oak", "//textures//oak.tga", "./textures/./oak.tga"],
                      "textures/oak.tga")),
}  # fmt: skip


@pytest.mark.parametrize(("there", "found"), FOUND.values(), ids=FOUND)
def test_which_picture_is_found(game, there, found):
    put(game, *there)
    assert {name: find(game, name) for name in found} == found


def test_without_a_game_folder_only_beside_the_model(outside):
    put(outside, "loose/oak.png", "loose/sub/elm.png")
    assert find(outside, "models/x/oak.tga", "loose/crate.md3") == "loose/oak.png"
    assert find(outside, "sub/elm.png", "loose/crate.md3") is None


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("base/models/a.md3", "base"),
        ("base/MODELS/mapobjects/deep/down/a.md3", "base"),
        ("base/models/players/sarge/head.md3", "base"),
        ("base/models/players/sarge/players/head.md3", "base"),
        ("baseq2/players/male/tris.md2", "baseq2"),
        ("baseq2/PLAYERS/male/tris.md2", "baseq2"),
        ("baseq2/models/weapons/v_rail/tris.md2", "baseq2"),
        ("models/games/base/models/a.md3", "models/games/base"),
        ("a.md3", None),
    ],
)
def test_the_game_folder_is_above_the_innermost_models(tmp_path, model, folder):
    found = game_folder(Disk().file(tmp_path / model))
    assert (None if found is None else found.place) == (None if folder is None else str(tmp_path / folder))


def test_a_relative_path_has_a_game_folder_too(game, monkeypatch):
    put(game, "textures/oak.tga")
    monkeypatch.chdir(game / "models/crate")
    search = SearchPath(Disk().file(Path("crate.md3")))
    assert shown(game, search.find_image("textures/oak")) == "textures/oak.tga"


def test_folders_above_an_outer_models_folder_are_no_game(tmp_path):
    put(tmp_path, "private/photo.png", "models/base/models/a.md3")
    assert find(tmp_path, "private/photo.png", "models/base/models/a.md3") is None


# -- how names are read


@pytest.mark.parametrize("case", ["TEXTURES/Wood/OAK.TGA", "textures/wood/oak.tga", "Textures/WOOD/oak.Tga"])
@pytest.mark.parametrize("stored", ["textures/wood/oak.tga", "Textures/Wood/Oak.TGA"])
def test_case_does_not_matter(game, case, stored):
    put(game, stored)
    assert find(game, case) == stored


@pytest.mark.parametrize("stored", [f"oak{suffix}" for suffix in IMAGE_SUFFIXES])
@pytest.mark.parametrize("asked", ["oak", "oak.tga", "oak.jpg", "oak.PNG", "oak.pcx", "oak.psd"])
def test_the_extension_is_only_a_hint(game, asked, stored):
    put(game, f"textures/{stored}")
    assert find(game, f"textures/{asked}") == f"textures/{stored}"


def test_spellings_of_a_pcx():
    assert list(image_spellings("oak.pcx"))[:3] == ["oak.pcx", "oak.tga", "oak.jpg"]


def test_a_skin_of_a_quake_ii_player(game):
    put(game, "players/male/grunt.pcx", "players/male/Major.PCX", "players/female/athena.pcx")
    model = "players/male/tris.md2"
    assert find(game, "players/male/grunt.pcx", model) == "players/male/grunt.pcx"
    assert find(game, "players/female/athena.pcx", model) == "players/female/athena.pcx"
    assert find(game, "models/elsewhere/major.pcx", model) == "players/male/Major.PCX", "beside the model"
    assert find(game, "players/nobody/athena.pcx", model) is None


def test_a_skin_of_a_quake_iii_player(game):
    put(game, "models/players/sarge/red.tga", "models/players/players/sarge/red.tga", "players/sarge/blue.tga")
    model = "models/players/sarge/head.md3"
    assert find(game, "models/players/sarge/red.tga", model) == "models/players/sarge/red.tga"
    assert find(game, "players/sarge/blue.tga", model) == "players/sarge/blue.tga", "the game folder is above models"


@pytest.mark.skipif(WINDOWS, reason="there the two are one file")
def test_of_two_spellings_the_given_one_wins(game):
    put(game, "textures/Oak.tga", "textures/oak.tga", "textures/OAK.tga")
    assert find(game, "textures/oak.tga") == "textures/oak.tga"
    assert find(game, "textures/Oak.tga") == "textures/Oak.tga"
    assert find(game, "textures/oAk.tga") in {"textures/OAK.tga", "textures/Oak.tga", "textures/oak.tga"}


@pytest.mark.skipif(WINDOWS, reason="there the two are one folder")
def test_two_spellings_of_a_folder_are_both_searched(game):
    put(game, "Textures/Wood/elm.tga", "textures/wood/oak.tga", "textures/WOOD/ash.tga")
    for name in ("elm", "oak", "ash"):
        assert find(game, f"textures/wood/{name}.tga").lower() == f"textures/wood/{name}.tga"


def test_a_folder_called_like_a_picture_is_none(game):
    (game / "textures/oak.tga").mkdir(parents=True)
    assert find(game, "textures/oak.tga") is None
    put(game, "textures/oak.jpg")
    assert find(game, "textures/oak.tga") == "textures/oak.jpg"


def test_models_that_are_read_together_list_folders_once(game, listed):
    put(game, "textures/oak.tga", "models/crate/elm.tga")
    disk = Disk()
    for name in ("a", "b", "c"):
        search = SearchPath(disk.file(game / f"models/crate/{name}.md3"))
        assert shown(game, search.find_image("textures/oak")) == "textures/oak.tga"
        assert shown(game, search.find_image("no/such/elm")) == "models/crate/elm.tga"
    assert len(listed) == len(set(listed)) == 3, "the game folder, textures, beside the model"
    put(game, "textures/elm.tga")
    assert find(game, "textures/elm") == "textures/elm.tga", "not longer than that: files change"


def test_only_links_are_followed(game, monkeypatch):
    put(game, "textures/wood/oak.tga", "models/crate/elm.tga")
    monkeypatch.setattr(Path, "resolve", lambda *_: pytest.fail("there is no link"))
    assert find(game, "Textures/wood/OAK") == "textures/wood/oak.tga"
    assert find(game, "elm") == "models/crate/elm.tga"
    assert find(game, "textures/wood/ash") is None


def test_what_a_system_links_in_ways_of_its_own_is_followed_too(game, outside, monkeypatch):
    put(game, "textures/oak.tga", "models/elm.tga")
    lstat, resolve = os.lstat, Path.resolve

    def marked(path):
        found = lstat(path)
        kinds = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**kinds | {"st_reparse_tag": 0xA0000003 if Path(path).name == "textures" else 0})

    monkeypatch.setattr(os, "lstat", marked)

    def followed(path, *_):
        return resolve(outside / "deep" if path == game / "textures" else path)

    monkeypatch.setattr(Path, "resolve", followed)
    assert find(game, "textures/oak") is None
    assert find(game, "models/elm") == "models/elm.tga"


# -- pictures that no file names


def skins(game, model="players/male/tris.md2"):
    return [shown(game, file) for file in SearchPath(Disk().file(game / model)).other_skins()]


def own(game, model="players/male/tris.md2"):
    return shown(game, SearchPath(Disk().file(game / model)).own_image())


@pytest.mark.parametrize("suffix", IMAGE_SUFFIXES)
def test_a_model_has_the_picture_of_its_own_name(game, suffix):
    put(game, f"models/crate/Crate{suffix}", "models/crate/other.tga", "models/crate/crate.txt")
    assert own(game, "models/crate/crate.md2") == f"models/crate/Crate{suffix}"


def test_of_several_pictures_of_its_name_the_first_that_games_try(game):
    put(game, "models/crate/crate.pcx", "models/crate/crate.tga", "models/crate/crate.png")
    assert own(game, "models/crate/crate.md2") == "models/crate/crate.tga"
    (game / "models/crate/crate.tga").unlink()
    assert own(game, "models/crate/crate.md2") == "models/crate/crate.png"


def test_a_dot_in_the_name_of_a_model(game):
    put(game, "models/crate/v1.5 box.pcx", "models/crate/v1.pcx")
    assert own(game, "models/crate/v1.5 box.md2") == "models/crate/v1.5 box.pcx"


def test_else_it_has_the_only_picture_beside_it(game):
    assert own(game) is None
    put(game, "players/male/grunt.pcx", "players/male/grunt_i.pcx", "players/male/GRUNT_I.PCX", "players/male/x.wav")
    put(game, "players/male/grunt_glow.png", "players/male/tris.md2", "players/male/sub/other.pcx")
    assert own(game) == "players/male/grunt.pcx"
    put(game, "players/male/grunt.jpg")
    assert own(game) == "players/male/grunt.jpg", "still one, in two kinds"
    put(game, "players/male/major.pcx")
    assert own(game) is None, "one of two is nobody's"
    put(game, "players/male/tris.png")
    assert own(game) == "players/male/tris.png"


def test_the_skins_of_a_player_folder(game):
    folder = ("grunt.pcx", "grunt_i.pcx", "Major.pcx", "major_I.PCX", "cipher.tga", "cipher.pcx", "cipher_glow.png")
    put(game, *(f"players/male/{name}" for name in (*folder, "weapon.md2", "weapon.pcx", "tris.md2", "jump1.wav")))
    assert skins(game) == [f"players/male/{name}" for name in ("cipher.tga", "grunt.pcx", "Major.pcx")]
    assert skins(game, "players/male/weapon.md2") == [*skins(game), "players/male/weapon.pcx"]
    assert skins(game, "players/nobody/tris.md2") == []


def test_skins_beside_a_model_without_a_folder_in_its_path(game, monkeypatch):
    put(game, "players/male/grunt.pcx")
    monkeypatch.chdir(game / "players/male")
    search = SearchPath(Disk().file(Path("tris.md2")))
    assert [Path(file.place).resolve() for file in search.other_skins()] == [
        (game / "players/male/grunt.pcx").resolve()
    ]
    assert search.own_image() is not None


def test_there_is_an_end_to_skins(game):
    put(game, *(f"players/male/s{number:04d}.pcx" for number in range(MAX_SKINS + 9)))
    assert len(skins(game)) == MAX_SKINS
    assert skins(game)[-1] == f"players/male/s{MAX_SKINS - 1:04d}.pcx"


@pytest.mark.skipif(WINDOWS, reason="links need rights there")
def test_links_to_pictures_outside_are_no_skins(game, outside):
    put(game, "players/male/grunt.pcx", "players/female/athena.pcx", "players/male/real.png")
    male = game / "players/male"
    (male / "canary.png").symlink_to(outside / "canary.png")
    (male / "tris.tga").symlink_to(outside / "canary.png")
    (male / "athena.pcx").symlink_to(game / "players/female/athena.pcx")
    (male / "grunt.tga").symlink_to(outside / "canary.png")
    (male / "alias.png").symlink_to(male / "real.png")
    (male / "loop.pcx").symlink_to(male / "loop.pcx")
    (male / "folder.pcx").mkdir()
    os.mkfifo(male / "pipe.pcx")
    assert skins(game) == [f"players/male/{name}" for name in ("alias.png", "grunt.pcx", "real.png")]
    assert own(game) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("baseq2/players/male/tris.md2", "male"),
        ("baseq2/models/items/Armor/TRIS.MD2", "Armor"),
        ("baseq2/players/male/weapon.md2", "weapon"),
        ("models/v1.5 crate.md3", "v1.5 crate"),
        ("tris.md2", "here"),
        ("./tris.md2", "here"),
        ("sub/../tris.md2", "here"),
        ("../there/tris.md2", "there"),
        ("crate.md3", "crate"),
    ],
)
def test_what_a_model_is_called(tmp_path, monkeypatch, path, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert model_name(Disk().file(Path(path))) == name


def test_at_the_root_a_model_is_called_after_its_file():
    root = Path(Path.cwd().anchor)
    assert model_name(Disk().file(root / "tris.md2")) == "tris"


# -- what must not be found

HOSTILE = [
    "../canary.png", "../../canary.png", "models/../../canary.png", "models/crate/../../../canary.png",
    "..\\canary.png", "..\\..\\canary.png", "models\\..\\..\\canary.png", "/../canary.png", "//../canary.png",
    "./../canary.png", ".../canary.png", ".. /canary.png", " ../canary.png", "..", ".", "/", "", "\\", "...", " ",
    "C:canary.png", "C:/canary.png", "C:\\canary.png", "\\\\host\\share\\canary.png", "//host/share/canary.png",
    "file:///canary.png", "textures::canary.png", "canary.png\0", "\0", "../canary.png\0.tga",
    "~/canary.png", "$HOME/canary.png", "%USERPROFILE%/canary.png", "con", "CON.png", "nul", "aux.tga", "COM1",
    "*", "?anary.png", "[c]anary.png", "**/canary.png",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_finds_nothing(game, name):
    assert find(game, name) is None


@pytest.mark.parametrize("depth", range(1, 9))
def test_no_number_of_steps_up_leads_out(game, depth):
    for step in ("../", "..\\", "models/../../"):
        assert find(game, step * depth + "canary.png") is None
        assert find(game, step * depth + "skin") is None


def test_an_absolute_path_is_looked_up_inside(game, outside):
    assert find(game, str(outside / "canary.png")) is None
    assert find(game, "/etc/hostname") is None


@pytest.mark.parametrize("name", ["a" * 10_000, "a/" * 5_000, "/" * 10_000, "x" * 255, "x" * 300 + ".png"])
def test_a_very_long_name_finds_nothing(game, name):
    assert find(game, name) is None


def test_names_that_are_no_names_are_dropped():
    assert name_parts("textures\\wood//oak.tga") == ["textures", "wood", "oak.tga"]
    for name in ("textures/../oak", "C:/oak", "c:oak", "textures::oak", "a\0b", "..", "a/ .. /b"):
        assert name_parts(name) == []
    assert name_parts("x" * 1025) == []


@pytest.mark.skipif(WINDOWS, reason="links need rights there")
class TestLinks:
    """What a link leads to counts, not where it lies."""

    def test_a_link_to_a_file_outside(self, game, outside):
        put(game, "textures/real.tga")
        (game / "textures/oak.tga").symlink_to(outside / "canary.png")
        (game / "models/crate/oak.tga").symlink_to(outside / "canary.png")
        assert find(game, "textures/oak.tga") is None

    def test_a_link_to_a_folder_outside(self, game, outside, listed):
        (game / "textures").symlink_to(outside / "deep")
        assert find(game, "textures/canary.png") is None
        assert outside / "deep" not in {Path(path).resolve() for path in listed}, "not even looked into"

    def test_a_link_that_leads_inside(self, game):
        put(game, "textures/real.tga")
        (game / "textures/oak.tga").symlink_to(game / "textures/real.tga")
        (game / "linked").symlink_to(game / "textures")
        assert find(game, "textures/oak.tga") == "textures/oak.tga"
        assert find(game, "linked/real") == "linked/real.tga"

    def test_links_in_a_circle_and_into_nothing(self, game):
        (game / "loop").symlink_to(game / "loop")
        (game / "gone.tga").symlink_to(game / "nowhere")
        assert find(game, "loop/oak.tga") is None
        assert find(game, "loop.tga") is None
        assert find(game, "gone.tga") is None

    def test_a_game_folder_that_is_a_link(self, game, outside):
        put(game, "textures/oak.tga")
        (outside / "alias").symlink_to(game)
        assert SearchPath(Disk().file(outside / "alias/models/crate/crate.md3")).find_image("textures/oak") is not None

    def test_a_pipe_is_no_picture(self, game):
        put(game, "textures/real.tga")
        os.mkfifo(game / "textures/oak.tga")
        assert find(game, "textures/oak.tga") is None


def test_a_folder_that_is_not_there(tmp_path):
    assert Disk().folder(tmp_path / "nowhere").find_first((), ["oak.tga"]) is None
    assert Disk().folder(tmp_path).find_first((), []) is None
