"""Import and export of characters where these are players of Quake III: one way for all games."""

from typing import Any

import pytest

from io_idtech_models.blender.provenance import PART
from tests.samples_character import put_character
from tests.ui.player.players import active_player, game, originals
from tests.ui.scene import activate, bpy, error_of

pytestmark = pytest.mark.usefixtures("empty_scene")
run: Any = bpy.ops.import_scene.idtech_character
save: Any = bpy.ops.export_scene.idtech_character


@pytest.mark.parametrize("name", ["animation.cfg", "lower.md3", "head_default.skin"])
def test_a_player_is_a_character(tmp_path, name, capfd):
    assert run(filepath=str(game(tmp_path) / name), skin="default") == {"FINISHED"}
    assert "3 parts" in capfd.readouterr().out
    assert {block[PART] for block in bpy.data.objects if PART in block} >= {"lower", "upper", "head"}
    assert active_player().parts.keys() >= {"lower", "upper", "head"}


def test_it_is_saved_as_one(tmp_path):
    run(filepath=str(game(tmp_path / "game") / "animation.cfg"))
    target = tmp_path / "out/models/players/grunt"
    target.mkdir(parents=True)
    assert save(filepath=str(target)) == {"FINISHED"}
    found = {path.name: path.read_bytes() for path in target.iterdir() if not path.name.startswith("icon_")}
    assert found == originals()


def test_an_archive_of_players(tmp_path):
    folder = game(tmp_path, packed=True)
    pack = next(path for path in (folder, *folder.parents) if path.suffix == ".pk3")
    assert run(filepath=str(pack)) == {"FINISHED"}
    assert "there is no character in it" in error_of(run, filepath=str(pack), character="nobody")


def test_the_active_one_is_saved(tmp_path, capfd):
    run(filepath=str(game(tmp_path / "game") / "animation.cfg"))
    player = active_player()
    run(filepath=str(put_character(tmp_path / "et")))
    (tmp_path / "out").mkdir()
    capfd.readouterr()
    assert save(filepath=str(tmp_path / "out")) == {"FINISHED"}, "the soldier is active"
    assert (tmp_path / "out/characters").is_dir()
    activate(player.parts["lower"].children[0])
    assert save(filepath=str(tmp_path / "out/player")) == {"FINISHED"}
    assert (tmp_path / "out/player/lower.md3").is_file()


def test_a_player_is_always_written_whole(tmp_path, capfd):
    """The option for characters whose files are many is not ignored in silence."""
    run(filepath=str(game(tmp_path / "game") / "animation.cfg"))
    target = tmp_path / "out/models/players/grunt"
    target.mkdir(parents=True)
    activate(active_player().parts["lower"])
    said = "a player of Quake III is written whole"
    assert save(filepath=str(target)) == {"FINISHED"}
    assert said not in capfd.readouterr().out
    assert save(filepath=str(target), edited_only=True) == {"FINISHED"}
    assert said in capfd.readouterr().out
    assert {path.name for path in target.iterdir()} >= {"lower.md3", "upper.md3", "head.md3", "animation.cfg"}
