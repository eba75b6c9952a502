"""Make Quake II Player with the remaster's model: bones show what the frames of the other model show."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models import formats
from io_idtech_models.blender.provenance import STAND_IN
from io_idtech_models.game.character.kinds import character_of
from io_idtech_models.game.character.quake2 import NUM_FRAMES
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx
from io_idtech_models.model.joint_scales import posed
from io_idtech_models.model.weights import skin_by
from tests.samples import PROJECT
from tests.ui.making.test_quake2_making import build_armed
from tests.ui.making.test_written import patched
from tests.ui.scene import activate, bpy, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
make: Any = bpy.ops.object.idtech_make_quake2_player


def made(folder: Path, **options: Any) -> Path:
    """Make a player of the scene's character, without opening it; returns its folder."""
    target = folder / "players/strut"
    wanted = {"filepath": str(target), "open_result": False, "remaster": True} | options
    assert make(**wanted) == {"FINISHED"}
    return target


def by_bones(folder: Path, stem: str) -> Any:
    """Return where the vertices of a model with bones are in each frame, (F, V, 3), and the model."""
    model = formats.by_name("md5mesh").load((folder / f"md5/{stem}.md5mesh").read_bytes(), stem)
    row = formats.by_name("md5anim")
    (motion,) = row.unpack(row.read((folder / f"md5/{stem}.md5anim").read_bytes()), stem).animations
    poses = zip(*posed(motion), strict=True)
    return np.array([np.concatenate([skin_by(mesh.weights, *pose) for mesh in model.meshes]) for pose in poses]), model


def off(folder: Path, stem: str = "tris") -> float:
    """Return how far the model with bones is from the other at most: from each of its vertices to the nearest one."""
    frames = formats.by_name("md2").load((folder / f"{stem}.md2").read_bytes(), stem)
    worst = 0.0
    for own, points in zip(by_bones(folder, stem)[0][::5], frames.surfaces[0].positions[::5], strict=True):
        worst = max(worst, float(np.sqrt(((own[:, None] - points) ** 2).sum(axis=2)).min(axis=1).max()))
    return worst


@pytest.mark.parametrize("placed", [False, True])
def test_bones_show_what_the_other_model_shows(tmp_path, placed, capfd):
    strut.build()
    if placed:  # somewhere else in the scene, turned and scaled
        rig = bpy.data.objects["Strut"]
        rig.location, rig.rotation_euler, rig.scale = (3, 4, 5), (0, 0, 1.57079633), (2, 2, 2)
    folder = made(tmp_path, rows="run=Run")
    assert off(folder) < 0.4, "half a step of the other model's bytes"
    assert "otherwise" not in capfd.readouterr().out
    player = character_of(Disk().file(folder / "tris.md2"))
    assert player.missing == [] and player.instead is not None
    frames, mesh = by_bones(folder, "tris")
    assert len(frames) == NUM_FRAMES
    assert mesh.meshes[0].shader == "players/strut/default.pcx"
    assert pcx.decode((folder / "md5/default.pcx").read_bytes()).shape == (512, 512, 3)
    assert formats.by_name("md5mesh").check(mesh, "quake2remaster") == []


def test_bones_of_an_imported_character_show_it_too(tmp_path, capfd):
    """Whose file has its joints in another pose than that in which its meshes are."""
    import_model(PROJECT / "examples/trooper/models/players/toys/trooper/soldier.mdm")
    activate(next(block for block in bpy.data.objects if block.type == "ARMATURE"))
    assert off(made(tmp_path, fit=False)) < 0.4
    assert "otherwise" not in capfd.readouterr().out


def test_its_picture_is_the_other_models_in_finer(tmp_path):
    """What shows on it, of several meshes and materials as of one, is where the other model shows it."""
    patched()
    folder = made(tmp_path)
    files = {"tris.md5mesh", "tris.md5anim", "default.pcx", "default.tga"}
    assert {path.name for path in (folder / "md5").iterdir()} == files
    frames, mesh = by_bones(folder, "tris")
    other = formats.by_name("md2").load((folder / "tris.md2").read_bytes(), "x").surfaces[0]
    places, texels = other.positions[0][other.triangles].reshape(-1, 3), other.uvs.reshape(-1, 2)
    seen = np.concatenate([each.uvs for each in mesh.meshes])
    off = np.abs(frames[0, ::5, None] - places).max(axis=2) / 0.4, np.abs(seen[::5, None] - texels).max(axis=2) * 256
    assert np.maximum(*off).min(axis=1).max() < 1


@pytest.mark.parametrize("size", [1.1, 1.25])
def test_what_bones_cannot_show_is_said(tmp_path, size, capfd):
    """Where it is more than a unit, in the frame in which it is most, of all surfaces together."""
    strut.build()
    body = bpy.data.objects["strut"].data
    body.materials.append(bpy.data.materials.new("other"))
    for face in list(body.polygons)[::2]:
        face.material_index = 1
    bone = bpy.data.objects["Strut"].pose.bones["head"]
    for frame, each in ((1, 1.0), (10, size), (19, 1.0)):
        bone.scale = (each, each, each)
        bone.keyframe_insert("scale", frame=frame)
    folder = made(tmp_path)
    said = re.search(r"show it up to ([\d.]+) units otherwise, most in frame (\w+): ", capfd.readouterr().out)
    assert (said is not None) == (size > 1.2)
    if said is not None:
        frames = formats.by_name("md2").load((folder / "tris.md2").read_bytes(), "x")
        both = by_bones(folder, "tris")[0], frames.surfaces[0].positions
        reaches = [np.stack((points.min(axis=1), points.max(axis=1))) for points in both]
        off = np.abs(reaches[0] - reaches[1]).max(axis=(0, 2))
        assert abs(off.max() - float(said[1])) < 0.2
        assert off[frames.frame_names.index(said[2])] > off.max() - 0.2


@pytest.mark.parametrize("stands_in", [False, True])
def test_a_mesh_without_a_material_has_its_place_in_the_picture(tmp_path, stands_in):
    """Nor with what an import showed in the place of one, which is none of the model's file; a gun has its own."""
    build_armed()
    worn = bpy.data.objects["strut"].data.materials
    worn.clear()
    if stands_in:
        worn.append(bpy.data.materials.new("missing"))
        worn[0][STAND_IN] = worn[0].name
    folder = made(tmp_path)
    assert off(folder) < 0.4
    assert off(folder, "weapon") < 0.4
    assert (folder / "md5/weapon.tga").is_file()


def test_materials_that_a_number_alone_tells_apart_have_each_its_place_in_the_picture(tmp_path):
    build_armed()
    worn = bpy.data.objects["strut"].data
    worn.materials.append(bpy.data.materials.new(worn.materials[0].name))
    worn.polygons.foreach_set("material_index", np.arange(len(worn.polygons), dtype=np.int32) % 2)
    meshes = by_bones(made(tmp_path), "tris")[1].meshes
    spans = sorted((float(mesh.uvs[:, 0].min()), float(mesh.uvs[:, 0].max())) for mesh in meshes)
    assert len(spans) == 2
    assert spans[0][1] <= 0.5 <= spans[1][0]
