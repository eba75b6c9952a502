"""Materials show the game's pictures, those too that Blender can't load, and tell which picture that is."""

import struct
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import STAND_IN, WORN, is_stand_in
from io_idtech_models.blender.shading import images as module
from io_idtech_models.blender.shading.images import image_of, texture_size
from io_idtech_models.blender.shading.materials import Materials, worn_by
from io_idtech_models.blender.shading.pixels import file_of, is_changed, warn_of_nodes
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx
from io_idtech_models.model.surface_look import Layer, Look, Texture
from io_idtech_models.reporting import FormatError, collected_warnings
from tests.blender.case import reopen_blend
from tests.samples import CORPUS, put
from tests.stores import held
from tests.ui.scene import png, tga

pytestmark = pytest.mark.usefixtures("empty_scene")
bpy: Any = blender
# Every colour of a channel once, different in each channel and line by line.
ROWS = (np.arange(256).reshape(16, 16, 1) * [1, 3, 7] + [0, 50, 100]).astype(np.uint8)


def shows(files: dict[str, Path]) -> Any:
    """Return what finds a plain picture for some shaders, and nothing for others."""

    def find(name: str, *, worn: bool = False) -> Look | None:
        return Look((Layer(Texture(Disk().file(files[name]))),)) if name in files else None

    return find


def never(name: str, *, worn: bool = False) -> Any:
    raise AssertionError(f"nobody should ask for {name}")


def load_image(path: Path, *read: Any) -> Any:
    return module.load_image(Disk().file(path), *read)


def same_pixels(image: Any, pixels: Any) -> bool:
    """Tell whether an image shows these pixels, top row first, as bytes divided by 255."""
    height, width, channels = pixels.shape
    if tuple(image.size) != (width, height):
        return False
    shown = np.empty(height * width * 4, np.float32)
    image.pixels.foreach_get(shown)
    shown = shown.reshape(height, width, 4)[::-1]
    alpha = np.ones((height, width, 4 - channels), np.float32)
    return np.allclose(shown, np.concatenate((pixels / 255, alpha), axis=2), atol=1e-6, rtol=0)


def pcx_file(path: Path, pixels: Any = ROWS) -> Path:
    """Write a PCX of 24 bits without runs."""
    height, width, _ = pixels.shape
    header = np.zeros(1, pcx.HEADER)
    header["manufacturer"], header["bits_per_pixel"], header["color_planes"] = 10, 8, 3
    header["xmax"], header["ymax"], header["bytes_per_line"] = width - 1, height - 1, width
    return put(path, header.tobytes() + pixels.transpose(0, 2, 1).tobytes())


def decoder(pixels=ROWS):
    return lambda file: pixels if file.suffix == ".pcx" else None


def new_material(*pictures, linked=None, active=None):
    """Return a material with image nodes; the numbers say which is linked and which is active."""
    material = bpy.data.materials.new("material")
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    nodes = []
    for picture in pictures:
        nodes.append(tree.nodes.new("ShaderNodeTexImage"))
        nodes[-1].image = picture
    if linked is not None:
        tree.links.new(nodes[linked].outputs["Color"], surface.inputs["Base Color"])
    tree.nodes.active = surface if active is None else nodes[active]
    return material


# -- pictures that Blender can't load


@pytest.mark.parametrize("channels", [3, 4])
def test_decoded_pixels_become_a_packed_image(tmp_path, channels):
    pixels = np.concatenate((ROWS, ROWS[::-1, :, :1]), axis=2)[:, :, :channels]
    image: Any = load_image(tmp_path / "skin.pcx", decoder(pixels))
    assert image.name == "skin.pcx"
    assert image.packed_file is not None
    assert image.filepath == "", "or saving the image would write over the game's file"
    assert not image.is_float
    assert image.depth == 8 * channels
    assert image.colorspace_settings.name == "sRGB"
    assert same_pixels(image, pixels)


def test_it_is_the_picture_that_blender_would_have_loaded(tmp_path):
    packed: Any = load_image(tmp_path / "a.pcx", decoder(np.full((4, 4, 3), (10, 200, 30), np.uint8)))
    loaded: Any = load_image(png(tmp_path / "a.png", (10, 200, 30)))
    for name in ("source", "type", "alpha_mode", "depth", "channels", "is_float", "is_dirty", "has_data"):
        assert getattr(packed, name) == getattr(loaded, name), name
    assert packed.colorspace_settings.name == loaded.colorspace_settings.name
    assert packed.pixels[:] == loaded.pixels[:]


