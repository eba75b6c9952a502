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
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
RIGGED = "animated.md2"
KINDS = {"md2", "md3", "mdc", "mdl", "md5mesh", "mdm", "mds", "iqm", "mdr"}
sys.path.insert(0, str(FOLDER.parent.parent))


def main() -> None:
    """Save the models beside, one of them with a rig, and a player with one, as a .blend called after this Blender."""
    import bpy

    import io_idtech_models
    from tests.samples_player import player_files

    io_idtech_models.register()
    scenes: Any = bpy.ops.import_scene
    objects: Any = bpy.ops.object
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for path in sorted(FOLDER.glob("*.*")):
        kind = path.suffix[1:]
        if kind in KINDS:
            getattr(scenes, f"idtech_{kind}")(filepath=str(path))
        if path.name == RIGGED:
            objects.idtech_make_rig()
    with TemporaryDirectory() as folder:
        for file, data in player_files().items():
            (Path(folder) / file).write_bytes(data)
        scenes.idtech_player(filepath=f"{folder}/lower.md3")
    objects.idtech_make_rig()
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
