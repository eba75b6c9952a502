"""Which files a game needs to show a model, and where they go."""

from pathlib import Path

import pytest

from io_idtech_models.assets.belongings import belongings, place_in_game
from io_idtech_models.game.folders import Disk, Game
from io_idtech_models.game.trial.subject import Player, Thing, Weapon
from io_idtech_models.reporting import LimitError, ModelError
from tests.packs import put_files, put_pack
from tests.samples import sample
from tests.samples_md3 import minimal
from tests.trials import player

PICTURE, SCRIPT = b"picture", b"models/thing/wall { { map textures/own/wall.tga } }\n"


@pytest.fixture
def game(tmp_path):
    """Return an empty game."""
    (tmp_path / "games" / "base").mkdir(parents=True)
    return Game("a", (str(tmp_path / "games" / "base"),))


def find(path: Path, game: Game, skin: str = "", edited=None):
    disk = Disk([game])
    return belongings(disk.file(path), disk.game(game), skin, edited)


def shading(*shaders: bytes) -> bytes:
    """Return a model with these shaders."""
    spec = minimal()
    spec.surfaces[0].shaders = [(shader, 0) for shader in shaders]
    return spec.pack()


def test_the_place_of_a_model():
    disk = Disk()
    assert place_in_game(disk.file(Path("/games/base/models/a/b.md3"))) == "models/a/b.md3"
    assert place_in_game(disk.file(Path("/games/base/pak0.pk3/models/a/b.md3"))) == "models/a/b.md3"
    assert place_in_game(disk.file(Path("/home/me/b.md3"))) == "models/try/b.md3"
    assert place_in_game(disk.file(Path("/home/me/toy/upper.md3"))) == "models/try/upper.md3", "no player is there"


def test_a_player_anywhere_has_its_place_among_players(tmp_path):
    for home in ("work/toy", "models/toy"):
        put_files(tmp_path / home, {Path(path).name: data for path, data in player().items()})
        assert place_in_game(Disk().file(tmp_path / home / "upper.md3")) == "models/players/toy/upper.md3"
        assert place_in_game(Disk().file(tmp_path / home / "hat.md3")).endswith("/hat.md3")


def test_a_player_is_its_whole_folder(tmp_path, game):
    files = {**player(), "models/players/toy/clan/head_default.skin": b"a,b\n"}
    put_files(tmp_path / "work", files)
    found = find(tmp_path / "work/models/players/toy/head_2.md3", game)
    assert found.subject == Player("toy", "default")
    assert found.files == {path: data for path, data in files.items() if not path.endswith(".blend")}
    assert found.shaders == {"models/players/toy/band.tga", "b"}, "what its models name does not count"
    assert {"models/players/toy/band", "models/players/toy/head"} <= found.about


def test_a_player_in_several_archives_is_what_the_game_sees(tmp_path, game):
    files = player()
    put_pack(tmp_path / "games/base/pak0.pk3", files)
    put_pack(tmp_path / "games/base/pak1.pk3", {"models/players/toy/head_2.md3": b"patched"})
    found = find(tmp_path / "games/base/pak0.pk3/models/players/toy/head.md3", game)
    assert found.files["models/players/toy/head_2.md3"] == b"patched"
    assert len(found.files) == len(files) - 1


def test_edited_files_take_the_place_of_others(tmp_path, game):
    put_files(tmp_path / "work", player())
    edited = {"HEAD.md3": b"new", "head_red.skin": b"c,d\n"}
    found = find(tmp_path / "work/models/players/toy/head.md3", game, "", edited)
    assert found.files["models/players/toy/head.md3"] == b"new"
    assert "models/players/toy/HEAD.md3" not in found.files
    assert found.files["models/players/toy/head_red.skin"] == b"c,d\n"
    assert "d" in found.shaders


@pytest.mark.parametrize("lost", ["upper.md3", "head_default.skin", "animation.cfg", "icon_default.tga"])
def test_a_player_that_the_game_would_not_show(tmp_path, game, lost):
    files = player()
    put_files(tmp_path / "work", {path: data for path, data in files.items() if not path.endswith("/" + lost)})
    model = tmp_path / "work/models/players/toy/lower.md3"
    with pytest.raises(LimitError, match=f"shows no player 'toy' without '{lost}'"):
        find(model, game)
    put_pack(tmp_path / "games/base/pak0.pk3", {f"models/players/toy/{lost}": b"x"})
    find(model, game)


