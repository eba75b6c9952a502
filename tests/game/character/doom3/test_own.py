"""Files of a character's declarations that go beside what a game's folder has."""

import pytest

from io_idtech_models.game.character.doom3.own import _block, settled, with_animations
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.shaders.library import Definition
from tests.packs import put_files

ONE, TWO = "model one {\n\tmesh a.md5mesh\n}\n", "model two {\n\tmesh b.md5mesh\n}\n"
OURS, THEIRS = "def/mine.def", "def/theirs.def"
OTHER = "'def/theirs.def' has another model '{}': it stays, and may be what counts"


def test_what_stands_alone_in_a_file_of_skins_is_a_skin(tmp_path):
    """As the game reads it, by the end of the file's name; elsewhere it is a material."""
    text = b"one { a b }\n"
    put_files(tmp_path, {"skins/theirs.skin": text})
    assert settled(Disk().folder(tmp_path), {"skins/mine.skin": text}) == ({}, [])
    assert settled(Disk().folder(tmp_path), {"materials/mine.mtr": text})[0] == {"materials/mine.mtr": text}


@pytest.mark.parametrize(
    ("there", "written", "odd"),
    [
        ({}, {OURS: ONE + TWO}, []),
        ({OURS: ONE}, {OURS: ONE + TWO}, []),
        ({OURS: ONE + "model three {}"}, {"def/mine_2.def": TWO}, []),
        ({THEIRS: TWO}, {OURS: ONE}, []),
        ({THEIRS: ONE}, {OURS: TWO}, []),
        ({THEIRS: ONE + TWO}, {}, []),
        ({THEIRS: "model one {}"}, {OURS: TWO}, ["one"]),
    ],
)
def test_what_others_declare_is_left_out(tmp_path, there, written, odd):
    put_files(tmp_path, {path: text.encode() for path, text in there.items()})
    found, said = settled(Disk().folder(tmp_path), {OURS: (ONE + TWO).encode()})
    assert {path: data.decode() for path, data in found.items()} == written
    assert said == [OTHER.format(name) for name in odd]


@pytest.mark.parametrize(("name", "written"), [("a b", 'model "a b"'), ("a\tb", 'model "a\tb"'), ("ab", "model ab")])
def test_a_name_of_several_words_is_quoted(name, written):
    assert _block(Definition("model", name, "", 0, "mesh a.md5mesh", ())).startswith(f"{written}\n{{")


def test_an_animation_goes_into_the_file_that_declares_its_model_alone():
    texts = {OURS: ONE.encode(), THEIRS: TWO.encode(), "skins/two.skin": TWO.encode()}
    found = with_animations(texts, "TWO", {"walk": ["w.md5anim"]}, {})
    assert set(found) == {THEIRS}
    assert b"w.md5anim" in found[THEIRS]
