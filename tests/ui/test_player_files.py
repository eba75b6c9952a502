"""What a player's export writes for a game to find: names that skins go by, pictures, and where all of it lies."""

from __future__ import annotations

import operator
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from io_idtech_models.assets.player import write_player
from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.blender.shading.images import image_of
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import tga as pictures
from io_idtech_models.game.skin import read_skin, surface_key
from tests.blender.case import show_image
from tests.packs import Entry, zip_bytes
from tests.samples import load, put
from tests.samples_md3 import minimal
from tests.samples_player import FOLDER, player_files
from tests.ui.player.players import actions_of, brought, export_player, game, import_player, model, saved
from tests.ui.scene import (
    CUBE_FACES,
    CUBE_POINTS,
    activate,
    add_mesh,
    bpy,
    copy_of,
    counts,
    error_of,
    export_bytes,
    first,
    import_model,
    tga,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
PARTS = ("lower", "upper", "head")


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
    own = mesh_of(player, "upper")
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
    copy_of(blocks["part.001"])
    blocks["arm_r"].name = "Part"
    blocks["part"].data.materials[0] = bpy.data.materials.new("own")
    activate(blocks["part"])
    found = [surface.name for surface in load(export_bytes(tmp_path / "z.md3", skin="x"), "").surfaces]
    assert found == ["part", "part", "Arm_l", "Part2", "part3"]
    said = "'part': a skin has one line for all of a name: 'own', not 'models/minimal/skin.tga'"
    assert said in capfd.readouterr().out


def test_a_rigged_models_surfaces(tmp_path):
    """Of each level of detail for itself: its surfaces are called as the first's."""
    rig = import_model(put(tmp_path / "x.mdr", "walker"))
    mesh = first("MESH", rig.all_objects)
    for nth, called in enumerate(("a/skin", "b/skin")):
        mesh.data.materials.append(bpy.data.materials.new(called))
        mesh.data.polygons[nth].material_index = len(mesh.data.materials) - 1
    found = [m.name for m in load(export_bytes(tmp_path / "z.mdr", skin="x"), "").meshes]
    assert {"tube", "tube-skin", "tube-skin2"} < set(found)
    written = read_skin((tmp_path / "z_x.skin").read_bytes()).shaders()
    assert (written["tube-skin"], written["tube-skin2"]) == ("a/skin", "b/skin")


def dense_head(root: Any, side: int = 44) -> Any:
    """Return a sheet that hangs on a part: of more vertices than its game takes of a surface."""
    points = [(x / 4, y / 4, (x * y % 7) / 8) for x in range(side) for y in range(side)]
    faces = [(n, n + side, n + side + 1, n + 1) for n in range(side * (side - 1)) if n % side < side - 1]
    block = add_mesh("hat", points, faces, uvs=False)
    block.data.materials.append(bpy.data.materials.new("felt"))
    block.data.polygons.foreach_set("use_smooth", [True] * len(faces))
    block.parent = root
    return block


def test_what_the_game_refuses_is_not_written(tmp_path, capfd):
    """A player is for Quake III unless it is said otherwise; what helps is there, and named."""
    player = brought(game(tmp_path))
    activate(dense_head(player.parts["head"]))
    said = error_of(export_player, filepath=str(tmp_path / "saved"))
    assert "'hat' has 1936 vertices, Quake III Arena takes 999" in said and "the option 'Split Surfaces'" in said
    assert not (tmp_path / "saved").exists()
    files = saved(tmp_path, split_surfaces=True)
    assert "'hat' is cut, its skins list the pieces: 'hat', 'hat2'" in capfd.readouterr().out
    surfaces = {s.name: s.num_vertices for s in model(files["head.md3"]).surfaces}
    assert all(count < 1000 for count in surfaces.values())
    for name in ("default", "red"):
        assert {surface_key(n) for n in surfaces} <= set(read_skin(files[f"head_{name}.skin"]).shaders())


def test_a_player_of_so_many_triangles(tmp_path, capfd):
    player = brought(game(tmp_path))
    activate(dense_head(player.parts["head"]))
    files = saved(tmp_path, triangles=500)
    counts = [sum(len(s.triangles) for s in model(files[f"{part}.md3"]).surfaces) for part in PARTS]
    assert 450 < sum(counts) <= 502 and min(counts) > 0  # of three triangles one stays
    said = capfd.readouterr().out
    assert f"12 files, {sum(counts)} triangles" in said.replace("11 files", "12 files") and "is made for" not in said


def test_what_came_so_is_kept(tmp_path, capfd):
    """A model that its game refuses goes back as it came, and the export says so."""
    spec, count = minimal(), 1100
    frame = [(n, 2 * n % 997, n % 31, 7, 201) for n in range(count)]
    spec.surfaces = [replace(spec.surfaces[0], frames=[frame], st=[(n / count, 0.5) for n in range(count)])]
    brought(game(tmp_path, head_md3=spec.pack()))
    assert saved(tmp_path)["head.md3"] == spec.pack()
    assert "head.md3 is written as it came, though its game refuses it" in capfd.readouterr().out


def members(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def shaders_in(data: bytes) -> dict[str, str]:
    return read_skin(data).shaders()


def texels(found: dict[str, bytes]) -> dict[str, bytes]:
    """Return the first texel of each picture among files, icons apart."""
    return {name: data[18:21] for name, data in found.items() if name.endswith(".tga") and "icon" not in name}


def image(name: str, rgb: tuple[float, float, float]) -> Any:
    """Return a new image of one colour that lies in no file."""
    made = bpy.data.images.new(name, 8, 8)
    made.pixels.foreach_set([*rgb, 1.0] * 64)
    return made


def dressed_game(folder: Path, **changed: bytes) -> Path:
    """Return the folder of our player in an archive of its game, with a picture for each part."""
    place = game(folder, packed=True, **changed)
    pack = place.parents[2]
    files = members(pack)
    for part in PARTS:
        skin = f"{FOLDER}/{part}_default.skin"
        files[skin] = re.sub(rb",models/players/grunt/\w+", f",{FOLDER}/{part}".encode(), files[skin])
        files.pop(f"{FOLDER}/icon_red.tga", None)  # as some players lack it that games come with
        files[f"{FOLDER}/{part}.tga"] = tga(folder / "picture.tga", (10, 20, 30)).read_bytes()
    pack.write_bytes(zip_bytes([Entry(name, data) for name, data in files.items()]))
    return place


def mesh_of(player: Any, part: str) -> Any:
    return first("MESH", player.parts[part].children)


def paint(block: Any, rgb: tuple[float, float, float]) -> None:
    picture: Any = image_of(block.data.materials[0])
    picture.pixels.foreach_set([*rgb, 1.0] * (picture.size[0] * picture.size[1]))
    picture.update()


def test_a_mod_in_one_file(tmp_path, capfd):
    """What was painted or made goes along; what the game's archive has as it is stays out."""
    player = brought(dressed_game(tmp_path))
    capfd.readouterr()
    assert export_player(filepath=str(tmp_path / "same.pk3")) == {"FINISHED"}
    assert not texels(members(tmp_path / "same.pk3"))
    said = capfd.readouterr().out
    assert "without its icon" not in said, "it came so"
    assert "become one shader" not in said, "its models have one for all, its skins tell them apart"
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    hat = cube_wearing(
        "felt" * 9, "models/players/grunt/band.jpg", "glow", "models/players/grunt/lace.png", "Felt" * 9, "plain",
        name="hat",
    )  # fmt: skip
    hat.parent = player.parts["head"]
    colours = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.2, 0.4, 0.6), (1.0, 0.0, 0.0))
    for nth, colour in enumerate(colours):
        show_image(hat.data.materials[nth], image(f"made {nth}", colour))
    before = counts()
    script = bpy.data.texts.new("hat.shader")
    script.write("glow\n{\n{\nmap models/players/grunt/shine.tga\nblendFunc add\n}\n}\n")
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    skin = shaders_in(found[f"{FOLDER}/head_default.skin"])
    assert (skin["hat"], skin["hat-band"]) == (f"{FOLDER}/{'felt' * 8}.tga", "models/players/grunt/band.jpg")
    assert (skin["hat-glow"], skin["hat-plain"]) == ("glow", f"{FOLDER}/plain.tga")
    assert found["scripts/hat.shader"] == script.as_string().encode()
    assert counts() == before
    pictures = {"band.jpg": (("JPEG", 24), (0.0, 0.0, 1.0)), "lace.png": (("PNG", 32), (0.2, 0.4, 0.6))}
    for name, (kind, colour) in pictures.items():
        picture: Any = bpy.data.images.load(str(put(tmp_path / name, found[f"{FOLDER}/{name}"])))
        assert (picture.file_format, picture.depth) == kind
        assert picture.pixels[:3] == pytest.approx(colour, abs=0.02)

    assert texels(found) == {
        f"{FOLDER}/upper.tga": b"\0\0\xff", f"{FOLDER}/{'felt' * 8}.tga": b"\0\xff\0",
        f"{FOLDER}/{'felt' * 7}fel2.tga": b"\0\0\xff", f"{FOLDER}/shine.tga": b"\0\xff\xff",
        f"{FOLDER}/plain.tga": b"\xe7\xe7\xe7",
    }  # fmt: skip
    assert export_player(filepath=str(tmp_path / "folder")) == {"FINISHED"}
    assert "a .pk3 takes them along, or save them: " in capfd.readouterr().out


