"""The user's guide as a site, with navigation and search: ``build.py docs``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from . import environments
from .children import child_environ
from .common import PROJECT, BuildError, indented, say
from .environments import DOCS

SOURCE = PROJECT / "docs"
OUTPUT = PROJECT / "dist" / "docs"


def command(output: Path) -> list[str]:
    """Write the command line that builds the site: what Sphinx warns of (a link into nothing) is an error."""
    python = environments.prepare(DOCS)
    fresh = ["-E", "-d", str(output.with_name(output.name + "-doctrees"))]
    return [python, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", *fresh, str(SOURCE), str(output)]


def build() -> Path:
    """Build the site anew and return its first page; raises a BuildError that names what is wrong in which line."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    result = subprocess.run(
        command(OUTPUT), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=child_environ(), check=False
    )
    if result.returncode:
        raise BuildError("the guide could not be built:\n" + indented(result.stdout + result.stderr))
    page = OUTPUT / "index.html"
    say(f"Built {OUTPUT.relative_to(PROJECT)}: open {page.relative_to(PROJECT)} in a browser.")
    return page
