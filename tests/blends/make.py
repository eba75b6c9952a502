"""Make a .blend of small models with the Blender at hand: ``.venvs/bpy-4.2/bin/python tests/blends/make.py``.

The files beside are kept: a .blend lives for years, and is opened by Blenders that its maker did not know. `first-*`
and `saved-*` are older than the first release: `first-*` were saved before import noted what decides whether normals
were edited. At a release the version's name is given (`make.py 1.0.0`), with each Blender, and the files are added.
Never make those again that are there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
KINDS = {"md2", "md3", "mdc", "mdl", "md5mesh", "mdm", "mds", "iqm", "mdr"}
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
        if kind in KINDS:
            getattr(scenes, f"idtech_{kind}")(filepath=str(path))
    name = sys.argv[1] if len(sys.argv) > 1 else "saved"
    version = ".".join(str(part) for part in bpy.app.version[:2])
    path = FOLDER / f"{name}-{version}.blend"
    if path.exists():
        sys.stderr.write(f"{path.name} is there already, and stays as it is\n")
        os._exit(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, check_existing=False)
    sys.stdout.flush()
    os._exit(0)  # Blender's own clean-up may crash or hang


if __name__ == "__main__":
    main()
