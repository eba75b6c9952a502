"""Export Declaration: new animations of a model of Doom 3, and what tells the game of them."""

from typing import Any

import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import play
from io_idtech_models.blender.properties import ANIM_FLAGS, FRAME_COMMANDS
from io_idtech_models.game.character.kinds import character_of
from io_idtech_models.game.folders import Disk
from tests.samples_doom3 import EXAMPLE, NEWT, TEXT, put_character
from tests.ui.character.games import opened, saved, show
from tests.ui.scene import bpy, error_of

pytestmark = pytest.mark.usefixtures("empty_scene")
export: Any = bpy.ops.export_scene.idtech_declaration


@pytest.fixture
def game(tmp_path):
    """Return a game's folder, whose character is in the scene, with an animation more: half of the walk."""
    rig = opened(put_character(tmp_path), character="newt_base")
    action = show("walk1").copy()
    action.name = "dance"
    names.remember(action, "dance")
    action[FRAME_COMMANDS], action[ANIM_FLAGS] = "3 sound snd_x", "random_cycle_start, anim_turn"
    play(rig, action)
    return tmp_path


def test_a_new_file_that_inherits_the_old_model(game):
    assert export(filepath=str(game / "def/newt_mod.def")) == {"FINISHED"}
    assert (game / "def/newt_mod.def").read_text() == (
        "model newt_mod\n{\n\tinherit newt_base\n\tanim dance models/md5/newt/dance.md5anim {\n"
        "\t\trandom_cycle_start\n\t\tanim_turn\n\t\tframe 3 sound snd_x\n\t}\n}\n"
    )
    assert (game / NEWT / "dance.md5anim").read_bytes() == (EXAMPLE / "walk.md5anim").read_bytes()
    character = character_of(Disk().file(game / "def/newt.def"), "", "newt_mod")
    assert (character.missing, character.refused) == ([], [])
    assert {name for motion in character.motions for name in motion.names} == {
        "ik_pose", "idle", "walk1", "walk1, 2", "dance",
    }  # fmt: skip
    assert (game / "def/newt.def").read_text() == TEXT, "nothing is written into what was there"


@pytest.mark.parametrize("way", ["declaration", "character"])
def test_commands_of_a_new_animation_are_written_as_the_game_reads_them_and_checked(game, capfd, way):
    bpy.data.actions["dance"][FRAME_COMMANDS] = "frame 3 sound snd_x\nFRAME\t400 sound snd_y\n5 sound frame"
    if way == "declaration":
        assert export(filepath=str(game / "def/newt_mod.def")) == {"FINISHED"}
        text = (game / "def/newt_mod.def").read_text()
    else:
        text = saved(game / "out")["def/newt_base.def"].decode()
    for line in ("frame 3 sound snd_x", "frame 400 sound snd_y", "frame 5 sound frame"):
        assert f"\t{line}\n" in text
    assert "and commands at '400', for which the game refuses the model" in capfd.readouterr().out


def test_into_the_file_that_declares_the_model(game):
    text = "// mine\nmodel newt_mod { inherit newt_base\n\tanim sit models/x.md5anim // not yet\n}\n"
    (game / "def/own.def").write_text(text)
    assert export(filepath=str(game / "def/own.def"), model="newt_mod", actions="dance") == {"FINISHED"}
    lines = (game / "def/own.def").read_text().splitlines()
    assert [line for line in lines if line in text.splitlines()] == text.splitlines()
    assert "\tanim dance models/md5/newt/dance.md5anim {" in lines


STRANGERS = "'newt.def' is there and declares no model 'newt': choose another file, or its model"


def called_in_two_words():
    names.remember(bpy.data.actions["dance"], "two words")
    bpy.data.actions["dance"].name = "two words"


def deleted():
    bpy.data.objects["newt"].animation_data.action = bpy.data.actions["walk1"]
    bpy.data.actions.remove(bpy.data.actions["dance"])


@pytest.mark.parametrize(
    ("path", "options", "edit", "message"),
    [
        ("newt_mod.def", {}, None, "the game looks for declarations in its folder 'def'"),
        ("def/newt_mod.txt", {}, None, "the game looks for declarations in its folder 'def'"),
        ("def/newt_mod.def", {"actions": "fly"}, None, "has no animation 'fly'"),
        ("def/newt_mod.def", {"model": 'a"b'}, None, "can't be written in a declaration"),
        ("def/newt_mod.def", {}, called_in_two_words, "can't be the name of an animation"),
        ("def/newt_mod.def", {}, deleted, "has no animation that is not declared already"),
        (
            "def/newt.def",
            {},
            None,
            STRANGERS,
        ),
    ],
)
def test_what_can_not_be_written(game, path, options, edit, message):
    """Nor is anything written into what is somebody else's."""
    if edit is not None:
        edit()
    before = {path: path.read_bytes() for path in game.rglob("*") if path.is_file()}
    assert message in error_of(export, filepath=str(game / path), **options)
    assert before == {path: path.read_bytes() for path in game.rglob("*") if path.is_file()}


def test_a_name_that_another_file_has(game, capfd):
    (game / "def/a.def").write_text("model newt_mod { mesh x.md5mesh }")
    assert export(filepath=str(game / "def/newt_mod.def")) == {"FINISHED"}
    assert "'def/a.def' declares a model 'newt_mod', too, and is read before: that counts" in capfd.readouterr().out
