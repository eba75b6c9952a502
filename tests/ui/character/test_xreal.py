"""Import Character: players of XreaL and Unvanquished, a body with all animations of its folder."""

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import WORN
from tests.samples import CORPUS
from tests.samples_iqm import animated
from tests.samples_xreal import FOLDER, files, put_player
from tests.ui.character.games import fresh, listed, read, saved
from tests.ui.scene import activate, bpy

pytestmark = pytest.mark.usefixtures("empty_scene")
SKIN = f"{FOLDER}/body_default.skin"
REAL = CORPUS / "xreal/base/models/players/xsarge/character.cfg"


def test_a_body_with_all_animations(tmp_path, capfd):
    read(put_player(tmp_path))
    said = capfd.readouterr().out
    assert "warning" not in said.lower()
    assert "skin default, 0.83 times as large, as the game shows it" in said
    assert sorted(listed()) == ["idle", "walk"]
    assert [names.file_name_of(action) for action in bpy.data.actions] == ["idle"]
    (material,) = [m for m in bpy.data.materials if m.get(WORN)]
    assert material[WORN] == f"{FOLDER}/skin"
    pictures = [n.image.name for n in material.node_tree.nodes if n.type == "TEX_IMAGE" and n.image]
    assert [Path(name).name for name in pictures] == ["picture.tga"]


def test_an_iqm_with_its_own_animations(tmp_path):
    path = put_player(tmp_path)
    (path.parent / "newt.iqm").write_bytes(animated().pack())
    read(path)
    assert listed() and not {"walk", "idle"} <= {*listed()}


def opened(tmp_path: Path, **changed: bytes) -> Any:
    """Import a player of three meshes in a skin of three lines; returns its first mesh."""
    head, mesh, body = files()[f"{FOLDER}/body.md5mesh"].decode().partition("\nmesh {")
    further = [mesh + body.replace("md5/newt/newt", f"md5/newt/{name}") for name in ("cap", "bag")]
    data = "".join([head.replace("numMeshes 1", "numMeshes 3"), mesh, body, *further]).encode()
    skin = b"a,w/newt\nb,w/cap\nc,w/bag\n"
    read(put_player(tmp_path / "game", **{"body_md5mesh": data, "body_default_skin": skin} | changed))
    return next(block for block in bpy.data.objects if block.type == "MESH")


def lines(found: dict[str, bytes]) -> list[str]:
    """Return what the skin's lines say, which has to be what the meshes are called as, one after another."""
    worn = [line.partition(",")[2] for line in found[SKIN].decode().splitlines()]
    meshes = found[f"{FOLDER}/body.md5mesh"].decode().splitlines()
    shaders = [line.split('"')[1] for line in meshes if line.startswith("\tshader")]
    assert [name.rpartition("/")[2] for name in worn] == [name.rpartition("/")[2] for name in shaders]
    return worn


def of_two_materials(block: Any, name: str) -> None:
    """Let a part of a mesh wear another material."""
    block.data.materials.append(bpy.data.materials.new(name))
    for face in range(9):
        block.data.polygons[face].material_index = 1


def test_meshes_that_came_or_went_have_their_lines(tmp_path):
    block = opened(tmp_path)
    of_two_materials(block, "w/new")
    assert lines(saved(tmp_path / "a")) == ["w/newt", "w/new", "w/cap", "w/bag"]
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="MATERIAL")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sorted(lines(saved(tmp_path / "b"))) == ["w/bag", "w/cap", "w/new", "w/newt"]
    (last,) = (each for each in bpy.data.objects if each.type == "MESH" and each.data.materials[0].get(WORN) == "w/bag")
    activate(block, last)
    bpy.ops.object.join()
    assert sorted(lines(saved(tmp_path / "c"))) == ["w/bag", "w/cap", "w/new", "w/newt"]


def test_lines_that_meshes_wear_stay_as_they_are_written(tmp_path):
    skin = b"a,w/newt // one\nb,w/cap\nc,w/bag // three\n"
    opened(tmp_path, body_default_skin=skin)
    assert saved(tmp_path / "a")[SKIN] == skin
    next(each for each in bpy.data.materials if each.get(WORN) == "w/cap").name = "w/hat"
    assert saved(tmp_path / "b")[SKIN] == skin.replace(b"cap", b"hat")


def test_a_skin_of_fewer_lines_or_shaders_than_meshes(tmp_path):
    """Which is not shown stays; meshes of one shader have lines of their own."""
    block = opened(tmp_path / "few", body_default_skin=b"a,w/newt\n")
    of_two_materials(block, "w/new")
    assert saved(tmp_path / "a")[SKIN] == b"a,w/newt\n"
    fresh()
    head, start, body = files()[f"{FOLDER}/body.md5mesh"].decode().partition("\nmesh {")
    twice = "".join([head.replace("numMeshes 1", "numMeshes 2"), start, body, start, body]).encode()
    skin = b"a,w/newt\nb,w/cap\n"
    opened(tmp_path / "alike", body_md5mesh=twice, body_default_skin=skin)
    assert saved(tmp_path / "b")[SKIN] == skin


@pytest.mark.skipif(not REAL.is_file(), reason="no corpus")
def test_a_real_one(capfd):
    read(REAL)
    assert len(listed()) == 17
    said = capfd.readouterr().out
    assert "the skin has 1 line for 4 meshes" in said
    assert "there is no skin" not in said