@pytest.mark.parametrize("how", ["tag", "constraint"])
def test_what_is_written_with_a_part_without_hanging_on_its_root_takes_its_picture_along(tmp_path, how):
    player = brought(dressed_game(tmp_path))
    hat = cube_wearing("felt", name="hat")
    if how == "tag":
        hat.parent = next(block for block in player.root.children_recursive if block.name.startswith("tag_head"))
    else:
        hat.constraints.new("CHILD_OF").target = player.parts["head"]
    activate(mesh_of(player, "head"))
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    assert shaders_in(found[f"{FOLDER}/head_default.skin"])["hat"] == f"{FOLDER}/felt.tga"
    assert [*texels(found)] == [f"{FOLDER}/felt.tga"]


def test_a_picture_that_was_unpacked_and_edited_goes_along(tmp_path):
    """It lies beside the .blend from then on, and is no longer what the archive has."""
    player = brought(dressed_game(tmp_path))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    picture: Any = image_of(mesh_of(player, "upper").data.materials[0])
    picture.unpack(method="WRITE_LOCAL")
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    picture.save()
    written = Path(bpy.path.abspath(picture.filepath)).read_bytes()
    assert not pictures.shown_by_games(written), "Blender begins at the top, which they show upside down"
    own = pictures.for_games(written)
    assert (pictures.decode(own) == pictures.decode(written)).all()
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    assert found[f"{FOLDER}/upper.tga"] == own and f"{FOLDER}/lower.tga" not in found
    assert export_player(filepath=str(tmp_path / "new.pk3"), new_skin="lava") == {"FINISHED"}
    found = members(tmp_path / "new.pk3")
    assert found[f"{FOLDER}/upper_lava.tga"] == own and f"{FOLDER}/upper.tga" not in found
    assert f"{FOLDER}/upper_lava.tga" in shaders_in(found[f"{FOLDER}/upper_lava.skin"]).values()


