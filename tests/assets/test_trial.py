"""Running a game: what it is given and told, what comes back, and that nothing stays behind."""

import os
import time
from pathlib import Path

import pytest

from io_idtech_models.assets.trial import PACK, Program, Settings, Trial, places, run
from io_idtech_models.game.folders import Game
from io_idtech_models.game.trial.script import View
from io_idtech_models.game.trial.subject import Player, Thing
from io_idtech_models.reporting import LimitError, ModelError
from tests.samples import sample
from tests.trials import is_gone, player, shell_script, toy

MODEL = {"models/thing.md3": sample("minimal")}
THING = Thing("models/thing.md3")


@pytest.fixture
def game(tmp_path, monkeypatch):
    """Return a game, with all temporary folders where they can be counted: in the end none is left."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    yield toy(tmp_path)
    assert list((tmp_path / "temp").iterdir()) == []


def program(toy_game, **changes) -> Program:
    given = {"game": toy_game.game, "executable": toy_game.executable, "arguments": toy_game.arguments}
    return Program(**{**given, **changes})


def listing(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_a_game_is_given_the_files_in_a_folder_of_its_own(game, tmp_path):
    before = listing(game.folder)
    outcome = run(MODEL, THING, program(game), Settings())
    found = game.told
    assert found["folder"] == "base"
    assert set(found["files"]) == {*MODEL, "maps/idtech-room.bsp", "textures/idtech/room.tga"}
    assert set(found["scripts"]) == {"autoexec.cfg", "idtech-try.cfg"}
    assert found["cwd"] == found["home"], "what it writes beside itself goes, too"
    assert Path(found["home"]).parent == tmp_path / "temp"
    assert listing(game.folder) == before
    assert outcome.complaints == []
    assert outcome.seconds > 0


def test_it_is_told_what_the_template_says(game):
    run(MODEL, THING, program(game, map="q3dm1"), Settings())
    found = game.told
    words = ["+set", "fs_basepath", str(game.folder.parent), "+set", "fs_homepath", found["home"], "+devmap", "q3dm1"]
    assert found["arguments"] == words
    assert set(found["files"]) == set(MODEL), "no room is needed"


def test_a_mod_beside_the_game(game):
    mod = game.folder.parent / "mymod"
    mod.mkdir()
    run(MODEL, THING, program(game, game=Game("a", (str(mod), str(game.folder)))), Settings())
    assert game.told["folder"] == "mymod"
    assert game.told["arguments"][6:9] == ["+set", "fs_game", "mymod"]
    assert list(mod.iterdir()) == []


def test_a_mod_elsewhere_is_refused(game, tmp_path):
    with pytest.raises(LimitError, match="does not lie beside"):
        places(Game("a", (str(tmp_path / "mymod"), str(game.folder))))
    with pytest.raises(LimitError, match="does not lie beside"):
        places(Game("a", (str(game.folder.parent / "m"), str(game.folder.parent / "n"), str(game.folder))))


def test_complaints_come_back(game, monkeypatch):
    monkeypatch.setenv("TRIAL_LOG", "^1WARNING: models/thing.md3 is odd\nWARNING: sound/a.wav is\nWARNING: wall is\n")
    monkeypatch.setenv("TRIAL_PRINTS", "1")
    found = run(MODEL, THING, program(game), Settings(), {"wall"}).complaints
    assert found == ["WARNING: models/thing.md3 is odd", "WARNING: wall is"]


def test_a_model_that_was_not_loaded(game, monkeypatch):
    files = {path: data for path, data in player().items() if not path.endswith("upper.md3")}
    found = run(files, Player("toy"), program(game), Settings()).complaints
    assert found == ["the game did not load 'models/players/toy/upper.md3'"]
    monkeypatch.setenv("TRIAL_LISTS_NONE", "1")
    assert "does not tell whether" in run(files, Player("toy"), program(game), Settings()).complaints[0]


def test_a_status_is_said(game, monkeypatch):
    monkeypatch.setenv("TRIAL_STATUS", "3")
    assert run(MODEL, THING, program(game), Settings()).complaints == ["the game ended with status 3"]


def test_a_picture(game, monkeypatch):
    shown = Settings(View(picture=True))
    found = run(MODEL, THING, program(game), shown)
    assert found.picture and found.picture.endswith(b"abc")
    assert run(MODEL, THING, program(game), Settings()).picture is None
    monkeypatch.setenv("TRIAL_NO_SHOT", "1")
    found = run(MODEL, THING, program(game), shown)
    assert (found.picture, found.complaints) == (None, ["the game took no picture"])


@pytest.mark.skipif(os.name == "nt", reason="no shell scripts")
def test_a_program_by_a_path_from_here(game, tmp_path, monkeypatch):
    script = shell_script(tmp_path, f'exec "{game.executable}" "$@"')
    monkeypatch.chdir(tmp_path)
    assert run(MODEL, THING, program(game, executable=script.name), Settings()).complaints == []


# -- its end


def wait_for(game) -> int:
    """Return the number of the process, once it has started."""
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        if game.notes.exists() and game.notes.read_text(encoding="utf-8"):
            return int(game.told["pid"])
        time.sleep(0.02)
    raise AssertionError("it did not start")


def test_a_game_whose_time_is_over_is_ended(game, monkeypatch):
    monkeypatch.setenv("TRIAL_STAYS", "1")
    outcome = run(MODEL, THING, program(game), Settings(time_limit=1.0))
    assert "the game was ended after 1 seconds, the time limit" in outcome.complaints
    assert is_gone(wait_for(game))


def test_a_game_can_be_ended(game, monkeypatch):
    monkeypatch.setenv("TRIAL_STAYS", "1")
    monkeypatch.setenv("TRIAL_LOG", "Received signal 15, exiting")
    with Trial(MODEL, THING, program(game), Settings()) as trial:
        pid = wait_for(game)
        assert trial.is_running()
        trial.stop()
        assert not trial.is_running()
        assert trial.outcome().complaints == ["the game was ended"]
    assert is_gone(pid)


@pytest.mark.skipif(os.name == "nt", reason="no shell scripts")
def test_what_a_script_has_started_is_ended_too(game, monkeypatch, tmp_path):
    monkeypatch.setenv("TRIAL_STAYS", "1")
    script = shell_script(tmp_path, f'"{game.executable}" "$@"\ntrue')
    with Trial(MODEL, THING, program(game, executable=str(script)), Settings()):
        pid = wait_for(game)
    assert is_gone(pid)


def test_an_error_in_between_leaves_nothing(game, monkeypatch):
    monkeypatch.setenv("TRIAL_STAYS", "1")
    with pytest.raises(KeyboardInterrupt), Trial(MODEL, THING, program(game), Settings()):
        pid = wait_for(game)
        raise KeyboardInterrupt
    assert is_gone(pid)


# -- what is refused


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"executable": ""}, "no executable is set for the game 'toy game'"),
        ({"executable": "/no/such/program"}, "there is no program '/no/such/program'"),
        ({"executable": "."}, "there is no program '.'"),
        ({"arguments": "{what}"}, r"have \{what\}"),
        ({"map": "a;quit"}, "can't name it"),
        ({"map": "a b"}, "can't name it"),
    ],
)
def test_what_can_not_be_run(game, changes, why):
    with pytest.raises(ModelError, match=why):
        run(MODEL, THING, program(game, **changes), Settings())
    assert not game.notes.exists()


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_a_file_that_is_no_program(game, tmp_path):
    other = tmp_path / "data.txt"
    other.write_bytes(b"x")
    with pytest.raises(LimitError, match="no program that can be run"):
        run(MODEL, THING, program(game, executable=str(other)), Settings())
    other.chmod(0o755)
    with pytest.raises(ModelError, match="can't run"):
        run(MODEL, THING, program(game, executable=str(other)), Settings())


def test_paths_that_no_game_opens(game):
    with pytest.raises(LimitError, match="63 characters: 'models/aaa"):
        run({**MODEL, "models/" + "a" * 60: b""}, THING, program(game), Settings())


def test_no_shell_sees_the_arguments(game, tmp_path):
    words = f'{game.arguments} "$(touch {tmp_path}/a)" `touch {tmp_path}/b` ; touch {tmp_path}/c'
    run(MODEL, THING, program(game, arguments=words), Settings())
    assert not any((tmp_path / name).exists() for name in "abc")
    assert f"$(touch {tmp_path}/a)" in game.told["arguments"]


def test_what_a_file_names_is_never_run(game, tmp_path):
    assert PACK.endswith(".pk3")
    files = {**MODEL, "autoexec.cfg": b"quit", "idtech-try.cfg": b"quit", "../evil": b"x", "base/evil.sh": b"x"}
    run(files, THING, program(game), Settings())
    assert set(game.told["scripts"]) == {"autoexec.cfg", "idtech-try.cfg"}
    assert "quit" not in "".join(game.told["scripts"].values()).splitlines()
    assert not list(tmp_path.rglob("evil*"))
