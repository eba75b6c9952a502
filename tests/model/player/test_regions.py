"""Which part a bone moves, by the names that rigs have."""

import pytest

from io_idtech_models.model.player.regions import Bones, propose, region_of, side_of
from io_idtech_models.reporting import LimitError

MIXAMO = {
    "mixamorig:Hips": "", "mixamorig:Spine": "mixamorig:Hips", "mixamorig:Spine1": "mixamorig:Spine",
    "mixamorig:Neck": "mixamorig:Spine1", "mixamorig:Head": "mixamorig:Neck",
    "mixamorig:HeadTop_End": "mixamorig:Head", "mixamorig:RightShoulder": "mixamorig:Spine1",
    "mixamorig:RightArm": "mixamorig:RightShoulder", "mixamorig:RightForeArm": "mixamorig:RightArm",
    "mixamorig:RightHand": "mixamorig:RightForeArm", "mixamorig:RightHandIndex1": "mixamorig:RightHand",
    "mixamorig:LeftUpLeg": "mixamorig:Hips", "mixamorig:LeftLeg": "mixamorig:LeftUpLeg",
    "mixamorig:LeftFoot": "mixamorig:LeftLeg", "mixamorig:LeftToeBase": "mixamorig:LeftFoot",
}  # fmt: skip
RIGIFY = {
    "DEF-spine": "", "DEF-spine.001": "DEF-spine", "DEF-spine.002": "DEF-spine.001", "DEF-spine.003": "DEF-spine.002",
    "DEF-spine.004": "DEF-spine.003", "DEF-spine.005": "DEF-spine.004", "DEF-spine.006": "DEF-spine.005",
    "DEF-thigh.L": "DEF-spine", "DEF-shin.L": "DEF-thigh.L", "DEF-upper_arm.R": "DEF-spine.003",
    "DEF-forearm.R": "DEF-upper_arm.R", "DEF-hand.R": "DEF-forearm.R", "hand_ik.R": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("bones", "torso", "head", "hand"),
    [
        (MIXAMO, "mixamorig:Spine", "mixamorig:Neck", "mixamorig:RightHand"),
        (RIGIFY, "DEF-spine.001", "DEF-spine.004", "DEF-hand.R"),
        ({"root": "", "LOWER": "root", "Waist": "root", "HEAD": "Waist", "r_hand": "Waist"}, "Waist", "HEAD", "r_hand"),
        (
            {"Bip01": "", "Bip01 Pelvis": "Bip01", "Bip01 Spine": "Bip01 Pelvis", "Bip01 Neck": "Bip01 Spine",
             "Bip01 R Hand": "Bip01 Spine", "Bip01 L Thigh": "Bip01 Spine"},
            "Bip01 Spine", "Bip01 Neck", "Bip01 R Hand",
        ),
        (  # of two of a name the one that carries more
            {"root": "", "spine": "root", "head_a": "spine", "head_b": "spine", "jaw": "head_b", "hand.R": "spine"},
            "spine", "head_b", "hand.R",
        ),
    ],
)  # fmt: skip
def test_the_bones_of_rigs_as_people_make_them(bones, torso, head, hand):
    found = propose(Bones(bones))
    assert (found.torso, found.head, found.hand) == (torso, head, hand)


def test_every_bone_has_a_part():
    parts = propose(Bones(MIXAMO)).regions
    assert {name.partition(":")[2]: part for name, part in parts.items()} == {
        "Hips": "lower", "Spine": "upper", "Spine1": "upper", "Neck": "head", "Head": "head", "HeadTop_End": "head",
        "RightShoulder": "upper", "RightArm": "upper", "RightForeArm": "upper", "RightHand": "upper",
        "RightHandIndex1": "upper", "LeftUpLeg": "lower", "LeftLeg": "lower", "LeftFoot": "lower",
        "LeftToeBase": "lower",
    }  # fmt: skip
    parts = propose(Bones(RIGIFY)).regions
    assert parts["DEF-spine"] == "lower"
    assert parts["DEF-spine.003"] == "upper"
    assert parts["DEF-spine.006"] == "head"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("forearm.L", "upper"), ("LeftForeArm", "upper"), ("lower_leg.R", "lower"), ("ear.L", "head"),
        ("bone", ""), ("RTHIGHBONE", "lower"), ("upper_arm.L", "upper"), ("arm lower", "upper"), ("back_leg", "lower"),
    ],
)  # fmt: skip
def test_words(name, part):
    assert region_of(name) == part