def test_what_was_painted_for_a_skin_that_is_not_worn_now_goes_along(tmp_path, capfd):
    """Under its own name, also beside a new skin; into a folder, where no pictures are written, it is named."""
    player = brought(dressed_game(tmp_path))
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    activate(mesh_of(player, "head"))
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    for name, options in {"mod": {}, "new": {"new_skin": "lava"}}.items():
        assert export_player(filepath=str(tmp_path / f"{name}.pk3"), **options) == {"FINISHED"}
        assert texels(members(tmp_path / f"{name}.pk3")) == {f"{FOLDER}/upper.tga": b"\0\0\xff"}
    capfd.readouterr()
    assert export_player(filepath=str(tmp_path / "folder")) == {"FINISHED"}
    assert f"take them along, or save them: '{FOLDER}/upper.tga'" in capfd.readouterr().out.replace("takes", "take")


@pytest.mark.parametrize("made", [False, True], ids=["a file", "made here"])
def test_another_picture_of_a_skin_that_is_not_worn_now_goes_along(tmp_path, made):
    player = brought(dressed_game(tmp_path))
    other = image("other", (0.0, 1.0, 0.0))
    if not made:
        other = bpy.data.images.load(str(tga(tmp_path / "own.tga", (0, 255, 0))))
    for node in mesh_of(player, "upper").data.materials[0].node_tree.nodes:
        if node.type == "TEX_IMAGE":
            node.image = other
    activate(mesh_of(player, "head"))
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    assert texels(members(tmp_path / "mod.pk3")) == {f"{FOLDER}/upper.tga": b"\0\xff\0"}


