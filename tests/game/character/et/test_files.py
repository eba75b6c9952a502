"""Which files a character means, in folders and archives, and what is missing of it."""

import pytest

from io_idtech_models.game.character.et.files import PLACES
from io_idtech_models.game.character.files import HEAD
from io_idtech_models.reporting import ModelError
from tests.characters import found
from tests.samples import CORPUS
from tests.samples_character import CHAR, DEFINITION, GROUP_TEXT, SKIN, TOYS, files, put_character

REAL = sorted(CORPUS.rglob("*.char"))


def test_all_that_there_is(tmp_path):
    character = found(put_character(tmp_path))
    assert character.missing == []
    assert (character.name, character.skin_name) == ("trooper", "field")
    assert (character.body.name, character.skin.name) == ("body.mdm", "body_field.skin")
    motions = [(motion.file.name, [row.name for row in motion.rows]) for motion in character.motions]
    assert motions == [("body.mdx", ["stand", "walk", "salute"]), ("extra.mdx", ["crawl"])]
    assert [(p.kind, p.on, p.tag, p.file.name, p.skin and p.skin.name) for p in character.pieces] == [
        (HEAD, "body", "tag_head", "toy.md3", "toy_green.skin"),
        ("md3_back", "body", "tag_back", "pack.md3", None),
        ("md3_hat", "head", "tag_mouth", "helmet.md3", "helmet_field.skin"),
    ]


def test_another_skin(tmp_path):
    path = put_character(tmp_path)
    (tmp_path / TOYS / "body_bare.skin").write_bytes(b"u_body,x")
    character = found(path, skin="bare")
    assert (character.skin.name, [piece.kind for piece in character.pieces]) == ("body_bare.skin", [HEAD])


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"body_field_skin": b"md3_shield,x.md3"}, ["'body_field.skin' attaches what games ignore: 'md3_shield'"]),
        ({"toys_anim": b"animgroup {}"}, ["'animations/toys.anim' names no file of frames"]),
        ({"trooper_char": b"characterDef { }"}, [
            "'trooper.char' names no body (mesh)", "'trooper.char' names no animation group (animationgroup)",
            "'trooper.char' names no head (hudhead)",
        ]),
        ({"trooper_char": DEFINITION.replace(f'"{TOYS}/body.mdm"', '"../../secret.mdm"', 1).encode()}, [
            "the body '../../secret.mdm' leads out of the game's folder, where nothing is read",
            "the body's skin '../../secret_field.skin' leads out of the game's folder, where nothing is read",
        ]),
        ({"toys_anim": GROUP_TEXT.replace("animations/toys/body.aninc", "C:/boot.ini").encode()}, [
            "the table 'C:/boot.ini' leads out of the game's folder, where nothing is read",
        ]),
        ({"toys_anim": GROUP_TEXT.replace("animations/toys/body.aninc", "animations/toys.anim").encode()}, [
            "'animations/toys.anim' includes 'animations/toys.anim', which is in a circle: it is not followed again",
        ]),
    ],
)  # fmt: skip
def test_what_is_missing_is_one_sentence(tmp_path, changed, missing):
    assert found(put_character(tmp_path, **changed)).missing == missing


def test_the_last_letter_of_a_models_name_counts_for_nothing(tmp_path):
    path = put_character(tmp_path, helmet_md3=None)
    (tmp_path / TOYS / "acc/HELMET.MDC").write_bytes(b"")
    assert found(path).pieces[-1].file.name == "HELMET.MDC"


def test_a_character_outside_of_any_game(tmp_path):
    path = tmp_path / "trooper.char"
    path.write_bytes(files()[CHAR])
    said = "'trooper.char' lies in no folder 'characters' of a game: what it names can't be found"
    assert found(path).missing == [said]


def test_what_can_not_be_read_is_an_error(tmp_path):
    path = put_character(tmp_path, trooper_char=b"animgroup { }")
    with pytest.raises(ModelError, match="this is no character file"):
        found(path)


def test_skins_of_the_example_attach_what_the_table_of_places_has():
    assert {line.partition(",")[0] for line in SKIN.splitlines() if line.startswith("md3_")} <= PLACES.keys()


NO_CORPUS = pytest.param(None, marks=pytest.mark.skip("the corpus of real files is not here"))


@pytest.mark.parametrize("path", REAL or [NO_CORPUS], ids=lambda path: path and path.stem)
def test_real_characters(path):
    character = found(path)
    assert character.body and character.skin
    assert (len(character.motions), sum(len(motion.rows) for motion in character.motions)) == (10, 236)
    assert character.pieces, "something of their gear is there"
    assert character.missing, "as in real mods, what the base game would bring is not"
    assert all(sentence.endswith("is not there") for sentence in character.missing)
