"""`info` and `check` of players of Quake II and of XreaL: what they are made of, and what the game would refuse."""

import json

import pytest

from tests.packs import put_pack
from tests.samples_doom3 import EXAMPLE
from tests.samples_quake2 import PLAYER, files, model, put_player
from tests.samples_xreal import CFG
from tests.samples_xreal import put_player as put_xreal

pytestmark = pytest.mark.filterwarnings("error")


def test_info_of_a_player_is_that_of_the_model_and_the_players(tmp_path, run):
    path = put_player(tmp_path)
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert out[0] == f"{path}: MD2, 198 frames (stand01 ... death308)"
    start = out.index(f"{path}: character, 20 animations in 1 file of frames, skin frost")
    assert out[start + 1 :] == [
        f"  body: {path}",
        f"  frames: {path}, 20 animations",
        f"  weapon on the body's place: {path.parent / 'weapon.md2'}",
        "  skins: frost, moss, rust",
        "  held instead: w_railgun",
    ]
    first, second = json.loads("\n".join(run("info", "--json", path)[1]))
    assert (first["format"], second["format"], second["name"]) == ("md2", "character", "stilt")
    assert list(second["choices"]) == ["weapon", "w_railgun"]


def test_players_of_folders_and_archives(tmp_path, run):
    put_player(tmp_path / "game")
    pack = put_pack(tmp_path / "pak0.pak", files())
    for place in (tmp_path / "game/players", pack / "players"):
        status, out, _ = run("info", place)
        assert (status, sum(": character" in line for line in out)) == (0, 1), place


def test_a_sound_player(tmp_path, run):
    path = put_player(tmp_path)
    assert run("check", path) == (0, [f"{path}: ok"], [])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"weapon_md2": None}, "warning: there is no weapon.md2: the game shows another player"),
        ({"w_railgun_md2": model(50)}, "warning: 'w_railgun.md2' has 50 frames, of which the game plays 198: it shows"),
        ({"tris_md2": model(50)}, "warning: 'tris.md2' has 50 frames, of which the game plays 198: it shows"),
        ({"w_railgun_md2": b"x"}, "error: 'w_railgun.md2': "),
    ],
)
def test_check_tells_what_is_odd_about_a_player(tmp_path, run, changed, problem):
    out = run("check", put_player(tmp_path, **changed))[1]
    assert sum(line.startswith(f"  {problem}") for line in out) == 1, out


def test_what_the_remaster_shows(tmp_path, run):
    path = put_player(tmp_path)
    folder = path.parent / "md5"
    folder.mkdir()
    (folder / "tris.md5mesh").write_bytes((EXAMPLE / "newt.md5mesh").read_bytes())
    (folder / "tris.md5anim").write_bytes((EXAMPLE / "walk.md5anim").read_bytes())
    assert f"  shown instead: {folder / 'tris.md5mesh'}" in run("info", path)[1]
    assert "  warning: 'tris.md5anim' has 25 frames, of which the game plays 198" in run("check", path)[1]
    assert PLAYER in path.as_posix()


def test_a_player_of_xreal(tmp_path, run):
    path = put_xreal(tmp_path, character_cfg=CFG.replace("spine", "wing").encode())
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert out[0] == f"{path}: character, 2 animations in 2 files of frames, skin default"
    out = run("check", path)[1]
    text = "error: the body 'body.md5mesh' has no joint 'wing', which firsttorsobonename asks for: the game stops there"
    assert f"  {text}" in out