def test_a_skin_that_is_not_there(tmp_path, game):
    put_files(tmp_path / "work", player())
    with pytest.raises(LimitError, match=r"without 'lower_blue\.skin', 'upper_blue\.skin', 'head_b"):
        find(tmp_path / "work/models/players/toy/lower.md3", game, "blue")


def test_a_weapon_with_its_parts(tmp_path, game):
    names = ("railgun.md3", "railgun_1.md3", "railgun_hand.md3", "railgun_flash.md3", "other.md3", "railgun.txt")
    put_files(tmp_path / "work/models/weapons2/railgun", dict.fromkeys((*names, "railgun/a.md3"), sample("minimal")))
    found = find(tmp_path / "work/models/weapons2/railgun/railgun_hand.md3", game)
    assert found.subject == Weapon("models/weapons2/railgun/railgun.md3", 7)
    assert sorted(path.rpartition("/")[2] for path in found.files) == sorted(names[:4])


def test_what_shaders_name_comes_along(tmp_path, game):
    files = {
        "models/thing/thing.md3": shading(b"models/thing/wall", b"textures/plain.jpg", b"textures/lost"),
        "models/thing/other.tga": PICTURE,
        "scripts/thing.shader": SCRIPT,
        "scripts/other.shader": b"other { }\n",
        "textures/own/wall.jpg": PICTURE,
        "textures/plain.tga": PICTURE,
    }
    put_files(tmp_path / "work", files)
    found = find(tmp_path / "work/models/thing/thing.md3", game)
    assert found.subject == Thing("models/thing/thing.md3")
    assert set(found.files) == set(files) - {"models/thing/other.tga", "scripts/other.shader"}
    assert {"models/thing/wall", "textures/plain", "textures/lost"} <= found.about


def test_what_the_game_has_does_not(tmp_path, game):
    put_pack(tmp_path / "games/base/pak0.pk3", {"textures/plain.tga": PICTURE, "scripts/thing.shader": SCRIPT})
    put_files(tmp_path / "work", {"models/thing/thing.md3": shading(b"models/thing/wall", b"textures/plain")})
    assert set(find(tmp_path / "work/models/thing/thing.md3", game).files) == {"models/thing/thing.md3"}


def test_a_model_in_no_game_with_its_picture_beside_it(tmp_path, game):
    put_files(tmp_path / "here", {"thing.md3": shading(b"models/own/skin"), "skin.png": PICTURE})
    found = find(tmp_path / "here/thing.md3", game)
    assert found.files == {"models/try/thing.md3": shading(b"models/own/skin"), "models/own/skin.png": PICTURE}


def test_a_picture_may_not_lead_out(tmp_path, game):
    put_files(tmp_path, {"secret.tga": PICTURE, "work/models/thing/thing.md3": shading(b"../../secret.tga")})
    assert set(find(tmp_path / "work/models/thing/thing.md3", game).files) == {"models/thing/thing.md3"}


def test_a_broken_model_is_the_games_to_complain_about(tmp_path, game, caplog):
    put_files(tmp_path / "work", {"models/thing.md3": b"IDP3broken"})
    assert find(tmp_path / "work/models/thing.md3", game).files == {"models/thing.md3": b"IDP3broken"}
    assert "thing.md3" in caplog.text


def test_what_is_no_model_for_a_game(tmp_path, game):
    with pytest.raises(ModelError, match=r"only \.md3"):
        find(tmp_path / "work/models/thing.md2", game)


def test_what_is_too_much(tmp_path, game, monkeypatch):
    monkeypatch.setattr("io_idtech_models.assets.belongings.MOST", 1 << 20)
    put_files(tmp_path / "work", {"models/thing.md3": sample("minimal"), "models/thing_skin.tga": bytes(1 << 20)})
    with pytest.raises(LimitError, match="more than 1 MiB"):
        find(tmp_path / "work/models/thing.md3", game)
