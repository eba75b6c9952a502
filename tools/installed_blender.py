"""Run the tests inside an installed Blender, which brings numpy but no pytest."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import children, environments
from .common import PROJECT, BuildError, Version, dotted, indented, say
from .environments import TEST_TOOLS, Environment

QUESTION = "import sys; print('python', *sys.version_info[:2])"


def python_version(blender: str) -> Version:
    """Ask a Blender for the version of its Python."""
    command = children.blender_command(blender, QUESTION)
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    for line in result.stdout.splitlines():
        words = line.split()
        if words[:1] == ["python"] and len(words) == 3:
            return int(words[1]), int(words[2])
    raise BuildError(f"{blender} did not tell its Python version:\n{indented(result.stdout + result.stderr)}")


def borrow_test_tools(version: Version) -> Path:
    """Return a folder that holds the test tools for a Python version, which need not be installed here."""
    folder = Environment(f"pytest-{dotted(version)}", "pytest", (version,), TEST_TOOLS, seconds=5)
    stamp = folder.folder / "ready"
    if stamp.is_file() and stamp.read_text(encoding="utf-8").split() == list(TEST_TOOLS):
        return folder.folder
    host = environments.for_numpy()
    environments.prepare(host)
    with environments.locked(folder):
        say(f"Adding {' and '.join(TEST_TOOLS)} for Python {dotted(version)} to {folder.shown_folder} ...")
        options = ("--target", str(folder.folder), "--upgrade", "--python-version", dotted(version))
        environments.install(host, TEST_TOOLS, *options)
        stamp.write_text("\n".join(TEST_TOOLS) + "\n", encoding="utf-8")
    return folder.folder


def pytest_command(blender: str, tools: Path, arguments: Sequence[str]) -> list[str]:
    """Write the command line that runs pytest inside a Blender."""
    folders = [str(PROJECT), str(tools)]
    code = f"import sys; sys.path[:0] = {folders!r}; import pytest; sys.exit(int(pytest.main({list(arguments)!r})))"
    return children.blender_command(blender, code)
