"""Pages of the guide: their fenced blocks, and the folder that they are run in. Needs no Blender."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.samples import PROJECT

DOCS = PROJECT / "docs"
PIECE = re.compile(r"^(?:#{2,4} (?P<title>[^\n]+)|```(?P<kind>\w+)\n(?P<code>.*?)^```)$", re.M | re.S)


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


def run_python(page: str, block: Block, names: dict[str, object]) -> None:
    """Run a block with the names that are there, to which it adds its own; errors name the page and its line."""
    exec(compile("\n" * (block.line - 1) + block.code, f"{page}.md", "exec"), names)


def lay_out(folder: Path) -> None:
    """Copy the example models, as they lie in the project, into a folder."""
    shutil.copytree(PROJECT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copy(PROJECT / "examples" / "strut.py", folder / "examples")
