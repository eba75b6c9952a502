"""Settings of Sphinx for `python3 build.py docs`.

The pages are plain Markdown that reads as well in a browser of the repository. What the site needs beyond that is made
here: its navigation comes from the lists of `index.md`, and links to files of the repository become their names.
"""

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent

project = "id Tech Models"
author = "io_idtech_models contributors"
copyright = f"2026 {author}"
release = re.findall(r'^version = "([^"]+)"', (PROJECT / "blender_manifest.toml").read_text(encoding="utf-8"), re.M)[0]

extensions = ["myst_parser"]
exclude_patterns = ["listing"]  # the platform's, not the guide's
myst_heading_anchors = 4
myst_linkify_fuzzy_links = False
suppress_warnings = ["misc.highlighting_failure"]  # blocks of a shell with "..." in them
highlight_language = "none"

html_theme = "furo"
html_title = f"{project} {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}

SECTION = re.compile(r"^## (.+)$", re.M)
PAGE = re.compile(r"\]\(([a-z0-9/-]+)\.md\)")
OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(?:#[^)]*)?\)")


def navigation(text: str) -> str:
    """Return the navigation that the lists of a page of contents make: a part for each heading, a page each once."""
    found: list[str] = []
    parts: list[str] = []
    pieces = SECTION.split(text)
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        pages = [name for name in dict.fromkeys(PAGE.findall(body)) if name not in found]
        found += pages
        if pages:
            parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(parts)


def is_page(page: Path, link: str) -> bool:
    """Tell whether a link leads to a file of the guide."""
    return HERE in (page.parent / link).resolve().parents


def prepare(_app: object, page: str, source: list[str]) -> None:
    """Let a page's links to the repository be words, and add the navigation to the first page."""
    path = HERE / f"{page}.md"

    def named(match: re.Match[str]) -> str:
        return match[0] if match[1] or is_page(path, match[3]) else match[2]

    source[0] = OUTSIDE.sub(named, source[0])
    if page == "index":
        source[0] += "\n\n" + navigation(source[0]) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.connect("source-read", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