def test_further_stages_that_were_painted_go_along(tmp_path):
    """Of a script a material shows one picture; others may have been painted in the image editor."""
    player = brought(dressed_game(tmp_path))
    stages = "".join(f"{{\nmap {FOLDER}/{part}.tga\n}}\n" for part in ("head", "upper", "lower"))
    bpy.data.texts.new("own.shader").write(f"{FOLDER}/head.tga\n{{\n{stages}}}\n")
    worn = mesh_of(player, "upper").data.materials
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    worn.clear()  # and nothing shows it any more
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    assert texels(members(tmp_path / "mod.pk3")) == {f"{FOLDER}/upper.tga": b"\0\0\xff"}


def test_what_lies_in_no_archive_of_the_game_goes_along(tmp_path):
    """Pictures that skins name, and scripts that say what they look like."""
    folder = game(tmp_path)
    own = {f"{FOLDER}/u_torso.tga": tga(tmp_path / "u.tga").read_bytes()}
    own |= {"scripts/grunt.shader": f"{FOLDER}/l_legs\n{{\n{{\nmap {FOLDER}/steel.tga\n}}\n}}\n".encode()}
    own |= {f"{FOLDER}/steel.tga": tga(tmp_path / "s.tga", (1, 2, 3)).read_bytes()}
    for name, data in own.items():
        put(tmp_path / "baseq3" / name, data)
    brought(folder)
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    assert {name: found.get(name) for name in own} == own


def test_a_new_skin_of_what_a_script_draws_has_a_script_of_its_own(tmp_path):
    """The old one goes on drawing the old picture; spelt in two ways it is one shader."""
    folder = game(tmp_path)
    script = f"{FOLDER}/Steel\n{{\n\tcull none\n\t{{\n\t\tmap {FOLDER}/Look.tga\n\t}}\n}}\n".encode()
    skins = {f"{FOLDER}/{part}_default.skin": None for part in ("upper", "lower")}
    files = {"scripts/grunt.shader": script, f"{FOLDER}/look.tga": tga(tmp_path / "s.tga", (1, 2, 3)).read_bytes()}
    for name, ending in zip(skins, (".tga", ".jpg"), strict=True):
        old = (tmp_path / "baseq3" / name).read_bytes()
        files[name] = re.sub(rb"(?m)^([ul]_[^,\r\n]+),[^\r\n]*", rb"\1," + f"{FOLDER}/steel{ending}".encode(), old)
    for name, data in files.items():
        put(tmp_path / "baseq3" / name, data)
    player = brought(folder)
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    assert export_player(filepath=str(tmp_path / "mod.pk3"), new_skin="lava") == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    assert texels(found) == {f"{FOLDER}/Look_lava.tga": b"\0\0\xff", f"{FOLDER}/look.tga": b"\3\2\1"}
    assert (
        found["scripts/grunt_lava.shader"].decode().split()
        == script.decode().replace("Steel", "steel_lava").replace("Look.tga", "Look_lava.tga").split()
    )
    for name in skins:
        new = shaders_in(found[name.replace("default", "lava")])
        assert f"{FOLDER}/steel_lava" in new.values()
        assert found[name] == files[name]


@pytest.mark.parametrize("skin", ["", "lava"])
def test_what_a_script_draws_of_a_player_of_another_name(tmp_path, capfd, skin):
    """It stays where the game's own players draw it, too, but for what a new skin has of its own."""
    folder = game(tmp_path)
    old = (tmp_path / "baseq3" / FOLDER / "upper_default.skin").read_bytes()
    files = {
        "scripts/grunt.shader": f"{FOLDER}/Steel\n{{\n\t{{\n\t\tmap {FOLDER}/look.tga\n\t}}\n}}\n".encode(),
        f"{FOLDER}/look.tga": tga(tmp_path / "s.tga", (1, 2, 3)).read_bytes(),
        f"{FOLDER}/upper_default.skin": re.sub(rb"(?m)^(u_[^,\r\n]+),[^\r\n]*", rb"\1,%s/steel" % FOLDER.encode(), old),
    }
    for name, data in files.items():
        put(tmp_path / "baseq3" / name, data)
    paint(mesh_of(brought(folder), "upper"), (1.0, 0.0, 0.0))
    assert export_player(filepath=str(tmp_path / "mod.pk3"), player="ogre", new_skin=skin) == {"FINISHED"}
    found, said = members(tmp_path / "mod.pk3"), capfd.readouterr().out
    shared = (
        f"painted in the place of pictures that others in the game show, too (New Skin gives them new names): '{FOLDER}"
    )
    assert (f"{shared}/look.tga'" in said) == (not skin)
    drawn = f"{FOLDER}/steel_lava" if skin else f"{FOLDER}/steel"
    assert drawn in shaders_in(found[f"models/players/ogre/upper_{skin or 'default'}.skin"]).values()
    painted = f"{FOLDER}/look_lava.tga" if skin else f"{FOLDER}/look.tga"
    assert texels(found)[painted] == b"\0\0\xff"
    script = found["scripts/grunt_lava.shader" if skin else "scripts/grunt.shader"].decode()
    assert script.lower().startswith(drawn) and painted in script.lower()


