"""The weapons of a game are found by their names, with what goes with each."""

from typing import Any

import pytest

from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.weapons import weapons_in, weapons_of
from tests.game.packs import PACKS
from tests.packs import put_files, put_pack

GUNS = "models/weapons2/"


def files(*names):
    return {GUNS + name: b"x" for name in names}


def test_weapons_with_all_that_goes_with_them(tmp_path):
    gun = files("Shotgun/shotgun.md3", "shotgun/SHOTGUN_hand.md3", "shotgun/shotgun_flash.md3", "shotgun/shotgun_1.md3")
    put_pack(tmp_path / "pak0.pk3", gun)
    put_pack(tmp_path / "pak1.pk3", files("mg/MG.md3", "mg/mg_barrel.md3", "mg/mg_flash.MD3", "mg/mg.tga", "a.md3"))
    put_files(tmp_path, files("mg/mg_flash.md3", "odd/pistol.md3", "odd/pistol_hand.md3", "odd/box.md3", "odd/x/x.md3"))
    put_files(tmp_path, files("odd/pistol_1.md3", "odd/pistol_1_hand.md3", "mg_hand/mg_hand.md3"))
    found: Any = weapons_in(Disk().folder(tmp_path))
    mg, pistol, shotgun = found
    assert (mg.name, pistol.name, shotgun.name) == ("MG", "pistol", "shotgun")
    assert mg.barrel.name == "mg_barrel.md3"
    assert mg.flash.place == str(tmp_path / GUNS / "mg/mg_flash.md3"), "the loose one counts"
    hands = [weapon.hand and weapon.hand.name for weapon in (mg, pistol, shotgun)]
    assert hands == ["SHOTGUN_hand.md3", "pistol_hand.md3", "SHOTGUN_hand.md3"]
    assert (pistol.barrel, pistol.flash, shotgun.barrel) == (None, None, None)
    assert [weapon.name for weapon in weapons_in(Disk().store(tmp_path / "pak0.pk3"))] == ["shotgun"]


def test_no_weapons(tmp_path):
    put_files(tmp_path, {"models/players/x/head.md3": b""})
    assert weapons_of(Disk().file(tmp_path / "models/players/x/head.md3")) == []
    assert weapons_of(Disk().file(tmp_path / "head.md3")) == []


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_weapons():
    found = weapons_of(Disk().file(PACKS / "pak0.pk3/models/players/sarge/head.md3"))
    names = [weapon.name for weapon in found]
    assert names == ["gauntlet", "machinegun", "plasma", "railgun", "shotgun"]
    assert None not in (found[1].barrel, found[1].flash)
    assert all(weapon.model.read().startswith(b"IDP3") for weapon in found)
