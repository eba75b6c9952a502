"""A Blender that adds a repository, installs from it and updates: run by `test_release.py` in a process of its own."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
import threading
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bpy  # before addon_utils: it makes the folder of Blender's own modules known

import addon_utils  # isort: skip

from tools import package, release
from tools.common import PACKAGE, PROJECT

NAME = "bl_ext.ours.io_idtech_models"


class Quiet(SimpleHTTPRequestHandler):
    """A static host as any other."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of each file."""


def publish(folder: Path, version: str) -> None:
    """Put a version into a repository in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    staged = folder.with_name(f"source-{version}")
    package.stage(staged)
    manifest = staged / "blender_manifest.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(
        text.replace(f'\nversion = "{package.manifest_version(text)}"', f'\nversion = "{version}"'), "utf-8"
    )
    package.pack(staged, folder / f"{PACKAGE}-{version}.zip")
    utils: Any = bpy.utils
    packager = Path(utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    release.generate(folder, [sys.executable, str(packager)])


def state(repository: Any) -> dict[str, Any]:
    """Return what is installed, and whether it works."""
    manifest = Path(repository.directory) / PACKAGE / "blender_manifest.toml"
    before = set(bpy.data.objects)
    operators: Any = bpy.ops.import_scene
    operators.idtech_md3(filepath=str(PROJECT / "examples" / "sentinel" / "sentinel.md3"))
    return {
        "version": package.manifest_version(manifest.read_text(encoding="utf-8")),
        "enabled": addon_utils.check(NAME) == (True, True),
        "objects": len(set(bpy.data.objects) - before),
    }


def run(folder: Path, versions: Sequence[str]) -> list[dict[str, Any]]:
    """Install the first version and update to each of the others; returns what was there after each."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    preferences: Any = bpy.context.preferences
    operators: Any = bpy.ops.extensions
    preferences.system.use_online_access = True
    address = f"http://127.0.0.1:{server.server_port}/index.json"
    for other in list(preferences.extensions.repos):  # Blender's own are asked nothing
        preferences.extensions.repos.remove(other)
    repository = preferences.extensions.repos.new(name="Ours", module="ours", remote_url=address)
    index = list(preferences.extensions.repos).index(repository)
    found: list[dict[str, Any]] = []
    for version in versions:
        publish(folder, version)
        operators.repo_sync(repo_index=index)
        if not found:
            operators.package_install(repo_index=index, pkg_id=PACKAGE, enable_on_install=True)
        else:
            operators.package_upgrade_all()
        found.append(state(repository))
    addon_utils.disable(NAME, default_set=True)
    return found


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(run(Path(sys.argv[1]), sys.argv[2:])) + "\n")
    sys.stdout.flush()
    os._exit(0)  # 4.5 hangs in its own clean-up, whatever was installed
