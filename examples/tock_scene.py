"""Render Tock as docs/tock-moves.png shows it: four times, each with other rows. Needs Blender, program or module.

blender --background --python examples/tock_scene.py -- docs/tock-moves.png
python examples/tock_scene.py docs/tock-moves.png
"""

from __future__ import annotations

import sys
from math import radians
from pathlib import Path
from typing import Any

import bpy as blender

HERE = Path(__file__).resolve().parent
PLAYER = HERE / "tock" / "baseq3" / "models" / "players" / "tock" / "animation.cfg"
SHOWN = (  # skin, what legs and torso do, where it stands, and how it is turned
    ("default", "LEGS_IDLE", "TORSO_GESTURE", -62.0, 14.0),
    ("default", "LEGS_RUN", "TORSO_ATTACK", -20.0, -48.0),
    ("red", "LEGS_WALK", "TORSO_STAND", 20.0, 36.0),
    ("red", "BOTH_DEATH1", "BOTH_DEATH1", 46.0, -56.0),
)
FRAME = 6
bpy: Any = blender


def light(scene: Any) -> None:
    """Set a bright room, and a sun from the front above."""
    world = bpy.data.worlds.new("room")
    if world.node_tree is None:
        world.use_nodes = True
    sky = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    sky.inputs["Color"].default_value = (0.36, 0.42, 0.5, 1.0)
    scene.world = world
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler, sun.data.angle = 2.4, (radians(-24), radians(38), 0), 0.1
    scene.collection.objects.link(sun)
    floor = bpy.data.meshes.new("floor")
    floor.from_pydata([(-900, -900, -24), (300, -900, -24), (300, 900, -24), (-900, 900, -24)], [], [(0, 1, 2, 3)])
    scene.collection.objects.link(bpy.data.objects.new("floor", floor))


def look(scene: Any) -> None:
    """Look along -X, and down a little."""
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.data.clip_end = "ORTHO", 170.0, 2000.0
    camera.location, camera.rotation_euler = (300.0, 8.0, 56.0), (radians(80), 0, radians(90))
    scene.collection.objects.link(camera)
    scene.camera = camera


def main(target: Path) -> None:
    """Import the player once for each pose, and render them."""
    sys.path.insert(0, str(HERE.parent))
    import io_idtech_models

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_player"):
        io_idtech_models.register()
    scene = bpy.context.scene
    for skin, legs, torso, place, turned in SHOWN:
        before = set(scene.collection.all_objects)
        bpy.ops.import_scene.idtech_player(filepath=str(PLAYER), skin=skin, legs=legs, torso=torso, levels=False)
        root = next(b for b in scene.collection.all_objects if b not in before and b.get("idtech_part") == "lower")
        root.location.y, root.rotation_euler.z = place, radians(turned)
    light(scene)
    look(scene)
    scene.frame_set(FRAME)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 300, False
    scene.render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = 760, 330
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGB"
    scene.render.image_settings.compression = 100
    scene.render.filepath = str(target.resolve())
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
