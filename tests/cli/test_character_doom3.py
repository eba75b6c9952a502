"""`info` and `check` of declarations of Doom 3: what each character of a file needs, and what the game would refuse."""

import json

import pytest

from tests.packs import put_pack
from tests.samples_doom3 import DEF, EXAMPLE, HAT, NEWT, TEXT, files, put_character

pytestmark = pytest.mark.filterwarnings("error")
WHOSE = "'monster_newt_base', 'monster_newt'"


def test_info_shows_each_character_of_a_file(tmp_path, run):
    path = put_character(tmp_path, hat_ase=None)
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert [line for line in out if line.startswith(str(path))] == [
        f"{path}: character monster_newt_base, 4 animations in 2 files of frames, skin newt/gold",
        f"{path}: character monster_newt, 4 animations in 2 files of frames, skin newt/gold",
        f"{path}: character newt_head, 0 animations in 0 files of frames, skin -",
    ]
    assert f"  head on the body's head: {NEWT}/head.md5mesh" in out
    frames = "idle.md5anim as 'ik_pose', 'idle'; walk.md5anim as 'walk1', 'walk1, 2'"
    assert f"  frames in {NEWT}: {frames}" in out and "  the game shows it moved by 0 0 -2" in out
    assert "  missing or odd: def_attach's model 'models/toys/hat.ase' is not there" in out


def test_info_for_programs(tmp_path, run):
    records = json.loads("\n".join(run("info", "--json", put_character(tmp_path))[1]))
    assert [record["name"] for record in records] == ["monster_newt_base", "monster_newt", "newt_head"]
    assert [motion["names"] for motion in records[1]["motions"]] == [["ik_pose", "idle"], ["walk1", "walk1, 2"]]
    assert records[1]["entries"]["health"] == "12"


def test_what_declares_no_character_is_left_out_of_folders(tmp_path, run):
    put_character(tmp_path)
    status, out, err = run("check", tmp_path / "def")
    assert (status, out, err) == (0, [f"{tmp_path / 'def/hat.def'}: ok", f"{tmp_path / DEF}: ok"], [])
    assert run("info", tmp_path / "def/hat.def")[0] == 1
    pack = put_pack(tmp_path / "pak000.pk4", files())
    assert run("check", pack / "def")[0] == 0


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"newt_def": TEXT.replace("frame 12	call", "frame 99	call").encode()},
         "the animation 'walk1' has 25 frames, and commands at '99': the game refuses the model"),
        ({"newt_def": TEXT.replace(f", {NEWT}/walk", f", {NEWT}/idle").encode()},
         "the files of the animation 'walk1' have different lengths: the game refuses the model"),
        ({"newt_def": TEXT.replace('"head_joint"		"head"', '"head_joint" "wing"').encode()},
         "the body 'newt.md5mesh' has no joint 'wing', which head_joint asks for: the game stops there"),
        ({"hat_def": HAT.replace("Chest", "wing").encode()},
         "the body 'newt.md5mesh' has no joint 'wing', which def_attach 'newt_hat' asks for: the game stops"),
        ({"walk_md5anim": (EXAMPLE / "walk.md5anim").read_bytes().replace(b'"tail1"', b'"tail9"')},
         "'walk.md5anim' does not fit 'newt.md5mesh': "),
        ({"walk_md5anim": b"MD5Version 9"}, "'walk.md5anim': "),
        ({"newt_md5mesh": b"MD5Version 9"}, "'newt.md5mesh': "),
        ({"newt_def": TEXT.replace("channel	torso", "channel arms").encode()},
         "!'def/newt.def', line 7: there is no channel 'arms': the game refuses the model"),
    ],
)  # fmt: skip
def test_check_tells_what_the_game_refuses(tmp_path, run, changed, problem):
    """And of which characters of the file, where not of all."""
    path = put_character(tmp_path, **changed)
    out = run("check", path)[1]
    whose = "'monster_newt': " if "def_attach" in problem else f"{WHOSE}: "
    severity = "warning" if problem.startswith("!") else "error"
    assert sum(line.startswith(f"  {severity}: {whose}{problem.lstrip('!')}") for line in out) == 1, out
    if severity == "warning":
        assert run("check", "--game", "doom3", path)[0] == 1


def test_a_declaration_hides_no_surfaces(tmp_path, run):
    """As skins of other games do, whose shaders are not there."""
    out = run("check", put_character(tmp_path, newt_mtr=None, newt_tga=None))[1]
    assert f"  warning: {WHOSE}: the body 'newt.md5mesh': 1 texture not found: 'newt/gold'" in out
    assert not any("does not draw" in line for line in out)


def test_keys_of_an_entity_are_the_games(tmp_path, run):
    keys = " ".join(f'"snd_{nth}" "x"' for nth in range(30))
    path = put_character(tmp_path, newt_def=TEXT.replace('"health"', f'{keys} "health"').encode())
    said = [line for line in run("info", path)[1] if line.startswith("  it says: ")]
    assert len(said) == 1 and said[0].startswith("  it says: model newt_base; def_head newt_head; ")
