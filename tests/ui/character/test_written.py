"""Characters of every game, edited and saved: the same files come of it, and the same is said, as before."""

from typing import Any

import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.curves import curve_points
from tests import samples_doom3
from tests.ui.character import games
from tests.ui.character.games import run, write
from tests.ui.scene import KEPT_HERE, bpy, outcome, places

pytestmark = [KEPT_HERE, pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
GAMES = {name: (game.put, {"character": game.name}) for name, game in games.GAMES.items()}
GAMES["doom3 base"] = samples_doom3.put_character, {"character": "monster_newt_base"}


def untouched() -> None:
    pass


def posed() -> None:
    """Turn a bone of each armature in the action that plays."""
    for rig in (block for block in bpy.data.objects if block.type == "ARMATURE" and block.animation_data):
        for curve in list(playing_curves(rig))[3:5]:
            times, values = curve_points(curve)
            for place, (time, value) in enumerate(zip(times.tolist(), values.tolist(), strict=True)):
                curve.keyframe_points[place].co = (time, value + 0.125)
            curve.update()


def moved() -> None:
    """Move a point of each mesh."""
    for mesh in bpy.data.meshes:
        points = mesh.shape_keys.key_blocks[0].data if mesh.shape_keys else mesh.vertices
        points[0].co.z += 1.0


def dressed() -> None:
    """Give each mesh a material of one's own."""
    for mesh in bpy.data.meshes:
        mesh.materials.clear()
        mesh.materials.append(bpy.data.materials.new("textures/mine"))


def without_pieces() -> None:
    """Delete what is attached: all meshes that no armature moves."""
    blocks = [b for b in bpy.data.objects if b.type == "MESH" and not any(m.type == "ARMATURE" for m in b.modifiers)]
    for block in blocks:
        bpy.data.objects.remove(block)


def renamed() -> None:
    for action in bpy.data.actions:
        action.name = f"{action.name}_x"


EDITS = (untouched, posed, moved, dressed, without_pieces, renamed)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("game", GAMES)
def test_an_edited_character_is_saved_as_it_was(game, edit, tmp_path, capfd, as_before):
    """Into a folder, an archive, and with what was edited alone."""
    put, options = GAMES[game]
    run(filepath=str(put(tmp_path / "game")), **options)
    edit()
    for name, how in (("out", {}), ("own.pk3", {}), ("edited", {"edited_only": True})):
        folder = tmp_path / f"to {name}"
        as_before(outcome(write, folder, capfd, filepath=str(folder / name), **how))


IMPORTS: list[dict[str, Any]] = [{}, {"make_all": True}, {"animations": False}, {"scale": 0.5}, {"weapon": "none"}]


@pytest.mark.parametrize("options", IMPORTS, ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize("game", GAMES)
def test_a_character_is_imported_as_it_was(game, options, tmp_path, capfd, as_before):
    put, own = GAMES[game]
    said = outcome(run, tmp_path, capfd, filepath=str(put(tmp_path / "game")), **own | options)
    as_before([line for line in said + places() if not line.startswith("game/")])
