"""The user's guide as Markdown: every link leads somewhere, in a browser of the repository as on the site."""

import re
import runpy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

PROJECT = Path(__file__).resolve().parent.parent
DOCS = PROJECT / "docs"
PAGES = sorted([*PROJECT.glob("*.md"), *DOCS.rglob("*.md")])
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
CODE_SPAN = re.compile(r"`([^`\n]*)`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)


def test_every_link_leads_somewhere():
    assert {p.name for p in PAGES} >= {"README.md", "CONTRIBUTING.md", "index.md"}
    broken = [f"{page.relative_to(PROJECT)}: {link}" for page in PAGES for link in links(page) if not leads(page, link)]
    assert not broken


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("md3.md", True),
        ("md3.md#levels-of-detail", True),
        ("md3.md#levels-of-details", False),
        ("md33.md", False),
        ("../examples/tock", True),
        ("#limits-of-the-games", False),
        ("blender.png", True),
        ("https://example.org/", True),
    ],
)
def test_what_is_a_link_into_nothing(link, expected):
    assert leads(DOCS / "md5.md", link) is expected


def test_site_has_every_page_once():
    conf = load(DOCS / "conf.py")
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^([a-z0-9/-]+)$", conf.navigation(index), re.M)
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md") if path.stem != "index"]
    pages.remove("listing/listing")  # the platform's
    assert sorted(listed) == sorted(pages)


def test_pages_of_the_site_name_files_of_the_repository():
    conf = load(DOCS / "conf.py")
    source = ["[README](../README.md#x), [MD3](../md3.md#x) and [`strut.py`](../../examples/strut.py)"]
    conf.prepare(None, "tutorials/gun", source)
    assert source == ["[README](../README.md#x), [MD3](../md3.md#x) and `strut.py`"]
    conf.prepare(None, "faq", source)
    assert source == ["README, MD3 and `strut.py`"]


def test_pictures_are_small_and_all_used():
    pictures = [*DOCS.rglob("*.png"), *DOCS.rglob("*.jpg")]
    shown = {
        (page.parent / link).resolve() for page in PAGES for link in links(page) if link.endswith((".png", ".jpg"))
    }
    assert set(pictures) == {path for path in shown if DOCS in path.parents}
    taken = [path for path in pictures if path.parent.name == "pictures"]
    assert not [path.name for path in taken if path.stat().st_size > 100_000]
    assert sum(path.stat().st_size for path in taken) < 1_000_000
    listed = [path for path in pictures if path.parent.name == "listing"]
    assert len(listed) == 6
    assert sum(path.stat().st_size for path in listed) < 1_000_000


@cache
def words(page):
    """Return a page's text without what is code."""
    return CODE.sub("code", FENCED.sub("", page.read_text(encoding="utf-8")))


def links(page):
    return LINK.findall(words(page))


@cache
def anchors(page):
    """Return the anchors of a page's headings, as GitHub and the site call them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def leads(page, link):
    """Tell whether a link leads to a file, and to a heading if it names one."""
    if re.match(r"https?:", link):
        return True
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


def load(path):
    return SimpleNamespace(**runpy.run_path(str(path)))


# -- CONTRIBUTING


def table_below(heading: str) -> list[str]:
    """Return the rows of the tables in a section of CONTRIBUTING."""
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"### {heading}\n")[2]
    section = re.split(r"^##+ ", section, maxsplit=1, flags=re.M)[0]
    return [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| ---")]


PACKAGE = PROJECT / "io_idtech_models"


def test_the_index_leads_to_what_is_there_and_leaves_no_room_out():
    places = [CODE_SPAN.findall(row.split(" | ", maxsplit=1)[1]) for row in table_below("Where things are")]
    named = [PACKAGE / place for row in places for place in row]
    assert len(named) > 60
    assert not [str(place) for place in named if not place.exists()]
    modules = (path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" and "presets" not in path.parts)
    reached = set(named) | {above for place in named for above in place.parents}
    left_out = {m.parent for m in modules if m.parent not in reached and not set(m.parents) & set(named)}
    assert not [str(room.relative_to(PACKAGE)) for room in left_out]


def test_the_walks_name_what_there_is():
    known = {
        name for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^\s*(?:def|class) (\w+)", path.read_text(encoding="utf-8"), re.M)
    }  # fmt: skip
    spans = [span for row in table_below("Two walks") for span in CODE_SPAN.findall(row.split(" | ")[1])]
    assert len(spans) > 15
    assert not [span for span in spans if re.split(r"[./]", span)[-1] not in known]