def test_it_survives_saving_and_moving_the_game(tmp_path):
    path = pcx_file(tmp_path / "skin.pcx")
    material = Materials(shows({"skin": path}), pcx.read).get("skin")
    material.use_fake_user = True
    name = material.name
    reopen_blend()
    path.unlink()
    reopen_blend()
    image = image_of(bpy.data.materials[name])
    assert image is not None
    assert same_pixels(image, ROWS)
    assert image.colorspace_settings.name == "sRGB"
    image.reload()
    assert same_pixels(image, ROWS)


def test_the_same_file_is_loaded_once(tmp_path, monkeypatch):
    path = pcx_file(tmp_path / "skin.pcx")
    first: Any = load_image(path, pcx.read)
    assert load_image(path, pcx.read) == first
    monkeypatch.chdir(tmp_path)
    assert load_image(Path("skin.pcx"), pcx.read) == first
    first.use_fake_user = True
    reopen_blend()
    assert load_image(path, pcx.read) == bpy.data.images["skin.pcx"]
    assert len(bpy.data.images) == 1


def test_what_has_changed_since_or_is_another_file_is_loaded_anew(tmp_path):
    path = pcx_file(tmp_path / "skin.pcx")
    first: Any = load_image(path, pcx.read)
    for changed in (ROWS[::-1], ROWS.reshape(8, 32, 3)):
        second: Any = load_image(pcx_file(path, changed), pcx.read)
        assert second != first
        assert same_pixels(second, changed)
    assert same_pixels(first, ROWS)
    other: Any = load_image(pcx_file(tmp_path / "b/skin.pcx", changed), pcx.read)
    assert other != second
    assert names.stem_of(other.name) == "skin.pcx"


def test_an_image_that_lost_its_pixels_is_not_used_again(tmp_path):
    path = pcx_file(tmp_path / "skin.pcx")
    first: Any = load_image(path, pcx.read)
    first.unpack(method="REMOVE")
    first.filepath = str(tmp_path / "nowhere.png")
    assert first.size[0] == 0
    assert same_pixels(load_image(path, pcx.read), ROWS)


def test_what_the_decoder_leaves_blender_loads(tmp_path):
    path = tga(tmp_path / "skin.tga")
    image: Any = load_image(path, decoder())
    assert Path(image.filepath) == path
    assert load_image(path) == image
    assert load_image(put(tmp_path / "text.tga", b"nothing"), decoder()) is None
    disguised = put(tmp_path / "skin.pcx", png(tmp_path / "skin.png").read_bytes())
    assert texture_size(new_material(load_image(disguised, pcx.read), linked=0)) == (4, 4)


def test_a_broken_picture_is_a_missing_one(tmp_path):
    path = put(tmp_path / "skin.pcx", b"\x0a" + bytes(200))
    before = len(bpy.data.images)
    materials = Materials(shows({"models/crate/skin.pcx": path}), pcx.read)
    with collected_warnings() as texts:
        material = materials.get("models/crate/skin.pcx")
    (text,) = texts
    assert "'skin.pcx'" in text
    assert "expected" in text, "the decoder's own words"
    assert materials.missing == ["models/crate/skin.pcx"]
    assert image_of(material) is None
    assert len(bpy.data.images) == before


def test_long_and_odd_names(tmp_path):
    for name in ("ä" * 60, "x" * 120, "a\udcffb"):
        path = tmp_path / f"{name}.pcx"
        for _ in range(2):
            assert same_pixels(load_image(path, decoder()), ROWS)
    assert len(bpy.data.images) == 3


REAL = sorted(CORPUS.rglob("*.pcx"))


@pytest.mark.skipif(not REAL, reason="the corpus of real files is not here")
def test_real_skins():
    for path in REAL:
        assert same_pixels(load_image(path, pcx.read), pcx.read(Disk().file(path)))


# -- pictures that lie in no folder


def archive(folder: Path) -> dict[str, bytes]:
    """Return the files of an archive: a picture of each kind, and what is none."""
    pictures = {"a.png": png(folder / "a.png", (10, 200, 30)), "b.pcx": pcx_file(folder / "b.pcx")}
    return {f"textures/{name}": path.read_bytes() for name, path in pictures.items()} | {"textures/c.tga": b"nothing"}


