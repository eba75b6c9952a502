"""Materials of looks: rendered, they show what the layers come to."""

from math import cos, radians
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
import pytest
from mathutils import Matrix, Vector

from io_idtech_models.blender.shading import node_groups
from io_idtech_models.blender.shading.nodes import show_look
from io_idtech_models.model.surface_look import (
    ADD,
    ALPHA,
    DARKEN,
    MULTIPLY,
    SHARPNESS,
    SHINE,
    UNSEEN,
    Clip,
    Layer,
    Look,
    Motion,
    Texture,
)

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
BEHIND = (0.7, 0.5, 0.3)  # what lies behind the surface
SIZE = 4


@pytest.fixture
def world():
    """Set a dark scene for pictures that hold the numbers of light; what the camera sees is `render`'s."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    scene.render.filter_size = 0.01
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.world = bpy.data.worlds.new("all around")
    if scene.world.node_tree is None:
        scene.world.use_nodes = True
    light(scene, 0.0)
    return scene


def light(scene, strength):
    """Let light come from all sides."""
    next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND").inputs["Color"].default_value = (
        *[strength] * 3, 1.0,
    )  # fmt: skip


def square(name, material, *place):
    """Return a square of 2 units at (x, z) with texture coordinates from 0 to 1."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new().data.foreach_set("uv", [0, 0, 1, 0, 1, 1, 0, 1])
    mesh.materials.append(material)
    block = bpy.data.objects.new(name, mesh)
    block.location = (place[0], 0, place[1])
    bpy.context.scene.collection.objects.link(block)
    return block


@pytest.fixture
def images():
    """Return a picture for each name: four texels, which differ from left to right and from bottom to top."""

    def load(texture):
        name = texture.picture
        image = bpy.data.images.new(name, 2, 2, alpha=True)
        image.colorspace_settings.name = "Non-Color"  # numbers as they are written here
        image.pixels.foreach_set(np.array(PICTURES[name], np.float32).ravel())
        image.pack()
        return image

    return load


PICTURES: dict[str, Any] = {  # bottom left, bottom right, top left, top right
    "colours": [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1)],
    "holes": [(0.5, 0.5, 0.5, 0), (0.5, 0.5, 0.5, 0.25), (0.5, 0.5, 0.5, 0.75), (0.5, 0.5, 0.5, 1)],
}
COLOURS, HOLES = Texture("colours"), Texture("holes")


