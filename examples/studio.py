"""How scenes of examples are lit, looked at and rendered, for the pictures in docs. Needs Blender."""

from __future__ import annotations

from math import radians
from pathlib import Path
from typing import Any

import bpy as blender

bpy: Any = blender
Colour = tuple[float, float, float]


def light(scene: Any, sky: Colour, energy: float, turn: tuple[float, float]) -> Any:
    """Set a sky, and a sun that is turned so many degrees about x and y; returns the sun."""
    world = bpy.data.worlds.new("world")
    if world.node_tree is None:
        world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (*sky, 1.0)
    scene.world = world
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler = energy, (radians(turn[0]), radians(turn[1]), 0)
    scene.collection.objects.link(sun)
    return sun


def look(scene: Any, place: tuple[float, float, float], tilt: float, width: float) -> None:
    """Look along -X from a place at what is `width` units wide, `tilt` degrees up from straight down."""
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.data.clip_end = "ORTHO", width, 2000.0
    camera.location, camera.rotation_euler = place, (radians(tilt), 0, radians(90))
    scene.collection.objects.link(camera)
    scene.camera = camera


def render(scene: Any, frame: int, size: tuple[int, int], samples: int, target: Path) -> None:
    """Render a frame of a scene to a PNG of a size in pixels."""
    scene.frame_set(frame)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = samples, False
    scene.render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGB"
    scene.render.image_settings.compression = 100
    scene.render.filepath = str(target.resolve())
    bpy.ops.render.render(write_still=True)