def test_a_picture_in_an_archive_is_packed(tmp_path):
    files, on_disk = archive(tmp_path), load_image(tmp_path / "a.png")
    image: Any = module.load_image(held(files, "textures/a.png"), pcx.read)
    assert (image.name, image.filepath, image.source) == ("a.png.001", "", "FILE")
    assert image.packed_file is not None
    assert tuple(image.size) == tuple(on_disk.size)
    assert np.array_equal(np.array(image.pixels), np.array(on_disk.pixels))
    assert image[module.FILE] == "/nowhere/pak0.pk3/textures/a.png"
    assert module.load_image(held(files, "textures/a.png"), pcx.read) == image, "once"
    other = files | {"textures/a.png": png(tmp_path / "o.png", (1, 2, 3)).read_bytes()}
    assert module.load_image(held(other, "textures/a.png"), pcx.read) != image, "it is another one now"
    assert same_pixels(module.load_image(held(files, "textures/b.pcx"), pcx.read), ROWS)
    image.use_fake_user, before = True, np.array(image.pixels)
    reopen_blend()
    assert np.array_equal(np.array(bpy.data.images["a.png.001"].pixels), before)


def test_what_is_no_picture_in_an_archive_leaves_nothing(tmp_path):
    assert module.load_image(held(archive(tmp_path), "textures/c.tga"), pcx.read) is None
    assert not bpy.data.images
    with collected_warnings() as texts:
        assert module.load_image(held({}, "gone.tga")) is None
    assert texts == ["'gone.tga' can't be shown: no such file"]


# -- materials


def test_a_material_per_shader(tmp_path):
    path = png(tmp_path / "a.png")
    materials = Materials(shows({"a": path}))
    material = materials.get("a")
    assert materials.get("a") == material
    assert image_of(material) == load_image(path)
    assert image_of(materials.get("b")) is None
    assert image_of(materials.get("")) is None
    assert materials.missing == ["b"]
    assert [names.file_name_of(m) for m in materials.made.values()] == ["a", "b", ""]


def test_what_surfaces_wear_by_a_skin(tmp_path):
    files = {name: png(tmp_path / f"{name}.png") for name in ("cloth", "metal")}
    worn = {"body": "cloth", "arm": "metal", "leg": "cloth"}
    materials: Any = Materials(shows(files), worn=lambda surface, shader: worn.get(surface))
    body, arm, leg, head = (materials.of_surface(name, ["skin", "other"]) for name in ("body", "arm", "leg", "head"))
    assert body == leg
    assert [names.file_name_of(m) for m in (*body, *arm, *head)] == ["skin", "other"] * 3, "the file's own"
    assert [worn_by(m[0]) for m in (body, arm, head)] == ["cloth", "metal", ""]
    shown: list[Any] = [image_of(m[0]) for m in (body, arm)]
    assert [image.name for image in shown] == ["cloth.png", "metal.png"]
    assert image_of(head[0]) is None
    assert materials.unlisted == ["head"]
    body[0].name = "mine"
    assert (names.file_name_of(body[0]), worn_by(body[0])) == ("mine", "mine")
    assert worn_by(body[1]) == "other"
    (bare,) = materials.of_surface("arm", [])
    assert is_stand_in(bare)
    assert worn_by(bare) == "metal"
    assert WORN not in bare


def test_a_stand_in_shows_the_models_own_picture(tmp_path):
    path = pcx_file(tmp_path / "crate.pcx")
    materials = Materials(never, pcx.read, lambda: Disk().file(path))
    material: Any = materials.stand_in()
    assert material.name == "crate"
    assert same_pixels(image_of(material), ROWS)
    assert materials.stand_in() == material, "one for all surfaces"
    assert is_stand_in(material)
    assert not materials.missing
    assert not materials.made


def test_a_stand_in_is_one_until_it_is_renamed(tmp_path):
    path = png(tmp_path / "crate.png")
    bpy.data.materials.new("crate").use_fake_user = True
    material: Any = Materials(never, None, lambda: Disk().file(path)).stand_in()
    assert material.name == "crate.001"
    assert material[STAND_IN] == "crate.001"
    assert is_stand_in(material)
    assert is_stand_in(material.copy())
    material.use_fake_user = True
    reopen_blend()
    material = bpy.data.materials["crate.001"]
    assert is_stand_in(material)
    material.name = "models/crate/crate.pcx"
    assert not is_stand_in(material)
    assert names.file_name_of(material) == "models/crate/crate.pcx"
    other = bpy.data.materials["crate"]
    assert not is_stand_in(other)
    other[STAND_IN] = 1
    assert not is_stand_in(other)
    assert not is_stand_in(Materials().get("crate"))


def test_without_a_picture_there_is_no_stand_in(tmp_path):
    broken = put(tmp_path / "crate.pcx", b"\x0a" + bytes(200))
    assert Materials(never).stand_in() is None
    assert Materials(never, pcx.read, lambda: None).stand_in() is None
    with collected_warnings() as texts:
        assert Materials(never, pcx.read, lambda: Disk().file(broken)).stand_in() is None
    assert len(texts) == 1
    assert not bpy.data.materials
    assert not bpy.data.images


