"""Check for Game: what a game would refuse is selected and listed, and nothing is written."""

from typing import Any

import pytest

from io_idtech_models.blender.roots import root_of
from io_idtech_models.ui.check import operators as check
from tests.samples import PROJECT, SENTINEL, put
from tests.ui.player.players import brought, game
from tests.ui.scene import activate, add_cube, bpy, error_of, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
check_game: Any = bpy.ops.object.idtech_check_game


def selected() -> list[str]:
    return sorted(block.name for block in bpy.context.selected_objects)


def test_every_format_and_game_that_reads_it_is_offered():
    offered = [target for target, *_ in check._targets()]
    assert len(set(offered)) == len(offered)
    assert {"md2:quake2", "md3:quake3", "md5mesh:doom3", "mdm:et"} <= set(offered)
    assert not any(target.startswith(("md5anim:", "mdx:")) for target in offered)


def test_what_is_too_large_is_selected(capfd):
    add_cube("small")
    for name, steps in (("large", 40), ("larger", 50)):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=steps, y_subdivisions=steps)
        bpy.context.view_layer.objects.active.name = name
    bpy.ops.object.select_all(action="SELECT")
    assert check_game(target="md3:quake3") == {"FINISHED"}
    assert selected() == ["large", "larger"]
    out = capfd.readouterr().out
    assert "4 errors" in out
    assert "'larger' has 2601 vertices, Quake III Arena takes 999" in out
    bpy.ops.object.select_all(action="SELECT")
    assert check_game(target="md3:etlegacy") == {"FINISHED"}
    assert selected() == ["large", "larger", "small"], "nothing to show: the selection stays"
    assert "no armature" in error_of(check_game, target="md5mesh:doom3")


def test_a_model_is_checked_at_the_size_of_its_file(capfd):
    """However large it was imported: at a thousandth everything would fit, at a thousand times nothing."""
    for size in (1000.0, 0.001):
        bpy.ops.wm.read_homefile(use_empty=True)
        made = import_model(SENTINEL, scale=size)
        capfd.readouterr()
        assert check_game(target="md3:quake3") == {"FINISHED"}
        assert "it will be taken" in capfd.readouterr().out
        block = next(block for block in made.objects if block.type == "MESH")
        block.data.shape_keys.key_blocks[0].points[0].co.x = 600 * size
        assert check_game(target="md3:quake3") == {"FINISHED"}
        assert "units from the origin" in capfd.readouterr().out


def test_surfaces_that_no_skin_beside_the_model_lists_are_named(tmp_path, capfd):
    home = PROJECT / "examples/tock/baseq3/models/players/tock"
    for name in ("lower.md3", "lower_default.skin"):
        put(tmp_path / name, (home / name).read_bytes())
    block = next(each for each in import_model(tmp_path / "lower.md3").objects if each.type == "MESH")
    for name, said in ((block.name, False), ("trousers", True)):
        block.name = name
        activate(block)
        capfd.readouterr()
        assert check_game(target="md3:quake3") == {"FINISHED"}
        assert ("'trousers': not listed in 'lower_default.skin'" in capfd.readouterr().out) == said


@pytest.mark.parametrize("target", ["md3:quake3", "mdm:et", "md5mesh:doom3"])
def test_an_imported_model_is_checked_as_a_whole(tmp_path, capfd, target):
    import_model(put(tmp_path / "a.md3") if target == "md3:quake3" else TROOPER)
    assert check_game(target=target) == {"FINISHED"}
    assert ("it will be taken" in capfd.readouterr().out) or target == "md5mesh:doom3"


@pytest.mark.parametrize("kind", ["head", "lower"])
def test_a_player_without_a_part_is_refused(tmp_path, capfd, kind):
    """As its export says, whatever part is active."""
    player = brought(game(tmp_path))
    root = player.parts[kind]
    own = [block for block in bpy.data.objects if root_of(block) == root]
    bpy.data.batch_remove(own)
    bpy.context.view_layer.update()
    activate(player.parts["upper"])
    assert check_game(target="md3:quake3") == {"FINISHED"}
    assert f"1 error; the player has no '{kind}': games refuse it" in capfd.readouterr().out
