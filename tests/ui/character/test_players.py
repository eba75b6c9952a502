"""Import and export of characters where these are players of Quake III: one way for all games."""

from pathlib import Path

import pytest

from io_idtech_models.blender.provenance import PART
from tests.samples_character import put_character
from tests.ui.character.games import run, write
from tests.ui.player.players import active_player, game, originals
from tests.ui.scene import activate, bpy, error_of

pytestmark = pytest.mark.usefixtures("empty_scene")


def opened(tmp_path: Path) -> Path:
    """Import a player of a game; returns an empty folder for another of its name."""
    run(filepath=str(game(tmp_path / "game") / "animation.cfg"))
    target = tmp_path / "out/models/players/grunt"
    target.mkdir(parents=True)
    return target


@pytest.mark.parametrize("name", ["animation.cfg", "lower.md3", "head_default.skin"])
def test_a_player_is_a_character(tmp_path, name, capfd):
    assert run(filepath=str(game(tmp_path) / name), skin="default") == {"FINISHED"}
    assert "3 parts" in capfd.readouterr().out
    assert {block[PART] for block in bpy.data.objects if PART in block} >= {"lower", "upper", "head"}
    assert active_player().parts.keys() >= {"lower", "upper", "head"}


def test_it_is_saved_as_one(tmp_path, capfd):
    """Whole: the option for characters whose files are many is not ignored in silence."""
    target, said = opened(tmp_path), "a player of Quake III is written whole"
    activate(active_player().parts["lower"])
    for options in ({}, {"edited_only": True}):
        capfd.readouterr()
        assert write(filepath=str(target), **options) == {"FINISHED"}
        assert (said in capfd.readouterr().out) == bool(options)
        found = {path.name: path.read_bytes() for path in target.iterdir() if not path.name.startswith("icon_")}
        assert found == originals()


def test_an_archive_of_players(tmp_path):
    folder = game(tmp_path, packed=True)
    pack = next(path for path in (folder, *folder.parents) if path.suffix == ".pk3")
    assert run(filepath=str(pack)) == {"FINISHED"}
    assert "there is no character in it" in error_of(run, filepath=str(pack), character="nobody")


def test_the_active_one_is_saved(tmp_path):
    target = opened(tmp_path)
    player = active_player()
    run(filepath=str(put_character(tmp_path / "et")))
    assert write(filepath=str(tmp_path / "soldier")) == {"FINISHED"}, "who is active"
    assert (tmp_path / "soldier/characters").is_dir()
    activate(player.parts["lower"].children[0])
    assert write(filepath=str(target)) == {"FINISHED"}
    assert (target / "lower.md3").is_file()
