"""The head's own frames: rows of its table in the list, whatever the soldier plays."""

from typing import Any

import pytest

from io_idtech_models.tasks.animations.find import animations_of
from tests.samples_character import part, put_character
from tests.samples_md3 import TagSpec
from tests.ui.character.games import changed, mesh_of, read, roots, saved
from tests.ui.scene import bpy, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
HEAD = part("head", TagSpec(b"tag_mouth", (1.0, 0.5, 3.0)), frames=6)
play: Any = bpy.ops.object.idtech_animation_play


def opened(tmp_path: Any) -> Any:
    read(put_character(tmp_path / "game", toy_md3=HEAD))
    mesh = mesh_of(roots()["head"])
    bpy.context.view_layer.objects.active = mesh
    return mesh


def height(mesh: Any, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    data = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return float(min(v.co.z for v in data.vertices))


def test_it_plays_the_first_row_all_the_time(tmp_path):
    mesh = opened(tmp_path)
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    times = [round(nth * rate / 10) for nth in range(5)]
    assert [round(height(mesh, time)) for time in times] == [1, 2, 3, 1, 2]


def test_rows_are_listed_and_played(tmp_path):
    """They come from its own table, and it is written as it was whatever it plays."""
    mesh = opened(tmp_path)
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


def test_what_is_wrong_with_its_table_is_said(tmp_path, capfd):
    read(put_character(tmp_path, toy_md3=HEAD, head_anim=b"1 2 3 4\n5"))
    assert "'head.anim': a head's animations end early" in capfd.readouterr().out
    path = put_character(tmp_path / "b")
    (tmp_path / "b/animations/toys/head.anim").unlink()
    read(path)
    assert capfd.readouterr().out.count("the head's animations 'animations/toys/head.anim' is not there") == 1