def test_a_new_skin_of_all_parts(tmp_path, capfd):
    """What was worn stays as it was, and what was painted for the new one has a name of its own; so has its icon."""
    player = brought(dressed_game(tmp_path))
    before = members(tmp_path / "baseq3/pak0.pk3")
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    images = {each.name for each in bpy.data.images}
    assert export_player(filepath=str(tmp_path / "mod.pk3"), new_skin="Lava") == {"FINISHED"}
    assert {each.name for each in bpy.data.images} - {"Render Result"} == images
    found = members(tmp_path / "mod.pk3")
    for part in PARTS:
        assert found[f"{FOLDER}/{part}_default.skin"] == before[f"{FOLDER}/{part}_default.skin"]
        own = f"{FOLDER}/{part}_lava.tga" if part == "upper" else f"{FOLDER}/{part}.tga"
        assert own in shaders_in(found[f"{FOLDER}/{part}_lava.skin"]).values()
        assert (own in found) == (part == "upper")
    assert f"{FOLDER}/upper.tga" not in found
    icon = pictures.decode(found[f"{FOLDER}/icon_lava.tga"])
    assert icon.shape == (64, 64, 3) and len(np.unique(icon)) > 4
    red, _, blue = icon.reshape(-1, 3).astype(int).T
    assert (red - blue).max() < 50, "the head alone, which is no red"
    assert "icons that were missing" not in capfd.readouterr().out, "it is the one that was asked for"


def test_a_skin_that_came_after_the_import_keeps_all_that_it_has(tmp_path):
    """It is taken up when it is shown, and so is what was edited of one that came along."""
    folder = game(tmp_path)
    brought(folder / "lower.md3")
    surfaces = {part: next(iter(shaders_in((folder / f"{part}_red.skin").read_bytes()))) for part in PARTS}
    for part, surface in surfaces.items():
        text = f"// mine\n{surface},models/players/grunt/mine.tga\ntag_torso,\nmd3_hat,models/hat.md3\n"
        for skin in ("green", "red"):
            put(folder / f"{part}_{skin}.skin", text.encode())
    activate(bpy.data.objects["l_legs"])
    for skin in ("green", "red"):
        assert bpy.ops.object.idtech_show_skin(skin=f"{skin}.skin") == {"FINISHED"}
    after = saved(tmp_path)
    for name in (f"{part}_{skin}.skin" for part in PARTS for skin in ("green", "red")):
        assert after[name] == (folder / name).read_bytes()


def test_one_picture_that_skins_spell_in_two_ways_goes_along_to_another_name(tmp_path):
    """Painted: not the game's by the other spelling."""
    two = f"u_torso,{FOLDER}/upper.tga\nu_more,{FOLDER}/upper\n"
    player = brought(dressed_game(tmp_path, upper_default_skin=two.encode()))
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    assert export_player(filepath=str(tmp_path / "mod.pk3"), player="ogre") == {"FINISHED"}
    assert pictures.decode(members(tmp_path / "mod.pk3")["models/players/ogre/upper.tga"])[0, 0, 0] == 255


def test_a_new_skin_names_the_folder_of_pictures_that_had_none(tmp_path):
    """As a material is called that shows another picture than the one of its name beside the model."""
    player = brought(dressed_game(tmp_path))
    for part in ("head", "upper"):
        material = mesh_of(player, part).material_slots[0].material = bpy.data.materials.new(part)
        show_image(material, bpy.data.images.new(part, 4, 4))
    assert export_player(filepath=str(tmp_path / "mod.pk3"), new_skin="lava") == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    for part in ("head", "upper"):
        named = set(shaders_in(found[f"{FOLDER}/{part}_lava.skin"]).values())
        assert named & {path for path in found if path.endswith(".tga") and part in path}, named