# -- what a material shows


@pytest.fixture
def pictures():
    return [bpy.data.images.new(name, width, 8) for name, width in (("a", 1), ("b", 2), ("c", 3))]


def own_nodes() -> Any:
    """Return a material with a picture that leads to its surface, the node of that, and its output."""
    material: Any = bpy.data.materials.new("own")
    material.use_nodes = True
    tree = material.node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.new("first", 4, 4)
    tree.links.new(texture.outputs["Color"], surface.inputs["Base Color"])
    return material, surface, next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")


def test_a_material_shows_what_leads_to_its_active_output():
    material, _, output = own_nodes()
    tree = material.node_tree
    other, texture = tree.nodes.new("ShaderNodeBsdfPrincipled"), tree.nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.new("second", 4, 4)
    tree.links.new(texture.outputs["Color"], other.inputs["Base Color"])
    first = image_of(material)
    tree.links.new(other.outputs[0], output.inputs["Surface"])
    second = image_of(material)
    assert first is not None and second is not None
    assert (first.name, second.name) == ("first", "second")


@pytest.mark.parametrize("kind", ["Hue/Saturation", "another surface", "muted"])
def test_what_nodes_make_of_a_picture_is_said(kind, caplog):
    material, surface, output = own_nodes()
    tree = material.node_tree
    if kind == "another surface":
        other, mix = tree.nodes.new("ShaderNodeBsdfDiffuse"), tree.nodes.new("ShaderNodeMixShader")
        tree.links.new(surface.outputs[0], mix.inputs[1])
        tree.links.new(other.outputs[0], mix.inputs[2])
        tree.links.new(mix.outputs[0], output.inputs["Surface"])
    else:
        hue = tree.nodes.new("ShaderNodeHueSaturation")
        tree.links.new(surface.inputs["Base Color"].links[0].from_socket, hue.inputs["Color"])
        tree.links.new(hue.outputs["Color"], surface.inputs["Base Color"])
        hue.mute = kind == "muted"
    image = image_of(material)
    assert image is not None and image.name == "first"
    warn_of_nodes(material, image)
    assert ("nodes change its picture 'first'" in caplog.text) == (kind != "muted")


def test_the_image_behind_the_base_colour_comes_first_else_the_active_or_the_only_one(pictures):
    for number in range(3):
        material = new_material(*pictures, linked=number, active=(number + 1) % 3)
        assert image_of(material) == pictures[number]
        assert texture_size(material) == (number + 1, 8)
    assert image_of(new_material(*pictures, active=1)) == pictures[1]
    assert image_of(new_material(*pictures)) is None, "nobody knows which"
    assert image_of(new_material(pictures[2], None)) == pictures[2]
    assert image_of(new_material(pictures[2], None, linked=1)) == pictures[2]
    assert image_of(new_material(None, active=0)) is None


@pytest.mark.parametrize(("color", "shines", "shown"), [
    ((0.8, 0.8, 0.8), False, "first"), ((0.8, 0.1, 0.1), False, None), ((0.0, 0.0, 0.0), False, None),
    ((0.8, 0.8, 0.8), True, "first"), ((0.0, 0.0, 0.0), True, "first"), ((0.8, 0.1, 0.1), True, None),
])  # fmt: skip
def test_a_colour_that_was_chosen_counts_where_the_picture_leads_nowhere(color, shines, shown):
    """As what only shines is imported its colour is black; and 0.8 is what Blender's new materials have."""
    material, surface, _ = own_nodes()
    tree, socket = material.node_tree, surface.inputs["Base Color"]
    picture = socket.links[0].from_socket
    tree.links.remove(socket.links[0])
    socket.default_value = (*color, 1.0)
    if shines:
        tree.links.new(picture, surface.inputs["Emission Color"])
        surface.inputs["Emission Strength"].default_value = 1.0
    image = image_of(material)
    assert (None if image is None else image.name) == shown
    assert image_of(new_material()) is None
    plain = bpy.data.materials.new("without nodes")
    if plain.node_tree is None:
        assert image_of(plain) is None
        assert texture_size(plain) is None


