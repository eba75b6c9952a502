"""A session with the extension, and what it touches: run by `test_platform.py` in a process of its own.

Python tells of every file that is opened, made or moved (https://docs.python.org/3/library/audit_events.html). What is
told stays in place until the process ends, so that this can't be done among other tests.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import bpy

import io_idtech_models
from tests.samples import PROJECT

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGING = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.copyfile"}
OUTSIDE = {"socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}


class Watch:
    """What a session does to files, and whom else it asks."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.asked: list[str] = []
        self.on = False
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event if it changes something."""
        if not self.on:
            return
        if event in OUTSIDE:
            self.asked.append(event)
        elif event in CHANGING:
            self.changed.update(
                os.path.realpath(os.fsdecode(each)) for each in arguments if isinstance(each, (str, bytes))
            )
        elif event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[2] & WRITING:
            self.changed.add(os.path.realpath(os.fsdecode(arguments[0])))


def traces() -> dict[str, Any]:
    """Return what an extension may leave in Blender: handlers, timers apart, which nobody lists; and Python's paths."""
    handlers = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
    found = {name: len(getattr(bpy.app.handlers, name)) for name in handlers}
    types: Any = bpy.types
    properties = {
        kind: sorted(name for name, _ in getattr(types, kind).bl_rna.properties.items() if "idtech" in name)
        for kind in ("Scene", "Object", "Collection", "WindowManager", "Mesh", "Action", "Material", "Armature")
    }
    return {"handlers": found, "properties": properties, "sys.path": list(sys.path)}


def run(folder: Path) -> dict[str, Any]:
    """Switch the extension on, import, export, and switch it off, twice."""
    before, watch = traces(), Watch()
    imports: Any = bpy.ops.import_scene
    exports: Any = bpy.ops.export_scene
    left = []
    watch.on = True
    for name in ("one.md3", "two.md3"):
        io_idtech_models.register()
        imports.idtech_md3(filepath=str(PROJECT / "examples" / "sentinel" / "sentinel.md3"))
        exports.idtech_md3(filepath=str(folder / name))
        io_idtech_models.unregister()
        left.append(traces() == before)
    watch.on = False
    outside = sorted(path for path in watch.changed if folder.resolve() not in Path(path).parents)
    return {"asked": watch.asked, "outside": outside, "inside": len(watch.changed) - len(outside), "clean": left}


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(run(Path(sys.argv[1]))) + "\n")
    sys.stdout.flush()
    os._exit(0)  # Blender's own clean-up may crash or hang
