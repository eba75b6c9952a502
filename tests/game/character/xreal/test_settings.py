"""What a player's `character.cfg` says, and what is wrong with it."""

import pytest

from io_idtech_models.game.character.xreal.settings import read
from io_idtech_models.reporting import FormatError
from tests.samples import CORPUS

REAL = CORPUS / "xreal/base/models/players/xsarge/character.cfg"


def test_all_words():
    found = read(
        b'SEX f // a comment\r\nheadoffset 0 -1 .5\nfootsteps "flesh"\n'
        b'firstTorsoBoneName "Torso" lastTorsoBoneName chest\n'
        b"torsoControlBoneName t /* x */\nneckControlBoneName n\nfixedlegs\nfixedtorso\nmodelScale 1 2 3\n"
        b"modifiers\n{\n HandDelta Segmented\n}\n"
    )
    assert found.complaints == ()
    assert (found.words["sex"], found.words["footsteps"]) == ("f", "flesh")
    assert found.bones == ["Torso", "chest", "t", "n"]
    assert (found.head_offset, found.scale) == ((0.0, -1.0, 0.5), (1.0, 2.0, 3.0))
    assert found.flags == {"fixedlegs", "fixedtorso"}
    assert found.modifiers == ("HandDelta", "Segmented")


def test_nothing_said_and_one_number_for_all_three():
    found = read(b"")
    assert (found.words, found.scale, found.bones) == ({}, (1.0, 1.0, 1.0), [])
    assert read(b"modelScale 0.5\n").scale == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sex\nfixedlegs", "line 1: 'sex' has no value"),
        ("\nmodelScale 1 2", "line 2: 'modelScale' needs three numbers, none of them 0"),
        ("modelScale 0", "line 1: 'modelScale' needs three numbers, none of them 0"),
        ("headoffset 1", "line 1: 'headoffset' needs three numbers"),
        ("/* \n\n */ handBones a b\nsex m", "line 3: 'handBones' is nothing that every such game knows: its line is"),
        ("modifiers { a", "line 1: the closing brace is missing"),
        ("sex m\n}", "line 2: a '}' that belongs to nothing is left out"),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_is_read(text, complaint):
    (said,) = read(text.encode()).complaints
    assert said.startswith(complaint)


def test_longer_than_games_read():
    with pytest.raises(FormatError, match="too long"):
        read(b" " * 20_000)


@pytest.mark.skipif(not REAL.is_file(), reason="no corpus")
def test_a_real_one():
    found = read(REAL.read_bytes())
    assert (found.complaints, found.scale) == ((), (0.83, 0.83, 0.83))
    assert found.bones == ["Torso", "chest", "chest", "neckcontrol"]
