"""Make a .blend of small models with the Blender at hand: ``.venvs/bpy-4.2/bin/python tests/blends/make.py``.

The files beside are kept: a .blend lives for years, and is opened by Blenders that its maker did not know. `first-*`
were saved by the extension's first version, before import noted what decides whether normals were edited. Never make
those again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent))


def main() -> None:
    """Import the models beside, and save them as one .blend called after this Blender's version."""
    import bpy

    import io_idtech_models

    io_idtech_models.register()
    scenes: Any = bpy.ops.import_scene
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for path in sorted(FOLDER.glob("*.*")):
        kind = path.suffix[1:]
        if kind in {"md2", "md3", "md5mesh", "mdm"}:
            getattr(scenes, f"idtech_{kind}")(filepath=str(path))
    name = sys.argv[1] if len(sys.argv) > 1 else "saved"
    version = ".".join(str(part) for part in bpy.app.version[:2])
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / f"{name}-{version}.blend"), compress=True, check_existing=False)
    sys.stdout.flush()
    os._exit(0)  # Blender's own clean-up may crash or hang


if __name__ == "__main__":
    main()
