"""What a player's export writes for a game to find: names that skins go by, pictures, and where all of it lies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from io_idtech_models.game.skin import read_skin, surface_key
from tests.samples import load, sample
from tests.samples_md3 import minimal
from tests.ui.scene import CUBE_FACES, CUBE_POINTS, activate, add_mesh, bpy, export_bytes, import_model, put
from tests.ui.test_player import brought, game, model, saved

pytestmark = pytest.mark.usefixtures("empty_scene")


def cube_wearing(*materials: str, name: str = "cube") -> Any:
    """Return a cube whose faces wear materials in turn."""
    block = add_mesh(name, CUBE_POINTS, CUBE_FACES)
    for nth, called in enumerate(materials):
        block.data.materials.append(bpy.data.materials.new(called))
        block.data.polygons[nth].material_index = nth
    return block


def worn_by_files(data: bytes, skin: bytes) -> dict[str, str]:
    """Return what a game shows of each surface of a file, by the name that the game knows."""
    names = [surface_key(surface.name) for surface in model(data).surfaces]
    assert len(set(names)) == len(names), names
    shaders = read_skin(skin).shaders()
    return {name: shaders[name] for name in names}


def test_surfaces_that_are_joined_keep_their_own_shaders(tmp_path, capfd):
    player = brought(game(tmp_path))
    own = next(b for b in player.parts["upper"].children if b.type == "MESH")
    worn = cube_wearing("torso", "left/skin", "right/skin", name="dress")
    worn.parent = player.parts["upper"]
    other = cube_wearing("collar", "other/skin", name="Dress.001")  # a game has no capitals, nor Blender's numbers
    other.parent = player.parts["upper"]
    activate(own)
    files = saved(tmp_path)
    found = worn_by_files(files["upper.md3"], files["upper_default.skin"])
    assert found == {
        "u_torso": "models/players/grunt/u_torso.tga",
        "dress": "torso", "dress-skin": "left/skin", "dress-skin2": "right/skin",
        "dress2": "collar", "dress-skin3": "other/skin",
    }  # fmt: skip
    assert "'dress-skin' is now 'dress-skin2' ('dress')" in capfd.readouterr().out


@pytest.mark.parametrize("suffix", ["md3", "mdc"])
def test_skins_of_models_know_every_surface(tmp_path, suffix):
    block = cube_wearing("a/skin", "b/skin", "c/skin")
    data = export_bytes(tmp_path / f"x.{suffix}", skin="red")
    surfaces = load(data, "").surfaces
    assert [(s.name, s.shaders) for s in surfaces] == [
        ("cube", ["a/skin"]), ("cube-skin", ["b/skin"]), ("cube-skin2", ["c/skin"])
    ]  # fmt: skip
    written = read_skin((tmp_path / "x_red.skin").read_bytes()).shaders()
    assert written == {s.name: s.shaders[0] for s in surfaces}
    activate(block)
    assert bpy.ops.object.idtech_write_skin(filepath=str(tmp_path / "alone.skin")) == {"FINISHED"}
    assert read_skin((tmp_path / "alone.skin").read_bytes()).shaders() == written


def test_names_that_a_file_repeats_stay(tmp_path, capfd):
    """What its author called alike is the file's; a copy of it is not, and neither is what takes such a name."""
    spec = minimal()
    names = [b"part", b"part", b"Arm_l", b"arm_r"]
    spec.surfaces = [replace(spec.surfaces[0], name=name) for name in names]
    path = put(tmp_path / "x.md3", spec.pack())
    blocks = {b.name: b for b in import_model(path).objects if b.type == "MESH"}
    assert export_bytes(tmp_path / "y.md3") == path.read_bytes()
    assert "is now" not in capfd.readouterr().out
    copy = blocks["part.001"].copy()
    copy.data = copy.data.copy()
    blocks["part"].users_collection[0].objects.link(copy)
    blocks["arm_r"].name = "Part"
    blocks["part"].data.materials[0] = bpy.data.materials.new("own")
    activate(blocks["part"])
    found = [surface.name for surface in load(export_bytes(tmp_path / "z.md3", skin="x"), "").surfaces]
    assert found == ["part", "part", "Arm_l", "Part2", "part3"]
    said = "'part': a skin has one line for all of a name: 'own', not 'models/minimal/skin.tga'"
    assert said in capfd.readouterr().out


def test_a_rigged_models_surfaces(tmp_path):
    """Of each level of detail for itself: its surfaces are called as the first's."""
    rig = import_model(put(tmp_path / "x.mdr", sample("walker", "mdr")))
    before = (tmp_path / "x.mdr").read_bytes()
    assert export_bytes(tmp_path / "y.mdr") == before
    mesh = next(b for b in rig.all_objects if b.type == "MESH")
    for nth, called in enumerate(("a/skin", "b/skin")):
        mesh.data.materials.append(bpy.data.materials.new(called))
        mesh.data.polygons[nth].material_index = len(mesh.data.materials) - 1
    found = [m.name for m in load(export_bytes(tmp_path / "z.mdr", skin="x"), "").meshes]
    assert {"tube", "tube-skin", "tube-skin2"} < set(found)
    written = read_skin((tmp_path / "z_x.skin").read_bytes()).shaders()
    assert (written["tube-skin"], written["tube-skin2"]) == ("a/skin", "b/skin")
