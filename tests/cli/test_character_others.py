"""`info` and `check` of players of Quake II and of XreaL: what they are made of, and what the game would refuse."""

import json

import pytest

from tests.packs import put_files, put_pack
from tests.samples_doom3 import EXAMPLE
from tests.samples_quake2 import PLAYER, files, model, put_player
from tests.samples_wolf import put_character as put_wolf
from tests.samples_xreal import CFG, FOLDER
from tests.samples_xreal import put_player as put_xreal

pytestmark = pytest.mark.filterwarnings("error")


def test_info_of_a_player_is_that_of_the_model_and_the_players(tmp_path, run):
    path = put_player(tmp_path)
    status, out, err = run("info", path)
    assert (status, err) == (0, [])
    assert out[0] == f"{path}: MD2, 198 frames (stand01 ... death308)"
    start = out.index(f"{path}: character, 20 animations in 1 file of frames, skin frost")
    assert out[start + 1 :] == [
        f"  game folder: {tmp_path.as_posix()}/",
        f"  body: {PLAYER}/tris.md2",
        f"  frames: {PLAYER}/tris.md2, 20 animations",
        f"  weapon where the body stands: {PLAYER}/weapon.md2",
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
    newt = {"tris.md5mesh": "newt.md5mesh", "tris.md5anim": "walk.md5anim"}
    put_files(path.parent / "md5", {name: (EXAMPLE / of).read_bytes() for name, of in newt.items()})
    assert f"  shown instead: {PLAYER}/md5/tris.md5mesh" in run("info", path)[1]
    assert "  warning: 'tris.md5anim' has 25 frames, of which the game plays 198" in run("check", path)[1]
    assert PLAYER in path.as_posix()


def test_a_player_of_xreal(tmp_path, run):
    path = put_xreal(tmp_path)
    assert run("info", path)[::2] == (0, [])
    assert run("info", path)[1] == [
        f"{path}: character, 2 animations in 2 files of frames, skin default",
        f"  game folder: {tmp_path.as_posix()}/",
        "  it says: sex n; firsttorsobonename spine; neckcontrolbonename head; modelscale 0.83 0.83 0.83",
        "  the game shows it 0.83 times as large",
        f"  body: {FOLDER}/body.md5mesh",
        f"  wears: {FOLDER}/body_default.skin",
        f"  frames in {FOLDER}: idle.md5anim; walk.md5anim",
        "  skins: default, ice",
        "  missing or odd: 'character.cfg' has no lasttorsobonename: the torso plays what the legs play",
        "  missing or odd: there is no icon_default, as skin or picture: XreaL shows another player",
    ]
    (path.parent / "icon_default.tga").write_bytes(b"x")
    assert not any("icon" in line for line in run("info", path)[1])


@pytest.mark.parametrize(
    ("key", "problem", "why"),
    [("spine", "error", "firsttorsobonename asks for: the game shows"),
     ("head\n", "warning", "neckcontrolbonename asks for: the head")],
)  # fmt: skip
def test_joints_that_xreal_asks_for(tmp_path, run, key, problem, why):
    path = put_xreal(tmp_path, character_cfg=CFG.replace(key, "wing\n").replace('"wing\n"', "wing").encode())
    out = run("check", path)[1]
    said = f"  {problem}: the body 'body.md5mesh' has no joint 'wing', which {why}"
    assert sum(line.startswith(said) for line in out) == 1, out


def test_a_skin_of_xreal_with_too_few_lines(tmp_path, run):
    mesh = (EXAMPLE / "newt.md5mesh").read_bytes()
    more = mesh[mesh.index(b"mesh {") :]
    path = put_xreal(tmp_path, body_md5mesh=mesh.replace(b"numMeshes 1", b"numMeshes 2") + b"\n" + more)
    text = "the body 'body.md5mesh': its skin has 1 line for 2 meshes, the game shows the others as missing"
    assert f"  warning: {text}" in run("check", path)[1]


def test_a_character_of_wolfenstein(tmp_path, run):
    path = put_wolf(tmp_path)
    out = run("info", path)[1]
    assert "  the game shows it 1.25 times as large" in out and "  skins: default" in out
    text = "there is no wolfanim.script: the game refuses the character"
    assert f"  missing or odd: {text}" in out and f"  warning: {text}" in run("check", path)[1]
    (path.parent / "wolfanim.script").write_bytes(b"x")
    assert f"  warning: {text}" not in run("check", path)[1]
    (path.parent / "wolfanim.script").unlink()
    path.write_bytes(path.read_bytes().replace(b"VERSION 2", b"VERSION 1"))
    assert f"  warning: {text}" not in run("check", path)[1]
