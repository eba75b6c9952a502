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


def lay_floor(scene: Any) -> None:
    """Put a floor under what stands there."""
    floor = bpy.data.meshes.new("floor")
    floor.from_pydata([(-900, -900, -24), (300, -900, -24), (300, 900, -24), (-900, 900, -24)], [], [(0, 1, 2, 3)])
    scene.collection.objects.link(bpy.data.objects.new("floor", floor))


def main(target: Path) -> None:
    """Import the player once for each pose, and render them."""
    sys.path.insert(0, str(HERE.parent))
    import io_idtech_models
    from examples import studio

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_player"):
        io_idtech_models.register()
    scene = bpy.context.scene
    for skin, legs, torso, place, turned in SHOWN:
        before = set(scene.collection.all_objects)
        bpy.ops.import_scene.idtech_player(filepath=str(PLAYER), skin=skin, legs=legs, torso=torso, levels=False)
        root = next(b for b in scene.collection.all_objects if b not in before and b.get("idtech_part") == "lower")
        root.location.y, root.rotation_euler.z = place, radians(turned)
    studio.light(scene, (0.36, 0.42, 0.5), 2.4, (-24, 38)).data.angle = 0.1
    lay_floor(scene)
    studio.look(scene, (300.0, 8.0, 56.0), 80, 170.0)
    studio.render(scene, FRAME, (760, 330), 300, target)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
