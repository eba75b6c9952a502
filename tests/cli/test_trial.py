"""`idtech try`: models as they lie on disk, shown in a game that a small program stands for."""

import os

import pytest

from io_idtech_models.cli import main as cli
from tests.packs import put_files, put_pack
from tests.samples import sample
from tests.trials import player, shell_script, toy

ARCHIVE = "that is an archive, name a model in it"


@pytest.fixture
def game(tmp_path, monkeypatch):
    """Work in a folder with a game in it."""
    monkeypatch.chdir(tmp_path)
    return toy(tmp_path)


@pytest.fixture
def run(game, capsys):
    """Return what tries a model: (status, lines of standard output, lines of standard error)."""

    def call(*argv: object) -> tuple[int, list[str], list[str]]:
        given = ["--game-folder", game.folder, "--executable", game.executable, "--arguments", game.arguments]
        status = cli.main(["try", *map(str, argv), *map(str, given)])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return call


def test_a_players_folder(game, run, tmp_path):
    put_files(tmp_path, {path.removeprefix("models/players/"): data for path, data in player("red").items()})
    status, out, err = run("toy", "--skin", "red", "--angle", "90")
    assert (status, err) == (0, [])
    assert out[0].startswith("toy/red in 'base': ")
    assert out[0].endswith(" seconds")
    assert "models/players/toy/head.md3" in game.told["files"]
    assert 'set model "toy/red"' in game.told["scripts"]["autoexec.cfg"]
    assert "set cg_thirdPersonAngle 90" in game.told["scripts"]["idtech-try.cfg"]


@pytest.mark.parametrize("name", ["games/base/models/thing.md3", "models/thing.md3", "MODELS/thing.md3"])
def test_a_model_of_the_game(game, run, name):
    assert run(name, "--map", "dm1")[0] == 0
    assert set(game.told["files"]) == {"models/thing.md3"}
    assert game.told["arguments"][-2:] == ["+devmap", "dm1"]


@pytest.mark.parametrize(
    "name", ["models/players/toy", "models/players/toy/head.md3", "games/base/a.pk3/models/players/toy"]
)
def test_a_player_of_the_games_archives(game, run, name):
    put_pack(game.folder / "a.pk3", player())
    status, _, err = run(name)
    assert (status, err) == (0, [])
    assert "models/players/toy/upper.md3" in game.told["files"]


@pytest.mark.parametrize("lies", ["a.pk3", "b.pk3", "loose"])
def test_what_is_named_is_what_is_shown(game, run, tmp_path, lies):
    """Of files of one name beside each other: archives that were downloaded into one folder."""
    thing, sizes = "models/thing.md3", {}
    for nth, place in enumerate(("a.pk3", "b.pk3", "loose")):
        files = {path: data + bytes(nth) for path, data in ({thing: sample("minimal")} | player()).items()}
        sizes[place] = {path: len(data) for path, data in files.items()}
        (put_files if place == "loose" else put_pack)(tmp_path / "two" / place.removesuffix("loose"), files)
    for name in (thing, "models/players/toy", "models/players/toy/upper.md3"):
        assert run(f"two/{lies}/{name}".replace("loose/", ""))[0] == 0
        shown = {path: size for path, size in game.told["files"].items() if path in sizes[lies]}
        assert shown and shown == {path: sizes[lies][path] for path in shown}


def test_a_picture(game, run, tmp_path):
    (tmp_path / "a.tga").write_bytes(b"old")
    assert run("models/thing.md3", "--shot", "a.tga", "--size", "64x64", "--set", "r_picmip=2")[0] == 0
    assert (tmp_path / "a.tga").read_bytes().endswith(b"abc")
    assert 'set r_picmip "2"' in game.told["scripts"]["autoexec.cfg"]


def test_complaints(game, run, monkeypatch):
    monkeypatch.setenv("TRIAL_LOG", "WARNING: models/thing.md3 is odd")
    status, out, err = run("models/thing.md3")
    assert (status, len(out)) == (1, 1)
    assert err == ["models/thing.md3: WARNING: models/thing.md3 is odd"]


def test_a_model_that_can_not_be_read_is_warned_of(game, run, tmp_path):
    put_files(tmp_path, {"models/a.md3": b"IDP3"})
    _, _, err = run("models/a.md3")
    assert err[0].startswith("models/a.md3: a.md3: ")


@pytest.mark.skipif(os.name == "nt", reason="no shell scripts")
def test_a_program_by_its_name(game, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    script = shell_script(tmp_path / "bin", f'exec "{game.executable}" "$@"')
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    given = ["models/thing.md3", "--game-folder", str(game.folder), "--arguments", game.arguments]
    assert cli.main(["try", *given, "--executable", script.name]) == 0


def test_a_time_limit(game, run, monkeypatch):
    monkeypatch.setenv("TRIAL_STAYS", "1")
    status, _, err = run("models/thing.md3", "--time-limit", "1")
    assert status == 1
    assert "models/thing.md3: the game was ended after 1 seconds, the time limit" in err


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("nothing",), "there is neither such a file nor a folder with lower.md3, upper.md3, head.md3"),
        (("games",), "there is neither"),
        (("toys.pk3",), f"{ARCHIVE} (toys.pk3/models/players/NAME); players of it: 'toy'"),
        (("none.pk3",), f"{ARCHIVE} (none.pk3/models/players/NAME); it has no players"),
        (("a.md2",), "'models/try/a.md2': only .md3 can be tried in a game"),
        (("models/thing.md3", "--shot", "a.png"), "games take pictures as .tga: 'a.png' is another"),
        (("models/thing.md3", "--set", "a"), "'a' is not NAME=VALUE"),
        (("models/thing.md3", "--set", "a=b;c"), "'a b;c' is no setting of a game: a name, and a plain value"),
    ],
)
def test_what_can_not_be_tried(game, run, tmp_path, argv, why):
    put_files(tmp_path, {"a.md2": sample("minimal", "md2")})
    put_pack(tmp_path / "toys.pk3", player())
    put_pack(tmp_path / "none.pk3", {"a.txt": b""})
    status, out, err = run(*argv)
    assert (status, out, len(err)) == (1, [], 1)
    assert err[0].startswith(f"{argv[0]}: {why}")
    assert not game.notes.exists()


def test_a_game_has_to_be_named(game, capsys):
    assert cli.main(["try", "a.md3", "--executable", game.executable]) == 1
    assert "say with --game-folder where the game is" in capsys.readouterr().err
    assert cli.main(["try", "a.md3"]) == 2
    assert "--executable" in capsys.readouterr().err


@pytest.mark.parametrize("given", [("--size", "9x9"), ("--size", "a"), ("--angle", "nan"), ("--time-limit", "x")])
def test_usage(given, capsys):
    assert cli.main(["try", "a.md3", "--executable", "b", *given]) == 2
