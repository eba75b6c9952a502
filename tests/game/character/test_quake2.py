"""Which files a player of Quake II means, in folders and archives, and what is missing of it."""

import pytest

from io_idtech_models.game.character.files import BODY
from io_idtech_models.game.character.kinds import kind_of
from io_idtech_models.game.character.quake2 import ANIMATIONS, GUN, NUM_FRAMES
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import LimitError
from tests.characters import found
from tests.packs import put_files
from tests.samples_quake2 import PLAYER, put_player


def test_the_games_own_ranges():
    """m_player.h: FRAME_stand01 is 0, FRAME_death308 is 197."""
    ranges = {clip.name: (clip.first, clip.last) for clip in ANIMATIONS}
    assert ranges == ranges | {
        "stand": (0, 39), "run": (40, 45), "attack": (46, 53), "pain3": (62, 65), "jump": (66, 71), "flip": (72, 83),
        "salute": (84, 94), "taunt": (95, 111), "wave": (112, 122), "point": (123, 134), "crstnd": (135, 153),
        "crwalk": (154, 159), "crattak": (160, 168), "crpain": (169, 172), "crdeath": (173, 177), "death1": (178, 183),
        "death3": (190, 197),
    }  # fmt: skip
    assert NUM_FRAMES == 198


def test_all_that_there_is(tmp_path):
    player = found(put_player(tmp_path))
    assert player.missing == []
    assert (player.name, player.game, player.skins) == ("stilt", "quake2", ("frost", "moss", "rust"))
    assert (player.skin_name, player.decl.worn("anything")) == ("frost", f"{PLAYER}/frost.pcx")
    assert [(m.file.name, m.rows) for m in player.motions] == [("tris.md2", ANIMATIONS)]
    assert [(p.kind, p.on, p.tag, p.file.name) for p in player.pieces] == [(GUN, BODY, "", "weapon.md2")]
    assert {name: piece.file.name for name, piece in player.choices.items()} == {
        "weapon": "weapon.md2", "w_railgun": "w_railgun.md2",
    }  # fmt: skip
    assert player.instead is None


def test_another_skin(tmp_path):
    path = put_player(tmp_path)
    assert found(path, "ROST").missing == ["there is no skin 'ROST': 'frost', 'moss', 'rust'"]
    assert found(path, "Rust").decl.worn("") == f"{PLAYER}/rust.pcx"
    assert found(path, "none").decl is None


def test_the_games_own_skins_come_before_others(tmp_path):
    path = put_player(tmp_path)
    put_files(path.parent, {"Grunt.pcx": b""})
    assert found(path).skins == ("Grunt", "frost", "moss", "rust")


def test_a_model_that_is_no_players_is_none(tmp_path):
    path = tmp_path / "models/monsters/tank/tris.md2"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert kind_of(Disk().file(path)) is None
    with pytest.raises(LimitError, match="is no file of a character"):
        found(path)


def test_what_the_remaster_shows_instead(tmp_path):
    path = put_player(tmp_path)
    folder = path.parent / "md5"
    put_files(folder, {"Tris.md5mesh": b""})
    assert found(path).missing == ["there is no md5/tris.md5anim, without which the remaster shows tris.md2"]
    put_files(folder, {"tris.md5anim": b"", "rust.png": b""})
    other = found(path, "rust").instead
    assert (other.body.name, other.pieces, other.decl.worn("")) == ("Tris.md5mesh", [], f"{PLAYER}/md5/rust.png")
    assert [(m.file.name, m.rows) for m in other.motions] == [("tris.md5anim", ANIMATIONS)]
    assert found(path, "moss").instead.decl.worn("") == f"{PLAYER}/moss.pcx"


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"weapon_md2": None}, ["there is no weapon.md2: the game shows another player"]),
        ({"moss_i_pcx": None}, ["no icon (_i.pcx) of skins, with which the game shows another player: 'moss'"]),
        ({f"{name}_pcx": None for name in ("rust", "moss", "frost")}, [
            "there is no skin: the game shows another player"]),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(tmp_path, changed, missing):
    assert found(put_player(tmp_path, **changed)).missing == missing


def test_without_a_gun_another_is_held(tmp_path):
    assert [p.file.name for p in found(put_player(tmp_path, weapon_md2=None)).pieces] == ["w_railgun.md2"]
    assert found(put_player(tmp_path / "b", weapon_md2=None, w_railgun_md2=None)).pieces == []
