"""Which files a player of XreaL or Unvanquished means, and what is missing of it."""

import pytest

from io_idtech_models.reporting import ModelError
from tests.characters import found
from tests.samples import CORPUS
from tests.samples_xreal import put_player

REAL = CORPUS / "xreal/base/models/players/xsarge/character.cfg"


def test_all_that_there_is(tmp_path):
    player = found(put_player(tmp_path))
    assert player.missing == []
    assert (player.name, player.game) == ("newt", "xreal")
    assert (player.skin_name, player.skins) == ("default", ("default", "ice"))
    assert (player.body.name, player.skin.name) == ("body.md5mesh", "body_default.skin")
    assert player.in_order == ("models/players/newt/skin",)
    motions = [(motion.file.name, motion.names) for motion in player.motions]
    assert motions == [("idle.md5anim", ("idle",)), ("walk.md5anim", ("walk",))]
    joints = {joint: asked.why for joint, asked in player.joints.items()}
    assert joints == {"spine": "firsttorsobonename", "head": "neckcontrolbonename"}
    assert (player.shown.scale, player.entries["sex"]) == (0.83, "n")


def test_another_skin(tmp_path):
    path = put_player(tmp_path)
    assert found(path, "ICE").skin.name == "body_ice.skin"
    assert found(path, "none").skin is None
    assert found(path, "x").missing == ["the body's skin 'body_x.skin' is not there: the game shows another player"]


def test_a_body_with_its_animations_counts_first(tmp_path):
    path = put_player(tmp_path)
    (path.parent / "Newt.iqm").write_bytes(b"")
    player = found(path)
    assert (player.body.name, player.motions) == ("Newt.iqm", [])


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"idle_md5anim": None}, "none of its animations is 'idle', 'stand': the game shows another player"),
        ({"body_default_skin": None, "body_ice_skin": None}, "there is no skin: the game shows another player"),
        ({"character_cfg": b"wings 2"}, "'character.cfg', line 1: 'wings' is nothing that every such game knows: its"),
        ({"character_cfg": b"modelScale 1 2 3"}, "the game shows it 1, 2 and 3 times as large along its axes: unevenly,"
         " here it has the size of its files"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(tmp_path, changed, missing):
    (said,) = found(put_player(tmp_path, **changed)).missing
    assert said.startswith(missing)


@pytest.mark.parametrize("changed", [{"body_md5mesh": None}, {"character_cfg": b" " * 20000}])
def test_no_player(tmp_path, changed):
    with pytest.raises(ModelError, match=r"no player of XreaL|too long"):
        found(put_player(tmp_path, **changed))


@pytest.mark.skipif(not REAL.is_file(), reason="no corpus")
def test_a_real_one():
    player = found(REAL)
    assert (player.missing, player.shown.scale) == ([], 0.83)
    assert len(player.motions) == 17
    assert player.in_order == ("models/players/xsarge/xsarge",)
