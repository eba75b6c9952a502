"""Game folders in the preferences of the extension: the list, and what imports find by it."""

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.game.families import FAMILIES
from io_idtech_models.game.folders import Game
from io_idtech_models.tasks import skins
from io_idtech_models.tasks.import_ import games
from io_idtech_models.ui import cli, preferences
from tests.packs import put_files, put_pack
from tests.samples import PROJECT, sample
from tests.ui.scene import bpy, first, import_model, png
from tests.ui.test_archives import below, images

pytestmark = pytest.mark.usefixtures("empty_scene")
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper"
BODY = "models/animated/body.png"  # what the sample names


@pytest.fixture
def own(empty_scene):
    """The preferences, as where the extension is installed."""
    addon: Any = bpy.context.preferences.addons.new()
    addon.module = games.PACKAGE
    yield addon.preferences
    bpy.context.preferences.addons.remove(bpy.context.preferences.addons[games.PACKAGE])


def add(own: Any, folder: Path | str, **options: Any) -> Any:
    game = own.games.add()
    game.folder = str(folder)
    for name, value in options.items():
        setattr(game, name, value if isinstance(value, bool) else str(value))
    return game


def a_game(folder: Path) -> Path:
    """Return a game's folder, with a picture in an archive."""
    put_pack(folder / "pak0.pk3", {BODY: png(folder.parent / "made.png").read_bytes()})
    return folder


def test_without_being_installed_there_are_none():
    assert games.preferences() is None
    assert games.configured() == []
    assert not bpy.ops.preferences.idtech_game_add.poll()
    assert not bpy.ops.import_scene.idtech_game.poll()


def test_the_list(own):
    bpy.context.preferences.is_dirty = False
    for name in "abc":
        bpy.ops.preferences.idtech_game_add()
        own.games[-1].name = name
    assert bpy.context.preferences.is_dirty, "else Blender would not save it"
    assert own.active == 2
    assert bpy.ops.preferences.idtech_game_move(way="DOWN") == {"CANCELLED"}
    bpy.ops.preferences.idtech_game_move(way="UP")
    assert ([game.name for game in own.games], own.active) == (["a", "c", "b"], 1)
    bpy.ops.preferences.idtech_game_remove()
    assert ([game.name for game in own.games], own.active) == (["a", "b"], 1)
    for _ in range(2):
        assert bpy.ops.preferences.idtech_game_remove() == {"FINISHED"}
    assert bpy.ops.preferences.idtech_game_remove() == {"CANCELLED"}
    assert (len(own.games), own.active) == (0, 0)


def test_names_differ_and_come_from_folders(own):
    for folder in ("", "", "/games/Quake III/baseq3/", "/games/mymod", "/games/mymod/"):
        add(own, folder)
    assert games.names_of(own.games) == ["Game", "Game 2", "Quake III", "mymod", "mymod 2"]
    own.games[3].name = "Quake III"
    own.games[4].name = " "
    assert games.names_of(own.games) == ["Game", "Game 2", "Quake III", "Quake III 2", "mymod"]
    engines = own.games[0].bl_rna.properties["family"].enum_items
    assert [item.identifier for item in engines] == [games.AS_ARCHIVES, *FAMILIES]


@pytest.mark.filterwarnings("ignore:.*does not support blend relative")
def test_paths_belong_to_no_blend(own, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    game = add(own, "//games", mod="//mod")
    preferences.make_whole(game)
    assert (game.folder, game.mod) == (str(tmp_path / "games"), str(tmp_path / "mod"))
    preferences.make_whole(game)
    assert game.folder == str(tmp_path / "games")


def test_which_games_count(own, tmp_path):
    folders = [tmp_path / name for name in ("base", "mod", "off", "other")]
    for folder in folders:
        folder.mkdir()
    base, mod, off, other = map(str, folders)
    add(own, base, mod=mod, name="a", family="doom3")
    add(own, off, name="b", enabled=False)
    add(own, tmp_path / "gone", name="c")
    add(own, other, mod=tmp_path / "gone", name="a")
    add(own, "", name="e")
    assert games.configured() == [Game("a", (mod, base), "doom3"), Game("a 2", (other,), "")]
    assert games.user_disk().games == tuple(games.configured())


def test_what_is_wrong_with_a_folder(tmp_path):
    assert games.fault_of(str(tmp_path / "gone")) == f"there is no folder '{tmp_path / 'gone'}'"
    assert "no archive and no 'models' lies in it" in games.fault_of(str(tmp_path))
    (tmp_path / "models").mkdir()
    assert games.fault_of(str(tmp_path)) == ""
    assert games.fault_of(str(a_game(tmp_path / "base"))) == ""


@pytest.mark.parametrize("enabled", [True, False])
def test_a_model_elsewhere_finds_what_it_names_in_a_game(own, tmp_path, enabled):
    add(own, a_game(tmp_path / "base"), enabled=enabled)
    put_files(tmp_path, {"desk/a.md3": sample("animated")})
    found = images(import_model(tmp_path / "desk/a.md3"))["models/animated/body.tga"]
    assert (found is not None and found.packed_file is not None) == enabled


def test_bones_and_animations_of_a_game(own, tmp_path):
    files = below(TROOPER, TROOPER)
    put_pack(tmp_path / "etmain/pak0.pk3", {"animations/human/base/body.mdx": files["body.mdx"]})
    put_files(tmp_path, {"desk/body.mdm": files["body.mdm"]})
    add(own, tmp_path / "etmain")
    collection = import_model(tmp_path / "desk/body.mdm")
    rig = first("ARMATURE", collection.objects)
    assert len(rig.data.bones) > 10, "those of the game's file"
    assert "body" in bpy.data.actions
    rig.animation_data_clear()
    bpy.context.view_layer.objects.active = rig
    before = len(bpy.data.actions)
    bpy.ops.import_anim.idtech_mdx(filepath=str(tmp_path / "etmain/pak0.pk3/animations/human/base/body.mdx"))
    assert len(bpy.data.actions) > before


def test_skins_of_a_model_of_a_game(own, tmp_path):
    """By the rules of another engine another archive counts, and with it the pictures beside the model."""
    files = below(PROJECT / "examples/stilt/players/stilt", PROJECT / "examples/stilt")
    put_pack(tmp_path / "here/a.pak", files)
    put_pack(tmp_path / "mod/b.pak", {"players/stilt/extra.pcx": files["players/stilt/frost.pcx"]})
    collection = import_model(tmp_path / "here/a.pak/players/stilt/tris.md2")
    (block,) = collection.objects
    assert [file.name for file in skins.offered(block)] == ["frost.pcx"]
    add(own, tmp_path / "here", mod=tmp_path / "mod")
    assert [file.name for file in skins.offered(block)] == ["extra.pcx", "frost.pcx"]


def test_the_command_line_knows_nothing_of_them(own, tmp_path):
    add(own, a_game(tmp_path / "base"))
    put_files(tmp_path, {"desk/a.md3": sample("animated")})
    model, out = str(tmp_path / "desk/a.md3"), tmp_path / "a.glb"
    assert cli.main(["convert", model, str(out)]) == 0
    assert b"image/png" not in out.read_bytes()
    assert cli.main(["convert", model, str(out), "--game-folder", str(tmp_path / "base")]) == 0
    assert b"image/png" in out.read_bytes()
