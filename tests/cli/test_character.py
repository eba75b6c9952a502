"""`info` and `check` of a character of Enemy Territory: what it needs, what is missing."""

import json

import pytest

from tests.packs import put_pack
from tests.samples_character import CHAR, TOYS, files, put_character

pytestmark = pytest.mark.filterwarnings("error")
LACKING = "lacks tags that the game asks for: 'tag_weapon2', 'tag_bright', 'tag_bleft', 'tag_ubelt'"


def test_info_shows_what_a_character_needs(tmp_path, run):
    path = put_character(tmp_path, helmet_md3=None)
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert out == [
        f"{path}: character, 4 animations in 2 files of frames, skin field",
        f"  body: {tmp_path / TOYS / 'body.mdm'}",
        f"  wears: {tmp_path / TOYS / 'body_field.skin'}",
        f"  frames: {tmp_path / 'animations/toys/body.mdx'}, 3 animations",
        f"  frames: {tmp_path / 'animations/toys/extra.mdx'}, 1 animation",
        f"  head on the body's tag_head: {tmp_path / 'models/players/hud/toy.md3'},"
        f" wears {tmp_path / 'models/players/hud/toy_green.skin'}",
        f"  md3_back on the body's tag_back: {tmp_path / TOYS / 'acc/pack.md3'}",
        f"  missing: md3_hat's model '{TOYS}/acc/helmet.md3' is not there",
    ]


def test_info_for_programs(tmp_path, run):
    (record,) = json.loads("\n".join(run("info", "--json", put_character(tmp_path))[1]))
    assert record["format"] == "character"
    assert record["entries"]["hudheadskin"] == "models/players/hud/toy_green.skin"
    assert [(piece["kind"], piece["tag"]) for piece in record["pieces"]] == [
        ("head", "tag_head"), ("md3_back", "tag_back"), ("md3_hat", "tag_mouth"),
    ]  # fmt: skip
    assert record["missing"] == []


def test_folders_and_archives_have_characters_too(tmp_path, run):
    put_character(tmp_path / "game")
    pack = put_pack(tmp_path / "pak0.pk3", files())
    for place in (tmp_path / "game/characters", pack / "characters"):
        status, out, _ = run("info", place)
        assert (status, len(out)) == (0, 8), place


def test_check_tells_what_is_missing_and_what_the_game_asks_for(tmp_path, run):
    path = put_character(tmp_path, pack_md3=None)
    status, out, err = run("check", path)
    assert (status, err) == (0, [])
    assert out == [
        f"{path}:",
        f"  warning: md3_back's model '{TOYS}/acc/pack.md3' is not there",
        f"  warning: the body 'body.mdm' {LACKING}",
    ]


def test_check_tells_of_keys_that_only_mods_know(tmp_path, run):
    data = files()[CHAR].replace(b"hudheadanims", b"weaponskin x.skin hudheadanims")
    path = put_character(tmp_path, trooper_char=data)
    text = "'trooper.char', line 14: stock Enemy Territory refuses the key 'weaponskin'"
    assert (run("check", path)[0], f"  warning: {text}" in run("check", path)[1]) == (0, True)
    assert (run("check", "--game", "et", path)[0], f"  error: {text}" in run("check", "--game", "et", path)[1]) == (
        1,
        True,
    )


def test_check_tells_what_is_broken(tmp_path, run):
    path = put_character(tmp_path, toy_md3=b"IDP3", pack_md3=b"", body_mdm=b"MDMW")
    status, out, _ = run("check", path)
    assert status == 1
    assert [line.partition("'")[2].partition("'")[0] for line in out if " error: " in line] == [
        "body.mdm", "toy.md3", "pack.md3",
    ]  # fmt: skip


def test_what_is_no_character_is_one_sentence(tmp_path, run):
    path = put_character(tmp_path, trooper_char=b"x")
    assert run("info", path)[2] == [f"{path}: this is no character file at line 1: expected characterDef {{, found 'x'"]
    assert run("check", path)[0] == 1
