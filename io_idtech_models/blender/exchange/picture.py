"""A picture of the scene at one frame, so that a person sees the model: all of it, with its textures, in even light.

The picture is rendered from a temporary scene that holds the same objects, a camera and lights of its own. So no
setting of the user's scene can spoil the picture, and none is touched.
"""

from __future__ import annotations

import colorsys
import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...model import steady
from ..mesh.attributes import positions
from ..scene import materials_of
from .scene_files import beside, enable, one_sentence, quiet, run

Points = NDArray[Any]  # (points, 3) in world space
Block = Any  # a data-block; the stubs take each of its pointers for optional, Blender does not

# Models face +X with Z up and their left side at +Y: the camera stands before them, to their left, a little above.
TO_CAMERA = Vector((0.76, 0.56, 0.34)).normalized()
MARGIN = 0.08  # of the picture's width or height, on each side
BACKGROUND = (0.29, 0.30, 0.32)  # linear; about 58 % grey on a screen
DEFAULT_COLOR = (0.8, 0.8, 0.8, 1.0)  # Material.diffuse_color as Blender makes it
AXIS_COLORS = ((0.8, 0.1, 0.1, 1.0), (0.15, 0.6, 0.1, 1.0), (0.1, 0.25, 0.85, 1.0))
CYCLES_SAMPLES = 16
SUNS = ((1.7, (0.9, -0.5, 0.9)), (0.8, (0.3, 1.0, 0.3)), (0.5, (-0.8, 0.2, 0.9)))  # strength, where it stands
EGL_PLATFORM_SURFACELESS_MESA = 0x31DD  # EGL_MESA_platform_surfaceless: drawing without a display


def render_still(
    path: Path, frame: int, size: tuple[int, int] = (960, 720), only: Sequence[Block] | None = None
) -> None:
    """Write a PNG of everything in the active scene that renders, at a frame; `size` is (width, height) in pixels.

    `only`: these objects, and no others.

    Surfaces show their image, or a colour of their own where they have none. Tags are drawn as axes if there is nothing
    but tags. Workbench draws it, or Cycles on the processor where OpenGL is missing.

    Raises:
        ExchangeError: the file cannot be written, or Blender cannot render.
    """
    with one_sentence(path), beside(path.absolute()) as temporary, _studio(frame, size, only) as scene:
        scene.render.filepath = str(temporary)
        run(bpy.ops.render.render, scene=scene.name, write_still=True)


@contextmanager
def _studio(frame: int, size: tuple[int, int], only: Sequence[Block] | None = None) -> Iterator[Block]:
    """A scene ready to render, with the objects of the active one; gone afterwards with all that was made for it."""
    source: Block = bpy.context.scene
    layer: Block = bpy.context.view_layer
    layer.update()  # its list of objects may be out of date in a script
    objects = [obj for obj in layer.objects if _renders(obj)] if only is None else list(only)
    with ExitStack() as undo:
        undo.callback(source.frame_set, source.frame_current)
        source.frame_set(frame)  # a render takes shape keys from the scene that is active, whatever its own frame
        scene: Block = bpy.data.scenes.new("still")
        undo.callback(bpy.data.scenes.remove, scene)
        for obj in objects:
            scene.collection.objects.link(obj)
        scene.frame_set(frame)
        points = _mesh_points(scene)
        if not len(points):
            points = _show_tags(scene, [obj for obj in objects if obj.type == "EMPTY"], undo)
        _add_camera(scene, points, size, undo)
        _set_output(scene, size)
        _add_world(scene, undo)
        _tell_apart(scene, undo)
        _ignore_alpha(scene, undo)
        with quiet():  # drivers may complain
            drawable = has_opengl()
        if drawable:
            _use_workbench(scene, points)
        else:
            _use_cycles(scene, undo)
        yield scene


def _renders(obj: bpy.types.Object) -> bool:
    collections = obj.users_collection  # empty where only the scene's own collection holds it
    hidden = obj.hide_render or (len(collections) > 0 and all(collection.hide_render for collection in collections))
    return not hidden and obj.type not in {"CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"}


# --- what is to be seen ---


