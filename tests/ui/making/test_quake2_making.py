"""Players of Quake II made of rigged characters: what the game plays is what the character does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models import formats
from io_idtech_models.blender.compat import play
from io_idtech_models.game.character.kinds import character_of
from io_idtech_models.game.character.quake2 import LENGTHS, NUM_FRAMES
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx, tga
from tests.ui.making.test_player_making import on_bone, rig_at, shown
from tests.ui.scene import add_cube, add_mesh, bpy, counts, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
make: Any = bpy.ops.object.idtech_make_quake2_player


def made(folder: Path, **options: Any) -> dict[str, bytes]:
    """Make a player of the scene's character, without opening it; returns its files."""
    target = folder / "players/strut"
    assert make(**{"filepath": str(target), "open_result": False} | options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in sorted(target.glob("*"))}


def model(data: bytes) -> Any:
    return formats.by_name("md2").load(data, "x")


def build_armed() -> None:
    """Build the mannequin with a rifle that hangs on the bone of a hand."""
    strut.build()
    on_bone(add_cube("Rifle")).scale = (0.05, 0.3, 0.05)


def test_the_game_takes_it(tmp_path):
    """And nothing in the scene changes."""
    strut.build()
    bpy.context.scene.frame_set(7)
    before = counts(), shown(bpy.data.objects["strut"])
    files = made(tmp_path)
    assert (counts(), bpy.context.scene.frame_current) == (before[0], 7)
    np.testing.assert_array_equal(shown(bpy.data.objects["strut"]), before[1])
    assert sorted(files) == ["default.pcx", "default.tga", "default_i.pcx", "tris.md2", "weapon.md2"]
    player = character_of(Disk().file(tmp_path / "players/strut/tris.md2"))
    assert (player.missing, player.skins) == ([], ("default",))
    body, gun = model(files["tris.md2"]), model(files["weapon.md2"])
    assert formats.by_name("md2").check(body, "quake2") == []
    assert (body.num_frames, gun.num_frames) == (NUM_FRAMES, NUM_FRAMES)
    assert {clip.name: clip.count for clip in body.animations} == LENGTHS
    assert body.surfaces[0].shaders == ["players/strut/default.pcx"]
    assert pcx.decode(files["default.pcx"]).shape == (256, 256, 3)
    assert pcx.decode(files["default_i.pcx"]).shape == (32, 32, 3)


