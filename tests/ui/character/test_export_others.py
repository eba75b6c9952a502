"""Export Character of Quake II, Doom 3 and XreaL: the whole character, and what is not edited is the same bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.curves import curve_points
from io_idtech_models.blender.properties import FRAME_COMMANDS, FRAME_RATE
from io_idtech_models.blender.provenance import PART
from io_idtech_models.blender.skeletal.channels import keep
from io_idtech_models.tasks.animations.find import of_rig
from tests import samples_doom3, samples_quake2, samples_xreal
from tests.packs import put_files
from tests.samples import CORPUS
from tests.samples_doom3 import NEWT, put_character
from tests.ui.scene import bpy, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
write: Any = bpy.ops.export_scene.idtech_character
REMASTER = {
    f"{samples_quake2.PLAYER}/md5/tris{suffix}": (samples_doom3.EXAMPLE / name).read_bytes()
    for suffix, name in ((".md5mesh", "newt.md5mesh"), (".md5anim", "walk.md5anim"))
}


@dataclass(frozen=True)
class Game:
    """A game's sample: how to put it, its files, those that are not the character's, its own archives."""

    put: Callable[..., Path]
    files: Callable[[], dict[str, bytes]]
    others: frozenset[str]  # files of the game that stay where they are
    pack: str
    name: str


GAMES = {
    "quake2": Game(samples_quake2.put_player, samples_quake2.files, frozenset(), ".pak", "stilt"),
    "xreal": Game(
        samples_xreal.put_player,
        samples_xreal.files,
        frozenset(("materials/newt.mtr", f"{samples_xreal.FOLDER}/picture.tga")),
        ".pk3",
        "newt",
    ),
    "doom3": Game(
        samples_doom3.put_character,
        samples_doom3.files,
        frozenset((
            "def/newt.def", "def/hat.def", "skins/newt.skin", "materials/newt.mtr", "textures/stone.tga",
            f"{NEWT}/newt.tga",
        )),
        ".pk4",
        "monster_newt",
    ),
}  # fmt: skip
OWN = {"def/monster_newt.def", "skins/monster_newt.skin", "materials/monster_newt.mtr"}  # of Doom 3's


def read(path: Path, game: str, **options: Any) -> None:
    given = {"character": GAMES[game].name} if game == "doom3" else {}
    assert bpy.ops.import_scene.idtech_character(filepath=str(path), **given, **options) == {"FINISHED"}


def saved(folder: Path, **options: Any) -> dict[str, bytes]:
    assert write(filepath=str(folder), **options) == {"FINISHED"}
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(found: dict[str, bytes], game: str) -> list[str]:
    before = GAMES[game].files()
    return sorted(name for name, data in found.items() if data != before.get(name))


def rig() -> Any:
    every = [block for block in bpy.data.objects if block.type == "ARMATURE"]
    return next(block for block in every if block.parent is None or block.parent.get(PART) not in ("head", "weapon"))


def show(name: str) -> Any:
    """Let the character play an animation, whose action is made if it has none; returns that."""
    bpy.context.view_layer.objects.active = rig()
    assert bpy.ops.object.idtech_animation_play(name=name) == {"FINISHED"}
    return rig().animation_data.action


def move(action: str, bone: str = "head") -> None:
    show(action)
    path = f'pose.bones["{bone}"].rotation_quaternion'
    for curve in playing_curves(rig()):
        if curve.data_path == path and curve.array_index == 1:
            times, values = curve_points(curve)
            for place, (time, value) in enumerate(zip(times.tolist(), values.tolist(), strict=True)):
                curve.keyframe_points[place].co = (time, value + 0.2)
            curve.update()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("options", [{}, {"scale": 0.5}, {"animations": False}])
def test_what_is_not_edited_is_the_same(tmp_path, game, options, capfd):
    read(GAMES[game].put(tmp_path / "game"), game, **options)
    capfd.readouterr()
    found = saved(tmp_path / "out")
    own = OWN if game == "doom3" else set()
    assert set(found) == set(GAMES[game].files()) - GAMES[game].others | own
    assert set(changed(found, game)) == own
    assert "warning" not in capfd.readouterr().out.lower()


@pytest.mark.parametrize("game", GAMES)
def test_an_archive_that_opens_again(tmp_path, game, capfd):
    read(GAMES[game].put(tmp_path / "game"), game)
    first = {block.name for block in bpy.data.objects}
    pack = tmp_path / f"mod/z_mine{GAMES[game].pack}"
    pack.parent.mkdir()
    assert write(filepath=str(pack)) == {"FINISHED"}
    for block in list(bpy.data.objects):
        bpy.data.objects.remove(block)
    capfd.readouterr()
    read(pack, game)
    assert len(bpy.data.objects) == len(first)
    assert not {"is not there", "missing", "declared nowhere"} & set(capfd.readouterr().out.split("\n"))


@pytest.mark.parametrize("game", GAMES)
def test_into_its_own_folder_touches_nothing(tmp_path, game):
    read(GAMES[game].put(tmp_path / "game"), game)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "game").rglob("*")}
    assert write(filepath=str(tmp_path / "game")) == {"FINISHED"}
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "game").rglob("*")} == before
    assert "was edited: there is no file to write" in error_of(write, filepath=str(tmp_path / "x"), edited_only=True)


@pytest.mark.parametrize("game", GAMES)
def test_a_reopened_blend_writes_the_same(tmp_path, game):
    read(GAMES[game].put(tmp_path / "game"), game)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "x.blend"))
    assert set(changed(saved(tmp_path / "out"), game)) == (OWN if game == "doom3" else set())


def test_the_gun_of_a_player_is_written_alone(tmp_path):
    read(GAMES["quake2"].put(tmp_path / "game"), "quake2", weapon="w_railgun")
    gun = next(block for block in bpy.data.objects if block.get(PART) == "weapon").children[0]
    for key in gun.data.shape_keys.key_blocks:
        key.data[0].co.z += 2.0
    found = saved(tmp_path / "out")
    assert changed(found, "quake2") == ["players/stilt/w_railgun.md2"]
    assert list(saved(tmp_path / "few", edited_only=True)) == ["players/stilt/w_railgun.md2"]


def test_a_file_that_is_gone_is_said(tmp_path, capfd):
    path = GAMES["quake2"].put(tmp_path / "game")
    read(path, "quake2")
    path.with_name("w_railgun.md2").unlink()
    capfd.readouterr()
    assert "players/stilt/w_railgun.md2" not in saved(tmp_path / "out")
    said = "left out, they are not where they were any more: 'players/stilt/w_railgun.md2'"
    assert said in capfd.readouterr().out


def test_a_skin_that_was_painted_on_is_said(tmp_path, capfd):
    read(GAMES["quake2"].put(tmp_path / "game"), "quake2", skin="moss")
    image = next(image for image in bpy.data.images if image.name == "moss.pcx")
    image.pixels[0] = 0.5
    image.update()
    image.pack()
    capfd.readouterr()
    saved(tmp_path / "out")
    assert "save the picture first: 'players/stilt/moss.pcx'" in capfd.readouterr().out


def test_the_remasters_body(tmp_path):
    path = GAMES["quake2"].put(tmp_path / "game")
    put_files(tmp_path / "game", REMASTER, {})
    read(path, "quake2", remaster=True)
    found = saved(tmp_path / "out")
    assert found == GAMES["quake2"].files() | REMASTER
    move("All Frames")
    found = saved(tmp_path / "edited")
    differing = [name for name, data in found.items() if data != (GAMES["quake2"].files() | REMASTER)[name]]
    assert differing == ["players/stilt/md5/tris.md5anim"]


@pytest.mark.parametrize(("game", "action", "file"), [("doom3", "walk1", "walk"), ("xreal", "idle", "idle")])
def test_an_edited_animation_is_written_alone(tmp_path, game, action, file):
    read(GAMES[game].put(tmp_path / "game"), game)
    move(action)
    found = saved(tmp_path / "out", edited_only=True)
    assert [name.rpartition("/")[2] for name in found] == [f"{file}.md5anim"]


def test_another_frame_rate_is_an_edit(tmp_path):
    read(GAMES["xreal"].put(tmp_path / "game"), "xreal")
    show("walk")[FRAME_RATE] = 48.0
    found = saved(tmp_path / "out", edited_only=True)
    assert list(found) == ["models/players/newt/walk.md5anim"] and b"frameRate 48" in next(iter(found.values()))


def test_a_head_on_a_joint_is_written_in_its_own_space(tmp_path):
    read(put_character(tmp_path / "game"), "doom3")
    head = next(block for block in bpy.data.objects if block.get(PART) == "head")
    mesh = next(block for block in head.children_recursive if block.type == "MESH")
    mesh.data.vertices[0].co.z += 3.0
    found = saved(tmp_path / "out", edited_only=True)
    assert list(found) == [f"{NEWT}/head.md5mesh"]


def test_another_material_is_a_line_of_the_skin(tmp_path):
    read(GAMES["xreal"].put(tmp_path / "game"), "xreal")
    mesh = next(block for block in bpy.data.objects if block.type == "MESH")
    mesh.material_slots[0].material = bpy.data.materials.new("models/players/newt/lava")
    found = saved(tmp_path / "out", edited_only=True)
    assert found["models/players/newt/body_default.skin"] == b"newt,models/players/newt/lava\n"


def new_action() -> None:
    action = bpy.data.actions["idle"].copy()
    action.name = "dance"
    action[FRAME_COMMANDS] = "3 sound_body snd_step"
    keep(rig(), action)


def test_a_new_animation_is_declared(tmp_path):
    read(put_character(tmp_path / "game"), "doom3")
    new_action()
    found = saved(tmp_path / "out")
    assert f"{NEWT}/dance.md5anim" in found
    text = found["def/monster_newt.def"].decode()
    assert f"anim\tdance\t{NEWT}/dance.md5anim {{\n\t\tframe 3 sound_body snd_step\n\t}}" in text
    bpy.ops.wm.read_factory_settings(use_empty=True)
    read(tmp_path / "out/def/monster_newt.def", "doom3")
    assert "dance" in [row.name for row in of_rig(rig()).rows()]


def test_a_declaration_that_is_there_stays(tmp_path, capfd):
    read(put_character(tmp_path / "game"), "doom3")
    new_action()
    before = (tmp_path / "game/def/newt.def").read_bytes()
    capfd.readouterr()
    saved(tmp_path / "game")
    assert (tmp_path / "game/def/newt.def").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "game/def").iterdir()) == ["hat.def", "newt.def"]
    assert "'def/newt.def' has another model 'newt_base'" in capfd.readouterr().out


def test_a_strangers_file_stays(tmp_path):
    other = b"entityDef stranger { }\n"
    put_files(tmp_path / "out", {"def/monster_newt.def": other}, {})
    read(put_character(tmp_path / "game"), "doom3")
    found = saved(tmp_path / "out")
    assert found["def/monster_newt.def"] == other
    assert b"newt_base" in found["def/monster_newt_2.def"]
    assert saved(tmp_path / "out") == found, "again is the same"


REAL = CORPUS / "xreal/base/models/players/xsarge/character.cfg"


def test_a_new_animation_of_xreal_lies_beside_the_others(tmp_path):
    read(GAMES["xreal"].put(tmp_path / "game"), "xreal")
    new_action()
    assert list(saved(tmp_path / "out", edited_only=True)) == ["models/players/newt/dance.md5anim"]


@pytest.mark.skipif(not REAL.is_file(), reason="no corpus")
def test_a_real_player(tmp_path):
    read(REAL, "xreal")
    found = saved(tmp_path)
    game = REAL.parents[3]
    assert len(found) > 18
    assert [name for name, data in found.items() if data != (game / name).read_bytes()] == []