def again() -> None:
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}


def test_texts_that_were_edited_beside_blender_are_left_or_named(tmp_path, capfd):
    """A skin that nobody edited in Blender stays; a table goes with the models' frames."""
    folder = game(tmp_path)
    brought(folder / "lower.md3")
    for name in ("upper_red.skin", "animation.cfg"):
        (folder / name).write_bytes((folder / name).read_bytes() + b"// mine\r\n")
    activate(bpy.data.objects["u_torso"])
    capfd.readouterr()
    again()
    said = capfd.readouterr().out
    assert "left as they are (Show Skin takes them up): 'upper_red.skin'" in said
    assert "written over as they are in Blender: 'animation.cfg'" in said
    assert (folder / "upper_red.skin").read_bytes().endswith(b"// mine\r\n")
    again()
    assert "animation.cfg" not in capfd.readouterr().out, "it is Blender's by now"


def test_what_was_exported_is_what_the_next_export_begins_with(tmp_path):
    """An edited skin that is not shown any more, and the number of a row, there and back."""
    folder = game(tmp_path)
    player = brought(folder / "lower.md3")
    mesh, row = bpy.data.objects["l_legs"], actions_of(player)["LEGS_RUN"]
    worn, rate = mesh.material_slots[0].material, row["idtech_fps"]
    activate(mesh)
    mesh.material_slots[0].material, row["idtech_fps"] = bpy.data.materials.new(f"{FOLDER}/lava"), 2 * rate
    again()
    edited = {name: (folder / name).read_bytes() for name in ("lower_default.skin", "animation.cfg")}
    assert f"{FOLDER}/lava" in shaders_in(edited["lower_default.skin"]).values()
    mesh.material_slots[0].material = worn
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    again()
    assert {name: (folder / name).read_bytes() for name in edited} == edited
    row["idtech_fps"] = rate
    again()
    assert (folder / "animation.cfg").read_bytes() == player_files()["animation.cfg"]


TAKEN_BACK = {
    "a material": lambda block: setattr(block.material_slots[0], "material", bpy.data.materials.new(f"{FOLDER}/lava")),
    "a surface": copy_of,
    "a row": lambda _block: operator.setitem(bpy.data.actions["LEGS_RUN"], "idtech_fps", 40.0),
}


@pytest.mark.parametrize("edit", TAKEN_BACK)
def test_an_edit_that_is_taken_back_after_an_export_leaves_nothing(tmp_path, capfd, edit):
    """What an export wrote is no edit of somebody else's, though undo knows nothing of it."""
    folder = game(tmp_path)
    brought(folder / "lower.md3")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    activate(bpy.data.objects["u_torso"])
    bpy.ops.ed.undo_push(message="import")
    TAKEN_BACK[edit](bpy.data.objects["u_torso"])
    bpy.ops.ed.undo_push(message="edit")
    again()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} != before
    bpy.ops.ed.undo()
    capfd.readouterr()
    again()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "edited in the folder" not in capfd.readouterr().out


def test_pictures_without_a_path_are_told_apart_as_games_do(tmp_path, capfd):
    """By the name without its suffix, in any case: each gets one of its own, and nothing is to be said."""
    player = brought(game(tmp_path))
    for nth, (part, called) in enumerate((("lower", "felt"), ("upper", "Felt"), ("head", "felt.tga"))):
        material = mesh_of(player, part).material_slots[0].material = bpy.data.materials.new(called)
        show_image(material, bpy.data.images.new(f"own {nth}", 4, 4))
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = [name for name in members(tmp_path / "mod.pk3") if "felt" in name]
    assert len({name.rpartition(".")[0].lower() for name in found}) == 3
    assert "one picture of a name" not in capfd.readouterr().out


def test_names_with_a_dot_do_not_fall_together(tmp_path):
    player = brought(game(tmp_path))
    for part, end in (("head", "front"), ("upper", "back")):
        mesh_of(player, part).material_slots[0].material = bpy.data.materials.new(f"{FOLDER}/armor.{end}")
    assert export_player(filepath=str(tmp_path / "a.pk3")) == {"FINISHED"}
    found = members(tmp_path / "a.pk3")
    assert [name for name in found if "armor" in name] == [f"{FOLDER}/armor.{end}.tga" for end in ("back", "front")]


