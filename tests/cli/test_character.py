"""`info` and `check` of a character of Enemy Territory: what it needs, what is missing."""

import json

import pytest

from tests.packs import put_pack
from tests.samples_character import CHAR, TOYS, files, put_character

pytestmark = pytest.mark.filterwarnings("error")
SCRIPT = "the script of animations 'animations/scripts/toys.script' is not there"
CORPSE = f"its corpse's skin '{TOYS}/body_default.skin' is not there"
UNSEEN = "its skin names what is no shader and no picture, the game does not draw it"
LACKING = "lacks tags that the game asks for: 'tag_weapon2', 'tag_bright', 'tag_bleft', 'tag_ubelt'"


def test_info_shows_what_a_character_needs(tmp_path, run):
    path = put_character(tmp_path, helmet_md3=None)
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert out.pop(2).startswith("  it says: skin field; mesh models/players/toys/trooper/body.mdm; animationGroup ")
    assert out == [
        f"{path}: character, 4 animations in 2 files of frames, skin field",
        f"  game folder: {tmp_path.as_posix()}/",
        f"  body: {TOYS}/body.mdm",
        f"  wears: {TOYS}/body_field.skin",
        "  frames: animations/toys/body.mdx, 3 animations",
        "  frames: animations/toys/extra.mdx, 1 animation",
        "  head on the body's tag_head: models/players/hud/toy.md3, wears models/players/hud/toy_green.skin,"
        " 16 animations",
        f"  md3_back on the body's tag_back: {TOYS}/acc/pack.md3",
        "  skins: field",
        f"  missing or odd: md3_hat's model '{TOYS}/acc/helmet.md3' is not there",
        f"  missing or odd: {SCRIPT}",
        f"  missing or odd: {CORPSE}",
    ]


def test_info_for_programs(tmp_path, run):
    (record,) = json.loads("\n".join(run("info", "--json", put_character(tmp_path))[1]))
    assert record["format"] == "character"
    assert record["entries"]["hudheadskin"] == "models/players/hud/toy_green.skin"
    pieces = [(piece["kind"], piece["tag"]) for piece in record["pieces"]]
    assert pieces == [("head", "tag_head"), ("md3_back", "tag_back"), ("md3_hat", "tag_mouth")]
    assert (record["missing"], record["refused"]) == ([SCRIPT, CORPSE], [])
    assert record["body"] == str(tmp_path / TOYS / "body.mdm")


def test_folders_and_archives_have_characters_too(tmp_path, run):
    put_character(tmp_path / "game")
    pack = put_pack(tmp_path / "pak0.pk3", files())
    for place in (tmp_path / "game/characters", pack / "characters"):
        status, out, _ = run("info", place)
        assert (status, sum(": character" in line for line in out)) == (0, 1), place


def test_check_tells_what_is_missing_and_what_the_game_asks_for(tmp_path, run):
    path = put_character(tmp_path, pack_md3=None)
    status, out, err = run("check", path)
    assert (status, err) == (0, [])
    assert out == [
        f"{path}:",
        f"  warning: md3_back's model '{TOYS}/acc/pack.md3' is not there",
        f"  warning: {SCRIPT}",
        f"  warning: {CORPSE}",
        f"  warning: the body 'body.mdm' {LACKING}",
        f"  warning: the md3_hat 'helmet.md3': {UNSEEN}: '{TOYS}/green'",
    ]


def test_what_is_not_shown_is_missed_too(tmp_path, run):
    data = files()[CHAR].replace(b'/body.mdm"\n\tundressedCorpseSkin', b'/naked.mdm"\n\tundressedCorpseSkin')
    path = put_character(tmp_path, trooper_char=data, toy_md3=None, head_anim=None)
    out = run("check", path)[1]
    assert f"  warning: the model of its corpse '{TOYS}/naked.mdm' is not there" in out
    assert sum("the head's animations '" in line for line in out) == 1, "also without the head"


def test_check_tells_what_a_skin_leaves_out(tmp_path, run):
    skin = files()[f"{TOYS}/body_field.skin"].replace(b"l_legs", b"l_arms")
    out = run("check", put_character(tmp_path, body_field_skin=skin))[1]
    text = "the body 'body.mdm': its skin has nothing for 'l_legs', which the game shows as missing"
    assert f"  warning: {text}" in out


def test_check_tells_which_textures_are_missing(tmp_path, run):
    skin = files()[f"{TOYS}/body_field.skin"].replace(b"l_legs", b"l_legs,models/x.tga\nnone")
    path = put_character(tmp_path, body_field_skin=skin, toy_green_skin=b"head,textures/nodraw", trooper_tga=None)
    out = run("check", path)[1]
    assert f"  warning: the body 'body.mdm': {UNSEEN}: '{TOYS}/trooper.tga', 'models/x.tga'" in out
    assert f"  warning: the md3_back 'pack.md3': 1 texture not found: '{TOYS}/trooper'" in out
    assert not any("'toy.md3'" in line for line in out), "what is called so is not to be seen"
    (tmp_path / "models/x.jpg").write_bytes(b"x")
    assert not any("models/x.tga" in line for line in run("check", path)[1])


def test_check_tells_of_keys_that_only_mods_know(tmp_path, run):
    data = files()[CHAR].replace(b"hudheadanims", b"weaponskin x.skin hudheadanims")
    path = put_character(tmp_path, trooper_char=data)
    text = "'trooper.char', line 14: stock Enemy Territory refuses the key 'weaponskin'"
    for options, kind, wanted in (((), "warning", 0), (("--game", "et"), "error", 1)):
        status, out, _ = run("check", *options, path)
        assert status == wanted and f"  {kind}: {text}" in out


def test_check_tells_what_is_broken(tmp_path, run):
    path = put_character(tmp_path, toy_md3=b"IDP3", pack_md3=b"", body_mdm=b"MDMW")
    status, out, _ = run("check", path)
    broken = [line.partition("'")[2].partition("'")[0] for line in out if " error: " in line]
    assert (status, broken) == (1, ["body.mdm", "toy.md3", "pack.md3"])


def test_what_is_no_character_is_one_sentence(tmp_path, run):
    path = put_character(tmp_path, trooper_char=b"x")
    assert run("info", path)[2] == [f"{path}: this is no character file at line 1: expected characterDef {{, found 'x'"]
    assert run("check", path)[0] == 1
