"""Render the Brazier in three of its poses and gone out, as docs/brazier.png shows it; needs Blender.

blender --background --python examples/brazier_scene.py -- docs/brazier.png
python examples/brazier_scene.py docs/brazier.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy as blender

HERE = Path(__file__).resolve().parent
MODEL = HERE / "brazier" / "progs" / "brazier.mdl"
POSES = (0, 2, 4, 5)  # the last one wears the other skin
bpy: Any = blender


def main(target: Path) -> None:
    """Import the model several times, and render it."""
    sys.path.insert(0, str(HERE.parent))
    import io_idtech_models
    from examples import studio

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_mdl"):
        io_idtech_models.register()
    scene = bpy.context.scene
    for nth, pose in enumerate(POSES):
        bpy.ops.import_scene.idtech_mdl(filepath=str(MODEL))
        block = bpy.context.object
        block.location.y = 26.0 * nth - 39.0
        keys = block.data.shape_keys
        keys.animation_data.action = None
        keys.eval_time = pose
        if nth == len(POSES) - 1:
            block.data.materials[0] = block.data.materials[1]
    studio.light(scene, (0.25, 0.26, 0.3), 2.0, (-20, 40))
    studio.look(scene, (200.0, 0.0, 66.0), 78, 112.0)
    studio.render(scene, 0, (560, 270), 64, target)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
