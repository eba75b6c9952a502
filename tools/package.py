"""Build the extension's zip as Blender's own packager does, without Blender: the same bytes from the same sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from . import environments
from .common import PACKAGE, PROJECT, BuildError, indented, say

MANIFEST = PROJECT / "blender_manifest.toml"
OUTPUT = PROJECT / "dist"
LEFT_OUT = ("__pycache__", "*.pyc", ".*", "tests")
FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold


def manifest_version(text: str | None = None) -> str:
    """Return the extension's version, whose only home is the manifest."""
    return manifest_value(MANIFEST.read_text(encoding="utf-8") if text is None else text, "version")


def manifest_value(text: str, key: str) -> str:
    """Return a text that a manifest states; Python 3.8 to 3.10 have no module for TOML."""
    match = re.search(rf'^{key}\s*=\s*"([^"]+)"', text, re.MULTILINE)
    if match is None:
        raise BuildError(f"{MANIFEST.name} states no {key}.")
    return match.group(1)


def build_zip() -> Path:
    """Build ``dist/io_idtech_models-VERSION.zip``, and return its path. Blender is not asked, nor needed."""
    target = OUTPUT / f"{PACKAGE}-{manifest_version()}.zip"
    OUTPUT.mkdir(exist_ok=True)
    unfinished = target.with_suffix(".part.zip")
    with tempfile.TemporaryDirectory() as temporary:
        staged = Path(temporary) / "source"
        stage(staged)
        pack(staged, unfinished)
    unfinished.replace(target)
    say(f"Built {target.relative_to(PROJECT)} ({target.stat().st_size / 1024:.0f} KiB).")
    return target


def validate(path: Path, environment: environments.Environment) -> None:
    """Have Blender's packager validate a zip, and see that it would have packed the same; raises BuildError."""
    python = environments.prepare(environment)
    packager = [python, str(find_packager(environment))]
    run_packager([*packager, "validate", str(path)])
    with tempfile.TemporaryDirectory() as temporary:
        staged, built = Path(temporary) / "source", Path(temporary) / path.name
        stage(staged)
        run_packager([*packager, "build", "--source-dir", str(staged), "--output-filepath", str(built)])
        own, theirs = contents(path), contents(built)
    if own != theirs:
        differing = sorted(own.items() ^ theirs.items())[0][0]
        raise BuildError(f"Blender's packager packs '{differing}' otherwise.")


def find_packager(environment: environments.Environment) -> Path:
    """Return Blender's ``blender_ext.py`` in an environment: it works without Blender's running."""
    libraries = "Lib" if os.name == "nt" else "lib/python*"
    pattern = f"{libraries}/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"
    found = next(environment.folder.glob(pattern), None)
    if found is None:
        raise BuildError(f"{environment.shown_folder} holds no blender_ext.py.")
    return found


def stage(folder: Path) -> None:
    """Lay out an extension as Blender wants it: the manifest at the top, beside the package's own files."""
    if not (PROJECT / PACKAGE / "__init__.py").is_file():
        raise BuildError(f"{PACKAGE}/__init__.py is missing: there is nothing to build an extension from.")
    shutil.copytree(PROJECT / PACKAGE, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for path in (MANIFEST, PROJECT / "LICENSE"):
        shutil.copy(path, folder)


def run_packager(command: Sequence[str]) -> None:
    """Run Blender's packager; its complaint becomes the error."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        raise BuildError("Blender's packager refuses the extension:\n" + indented(result.stdout + result.stderr))


def pack(folder: Path, target: Path) -> None:
    """Pack a folder, entries sorted and without the files' dates and permissions, which vary by machine."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    with zipfile.ZipFile(target, "w") as packed:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, FIRST_ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, also where Python would say Windows
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, files[name].read_bytes())


def contents(path: Path) -> dict[str, bytes]:
    """Return the files in a zip, by name; folders have no entry of their own."""
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
