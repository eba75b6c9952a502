"""Characters of every game: what is not edited is written as it was, the whole and each of its models alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.animated import moved_paths
from io_idtech_models.game.folders import Disk
from tests.packs import put_pack
from tests.samples import CORPUS, PROJECT
from tests.ui.character.games import GAMES, changed, read, rig, saved, write
from tests.ui.scene import activate, bpy, error_of, export_model, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
each_game = pytest.mark.parametrize("game", GAMES)


def nothing(game: str, folder: Path) -> None:
    pass


def play(game: str, folder: Path) -> None:
    bpy.context.scene.frame_set(11)
    assert bpy.ops.object.idtech_animation_play(name=GAMES[game].row) == {"FINISHED"}


def move(game: str, folder: Path) -> None:
    """Move and turn all that hangs on nothing, but a mesh, whose place is in its file."""
    for block in bpy.data.objects:
        if block.parent is None and block.type != "MESH":
            block.location.x += 30
            block.rotation_euler.z = 1.0


def move_body(game: str, folder: Path) -> None:
    """Move and scale the body's armature against the root that it may have."""
    if game != "quake2":
        rig().location.y, rig().scale = 5, (2, 2, 2)


def opened_again(game: str, folder: Path) -> None:
    reopen(folder)


OPTIONS: list[dict[str, Any]] = [
    {}, {"scale": 0.5}, {"animations": False}, {"make_all": True}, {"weld": False}, {"as_shown": False},
]  # fmt: skip
WAYS = [pytest.param(options, nothing, id="-".join(options) or "as it is") for options in OPTIONS]
WAYS += [pytest.param({}, do, id=do.__name__) for do in (play, move, move_body, opened_again)]


@pytest.mark.parametrize(("options", "do"), WAYS)
@each_game
def test_the_whole(tmp_path, game, options, do, capfd):
    if (game, options) == ("rtcw", {"animations": False}):
        return  # the frames are the body's own file's, which is written with those that are there
    read(GAMES[game].put(tmp_path / "game"), game, **options)
    do(game, tmp_path)
    capfd.readouterr()
    places = {block.name: tuple(block.location) for block in bpy.data.objects}
    found = saved(tmp_path / "out")
    assert {block.name: tuple(block.location) for block in bpy.data.objects} == places
    assert set(found) == set(GAMES[game].files()) - GAMES[game].others | GAMES[game].own
    assert set(changed(found, game)) == GAMES[game].own
    said = capfd.readouterr().out.lower()
    assert ("which no file says" in said) == ("warning" in said) == (do is move_body and game != "quake2")


def test_a_head_that_plays_frames_of_its_own_stands_where_it_hangs(tmp_path, capfd):
    file = PROJECT / "examples/trooper/characters/toys/allied/trooper.char"
    assert bpy.ops.import_scene.idtech_character(filepath=str(file)) == {"FINISHED"}
    (head,) = (block for block in bpy.data.objects if block.get("idtech_part") and moved_paths(block) == ['["frame"]'])
    capfd.readouterr()
    saved(tmp_path / "out")
    assert "warning" not in capfd.readouterr().out.lower()
    head.keyframe_insert("location", frame=0)
    saved(tmp_path / "again")
    assert "stands off where the game hangs it" in capfd.readouterr().out


def test_a_character_in_frames_is_written_as_it_plays(tmp_path, capfd):
    """Though the head shows one frame of its own all the while, which its row has no more of."""
    file = PROJECT / "examples/trooper/characters/toys/allied/trooper.char"
    assert bpy.ops.import_scene.idtech_character(filepath=str(file)) == {"FINISHED"}
    scene, mouth = bpy.context.scene, bpy.data.objects["tag_mouth"]
    activate(rig())
    shown = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        shown.append(mouth.matrix_world.translation.copy())
    capfd.readouterr()
    tags = {tag.name: tag for tag in export_model(tmp_path / "all.md3", what="VISIBLE").tags}
    np.testing.assert_allclose(tags["tag_mouth"].origins, shown, atol=1e-3)
    assert "frame 0 to 39, as its parts play there" in capfd.readouterr().out
    export_model(tmp_path / "all.md3", what="VISIBLE", frames="ACTIONS")
    said = capfd.readouterr().out
    assert "'soldier': 3 animations without an action yet left out" in said and "'body', 'walk', 'salute'" in said
    assert "where its keys are" not in said, "rows that end between frames of the scene are as import made them"


@pytest.mark.parametrize("do", [play, move])
@each_game
def test_each_model_alone(tmp_path, game, do, capfd):
    read(GAMES[game].put(tmp_path / "game"), game)
    do(game, tmp_path)
    capfd.readouterr()
    written = set()
    for block in [block for block in bpy.data.objects if block.type in ("ARMATURE", "MESH")]:
        if block.type == "MESH" and block.parent is not None and block.parent.type == "ARMATURE":
            continue
        activate(block)
        file = Path(next(home["idtech_file"] for home in block.users_collection if home.get("idtech_file")))
        export = getattr(bpy.ops.export_scene, f"idtech_{file.suffix[1:].lower()}")
        assert export(filepath=str(tmp_path / file.name)) == {"FINISHED"}
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name
        written.add(file.name)
    assert len(written) >= (1 if game == "xreal" else 2)
    assert "warning" not in capfd.readouterr().out.lower()


@each_game
def test_from_an_archive_into_one_that_opens_again(tmp_path, game):
    mine = tmp_path / f"game/z_mine{GAMES[game].pack}"
    read(put_pack(tmp_path / f"game/pak0{GAMES[game].pack}", GAMES[game].files()), game)
    count = len(bpy.data.objects)
    assert write(filepath=str(mine)) == {"FINISHED"}
    found = {"/".join((*folders, file.name)): file.read() for folders, file in Disk().store(mine).walk()}
    assert set(found) == set(GAMES[game].files()) - GAMES[game].others | GAMES[game].own
    assert set(changed(found, game)) == GAMES[game].own
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    read(mine, game)
    assert len(bpy.data.objects) == count


@each_game
def test_into_its_own_folder_touches_nothing(tmp_path, game):
    read(GAMES[game].put(tmp_path / "game"), game)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "game").rglob("*")}
    assert write(filepath=str(tmp_path / "game")) == {"FINISHED"}
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "game").rglob("*")} == before
    assert "was edited: there is no file to write" in error_of(write, filepath=str(tmp_path / "x"), edited_only=True)


REAL = [
    *(("et", path) for path in sorted(CORPUS.rglob("*.char"))),
    *(("rtcw", path) for path in sorted(CORPUS.rglob("wolfanim.cfg"))),
    *(("xreal", path) for path in sorted(CORPUS.rglob("players/xsarge/character.cfg"))),
]


@pytest.mark.skipif(not REAL, reason="the corpus of real files is not here")
@pytest.mark.parametrize(("game", "path"), REAL, ids=lambda each: each if isinstance(each, str) else each.stem)
def test_real_ones(tmp_path, game, path):
    read(path, game)
    found = saved(tmp_path)
    assert len(found) >= {"et": 20, "rtcw": 5, "xreal": 19}[game]
    assert [name for name, data in found.items() if data != (path.parents[3] / name).read_bytes()] == []