def render(looks, images, folder, place=None, **options):
    """Return the colours (2, 2, 3) that each look's surface shows: bottom left, bottom right, top left, top right.

    The squares stand side by side: one picture of all takes hardly longer than of one. What `place` (4, 4) does to the
    objects, their meshes undo.
    """
    scene, count = bpy.context.scene, len(looks)
    for block in list(bpy.data.objects):
        bpy.data.objects.remove(block)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 2.0 * count, (count - 1.0, 0.0, 5.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = SIZE * count, SIZE
    behind = bpy.data.materials.new("behind")
    show_look(behind, Look((Layer(color=BEHIND, lit=False),)), lambda _: None)
    square("behind", behind, count, -1).scale = (9 * count, 9, 1)
    for nth, look in enumerate(looks):
        material = bpy.data.materials.new("m")
        assert show_look(material, look, images, **options)
        for node in material.node_tree.nodes:
            if node.type == "TEX_IMAGE":
                node.interpolation = "Closest"
        block = square("square", material, 2 * nth, 0)
        if place is not None:
            block.data.transform(place.inverted())
            block.matrix_world = Matrix.Translation(block.location) @ place
    scene.render.filepath = str(Path(folder, "out.exr"))
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels: Any = np.empty(SIZE * SIZE * count * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(SIZE, count, SIZE, 4)[1::2, :, 1::2, :3].transpose(1, 0, 2, 3)


def bright(texture=None, **others):
    return Layer(texture, lit=False, **others)


COLORS: Any = np.array([[c[:3] for c in row] for row in (PICTURES["colours"][:2], PICTURES["colours"][2:])], float)
HOLE_ALPHA: Any = np.array([[0, 0.25], [0.75, 1]])[..., None]
BACK: Any = np.array(BEHIND) ** 2.2


def numbers(light: Any) -> Any:
    """Return the numbers of a picture that are so much light; games reckon with these."""
    return np.asarray(light, float) ** (1 / 2.2)


def light_of(numbers: Any) -> Any:
    return np.asarray(numbers, float) ** 2.2


HALF: Any = np.array([1, 1, 1]) * numbers(0.5)  # of the picture with holes
CASES: list[tuple[tuple[Layer, ...], Any]] = [
    ((bright(COLOURS),), COLORS),
    ((bright(COLOURS, color=(0.5, 1, 1)),), COLORS * (light_of(0.5), 1, 1)),
    ((bright(HOLES, drawn=ALPHA),), 0.5 * HOLE_ALPHA + BACK * (1 - HOLE_ALPHA)),
    ((bright(HOLES, drawn=ALPHA, alpha=0.5),), 0.25 * HOLE_ALPHA + BACK * (1 - 0.5 * HOLE_ALPHA)),
    ((bright(HOLES, drawn=ALPHA, inverted=True),), 0.5 * (1 - HOLE_ALPHA) + BACK * HOLE_ALPHA),
    ((bright(HOLES, clip=Clip(0.5, below=False)),), np.where(HOLE_ALPHA > 0.5, 0.5, BACK)),
    ((bright(HOLES, clip=Clip(0.5, below=True)),), np.where(HOLE_ALPHA < 0.5, 0.5, BACK)),
    ((bright(COLOURS, drawn=ADD),), BACK + COLORS),
    ((bright(HOLES, drawn=ADD, weighted=True),), BACK + 0.5 * HOLE_ALPHA),
    ((bright(COLOURS, drawn=MULTIPLY),), BACK * COLORS),
    ((bright(HOLES, drawn=DARKEN, weighted=True),), BACK * (1 - HOLE_ALPHA)),
    ((Layer(drawn=UNSEEN),), BACK + 0 * COLORS),
    ((bright(COLOURS), bright(HOLES, drawn=ALPHA)), light_of(COLORS * (1 - HOLE_ALPHA) + HALF * HOLE_ALPHA)),
    (
        (bright(HOLES), bright(HOLES, drawn=ADD, color=(0.25, 0, 1))),
        light_of(np.minimum(HALF * np.array((1.25, 1, 2)), 1)) + 0 * COLORS,
    ),
    ((bright(COLOURS), bright(HOLES, drawn=MULTIPLY)), light_of(COLORS * HALF)),
    # Grey of one half changes nothing where it counts twice.
    ((bright(COLOURS), bright(drawn=MULTIPLY, color=(0.5,) * 3), bright(drawn=MULTIPLY, color=(2,) * 3)), COLORS),
    ((bright(COLOURS), bright(HOLES, clip=Clip(0.5, below=False))), np.where(HOLE_ALPHA > 0.5, 0.5, COLORS)),
    (
        (bright(COLOURS), bright(HOLES, drawn=MULTIPLY, color=(0.5, 1, 0), keeps=True)),
        light_of(np.minimum(COLORS * (1 + HALF * (0.5, 1, 0)), 1)),
    ),
    ((bright(COLOURS, drawn=MULTIPLY, keeps=True),), BACK * (1 + COLORS)),
    # What is added above is not let through by what it lies on.
    ((bright(HOLES, drawn=ALPHA), bright(COLOURS, drawn=ADD)), 0.5 * HOLE_ALPHA + BACK * (1 - HOLE_ALPHA) + COLORS),
    (
        (bright(HOLES, drawn=ALPHA), bright(COLOURS, drawn=ADD), bright(COLOURS, drawn=MULTIPLY)),
        (0.5 * HOLE_ALPHA + 1) * COLORS + BACK * (1 - HOLE_ALPHA),
    ),
    ((bright(HOLES, drawn=ALPHA, whole=True),), 0.5 + BACK * (1 - HOLE_ALPHA)),
    ((bright(HOLES, drawn=ALPHA, whole=True, inverted=True),), 0.5 + BACK * HOLE_ALPHA),
    (
        (bright(COLOURS), bright(HOLES, drawn=ALPHA, whole=True)),
        light_of(np.minimum(COLORS * (1 - HOLE_ALPHA) + HALF, 1)),
    ),
    # What lies above comes to the right.
    (
        (bright(Texture("colours", rows=((0.0, 1.0, 0.0), (-1.0, 0.0, 1.0)))),),
        np.array([[COLORS[1, 0], COLORS[0, 0]], [COLORS[1, 1], COLORS[0, 1]]]),
    ),
]


def test_what_looks_show(world, images, tmp_path):
    shown = render([Look(layers) for layers, _ in CASES], images, tmp_path)
    for nth, (layers, wanted) in enumerate(CASES):
        np.testing.assert_allclose(shown[nth], wanted, atol=0.02, err_msg=str(layers))


def test_what_shines_where_the_game_has_its_light(world, images, tmp_path):
    look = Look((bright(COLOURS, color=(0, 0, 0)), bright(drawn=ADD, weighted=True, shines=True)))
    upright = Vector(SHINE).rotation_difference((0, 0, 1)).to_matrix().to_4x4()
    for degrees in (0, 30, 80):
        place = Matrix.Rotation(radians(degrees), 4, "X") @ upright @ Matrix.Scale(3.0, 4)
        (shown,) = render([look], images, tmp_path, place)
        np.testing.assert_allclose(shown, light_of(cos(radians(degrees)) ** SHARPNESS), atol=0.01)
    (shown,) = render([Look((bright(drawn=ALPHA, shines=True),))], images, tmp_path, upright)
    np.testing.assert_allclose(shown, 1.0, atol=0.01)


def test_what_shines_is_all_there_where_no_alpha_counts(world, images, tmp_path):
    (shown,) = render([Look((bright(COLOURS, shines=True),))], images, tmp_path)
    np.testing.assert_allclose(shown, COLORS, atol=0.02)


def test_a_reflection_is_the_same_however_large_the_object(world, images, tmp_path):
    # The view falls straight on it, and comes back: z is 1, and v too; y is 0, in the middle.
    look = Look((bright(COLOURS._replace(reflects=True, rows=((1, 0, 0.25), (0, 0.75, 0)))),))
    for scale in (1.0, 0.25, 4.0):
        (shown,) = render([look], images, tmp_path, Matrix.Scale(scale, 4))
        np.testing.assert_allclose(shown, np.broadcast_to(COLORS[1, 1], (2, 2, 3)), atol=0.02)


def test_what_is_lit_is_dark_without_light(world, images, tmp_path):
    (dark,) = render([Look((Layer(COLOURS),))], images, tmp_path)
    assert dark.max() < 0.4  # but for what the square behind sheds
    light(world, 1.0)
    (bright_day,) = render([Look((Layer(COLOURS),))], images, tmp_path)
    assert bright_day.sum() > 2 * dark.sum()


def test_a_texture_that_moves(world, images, tmp_path):
    still = (Motion(), Motion())
    moving = Texture("colours", motions=((*still, Motion(speed=0.5)), (*still, Motion())))
    world.frame_set(24)
    shown = render([Look((bright(moving),))] * 2, images, tmp_path, frame_rate=24.0)
    np.testing.assert_allclose(shown[0], COLORS[:, ::-1], atol=0.02)
    drivers = [d for m in bpy.data.materials if m.node_tree.animation_data for d in m.node_tree.animation_data.drivers]
    assert len(drivers) == 2
    assert all(curve.driver.is_simple_expression for curve in drivers)
    np.testing.assert_allclose(render([Look((bright(moving),))], images, tmp_path)[0], COLORS, atol=0.02)


def test_a_texture_that_turns(images):
    rows = ((Motion(cosine=1.0), Motion(sine=-1.0), Motion()), (Motion(sine=1.0), Motion(cosine=1.0), Motion()))
    material = bpy.data.materials.new("m")
    show_look(material, Look((bright(Texture("colours", motions=rows, turn=np.pi)),)), images, frame_rate=10.0)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("o", bpy.data.meshes.new("o")))
    bpy.data.objects["o"].data.materials.append(material)
    bpy.context.scene.frame_set(5)
    group = next(n for n in material.node_tree.nodes if n.type == "GROUP")
    found = group.evaluated_get(bpy.context.evaluated_depsgraph_get()) if hasattr(group, "evaluated_get") else group
    np.testing.assert_allclose([tuple(found.inputs[n].default_value) for n in "UV"], [(0, -1, 0), (1, 0, 0)], atol=1e-5)


def test_groups_are_shared_and_those_of_others_left_alone(images):
    for name in ("a", "b"):
        show_look(bpy.data.materials.new(name), Look((bright(COLOURS, drawn=ADD),)), images)
    assert len(bpy.data.node_groups) == 1
    bpy.data.node_groups[0].name = "mine"
    assert node_groups.additive().name == "mine"
    assert node_groups.filtering() != node_groups.additive()


def test_which_side_is_seen_and_what_the_viewport_shows_without_materials(images):
    material = bpy.data.materials.new("m")
    layers = Layer(Texture("holes", reflects=True)), Layer(COLOURS, drawn=ADD)
    show_look(material, Look(layers, two_sided=False), images)
    assert material.use_backface_culling
    assert material.node_tree.nodes.active.image.name == "colours"
    assert not show_look(bpy.data.materials.new("m"), Look((Layer(COLOURS),)), lambda _: None), "it can't be read"


def test_normals_and_shine(images):
    material = bpy.data.materials.new("m")
    look = Look((Layer(COLOURS),), normal=HOLES, specular=Texture("holes", clamp=True))
    show_look(material, look, images)
    kinds = sorted(node.type for node in material.node_tree.nodes)
    assert kinds == ["BSDF_PRINCIPLED", "NORMAL_MAP", "OUTPUT_MATERIAL", "TEX_IMAGE", "TEX_IMAGE", "TEX_IMAGE"]
    normal = next(node for node in material.node_tree.nodes if node.type == "NORMAL_MAP")
    assert normal.inputs["Color"].links[0].from_node.image.colorspace_settings.name == "Non-Color"
    material = bpy.data.materials.new("m")
    show_look(material, Look((Layer(COLOURS),), normal=HOLES, normal_is_height=True), images)
    assert any(node.type == "BUMP" for node in material.node_tree.nodes)
