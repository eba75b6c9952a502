"""Which files a character of Doom 3 means, from a declaration, a mesh or an archive, and what is missing of it."""

import pytest

from io_idtech_models.game.character.doom3.files import names_in
from io_idtech_models.game.character.files import BODY, HEAD, Placing
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import LimitError, ModelError
from tests.characters import found
from tests.packs import put_pack
from tests.samples import CORPUS
from tests.samples_doom3 import DEF, HAT, NEWT, TEXT, files, put_character

REAL = CORPUS / "DarkRadiant/test/resources/tdm/def"


def test_all_that_there_is(tmp_path):
    character = found(put_character(tmp_path), name="monster_newt")
    assert (character.missing, character.refused) == ([], [])
    assert (character.name, character.game, character.skin_name) == ("monster_newt", "doom3", "newt/gold")
    assert character.body.name == "newt.md5mesh"
    assert character.decl.worn(f"{NEWT}/newt") == "newt/gold"
    motions = [(motion.file.name, motion.names) for motion in character.motions]
    assert motions == [("idle.md5anim", ("ik_pose", "idle")), ("walk.md5anim", ("walk1", "walk1, 2"))]
    commands = "1 sound_body snd_step\n12 call splash"
    assert character.notes["walk1"] == {"flags": "random_cycle_start", "commands": commands}
    pose = character.motions[0].file
    assert [(p.kind, p.on, p.tag, p.file.name, p.placing) for p in character.pieces] == [
        (HEAD, BODY, "head", "head.md5mesh", Placing(pose=pose)),
        ("def_attach", BODY, "Chest", "hat.ase", Placing((1.0, 2.0, 3.0), (0.0, 90.0, 0.0), True, pose)),
    ]
    assert character.entries["health"] == "12"
    assert character.entries["editor_usage"] == "Toys only."


def test_what_a_character_holds_is_declared_along_with_it(tmp_path):
    gun = 'entityDef gun { "joint_attach" "Chest" "model_world" "models/toys/hat.ase" }\n'
    given = TEXT.replace('"health"', '"def_weapon1" "gun" "health"') + gun
    character = found(put_character(tmp_path, newt_def=given.encode()), name="monster_newt")
    assert [piece.file.name for piece in character.choices.values()] == ["hat.ase"]
    assert "gun" in [each.name for each in character.declarations]


def test_the_first_of_a_file_and_the_others_are_named(tmp_path):
    path = put_character(tmp_path)
    assert names_in(Disk().file(path)) == ["monster_newt_base", "monster_newt", "newt_head"]
    character = found(path)
    assert character.name == "monster_newt_base"
    (said,) = character.missing
    assert said == "'newt.def' has other characters, too, which can be chosen by name: 'monster_newt', 'newt_head'"


def test_the_first_of_a_file_is_one_whose_mesh_is_there(tmp_path):
    lost = 'model lost { mesh lost.md5mesh }\nentityDef a_lost_one { "model" "lost" }\n'
    character = found(put_character(tmp_path, newt_def=(lost + TEXT).encode()))
    assert character.name == "monster_newt_base"
    assert "'a_lost_one'" in character.missing[0]


def test_from_the_mesh(tmp_path):
    put_character(tmp_path)
    character = found(tmp_path / NEWT / "newt.md5mesh")
    assert character.name == "monster_newt_base"
    assert len(character.motions) == 2
    head = found(tmp_path / NEWT / "head.md5mesh")
    assert (head.name, head.missing) == ("newt_head", [])


def test_a_mesh_that_nothing_declares(tmp_path):
    path = put_character(tmp_path, newt_def=None)
    character = found(path.parent.parent / NEWT / "newt.md5mesh")
    assert character.body.name == "newt.md5mesh"
    assert character.missing == ["no model of the game's 'def/*.def' has this mesh: what lies beside it is shown"]


