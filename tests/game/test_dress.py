"""Skins of a model: which there are, which is worn, and what surfaces wear by it."""

import pytest

from io_idtech_models.game.dress import NONE, Wardrobe
from io_idtech_models.reporting import LimitError, ModelError
from tests.stores import held

FOLDER = "models/players/sarge/"
FILES = {
    f"{FOLDER}upper.md3": b"",
    f"{FOLDER}upper_1.md3": b"",
    f"{FOLDER}gun_2.md3": b"",
    f"{FOLDER}Upper_Red.SKIN": b"body,models/red\nArm,models/metal",
    f"{FOLDER}upper_blue.skin": b"body,models/blue",
    f"{FOLDER}upper_default.skin": b"body,models/cloth",
    f"{FOLDER}gun_2_default.skin": b"tube,models/tube",
}
DECLS = b"""
skin arms/gold { model models/md5/arm.md5mesh  models/md5/arm models/gold }
skin arms/any { model "Models\\MD5\\ARM.md5mesh"  * models/black }
skin other { model models/md5/leg.md5mesh  a b }
"""


def wardrobe(name: str, **others: bool) -> Wardrobe:
    return Wardrobe(held(FILES, FOLDER + name), **others)


def test_the_usual_skin_comes_first():
    assert wardrobe("upper.md3").names() == ["default", "red", "blue"]


def test_a_skin_is_chosen_by_its_name_whatever_its_case():
    dress = wardrobe("upper.md3").choose("RED")
    assert dress is not None
    assert (dress.name, dress.worn("BODY", "x"), dress.worn("arm_l", "x")) == ("red", "models/red", "models/metal")
    assert dress.worn("head", "x") is None


def test_nothing_to_wear():
    assert wardrobe("upper.md3").choose(NONE) is None
    assert Wardrobe(held({"models/x.md3": b""}, "models/x.md3")).choose() is None


def test_a_wish_that_can_not_be_met():
    with pytest.raises(LimitError, match="there is no skin 'green' for 'upper': default, red, blue"):
        wardrobe("upper.md3").choose("green")
    with pytest.raises(LimitError, match="there is no skin 'red' for 'x': none"):
        Wardrobe(held({"models/x.md3": b""}, "models/x.md3")).choose("red")


def test_levels_of_detail_share_what_their_model_wears():
    assert wardrobe("upper_1.md3").part == "upper"
    assert wardrobe("upper_1.md3").names() == ["default", "red", "blue"]
    assert wardrobe("gun_2.md3").names() == ["default"], "a model without a base is none's level of detail"


def test_a_skin_that_can_not_be_read():
    skins = wardrobe("upper.md3")
    skins.files["default"] = held({}, f"{FOLDER}upper_default.skin")
    with pytest.raises(ModelError, match=r"'upper_default\.skin': no such file"):
        skins.choose()


def test_declarations_of_doom_name_their_models():
    files = {"models/md5/arm.md5mesh": b"", "skins/a.skin": DECLS}
    skins = Wardrobe(held(files, "models/md5/arm.md5mesh"), by_decls=True)
    assert skins.names() == ["arms/gold", "arms/any"]
    assert skins.choose() is None, "Doom's models wear their own"
    gold, any_ = skins.choose("arms/Gold"), skins.choose("arms/any")
    assert gold is not None and any_ is not None
    assert (gold.worn("s", "models/md5/arm"), gold.worn("s", "else")) == ("models/gold", "else")
    assert any_.worn("s", "else") == "models/black"
    assert Wardrobe(held(files, "models/md5/arm.md5mesh")).names() == []
