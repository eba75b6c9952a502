"""Render the Lantern in both of its skins, as docs/lantern.png shows it; needs Blender, as a program or as a module.

blender --background --python examples/lantern_scene.py -- docs/lantern.png
python examples/lantern_scene.py docs/lantern.png
"""

from __future__ import annotations

import sys
from math import radians
from pathlib import Path
from typing import Any

import bpy as blender

HERE = Path(__file__).resolve().parent
MODEL = HERE / "lantern" / "baseq3" / "lantern.pk3" / "models" / "mapobjects" / "lantern" / "lantern.md3"
SKINS = ("default", "frost")
FRAME = 3
bpy: Any = blender


def light(scene: Any) -> None:
    """Set a dusk, and a lamp from the front above."""
    world = bpy.data.worlds.new("dusk")
    if world.node_tree is None:
        world.use_nodes = True
    sky = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    sky.inputs["Color"].default_value = (0.05, 0.06, 0.08, 1.0)
    scene.world = world
    sun = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "SUN"))
    sun.data.energy, sun.rotation_euler = 2.0, (radians(-20), radians(40), 0)
    scene.collection.objects.link(sun)


def look(scene: Any) -> None:
    """Look along -X at what hangs side by side."""
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.data.clip_end = "ORTHO", 74.0, 1000.0
    camera.location, camera.rotation_euler = (200.0, 0.0, 11.0), (radians(78), 0, radians(90))
    scene.collection.objects.link(camera)
    scene.camera = camera


def main(target: Path) -> None:
    """Import the model once for each skin, and render them."""
    sys.path.insert(0, str(HERE.parent))
    import io_idtech_models

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_md3"):
        io_idtech_models.register()
    scene = bpy.context.scene
    for nth, skin in enumerate(SKINS):
        bpy.ops.import_scene.idtech_md3(filepath=str(MODEL), skin=skin)
        for block in bpy.context.selected_objects:
            block.location.y += 34.0 * nth - 17.0
    light(scene)
    look(scene)
    scene.frame_set(FRAME)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 400, False
    scene.render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = 340, 360
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGB"
    scene.render.image_settings.compression = 100
    scene.render.filepath = str(target.resolve())
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