def test_a_model_without_an_entity_and_another_skin(tmp_path):
    path = put_character(tmp_path)
    character = found(path, "none", "newt_base")
    assert (character.name, character.decl, character.pieces) == ("newt_base", None, [])
    assert found(path, "newt/gold", "newt_base").decl.name == "newt/gold"


def test_a_mod_beside_its_game(tmp_path):
    """The first definition counts, in files of all folders sorted by name."""
    packed = {name: data for name, data in files().items() if name != DEF}
    put_pack(tmp_path / "base/pak000.pk4", packed)
    path = tmp_path / "mod" / DEF
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    hat = b'entityDef newt_hat { "joint" "head" "model" "models/toys/hat.ase" }'
    put_pack(tmp_path / "mod/a.pk4", {"def/a.def": hat})
    character = found(path, name="monster_newt")
    assert character.missing == []
    assert character.pieces[-1].tag == "head"


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"hat_def": HAT.replace('"joint"', '"bone"').encode()}, [
            "def_attach 'newt_hat' names no joint that it hangs on: the game stops there"]),
        ({"hat_def": HAT.replace('"model"', '"mesh"').encode()}, ["def_attach 'newt_hat' has no model"]),
        ({"hat_def": b""}, ["def_attach 'newt_hat' is declared nowhere: the game stops there"]),
        ({"newt_def": TEXT.replace('"health"', '"def_weapon1" "lost" "health"').encode()}, [
            "def_weapon1 'lost' is declared nowhere"]),
        ({"newt_def": TEXT.replace('"head_joint"', '"neck"').encode()}, [
            "'monster_newt' has a head, but no head_joint: the game stops there"]),
        ({"newt_def": TEXT.replace('"newt_base"', '"nobody"').encode()}, [
            "the model 'nobody' is declared nowhere, or has no mesh"]),
        ({"newt_def": TEXT.replace("models/md5/newt/newt.md5mesh", "../newt.md5mesh").encode()}, [
            "the body '../newt.md5mesh' leads out of the game's folder, where nothing is read"]),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(tmp_path, changed, missing):
    assert found(put_character(tmp_path, **changed), name="monster_newt").missing == missing


def test_what_hangs_on_it_behind_what_is_missing_is_found(tmp_path):
    text = TEXT.replace('"health"', '"def_attach0" "lost" "health"').encode()
    character = found(put_character(tmp_path, newt_def=text), name="monster_newt")
    assert character.missing == ["def_attach0 'lost' is declared nowhere: the game stops there"]
    assert character.pieces[-1].tag == "Chest"


def test_what_the_game_refuses(tmp_path):
    text = TEXT.replace("anim	idle", "anim	ik_pose").encode()
    character = found(put_character(tmp_path, newt_def=text), name="monster_newt")
    (said,) = character.refused
    assert said == "'def/newt.def', line 10: the animation 'ik_pose' is there already: the game refuses it"


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"", "", "it declares no character"),
        (b'entityDef x { "health" "1" }', "", "it declares no character"),
        (TEXT.encode(), "nobody", "declares no entity and no model 'nobody'"),
    ],
)
def test_no_character(tmp_path, data, name, message):
    with pytest.raises(LimitError, match=message):
        found(put_character(tmp_path, newt_def=data), name=name)


def test_no_file(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        found(tmp_path / DEF, name="monster_newt")


@pytest.mark.skipif(not REAL.is_dir(), reason="no corpus")
@pytest.mark.parametrize("path", sorted(REAL.glob("*.def")), ids=lambda path: path.name)
def test_real_ones(path):
    """All that they declare is found, or said to be missing; nothing raises anything but a sentence."""
    for name in names_in(Disk().file(path)):
        character = found(path, name=name)
        assert character.body is not None or character.missing


def test_a_file_that_lies_in_no_game(tmp_path):
    put_character(tmp_path)
    alone = tmp_path / "alone.def"
    alone.write_bytes(TEXT.encode())
    missing = found(alone, name="monster_newt").missing
    assert "'alone.def' lies in no folder 'def' of a game: what it names can't be found" in missing
