"""Animations of a character: all are listed, and their actions made when they are first played."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.skeletal import kept_frames
from io_idtech_models.blender.skeletal.kept_frames import KeptFile, KeptRow
from io_idtech_models.model.clips import Clip
from io_idtech_models.tasks.animations.find import animations_of, of_rig
from io_idtech_models.tasks.import_.kept_frames import first_row
from tests.samples import put
from tests.samples_character import TOYS, files, part, put_character
from tests.samples_md3 import TagSpec
from tests.ui.character.games import (
    actions,
    changed,
    edit_bones,
    fresh,
    keys_of,
    listed,
    mesh_of,
    opened,
    place,
    read,
    rig,
    roots,
    run,
    saved,
    show,
    tag,
)
from tests.ui.scene import bpy, error_of, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
make, play = bpy.ops.object.idtech_animation_make, bpy.ops.object.idtech_animation_play
ROWS = ["body", "stand", "walk", "salute", "extra", "crawl"]


def trooper(folder: Any, **options: Any) -> Any:
    """Import the soldier, whose armature is active then; returns that."""
    return opened(put_character(folder), **options)


def test_all_are_listed_and_one_is_made(tmp_path):
    block = trooper(tmp_path)
    assert (listed(), actions(), block.animation_data.action.name) == (ROWS, ["stand"], "stand")
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 39)


@pytest.mark.parametrize("name", ["walk", "crawl", "body"])
def test_playing_makes_the_action_that_all_at_once_would(tmp_path, name):
    trooper(tmp_path)
    for _ in range(2):
        assert show(name).name == name
        assert actions() == sorted({"stand", name})
    assert listed() == ROWS
    assert {row.name for row in of_rig(rig()).rows() if row.unmade is None} == {"stand", name}
    own, shown, said = keys_of(rig()), bpy.context.scene.frame_end, dict(show(name).items())
    assert said.pop("idtech_made_for") == rig().data["idtech_model"]
    fresh()
    trooper(tmp_path / "again", make_all=True)
    others, every = dict(show(name).items()), keys_of(rig())
    assert own.keys() == every.keys() and all(np.array_equal(own[key], every[key]) for key in own)
    assert bpy.context.scene.frame_end == shown
    left_out = ("idtech_given", "idtech_row_of", "idtech_file", "idtech_range")
    assert {key: value for key, value in said.items() if key not in left_out}.items() <= others.items()


@pytest.mark.parametrize(
    ("name", "shown", "said"),
    [("Salute", "salute", ""), ("jump", "stand", "there is no animation 'jump' to show at first")],
)
def test_another_may_be_shown_at_first(tmp_path, capfd, name, shown, said):
    assert trooper(tmp_path, animation=name).animation_data.action.name == shown
    out = capfd.readouterr().out
    assert said in out if said else all("texture not found" in text for text in out.split("; ")[1:])


def test_what_is_shown_at_first_stands():
    """Names don't say it: of what idles the first that is as high as a body that stands, be it called as it may."""
    heights = {"die": 9.0, "wounded_idle": 2.0, "stand_rifle": 10.0, "crouch_idle": 6.0, "relaxed_idle": 9.0}
    rows = [KeptRow(Clip(name, nth, 1, 15.0), [nth, 1]) for nth, name in enumerate(heights)]
    places = np.array([[[0.0, 0, 0], [0, 0, high]] for high in heights.values()])
    turns = np.tile([1.0, 0, 0, 0], (len(heights), 2, 1))
    motion: Any = SimpleNamespace(parents=np.array([-1, 0]), positions=places, rotations=turns, num_frames=len(heights))
    assert first_row([KeptFile("", "", "mdx", tuple(rows))], lambda _: motion) == (0, 4)
    assert first_row([KeptFile("", "", "mdx", tuple(rows[:3]))], lambda _: motion) == (0, 2)
    assert first_row([KeptFile("", "", "mdx", tuple(rows[:1]))], lambda _: motion) == (0, 0)


def test_all_are_made_when_asked_for(tmp_path):
    block = trooper(tmp_path)
    for options, wanted in (({"name": "walk"}, ["stand", "walk"]), ({}, sorted(ROWS)), ({}, sorted(ROWS))):
        assert make(**options) == {"FINISHED"}
        assert (actions(), listed(), block.animation_data.action.name) == (wanted, ROWS, "stand")


def test_renamed_and_duplicated(tmp_path):
    trooper(tmp_path)
    edit: Any = bpy.ops.object
    assert edit.idtech_animation_rename(name="walk", to="stroll") == {"FINISHED"}
    assert edit.idtech_animation_duplicate(name="salute", copy="wave") == {"FINISHED"}
    assert listed() == ["body", "stand", "stroll", "salute", "extra", "crawl", "wave"]
    assert "games ask for them by name" in error_of(edit.idtech_animation_remove, name="stroll")
    assert "games ask for them by name" in error_of(edit.idtech_animation_rename, name="body", to="x")
    assert edit.idtech_animation_remove(name="wave") == {"FINISHED"}


def test_a_blend_keeps_what_is_not_made(tmp_path):
    trooper(tmp_path)
    show("walk")
    reopen(tmp_path)
    assert listed() == ROWS
    show("crawl")
    assert actions() == ["crawl", "stand", "walk"]
    found = kept_frames.kept_files(rig())
    assert [file.game_name for file in found] == ["animations/toys/body.mdx", "animations/toys/extra.mdx"]
    assert kept_frames.kept_data(rig()).of(0) == files()["animations/toys/body.mdx"]