def test_nodes_may_lie_between(pictures):
    material = new_material(*pictures, active=2)
    tree = material.node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    textures = [node for node in tree.nodes if node.type == "TEX_IMAGE"]
    bright, reroute = tree.nodes.new("ShaderNodeBrightContrast"), tree.nodes.new("NodeReroute")
    tree.links.new(textures[1].outputs["Color"], bright.inputs["Color"])
    tree.links.new(bright.outputs["Color"], reroute.inputs[0])
    tree.links.new(reroute.outputs[0], surface.inputs["Base Color"])
    assert image_of(material) == pictures[1]
    tree.links.new(textures[0].outputs["Alpha"], surface.inputs["Alpha"])
    assert image_of(material) == pictures[1]


def test_a_picture_that_is_gone_has_no_size(tmp_path, pictures):
    gone = bpy.data.images.load(str(png(tmp_path / "gone.png")))
    (tmp_path / "gone.png").unlink()
    gone.reload()
    material = new_material(gone, linked=0)
    assert image_of(material) == gone
    assert texture_size(material) is None
    assert texture_size(new_material()) is None


def test_an_error_of_the_decoder_that_is_no_files_fault_is_not_hidden(tmp_path):
    with pytest.raises(AssertionError):
        load_image(tmp_path / "skin.pcx", never)

    def refuse(path):
        raise FormatError("bad")

    with collected_warnings() as texts:
        assert load_image(tmp_path / "skin.pcx", refuse) is None
    assert len(texts) == 1


# A picture of one pixel with an alpha of 0.
CLEAR = struct.pack("<2xB9xHHBB", 2, 1, 1, 32, 8) + bytes((50, 100, 200, 0))


@pytest.mark.parametrize("packed", [False, True])
def test_colours_are_there_where_alpha_is_not(tmp_path, packed):
    """Alpha is a mask, of which only blended and tested stages know: what is opaque shows its colours everywhere."""
    file = held({"models/a.tga": CLEAR}, "models/a.tga") if packed else Disk().file(put(tmp_path / "a.tga", CLEAR))
    look = Look((Layer(Texture(file), lit=False),))
    material = Materials(lambda name, worn=False: look).get("a")
    color = shown(material, tmp_path)
    linear = [((part / 255 + 0.055) / 1.055) ** 2.4 for part in (200, 100, 50)]
    np.testing.assert_allclose(color, linear, atol=0.01)


def shown(material: Any, folder: Path) -> Any:
    """Return the colour in the middle of a square with a material, as light."""
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.filepath = str(folder / "out.exr")
    mesh = bpy.data.meshes.new("square")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new().data.foreach_set("uv", [0, 0, 1, 0, 1, 1, 0, 1])
    mesh.materials.append(material)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 1.0, (0.0, 0.0, 5.0)
    for block in (bpy.data.objects.new("square", mesh), camera):
        scene.collection.objects.link(block)
    scene.camera = camera
    bpy.ops.render.render(write_still=True)
    pixels = np.array(bpy.data.images.load(scene.render.filepath).pixels[:])
    return pixels.reshape(4, 4, 4)[2, 2, :3]


@pytest.mark.parametrize("drawn", ["opaque", "alpha"])
def test_alpha_makes_no_holes_where_no_shader_counts(tmp_path, drawn):
    """Solid view shows colours wherever alpha is apart from them, and holes where it is not."""
    picture = Disk().file(put(tmp_path / "skin.tga", CLEAR))
    materials = Materials(lambda name, worn=False: Look((Layer(Texture(picture), drawn=drawn),)))
    image: Any = image_of(materials.get("skin"))
    assert image.alpha_mode == "CHANNEL_PACKED"
    assert image.pixels[3] == 0.0, "painting and saving it keeps the file's alpha"


@pytest.mark.parametrize("make", [png, tga])
def test_a_picture_that_is_packed_as_its_file_is_is_the_files(tmp_path, make):
    path = make(tmp_path / f"a.{make.__name__}")
    image = bpy.data.images.load(str(path))
    image.pack()  # as Pack Resources does
    assert not is_changed(image)
    image.pixels[0] = 1.0 - image.pixels[0]
    assert is_changed(image)
    image.pack()
    assert not image.is_dirty
    assert is_changed(image)
    path.unlink()
    assert is_changed(image)  # in no file, whatever it shows


def test_a_linked_picture_lies_where_its_own_blend_does(tmp_path):
    path = png(tmp_path / "lib" / "a.png")
    image = bpy.data.images.load(str(path))
    image.use_fake_user = True
    library = str(path.with_suffix(".blend"))
    bpy.ops.wm.save_as_mainfile(filepath=library)
    image.filepath = bpy.path.relpath(str(path))
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    with bpy.data.libraries.load(library, link=True) as (_, linked):
        linked.images = ["a.png"]
    (found,) = linked.images
    assert found.filepath.startswith("//")
    assert Path(file_of(found)) == path
