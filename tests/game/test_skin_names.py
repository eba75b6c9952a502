"""Which skins there are for the parts of a player, and which the game takes."""

from io_idtech_models.game.skin import choose, skins_of
from tests.game.packs import packed

FOLDER = [
    "lower.md3", "upper.md3", "head.md3", "animation.cfg", "icon_default.tga", "lower_default.skin",
    "Upper_Default.SKIN", "head_default.skin", "lower_red.skin", "upper_red.skin", "head_red.skin", "lower_aqua.skin",
    "upper_aqua.skin", "upper_1.md3", "upper_x_blue.skin",
]  # fmt: skip


def test_skins_of_a_part():
    assert skins_of("lower", FOLDER) == {
        "default": "lower_default.skin", "red": "lower_red.skin", "aqua": "lower_aqua.skin",
    }  # fmt: skip
    assert list(skins_of("Upper", FOLDER)) == ["default", "red", "aqua", "x_blue"]
    assert skins_of("upper", FOLDER)["default"] == "Upper_Default.SKIN"
    assert skins_of("body", ["body.mdm", "body_soldier.skin", "bodyx.skin"]) == {"soldier": "body_soldier.skin"}
    assert not skins_of("legs", FOLDER)


def test_a_longer_model_has_its_own():
    files = ["head.md3", "head_big.md3", "head_red.skin", "head_big_red.skin", "head_bigger.skin"]
    assert list(skins_of("head", files)) == ["red", "bigger"]
    assert list(skins_of("head_big", files)) == ["red"]


def test_which_to_choose():
    assert choose(["blue", "Red", "default"]) == "default"
    assert choose(["blue", "Red", "aqua"]) == "Red"
    assert choose(["blue", "aqua"]) == "aqua"
    assert choose([]) is None


def test_real_players_have_a_default():
    folders: dict[str, list[str]] = {}
    for name in packed(".skin"):
        folder, _, file = name.rpartition("/")
        folders.setdefault(folder, []).append(file)
    players = {folder: files for folder, files in folders.items() if "lower_default.skin" in files}
    for folder, files in players.items():
        assert all(next(iter(skins_of(part, files))) == "default" for part in ("lower", "upper", "head")), folder
    assert len(players) >= 3 or not folders