def _mesh_points(scene: Block) -> Points:
    """Every vertex as modifiers, shape keys and instancing place it in the scene's frame."""
    layer = scene.view_layers[0]
    layer.update()
    found: list[Points] = [np.empty((0, 3))]
    for instance in layer.depsgraph.object_instances:
        if instance.show_self and instance.object.type == "MESH":
            matrix = np.array(instance.matrix_world, dtype=np.float64)
            found.append(steady.applied(matrix[:3], positions(instance.object.data)))
    points: Points = np.concatenate(found)
    finite: Points = points[np.isfinite(points).all(axis=1)]
    return finite


def _show_tags(scene: Block, tags: list[Block], undo: ExitStack) -> Points:
    """Stand-ins for empties, which do not render: three coloured bars each. Returns their corners, (points, 3)."""
    places = np.array([tuple(tag.matrix_world.translation) for tag in tags]).reshape(-1, 3)
    spread = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    bars = _axes_mesh(0.2 * spread if spread > 0.0 else 1.0, undo)
    for tag in tags:
        obj = bpy.data.objects.new("still axes", bars)
        undo.callback(bpy.data.objects.remove, obj)
        scene.collection.objects.link(obj)
        obj.matrix_world = tag.matrix_world
    return _mesh_points(scene)


def _axes_mesh(length: float, undo: ExitStack) -> bpy.types.Mesh:
    """Three square bars from the origin along X, Y and Z, red, green and blue."""
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    along = np.stack([cube[:, 0], (cube[:, 1] - 0.5) * 0.06, (cube[:, 2] - 0.5) * 0.06], axis=1) * length
    corners = np.concatenate([np.roll(along, axis, axis=1) for axis in range(3)])
    mesh = bpy.data.meshes.new("still axes")
    undo.callback(bpy.data.meshes.remove, mesh)
    mesh.from_pydata(corners.tolist(), [], np.concatenate([quads, quads + 8, quads + 16]).tolist())
    for color in AXIS_COLORS:
        material = _new_material(undo)
        material.diffuse_color = color
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.repeat(np.arange(3, dtype=np.int32), len(quads)))
    mesh.update()
    return mesh


# --- how it is seen ---


def _add_camera(scene: Block, points: Points, size: tuple[int, int], undo: ExitStack) -> None:
    """An orthographic camera that shows every point inside the margins, however large, small or flat the model."""
    turn = TO_CAMERA.to_track_quat("Z", "Y").to_matrix()  # its columns: right, up, backwards
    axes = np.array(turn, dtype=np.float64)
    seen = steady.applied(axes.T, points) if len(points) else np.zeros((1, 3))
    low, high = seen.min(axis=0), seen.max(axis=0)
    width, height, depth = np.maximum(high - low, 1e-6)
    room = 1.0 - 2.0 * MARGIN
    reach = max(width / room, height / room * size[0] / size[1])  # the width of the picture in units
    away = max(reach, depth)
    camera = bpy.data.cameras.new("still camera")
    undo.callback(bpy.data.cameras.remove, camera)
    camera.type = "ORTHO"
    camera.sensor_fit = "HORIZONTAL"
    camera.ortho_scale = reach
    camera.clip_start, camera.clip_end = 0.5 * away, 2.5 * away
    obj = bpy.data.objects.new("still camera", camera)
    undo.callback(bpy.data.objects.remove, obj)
    scene.collection.objects.link(obj)
    middle = (low + high) / 2.0
    middle[2] = high[2] + away
    obj.matrix_world = Matrix.Translation(Vector(steady.applied(axes, middle).tolist())) @ turn.to_4x4()
    scene.camera = obj


def _set_output(scene: Block, size: tuple[int, int]) -> None:
    render = scene.render
    render.resolution_x, render.resolution_y = size
    render.resolution_percentage = 100
    render.film_transparent = False
    render.image_settings.file_format = "PNG"
    render.image_settings.color_mode = "RGB"
    scene.view_settings.view_transform = "Standard"  # anything else changes the textures' colours


def has_opengl() -> bool:
    """Whether Workbench can draw. Without OpenGL Blender does not fail but ends the whole process: ask beforehand."""
    if not sys.platform.startswith("linux"):
        return True
    try:
        ctypes.CDLL("libGL.so.1")
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    egl.eglGetDisplay.restype = egl.eglGetPlatformDisplay.restype = ctypes.c_void_p
    displays = (egl.eglGetDisplay(None), egl.eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, None, None))
    return any(display and egl.eglInitialize(ctypes.c_void_p(display), None, None) for display in displays)