@pytest.mark.parametrize(("row", "action"), [("run", "Run"), ("stand", "Idle")])
def test_frames_show_what_the_action_does(tmp_path, row, action):
    """Points of the model are among those of the character, within a step of the file's bytes."""
    strut.build()
    body = model(made(tmp_path)["tris.md2"])
    clip = next(clip for clip in body.animations if clip.name == row)
    stand = rig_at("Idle", bpy.data.actions["Idle"].frame_range[0])
    scale = 56 / np.ptp(stand[:, 2])
    first, last = bpy.data.actions[action].frame_range
    for nth in (0, clip.count // 2, clip.count - 1):
        wanted = rig_at(action, first + (last - first) * nth / clip.count) * scale
        points = body.surfaces[0].positions[clip.first + nth]
        way = np.ptp(points, axis=0) - np.ptp(wanted, axis=0)
        assert np.abs(way).max() < 0.6
        assert abs(points[:, 2].min() - (wanted[:, 2].min() - 24 - scale * stand[:, 2].min())) < 0.6


def test_both_pictures_of_a_skin_stand_upright(tmp_path):
    strut.build()
    picture = bpy.data.images["strut"]
    pixels = np.ones((picture.size[1], picture.size[0], 4), np.float32)
    pixels[: len(pixels) // 2, :, :3] = (1, 0, 0)  # Blender counts from the bottom
    pixels[len(pixels) // 2 :, :, :3] = (0, 0, 1)
    picture.pixels.foreach_set(pixels.ravel())
    files = made(tmp_path)
    for shown_there in pcx.decode(files["default.pcx"]), tga.decode(files["default.tga"]):
        np.testing.assert_allclose(shown_there[[2, -3], 9, :3], [(0, 0, 255), (255, 0, 0)], atol=8)


def test_a_skin_keeps_the_colours_that_its_picture_has(tmp_path):
    """Without the game's palette: also of more than a palette has, all as common."""
    strut.build()
    picture = bpy.data.images["strut"]
    rows, columns = np.mgrid[0:64, 0:64] / np.float32(63)
    shades = np.stack((rows, columns, 1 - rows, np.ones_like(rows)), axis=2)
    picture.pixels.foreach_set(shades.astype(np.float32).ravel())
    files = made(tmp_path)
    seen, wanted = (
        kind.decode(files[f"default.{end}"])[..., :3].astype(np.int64) for kind, end in ((pcx, "pcx"), (tga, "tga"))
    )
    assert np.abs(seen - wanted).max() < 24


@pytest.mark.parametrize("way", ["normal map", "muted link", "beside a node"])
def test_the_base_colour_is_what_blender_shows(tmp_path, capfd, way):
    """And not a picture that says how uneven the surface is, or what hangs on a link that is off."""
    strut.build()
    tree = bpy.data.objects["strut"].data.materials[0].node_tree
    surface = tree.nodes["Principled BSDF"]
    texture = next(node for node in tree.nodes if node.type == "TEX_IMAGE")
    for link in list(surface.inputs["Base Color"].links):
        tree.links.remove(link)
    surface.inputs["Base Color"].default_value = (1.0, 0.0, 0.0, 1.0)
    given = tree.nodes.new("ShaderNodeRGB")
    given.outputs[0].default_value = (1.0, 0.0, 0.0, 1.0)
    if way == "normal map":
        tree.links.new(texture.outputs[0], surface.inputs["Normal"])
    elif way == "muted link":
        tree.nodes.remove(texture)
        given.outputs[0].default_value = (0.0, 1.0, 0.0, 1.0)
        tree.links.new(given.outputs[0], surface.inputs["Base Color"]).is_muted = True
    else:
        tree.links.new(given.outputs[0], surface.inputs["Base Color"])
    picture = tga.decode(made(tmp_path)["default.tga"])
    assert (picture[..., :3] == (255, 0, 0)).all()
    assert "nodes make" not in capfd.readouterr().out


def test_what_lies_at_the_edge_of_a_texture_shows_no_other(tmp_path):
    """As all does of a mesh without texture coordinates."""
    strut.build()
    colors = {"hat": (0, 1, 0), "ball": (1, 1, 0), "box": (0, 1, 1)}
    for name, color in colors.items():
        block = on_bone(add_cube(name), "head", 0.1)
        while block.data.uv_layers:
            block.data.uv_layers.remove(block.data.uv_layers[0])
        material = strut.make_material()
        for node in list(material.node_tree.nodes):
            if node.type == "TEX_IMAGE":
                material.node_tree.nodes.remove(node)
        base = material.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
        base.default_value = (*color, 1.0)
        if name == "ball":  # Blender shows what comes out of a node, and not what it had without
            given = material.node_tree.nodes.new("ShaderNodeRGB")
            given.outputs[0].default_value, base.default_value = base.default_value, (0.2, 0.2, 0.2, 1.0)
            material.node_tree.links.new(given.outputs[0], base)
        block.data.materials.append(material)
    files = made(tmp_path)
    surface = model(files["tris.md2"]).surfaces[0]
    picture = pcx.decode(files["default.pcx"]).astype(np.int64)
    texels = np.floor(surface.uvs[-36:] * (256, -256) + (0, 256)).astype(np.int64)
    seen = picture[texels[..., 1], texels[..., 0]].reshape(3, -1, 3)
    wanted = [np.array(color) * 255 for color in colors.values()]
    for mesh, shade in zip(seen, wanted, strict=True):
        np.testing.assert_allclose(mesh, np.broadcast_to(shade, mesh.shape), atol=8)


def test_a_texture_that_is_alone_in_the_picture_may_repeat(tmp_path, capfd):
    strut.build()
    layer = bpy.data.objects["strut"].data.uv_layers[0]
    for corner in layer.uv:
        corner.vector *= 2
    wanted = np.array([corner.vector for corner in layer.uv])
    texels = model(made(tmp_path)["tris.md2"]).surfaces[0].uvs.reshape(-1, 2)
    np.testing.assert_allclose(np.ptp(texels, axis=0), np.ptp(wanted, axis=0), atol=1 / 128)
    assert "repeats itself" not in capfd.readouterr().out


def test_a_gun_of_its_own(tmp_path):
    """Whatever the folder is called, models name their pictures in it."""
    build_armed()
    target = tmp_path / "players/my-player"
    made(tmp_path, filepath=str(target))
    body, gun = (model((target / f"{stem}.md2").read_bytes()).surfaces[0] for stem in ("tris", "weapon"))
    for surface, skin, count in ((body, "default", 640), (gun, "weapon", 12)):
        assert surface.shaders == [f"players/my-player/{skin}.pcx"]
        assert (target / f"{skin}.pcx").is_file()
        assert len(surface.triangles) == count
    assert np.ptp(gun.positions, axis=0).max() > 1, "it moves with the hand"
    assert "has no mesh called 'axe'" in error_of(make, filepath=str(tmp_path / "x"), gun="axe")


@pytest.mark.parametrize("name", ["mod.pak", "mod.pkz"])
def test_into_an_archive_and_opened(tmp_path, name):
    strut.build()
    path = tmp_path / "baseq2" / name
    path.parent.mkdir()
    assert make(filepath=str(path), player="Strut") == {"FINISHED"}
    file = Disk().file(path / "players/strut/tris.md2")
    assert character_of(file).missing == []
    assert bpy.data.collections["strut"] is not None
    assert bpy.context.view_layer.objects.active.data.shape_keys is not None
    assert bpy.context.scene.frame_end == 250, "as before"


def test_the_games_own_colours(tmp_path, capfd):
    strut.build()
    made(tmp_path)
    assert "no pics/colormap.pcx of the game was found" in capfd.readouterr().out
    table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics/colormap.pcx").write_bytes(pcx.encode(np.zeros((8, 8), np.uint8), table))
    files = made(tmp_path)
    assert "colormap" not in capfd.readouterr().out
    assert files["default.pcx"][-768:] == table.tobytes()


@pytest.mark.parametrize("in_place", [True, False])
def test_what_goes_along_stays_in_place(tmp_path, in_place, capfd):
    strut.build()
    rig = bpy.data.objects["Strut"]
    play(rig, bpy.data.actions["Run"])
    for frame, way in zip(bpy.data.actions["Run"].frame_range, (0.0, -2.0), strict=True):
        rig.location.y = way
        rig.keyframe_insert("location", frame=frame)
    body = model(made(tmp_path, in_place=in_place)["tris.md2"])
    middles = body.surfaces[0].positions[40:46].mean(axis=1)[:, 0]
    assert (abs(middles[-1] - middles[0]) < 1) == in_place
    assert ("'Run' moves the character by" in capfd.readouterr().out) == in_place


def test_so_many_triangles_are_said(tmp_path, capfd):
    strut.build()
    side = range(34)
    faces = [(n, n + 34, n + 35, n + 1) for n in range(34 * 33) if n % 34 < 33]
    flag = add_mesh("flag", [(x / 50, y / 50, 0.0) for x in side for y in side], faces)
    on_bone(flag, "chest")
    made(tmp_path)
    assert "2818 triangles, players of the game have 500 to 700: decimate it" in capfd.readouterr().out


def test_no_character():
    add_cube("a")
    assert not make.poll()


def test_a_player_of_quake2_becomes_one_of_quake3(tmp_path):
    """Its frames get bones that are called as what they are, and its animations become rows."""
    strut.build()
    made(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.idtech_md2(filepath=str(tmp_path / "players/strut/tris.md2"))
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    bones = {bone.name for bone in bpy.context.view_layer.objects.active.data.bones}
    assert bones > {"pelvis", "spine", "head", "arm.L", "arm.R", "thigh.L", "shin.L", "foot.L"}
    folder = tmp_path / "baseq3/models/players/strut"
    assert bpy.ops.object.idtech_make_player(filepath=str(folder), fps=10) == {"FINISHED"}
    table = (folder / "animation.cfg").read_text()
    crouched, stands = (next(line for line in table.splitlines() if name in line) for name in ("IDLECR", "LEGS_IDLE"))
    assert crouched.split()[0] != stands.split()[0]
    assert crouched.split()[1] == str(LENGTHS["crstnd"])
