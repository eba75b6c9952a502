"""Recipes of the user's guide: the fenced blocks of a page, run as a reader would, in a folder with the examples.

A block of `python` that begins with a comment `# name.py` is that file where a command under its heading names it; any
other is run as it stands. A block of `sh` has one command a line; a comment `# exits with 1` behind one says so.
"""

import re
import runpy
import shlex
import shutil
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import bpy as blender

from io_idtech_models.cli import main as plain
from io_idtech_models.ui import cli
from tests.samples import PROJECT

bpy = blender
DOCS = PROJECT / "docs"
PIECE = re.compile(r"^(?:#{2,4} (?P<title>[^\n]+)|```(?P<kind>\w+)\n(?P<code>.*?)^```)$", re.M | re.S)
FILE = re.compile(r"# (\w+\.py)\b")
EXITS = re.compile(r"#\s*exits with (\d)\s*$")


@dataclass
class Block:
    """One fenced block: the heading that it stands under, its language, its text, and its line."""

    title: str
    kind: str
    code: str
    line: int


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page that can be run."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    title, found = "", []
    for match in PIECE.finditer(text):
        title = match["title"] or title
        if match["kind"] in {"python", "sh"}:
            found.append(Block(title, match["kind"], match["code"], text.count("\n", 0, match.start()) + 2))
    return found


def lay_out(folder: Path) -> None:
    """Copy the example models, as they lie in the project, into a folder."""
    shutil.copytree(PROJECT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copy(PROJECT / "examples" / "strut.py", folder / "examples")


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
        else:  # errors name the page and its line
            exec(compile("\n" * (block.line - 1) + block.code, f"{page}.md", "exec"), names)
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
