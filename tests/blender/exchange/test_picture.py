"""Pictures: small ones, read back and looked at as numbers (where the model is, and in which colours)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import curves_for
from io_idtech_models.blender.curves import add_curve
from io_idtech_models.blender.exchange import picture as still
from io_idtech_models.blender.exchange.scene_files import ExchangeError
from io_idtech_models.blender.exchange.scene_files import run as run_operator
from io_idtech_models.blender.vertex.shape_keys import add_absolute
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")
SIZE = (120, 90)
RENDERED = {"Render Result"}  # an image that Blender makes with the first picture and keeps
RED, GREEN = (220, 20, 20, 255), (20, 200, 20, 255)


def make_box(name: str, low: Any, high: Any, *materials: Any) -> Any:
    """A box without its rear, so that it is open; one texture over each face."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * np.subtract(high, low) + low
    quads = [(4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners.tolist(), [], quads)
    layer = mesh.uv_layers.new(name="UVMap", do_init=False)
    layer.uv.foreach_set("vector", np.tile(np.array([0, 0, 1, 0, 1, 1, 0, 1], np.float32), len(quads)))
    for material in materials:
        mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_material(name: str, image: Any = None, use_alpha: bool = False) -> Any:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    if image is not None:
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = image
        surface = material.node_tree.nodes["Principled BSDF"]
        material.node_tree.links.new(node.outputs["Color"], surface.inputs["Base Color"])
        if use_alpha:
            material.node_tree.links.new(node.outputs["Alpha"], surface.inputs["Alpha"])
    return material


def make_image(path: Path, *rows: tuple[int, int, int, int]) -> Any:
    """A TGA of 8 x 8 pixels: equal bands of the given colours from the bottom up."""
    pixels = np.repeat(np.array(rows, np.uint8), 64 // len(rows), axis=0)[:, [2, 1, 0, 3]]
    path.write_bytes(struct.pack("<3B2HB4H2B", 0, 0, 2, 0, 0, 0, 0, 0, 8, 8, 32, 8) + pixels.tobytes())
    return bpy.data.images.load(str(path))


def make_tags(count: int) -> None:
    for number in range(count):
        tag = bpy.data.objects.new(f"tag_{number}", None)
        tag.location = (number * 7.0, number * number * 3.0, 5.0)
        bpy.context.scene.collection.objects.link(tag)


def picture(path: Path, frame: int = 0, size: tuple[int, int] = SIZE) -> Any:
    """Render and read back: (height, width, 3), 0..1, bottom row first."""
    still.render_still(path, frame, size)
    image = bpy.data.images.load(str(path), check_existing=False)
    assert tuple(image.size) == size
    assert image.depth == 24, "the background is not transparent"
    pixels = np.empty(size[0] * size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(size[1], size[0], 4)[..., :3]


def model_pixels(pixels: Any) -> Any:
    """Which pixels differ from the background, (height, width)."""
    return np.abs(pixels - pixels[0, 0]).max(axis=-1) > 0.04


def margins(pixels: Any) -> tuple[float, float]:
    """The narrowest part of the background left or right, and above or below, as a share of the picture."""
    rows, columns = np.nonzero(model_pixels(pixels))
    height, width = pixels.shape[:2]
    return (min(columns.min(), width - 1 - columns.max()) / width, min(rows.min(), height - 1 - rows.max()) / height)


def is_framed(pixels: Any) -> bool:
    return min(margins(pixels)) == pytest.approx(still.MARGIN, abs=0.02)


def colored(pixels: Any, channel: int) -> Any:
    """Which pixels are mostly of one colour (0 red, 1 green, 2 blue)."""
    others = np.delete(pixels, channel, axis=-1).max(axis=-1)
    return pixels[..., channel] > others + 0.2


def test_the_textures_show_and_the_background_is_even(tmp_path):
    make_box("body", (-9, -3, -12), (9, 3, 12), make_material("skin", make_image(tmp_path / "skin.tga", RED)))
    pixels = picture(tmp_path / "still.png")
    assert is_framed(pixels)
    assert colored(pixels, 0).sum() > 0.93 * model_pixels(pixels).sum()
    reds = pixels[colored(pixels, 0)]
    assert np.allclose(reds[reds[:, 0].argmax()], np.array(RED[:3]) / 255, atol=0.15)
    assert np.ptp(pixels[~model_pixels(pixels)], axis=0).max() < 0.05
    assert 0.4 < pixels[0, 0].mean() < 0.7


def test_the_camera_stands_before_the_model_to_its_left_and_above(tmp_path):
    front = make_material("front", make_image(tmp_path / "front.tga", RED))
    left = make_material("left", make_image(tmp_path / "left.tga", GREEN))
    obj = make_box("body", (-5, -5, -5), (5, 5, 5), make_material("rest"), front, left)
    obj.data.polygons.foreach_set("material_index", np.array([1, 0, 2, 0, 0], np.int32))
    pixels = picture(tmp_path / "still.png")
    seen = [np.nonzero(colored(pixels, channel)) for channel in (0, 1)]
    assert all(len(rows) > 500 for rows, _ in seen)
    assert seen[0][1].mean() < seen[1][1].mean(), "the model's front is left of its left side"
    assert np.nonzero(model_pixels(pixels))[0].max() > max(rows.max() for rows, _ in seen), "its top is seen"


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("flat", [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (0, 0, 1)])
def test_every_size_and_shape_fills_the_picture(tmp_path, scale, flat):
    low, high = np.array((10, 20, -30)), np.array((24, 29, -10))
    box = make_box("body", low * scale, (low + (high - low) * flat) * scale)
    if sum(flat) == 1:  # a line has no surface to render: the camera must cope, no more
        assert not model_pixels(picture(tmp_path / "still.png")).any()
        return
    assert is_framed(picture(tmp_path / "still.png"))
    assert is_framed(picture(tmp_path / "still.png", size=(60, 110)))
    assert box.name in bpy.context.scene.objects


@pytest.mark.parametrize("count", [0, 1, 4])
def test_tags_alone_are_drawn_as_axes(tmp_path, count):
    make_tags(count)
    pixels = picture(tmp_path / "still.png")
    assert [bool(colored(pixels, channel).any()) for channel in range(3)] == [count > 0] * 3
    assert count == 0 or is_framed(pixels)


@pytest.mark.parametrize("moves", ["keys", "object"])
def test_the_frame_asked_for_is_shown_whatever_the_scene_shows(tmp_path, moves):
    obj = make_box("body", (-5, -5, -5), (5, 5, 5))
    if moves == "keys":
        base = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
        add_absolute(obj, ["low", "high"], np.stack([base, base * np.array([1, 1, 4], np.float32)]))
    animated, path, values = (obj.data.shape_keys, "eval_time", (0, 1)) if moves == "keys" else (obj, "scale", (1, 4))
    curves = curves_for(bpy.data.actions.new("x"), animated, "x")
    add_curve(curves, path, 0 if moves == "keys" else 2, np.arange(2), np.array(values))
    shares = []
    for shown in (0, 1):
        for frame in (0, 1):
            bpy.context.scene.frame_set(shown)
            pixels = picture(tmp_path / "still.png", frame)
            assert is_framed(pixels)
            assert bpy.context.scene.frame_current == shown
            rows, columns = np.nonzero(model_pixels(pixels))
            shares.append(np.ptp(rows) / np.ptp(columns))
    assert shares[:2] == shares[2:]
    assert shares[1] > 2 * shares[0]


@pytest.mark.parametrize("with_material", [True, False])
def test_surfaces_without_images_have_colours_of_their_own(tmp_path, with_material):
    for number in range(3):
        materials = [make_material(f"m{number}")] if with_material else []
        make_box(f"part{number}", (0, number * 10, 0), (5, number * 10 + 6, 5), *materials)
    pixels = picture(tmp_path / "still.png")
    inside = pixels[model_pixels(pixels)]
    hues = np.arctan2(np.sqrt(3) * (inside[:, 1] - inside[:, 2]), 2 * inside[:, 0] - inside[:, 1] - inside[:, 2])
    crowded = np.histogram(hues, bins=12, range=(-np.pi, np.pi))[0] > 0.1 * len(hues)
    assert crowded.sum() >= 3


@pytest.mark.parametrize("opengl", [True, False])
@pytest.mark.parametrize("meant", [False, True])
def test_alpha_makes_holes_only_where_the_material_says_so(tmp_path, meant, opengl, monkeypatch):
    if not opengl:
        monkeypatch.setattr(still, "has_opengl", lambda: False)
    image = make_image(tmp_path / "skin.tga", RED, (*RED[:3], 0))
    make_box("body", (-5, -5, -5), (5, 5, 5), make_material("skin", image, use_alpha=meant))
    pixels = picture(tmp_path / "still.png")
    red = colored(pixels, 0).sum()
    whole = 0.42 * SIZE[0] * SIZE[1]
    assert (red < 0.8 * whole) if meant else (red > 0.9 * whole)
    assert image.alpha_mode == "STRAIGHT"


def test_cycles_draws_where_opengl_is_missing(tmp_path, monkeypatch):
    engines = []

    def run(operator: Any, **options: Any) -> None:
        engines.append(bpy.data.scenes[options["scene"]].render.engine)
        run_operator(operator, **options)

    monkeypatch.setattr(still, "run", run)
    make_box("body", (-5, -5, -5), (5, 5, 5), make_material("skin", make_image(tmp_path / "skin.tga", GREEN)))
    monkeypatch.setattr(still, "has_opengl", lambda: False)
    pixels = picture(tmp_path / "still.png")
    assert is_framed(pixels)
    assert colored(pixels, 1).sum() > 0.9 * model_pixels(pixels).sum()
    assert engines == ["CYCLES"]


def test_opengl_is_missing_without_its_libraries(monkeypatch):
    def no_library(name: str) -> Any:
        raise OSError(name)

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("ctypes.CDLL", no_library)
    assert not still.has_opengl()
    monkeypatch.setattr("sys.platform", "win32")
    assert still.has_opengl()


def test_what_does_not_render_is_neither_shown_nor_framed(tmp_path):
    make_box("body", (-5, -5, -5), (5, 5, 5))
    alone = picture(tmp_path / "still.png")
    make_box("hidden", (90, 90, 90), (99, 99, 99)).hide_render = True
    collection = bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(collection)
    collection.hide_render = True
    far = make_box("far", (-90, -90, -90), (-80, -80, -80))
    bpy.context.scene.collection.objects.unlink(far)
    collection.objects.link(far)
    assert np.array_equal(picture(tmp_path / "still.png"), alone)


@pytest.mark.parametrize("has_mesh", [True, False])
def test_nothing_is_left_in_the_file(tmp_path, has_mesh):
    material = make_material("plain")
    if has_mesh:
        make_box("body", (-5, -5, -5), (5, 5, 5), material)
        make_box("bare", (-5, -5, -5), (5, 5, 5))
    make_tags(1)
    kinds = [kind for kind in dir(bpy.data) if isinstance(getattr(bpy.data, kind), bpy.types.bpy_prop_collection)]

    def state() -> Any:
        scene = bpy.context.scene
        settings = scene.render.engine, scene.render.filepath, scene.camera, scene.world, scene.frame_current
        nodes = material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value
        names = {kind: sorted({block.name for block in getattr(bpy.data, kind)} - RENDERED) for kind in kinds}
        slots = {mesh.name: (len(mesh.materials), mesh.attributes.keys()) for mesh in bpy.data.meshes}
        return settings, tuple(material.diffuse_color), tuple(nodes), names, slots

    before = state()
    still.render_still(tmp_path / "still.png", 0, SIZE)
    assert state() == before
    assert [file.name for file in tmp_path.iterdir()] == ["still.png"]


def test_a_failed_picture_is_one_sentence_and_harms_nothing(tmp_path, monkeypatch):
    def fail(*_arguments: Any, **_options: Any) -> None:
        raise RuntimeError("Error: no memory\n")

    with pytest.raises(ExchangeError, match=r"No such file or directory$"):
        still.render_still(tmp_path / "missing" / "still.png", 0, SIZE)
    path = tmp_path / "still.png"
    path.write_bytes(b"old")
    scenes = len(bpy.data.scenes)
    monkeypatch.setattr(still, "run", fail)
    with pytest.raises(ExchangeError, match=r": no memory$"):
        still.render_still(path, 0, SIZE)
    assert (path.read_bytes(), len(bpy.data.scenes), len(list(tmp_path.iterdir()))) == (b"old", scenes, 1)