@pytest.mark.parametrize("whole", [True, False], ids=["player", "model"])
def test_what_is_worn_later_is_not_the_new_skin(tmp_path, whole):
    """Export Again goes on with the new skin until another is shown, which is then the one that is worn."""
    folder = game(tmp_path)
    file = folder / "lower.md3"
    if whole:
        brought(file)
        export_player(filepath=str(folder), new_skin="lava")
    else:
        import_model(file)
        export_bytes(file, skin="lava")
    material = bpy.data.objects["l_legs"].material_slots[0].material
    worn, material.name = material.name, f"{FOLDER}/glow"
    lava, red = folder / "lower_lava.skin", folder / "lower_red.skin"

    def again() -> bytes:
        assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
        return lava.read_bytes()

    assert f"{FOLDER}/glow" in shaders_in(again()).values()
    material.name = worn
    before = again(), red.read_bytes()
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    assert (again(), red.read_bytes()) == before


@pytest.mark.parametrize("target", ["mod.pk3", "grunt", "renamed.pk3"])
def test_an_icon_that_was_drawn_stays_and_one_that_was_made_follows_the_head(tmp_path, target):
    """Wherever it lies: what is made says that it was, and no drawing does."""
    options = {"new_skin": "lava"} | ({"player": "ogre"} if target == "renamed.pk3" else {})
    name = options.get("player", "grunt")
    player = brought(dressed_game(tmp_path))

    def written() -> bytes:
        assert export_player(filepath=str(tmp_path / target), **options) == {"FINISHED"}
        store = Disk().store(tmp_path / target / (f"models/players/{name}" if target.endswith(".pk3") else ""))
        return store.read("icon_lava.tga")

    made = written()
    assert written() == made
    paint(mesh_of(player, "head"), (0.0, 1.0, 0.0))
    anew = written()
    assert anew != made, "the head was painted"
    one_texel = anew[:-1] + bytes([anew[-1] ^ 255])  # in an editor that keeps the text that says who made it
    for drawn in (one_texel, b"mine"):
        write_player(tmp_path / target, name, {"icon_lava.tga": drawn})
        assert written() == drawn


def test_a_player_of_another_name(tmp_path, capfd):
    """Its files, and the pictures that skins name, lie in its own folder; those that are nowhere are named."""
    table = player_files()["animation.cfg"] + b"headmodel Models/Players/Grunt/head.md3 // no grunt\r\n"
    player = brought(dressed_game(tmp_path, animation_cfg=table))
    paint(mesh_of(player, "upper"), (1.0, 0.0, 0.0))
    assert export_player(filepath=str(tmp_path / "mod.pk3"), player="Ogre") == {"FINISHED"}
    out = capfd.readouterr().out
    assert "show the head as it is worn now, of other skins, too: 'icon_red.tga'" in out
    assert "ogre: 3 parts" in out
    lost = "pictures that are not there keep their names in the skins: 'models/players/grunt/"
    said = [line for line in out.splitlines() if "keep their names" in line]
    assert len(said) == 1 and lost in said[0] and f"{FOLDER}/upper" not in said[0], said
    found = members(tmp_path / "mod.pk3")
    assert all(name.startswith("models/players/ogre/") for name in found)
    for part in PARTS:
        named = shaders_in(found[f"models/players/ogre/{part}_default.skin"]).values()
        assert list(named) == [f"models/players/ogre/{part}.tga"] and set(named) <= found.keys()
    assert found["models/players/ogre/upper.tga"][18:21] == b"\0\0\xff"
    assert found["models/players/ogre/animation.cfg"] == table.replace(b"Models/Players/Grunt", b"models/players/ogre")
    assert {f"models/players/ogre/icon_{name}.tga" for name in ("default", "red")} < found.keys()
    assert import_player(filepath=str(tmp_path / "mod.pk3"), player="ogre") == {"FINISHED"}


