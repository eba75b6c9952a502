"""Exports from a window ask before they replace what a model came from; scripts go on without a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.ui.export import overwriting
from tests import samples_md5
from tests.samples import put
from tests.samples_player import player_files
from tests.ui.player.players import brought, export_player, game
from tests.ui.scene import activate, bpy, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
write_over: Any = bpy.ops.export_scene.idtech_write_over


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """Answer later; returns how often a question was asked."""
    found: list[Path] = []
    monkeypatch.setattr(overwriting, "agreed", set())
    monkeypatch.setattr(overwriting, "ask", lambda: found.extend(overwriting._waiting[0][2]))
    return found


def test_the_file_that_a_model_came_from(tmp_path, asked, capfd):
    path = put(tmp_path / "x.md3")
    before = path.read_bytes()
    block = first("MESH", import_model(path).objects)
    block.name = "other"
    activate(block)
    export = bpy.ops.export_scene.idtech_md3
    assert export(filepath=str(tmp_path / "y.md3"), interactive=True) == {"FINISHED"} and not asked
    assert export(filepath=str(path), interactive=True, keep_suffixes=True, skin="red") == {"CANCELLED"}
    assert asked == [path] and path.read_bytes() == before and not (tmp_path / "x_red.skin").exists()
    capfd.readouterr()
    assert write_over() == {"FINISHED"}
    assert b"other" in path.read_bytes() and (tmp_path / "x_red.skin").exists()  # with the options of the dialog
    assert "x.md3: 2 surfaces" in capfd.readouterr().out
    path.write_bytes(before)
    assert export(filepath=str(path), interactive=True) == {"FINISHED"} and asked == [path]  # once in a session
    overwriting.agreed.clear()
    assert export(filepath=str(path)) == {"FINISHED"} and asked == [path]  # a script
    assert write_over() == {"CANCELLED"}


def test_animations_by_their_names(tmp_path, asked):
    """All actions go into the folder: where one came from a file there, that is asked for, too."""
    rig = import_model(put(tmp_path / "x.md5mesh", samples_md5.arm()))
    wave = put(tmp_path / "wave.md5anim", samples_md5.wave())
    activate(first("ARMATURE", rig.all_objects))
    assert bpy.ops.import_anim.idtech_md5anim(filepath=str(wave)) == {"FINISHED"}
    export = bpy.ops.export_anim.idtech_md5anim
    assert export(filepath=str(tmp_path / "new.md5anim"), what="ALL", interactive=True) == {"CANCELLED"}
    assert asked == [wave]
    assert export(filepath=str(tmp_path / "new.md5anim"), interactive=True) == {"FINISHED"} and asked == [wave]


@pytest.mark.parametrize("packed", [False, True])
def test_the_folder_or_archive_that_a_player_came_from(tmp_path, asked, packed):
    folder = game(tmp_path, packed)
    player = brought(folder)
    place = folder.parents[2] if packed else folder
    first("MESH", player.parts["head"].children).name = "other"
    assert export_player(filepath=str(place), interactive=True) == {"CANCELLED"} and asked == [place]
    if not packed:
        assert (folder / "head.md3").read_bytes() == player_files()["head.md3"]
    assert export_player(filepath=str(tmp_path / "z.pk3"), interactive=True) == {"FINISHED"}
    assert write_over() == {"FINISHED"}
    if not packed:
        assert b"other" in (folder / "head.md3").read_bytes()