def test_actions_that_are_deleted_or_copied(tmp_path):
    """Without its action it is the file's row again; Blender's copy is none."""
    block = trooper(tmp_path)
    show("walk")
    keys = keys_of(block)
    bpy.data.actions.remove(bpy.data.actions["walk"])
    assert listed() == ROWS
    show("walk")
    assert all(np.array_equal(values, keys[key]) for key, values in keys_of(block).items())
    block.animation_data.action = bpy.data.actions["stand"].copy()
    assert listed() == [*ROWS, "stand"]


def test_damaged_records_are_dropped(tmp_path):
    block = trooper(tmp_path)
    block.data[kept_frames.FRAMES] = b"x"
    assert "the frames that 'body' keeps can't be read" in error_of(play, name="walk")
    for text in ("{", "{}", '{"scale": 0, "files": []}', '{"scale": 1, "files": [{}]}', "[" * 100000):
        block.data[kept_frames.ROWS] = text
        assert listed() == ["stand"]


def test_another_scale_and_bones_that_are_others_by_now(tmp_path):
    block = trooper(tmp_path, scale=0.5)
    show("walk")
    assert 15 < block.pose.bones["Bip01 Head"].head.z < 45
    assert kept_frames.scale_of(block) == 0.5
    edit_bones(lambda bones: bones.remove(bones["Bip01 Head"]))
    assert "'salute' does not fit 'body'" in error_of(play, name="salute")


def test_legs_and_torso_at_once(tmp_path):
    block = trooper(tmp_path)
    mix = bpy.ops.object.idtech_preview_torso
    assert mix(legs="walk", torso="salute") == {"FINISHED"}
    action = block.animation_data.action
    assert action["idtech_preview"] and action.name == "walk + salute"
    assert actions() == ["salute", "stand", "walk", "walk + salute"]
    bpy.context.scene.frame_set(7)
    shown = place(tag("tag_head"))
    show("walk")
    bpy.context.scene.frame_set(7)
    assert np.abs(shown - place(tag("tag_head"))).max() > 0.05, "the head goes with the torso"
    assert mix(legs="crawl", torso="walk") == {"FINISHED"}
    assert [a.name for a in bpy.data.actions if "idtech_preview" in a] == ["crawl + walk"], "the one before is gone"
    assert listed() == ROWS
    assert "there is no animation 'jump'" in error_of(mix, legs="walk", torso="jump")


@pytest.mark.parametrize("name", ["gun", "GUN", "models/weapons2/gun/gun.mdc", f"{TOYS}/acc/pack.md3"])
def test_a_weapon_in_hand(tmp_path, name):
    path = str(put_character(tmp_path))
    put(tmp_path / "models/multiplayer/hat/hat_3rd.md3")
    put(tmp_path / "models/multiplayer/hat/v_hat.md3")
    for no, said in (("bow", "the game has no weapon 'bow': 'hat'"), ("../x", "no weapon '../x'")):
        assert said in error_of(run, filepath=path, weapon=no)
    assert not bpy.data.objects
    put(tmp_path / "models/weapons2/gun/gun.md3")
    read(path, weapon=name)
    root = roots()["weapon"]
    assert names.file_name_of(root.parent) == "tag_weapon"
    for frame in (0, 30):
        bpy.context.scene.frame_set(frame)
        assert np.abs(place(root) - place(root.parent)).max() < 1e-4


# -- the head's own frames, which are rows of its table in the list, whatever the soldier plays

HEAD = part("head", TagSpec(b"tag_mouth", (1.0, 0.5, 3.0)), frames=6)


def height(mesh: Any, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    data = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return float(min(v.co.z for v in data.vertices))


def test_the_heads_rows_are_listed_and_played(tmp_path):
    """The first all the time, others when asked for; it is written as it was whatever it plays."""
    read(put_character(tmp_path / "game", toy_md3=HEAD))
    mesh = mesh_of(roots()["head"])
    bpy.context.view_layer.objects.active = mesh
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    assert [round(height(mesh, round(nth * rate / 10))) for nth in range(5)] == [1, 2, 3, 1, 2]
    animations: Any = animations_of(bpy.context)
    rows = animations.rows()
    assert [row.label for row in rows][:4] == ["All Frames", "HD_IDLE1", "HD_IDLE2", "HD_IDLE3"] and len(rows) == 17
    assert [(row.first, row.count, row.loop, row.frame_rate) for row in rows[1:3]] == [(1, 3, 3, 10), (0, 2, 2, 1)]
    assert play(name="HD_IDLE2") == {"FINISHED"}
    assert height(mesh, 0) == pytest.approx(0)
    assert play(name="All Frames") == {"FINISHED"}
    assert [round(height(mesh, frame)) for frame in (0, 3, 5)] == [0, 3, 5]
    assert bpy.context.scene.frame_end == 5
    assert "are not written" in error_of(bpy.ops.object.idtech_animation_rename, name="HD_IDLE2", to="x")
    found = saved(tmp_path / "out")
    assert changed(found) == ["models/players/hud/toy.md3"], "which is another one than the sample's"
    assert found["models/players/hud/toy.md3"] == HEAD


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (b"1 2 3 4\n5", "'head.anim': a head's animations end early"),
        (None, "the head's animations 'animations/toys/head.anim' is not there"),
    ],
)
def test_what_is_wrong_with_the_heads_table_is_said(tmp_path, capfd, table, said):
    read(put_character(tmp_path, toy_md3=HEAD, head_anim=table))
    assert capfd.readouterr().out.count(said) == 1
