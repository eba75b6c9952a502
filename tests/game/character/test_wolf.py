"""Which files a character of Return to Castle Wolfenstein means: found from its wolfanim.cfg."""

import pytest

from io_idtech_models.game.character.files import HEAD
from io_idtech_models.game.character.wolf import with_runs
from io_idtech_models.model.clips import Clip
from io_idtech_models.reporting import ModelError
from tests.characters import found
from tests.samples import CORPUS
from tests.samples_wolf import FOLDER, TABLE, put_character

REAL = sorted(CORPUS.rglob("wolfanim.cfg"))


def pieces(character):
    return [(p.kind, p.on, p.tag, p.file.name, p.skin and p.skin.name) for p in character.pieces]


def test_all_that_there_is(tmp_path):
    character = found(put_character(tmp_path))
    assert character.missing == []
    assert (character.name, character.game, character.skin_name) == ("boss", "rtcw", "default")
    assert character.shown.scale == 1.25
    assert (character.body.name, character.skin.name) == ("body.mds", "body_default.skin")
    (motion,) = character.motions
    assert motion.file == character.body
    rows = [(row.name, row.first, row.count, row.frame_rate) for row in motion.rows]
    assert rows == [("idle", 0, 4, 15.0), ("walk_1", 2, 3, 20.0)]
    assert pieces(character) == [
        (HEAD, "body", "tag_head", "face.md3", "head_default.skin"),
        ("md3_beltr", "body", "tag_bright", "pouch.mdc", None),  # which its .md3 means
        ("md3_back", "body", "tag_back", "pack.md3", "sack.skin"),  # a skin, which names the model
        ("md3_hat", "head", "tag_mouth", "helmet.md3", None),
    ]


def test_a_folder_that_is_in_no_game(tmp_path):
    put_character(tmp_path)
    moved = (tmp_path / FOLDER).rename(tmp_path / "alone")
    character = found(moved / "wolfanim.cfg")
    assert character.missing == []
    assert len(character.pieces) == 4


def test_a_head_without_a_model_of_its_own(tmp_path):
    path = put_character(tmp_path, head_default_skin=b"h_head,x")
    assert found(path).missing == ["the head 'head.md3' is not there"]
    (tmp_path / FOLDER / "head.mdc").write_bytes(b"")
    assert pieces(found(path))[0] == (HEAD, "body", "tag_head", "head.mdc", "head_default.skin")


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"body_default_skin": None}, "there is no body_NAME.skin"),
        ({"head_default_skin": None}, "the head's skin 'head_default.skin' is not there"),
        ({"helmet_md3": None}, "md3_hat's model 'acc/helmet.md3' is not there"),
        ({"pack_md3": None}, "md3_back's model 'acc/pack.md3' is not there"),
        ({"sack_skin": None}, "md3_back's model 'acc/sack.md3' is not there"),
        ({"body_default_skin": b"md3_hat,acc/helmet.md3\nmd3_part,x.mds\nmd3_animscript0,y"},
         "the body's skin attaches what games ignore there: 'md3_hat'"),
        ({"body_default_skin": b"md3_back,../../secret.md3"},
         "md3_back's model '../../secret.md3' leads out of the game's folder, where nothing is read"),
        ({"wolfanim_cfg": b"VERSION 2"}, "'wolfanim.cfg': no animation in it: expected rows of four numbers"),
    ],
)  # fmt: skip
def test_what_is_missing(tmp_path, changed, missing):
    assert missing in found(put_character(tmp_path, **changed)).missing


def test_another_skin(tmp_path):
    path = put_character(tmp_path)
    (tmp_path / FOLDER / "body_bare.skin").write_bytes(b"u_body,x\nplayerscale 0")
    character = found(path, skin="bare")
    assert (character.skin.name, character.shown.scale) == ("body_bare.skin", 1.0)
    assert [piece.kind for piece in character.pieces] == [HEAD, "md3_hat"]
    assert character.missing == ["the head's skin 'head_bare.skin' is not there"]


def test_legs_and_torso_apart(tmp_path):
    path = put_character(tmp_path, body_mds=None)
    with pytest.raises(ModelError, match=r"'boss' has no body.mds: legs and torso apart are a Quake III Player"):
        found(path)


def test_other_files_name_no_character(tmp_path):
    path = tmp_path / "a.cfg"
    path.write_bytes(TABLE.encode())
    with pytest.raises(ModelError, match=r"this is no file of a character, pick one .*: '\*.char', "):
        found(path)


def test_rows_that_are_called_otherwise_and_new_ones_between_them():
    runs = [
        ("idle", Clip("rest", 0, 4, loop=4)),
        ("", Clip("fall", 3, 4, 15.0)),
        ("walk_1", Clip("march", 2, 3, loop=3)),
    ]
    runs.append(("", Clip("rise", 0, 2, 15.0)))
    after = TABLE.replace("idle", "rest").replace("walk_1", "march")
    after = after.replace("ENDANIMS", "fall\t3\t4\t0\t15\t0\nrise\t0\t2\t0\t15\t0\nENDANIMS")
    assert with_runs(TABLE.encode(), runs, ()).decode() == after


def test_rows_that_have_other_frames():
    """What is the same stays as it is spelt, and so does the speed."""
    table = TABLE.replace("idle\t0\t4\t4", "iDLE 00 4 4")
    runs = [("idle", Clip("idle", 0, 5, 99.0, 4)), ("walk_1", Clip("march", 14, 3, loop=3))]
    after = table.replace("iDLE 00 4 4", "iDLE 00 5 4").replace("walk_1\t2", "march\t14")
    assert with_runs(table.encode(), runs, ()).decode() == after


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parent.name)
def test_real_characters(path):
    character = found(path)
    assert character.body and character.head
    assert len(character.motions[0].rows) in (41, 3)
    assert character.missing == []
