"""Recipes of the user's guide: the fenced blocks of a page, run as a reader would, in a folder with the examples.

A block of `python` that begins with a comment `# name.py` is that file where a command under its heading names it; any
other is run as it stands. A block of `sh` has one command a line; a comment `# exits with 1` behind one says so.
"""

import re
import runpy
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

import bpy as blender

from io_idtech_models.cli import main as plain
from io_idtech_models.ui import cli
from tests.pages import blocks, run_python

bpy = blender
FILE = re.compile(r"# (\w+\.py)\b")
EXITS = re.compile(r"#\s*exits with (\d)\s*$")


def follow(page: str, title: str = "") -> dict[str, object]:
    """Run the blocks of a page, or those under one heading, in the present folder; returns the names they defined."""
    names: dict[str, object] = {"__name__": "__recipe__", "bpy": bpy}
    chosen = [block for block in blocks(page) if title in {"", block.title}]
    assert chosen, f"{page} has no recipe '{title}'"
    for block in chosen:
        if block.kind == "sh":
            for line in block.code.replace("\\\n", " ").splitlines():
                command(line)
        elif (name := FILE.match(block.code)) and any(name[1] in b.code for b in chosen if b.kind == "sh"):
            Path(name[1]).write_text(block.code, encoding="utf-8")
        else:
            run_python(page, block, names)
    return names


def command(line: str) -> None:
    """Run a line of a shell in this process, for a Blender takes a second to start."""
    expected = EXITS.search(line)
    words = shlex.split(line, comments=True)
    if ">" in words:
        with Path(words[-1]).open("w", encoding="utf-8") as file, redirect_stdout(file):
            return command(shlex.join(words[: words.index(">")]))
    match words:
        case []:
            return
        case ["blender", "-c", "idtech", *rest] | ["python3", "build.py", *rest]:
            status = cli.main(rest)
        case ["python3", "-m", "io_idtech_models", *rest]:
            status = plain.main(rest)
        case ["blender", "-b", "--python", script, "--", *rest]:
            status = run_script(script, rest)
        case _:
            raise AssertionError(f"no recipe runs '{line}'")
    assert status == int(expected[1] if expected else 0), line


def run_script(script: str, arguments: list[str]) -> int:
    """Run a script as Blender does, beginning with its usual scene; returns its exit status."""
    bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True)
    before, sys.argv = sys.argv, ["blender", "-b", "--python", script, "--", *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = before
    return 0