def _use_workbench(scene: Block, points: Points) -> None:
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.display.render_aa = "16"
    shading = scene.display.shading
    shading.light = "STUDIO"
    with suppress(TypeError):  # an installation may lack it; the others leave textures darker than they are
        shading.studio_light = "paint.sl"
    shading.color_type = "TEXTURE"
    shading.show_backface_culling = False
    shading.show_shadows = False  # they need closed meshes; most game models are open
    shading.show_cavity = True
    shading.cavity_type = "WORLD"
    shading.cavity_ridge_factor = 0.0  # bright lines along every edge of a model with few triangles
    shading.show_specular_highlight = False
    if len(points):
        scene.display.matcap_ssao_distance = max(float(np.ptp(points, axis=0).max()) * 0.04, 1e-5)


def _use_cycles(scene: Block, undo: ExitStack) -> None:
    enable("cycles")
    scene.render.engine = "CYCLES"
    settings = scene.cycles
    settings.device = "CPU"
    settings.samples = CYCLES_SAMPLES
    settings.use_denoising = False
    for energy, direction in SUNS:
        light: Block = bpy.data.lights.new("still light", "SUN")
        undo.callback(bpy.data.lights.remove, light)
        light.energy = energy
        obj = bpy.data.objects.new("still light", light)
        undo.callback(bpy.data.objects.remove, obj)
        obj.rotation_euler = Vector(direction).to_track_quat("Z", "Y").to_euler()
        scene.collection.objects.link(obj)


def _add_world(scene: Block, undo: ExitStack) -> None:
    world: Block = bpy.data.worlds.new("still world")
    scene.world = world
    undo.callback(bpy.data.worlds.remove, world)
    world.color = BACKGROUND
    if world.node_tree is None:
        world.use_nodes = True
    for node in world.node_tree.nodes:
        if node.type == "BACKGROUND":
            node.inputs["Color"].default_value = (*BACKGROUND, 1.0)


# --- surfaces ---


def _new_material(undo: ExitStack) -> Block:
    material = bpy.data.materials.new("still")
    undo.callback(bpy.data.materials.remove, material)
    return material


def _images(material: Block) -> list[Block]:
    nodes = material.node_tree.nodes if material.node_tree else ()
    return [node for node in nodes if node.type == "TEX_IMAGE" and node.image is not None]


def _tell_apart(scene: Block, undo: ExitStack) -> None:
    """Give a colour each to materials without an image or a viewport colour, and to meshes without materials."""
    for mesh in [obj.data for obj in scene.objects if obj.type == "MESH"]:
        if not mesh.materials and "material_index" not in mesh.attributes:  # clear() would remove that attribute
            undo.callback(mesh.materials.clear)
            mesh.materials.append(_new_material(undo))
    plain = [m for m in materials_of(scene.objects) if not _images(m) and np.allclose(m.diffuse_color, DEFAULT_COLOR)]
    for number, material in enumerate(plain):
        undo.callback(setattr, material, "diffuse_color", tuple(material.diffuse_color))
        hue = 0.08 + number * 0.618034  # the golden ratio keeps neighbours apart
        material.diffuse_color = (*colorsys.hsv_to_rgb(hue % 1.0, 0.35, 0.75), 1.0)
        for node in material.node_tree.nodes if material.node_tree else ():
            if node.type == "BSDF_PRINCIPLED":  # what Cycles shows instead
                color = node.inputs["Base Color"]
                undo.callback(setattr, color, "default_value", tuple(color.default_value))
                color.default_value = material.diffuse_color


def _ignore_alpha(scene: Block, undo: ExitStack) -> None:
    """Where an image is transparent Workbench cuts holes and Cycles blackens; only a material may ask for that."""
    nodes = [node for material in materials_of(scene.objects) for node in _images(material)]
    meant = {node.image for node in nodes if node.outputs["Alpha"].is_linked}
    unsaved = {node.image for node in nodes if node.image.is_dirty}  # would lose what was painted on them
    for image in {node.image for node in nodes} - meant - unsaved:
        undo.callback(setattr, image, "alpha_mode", image.alpha_mode)
        image.alpha_mode = "NONE"