def test_a_bone_without_a_telling_name_goes_with_the_one_above():
    parts = propose(
        Bones({"hips": "", "spine": "hips", "x1": "spine", "head": "spine", "x2": "head", "x3": ""})
    ).regions
    assert (parts["x1"], parts["x2"], parts["x3"]) == ("upper", "head", "lower")


def test_chosen_bones_take_what_hangs_on_them():
    bones = Bones({"a": "", "b": "a", "c": "b", "d": "c", "e": "b"})
    found = propose(bones, torso="B", head="c", hand="e")
    assert found.regions == {"a": "lower", "b": "upper", "c": "head", "d": "head", "e": "upper"}
    assert (found.torso, found.head, found.hand) == ("b", "c", "e")


def test_what_does_not_hang_on_the_chosen_torso_is_legs_or_what_it_was():
    bones = {"root": "", "spine": "root", "chest": "spine", "hand.R": "chest", "head": "root", "jaw": "head"}
    parts = propose(Bones(bones), torso="chest").regions
    assert parts == {
        "root": "lower", "spine": "lower", "chest": "upper", "hand.R": "upper", "head": "head", "jaw": "head",
    }  # fmt: skip


def test_hips_that_are_chosen_for_the_torso_leave_the_legs():
    found = propose(Bones(MIXAMO), torso="mixamorig:hips").regions
    assert (found["mixamorig:Hips"], found["mixamorig:LeftFoot"]) == ("upper", "lower")


def test_choosing_what_is_proposed_changes_nothing():
    bones = Bones({"DEF-spine": "", "DEF-arm.L": "MCH-arm.L", "MCH-arm.L": "", "DEF-head": "DEF-spine"})
    found = propose(bones)
    assert propose(bones, found.torso, found.head, found.hand) == found
    assert found.regions["DEF-arm.L"] == "upper"


def test_bones_that_move_vertices_carry_the_tags():
    bones = Bones({"torso": "", "spine_fk": "torso", "DEF-spine": "", "DEF-head": "DEF-spine", "hand_fk.R": "spine_fk",
                   "DEF-hand.R": "DEF-spine"}, frozenset(("DEF-spine", "DEF-head", "DEF-hand.R")))  # fmt: skip
    found = propose(bones)
    assert (found.torso, found.head, found.hand) == ("DEF-spine", "DEF-head", "DEF-hand.R")
    arms = {"spine": "", "head": "spine", "upper_arm.R": "spine", "arm.L": "spine", "forearm.R": "upper_arm.R"}
    assert propose(Bones(arms)).hand == "forearm.R"
    assert propose(Bones({**arms, "forearm.R": "", "arm.R": "spine"})).hand == "forearm.R"
    assert propose(Bones({name: above for name, above in arms.items() if name != "forearm.R"})).hand == "upper_arm.R"
    both = {"spine": "", "head": "spine", "my own hand.R": "spine", "hand.R": "spine"}
    assert propose(Bones(both, frozenset(("my own hand.R",)))).hand == "my own hand.R"


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, "no bone's name says torso"), ({"torso": "b"}, "no bone's name says head"), ({"torso": "z"}, "no bone 'z'")],
)
def test_what_is_missing_is_said(options, said):
    with pytest.raises(LimitError, match=said):
        propose(Bones({"a": "", "b": "a"}), **options)


def test_sides():
    assert [side_of(name) for name in ("hand.L", "RightHand", "thigh_r", "Bip01 L Foot", "spine")] == [1, -1, -1, 1, 0]
