"""Render the Lantern in both of its skins, as docs/lantern.png shows it; needs Blender, as a program or as a module.

blender --background --python examples/lantern_scene.py -- docs/lantern.png
python examples/lantern_scene.py docs/lantern.png
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy as blender

HERE = Path(__file__).resolve().parent
MODEL = HERE / "lantern" / "baseq3" / "lantern.pk3" / "models" / "mapobjects" / "lantern" / "lantern.md3"
SKINS = ("default", "frost")
FRAME = 3
bpy: Any = blender


def main(target: Path) -> None:
    """Import the model once for each skin, and render them."""
    sys.path.insert(0, str(HERE.parent))
    import io_idtech_models
    from examples import studio

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_md3"):
        io_idtech_models.register()
    scene = bpy.context.scene
    for nth, skin in enumerate(SKINS):
        bpy.ops.import_scene.idtech_md3(filepath=str(MODEL), skin=skin)
        for block in bpy.context.selected_objects:
            block.location.y += 34.0 * nth - 17.0
    studio.light(scene, (0.05, 0.06, 0.08), 2.0, (-20, 40))
    studio.look(scene, (200.0, 0.0, 11.0), 78, 74.0)
    studio.render(scene, FRAME, (340, 360), 400, target)


if __name__ == "__main__":
    main(Path(sys.argv[-1]))