def test_a_player_of_another_name_in_a_folder(tmp_path, capfd):
    """What lies below it goes along, what a skin names elsewhere only into an archive."""
    player = brought(dressed_game(tmp_path))
    crate = cube_wearing("models/mapobjects/crate", name="crate")
    crate.parent = player.parts["head"]
    show_image(crate.data.materials[0], image("wood", (1.0, 0.0, 0.0)))
    activate(crate)
    assert export_player(filepath=str(tmp_path / "ogre"), player="ogre") == {"FINISHED"}
    said = "not below 'models/players/ogre', only a .pk3 takes them along: 'models/mapobjects/crate.tga'"
    assert said in capfd.readouterr().out
    pictures = {"lower.tga", "upper.tga", "head.tga", "icon_default.tga", "icon_red.tga"}
    assert {path.name for path in (tmp_path / "ogre").glob("*.tga")} == pictures
    assert export_player(filepath=str(tmp_path / "Ogre"), player="ogre") == {"FINISHED"}
    assert "it is written into" not in capfd.readouterr().out
    assert export_player(filepath=str(tmp_path / "troll"), player="ogre") == {"FINISHED"}
    said = "it is written into 'troll': call that folder 'ogre' in the game, its files name pictures in "
    assert said + "'models/players/ogre'" in capfd.readouterr().out


def test_pictures_of_what_a_script_draws(tmp_path, capfd):
    """The map that a picture came from is written where it was painted, a missing one is filled, another one named."""
    put(tmp_path / "baseq3/scripts/hats.shader", b"hat/fur\n{\n{\nmap hat/hair.tga\n}\n}\n")
    player = brought(dressed_game(tmp_path))
    hat = cube_wearing("hat/fur", name="hat")
    hat.parent = player.parts["head"]
    show_image(hat.data.materials[0], image("felt", (0.0, 1.0, 0.0)))
    worn = {part: mesh_of(player, part).data.materials[0] for part in PARTS}
    paint(mesh_of(player, "lower"), (1.0, 0.0, 0.0))
    worn["head"].node_tree.nodes.remove(next(n for n in worn["head"].node_tree.nodes if n.type == "TEX_IMAGE"))
    show_image(worn["head"], image("scales", (0.0, 0.0, 1.0)))
    script = bpy.data.texts.new("scripts\\My Own.shader")
    for name in (f"{FOLDER}/{part}" for part in worn):
        stages = "".join(f"{{\nmap {drawn}\n}}\n" for drawn in ("$lightmap", f"{FOLDER}/upper.tga", f"{name}.tga"))
        script.write(f"{name}\n{{\n{stages}}}\n")
    assert export_player(filepath=str(tmp_path / "mod.pk3")) == {"FINISHED"}
    found = members(tmp_path / "mod.pk3")
    assert found["scripts/my_own.shader"] == script.as_string().encode()
    assert texels(found) == {f"{FOLDER}/lower.tga": b"\0\0\xff", "hat/hair.tga": b"\0\xff\0"}
    said = capfd.readouterr().out
    assert f"'{FOLDER}/head.tga' is drawn by the script '{script.name}', which knows no picture 'scales'" in said
    assert said.count("is drawn by the script") == 1


def test_the_archive_that_is_named_is_read(tmp_path, capfd):
    """A newer one's files come before it in the game: whose are shown is said."""
    place = game(tmp_path, packed=True)
    old, new = place.parents[2], place.parents[2].with_name("pak1.pk3")
    files = members(old)
    before, after = files[f"{FOLDER}/head.md3"], files[f"{FOLDER}/upper.md3"]
    files |= {f"{FOLDER}/head.md3": after, f"{FOLDER}/head_default.skin": b"h_head,other\n"}
    new.write_bytes(zip_bytes([Entry(name, data) for name, data in files.items()]))
    said = f"the game takes other files than '{old}' has, "
    cases: list[tuple[dict[str, str], str, bytes]] = [
        ({"filepath": str(old), "player": "grunt"}, "whose own are shown: head.md3, head_default.skin", before),
        ({"filepath": str(place / "lower.md3")}, "which are shown: head.md3, head_default.skin", after),
        ({"filepath": str(place / "head.md3")}, "which are shown: head_default.skin", before),
    ]
    worn = []
    for options, ending, head in cases:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        assert import_player(**options) == {"FINISHED"}
        assert said + ending in capfd.readouterr().out
        player = find_player(bpy.context.view_layer.objects.active)
        assert saved(tmp_path)["head.md3"] == head
        worn.append(mesh_of(player, "head").data.materials[0]["idtech_worn"])
    assert worn == [f"{FOLDER}/h_head.tga", "", "other"]  # the newer skin does not list what the newer head has
    capfd.readouterr()
    brought(new / FOLDER / "head.md3")
    assert "the game takes other files" not in capfd.readouterr().out
